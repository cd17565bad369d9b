"""Progress of long work: one callback, passed down from whoever waits to whatever takes long.

    def show(stage: str, fraction: float | None) -> None: ...
    ff.identify(model, parameters, flight, progress=show)

It is called with what is being done, in words for a person, and the fraction of the whole that is
done, 0 to 1, or None where that cannot be told: before every simulation of a search, and every few
thousand steps of a long one. It may raise to stop the work: `CancelledError` is there for that, no
FreefloatError, so that nothing takes it for a failure of the model and goes on. No result is
returned then, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """A function of what is being done, and of the fraction of the whole that is done or None."""

    def __call__(self, stage: str, fraction: float | None, /) -> None:
        """Take it in; what is raised here stops the work."""


@dataclass(frozen=True)
class SearchStep:
    """A point of a search that is better than all before: for whoever watches it converge.

    cost: half the sum of squares there, in units of the noise; values and deviations: of the
    parameters by name, in their units, the latter by noise alone and from the slopes there.
    """

    cost: float
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: tuple[float, ...]
    deviations: tuple[float, ...]


@dataclass(frozen=True)
class DataStep:
    """An estimate by equations from the first part of the recordings, for whoever watches.

    share: of the recordings, 0 to 1; misfit: mean square residual in units of the noise; values and
    deviations: of the parameters by name, in their units, NaN where that part does not show them.
    """

    share: float
    misfit: float
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: tuple[float, ...]
    deviations: tuple[float, ...]


class SearchHistory:
    """Progress that keeps every better point of a search, to be drawn by `plot_convergence`.

    >>> history = SearchHistory()
    >>> history("fitting", 0.5)
    >>> history.step(SearchStep(2.0, ("bus.mass",), ("kg",), (250.0,), (0.3,)))
    >>> [step.cost for step in history.steps]
    [2.0]
    """

    def __init__(self) -> None:
        self.steps: list[SearchStep] = []

    def __call__(self, stage: str, fraction: float | None = None, /) -> None:
        """Nothing is shown."""

    def step(self, found: SearchStep) -> None:
        """Keep a point that is better than all before."""
        self.steps.append(found)


def step_listener(progress: Progress) -> Callable[[SearchStep], None] | None:
    """The method `step` of a progress object that has one: it is told every better point.

    >>> step_listener(silent) is None
    True
    """
    return getattr(progress, "step", None)


def data_listener(progress: Progress) -> Callable[[DataStep], None] | None:
    """The method `data_step` of a progress object that has one: it is told what the data say.

    >>> data_listener(silent) is None
    True
    """
    return getattr(progress, "data_step", None)


class CancelledError(Exception):
    """Raised by a progress callback to stop the work; freefloat never catches it."""


def silent(stage: str, fraction: float | None = None) -> None:
    """Nobody waits."""


def portion(progress: Progress, first: float, last: float) -> Progress:
    """Progress of a part of the work, which is from `first` to `last` of the whole.

    Args:
        progress: Of the whole.
        first, last: Fractions of the whole, 0 to 1.

    Returns:
        A function that the part can call with its own fraction, 0 to 1.

    >>> portion(lambda stage, fraction: print(stage, fraction), 0.5, 1.0)("fitting", 0.5)
    fitting 0.75
    """

    def tell(stage: str, fraction: float | None = None) -> None:
        progress(stage, first + (last - first) * (fraction or 0.0))

    return tell


def count_steps(progress: Progress, work: str) -> Progress:
    """Progress that says what the steps are for, and counts them where nothing else is known.

    >>> tell = count_steps(lambda stage, fraction: print(stage), "fitting")
    >>> tell("simulation", None), tell("simulation", None)
    fitting, simulation 1
    fitting, simulation 2
    (None, None)
    """
    n = 0

    def tell(stage: str, fraction: float | None = None) -> None:
        nonlocal n
        n += 1
        progress(f"{work}, {stage} {n}", fraction)

    return tell
