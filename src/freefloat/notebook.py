"""How the nouns show themselves in a notebook: small pieces of HTML, everything escaped.

Nothing is loaded from elsewhere, and a name from a file cannot become markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from freefloat.errors import shorten

LONGEST_TEXT = 4000  # format: characters of one cell or sentence


def html_view(title: str, *parts: str) -> str:
    """A title with parts of HTML below it.

    >>> html_view("bus <1>")
    '<div><b>bus &lt;1&gt;</b></div>'
    """
    return "<div>" + html_text("b", title) + "".join(parts) + "</div>"


def html_text(tag: str, text: str) -> str:
    """A text within a tag.

    >>> html_text("p", "a < b")
    '<p>a &lt; b</p>'
    """
    return f"<{tag}>{escape(shorten(text, LONGEST_TEXT))}</{tag}>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells below their titles.

    >>> html_table(["name", "mass [kg]"], [("bus", 100.0)])
    '<table><tr><th>name</th><th>mass [kg]</th></tr><tr><td>bus</td><td>100.0</td></tr></table>'
    """
    lines = [_cells("th", head), *(_cells("td", row) for row in rows)]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def html_list(texts: Iterable[str]) -> str:
    """Sentences as a list; nothing where there is none.

    >>> html_list(["one", ""])
    '<ul><li>one</li></ul>'
    """
    items = "".join(html_text("li", text) for text in texts if text)
    return f"<ul>{items}</ul>" if items else ""


def _cells(tag: str, row: Sequence[object]) -> str:
    return "".join(html_text(tag, str(cell)) for cell in row)
