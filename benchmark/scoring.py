"""Scores: errors in units of the bound, coverage, overconfidence, prediction, processor time.

Only numbers of a task's answer and its truth are needed: whoever writes an answer file of the same
form can be scored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SIGMAS_95 = 1.959964
FAR = 4.0  # deviations off: a number that claims to be known, and is wrong


@dataclass(frozen=True)
class TaskScore:
    """One answer to one task.

    over_bound: root mean square of errors over the bound of all sensors; answered: share of the
    unknowns with an estimate; coverage: of intervals of 95 %; overconfident: estimates more than 4
    stated deviations off; prediction: errors of the second recording over those of the truth.
    """

    over_bound: float
    over_known: float
    answered: float
    coverage: float
    overconfident: float
    prediction: float


def score(answer: dict, truth: dict) -> TaskScore:
    """The score of an answer."""
    true, bound = truth["values"], truth["bound"]
    known = truth["bound_of_known_motion"]
    found = {n: e for n, e in answer["estimates"].items() if n in true}
    squares, closer, inside, far = [], [], 0, 0
    for name, (value, std, *_) in found.items():
        error = value - true[name]
        if bound.get(name) and math.isfinite(bound[name]):
            squares.append((error / bound[name]) ** 2)
        if known.get(name) and math.isfinite(known[name]):
            closer.append((error / known[name]) ** 2)
        inside += abs(error) <= SIGMAS_95 * std
        far += abs(error) > FAR * std
    n = len(found)
    return TaskScore(
        _root(squares), _root(closer), n / len(true), inside / n if n else math.nan, far,
        answer.get("prediction", math.nan),
    )  # fmt: skip


def mean_score(scores: Sequence[TaskScore]) -> TaskScore:
    """Of several recordings of a task: ratios by their squares, estimates far off in all."""
    n = len(scores)
    return TaskScore(
        *(_root([getattr(s, name) ** 2 for s in scores]) for name in ("over_bound", "over_known")),
        sum(s.answered for s in scores) / n, sum(s.coverage for s in scores) / n,
        sum(s.overconfident for s in scores), _root([s.prediction**2 for s in scores]),
    )  # fmt: skip


def _root(squares: list[float]) -> float:
    return math.sqrt(sum(squares) / len(squares)) if squares else math.nan
