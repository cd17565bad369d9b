"""`freefloat reproduce`: the tables of a paper, rebuilt now, beside the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.reproduce import Row

KERNELS = {"003": "observe.balance"}  # what a paper compiles last; output error: its tangents
STYLES = {"missed": "bold red", "paper wrong": "yellow", "better": "green", "reproduced": "green"}


def reproduce(
    paper: str,
    /,
    *,
    quick: Annotated[bool, FLAG] = False,
    plots: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Rebuild the tables of a paper and set them beside the printed numbers.

    Everything of ours is computed now from the model files, nothing is stored.
    Each row says: reproduced, reproduced in pattern (the paper leaves geometry
    or noise open), paper wrong, better, not published, or missed. Exit code 1
    says that a row was missed.

    For example:
      freefloat reproduce 003
      freefloat reproduce 003 --quick --json

    Parameters
    ----------
    paper
        Which paper: 000 (wings and fuel), 002 (ETS-VII in orbit), 003 (Cepheus,
        angular momentum) or 004 (a flexible joint).
    quick
        Fewer repetitions and shorter flights, for a first look.
    plots
        A folder for the paper's figures, redrawn (PNG). Needs freefloat[plot].
    """
    from freefloat.cli import screen
    from freefloat.cli.waiting import progress, tell_first_run
    from freefloat.reproduce import PAPERS
    from freefloat.reproduce import reproduce as rebuild

    if paper in PAPERS:
        tell_first_run(KERNELS.get(paper, "tangent.rk4_tangent"), takes="about a minute")
        screen.note(f"rebuilding paper {paper}: {'half a minute' if quick else 'some minutes'}")
    with progress(f"paper {paper}") as told:
        rows = rebuild(paper, quick=quick, progress=told)
    drawn = _draw(paper, plots)
    n_missed = sum(row.status == "missed" for row in rows)
    if shared.json:
        content = {"ok": not n_missed, "paper": paper, "title": PAPERS[paper], "quick": quick}
        content["plots"] = [str(path) for path in drawn]
        screen.print_json({**content, "rows": [asdict(row) for row in rows]})
    else:
        screen.show(*overview(paper, PAPERS[paper], rows), *(f"drawn: {path}" for path in drawn))
    return 1 if n_missed else 0


def _draw(paper: str, folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    from freefloat.reproduce.figures import save_figures

    folder.mkdir(parents=True, exist_ok=True)
    return save_figures(paper, folder)


def overview(paper: str, title: str, rows: tuple[Row, ...]) -> Iterator[RenderableType]:
    """The tables one below the other, with their notes, and how many rows say what."""
    from rich.text import Text

    from freefloat.cli.screen import heading, indented

    yield Text.assemble((f"{paper} ", "bold"), title)
    for table in dict.fromkeys(row.table for row in rows):
        yield ""
        yield heading(table)
        yield indented(_table([row for row in rows if row.table == table]))
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    yield ""
    yield Text(", ".join(f"{n} {status}" for status, n in sorted(counts.items())), style="bold")


def _table(rows: list[Row]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

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
        grid.add_row(row.quantity, _figure(row.paper), _figure(row.ours), unit, status)
    if not any(row.note for row in rows):
        return grid
    return _with_notes(grid, rows)


def _with_notes(grid: RenderableType, rows: list[Row]) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            notes.setdefault(row.note, []).append(row.quantity)
    lines = [
        Text(f"{', '.join(names)}: {note}", style="dim", overflow="fold")
        for note, names in notes.items()
    ]
    return Group(grid, *lines)


def _figure(value: float | None) -> str:
    """Five digits; a dash where there is no number."""
    if value is None:
        return "–"
    return f"{value:.2g}" if 0.0 < abs(value) < 1e-4 else f"{value:.5g}"
