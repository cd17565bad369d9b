"""What a recording and a prediction can be compared in: one look for every sensor and its target.

What drives the prediction (encoders of driven joints, wheel speeds, thrust) is left out: it agrees
with itself and says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.identification.reading import noise_of, rounding_of
from freefloat.model.checks import BODY_SENSORS, JOINT_SENSORS, MOTOR_SENSORS, sensor_targets
from freefloat.model.parts import Sensor
from freefloat.model.rotations import conjugate, quaternion_product, rotation_vector_from_quaternion
from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.sensors import SUFFIXES
from freefloat.telemetry.truths import Instant, readings

AXES = ("x", "y", "z")
JUMPING = ("accelerometer", "joint_torque", "motor_torque", "wheel_torque")  # follow forces at once


@dataclass(frozen=True)
class Look:
    """One sensor on one target: its samples at times (N,) [s], each with `noise` of one sample.

    measured (N, k): an attitude is a unit quaternion (k = 4). names and units are those of what is
    compared: for an attitude the turn about each axis.
    """

    sensor: Sensor
    target: str
    group: str
    names: tuple[str, ...]
    unit: str
    times: Array
    measured: Array
    noise: Array
    is_noise_known: bool

    @property
    def is_attitude(self) -> bool:
        """Whether quaternions are compared."""
        return self.measured.shape[1] == 4

    def predicted(self, system: System, at: Instant) -> Array:
        """What a perfect sensor would have read (N, k), from a prediction on a grid."""
        ((_, truth),) = readings(system, self.sensor, at).items()
        table = truth[:, None] if truth.ndim == 1 else truth
        if self.is_attitude:
            table = continuous(table)
        wanted = np.clip(self.times - self.sensor.delay, at.times[0], at.times[-1])
        values = between(at.times, table, wanted, is_smooth=self.sensor.kind not in JUMPING)
        return unit(values) if self.is_attitude else values

    def residual(self, predicted: Array) -> Array:
        """Measured minus predicted (N, r); for attitudes the small turn from one to the other."""
        if self.is_attitude:
            return rotation_vector_from_quaternion(
                quaternion_product(conjugate(predicted), self.measured)
            )
        left = self.measured - predicted
        if self.names[0].endswith(".angle"):  # a whole turn more or less is the same angle
            left = left - 2.0 * np.pi * np.round(np.median(left) / (2.0 * np.pi))
        return left

    @property
    def shown(self) -> Array:
        """The measurement (N, r) as it is drawn: an attitude as the turn since the start [rad]."""
        if not self.is_attitude:
            return self.measured
        turn = continuous(quaternion_product(conjugate(self.measured[0]), self.measured))
        sine = np.linalg.norm(turn[:, :3], axis=1, keepdims=True)
        angle = 2.0 * np.arctan2(sine, turn[:, 3:])
        return turn[:, :3] * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)


def between(times: Array, table: Array, wanted: Array, *, is_smooth: bool) -> Array:
    """A table on a grid, at other times: by a cubic spline, or by straight lines where it jumps."""
    from scipy.interpolate import CubicSpline

    if is_smooth and len(times) > 3:
        return CubicSpline(times, table, axis=0)(wanted)
    return np.column_stack([np.interp(wanted, times, column) for column in table.T])


def looks_of(system: System, telemetry: Telemetry, span: tuple[float, float]) -> tuple[Look, ...]:
    """Everything in a recording that a prediction of this system can be compared with."""
    model = system.model
    suite = [*model.sensors, *(Sensor(kind, model.root.body, 1.0) for kind in BODY_SENSORS)]
    suite += [Sensor(kind, "*", 1.0) for kind in (*JOINT_SENSORS, *MOTOR_SENSORS, "wheel_torque")]
    given = {system.coordinates[int(i)] for i in system.tree.given}
    found: dict[str, Look] = {}
    for sensor in suite:
        for target in sensor_targets(model, sensor):
            if _is_input(sensor, target, given) or not _is_there(system, sensor, target):
                continue
            look = _look(system, replace(sensor, on=_exactly(target)), target, telemetry, span)
            if look is not None:
                found.setdefault(look.group, look)
    return tuple(found.values())


def _is_there(system: System, sensor: Sensor, target: str) -> bool:
    if sensor.kind in MOTOR_SENSORS:
        return f"{target}.motor" in system.coordinates
    return sensor.kind in BODY_SENSORS or target in system.coordinates


def _is_input(sensor: Sensor, target: str, given: set[str]) -> bool:
    if sensor.kind in ("motor_encoder", "motor_rate"):
        return f"{target}.motor" in given
    if sensor.kind in ("encoder", "joint_rate", "wheel_speed"):
        return target in given
    return sensor.kind == "thruster"


def _exactly(name: str) -> str:
    """A glob that matches this name alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _look(
    system: System, sensor: Sensor, target: str, telemetry: Telemetry, span: tuple[float, float]
) -> Look | None:
    from freefloat.telemetry.truths import READERS, prefix_of

    root = system.model.root
    is_planar = root.type == "planar" and system.body_link.get(target) == 0
    field = READERS[sensor.kind][0]
    if sensor.kind == "attitude" and is_planar:
        field = "angle"
    group = f"{prefix_of(system, sensor, target)}.{field}"
    width = (
        4 if field == "attitude" else 3 if sensor.kind in BODY_SENSORS and field != "angle" else 1
    )
    names = [group + suffix for suffix in SUFFIXES[width]]
    there = [name for name in names if name in telemetry]
    if len(there) < width:
        return None
    channels = [telemetry[name] for name in names]
    times, values = _common(channels)
    inside = (times - sensor.delay >= span[0] - 1e-9) & (times - sensor.delay <= span[1] + 1e-9)
    if inside.sum() < 8:
        return None
    times, values = times[inside], values[inside]
    # the noise of an attitude channel is that of the turn about an axis; a guess is of components
    known = [channel.noise for channel in channels]
    noise = np.array(
        [
            max(n if n is not None else noise_of(c), rounding_of(c))
            for n, c in zip(known, channels, strict=True)
        ]
    )
    if width == 4:
        values = continuous(unit(values))
        noise = noise[:3] * (1.0 if known[0] is not None else 2.0)
        names = [f"{group.removesuffix('attitude')}turn.{axis}" for axis in AXES]
    unit_ = "rad" if width == 4 else channels[0].unit
    is_known = all(n is not None for n in known)
    return Look(sensor, target, group, tuple(names), unit_, times, values, noise, is_known)


def _common(channels: list) -> tuple[Array, Array]:
    """The instants at which every channel of a vector has a valid sample, and its values there."""
    usable = [channel.usable() for channel in channels]
    times = usable[0][0]
    for other, _ in usable[1:]:
        times = times[np.isin(times, other)] if not np.array_equal(times, other) else times
    columns = [values[np.isin(own, times)] for own, values in usable]
    return times, np.column_stack(columns)
