"""How Sphinx builds these pages: `make docs`."""

from freefloat import __version__

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


def setup(app):
    """Pygments knows no CSV: it is shown as it stands."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("csv", TextLexer)
