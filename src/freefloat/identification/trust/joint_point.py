"""Parameters and assumptions together at their most probable, each assumption held by its doubt.

Where many assumptions are slightly off, or one is grossly, slopes taken with all of them exact
mislead. The joint maximum of the posterior is looked for by Gauss-Newton steps with a prior row an
assumption, none for those that are freed. Slopes there, and the residuals traced back along them to
exact assumptions, serve every test as they would at the exact assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.named_parameters import with_parameter_values
from freefloat.dynamics.tree import System
from freefloat.identification.trust.assumption_columns import (
    AssumptionColumns,
    assumption_columns,
    assumption_values,
)
from freefloat.identification.trust.consider import Consideration, consider, most_probable_turn
from freefloat.identification.trust.white_rows import WhiteRows, residual_rows
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.model import inertia
from freefloat.model.parameter_name import SCALE, ParameterName

# theory: half the sum of squares falls by s^2 / 2 over s standard deviations: s = 0.2, and where
# readings at the edges of thrust make it rough, s = 1
NEGLIGIBLE, ROUGH = 0.02, 0.5
# theory: likewise s = 2 of all directions together, of which each has a small share: good enough
# where the evaluations are used up
SETTLED = 2.0
CORRECTIONS = 3  # theory: each squares what is off; what three do not mend is no valley's side
HALVINGS = 6  # theory: a step cut to a 64th helps no more where slopes at its beginning mislead
# theory: along slopes that are off by a share e a step brings 1 - e^2 of what they foretell, and
# steps converge by the factor e each: half of it means e = 0.7, beyond which new slopes are cheaper
FORETOLD = 0.5
PAST = 3.0  # theory: standard deviations of a doubt beyond which hardly anything lies


@dataclass(frozen=True)
class JointPoint:
    """Where parameters and assumptions are most probable together.

    rows and taken: residuals there, slopes there or nearby (is_fresh tells). deviations: of the
    assumptions, in units of their doubt. freed: those without a doubt that holds them. loose: those
    that may be off by so many times their doubt. is_reached: whether the search ended.
    """

    rows: WhiteRows
    taken: AssumptionColumns
    deviations: Array
    freed: tuple[int, ...] = ()
    loose: Mapping[int, float] = field(default_factory=dict)
    is_fresh: bool = True
    is_reached: bool = True

    @property
    def precision(self) -> Array:
        """Precision of the prior of every assumption, in units of its doubt."""
        precision = np.ones(len(self.deviations))
        for k, times in self.loose.items():
            precision[k] = 1.0 / times**2
        precision[list(self.freed)] = 0.0
        return precision

    @property
    def cost(self) -> float:
        """Half the sum of squares of rows and priors."""
        return self.rows.descent.at.cost + 0.5 * float(self.precision @ self.deviations**2)

    @cached_property
    def is_possible(self) -> bool:
        """Whether every known body can exist as it is adjusted, but for its doubt.

        An inertia at the edge of what can exist, as of a thin plate, lies past it half of the time.
        """
        # without a key it is no quantity of the model but a direction of estimates (validation)
        bodily = {a.name for a in self.taken.assumptions if a.key and _is_of_body(a.name)}
        if not bodily:
            return True
        values = assumption_values(self.rows, self.taken, self.deviations)
        estimated = {ParameterName.parse(u.name).owner for u in self.rows.problem.unknowns.items}
        owners = {n: ParameterName.parse(n).owner for n in values if n in bodily}
        known = {n: values[n] for n, owner in owners.items() if owner not in estimated}
        system = with_parameter_values(self.rows.problem.recordings[0].system, known)
        amounts = [v for n, v in known.items() if ParameterName.parse(n).field in ("mass", SCALE)]
        room = dict[str, float]()
        for assumption in self.taken.assumptions:
            if assumption.key == "body.inertia":
                room[ParameterName.parse(assumption.name).owner] = PAST * assumption.std
        return min(amounts, default=1.0) > 0.0 and all(
            _can_exist(system, body, room.get(body, 0.0))
            for body in {*owners.values()} & {*system.body_phi} - estimated
        )

    @cached_property
    def exact_rows(self) -> WhiteRows:
        """The rows with the assumptions exact, by the slopes at this point."""
        return replace(
            self.rows, residual=self.rows.residual - self.taken.columns @ self.deviations
        )

    @cached_property
    def consideration(self) -> Consideration:
        """What the assumptions can do to the unknowns, by the slopes at this point."""
        return consider(self.exact_rows, self.taken, self.precision)


def _can_exist(system: System, body: str, room: float) -> bool:
    """Whether a body can be, its inertia [kg m^2] changed by as much as there is room."""
    _, _, about_com = inertia.com_from_phi(system.body_phi[body])
    largest = float(np.max(np.abs(inertia.tensor(about_com))))
    if system.model.root.type == "planar":  # its spread across the plane shows nowhere
        return about_com[5] > -room
    slack = max(room / max(largest, 1e-300), 1e-9)
    return inertia.inconsistency(system.body_phi[body], tolerance=slack) is None


def _is_of_body(name: str) -> bool:
    parsed = ParameterName.parse(name)
    return parsed.is_inertial or parsed.is_of_known_body


def approach(point: JointPoint, most: int) -> JointPoint:
    """The joint maximum from a point on, by at most so many evaluations."""
    n, expected = 0, np.inf
    while n < most:
        step = _step(point)
        expected = step.expected
        if expected < NEGLIGIBLE:
            return _end(point, is_reached=True)
        found, share = None, 1.0
        # along slopes of another point a shorter step is no better: new ones are
        for _ in range(HALVINGS if point.is_fresh else 1):
            trial = _evaluate(point, share * step.move, share * step.turn, is_real=step.is_real)
            found = _settle(trial, point.cost)
            n += 1
            if found is not None and found.cost < point.cost:
                break
            found, share = None, 0.5 * share
        if found is None and expected > ROUGH and not point.is_fresh:
            point = with_slopes(point)
            continue
        if found is None:
            return _end(point, is_reached=expected < ROUGH)
        decrease = point.cost - found.cost
        point = with_slopes(found) if decrease < FORETOLD * expected else found
        if decrease < NEGLIGIBLE and expected < ROUGH:
            return _end(point, is_reached=True)
    return _end(point, is_reached=expected < SETTLED)


def approach_straight(point: JointPoint, _most: int = 0) -> JointPoint:
    """The joint maximum where slopes do not change: without a simulation."""
    exact, G = point.exact_rows, point.taken.columns
    projected = exact.project_out(G)
    nowhere = np.zeros(len(point.precision))
    off = most_probable_turn(projected, point.precision, exact.residual, nowhere)
    rows = replace(point.rows, residual=exact.residual + G @ off)
    return replace(point, rows=rows, deviations=off, is_reached=True)


def _end(point: JointPoint, *, is_reached: bool) -> JointPoint:
    """The point with everything evaluated there but slopes."""
    descent = point.rows.descent
    at = point.rows.problem.evaluate(descent.at.theta) or descent.at
    descent = replace(descent, at=at, ending="converged" if is_reached else "stuck")
    return replace(point, rows=replace(point.rows, descent=descent), is_reached=is_reached)


class _Step(NamedTuple):
    """A step of the unknowns (natural sizes) and of the deviations, and what it promises.

    is_real: it ends, as any part of it, where bodies can exist.
    """

    move: Array
    turn: Array
    expected: float
    is_real: bool = False


def _step(point: JointPoint) -> _Step:
    """The step along the slopes; where bodies could not be what it asks for, to what they can."""
    free = _free_step(point)
    unknowns, theta = point.rows.problem.unknowns, point.rows.descent.at.theta
    if unknowns.realisable is None or unknowns.is_straight(theta, free.move * unknowns.sizes):
        return free
    return _realisable_step(point) or free


def _realisable_step(point: JointPoint) -> _Step | None:
    """The same along slopes to real bodies alone; None where the model itself is not real."""
    rows, precision = point.rows, point.precision
    problem, theta = rows.problem, rows.descent.at.theta
    n, sizes = len(theta), problem.unknowns.sizes
    data = np.column_stack([rows.jacobian / sizes, point.taken.columns, rows.residual])
    prior_rows, prior_left = problem.priors(theta)
    none = np.zeros((len(prior_rows), len(precision)))
    held = np.sqrt(precision)
    table = np.vstack([
        triangle_of(data),
        np.column_stack([prior_rows, none, prior_left]),
        np.column_stack([np.zeros((len(held), n)), np.diag(held), held * point.deviations]),
    ])  # fmt: skip
    realisable = problem.unknowns.realisable
    assert realisable is not None
    found = realisable.step(np.concatenate([theta, point.deviations]), table)
    if found is None:
        return None
    return _Step(found.step[:n] / sizes, found.step[n:], -found.change, is_real=True)


def _free_step(point: JointPoint) -> _Step:
    """The step of a point whose bodies nothing keeps from being what the data ask for."""
    rows, G = point.rows, point.taken.columns
    projected = rows.project_out(G)
    slope = projected.T @ rows.residual + point.precision * point.deviations
    turn = most_probable_turn(projected, point.precision, rows.residual, point.deviations)
    move = -rows.inverse @ (rows.residual + G @ turn)
    along = rows.basis.T @ rows.residual
    return _Step(move, turn, 0.5 * float(along @ along) - 0.5 * float(slope @ turn))


def _settle(point: JointPoint | None, cost: float) -> JointPoint | None:
    """The point with the unknowns moved alone, while that brings it towards a cost.

    Gains and masses multiply: a long way along slopes ends beside the valley that they follow, and
    a step across brings it back.
    """
    for _ in range(CORRECTIONS):
        if point is None or point.cost < cost:
            return point
        move = -point.rows.inverse @ point.rows.residual
        found = _evaluate(point, move, np.zeros(len(point.deviations)))
        is_towards = found is not None and found.cost < max(cost, FORETOLD * point.cost)
        if not is_towards:
            return point
        point = found
    return point


def _evaluate(
    point: JointPoint, move: Array, turn: Array, *, is_real: bool = False
) -> JointPoint | None:
    """The point with unknowns and assumptions moved; None where it cannot be simulated.

    is_real: the way leads along real bodies, and need not be bent.
    """
    rows, deviations = point.rows, point.deviations + turn
    unknowns = rows.problem.unknowns
    fixed = {**unknowns.fixed, **assumption_values(rows, point.taken, deviations)}
    problem = replace(rows.problem, unknowns=replace(unknowns, fixed=fixed))
    theta, away = rows.descent.at.theta, move * unknowns.sizes
    straight = np.clip(theta + away, unknowns.lower, unknowns.upper)
    theta = straight if is_real else unknowns.move(theta, away)
    found = problem.evaluate_errors(theta)
    if found is None:
        return None
    cost, errors = found
    at = replace(rows.descent.at, theta=theta, cost=cost, errors=errors)
    residual = np.concatenate([problem.whiten(r, part) for r, part in enumerate(errors)])
    descent = replace(rows.descent, at=at)
    rows = replace(rows, problem=problem, descent=descent, residual=residual)
    return replace(point, rows=rows, deviations=deviations, is_fresh=False)


def with_slopes(point: JointPoint) -> JointPoint:
    """The point with slopes by unknowns and assumptions as they are there.

    theory: both at once or neither: of what they nearly share, only the difference counts.
    """
    rows = point.rows
    at = rows.problem.evaluate(rows.descent.at.theta)
    assert at is not None  # it was simulated there before
    residual, jacobian, _ = residual_rows(rows.problem, at)
    descent = replace(rows.descent, at=at)
    found = replace(rows, descent=descent, residual=residual, jacobian=jacobian)
    found = replace(found, draws=found.project_out(rows.draws))
    return replace(
        point, rows=found, taken=assumption_columns(found, known=point.taken), is_fresh=True
    )
