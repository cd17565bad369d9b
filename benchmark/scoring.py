"""Scores: errors in units of the bound, coverage, overconfidence, prediction, processor time.

Only numbers of a task's answer and its truth are needed: whoever writes an answer file of the same
form can be scored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SIGMAS_95 = 1.959964
FAR = 4.0  # deviations off: a number that claims to be known, and is wrong


@dataclass(frozen=True)
class TaskScore:
    """One answer to one task.

    over_bound: root mean square of errors over the bound of all sensors; answered: share of the
    unknowns with an estimate; coverage: of intervals of 95 %; overconfident: estimates more than 4
    stated deviations off.
    """

    over_bound: float
    over_known: float
    answered: float
    coverage: float
    overconfident: int
    median_percent: float


def score(answer: dict, truth: dict) -> TaskScore:
    """The score of an answer."""
    true, bound = truth["values"], truth["bound"]
    known = truth["bound_of_known_motion"]
    found = {n: e for n, e in answer["estimates"].items() if n in true}
    squares, closer, inside, far, shares = [], [], 0, 0, []
    for name, (value, std, *_) in found.items():
        error = value - true[name]
        if bound.get(name) and math.isfinite(bound[name]):
            squares.append((error / bound[name]) ** 2)
        if known.get(name) and math.isfinite(known[name]):
            closer.append((error / known[name]) ** 2)
        inside += abs(error) <= SIGMAS_95 * std
        far += abs(error) > FAR * std
        shares.append(100.0 * abs(error) / max(abs(true[name]), 1e-12))
    n = len(found)
    return TaskScore(
        _root(squares), _root(closer), n / len(true), inside / n if n else math.nan, far,
        sorted(shares)[n // 2] if n else math.nan,
    )  # fmt: skip


def _root(squares: list[float]) -> float:
    return math.sqrt(sum(squares) / len(squares)) if squares else math.nan
