"""Levenberg-Marquardt with bounds: the damped step by orthogonal factors, recordings eliminated.

Every recording's rows are reduced once to a small triangular factor. Its own unknowns are
eliminated from that, damped, and what is left of all recordings decides on the shared ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import IdentificationError
from freefloat.identification.output_error.cost import Evaluation, OutputErrorProblem
from freefloat.identification.output_error.options import SearchOptions
from freefloat.telemetry.channel import Mask

Ending = Literal["converged", "stuck", "out of iterations"]
# theory: half the sum of squares falls by s^2 / 2 over s standard deviations; this is s = 0.0014
NEGLIGIBLE = 1e-6
# theory: slopes that foretell nothing an eighth of the way along are no guide to the edge
EDGE_PARTS = (1.0, 0.5, 0.25, 0.125)


@dataclass(frozen=True)
class Descent:
    """Where the descent ended and why; n_evaluations: simulations of all recordings.

    damping: of its last step, for a descent that goes on from here.
    """

    at: Evaluation
    ending: Ending
    n_evaluations: int
    damping: float = 0.0


def descend(
    problem: OutputErrorProblem,
    theta: Array,
    *,
    most: int | None = None,
    enough: float | None = None,
    still: Mask | None = None,
    after: Descent | None = None,
    begin: Evaluation | None = None,
    progress: Callable[[Evaluation], None] | None = None,
) -> Descent:
    """The nearest minimum of the problem from theta on.

    Args:
        problem: The residuals to be made small, and the options of the search.
        theta: Where to begin, in the units of the unknowns.
        most: Evaluations at most; None: `SearchOptions.simulations`.
        enough: Relative decrease that is not worth another evaluation; None:
            `SearchOptions.tolerance`.
        still: Unknowns that stay where they are; None: none does.
        after: The descent whose end this one begins at, of a problem that hardly differs: its
            damping is kept, so that one step is enough where one is.
        begin: The problem at theta, where it is known.
        progress: Called with every evaluation that is lower than all before.

    Returns:
        The last of these, and why it is the last.

    Raises:
        IdentificationError: The model cannot be simulated at theta.
    """
    options = problem.options
    most = options.simulations if most is None else most
    enough = options.tolerance if enough is None else enough
    at = begin if begin is not None else _evaluate_first(problem, theta)
    lower, upper = problem.unknowns.lower, problem.unknowns.upper
    known = np.inf if after is None else max(after.damping, options.next_damping)
    damping, growth, scale = min(options.first_damping, known), 2.0, np.zeros(len(theta))
    n, is_edge_tried = 1, still is not None
    while n < most:
        if damping > 1.0 and not is_edge_tried:
            edge = _along_edge(problem, at, most - n, enough, progress)
            at, n = edge.at, n + edge.n_evaluations
            if edge.ending == "converged":
                return replace(edge, n_evaluations=n, damping=damping)
            is_edge_tried = True
        gradient, lengths = _gradient(at)
        scale = np.maximum(scale, lengths)
        held = ((at.theta <= lower) & (gradient > 0.0)) | ((at.theta >= upper) & (gradient < 0.0))
        held = held if still is None else held | still
        step = damped_step(at, np.sqrt(damping) * scale, held)
        expected = -cost_change(at, step)
        if expected <= max(NEGLIGIBLE, enough * at.cost) and damping <= 1.0:
            return Descent(at, "converged", n, damping)
        new = _attempt(problem, at, step=step, expected=expected, is_doubtful=growth > 2.0)
        n += 1
        gain = (at.cost - new.cost) / expected if new is not None and expected > 0.0 else -1.0
        if new is not None and gain > options.least_gain:
            at = new
            # the better the forecast, the less damping (Nielsen, IMM-REP-1999-05, with 1/3 for
            # `damping_cut`); his growth of 2, 4, 8 ... after failures is below
            cut = max(options.damping_cut, 1.0 - (2.0 * gain - 1.0) ** 3)
            damping, growth = max(damping * cut, options.least_damping), 2.0
            if progress is not None:
                progress(at)
        else:
            damping, growth = damping * growth, growth * 2.0
            if damping > options.most_damping or expected <= options.tolerance * at.cost:
                return _give_up(Descent(at, "stuck", n, damping), expected, options)
    return Descent(at, "out of iterations", n, damping)


def _attempt(
    problem: OutputErrorProblem, at: Evaluation, *, step: Array, expected: float, is_doubtful: bool
) -> Evaluation | None:
    """The problem a step further; None where it cannot be, or where a doubtful step has failed.

    is_doubtful: the last step failed. So does the next one more often than not, and its cost, which
    tells, takes a simulation without slopes.
    """
    theta = problem.unknowns.move(at.theta, step)
    if is_doubtful and problem.robust is None:
        found = problem.evaluate_errors(theta)
        if found is None or found[0] >= at.cost - problem.options.least_gain * expected:
            return None
    return problem.evaluate(theta)


def _give_up(stuck: Descent, expected: float, options: SearchOptions) -> Descent:
    """The end where no step leads downhill although the slopes promise one.

    Converged as far as rounding lets, unless the promise is large.
    """
    is_small = expected <= options.stuck_decrease + options.stuck_share * stuck.at.cost
    return replace(stuck, ending="converged") if is_small else stuck


def _along_edge(
    problem: OutputErrorProblem, at: Evaluation, most: int, enough: float,
    progress: Callable[[Evaluation], None] | None,
) -> Descent:  # fmt: skip
    """Steps to real bodies whose slopes promise most, or parts of them, while they bring less."""
    options, realisable = problem.options, problem.unknowns.realisable
    lower, upper = problem.unknowns.lower, problem.unknowns.upper
    n = 0
    while realisable is not None and n < most:
        found = realisable.step(at.theta, _rows(at))
        if found is None:
            break
        if -found.change <= max(NEGLIGIBLE, enough * at.cost, options.stuck_decrease):
            return Descent(at, "converged", n)
        for part in EDGE_PARTS:
            # any part of the way between two real bodies is one
            new = problem.evaluate(np.clip(at.theta + part * found.step, lower, upper))
            n += 1
            if new is not None and new.cost < at.cost + options.least_gain * part * found.change:
                break
        else:
            break
        at = new
        if progress is not None:
            progress(at)
    return Descent(at, "stuck", n)


def _evaluate_first(problem: OutputErrorProblem, theta: Array) -> Evaluation:
    """The problem at theta, within bounds; IdentificationError where it cannot be simulated."""
    at = problem.evaluate(np.clip(theta, problem.unknowns.lower, problem.unknowns.upper))
    if at is None:
        raise IdentificationError(
            "the model cannot be simulated with its own parameters: the motion is not finite or a"
            " body is not physical; look at it with `freefloat check`",
            code="motion.not_finite",
        )
    return at


def free_step(at: Evaluation, held: Mask, options: SearchOptions) -> Array:
    """The Gauss-Newton step, damped no more than between one descent and the next."""
    return damped_step(at, np.sqrt(options.next_damping) * _gradient(at)[1], held)


def _gradient(at: Evaluation) -> tuple[Array, Array]:
    """Slope of the cost, and the lengths of the columns."""
    n = len(at.theta)
    gradient, square = np.zeros(n), np.zeros(n)
    for block in at.blocks:
        places = [*block.own, *block.shared]
        R = block.factor
        gradient[places] += R[:, :-1].T @ R[:, -1]
        square[places] += np.sum(R[:, :-1] ** 2, axis=0)
    gradient += at.prior_rows.T @ at.prior_left
    square += np.sum(at.prior_rows**2, axis=0)
    return gradient, np.sqrt(np.where(square > 0.0, square, 1.0))


def _rows(at: Evaluation) -> Array:
    """Slopes and residuals (rows, unknowns + 1) of all recordings and priors."""
    n = len(at.theta)
    tables = [np.column_stack([at.prior_rows, at.prior_left])]
    for block in at.blocks:
        table = np.zeros((len(block.factor), n + 1))
        table[:, [*block.own, *block.shared, n]] = block.factor
        tables.append(table)
    return np.vstack(tables)


def cost_change(at: Evaluation, step: Array) -> float:
    """Change of the cost along a step, to second order."""
    total = 0.0
    for block in at.blocks:
        R = block.factor
        moved = R[:, :-1] @ step[[*block.own, *block.shared]]
        total += 0.5 * float(moved @ moved) + float(moved @ R[:, -1])
    moved = at.prior_rows @ step
    return total + 0.5 * float(moved @ moved) + float(moved @ at.prior_left)


def damped_step(at: Evaluation, damping: Array, held: Mask) -> Array:
    """The step that minimises |J step + r|^2 + |damping step|^2, held unknowns staying put.

    Damping is positive everywhere, so no factor is singular.
    """
    from scipy.linalg import solve_triangular

    n = len(at.theta)
    shared = at.blocks[0].shared
    n_shared = len(shared)
    tables, solved = [], []
    for block in at.blocks:
        n_own = len(block.own)
        data = np.vstack([block.factor, _own_rows(at, block.own, n_shared)])
        data[:, :-1][:, held[[*block.own, *shared]]] = 0.0
        damped = np.diag(damping[block.own]) @ np.eye(n_own, n_own + n_shared + 1)
        R = np.asarray(np.linalg.qr(np.vstack([data, damped]), mode="r"))
        solved.append((block.own, R[:n_own]))
        tables.append(R[n_own:, n_own:])
    if n_shared:
        is_shared = ~np.any(at.prior_rows[:, _others(n, shared)] != 0.0, axis=1)
        prior = np.column_stack([at.prior_rows[:, shared], at.prior_left])[is_shared]
        damped = np.column_stack([np.diag(damping[shared]), np.zeros(n_shared)])
        prior[:, :-1][:, held[shared]] = 0.0
        tables += [prior, damped]
    step = np.zeros(n)
    if n_shared:
        R = np.asarray(np.linalg.qr(np.vstack(tables), mode="r"))
        step[shared] = solve_triangular(R[:n_shared, :n_shared], -R[:n_shared, -1])
    for own, R in solved:
        n_own = len(own)
        right = -R[:, -1] - R[:, n_own:-1] @ step[shared]
        step[own] = solve_triangular(R[:, :n_own], right)
    step[held] = 0.0
    return step


def _own_rows(at: Evaluation, own: list[int], n_shared: int) -> Array:
    """Priors on a recording's own unknowns, as rows of its block."""
    if not own:
        return np.zeros((0, n_shared + 1))
    mine = np.any(at.prior_rows[:, own] != 0.0, axis=1)
    zeros = np.zeros((int(mine.sum()), n_shared))
    return np.column_stack([at.prior_rows[mine][:, own], zeros, at.prior_left[mine]])


def _others(n: int, places: list[int]) -> list[int]:
    chosen = set(places)
    return [k for k in range(n) if k not in chosen]
