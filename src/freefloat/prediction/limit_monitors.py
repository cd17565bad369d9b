"""Limits that only a simulation shows, monitored and held against a flight.

Base, torques, joints that are not prescribed, deflections, and the clearance between bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion, no_inputs
from freefloat.dynamics.frames import link_table
from freefloat.dynamics.kernels.spatial import P
from freefloat.dynamics.state import ATTITUDE, RATE, positions, rates
from freefloat.dynamics.tree import System
from freefloat.excitation.limits import Limit, limits_of
from freefloat.excitation.plan import Plan
from freefloat.model.parts import Capsule, Joint, Sensor
from freefloat.model.rotations import conjugate, quaternion_product
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.sensor_models import sensor_readings
from freefloat.telemetry.telemetry import Telemetry

Look = Callable[[System, FlightSegment], Array]
NOTHING = 1e-12  # theory: the room that a limit of zero leaves, so that division goes on
# theory: a motion that just reaches its limit passes it by rounding, a million steps of 1e-16
ROUNDING = 1e-9  # of a limit
QUANTITIES = {"lower": "lowest position", "upper": "highest position"}


@dataclass(frozen=True)
class LimitMonitor:
    """A limit and what to hold against it: `look` gives values (N,) in the limit's unit.

    sign: -1 where values must stay above. origin: the value that uses nothing of the limit.
    channel: where the truth of a simulated flight has the same values.
    """

    limit: Limit
    look: Look
    sign: float = 1.0
    origin: float = 0.0
    channel: str | None = None

    def shares(self, system: System, at: FlightSegment) -> Array:
        """Share of the limit (N,): 1 is at it, above is beyond."""
        values, room = self.look(system, at), self.sign * (self.limit.value - self.origin)
        if room < 0.0:  # the origin itself is beyond
            return 1.0 + self.sign * (values - self.limit.value) / max(1.0, abs(self.limit.value))
        return self.sign * (values - self.origin) / max(room, NOTHING)


def limit_monitors(
    system: System, limits: dict[str, Limit], *, with_prescribed: bool = False
) -> tuple[LimitMonitor, ...]:
    """Every finite limit of a system that only a flight shows.

    What is prescribed may be told from its motion without a simulation; with_prescribed: it is
    monitored all the same.
    """
    found = [*_base(limits)]
    for joint in system.model.joints:
        if joint.type != "fixed":
            found += _joint(system, joint, limits, with_prescribed=with_prescribed)
    for spring in system.model.assembly.springs:
        limit = limits.get(f"{spring.owner.removesuffix('.drive')}.deflection")
        limit = limit or limits.get(f"{spring.coordinate}.deflection")
        if limit is not None:
            other = spring.other or ""
            found.append(LimitMonitor(limit, _deflection(spring.coordinate, other, spring.rest)))
    found += _wheels(system, limits, with_prescribed=with_prescribed)
    found += _clearances(system, limits)
    return tuple(monitor for monitor in found if np.isfinite(monitor.limit.value))


def _base(limits: dict[str, Limit]) -> Iterator[LimitMonitor]:
    yield LimitMonitor(limits["base.attitude"], _turn)
    yield LimitMonitor(limits["base.rate"], _rate_change)


def _turn(system: System, at: FlightSegment) -> Array:
    """How far the base has turned from its start (N,) [rad]."""
    q = quaternion_product(conjugate(at.states[:1, ATTITUDE]), at.states[:, ATTITUDE])
    return 2.0 * np.arctan2(np.linalg.norm(q[:, :3], axis=1), np.abs(q[:, 3]))


def _rate_change(system: System, at: FlightSegment) -> Array:
    return np.linalg.norm(at.states[:, RATE] - at.states[0, RATE], axis=1)


def _joint(
    system: System, joint: Joint, limits: dict[str, Limit], *, with_prescribed: bool
) -> Iterator[LimitMonitor]:
    # Where there is a drive, the motor is what has a limited effort.
    kind = "motor_torque" if joint.drive else "joint_torque"
    effort = limits[f"{joint.name}.effort"]
    if joint.role != "passive":
        field = "motor_torque" if joint.drive else "torque"
        yield LimitMonitor(effort, _effort(kind, joint.name), channel=f"{joint.name}.{field}")
    if _is_prescribed(system, joint.name) and not with_prescribed:
        return
    position = _position(joint.name)
    yield LimitMonitor(limits[f"{joint.name}.lower"], position, -1.0, joint.home)
    yield LimitMonitor(limits[f"{joint.name}.upper"], position, 1.0, joint.home)
    yield LimitMonitor(limits[f"{joint.name}.velocity"], _speed(joint.name))


def _is_prescribed(system: System, name: str) -> bool:
    return system.coordinates.index(name) in system.tree.given


def _effort(kind: str, name: str) -> Look:
    sensor = Sensor(kind, name, 1.0)  # type: ignore[arg-type]
    return lambda system, at: np.abs(next(iter(sensor_readings(system, sensor, at).values())))


def _position(name: str) -> Look:
    return lambda system, at: positions(at.states)[:, system.coordinates.index(name)]


def _speed(name: str, factor: float = 1.0) -> Look:
    return lambda system, at: factor * np.abs(rates(at.states)[:, system.coordinates.index(name)])


def _deflection(coordinate: str, other: str, rest: float) -> Look:
    def look(system: System, at: FlightSegment) -> Array:
        q = positions(at.states)
        stretch = q[:, system.coordinates.index(coordinate)] - rest
        return np.abs(stretch - q[:, system.coordinates.index(other)] if other else stretch)

    return look


def _wheels(
    system: System, limits: dict[str, Limit], *, with_prescribed: bool
) -> Iterator[LimitMonitor]:
    for wheel in system.model.wheels:
        name = wheel.name
        torque = _effort("wheel_torque", name)
        yield LimitMonitor(limits[f"{name}.torque"], torque, channel=f"{name}.torque")
        if with_prescribed or not _is_prescribed(system, name):
            yield LimitMonitor(limits[f"{name}.speed"], _speed(name))
            yield LimitMonitor(limits[f"{name}.momentum"], _speed(name, wheel.inertia))


def _clearances(system: System, limits: dict[str, Limit]) -> Iterator[LimitMonitor]:
    """One monitor a pair of capsules that can come closer: on links that are not neighbours."""
    for a, b in combinations(system.model.capsules, 2):
        i, j = (system.body_link[part.body] for part in (a, b))
        parents = system.tree.links[:, 0]
        if i == j or parents[i] == j or parents[j] == i:
            continue
        least = limits["capsules.clearance"].value
        limit = Limit(f"{a.body} to {b.body}", "clearance", least, "m")
        # nothing is used at twice the distance of the axes at which the clearance is just kept
        yield LimitMonitor(limit, _gap(a, b), -1.0, a.radius + b.radius + 2.0 * least)


def _gap(a: Capsule, b: Capsule) -> Look:
    """The distance between the surfaces of two capsules (N,) [m], below zero inside."""

    def look(system: System, at: FlightSegment) -> Array:
        ends = [_world(system, at, c.body, p) for c in (a, b) for p in (c.start, c.end)]
        return segment_distance(*ends) - a.radius - b.radius

    return look


def _world(system: System, at: FlightSegment, body: str, point: tuple[float, ...]) -> Array:
    """A point of a body in root axes (N, 3); all capsules share the root."""
    link, (R, p) = system.body_link[body], system.body_pose[body]
    rows = at.motion.links[:, link]
    return rows[:, P : P + 3] + rows[:, :9].reshape(-1, 3, 3) @ (R @ np.array(point) + p)


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distances (N,) between the segments a-b and c-d, all (N, 3).

    >>> line = lambda x, y: (np.array([[x, y, 0.0]]), np.array([[x, y, 1.0]]))
    >>> segment_distance(*line(0.0, 0.0), *line(3.0, 4.0))
    array([5.])
    """
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (np.sum(x * y, axis=1) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = np.sum(u * w, axis=1), np.sum(v * w, axis=1)
    tiny = np.finfo(float).tiny
    s = np.clip((uv * vw - vv * uw) / np.maximum(uu * vv - uv**2, tiny), 0.0, 1.0)
    t = np.clip((uv * s + vw) / np.maximum(vv, tiny), 0.0, 1.0)
    s = np.clip((uv * t - uw) / np.maximum(uu, tiny), 0.0, 1.0)  # the best there for that t
    return np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)


