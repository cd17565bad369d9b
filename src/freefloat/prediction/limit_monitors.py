"""Limits that only a flight shows: base, torques, what bends, and who comes too close to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.spatial import P
from freefloat.dynamics.state import ATTITUDE, RATE, positions, rates
from freefloat.dynamics.tree import System
from freefloat.excitation.limits import Limit
from freefloat.model.parts import Capsule, Joint, Sensor
from freefloat.model.rotations import conjugate, quaternion_product
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.sensor_models import sensor_readings

Look = Callable[[System, FlightSegment], Array]
NOTHING = 1e-12  # theory: the room that a limit of zero leaves, so that division goes on


@dataclass(frozen=True)
class Watch:
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


def watches_of(
    system: System, limits: dict[str, Limit], *, with_prescribed: bool = False
) -> tuple[Watch, ...]:
    """Every finite limit of a system that only a flight shows.

    What is prescribed may be told from its motion without a flight; with_prescribed: it is watched
    all the same.
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
            found.append(Watch(limit, _deflection(spring.coordinate, other, spring.rest)))
    found += _wheels(system, limits, with_prescribed=with_prescribed)
    found += _clearances(system, limits)
    return tuple(watch for watch in found if np.isfinite(watch.limit.value))


def _base(limits: dict[str, Limit]) -> Iterator[Watch]:
    yield Watch(limits["base.attitude"], _turn)
    yield Watch(limits["base.rate"], _rate_change)


def _turn(system: System, at: FlightSegment) -> Array:
    """How far the base has turned from its start (N,) [rad]."""
    q = quaternion_product(conjugate(at.states[:1, ATTITUDE]), at.states[:, ATTITUDE])
    return 2.0 * np.arctan2(np.linalg.norm(q[:, :3], axis=1), np.abs(q[:, 3]))


def _rate_change(system: System, at: FlightSegment) -> Array:
    return np.linalg.norm(at.states[:, RATE] - at.states[0, RATE], axis=1)


def _joint(
    system: System, joint: Joint, limits: dict[str, Limit], *, with_prescribed: bool
) -> Iterator[Watch]:
    # Where there is a drive, the motor is what has a limited effort.
    kind = "motor_torque" if joint.drive else "joint_torque"
    effort = limits[f"{joint.name}.effort"]
    if joint.role != "passive":
        field = "motor_torque" if joint.drive else "torque"
        yield Watch(effort, _effort(kind, joint.name), channel=f"{joint.name}.{field}")
    if _is_prescribed(system, joint.name) and not with_prescribed:
        return
    position = _position(joint.name)
    yield Watch(limits[f"{joint.name}.lower"], position, -1.0, joint.home)
    yield Watch(limits[f"{joint.name}.upper"], position, 1.0, joint.home)
    yield Watch(limits[f"{joint.name}.velocity"], _speed(joint.name))


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


def _wheels(system: System, limits: dict[str, Limit], *, with_prescribed: bool) -> Iterator[Watch]:
    for wheel in system.model.wheels:
        name = wheel.name
        torque = _effort("wheel_torque", name)
        yield Watch(limits[f"{name}.torque"], torque, channel=f"{name}.torque")
        if with_prescribed or not _is_prescribed(system, name):
            yield Watch(limits[f"{name}.speed"], _speed(name))
            yield Watch(limits[f"{name}.momentum"], _speed(name, wheel.inertia))


def _clearances(system: System, limits: dict[str, Limit]) -> Iterator[Watch]:
    """One watch a pair of capsules that can come closer: on links that are not neighbours."""
    for a, b in combinations(system.model.capsules, 2):
        i, j = (system.body_link[part.body] for part in (a, b))
        parents = system.tree.links[:, 0]
        if i == j or parents[i] == j or parents[j] == i:
            continue
        least = limits["capsules.clearance"].value
        limit = Limit(f"{a.body} to {b.body}", "clearance", least, "m")
        # nothing is used at twice the distance of the axes at which the clearance is just kept
        yield Watch(limit, _gap(a, b), -1.0, a.radius + b.radius + 2.0 * least)


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
