"""How Sphinx builds these pages: `make docs`."""

import sys
from pathlib import Path

from freefloat import __version__

ROOT = Path(__file__).resolve().parents[1]
LIST_OF_FILES = "<!-- files -->"

project = "freefloat"
author = "The freefloat authors"
copyright = author
release = version = __version__
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"freefloat {__version__}"
html_show_sourcelink = False
exclude_patterns = ["promises.toml"]


def list_files(app, name, source):
    """Every file of the source with its first line, where the page of files has its mark."""
    if name == "contribute/files":
        sys.path.insert(0, str(ROOT / "tools"))
        from house import Tree, tree_lines

        lines = "\n".join(tree_lines(Tree(ROOT)))
        source[0] = source[0].replace(LIST_OF_FILES, f"```text\n{lines}\n```")


def setup(app):
    """Pygments knows no CSV: it is shown as it stands. The list of files is read from them."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("csv", TextLexer)
    app.connect("source-read", list_files)
