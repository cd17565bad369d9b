"""Estimates made physical: the closest parameters for which every body could be real.

A linear fit gives a target and an information matrix Lambda, and nothing keeps its masses positive
or its inertias possible. Here is looked for the minimum of

    1/2 (theta - target)^T Lambda (theta - target) + prior_weight * sum_b D(phi_b || phi_b prior)

over the realisable theta, with the log-det divergence D from the model's values, which settles what
the data do not see. See `realisable` for the conditions and `convex` for the method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from freefloat.arrays import Array, frozen
from freefloat.errors import IdentificationError
from freefloat.identification.physical.convex_solver import ConvexProblem, minimise
from freefloat.identification.physical.realisable import Conditions, conditions_of, invisible
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters

# Weight of the divergence, in nats. Only what is known worse than 1 / sqrt(1e-8) = 10 000 times its
# prior value follows the prior rather than the data, and an estimate on the boundary of the
# realisable moves inwards by sqrt(1e-8) = 1e-4 standard deviations for each of its conditions.
PRIOR_WEIGHT = 1e-8
MOVED = 0.01  # standard deviations from which an estimate counts as moved
MOST_ROUNDS = 200
# A round of Gauss-Newton is the last when it promises less than this part of the misfit, and less
# than so much of the divergence in nats: along valleys of equal misfit only the prior is felt.
GAIN, SETTLED = 1e-7, 1e-2
DAMPING = 1e-3  # of the first round, as a part of the misfit

Residual = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Physical:
    """Realisable parameters and how far they are from what the data alone say.

    values: in the order of `names`; moved_sigmas: square root of the chi-square distance from the
    target in the directions the data see; model: the model with the values written in.
    """

    names: tuple[str, ...]
    values: Array
    moved_sigmas: float
    is_moved: bool
    model: Model
    notes: tuple[str, ...]


def closest_physical(
    parameters: Parameters,
    names: Sequence[str],
    target: Array,
    information: Array,
    *,
    prior_weight: float = PRIOR_WEIGHT,
    solver: Literal["newton", "clarabel"] = "newton",
) -> Physical:
    """The realisable parameters closest to `target` as `information` (names, names) measures.

    Directions without information are settled by the prior, the values in `parameters`; parameters
    not named stay there. Of bodies that never leave a plane only mass, mx, my, izz are looked for.

    >>> from freefloat.model import load_model
    >>> wanted = Parameters.of(load_model("ets7")).free("bus.mass")
    >>> found = closest_physical(wanted, ["bus.mass"], np.array([-5.0]), np.eye(1))
    >>> found.is_moved, bool(found.values[0] > 0.0)
    (True, True)
    """
    search = _ConsistentSearch.of(parameters, names, prior_weight)
    rows = _rows(information, target, len(search.names))[:, search.kept]
    target = np.asarray(target, dtype=float)[search.kept]
    c = search.conditions
    problem = ConvexProblem(c, rows * c.scale, rows @ (target - c.prior), prior_weight)
    if solver == "clarabel":
        from freefloat.identification.physical.sdp_ import minimise_with_clarabel

        return search.physical(problem, minimise_with_clarabel(problem), True)
    return search.physical(problem, *minimise(problem))


def realise(
    parameters: Parameters,
    names: Sequence[str],
    residual: Residual,
    *,
    prior_weight: float = PRIOR_WEIGHT,
) -> Physical:
    """The realisable parameters with the smallest whitened residual, by Gauss-Newton.

    `residual` gives r (k,) and dr/dtheta (k, names) at theta; standard deviation one. Every round
    solves the convex problem of the linearised residual, damped; as the realisable set is convex,
    any part of the way there is realisable, and the part is chosen so that the misfit falls.
    """
    search = _ConsistentSearch.of(parameters, names, prior_weight)
    u = np.zeros(len(search.conditions.prior))
    problem = search.linearised(residual, u)
    damping = DAMPING * problem.value(u)
    for _ in range(MOST_ROUNDS):
        damped = _damped(problem, u, damping)
        goal, _ = minimise(damped, start=u)
        lower = search.part_way(residual, damped, u, goal)
        if lower is None:
            return search.physical(problem, u, True)
        u, problem, part = lower
        damping *= 0.1 if part == 1.0 else 4.0 / part
    return search.physical(problem, u, False)


def _damped(problem: ConvexProblem, u: Array, damping: float) -> ConvexProblem:
    """The problem with steps away from u made dear, counted in sizes of the prior."""
    rows = np.sqrt(damping) * np.eye(len(u))
    R, y = np.vstack([problem.R, rows]), np.concatenate([problem.y, rows @ u])
    return replace(problem, R=R, y=y)


@dataclass(frozen=True)
class _ConsistentSearch:
    """What is looked for: the names, which of them are seen at all, and their conditions."""

    parameters: Parameters
    names: tuple[str, ...]
    kept: list[int]
    conditions: Conditions
    weight: float

    @classmethod
    def of(cls, parameters: Parameters, names: Sequence[str], weight: float) -> _ConsistentSearch:
        if len(set(names)) != len(names) or not names:
            raise IdentificationError("give the names of the parameters, each of them once")
        if not (np.isfinite(weight) and weight > 0.0):
            raise IdentificationError(f"the prior weight {weight:g} is not positive; try 1e-8")
        hidden = invisible(parameters, names)
        kept = [i for i, name in enumerate(names) if name not in hidden]
        conditions = conditions_of(parameters, [names[i] for i in kept])
        return cls(parameters, tuple(names), kept, conditions, weight)

    def theta(self, u: Array) -> Array:
        """All named parameters at u; those nobody sees at their prior."""
        theta = np.array([self.parameters[name].value for name in self.names])
        theta[self.kept] = self.conditions.prior + self.conditions.scale * u
        return theta

    def linearised(self, residual: Residual, u: Array) -> ConvexProblem:
        r, J = residual(self.theta(u))
        if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
            raise IdentificationError("the residual or its Jacobian is not finite")
        R = np.asarray(J)[:, self.kept] * self.conditions.scale
        return ConvexProblem(self.conditions, R, R @ u - r, self.weight)

    def part_way(
        self, residual: Residual, problem: ConvexProblem, u: Array, goal: Array
    ) -> tuple[Array, ConvexProblem, float] | None:
        """The first of u + (goal - u) / 2^k that is lower enough; None when nothing is gained."""
        here = problem.value(u)
        gain = here - problem.value(goal)
        part = 1.0
        while part * gain > max(GAIN * here, SETTLED * self.weight):
            candidate = u + part * (goal - u)
            new = self.linearised(residual, candidate)
            if new.value(candidate) <= here - 1e-4 * part * gain:
                return candidate, new, part
            part *= 0.5
        return None

    def physical(self, problem: ConvexProblem, u: Array, is_reached: bool) -> Physical:
        c = self.conditions
        model = with_parameters(self.parameters.model, c.written(u))
        values = self.theta(u)
        for i in set(range(len(self.names))) - set(self.kept):
            owner, _, field = self.names[i].rpartition(".")
            values[i] = model.body(owner).phi[inertial.NAMES.index(field)]
        T, a, b = problem.axes
        moved = float(np.linalg.norm(np.where(a > 0.0, a * np.linalg.solve(T, u) - b, 0.0)))
        late = () if is_reached else ("stopped early: physical, but perhaps not the closest",)
        return Physical(self.names, frozen(values), moved, moved > MOVED, model, (*c.notes, *late))


def _rows(information: Array, target: Array, p: int) -> Array:
    """R with R^T R = information; directions within rounding of unseen are left out."""
    matrix = np.asarray(information, dtype=float)
    if matrix.shape != (p, p) or np.shape(target) != (p,):
        shapes = f"{np.shape(target)} and {matrix.shape}"
        raise IdentificationError(f"target and information are {shapes}, not ({p},) and ({p}, {p})")
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(target))):
        raise IdentificationError("the target or the information matrix is not finite")
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    divide = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    # Scaled to correlations first: a kilogram's information may be 1e12 times a rotor's.
    s, V = np.linalg.eigh(0.5 * (matrix + matrix.T) * np.outer(divide, divide))
    is_seen = s > p * np.finfo(float).eps * max(s[-1], 0.0)
    return np.sqrt(s[is_seen])[:, None] * V[:, is_seen].T * size
