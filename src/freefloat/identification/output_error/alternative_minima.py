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
from freefloat.identification.output_error.levenberg import (
    NEGLIGIBLE,
    Descent,
    cost_change,
    descend,
    free_step,
)

SPRINGS = ("stiffness", "length")
# theory: 3^2 / 2, the rise of half the sum of squares at three standard deviations
AS_GOOD = 4.5
# theory: of the rise of a parabola; at half as much again it is one no longer
FORESEEN = 0.1
NEAR = 0.125  # theory: 0.5^2 / 2, half a standard deviation from a minimum
# theory: eigenvalues of a matrix of some hundred unknowns err by 100 * 1e-16 of the largest
SINGULAR = 1e-13


@dataclass(frozen=True)
class AlternativeMinimum:
    """Another minimum: theta there, and by how much half the sum of squares is larger.

    Not is_minimum: a point far along a bent valley that explains the data about as well.
    """

    theta: Array
    rise: float
    is_minimum: bool = True


def find_alternatives(
    problem: OutputErrorProblem, descent: Descent
) -> tuple[Descent, tuple[AlternativeMinimum, ...]]:
    """The lowest minimum near by, and those that are about as low."""
    first, options = descent.at, problem.options
    C = local_covariance(first, problem.unknowns.sizes)
    found, passed, n = [first], [], descent.n_evaluations
    for k in _soft_springs(problem, first.theta, C):
        for sign in (-1.0, 1.0):
            step = sign * options.aside * C[:, k] / np.sqrt(C[k, k])
            n += _descend_aside(problem, found, passed, step)
    for step in _beyond(found, options.alternative_pairs):
        n += _descend_aside(problem, found, passed, step)
    best = min(found, key=lambda at: at.cost)
    if best is not first:
        lower = descend(problem, best.theta, begin=best)
        found = [lower.at if at is best else at for at in found]
        descent, best = lower, lower.at
        n += lower.n_evaluations
    alternatives = [
        AlternativeMinimum(at.theta, at.cost - best.cost) for at in found if at is not best
    ]
    alternatives += [
        AlternativeMinimum(at.theta, at.cost - best.cost, is_minimum=False) for at in passed
    ]
    kept = sorted((one for one in alternatives if one.rise < AS_GOOD), key=lambda one: one.rise)
    return replace(descent, n_evaluations=n), tuple(kept)


def _descend_aside(
    problem: OutputErrorProblem, found: list[Evaluation], passed: list[Evaluation], step: Array
) -> int:
    """Descend from aside the first minimum; returns the simulations it took.

    A new minimum is added to those found, and the first point on the way down that is as good.
    """
    visited: list[Evaluation] = []
    options = problem.options
    start = problem.evaluate(problem.unknowns.move(found[0].theta, step))
    if start is None or _leads_back(problem, start, found[0]):
        return 1
    other = descend(
        problem, start.theta, most=options.alternative_simulations,
        enough=options.alternative_tolerance, begin=start, progress=visited.append,
    )  # fmt: skip
    passed += [at for at in visited if at.cost - found[0].cost < AS_GOOD][:1]
    if not any(_is_same(problem, other.at, one) for one in found):
        found.append(other.at)
    return other.n_evaluations + 1


def _leads_back(problem: OutputErrorProblem, at: Evaluation, first: Evaluation) -> bool:
    """Whether a point lies on the slope of the first minimum, so that a descent would end there.

    Both parabolas say so: the first minimum's foresaw the cost at the point, and the point's own
    foresees that minimum, where it is and how low.
    """
    way = at.theta - first.theta
    foreseen = first.cost + cost_change(first, way)
    lower, upper = problem.unknowns.lower, problem.unknowns.upper
    held = (first.theta <= lower) | (first.theta >= upper)
    back = free_step(at, held, problem.options)
    apart = way + back
    missed = 0.5 * sum(
        float(np.sum((b.factor[:, :-1] @ apart[[*b.own, *b.shared]]) ** 2)) for b in first.blocks
    )
    rise = foreseen - first.cost
    is_foreseen = abs(at.cost - foreseen) < FORESEEN * max(rise, NEGLIGIBLE)
    lands = at.cost + cost_change(at, back)
    return is_foreseen and missed < NEAR and abs(lands - first.cost) < NEAR


