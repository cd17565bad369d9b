"""`freefloat reproduce`: the tables of papers, rebuilt now, beside the printed numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import FLAG, Shared, require
from freefloat.cli.output_files import OutputFiles, require_writable
from freefloat.errors import visible
from freefloat.files import together
from freefloat.text import listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.papers.study_runner import StudyResult
    from freefloat.report.paper_pages import PaperRow, RebuiltPaper

STYLES = {"missed": "bold red", "paper wrong": "yellow", "better": "green", "reproduced": "green",
          "met": "green", "differs": "yellow", "out of reach": "yellow"}  # fmt: skip
KERNELS = {"003": "observe.balance"}  # what a paper compiles last; output error: its tangents


def reproduce(
    paper: str,
    /,
    *,
    quick: Annotated[bool, FLAG] = False,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    report: Path | None = None,
    rows: Path | None = None,
    plots: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Recompute the tables of a paper, or of all, beside the printed numbers.

    Papers: 000 (wings and fuel), 001 (base and target, live), 002 (ETS-VII in
    orbit), 003 (angular momentum), 004 (a flexible joint), or all.

    Everything of ours is computed now from the model files, nothing is stored.
    Each row says: reproduced, reproduced in pattern (the paper leaves geometry
    or noise open), paper wrong, better, met (an aim of ours; nothing is printed),
    regression (no worse than we measured before), not published, differs (the
    paper's own method, on geometry it leaves open), out of reach (an aim that the
    row proves impossible), or missed. Exit code 1 says that a row was missed.

    For example:
      freefloat reproduce 003 --quick
      freefloat reproduce all --report papers.html --rows papers.json

    Parameters
    ----------
    paper
        Which paper: 000 to 004, or all.
    quick
        Fewer repetitions and shorter flights, for a first look.
    workers
        Number of processes, by default one a core; the rows are the same with any number.
    report
        Write the tables to this file (.html).
    rows
        Write every row as JSON to this file.
    plots
        A folder for the papers' figures, redrawn (PNG). Needs freefloat[plot].
    """
    from freefloat.cli.waiting import tell_first_run
    from freefloat.papers import PAPERS, require_known

    files = OutputFiles(report=("--report", report), rows=("--rows", rows))
    require(files.faults())
    files.require_possible()
    if plots is not None:
        _require_folder(plots)
    wanted = sorted(PAPERS) if paper == "all" else [paper]
    require_known(wanted)
    kernels = [KERNELS.get(one, "tangent.rk4_tangent") for one in wanted]
    tell_first_run(*dict.fromkeys(kernels), takes="about a minute")
    rebuilt = _rebuild(wanted, quick, workers, has_figures=report is not None)
    written = _write(rebuilt, report, rows, plots)
    n_missed = sum(row.status == "missed" for one in rebuilt for row in one.rows)
    if shared.json:
        screen.print_json(_as_dict(rebuilt, quick, n_missed, is_all=paper == "all"))
    else:
        for one in rebuilt:
            screen.show(*_overview(one), "")
        screen.show(*(visible(f"{what}: {path}") for what, path in written.items()))
    return 1 if n_missed else 0


def _rebuild(
    papers: list[str], quick: bool, workers: int | None, *, has_figures: bool
) -> list[RebuiltPaper]:
    """Carry out every study of the papers and put the rows together again, paper by paper."""
    from freefloat.papers import PAPERS, figures, findings
    from freefloat.papers.study_runner import carry_out_all, studies_of
    from freefloat.report.paper_pages import RebuiltPaper

    takes = "about a minute" if quick else "several minutes"
    words = "each " if len(papers) > 1 else ""
    screen.note(f"rebuilding paper {', '.join(papers)}: {words}{takes} of processor time")
    studies = studies_of(papers)
    ended: list[StudyResult] = []
    with _study_progress(len(studies)) as update:
        for result in carry_out_all(studies, quick=quick, workers=workers):
            ended.append(result)
            update(result, len(ended))
    rebuilt = []
    for paper in papers:
        own = sorted((o for o in ended if o.study.paper == paper), key=lambda o: o.study.place)
        rebuilt.append(
            RebuiltPaper(
                paper, PAPERS[paper], [row for one in own for row in one.rows], findings(paper),
                figures(paper) if has_figures else (),
                wall=max(one.ended for one in own) - min(one.began for one in own),
                cpu=sum(one.cpu for one in own),
            )
        )  # fmt: skip
    return rebuilt