@dataclass(frozen=True)
class LimitViolation:
    """A limit that was exceeded: the part, what of it, how far, the limit, and when first."""

    part: str
    quantity: str
    value: float
    limit: float
    unit: str
    time: float

    def __str__(self) -> str:
        return (
            f"{self.part}: {self.quantity} {self.value:.4g} {self.unit}, limit {self.limit:.4g},"
            f" first exceeded at {self.time:.4g} s"
        )


def limit_violations(
    system: System, plan: Plan, flight: Telemetry, states: Array
) -> tuple[LimitViolation, ...]:
    """Every limit of the model that a flight exceeded, in the model's order.

    `states` are those of the flight's truth. Joint accelerations and jerks are those of the plan,
    hence of prescribed joints only.
    """
    truth = flight.truth
    assert truth is not None  # whoever has the states has the truth
    times = truth["base.rate.x"].time
    links = link_table(system, states) if system.model.capsules else np.zeros((0, 0, 0))
    none = np.zeros((0, 0))
    at = FlightSegment(times, states, SystemMotion(none, none, links), no_inputs(system))
    found = [
        *(_violation_of(system, monitor, at, truth) for monitor in _stated_monitors(system)),
        *(
            _violation(*check, times)
            for joint in system.model.joints
            for check in _plan_checks(system, plan, joint, times)
        ),
    ]
    return tuple(violation for violation in found if violation is not None) + tuple(
        _thrusters(system, plan)
    )


