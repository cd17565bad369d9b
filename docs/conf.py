"""How Sphinx builds these pages: `make docs`."""

import sys
from pathlib import Path

from freefloat import __version__

ROOT = Path(__file__).resolve().parents[1]
LIST_OF_FILES = "<!-- files -->"
SHARED_OPTIONS = "<!-- shared options -->"
sys.path.insert(0, str(ROOT / "tools"))
from site_pages import plain_types  # noqa: E402

project = "freefloat"
author = "The freefloat authors"
copyright = author
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "cyclopts.ext.sphinx",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "image_scrapers": ("site_pages.save_figures",),
    "capture_repr": (),
    "first_notebook_cell": "%matplotlib inline",  # shows figures that are values
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # of no use to readers
    "write_computation_times": False,
    "remove_config_comments": True,
}
suppress_warnings = ["config.cache"]  # the scraper is named, but its options are a mapping
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "code"  # docstrings have code between single backticks
autodoc_typehints_format = "short"
autodoc_type_aliases = plain_types()
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
html_theme = "furo"
html_title = f"freefloat {__version__}"
html_show_sourcelink = False
html_show_search_summary = False  # they are fetched, which no browser does where pages are files
html_static_path = ["style"]
html_css_files = ["site.css"]
html_favicon = "style/logo.svg"
html_logo = "style/logo.svg"
exclude_patterns = ["promises.toml"]


def fill_pages(app, name, source):
    """Put into a page what is made from the source of freefloat, where the page has its mark."""
    from site_pages import shared_options, with_entries, with_links

    api = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    if name == "contribute/files":
        from house import Tree, tree_lines

        lines = "\n".join(tree_lines(Tree(ROOT)))
        source[0] = source[0].replace(LIST_OF_FILES, f"```text\n{lines}\n```")
    elif name == "api":
        source[0] = with_links(source[0])
    elif name == "reference/cli":
        source[0] = source[0].replace(SHARED_OPTIONS, shared_options())
    elif name.startswith("reference/"):
        source[0] = with_entries(source[0], api)


def shorten_signature(app, what, name, value, options, signature, returns):
    """Signatures say `Array` and `float` where the source has types with limits."""
    from site_pages import plain_signature, with_numbers

    short = signature and with_numbers(plain_signature(signature), value)
    return short, returns and plain_signature(returns)


def escape_docstring(app, what, name, value, options, lines):
    """Docstrings are plain text with code in backticks; stars and bars in them are no markup."""
    from site_pages import escape_prose, keep_sentences

    lines[:] = keep_sentences(what, escape_prose(lines))


def setup(app):
    """Pygments knows no CSV: it is shown as it stands. Some pages are filled from the source."""
    from pygments.lexers.special import TextLexer
    from site_math import use_mathml
    from site_pages import prepare_commands, rename_types

    use_mathml(app)
    prepare_commands()
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", fill_pages)
    app.connect("doctree-read", lambda app, doctree: rename_types(doctree))
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("autodoc-process-docstring", escape_docstring, priority=400)  # before napoleon
