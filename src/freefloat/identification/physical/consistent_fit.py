"""Estimates made physical: the closest parameters for which every body could be real.

A linear fit gives a target and an information matrix Lambda, and nothing keeps its masses positive
or its inertias possible. Here is looked for the minimum of

    1/2 (theta - target)^T Lambda (theta - target) + prior_weight * sum_b D(phi_b || phi_b prior)

over the realisable theta, with the log-det divergence D from the model's values, which settles what
the data do not see. See `realisable` for the conditions and `convex_solver` for
the method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from freefloat.arrays import Array, read_only_copy
from freefloat.errors import IdentificationError
from freefloat.identification.physical.convex_solver import (
    ConvexProblem,
    minimise,
    minimise_with_clarabel,
)
from freefloat.identification.physical.realisable import Conditions, conditions_of, invisible
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, NotNegative, Positive

# theory: of the largest deviation by one unit of scale; a column is the sum of less than a thousand
# products, each off by 1e-16 of them
ROUNDING = 1e-13

Residual = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class ConsistencyOptions(CheckedOptions, error=IdentificationError):
    """How the closest physically consistent parameters are looked for.

    Args:
        prior_weight: of the divergence from the prior [nats]. At 1e-8 only what is known worse
            than 1 / sqrt(1e-8) = 10 000 times its prior value follows the prior, and an estimate
            on the boundary moves inwards by sqrt(1e-8) = 1e-4 standard deviations a condition.
        moved: standard deviations from which an estimate counts as moved.
        most_rounds: of Gauss-Newton, for unknowns that are not the parameters.
        gain: a round is the last when it promises less than this part of the misfit ...
        settled: ... and less than this of the divergence [nats], which alone is felt along valleys
            of equal misfit.
        damping: of the first round, as a part of the misfit.
    """

    prior_weight: NotNegative = 1e-8
    moved: Positive = 0.01
    most_rounds: Count = 200
    gain: Positive = 1e-7
    settled: Positive = 1e-2
    damping: NotNegative = 1e-3


DEFAULTS = ConsistencyOptions()


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
    options: ConsistencyOptions = DEFAULTS,
    solver: Literal["newton", "clarabel"] = "newton",
) -> Physical:
    """The realisable parameters closest to a target, in the metric of an information matrix.

    Directions without information are settled by the prior, the values in `parameters`; parameters
    not named stay there. Of bodies that never leave a plane only mass, mx, my, izz are looked for.

    Args:
        parameters: the model's values, which are the prior.
        names: the parameters to look for, each once.
        target: (n,) what the data alone say, in the units of the parameters.
        information: (n, n) the inverse of its covariance; singular where the data say nothing.
        options: weights and tolerances.
        solver: our own Newton method, or Clarabel (slower, independent, needs cvxpy).

    Returns:
        The values, how far they moved, and the model with the values written in.

    Raises:
        IdentificationError: if shapes or numbers are wrong, or the prior itself cannot be real.

    >>> from freefloat.model import load_model
    >>> wanted = Parameters.of(load_model("ets7")).free("bus.mass")
    >>> found = closest_physical(wanted, ["bus.mass"], np.array([-5.0]), np.eye(1))
    >>> found.is_moved, bool(found.values[0] > 0.0)
    (True, True)
    """
    search = _ConsistentSearch.of(parameters, names, options)
    c = search.conditions
    scale = np.ones(len(search.names))
    scale[search.kept] = c.scale
    rows = _rows(information, target, scale)[:, search.kept]
    target = np.asarray(target, dtype=float)[search.kept]
    problem = ConvexProblem(c, rows * c.scale, rows @ (target - c.prior), options.prior_weight)
    if solver == "clarabel":
        return search.physical(problem, minimise_with_clarabel(problem), True)
    return search.physical(problem, *minimise(problem))


def fit_realisable(
    parameters: Parameters,
    names: Sequence[str],
    residual: Residual,
    *,
    options: ConsistencyOptions = DEFAULTS,
) -> Physical:
    """The realisable parameters with the smallest whitened residual, by Gauss-Newton.

    `residual` gives r (k,) and dr/dtheta (k, names) at theta; standard deviation one. Every round
    solves the convex problem of the linearised residual, damped; as the realisable set is convex,
    any part of the way there is realisable, and the part is chosen so that the misfit falls.
    """
    search = _ConsistentSearch.of(parameters, names, options)
    u = np.zeros(len(search.conditions.prior))
    problem = search.linearise(residual, u)
    damping = options.damping * problem.value(u)
    for _ in range(options.most_rounds):
        damped = _damp(problem, u, damping)
        goal, _ = minimise(damped, start=u)
        lower = search.part_way(residual, damped, u, goal)
        if lower is None:
            return search.physical(problem, u, True)
        u, problem, part = lower
        damping *= 0.1 if part == 1.0 else 4.0 / part
    return search.physical(problem, u, False)


def _damp(problem: ConvexProblem, u: Array, damping: float) -> ConvexProblem:
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
    options: ConsistencyOptions

    @classmethod
    def of(
        cls, parameters: Parameters, names: Sequence[str], options: ConsistencyOptions
    ) -> _ConsistentSearch:
        weight = options.prior_weight
        if len(set(names)) != len(names) or not names:
            raise IdentificationError(
                "a parameter is named twice; give every name once", code="name.duplicate"
            )
        if not (np.isfinite(weight) and weight > 0.0):
            raise IdentificationError(
                f"the prior weight {weight:g} is not positive; try 1e-8", code="option.range"
            )
        hidden = invisible(parameters, names)
        kept = [i for i, name in enumerate(names) if name not in hidden]
        conditions = conditions_of(parameters, [names[i] for i in kept])
        return cls(parameters, tuple(names), kept, conditions, options)

    def theta(self, u: Array) -> Array:
        """All named parameters at u; unobservable ones at their prior."""
        theta = np.array([self.parameters[name].value for name in self.names])
        theta[self.kept] = self.conditions.prior + self.conditions.scale * u
        return theta

    def linearise(self, residual: Residual, u: Array) -> ConvexProblem:
        r, J = residual(self.theta(u))
        if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
            raise IdentificationError(
                "the residual or its Jacobian is not finite; check what computes them",
                code="value.range",
            )
        R = np.asarray(J)[:, self.kept] * self.conditions.scale
        return ConvexProblem(self.conditions, R, R @ u - r, self.options.prior_weight)

    def part_way(
        self, residual: Residual, problem: ConvexProblem, u: Array, goal: Array
    ) -> tuple[Array, ConvexProblem, float] | None:
        """The first of u + (goal - u) / 2^k that is lower enough; None when nothing is gained."""
        here, o = problem.value(u), self.options
        least = max(o.gain * here, o.settled * o.prior_weight)
        gain = here - problem.value(goal)
        part = 1.0
        while part * gain > least:
            candidate = u + part * (goal - u)
            new = self.linearise(residual, candidate)
            if new.value(candidate) <= here - 1e-4 * part * gain:
                return candidate, new, part
            part *= 0.5
        return None

    def physical(self, problem: ConvexProblem, u: Array, is_reached: bool) -> Physical:
        c = self.conditions
        model = with_parameters(self.parameters.model, c.values_at(u))
        values = self.theta(u)
        for i in set(range(len(self.names))) - set(self.kept):
            name = ParameterName.parse(self.names[i])
            values[i] = model.body(name.owner).phi[inertial.NAMES.index(name.field)]
        T, a, b = problem.axes
        moved = float(np.linalg.norm(np.where(a > 0.0, a * np.linalg.solve(T, u) - b, 0.0)))
        text = "stopped early: physically consistent, but perhaps not the closest"
        late = () if is_reached else (Note("physical.stopped_early", text),)
        return Physical(
            self.names,
            read_only_copy(values),
            moved,
            moved > self.options.moved,
            model,
            (*c.notes, *late),
        )


def _rows(information: Array, target: Array, scale: Array) -> Array:
    """R with R^T R = information; directions within rounding of unseen are left out.

    scale: of the parameters; one of which all that is known is rounding counts as unseen.
    """
    p = len(scale)
    matrix = np.asarray(information, dtype=float)
    if matrix.shape != (p, p) or np.shape(target) != (p,):
        shapes = f"{np.shape(target)} and {matrix.shape}"
        raise IdentificationError(
            f"target and information are {shapes}; give ({p},) and ({p}, {p})", code="value.count"
        )
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(target))):
        raise IdentificationError(
            "the target or the information matrix is not finite; leave out rows that are not",
            code="value.range",
        )
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    size[size * scale <= ROUNDING * np.max(size * scale, initial=0.0)] = 0.0
    divide = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    # Scaled to correlations first: a kilogram's information may be 1e12 times a rotor's.
    s, V = np.linalg.eigh(0.5 * (matrix + matrix.T) * np.outer(divide, divide))
    is_seen = s > p * np.finfo(float).eps * max(s[-1], 0.0)
    return np.sqrt(s[is_seen])[:, None] * V[:, is_seen].T * size
