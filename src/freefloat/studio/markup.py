"""Pieces of HTML for the panel: tables, lists, lines of text; whatever comes in is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from freefloat.digits import printed_unit
from freefloat.errors import shorten

# Colours are the viewer's own where it has them, so that a dark page is dark here, too.
STYLE = """<style>
:root:root:root{--mantine-color-dimmed:light-dark(#59626e,#a9b1bb)!important}
.ff{font-size:.8rem;line-height:1.35;padding:.1rem .6rem .4rem;color:var(--mantine-color-text)}
.ff h4{margin:.5rem 0 .15rem;font-size:.82rem;font-weight:650}
.ff p{margin:.15rem 0}
.ff .dim{color:light-dark(#59626e,#a9b1bb)}
.ff .scroll{overflow-x:auto}
.ff table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
.ff th,.ff td{padding:.1rem .45rem .1rem 0;text-align:left;vertical-align:top}
.ff th{font-weight:600;color:light-dark(#59626e,#a9b1bb);white-space:nowrap;
  border-bottom:1px solid var(--mantine-color-default-border)}
.ff td.n,.ff th.n{text-align:right;white-space:nowrap}
.ff td.tree{white-space:pre;font-family:var(--mantine-font-family-monospace);font-size:.72rem}
.ff ul{margin:.1rem 0;padding-left:1.1rem}
.ff .good{color:light-dark(#1d7a35,#62c37d)}.ff .warning{color:light-dark(#8a5a00,#e8b64c)}
.ff .error{color:light-dark(#b3261e,#ff8f86)}.ff .info{color:var(--mantine-color-text)}
.ff .notice{border-left:4px solid currentColor;padding:.2rem .5rem;margin:.2rem 0;
  background:var(--mantine-color-default-hover);border-radius:3px}
.ff .notice b{display:block}
.ff .notice span{color:var(--mantine-color-text);white-space:pre-wrap;overflow-wrap:anywhere}
.ff .bar{background:var(--mantine-color-default-border);border-radius:2px;height:.5rem;width:6rem;
  display:inline-block;vertical-align:middle}
.ff .bar i{display:block;height:100%;border-radius:2px;background:currentColor}
.ff td.s{white-space:nowrap}
.ff svg.whisker{width:4.5rem;height:1rem;vertical-align:middle}
.ff svg .axis{stroke:var(--mantine-color-default-border);fill:none}
.ff .whisker .bar,.ff .whisker .end{stroke:light-dark(#1f6fc0,#6fb1ee);stroke-width:2}
.ff .whisker .bar{background:none;border-radius:0;height:auto}
.ff .whisker .dot{fill:light-dark(#1f6fc0,#6fb1ee)}
.ff .whisker .prior{fill:var(--mantine-color-body);stroke:light-dark(#b06000,#e8a24c);
  stroke-width:1.5}
.ff .tall{max-height:16rem;overflow-y:auto;padding-right:.3rem;
  border-bottom:1px solid var(--mantine-color-default-border)}
.ff code{font-size:.75rem}
</style>"""
SHORT = 16  # format: characters of a cell that stay on one line
STATUS_KIND = {
    "seen": "good", "weak": "warning", "only in combination": "error", "invisible": "error",
    "trusted": "good", "with reservations": "warning", "not trusted": "error",
    "not assessed": "warning", "met": "good", "not met": "error", "fault": "error",
}  # fmt: skip


def page(*parts: str) -> str:
    """Pieces one below the other."""
    return f'<div class="ff">{"".join(parts)}</div>'


def heading(text: str) -> str:
    """A title above a piece."""
    return f"<h4>{escape(text)}</h4>"


def line(text: str, kind: str = "info") -> str:
    """A sentence; kind: info, good, warning, error or dim."""
    return f'<p class="{kind}">{escape(shorten(text, 2000))}</p>'


def lines(text: str, kind: str = "info") -> str:
    """A text whose lines stay apart."""
    return "".join(line(one, kind) for one in text.splitlines())


def bullets(texts: Iterable[str], kind: str = "info", *, most: int = 12) -> str:
    """Sentences one below the other; beyond the most it is said how many are left out."""
    shown = [*texts]
    items = "".join(f"<li>{escape(shorten(text, 1000))}</li>" for text in shown[:most])
    if len(shown) > most:
        items += f"<li>and {len(shown) - most} more</li>"
    return f'<ul class="{kind}">{items}</ul>' if shown else ""


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (),
    tree: bool = False, raw: Sequence[int] = (),
) -> str:  # fmt: skip
    """Rows of text below a head; `numbers` are columns flush right, `raw` are HTML already.

    A cell that is a status has its colour.
    """
    right = {k: ' class="n"' for k in numbers}
    parts = ["".join(f"<th{right.get(k, '')}>{escape(one)}</th>" for k, one in enumerate(head))]
    for row in rows:
        cells = []
        for k, one in enumerate(row):
            kind = STATUS_KIND.get(one, "s" if len(one) <= SHORT else "")
            if head[k] == "unit":
                one, kind = printed_unit(one), "s"  # such as kg m: never on two lines
            style = right.get(k) or f' class="{kind}"'
            if tree and k == 0:
                style = ' class="tree"'
            cells.append(f"<td{style}>{one if k in raw else escape(shorten(one, 300))}</td>")
        parts.append("".join(cells))
    body = "".join(f"<tr>{part}</tr>" for part in parts)
    return f'<div class="scroll"><table>{body}</table></div>'


def tall(*parts: str) -> str:
    """Pieces in a box that is scrolled where they are long, so that what follows stays near."""
    return f'<div class="tall">{"".join(parts)}</div>' if parts else ""


def open_tab(title: str) -> str:
    """Turns the page to a tab when this is shown to it; the viewer has no other way to do it."""
    find = f"[...document.querySelectorAll('[role=tab]')].find(e=>e.textContent.trim()==='{title}')"
    press = "dispatchEvent(new KeyboardEvent('keydown',{key:'Enter',bubbles:true}))"
    return f'<style onload="{escape(find)}?.{escape(press)}"></style>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with what is to be said of them."""
    rows = "".join(
        f'<tr><td class="dim s">{escape(name)}</td><td>{escape(shorten(text, 1000))}</td></tr>'
        for name, text in pairs
    )
    return f"<table>{rows}</table>"


def notice(kind: str, title: str, text: str = "") -> str:
    """A sentence that stands out, and more of it below."""
    more = f"<span>{escape(text[:6000])}</span>"
    return f'<div class="notice {kind}"><b>{escape(title)}</b>{more if text else ""}</div>'


def bar(share: float) -> str:
    """A share, 0 to 1, as a bar; beyond 0.999 in the colour of a warning."""
    kind = "error" if share > 1.0 + 1e-9 else "warning" if share > 0.97 else "good"
    width = 100.0 * min(max(share, 0.0), 1.0)
    return f'<span class="bar {kind}"><i style="width:{width:.1f}%"></i></span>'
