"""How far a Fit is to be believed, as data: a grade, its evidence, and what carries the scale.

It computes nothing; `identification/trust` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Grade = Literal["trusted", "with reservations", "not trusted"]
GRADES: tuple[Grade, ...] = ("trusted", "with reservations", "not trusted")
NOT_ASSESSED = "not assessed"


@dataclass(frozen=True)
class Evidence:
    """One test of a fit: what it found, the limit it is held against, and what that is worth.

    statistic and limit are in the test's own measure, which `text` names; shift: by how much what
    was found may move an estimate [total standard deviations], NaN where the test cannot tell;
    grade: what it allows the fit to be at best. remedy: what to do next.
    """

    code: str
    text: str
    grade: Grade = "trusted"
    statistic: float = float("nan")
    limit: float = float("nan")
    shift: float = float("nan")
    remedy: str = ""


@dataclass(frozen=True)
class Cause:
    """An assumption that the data contradict beyond its doubt.

    names: the parameter, and those the data cannot tell from it. amplitude and std: how far it is
    off, in `unit`. chi_square: what freeing it would take off the sum of squares, in units of the
    noise. shift: how far the estimate of `moves` would go [total standard deviations]. heals:
    whether it was freed and, with all that were, nothing but noise is left. remedy: what to do, of
    something that the model lacks rather than takes as exact; time [s]: when that sets in, NaN
    where it is there all along.
    """

    names: tuple[str, ...]
    unit: str
    amplitude: float
    std: float
    chi_square: float
    shift: float
    moves: str
    heals: bool
    time: float = float("nan")
    remedy: str = ""


@dataclass(frozen=True)
class DoubtShare:
    """Something taken for exact, by how much it may be off, and what that does to the estimates.

    deviation: its standard deviation, in `unit` ("1": relative); is_stated: by the model file,
    rather than assumed. share: of the total variance of `moves`, the estimate it matters to most,
    that would go if it were known exactly.
    """

    name: str
    unit: str
    deviation: float
    is_stated: bool
    share: float
    moves: str


@dataclass(frozen=True)
class AssumptionLimits:
    """How far off something taken for exact must be to be seen in these recordings, or to do harm.

    deviation: its standard deviation, in `unit` ("1": relative), as are visible_at, from which on
    its own score test would see it (infinite: never here), and harmful_at, from which on it moves
    the estimate of `moves` by a total standard deviation (infinite: it moves none).
    """

    name: str
    unit: str
    deviation: float
    is_stated: bool
    visible_at: float
    harmful_at: float
    moves: str


@dataclass(frozen=True)
class ScaleCarrier:
    """What newtons or kilograms are known by, and how much of the estimates' scale it carries.

    names: assumptions of one class. share: by how many per cent masses and inertias change, on
    the average, where all of them are one per cent larger; the shares of all carriers add up to
    one, and one may be negative. deviation: relative, the largest of theirs. is_stated: by the
    model file, rather than assumed. is_checked: the flight would have shown it, were it far enough
    off to spoil an estimate.
    """

    names: tuple[str, ...]
    share: float
    deviation: float
    is_stated: bool
    is_checked: bool


@dataclass(frozen=True)
class Assessment:
    """The grade of a fit, the evidence behind it (the worst first), causes and inherited doubts.

    carriers: what carries the scale, the most important first; none where nothing grows with it.
    limits: of every assumption, those that do harm before they are seen first; of these the ones
    first of which the fewest deviations do.
    """

    grade: Grade
    evidence: tuple[Evidence, ...] = ()
    causes: tuple[Cause, ...] = ()
    doubts: tuple[DoubtShare, ...] = ()
    carriers: tuple[ScaleCarrier, ...] = ()
    limits: tuple[AssumptionLimits, ...] = ()

    @property
    def reasons(self) -> tuple[Evidence, ...]:
        """The evidence that speaks against the fit."""
        return tuple(e for e in self.evidence if e.grade != "trusted")


def worst_grade(evidence: Sequence[Evidence]) -> Grade:
    """The grade that all the evidence allows.

    >>> worst_grade((Evidence("a", "fine"), Evidence("b", "doubtful", "with reservations")))
    'with reservations'
    """
    return GRADES[max((GRADES.index(e.grade) for e in evidence), default=0)]
