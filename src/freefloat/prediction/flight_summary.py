"""An account of a simulated flight: how far things went, and which limits were passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import ATTITUDE, POSITION, RATE, positions
from freefloat.dynamics.system_inertia import MomentumChange, momentum_change
from freefloat.dynamics.tree import System, flatten
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.rotations import (
    conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.prediction.limit_violations import Excess, excesses
from freefloat.prediction.true_states import true_states
from freefloat.telemetry.telemetry import Telemetry


@dataclass(frozen=True)
class Account:
    """What happened on a flight, all from the truth.

    `turn` [rad], `rate` [rad/s] and `displacement` [m] are the base's largest excursions from its
    start. `deflections` [rad or m] are the largest of every passive joint and drive from where its
    spring rests. `pushes` names what pushed from outside; where somebody did, or the root is
    fixed, `momentum` is None. `excesses` are the limits that were passed.
    """

    duration: float
    turn: float
    rate: float
    displacement: float
    deflections: Mapping[str, float]
    momentum: MomentumChange | None
    pushes: tuple[str, ...]
    excesses: tuple[Excess, ...]


def account(model: Model, plan: Plan, flight: Telemetry) -> Account:
    """What happened when `model` flew `plan`; the flight must still have its truth.

    >>> import freefloat as ff
    >>> model, plan = ff.load_model("cepheus"), ff.default_plan("cepheus", duration=5.0)
    >>> found = account(model, plan, ff.simulate(model, plan))
    >>> found.momentum.linear_drift < 1e-12, found.excesses
    (True, ())
    """
    system = flatten(model)
    times, states = true_states(system, flight)
    turn = turns(states)
    pushes = _pushes(model, plan)
    is_pushed = model.root.type == "fixed" or any(push in PUSHED for push in pushes)
    return Account(
        duration=float(times[-1] - times[0]),
        turn=_largest(turn),
        rate=_largest(states[:, RATE] - states[0, RATE]),
        displacement=_largest(states[:, POSITION] - states[0, POSITION]),
        deflections=deflections(system, states),
        momentum=None if is_pushed else momentum_change(system, times, states),
        pushes=pushes,
        excesses=excesses(system, plan, flight, states),
    )


def turns(states: Array) -> Array:
    """How far the base has turned from its start (N, 3), as rotation vectors in its axes [rad]."""
    start = np.broadcast_to(conjugate(states[0, ATTITUDE]), (len(states), 4))
    return rotation_vector_from_quaternion(quaternion_product(start, states[:, ATTITUDE]))


def deflections(system: System, states: Array) -> dict[str, float]:
    """The largest deflection of every passive coordinate from its spring's rest [rad or m].

    That of a drive is its wind-up, link against motor. Without a spring the start counts.
    """
    return {name: float(np.max(np.abs(x))) for name, x in deflection(system, states).items()}


def deflection(system: System, states: Array) -> dict[str, Array]:
    """The deflection of every passive coordinate over time (N,) [rad or m]."""
    q = positions(states)
    roles = {c.name: c.role for c in system.model.assembly.coordinates}
    found: dict[str, Array] = {}
    for spring in system.model.assembly.springs:
        if roles[spring.coordinate] != "passive":
            continue
        own = q[:, system.coordinates.index(spring.coordinate)]
        if spring.other is not None:
            found[spring.coordinate] = own - q[:, system.coordinates.index(spring.other)]
        else:
            found[spring.coordinate] = own - (spring.rest if spring.stiffness else own[0])
    return found


PUSHED = ("thrusters", "a commanded wrench", "the control law")


def _pushes(model: Model, plan: Plan) -> tuple[str, ...]:
    present = {
        "gravity": any(model.gravity),
        "the gravity gradient of the orbit": model.orbit is not None,
        "drag": model.root.linear_drag > 0.0 or model.root.angular_drag > 0.0,
        PUSHED[0]: bool(plan.thrusts),
        PUSHED[1]: bool(plan.wrench),
        PUSHED[2]: plan.control is not None,
    }
    return tuple(name for name, is_present in present.items() if is_present)


def _largest(rows: Array) -> float:
    return float(np.max(np.linalg.norm(rows, axis=1)))
