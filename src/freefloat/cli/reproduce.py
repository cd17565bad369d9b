"""`freefloat reproduce`: the tables of papers, rebuilt now, beside the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from freefloat.papers.studies import Outcome
    from freefloat.report.paper_pages import RebuiltPaper

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
    """Rebuild the tables of a paper, or of all, beside the printed numbers.

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
        Which paper: 000 (wings and fuel), 001 (base and target, live), 002 (ETS-VII
        in orbit), 003 (angular momentum), 004 (a flexible joint), or all.
    quick
        Fewer repetitions and shorter flights, for a first look.
    workers
        Processes to share the work among, with the same rows: one a core unless
        said, 1 for this process alone.
    report
        The tables as one page of HTML to write; nothing unless said.
    rows
        Every row as JSON (.json) to write; nothing unless said.
    plots
        A folder for the papers' figures, redrawn (PNG). Needs freefloat[plot].
    """
    from freefloat.cli import screen
    from freefloat.cli.waiting import tell_first_run
    from freefloat.papers import PAPERS, require_known

    _require({"--report": report, "--rows": rows})
    wanted = sorted(PAPERS) if paper == "all" else [paper]
    require_known(wanted)
    kernels = [KERNELS.get(one, "tangent.rk4_tangent") for one in wanted]
    tell_first_run(*dict.fromkeys(kernels), takes="about a minute")
    rebuilt = _rebuild(wanted, quick, workers, has_figures=report is not None)
    written = _write(rebuilt, report, rows, plots)
    n_missed = sum(row.status == "missed" for one in rebuilt for row in one.rows)
    if shared.json:
        screen.print_json(_told(rebuilt, quick, n_missed, is_all=paper == "all"))
    else:
        _show(rebuilt, written)
    return 1 if n_missed else 0


def _show(rebuilt: list[RebuiltPaper], written: dict[str, Path]) -> None:
    from freefloat.cli import screen
    from freefloat.cli.reproduce_view import overview

    for one in rebuilt:
        screen.show(*overview(one), "")
    for name, path in written.items():
        screen.show(f"{name}: {path}")


def _rebuild(
    papers: list[str], quick: bool, workers: int | None, *, has_figures: bool
) -> list[RebuiltPaper]:
    """Carry out every study of the papers and put the rows together again, paper by paper."""
    from freefloat.cli import screen
    from freefloat.papers import PAPERS, figures, findings
    from freefloat.papers.studies import carry_out_all, studies_of
    from freefloat.report.paper_pages import RebuiltPaper

    takes = "about a minute" if quick else "several minutes"
    words = "each " if len(papers) > 1 else ""
    screen.note(f"rebuilding paper {', '.join(papers)}: {words}{takes} of processor time")
    studies = studies_of(papers)
    ended: list[Outcome] = []
    with _told_by_study(len(studies)) as tell:
        for outcome in carry_out_all(studies, quick=quick, workers=workers):
            ended.append(outcome)
            tell(outcome, len(ended))
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
def _told_by_study(n: int) -> Iterator[Callable[[Outcome, int], None]]:
    """Says which study has ended: a bar on a terminal, a line each elsewhere."""
    from freefloat.cli import screen
    from freefloat.cli.waiting import is_watched, progress

    with progress("papers") as bar:

        def tell(outcome: Outcome, n_ended: int) -> None:
            what = f"paper {outcome.study.paper}, {outcome.study.title}"
            bar(n_ended / n, what=what)
            if not is_watched():
                screen.note(f"{what}: {len(outcome.rows)} rows, {outcome.wall:.1f} s")

        yield tell


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
    from freefloat.report.paper_pages import save_papers_page, save_rows

    written = {}
    if report is not None:
        save_papers_page(rebuilt, report)
        written["report"] = report
    if rows is not None:
        save_rows(rebuilt, rows)
        written["rows"] = rows
    if plots is not None:
        from freefloat.papers.drawings import save_figures

        plots.mkdir(parents=True, exist_ok=True)
        for paper in rebuilt:
            written |= {path.stem: path for path in save_figures(paper.id, plots)}
    return written


def _told(
    rebuilt: list[RebuiltPaper], quick: bool, n_missed: int, *, is_all: bool
) -> dict[str, object]:
    from freefloat.report.paper_pages import as_dict

    head: dict[str, object] = {"ok": not n_missed, "quick": quick}
    if is_all:
        return {**head, "papers": [as_dict(one) for one in rebuilt]}
    return {**head, **as_dict(rebuilt[0])}