def _beyond(found: Sequence[Evaluation], most: int) -> list[Array]:
    """Steps from the first minimum to where two others together lead, or one of them twice.

    Of wings on two sides each may be mistaken by itself, and both at once.
    """
    first, *others = found
    near = [at for at in others if at.cost - first.cost < AS_GOOD]
    pairs = combinations_with_replacement(sorted(near, key=lambda at: at.cost), 2)
    best = sorted(pairs, key=lambda pair: pair[0].cost + pair[1].cost)[:most]
    return [one.theta + other.theta - 2.0 * first.theta for one, other in best]


def widen(C: Array, alternatives: Sequence[AlternativeMinimum], theta: Array) -> Array:
    """The covariance about theta, widened until every alternative is as near as it is likely.

    One whose sum of squares is as low ends up as far away as the two would scatter; a higher one
    as far as its likelihood says.

    >>> twin = AlternativeMinimum(np.array([3.0]), 0.0)
    >>> widen(np.array([[0.01]]), [twin], np.array([1.0])).tolist()
    [[2.0]]
    """
    for other in sorted(alternatives, key=lambda other: other.rise):
        away = other.theta - theta
        length = np.sqrt(np.where(np.diag(C) > 0.0, np.diag(C), 1.0))
        scaled = np.linalg.pinv(C / np.outer(length, length), rcond=SINGULAR, hermitian=True)
        far, due = float((away / length) @ scaled @ (away / length)), 2.0 * (1.0 + other.rise)
        if far > due:
            C = C + np.outer(away, away) * (1.0 / due - 1.0 / far)
    return C


def spring_changes(
    problem: OutputErrorProblem, at: Evaluation, other: AlternativeMinimum
) -> list[str]:
    """The springs that differ at an alternative minimum, with their values there."""
    same = problem.options.same_minimum
    std = np.sqrt(np.maximum(np.diag(local_covariance(at, problem.unknowns.sizes)), 0.0))
    return [
        f"{u.label} = {other.theta[k]:.4g}"
        for k, u in enumerate(problem.unknowns.items)
        if u.name.rpartition(".")[2] in SPRINGS
        and abs(other.theta[k] - at.theta[k]) > same * std[k] > 0.0
    ]


def local_covariance(at: Evaluation, sizes: Array) -> Array:
    """Of all unknowns as the slopes there have it."""
    n = len(at.theta)
    H = at.prior_rows.T @ at.prior_rows
    for block in at.blocks:
        places = [*block.own, *block.shared]
        R = block.factor[:, :-1]
        H[np.ix_(places, places)] += R.T @ R
    scaled = H * np.outer(sizes, sizes)
    length = np.sqrt(np.where(np.diag(scaled) > 0.0, np.diag(scaled), 1.0))
    inverse = np.linalg.pinv(scaled / np.outer(length, length), rcond=SINGULAR, hermitian=True)
    return inverse / np.outer(length, length) * np.outer(sizes, sizes).reshape(n, n)


def _soft_springs(problem: OutputErrorProblem, theta: Array, C: Array) -> list[int]:
    """Springs that are seen, but not well; those known least first."""
    std = np.sqrt(np.maximum(np.diag(C), 0.0))
    soft = [
        (float(std[k] / theta[k]), k)
        for k, u in enumerate(problem.unknowns.items)
        if u.name.rpartition(".")[2] in SPRINGS and theta[k] > 0.0
    ]
    options = problem.options
    soft = [(share, k) for share, k in soft if options.soft_spring < share < options.faint_spring]
    return [k for _, k in sorted(soft, reverse=True)[: options.springs_tried]]


def _is_same(problem: OutputErrorProblem, one: Evaluation, other: Evaluation) -> bool:
    """Whether two minima are one, as far as their springs tell."""
    C = local_covariance(other, problem.unknowns.sizes)
    springs = [
        k for k, u in enumerate(problem.unknowns.items)
        if u.name.rpartition(".")[2] in SPRINGS and C[k, k] > 0.0
    ]  # fmt: skip
    apart = np.abs(one.theta - other.theta)[springs] / np.sqrt(np.diag(C)[springs])
    return bool(np.all(apart < problem.options.same_minimum))