def _stated_monitors(system: System) -> Iterator[LimitMonitor]:
    """What the model limits; what would be assumed for a design is no limit here."""
    for monitor in limit_monitors(system, limits_of(system.model), with_prescribed=True):
        if not monitor.limit.is_assumed:
            yield monitor


def _violation_of(
    system: System, monitor: LimitMonitor, at: FlightSegment, truth: Telemetry
) -> LimitViolation | None:
    limit = monitor.limit
    if monitor.channel is None:
        values = monitor.look(system, at)
    elif monitor.channel in truth:  # as it was: a closed loop gives other torques than the plan
        values = np.abs(truth[monitor.channel].values)
    else:
        return None
    quantity = QUANTITIES.get(limit.quantity, limit.quantity)
    return _violation(
        limit.part, quantity, values, limit.value, limit.unit, at.times, sign=monitor.sign
    )


# part, quantity, values over time, limit, unit
Checked = tuple[str, str, Array, float | None, str]


def _violation(
    part: str,
    quantity: str,
    values: Array,
    limit: float | None,
    unit: str,
    times: Array,
    *,
    sign: float = 1.0,
) -> LimitViolation | None:
    """Whether values beyond a limit occur: above one, or below where the sign is -1."""
    if limit is None:
        return None
    beyond = sign * (values - limit) > ROUNDING * abs(limit)
    if not beyond.any():
        return None
    worst = values[int(np.argmax(sign * values))]
    return LimitViolation(
        part, quantity, float(worst), limit, unit, float(times[np.argmax(beyond)])
    )


def _plan_checks(system: System, plan: Plan, joint: Joint, times: Array) -> Iterator[Checked]:
    """What a plan prescribes: of the joint, or of its motor where there is a drive."""
    name = f"{joint.name}.motor" if joint.drive else joint.name
    prescribed = [system.coordinates[i] for i in system.tree.given]
    if name not in prescribed or plan.control is not None or len(times) < 2:
        return
    unit = "m" if joint.type == "prismatic" else "rad"
    ddq = plan.motion_of(name, system.model).at(times)[2]
    limits = joint.limits
    yield name, "acceleration", np.abs(ddq), limits.acceleration, f"{unit}/s^2"
    yield name, "jerk", np.abs(np.gradient(ddq, times)), limits.jerk, f"{unit}/s^3"


def _thrusters(system: System, plan: Plan) -> Iterator[LimitViolation]:
    """Thrusts from the plan itself, on a fine grid: pulses may fall between samples."""
    edges = np.union1d(np.linspace(0.0, plan.duration, 10_001), plan.edges())
    edges = edges[(edges >= 0.0) & (edges <= plan.duration)]
    impulse = 0.0
    for thruster in system.model.thrusters:
        if thruster.name in plan.thrusts:
            force = np.abs(plan.thrusts[thruster.name].over(edges[:-1], edges[1:]))
            impulse += float(np.sum(force * np.diff(edges)))
            violation = _violation(thruster.name, "force", force, thruster.max_force, "N", edges)
            if violation is not None:
                yield violation
    limit = system.model.limits.thruster_impulse
    if limit is not None and impulse > limit * (1.0 + ROUNDING):
        yield LimitViolation("thrusters", "impulse", impulse, limit, "N s", plan.duration)
