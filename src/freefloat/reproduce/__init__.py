"""The tables of published papers, rebuilt from the library's own code, beside the printed numbers.

>>> from freefloat.reproduce import PAPERS
>>> PAPERS["003"]
'Cepheus, the planar air-bearing emulator: parameters from angular momentum'
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from freefloat.errors import FreefloatError
from freefloat.reproduce.rows import Row

PAPERS = {
    "001": "Base and target after a capture: inertial parameters found online",
    "003": "Cepheus, the planar air-bearing emulator: parameters from angular momentum",
}


def reproduce(
    paper: str, *, quick: bool = False, progress: Callable[[float], None] | None = None
) -> tuple[Row, ...]:
    """Every number of a paper beside ours, computed now from the model files.

    paper: one of PAPERS; quick: fewer repetitions and shorter flights, for a first look; progress
    is told the fraction done.
    """
    if paper not in PAPERS:
        known = ", ".join(PAPERS)
        raise FreefloatError(f"there is no paper {paper!r} to reproduce; there is: {known}")
    studies = import_module(f"freefloat.reproduce.paper_{paper}").STUDIES
    rows: list[Row] = []
    for n, study in enumerate(studies):
        rows += study(quick=quick)
        if progress is not None:
            progress((n + 1) / len(studies))
    return tuple(rows)


__all__ = ["PAPERS", "Row", "reproduce"]