@contextmanager
def _study_progress(n: int) -> Iterator[Callable[[StudyResult, int], None]]:
    """Says which study has ended: a bar on a terminal, a line each elsewhere."""
    from freefloat.cli.waiting import has_terminal, progress

    with progress("papers", has_lines=False) as bar:

        def update(result: StudyResult, n_ended: int) -> None:
            what = f"paper {result.study.paper}, {result.study.title}"
            bar(what, n_ended / n)
            if not has_terminal():
                screen.note(f"{what}: {len(result.rows)} rows, {result.wall:.1f} s")

        yield update


def _require_folder(plots: Path) -> None:
    """Make the folder for figures, or say at once why there can be none."""
    from freefloat.files import unwritable_fault
    from freefloat.report.plots import require_matplotlib

    require_matplotlib()
    try:
        plots.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        require([unwritable_fault("--plots", plots, error)])
    require_writable(plots / "figure.png")


@together()
def _write(
    rebuilt: list[RebuiltPaper], report: Path | None, rows: Path | None, plots: Path | None
) -> dict[str, Path]:
    from freefloat.report.paper_pages import save_papers_page, save_rows

    written = {}
    if report is not None:
        save_papers_page(rebuilt, report)
        written["report"] = report
    if rows is not None:
        save_rows(rebuilt, rows)
        written["rows"] = rows
    if plots is not None:
        from freefloat.papers.figure_files import save_figures

        for paper in rebuilt:
            written |= {path.stem: path for path in save_figures(paper.id, plots)}
    return written


def _as_dict(
    rebuilt: list[RebuiltPaper], quick: bool, n_missed: int, *, is_all: bool
) -> dict[str, object]:
    from freefloat.report.paper_pages import as_dict

    head: dict[str, object] = {"ok": not n_missed, "quick": quick}
    if is_all:
        return {**head, "papers": [as_dict(one) for one in rebuilt]}
    return {**head, **as_dict(rebuilt[0])}


def _overview(paper: RebuiltPaper) -> Iterator[RenderableType]:
    """The tables one below the other, with their notes, and how many rows say what."""
    rows = paper.rows
    yield Text.assemble((f"{paper.id} ", "bold"), paper.title)
    for table in dict.fromkeys(row.table for row in rows):
        own = [row for row in rows if row.table == table]
        yield from screen.section(table, _table(own), *_notes(own))
    yield ""
    yield Text(_summary(paper), style="bold")


def _summary(paper: RebuiltPaper) -> str:
    """How many rows say what, and what they took, on one line.

    >>> from freefloat.report.paper_pages import RebuiltPaper
    >>> _summary(RebuiltPaper("003", "Cepheus", [], wall=12.3, cpu=20.08))
    'no rows; 12.3 s, 20.1 s of processor time'
    """
    from freefloat.report.paper_pages import tally

    counts = ", ".join(f"{n} {status}" for status, n in sorted(tally(paper.rows).items()))
    if paper.wall is None or paper.cpu is None:
        return counts or "no rows"
    return f"{counts or 'no rows'}; {paper.wall:.1f} s, {paper.cpu:.1f} s of processor time"


def _table(rows: Sequence[PaperRow]) -> RenderableType:
    from freefloat.report.paper_pages import figure

    cells = [
        (row.quantity, figure(row.paper), figure(row.ours), "" if row.unit == "-" else row.unit,
         Text(row.status, style=STYLES.get(row.status, "")))
        for row in rows
    ]  # fmt: skip
    head = ("quantity", "paper", "ours", "unit", "status")
    return screen.table(head, cells, align="lrrll", gap=1)


def _notes(rows: Sequence[PaperRow]) -> Iterator[RenderableType]:
    """Every note once, with the rows it is of."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            notes.setdefault(row.note, []).append(row.quantity)
    for note, names in notes.items():
        text = f"{_row_names(names, len(rows))}: {note}"
        yield screen.indent(Text(text, style="dim", overflow="fold"))


def _row_names(names: list[str], n_rows: int) -> str:
    """Which rows a note is of; many are not all named.

    >>> _row_names(["m, ours", "I, ours", "b, ours", "c, ours"], 9)
    'm, ours; I, ours and 2 more'
    """
    if len(names) == n_rows > 1:
        return "all"
    return listing(names, most=3 if len(names) <= 3 else 2, between="; ")
