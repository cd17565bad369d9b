"""Other minima that explain the data about as well: looked for along the springs known least.

A swing that the data hardly show can be taken for one of another frequency. Every such minimum is
narrow, so its own curvature says nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.cost import Evaluation, OutputErrorProblem
from freefloat.identification.output_error.levenberg import Descent, descend

SPRINGS = ("stiffness", "length")
SOFT = 0.01  # relative deviation from which on a spring may have been mistaken for another
HARDLY_SEEN = 0.3  # relative deviation that warns by itself
MOST_SPRINGS = 3  # looked at
ASIDE = 6.0  # deviations: far enough to leave a minimum
SAME = 3.0  # deviations: as near as that is the same minimum
AS_GOOD = 4.5  # more of half the sum of squares: three standard deviations
MOST_FLIGHTS = 12  # of a descent to a rival
MOST_BEYOND = 4  # descents to where two rivals together lead
NEAR_ENOUGH = 1e-6  # relative decrease that ends it


@dataclass(frozen=True)
class Rival:
    """Another minimum: theta there, and by how much half the sum of squares is larger.

    Not is_minimum: a point far along a bent valley that explains the data about as well.
    """

    theta: Array
    rise: float
    is_minimum: bool = True


def looked_around(
    problem: OutputErrorProblem, descent: Descent
) -> tuple[Descent, tuple[Rival, ...]]:
    """The lowest minimum near by, and those that are about as low."""
    first = descent.at
    C = covariance_of(first, problem.unknowns.sizes)
    found, passed, n = [first], [], descent.n_evaluations
    for k in _soft_springs(problem, first.theta, C):
        for sign in (-1.0, 1.0):
            n += _descended(problem, found, passed, sign * ASIDE * C[:, k] / np.sqrt(C[k, k]))
    for step in _beyond(found):
        n += _descended(problem, found, passed, step)
    best = min(found, key=lambda at: at.cost)
    if best is not first:
        lower = descend(problem, best.theta)
        found = [lower.at if at is best else at for at in found]
        descent, best = lower, lower.at
        n += lower.n_evaluations
    rivals = [Rival(at.theta, at.cost - best.cost) for at in found if at is not best]
    rivals += [Rival(at.theta, at.cost - best.cost, is_minimum=False) for at in passed]
    kept = sorted((one for one in rivals if one.rise < AS_GOOD), key=lambda one: one.rise)
    return replace(descent, n_evaluations=n), tuple(kept)


def _descended(
    problem: OutputErrorProblem, found: list[Evaluation], passed: list[Evaluation], step: Array
) -> int:
    """Descend from aside the first minimum; returns the flights it took.

    A new minimum is added to those found, and the first point on the way down that is as good.
    """
    visited: list[Evaluation] = []
    start = problem.unknowns.moved(found[0].theta, step)
    if problem.evaluate(start) is None:
        return 1
    other = descend(problem, start, most=MOST_FLIGHTS, enough=NEAR_ENOUGH, progress=visited.append)
    passed += [at for at in visited if at.cost - found[0].cost < AS_GOOD][:1]
    if not any(_is_same(problem, other.at, one) for one in found):
        found.append(other.at)
    return other.n_evaluations + 1


def _beyond(found: Sequence[Evaluation]) -> list[Array]:
    """Steps from the first minimum to where two others together lead, or one of them twice.

    Of wings on two sides each may be mistaken by itself, and both at once.
    """
    first, *others = found
    near = [at for at in others if at.cost - first.cost < AS_GOOD]
    pairs = combinations_with_replacement(sorted(near, key=lambda at: at.cost), 2)
    best = sorted(pairs, key=lambda pair: pair[0].cost + pair[1].cost)[:MOST_BEYOND]
    return [one.theta + other.theta - 2.0 * first.theta for one, other in best]


def widened(C: Array, rivals: Sequence[Rival], theta: Array) -> Array:
    """The covariance about theta, widened until every rival is as near as it is likely.

    One whose sum of squares is as low ends up as far away as the two would scatter; a higher one
    as far as its likelihood says.

    >>> twin = Rival(np.array([3.0]), 0.0)
    >>> widened(np.array([[0.01]]), [twin], np.array([1.0])).tolist()
    [[2.0]]
    """
    for rival in sorted(rivals, key=lambda rival: rival.rise):
        away = rival.theta - theta
        length = np.sqrt(np.where(np.diag(C) > 0.0, np.diag(C), 1.0))
        scaled = np.linalg.pinv(C / np.outer(length, length), rcond=1e-13, hermitian=True)
        far, due = float((away / length) @ scaled @ (away / length)), 2.0 * (1.0 + rival.rise)
        if far > due:
            C = C + np.outer(away, away) * (1.0 / due - 1.0 / far)
    return C


def moved_springs(problem: OutputErrorProblem, at: Evaluation, rival: Rival) -> list[str]:
    """The springs that are another at the rival, with their values there."""
    std = np.sqrt(np.maximum(np.diag(covariance_of(at, problem.unknowns.sizes)), 0.0))
    return [
        f"{u.label} = {rival.theta[k]:.4g}"
        for k, u in enumerate(problem.unknowns.items)
        if u.name.rpartition(".")[2] in SPRINGS
        and abs(rival.theta[k] - at.theta[k]) > SAME * std[k] > 0.0
    ]


def covariance_of(at: Evaluation, sizes: Array) -> Array:
    """Of all unknowns as the slopes there have it."""
    n = len(at.theta)
    H = at.prior_rows.T @ at.prior_rows
    for block in at.blocks:
        places = [*block.own, *block.shared]
        R = block.triangle[:, :-1]
        H[np.ix_(places, places)] += R.T @ R
    scaled = H * np.outer(sizes, sizes)
    length = np.sqrt(np.where(np.diag(scaled) > 0.0, np.diag(scaled), 1.0))
    inverse = np.linalg.pinv(scaled / np.outer(length, length), rcond=1e-13, hermitian=True)
    return inverse / np.outer(length, length) * np.outer(sizes, sizes).reshape(n, n)


def _soft_springs(problem: OutputErrorProblem, theta: Array, C: Array) -> list[int]:
    """Springs that are seen, but not well; those known least first."""
    std = np.sqrt(np.maximum(np.diag(C), 0.0))
    soft = [
        (float(std[k] / theta[k]), k)
        for k, u in enumerate(problem.unknowns.items)
        if u.name.rpartition(".")[2] in SPRINGS and theta[k] > 0.0
    ]
    soft = [(share, k) for share, k in soft if SOFT < share < HARDLY_SEEN]
    return [k for _, k in sorted(soft, reverse=True)[:MOST_SPRINGS]]


def _is_same(problem: OutputErrorProblem, one: Evaluation, other: Evaluation) -> bool:
    """Whether two minima are one, as far as their springs tell."""
    C = covariance_of(other, problem.unknowns.sizes)
    springs = [
        k for k, u in enumerate(problem.unknowns.items)
        if u.name.rpartition(".")[2] in SPRINGS and C[k, k] > 0.0
    ]  # fmt: skip
    apart = np.abs(one.theta - other.theta)[springs] / np.sqrt(np.diag(C)[springs])
    return bool(np.all(apart < SAME))
