"""The studies of papers, carried out one after the other or on several cores.

A study is a function that rebuilds a part of a paper and returns rows. Studies know nothing of each
other, so their rows are the same wherever and in whatever order they are carried out.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from freefloat.errors import FreefloatError
from freefloat.papers.paper_rows import Row

# Carried out first where there are several cores, so that none works alone at the end.
LONGEST = (
    "design_rows", "friction_rows", "better_rows", "wing_rows", "gradient_rows", "start_rows",
    "noise_rows", "rate_rows", "planar_rows", "fuel_rows",
)  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A part of a paper: which paper, which of its STUDIES, and the name of the function."""

    paper: str
    place: int
    name: str

    @property
    def title(self) -> str:
        """The name in words.

        >>> Study("003", 0, "true_value_rows").title
        'true value'
        """
        return self.name.removesuffix("_rows").replace("_", " ")


@dataclass(frozen=True)
class StudyResult:
    """The rows of a study; when it began and ended [s since 1970], and its processor time [s]."""

    study: Study
    rows: tuple[Row, ...]
    began: float
    ended: float
    cpu: float

    @property
    def wall(self) -> float:
        """How long it took [s]."""
        return self.ended - self.began


def studies_of(papers: Sequence[str]) -> list[Study]:
    """Every study of some papers, in the order of the tables."""
    return [
        Study(paper, place, getattr(study, "__name__", f"study {place}"))
        for paper in papers
        for place, study in enumerate(_module(paper).STUDIES)
    ]


def carry_out(study: Study, *, quick: bool) -> StudyResult:
    """One study, in this process."""
    function = _module(study.paper).STUDIES[study.place]
    began, cpu = time.time(), time.process_time()
    rows = tuple(function(quick=quick))
    return StudyResult(study, rows, began, time.time(), time.process_time() - cpu)


def carry_out_all(
    studies: Sequence[Study], *, quick: bool, workers: int | None = 1
) -> Iterator[StudyResult]:
    """Studies as they end; leaving before the end, as an interrupt does, ends all processes.

    Args:
        studies: What to carry out.
        quick: In short, for a first look.
        workers: Processes; 1 is this one alone, None one a core.

    Yields:
        The rows of each study, with its times.

    Raises:
        FreefloatError: Fewer than one worker.
    """
    workers = min(n_cores() if workers is None else workers, len(studies))
    if workers < 1 and studies:
        raise FreefloatError(
            "studies need a worker at least; 1 is this process alone", code="option.range"
        )
    if workers <= 1:
        for study in studies:
            yield carry_out(study, quick=quick)
        return
    with _processes(workers) as pool:
        with _deaf_children():
            pending = [pool.submit(carry_out, study, quick=quick) for study in _order(studies)]
        for future in as_completed(pending):
            yield future.result()


def n_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _module(paper: str) -> ModuleType:
    return import_module(f"freefloat.papers.paper_{paper}")


def _order(studies: Sequence[Study]) -> list[Study]:
    """Paper by paper, so that each is complete early; the longest studies of each first."""
    papers = list(dict.fromkeys(study.paper for study in studies))
    known = {name: place for place, name in enumerate(LONGEST)}
    last = len(LONGEST)
    return sorted(studies, key=lambda s: (papers.index(s.paper), known.get(s.name, last), s.place))


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes (`spawn`: compiled kernels and threads do not survive a fork)."""
    before = multiprocessing.active_children()
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
    )
    try:
        yield pool
    except BaseException:
        for child in multiprocessing.active_children():
            if child not in before:
                child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started meanwhile do not receive Ctrl-C, which would make each print a traceback.

    A signal that is blocked here stays blocked in them; for this process it is only put off.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    """For systems without signal masks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
