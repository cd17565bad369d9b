"""The summary of a simulated flight: excursions, deflections, momentum, limits exceeded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import ATTITUDE, POSITION, RATE, positions
from freefloat.dynamics.system_inertia import MomentumChange, momentum_change
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import TelemetryError
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.rotations import (
    conjugate,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.prediction.limit_monitors import LimitViolation, limit_violations
from freefloat.telemetry.telemetry import Telemetry


@dataclass(frozen=True)
class FlightSummary:
    """What happened on a flight, all from the truth.

    `turn` [rad], `rate` [rad/s] and `displacement` [m] are the base's largest excursions from its
    start. `deflections` [rad or m] are the largest of every passive joint and drive from where its
    spring rests. `pushes` names what pushed from outside; where somebody did, or the root is
    fixed, `momentum` is None. `violations` are the limits that were passed.
    """

    duration: float
    turn: float
    rate: float
    displacement: float
    deflections: Mapping[str, float]
    momentum: MomentumChange | None
    pushes: tuple[str, ...]
    violations: tuple[LimitViolation, ...]


def summarise_flight(model: Model, plan: Plan, flight: Telemetry) -> FlightSummary:
    """What happened when `model` flew `plan`.

    Args:
        model: What flew.
        plan: What it flew.
        flight: From `simulate`, with its truth.

    Returns:
        Turn of the base, deflections, limits exceeded and the drift of momentum.

    Raises:
        TelemetryError: The flight has no truth.

    >>> import freefloat as ff
    >>> model, plan = ff.load_model("cepheus"), ff.default_plan("cepheus", duration=5.0)
    >>> found = summarise_flight(model, plan, ff.simulate(model, plan))
    >>> found.momentum.linear_drift < 1e-12, found.violations
    (True, ())
    """
    system = flatten(model)
    times, states = true_states(system, flight)
    turn = base_rotations(states)
    pushes = _pushes(model, plan)
    is_pushed = model.root.type == "fixed" or any(push in PUSHED for push in pushes)
    return FlightSummary(
        duration=float(times[-1] - times[0]),
        turn=_largest(turn),
        rate=_largest(states[:, RATE] - states[0, RATE]),
        displacement=_largest(states[:, POSITION] - states[0, POSITION]),
        deflections=deflections(system, states),
        momentum=None if is_pushed else momentum_change(system, times, states),
        pushes=pushes,
        violations=limit_violations(system, plan, flight, states),
    )


def base_rotations(states: Array) -> Array:
    """Rotation of the base from its start (N, 3), as rotation vectors in its axes [rad]."""
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


def true_states(system: System, flight: Telemetry) -> tuple[Array, Array]:
    """Times (N,) [s] and state vectors (N, 13 + 2 c) of a simulated flight.

    The angle of a wheel, which nothing depends on, is zero. Raises TelemetryError for a flight
    without truth.

    >>> import freefloat as ff
    >>> from freefloat.dynamics import flatten
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=1.0))
    >>> true_states(flatten(model), flight)[1].shape
    (101, 19)
    """
    truth = flight.truth
    if truth is None:
        raise TelemetryError(
            "the telemetry holds no truth, which only simulated flights have; read the file with"
            " truth=True, or simulate again",
            code="truth.missing",
        )
    times = truth["base.rate.x"].time
    q = [_column(truth, name, "position", len(times)) for name in system.coordinates]
    dq = [_column(truth, name, "velocity", len(times)) for name in system.coordinates]
    parts = [
        truth.matrix([f"base.position.{axis}" for axis in "xyz"])[1],
        attitudes(truth),
        truth.matrix([f"base.velocity.{axis}" for axis in "xyz"])[1],
        truth.matrix([f"base.rate.{axis}" for axis in "xyz"])[1],
        np.reshape(q, (-1, len(times))).T,
        np.reshape(dq, (-1, len(times))).T,
    ]
    return np.array(times), np.ascontiguousarray(np.hstack(parts))


def attitudes(truth: Telemetry) -> Array:
    """The base's unit quaternions (N, 4; x, y, z, w); those of a planar base from its angle."""
    if "base.attitude.w" in truth:
        return truth.matrix([f"base.attitude.{axis}" for axis in "xyzw"])[1]
    angle = truth["base.angle"].values
    return quaternion_from_rotation_vector(np.outer(angle, [0.0, 0.0, 1.0]))


def _column(truth: Telemetry, name: str, quantity: str, n_rows: int) -> Array:
    joint, _, motor = name.partition(".")
    channel = f"{joint}.motor_{quantity}" if motor else f"{joint}.{quantity}"
    if quantity == "velocity" and channel not in truth:
        channel = f"{joint}.speed"  # a wheel
    return truth[channel].values if channel in truth else np.zeros(n_rows)
