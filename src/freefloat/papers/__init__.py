"""The tables of published papers, rebuilt from the library's own code, beside the printed numbers.

>>> from freefloat.papers import PAPERS
>>> PAPERS["003"]
'Cepheus, the planar air-bearing emulator: parameters from angular momentum'
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from freefloat.errors import Fault, FreefloatError
from freefloat.papers.paper_rows import Row
from freefloat.papers.study_runner import carry_out_all, studies_of
from freefloat.progress import Progress, silent
from freefloat.report.paper_pages import PaperFigure
from freefloat.text import did_you_mean

PAPERS = {
    "000": "a servicer with flexible wings and sloshing fuel: identified with its arm alone",
    "001": "base and target after a capture: inertial parameters found live",
    "002": "ETS-VII: base and load identified in orbit from accelerometer and gyro",
    "003": "Cepheus, the planar air-bearing emulator: parameters from angular momentum",
    "004": "the CBK arm on air bearings: stiffness and damping of a flexible joint",
}


def reproduce(
    paper: str,
    *,
    quick: bool = False,
    workers: int | None = 1,
    progress: Progress = silent,
) -> tuple[Row, ...]:
    """Every number of a paper beside ours, computed now from the model files.

    Args:
        paper: One of PAPERS, such as "003".
        quick: Fewer repetitions and shorter flights, for a first look.
        workers: Processes to share the studies among, None for one a core; rows are the same.
        progress: Called with every study that has ended.

    Returns:
        The rows in the order of the paper's tables.

    Raises:
        FreefloatError: There is no such paper.

    >>> try:
    ...     reproduce("007")
    ... except FreefloatError as error:
    ...     print(error.codes)
    ('name.unknown',)
    """
    require_known([paper])
    studies, results = studies_of([paper]), []
    for result in carry_out_all(studies, quick=quick, workers=workers):
        results.append(result)
        progress(f"paper {paper}, {result.study.title}", len(results) / len(studies))
    results.sort(key=lambda one: one.study.place)
    return tuple(row for result in results for row in result.rows)


def require_known(papers: Sequence[str]) -> None:
    """Raise FreefloatError where one of these is not among PAPERS."""
    for paper in papers:
        if paper not in PAPERS:
            known = ", ".join(PAPERS)
            fault = Fault("paper", paper, f"one of {known}", did_you_mean(paper, PAPERS),
                          "name.unknown")  # fmt: skip
            raise FreefloatError(f"there is no paper {paper!r} to reproduce", [fault])


def findings(paper: str) -> tuple[str, ...]:
    """What rebuilding a paper has shown, in sentences; its module has them as FINDINGS."""
    return tuple(getattr(import_module(f"freefloat.papers.paper_{paper}"), "FINDINGS", ()))


def figures(paper: str) -> tuple[PaperFigure, ...]:
    """Figures of a paper, computed now; its module has functions for them as FIGURES."""
    made = getattr(import_module(f"freefloat.papers.paper_{paper}"), "FIGURES", ())
    return tuple(figure() for figure in made)


__all__ = ["PAPERS", "Row", "figures", "findings", "reproduce", "require_known"]
