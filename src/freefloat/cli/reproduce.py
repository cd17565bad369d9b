"""`freefloat reproduce`: the tables of papers, rebuilt now, beside the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.report.papers import PaperRow, RebuiltPaper

KERNELS = {"003": "observe.balance"}  # what a paper compiles last; output error: its tangents
STYLES = {"missed": "bold red", "paper wrong": "yellow", "better": "green", "reproduced": "green",
          "met": "green", "differs": "yellow"}  # fmt: skip


def reproduce(
    paper: str,
    /,
    *,
    quick: Annotated[bool, FLAG] = False,
    report: Path | None = None,
    rows: Path | None = None,
    plots: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Rebuild the tables of a paper, or of all, beside the printed numbers.

    Everything of ours is computed now from the model files, nothing is stored.
    Each row says: reproduced, reproduced in pattern (the paper leaves geometry
    or noise open), paper wrong, better, met (an aim of ours; nothing is printed),
    not published, differs (the paper's own method, on geometry it leaves open),
    or missed. Exit code 1 says that a row was missed.

    For example:
      freefloat reproduce 003 --quick
      freefloat reproduce all --report papers.html --rows papers.json

    Parameters
    ----------
    paper
        Which paper: 000 (wings and fuel), 001 (base and target, live), 002 (ETS-VII
        in orbit), 003 (angular momentum), 004 (a flexible joint), or all.
    quick
        Fewer repetitions and shorter flights, for a first look.
    report
        The tables as one page of HTML to write; nothing unless said.
    rows
        Every row as JSON (.json) to write; nothing unless said.
    plots
        A folder for the papers' figures, redrawn (PNG). Needs freefloat[plot].
    """
    from freefloat.cli import screen
    from freefloat.cli.waiting import tell_first_run
    from freefloat.reproduce import PAPERS

    _require({"--report": report, "--rows": rows})
    wanted = sorted(PAPERS) if paper == "all" else [paper]
    if wanted[0] in PAPERS:
        kernels = [KERNELS.get(one, "tangent.rk4_tangent") for one in wanted]
        tell_first_run(*dict.fromkeys(kernels), takes="about a minute")
    rebuilt = [_rebuilt(one, quick) for one in wanted]
    written = _write(rebuilt, report, rows, plots)
    n_missed = sum(row.status == "missed" for one in rebuilt for row in one.rows)
    if shared.json:
        screen.print_json(_told(rebuilt, quick, n_missed, is_all=paper == "all"))
    else:
        for one in rebuilt:
            screen.show(*overview(one.id, one.title, one.rows), "")
        for name, path in written.items():
            screen.show(f"{name}: {path}")
    return 1 if n_missed else 0


def _rebuilt(paper: str, quick: bool) -> RebuiltPaper:
    from freefloat.cli import screen
    from freefloat.cli.waiting import progress
    from freefloat.report.papers import RebuiltPaper
    from freefloat.reproduce import PAPERS, figures, findings
    from freefloat.reproduce import reproduce as rebuild

    if paper in PAPERS:
        takes = "one to two minutes" if quick else "several minutes"
        screen.note(f"rebuilding paper {paper}: {takes} of processor time")
    with progress(f"paper {paper}") as told:
        rows = rebuild(paper, quick=quick, progress=told)
    return RebuiltPaper(paper, PAPERS[paper], rows, findings(paper), figures(paper))


def _require(files: dict[str, Path | None]) -> None:
    """Refuse at once what could not be written in the end."""
    from freefloat.cli.simulate_request import require_writable
    from freefloat.errors import Fault, FreefloatError

    suffixes = {"--report": (".html", ".htm"), "--rows": (".json",)}
    faults = [
        Fault(name, str(path), f"a name that ends in {suffixes[name][0]}", "rename it")
        for name, path in files.items()
        if path is not None and path.suffix.lower() not in suffixes[name]
    ]
    if faults:
        raise FreefloatError("these arguments cannot be used:", faults)
    for path in files.values():
        if path is not None:
            require_writable(path)


def _write(
    rebuilt: list[RebuiltPaper], report: Path | None, rows: Path | None, plots: Path | None
) -> dict[str, Path]:
    from freefloat.report.papers import save_papers_page, save_rows

    written = {}
    if report is not None:
        save_papers_page(rebuilt, report)
        written["report"] = report
    if rows is not None:
        save_rows(rebuilt, rows)
        written["rows"] = rows
    if plots is not None:
        from freefloat.reproduce.drawings import save_figures

        plots.mkdir(parents=True, exist_ok=True)
        for paper in rebuilt:
            written |= {path.stem: path for path in save_figures(paper.id, plots)}
    return written


def _told(
    rebuilt: list[RebuiltPaper], quick: bool, n_missed: int, *, is_all: bool
) -> dict[str, object]:
    from freefloat.report.papers import as_dict

    head: dict[str, object] = {"ok": not n_missed, "quick": quick}
    if is_all:
        return {**head, "papers": [as_dict(one) for one in rebuilt]}
    return {**head, **as_dict(rebuilt[0])}


def overview(paper: str, title: str, rows: Sequence[PaperRow]) -> Iterator[RenderableType]:
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


def _table(rows: list[PaperRow]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    from freefloat.report.papers import figure

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


def _with_notes(grid: RenderableType, rows: list[PaperRow]) -> RenderableType:
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
