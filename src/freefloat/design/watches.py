"""Limits that only a flight shows: base, torques, what bends, and who comes too close to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.spatial import P
from freefloat.dynamics.state import positions, rates
from freefloat.dynamics.tree import System
from freefloat.excitation.limits import Limit
from freefloat.model.parts import Capsule, Joint, Sensor
from freefloat.model.rotations import conjugate, quaternion_product
from freefloat.telemetry.truths import Instant, readings

Look = Callable[[System, Instant], Array]


@dataclass(frozen=True)
class Watch:
    """A limit and what to hold against it: values (N,) of a flight, `room` of them allowed."""

    limit: Limit
    look: Look
    room: float

    def shares(self, system: System, at: Instant) -> Array:
        """Share of the limit (N,): 1 is at it, above is beyond."""
        return self.look(system, at) / self.room


def watches_of(system: System, limits: dict[str, Limit]) -> tuple[Watch, ...]:
    """Every finite limit of a system that its motion alone does not tell."""
    found = [*_base(limits), *_wheels(system, limits), *_clearances(system, limits)]
    for joint in system.model.joints:
        if joint.type != "fixed":
            found += _joint(system, joint, limits)
    for spring in system.model.assembly.springs:
        limit = limits.get(f"{spring.owner.removesuffix('.drive')}.deflection")
        limit = limit or limits.get(f"{spring.coordinate}.deflection")
        if limit is not None:
            other = spring.other or ""
            look = _deflection(spring.coordinate, other, spring.rest)
            found.append(Watch(limit, look, limit.value))
    return tuple(watch for watch in found if np.isfinite(watch.room))


def _base(limits: dict[str, Limit]) -> Iterator[Watch]:
    yield Watch(limits["base.attitude"], _turn, limits["base.attitude"].value)
    yield Watch(limits["base.rate"], _rate_change, limits["base.rate"].value)


def _turn(system: System, at: Instant) -> Array:
    """How far the base has turned from its start (N,) [rad]."""
    q = quaternion_product(conjugate(at.states[:1, 3:7]), at.states[:, 3:7])
    return 2.0 * np.arctan2(np.linalg.norm(q[:, :3], axis=1), np.abs(q[:, 3]))


def _rate_change(system: System, at: Instant) -> Array:
    return np.linalg.norm(at.states[:, 10:13] - at.states[0, 10:13], axis=1)


def _joint(system: System, joint: Joint, limits: dict[str, Limit]) -> Iterator[Watch]:
    kind = "motor_torque" if joint.drive else "joint_torque"
    effort = limits[f"{joint.name}.effort"]
    if joint.role != "passive":
        yield Watch(effort, _effort(kind, joint.name), effort.value)
    is_given = system.coordinates.index(joint.name) in system.tree.given
    if is_given:
        return
    for quantity, sign in (("lower", -1.0), ("upper", 1.0)):
        limit = limits[f"{joint.name}.{quantity}"]
        yield Watch(limit, _moved(joint.name, sign, joint.home), sign * (limit.value - joint.home))
    speed = limits[f"{joint.name}.velocity"]
    yield Watch(speed, _speed(joint.name), speed.value)


def _effort(kind: str, name: str) -> Look:
    sensor = Sensor(kind, name, 1.0)  # type: ignore[arg-type]
    return lambda system, at: np.abs(next(iter(readings(system, sensor, at).values())))


def _moved(name: str, sign: float, home: float) -> Look:
    def look(system: System, at: Instant) -> Array:
        return sign * (positions(at.states)[:, system.coordinates.index(name)] - home)

    return look


def _speed(name: str) -> Look:
    return lambda system, at: np.abs(rates(at.states)[:, system.coordinates.index(name)])


def _deflection(coordinate: str, other: str, rest: float) -> Look:
    def look(system: System, at: Instant) -> Array:
        q = positions(at.states)
        stretch = q[:, system.coordinates.index(coordinate)] - rest
        return np.abs(stretch - q[:, system.coordinates.index(other)] if other else stretch)

    return look


def _wheels(system: System, limits: dict[str, Limit]) -> Iterator[Watch]:
    for wheel in system.model.wheels:
        limit = limits[f"{wheel.name}.torque"]
        yield Watch(limit, _effort("wheel_torque", wheel.name), limit.value)
        if system.coordinates.index(wheel.name) not in system.tree.given:
            speed = limits[f"{wheel.name}.speed"]
            yield Watch(speed, _speed(wheel.name), speed.value)


def _clearances(system: System, limits: dict[str, Limit]) -> Iterator[Watch]:
    """One watch a pair of capsules that can come closer: on links that are not neighbours."""
    for a, b in combinations(system.model.capsules, 2):
        i, j = (system.body_link[part.body] for part in (a, b))
        parents = system.tree.links[:, 0]
        if i == j or parents[i] == j or parents[j] == i:
            continue
        least = limits["capsules.clearance"].value
        limit = Limit(f"{a.body} to {b.body}", "clearance", least, "m")
        size = a.radius + b.radius + max(least, 0.0)
        yield Watch(limit, _closeness(a, b, size), size)


def _closeness(a: Capsule, b: Capsule, size: float) -> Look:
    """2 size - distance of the axes: `size` where the clearance is just kept."""

    def look(system: System, at: Instant) -> Array:
        ends = [_world(system, at, c.body, p) for c in (a, b) for p in (c.start, c.end)]
        return 2.0 * size - segment_distance(*ends)

    return look


def _world(system: System, at: Instant, body: str, point: tuple[float, ...]) -> Array:
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
