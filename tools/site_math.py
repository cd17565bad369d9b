"""Mathematics of the site as MathML, which browsers draw by themselves: no script, no network.

Sphinx's own way fetches MathJax from an address when a page is opened; without a network the reader
would see LaTeX. Docutils translates LaTeX into MathML when the site is built, and what it does not
know is a warning, so that the build fails.
"""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number


def use_mathml(app) -> None:
    """Let Sphinx write mathematics as MathML."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    app.config.html_math_renderer = "mathml"


def write_inline(writer, node) -> None:
    """A formula in a line of text."""
    writer.body.append(mathml(node, is_block=False))
    raise nodes.SkipNode


def write_block(writer, node) -> None:
    """A formula on its own, with its number and a link to it where it has a label."""
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    writer.body.append(f'<div class="formula">{mathml(node, is_block=True)}</div>')
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append("</div>")
    raise nodes.SkipNode


def mathml(node, *, is_block: bool) -> str:
    """The formula of a node; LaTeX that cannot be translated is a warning, and stands as it is."""
    try:
        return tex2mathml(node.astext(), as_block=is_block)
    except MathError as fault:
        logging.getLogger(__name__).warning(f"mathematics: {fault}", location=node)
        return f"<code>{node.astext()}</code>"
