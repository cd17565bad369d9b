"""What `freefloat reproduce` shows: tables of paper and ours, notes, and how many rows say what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.report.paper_pages import PaperRow, RebuiltPaper

STYLES = {"missed": "bold red", "paper wrong": "yellow", "better": "green", "reproduced": "green",
          "met": "green", "differs": "yellow", "out of reach": "yellow"}  # fmt: skip


def overview(paper: RebuiltPaper) -> Iterator[RenderableType]:
    """The tables one below the other, with their notes, and how many rows say what."""
    from rich.text import Text

    from freefloat.cli.screen import heading, indented

    rows = paper.rows
    yield Text.assemble((f"{paper.id} ", "bold"), paper.title)
    for table in dict.fromkeys(row.table for row in rows):
        yield ""
        yield heading(table)
        yield indented(_table([row for row in rows if row.table == table]))
    yield ""
    yield Text(summary(paper), style="bold")


def summary(paper: RebuiltPaper) -> str:
    """How many rows say what, and what they took, on one line.

    >>> from freefloat.report.paper_pages import RebuiltPaper
    >>> summary(RebuiltPaper("003", "Cepheus", [], wall=12.3, cpu=20.08))
    'no rows; 12.3 s, 20.1 s of processor time'
    """
    from freefloat.report.paper_pages import tally

    counts = ", ".join(f"{n} {status}" for status, n in sorted(tally(paper.rows).items()))
    if paper.wall is None or paper.cpu is None:
        return counts or "no rows"
    return f"{counts or 'no rows'}; {paper.wall:.1f} s, {paper.cpu:.1f} s of processor time"


def _table(rows: Sequence[PaperRow]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    from freefloat.report.paper_pages import figure

    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for title, justify in zip(
        ("quantity", "paper", "ours", "unit", "status"),
        ("left", "right", "right", "left", "left"),
        strict=True,
    ):
        grid.add_column(title, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        status = Text(row.status, style=STYLES.get(row.status, ""))
        unit = "" if row.unit == "-" else row.unit
        grid.add_row(row.quantity, figure(row.paper), figure(row.ours), unit, status)
    if not any(row.note for row in rows):
        return grid
    return _with_notes(grid, rows)


def _with_notes(grid: RenderableType, rows: Sequence[PaperRow]) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            notes.setdefault(row.note, []).append(row.quantity)
    lines = [
        Text(f"{_named(names, len(rows))}: {note}", style="dim", overflow="fold")
        for note, names in notes.items()
    ]
    return Group(grid, *lines)


def _named(names: list[str], n_rows: int) -> str:
    """Which rows a note is of; many are not all named.

    >>> _named(["m, ours", "I, ours", "b, ours", "c, ours"], 9)
    'm, ours; I, ours and 2 more'
    """
    if len(names) == n_rows > 1:
        return "all"
    shown = "; ".join(names[:3] if len(names) <= 3 else names[:2])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 2} more"
