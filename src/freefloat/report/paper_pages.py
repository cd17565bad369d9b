"""One page with rebuilt papers: their tables side by side with ours, and what was found.

A row is anything with `table, quantity, unit, paper, ours, status, note`, such as
`freefloat.papers.Row`; what a status means stands in `freefloat.papers.paper_rows.STATUSES`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from freefloat.arrays import Array
from freefloat.digits import printed_unit
from freefloat.files import atomic_write
from freefloat.provenance import provenance
from freefloat.report.charts import chart, named_lines
from freefloat.report.pages import render, require_html
from freefloat.report.svg import ratio_chart

FIGURE_HEIGHT = 240  # format: [pixels], so that the titles of the axes fit
LEAST_DOTS = 2  # format: a drawing of one dot says nothing


class PaperRow(Protocol):
    """A rebuilt number beside the printed one; None where none was printed or computed."""

    @property
    def table(self) -> str: ...  # noqa: D102
    @property
    def quantity(self) -> str: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def paper(self) -> float | None: ...  # noqa: D102
    @property
    def ours(self) -> float | None: ...  # noqa: D102
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper, redrawn: curves of (name, x, y); titles of axes have units."""

    title: str
    x_title: str
    y_title: str
    lines: Sequence[tuple[str, Array, Array]]
    is_log: bool = False


@dataclass(frozen=True)
class RebuiltPaper:
    """A paper: its id, title, rows, what was found, in sentences, and its figures redrawn.

    wall is how long rebuilding it took, cpu the processor time of all its processes [s].
    """

    id: str
    title: str
    rows: Sequence[PaperRow]
    findings: Sequence[str] = ()
    figures: Sequence[PaperFigure] = ()
    wall: float | None = None
    cpu: float | None = None


def save_papers_page(papers: Sequence[RebuiltPaper], path: str | Path) -> None:
    """Write rebuilt papers as one page of HTML."""
    require_html(path)
    atomic_write(path, papers_page(papers))


def save_rows(papers: Sequence[RebuiltPaper], path: str | Path) -> None:
    """Write every row as JSON."""
    told = {"provenance": provenance(), "papers": [as_dict(paper) for paper in papers]}
    atomic_write(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def as_dict(paper: RebuiltPaper) -> dict[str, object]:
    """A paper for machines."""
    names = ("table", "quantity", "unit", "paper", "ours", "status", "note")
    rows = [{name: getattr(row, name) for name in names} for row in paper.rows]
    return {
        "paper": paper.id, "title": paper.title, "findings": [*paper.findings],
        "wall_seconds": paper.wall, "cpu_seconds": paper.cpu,
        "tally": tally(paper.rows), "rows": rows,
    }  # fmt: skip


def papers_page(papers: Sequence[RebuiltPaper]) -> str:
    """The text of the page."""
    every = [row for paper in papers for row in paper.rows]
    content: Mapping[str, object] = {
        "title": "Published results, computed anew",
        "papers": [_paper(paper) for paper in papers],
        "is_positive": not any(row.status == "missed" for row in every),
        "tally": tally(every),
        "n_rows": len(every),
        "provenance": provenance(),
    }
    charts = [
        chart(place, (f.x_title, f.y_title), [line for _, line in named_lines(f.lines)],
              log="y" if f.is_log else "", height=FIGURE_HEIGHT)
        for place, f in _places(papers)
    ]  # fmt: skip
    return render("papers.html.j2", content, charts=charts)


def _places(papers: Sequence[RebuiltPaper]) -> Iterator[tuple[str, PaperFigure]]:
    """Every figure, with the id of its place in the page."""
    for paper in papers:
        for n, drawing in enumerate(paper.figures):
            yield f"p{paper.id}f{n}", drawing


def tally(rows: Sequence[PaperRow]) -> dict[str, int]:
    """How many rows have each status, the commonest first."""
    return dict(Counter(row.status for row in rows).most_common())


def figure(value: float | None) -> str:
    """Five digits; a dash where there is no number.

    >>> figure(0.131436), figure(3.1e-9), figure(None)
    ('0.13144', '3.1e-09', '–')
    """
    if value is None:
        return "–"
    return f"{value:.2g}" if 0.0 < abs(value) < 1e-4 else f"{value:.5g}"


def _paper(paper: RebuiltPaper) -> dict[str, object]:
    tables = dict.fromkeys(row.table for row in paper.rows)
    return {
        "id": paper.id,
        "title": paper.title,
        "tally": tally(paper.rows),
        "findings": paper.findings,
        "figures": [
            {
                "id": place,
                "title": drawing.title,
                "names": [(line.style, name) for name, line in named_lines(drawing.lines)],
            }
            for place, drawing in _places([paper])
        ],
        "tables": [_table(name, [r for r in paper.rows if r.table == name]) for name in tables],
    }


def _table(name: str, rows: Sequence[PaperRow]) -> dict[str, object]:
    pairs = [
        (row.quantity, row.ours / row.paper)
        for row in rows
        if row.paper and row.ours and row.ours / row.paper > 0.0
    ]
    drawing = ratio_chart(*zip(*pairs, strict=True)) if len(pairs) >= LEAST_DOTS else ""
    return {
        "name": name,
        "drawing": drawing,
        "rows": [
            {
                "quantity": row.quantity,
                "unit": printed_unit(row.unit),
                "paper": figure(row.paper),
                "ours": figure(row.ours),
                "difference": _difference(row),
                "status": row.status,
                "kind": row.status.replace(" ", "-"),
                "note": row.note,
            }
            for row in rows
        ],
    }


def _difference(row: PaperRow) -> str:
    if not row.paper or row.ours is None:
        return "–"
    share = 100.0 * (row.ours / row.paper - 1.0)
    return "< 0.01 %" if abs(share) < 0.01 else f"{share:+.3g} %"
