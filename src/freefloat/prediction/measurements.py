"""What was measured: the channels of a recording, each with the sensor of the model behind it.

A stream is one sensor on one target. Channels that only repeat what drives the simulation
(encoders of prescribed joints, wheel speeds, thrust) are no streams: they are inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.model.checks import BODY_SENSORS, JOINT_SENSORS, MOTOR_SENSORS, sensor_targets
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.prediction.sensor_errors import SUFFIXES
from freefloat.prediction.sensor_models import READERS, prefix_of
from freefloat.telemetry.channel import Channel, Mask, estimate_noise, noise_floor
from freefloat.telemetry.telemetry import Telemetry

XYZ = ("x", "y", "z")
INPUTS = ("thruster", "wheel_speed")
WITH_FORCES = ("joint_torque", "wheel_torque", "motor_torque", "accelerometer")
PLANAR_AXES = {"gyro": (2,), "position": (0, 1), "velocity": (0, 1), "accelerometer": (0, 1)}


@dataclass(frozen=True)
class Stream:
    """Samples of one sensor on one target.

    channels: one name a column of `values` (N, k); an attitude has four columns but three rows of
    residual an instant, named by its first three channels. columns: which of the sensor's own
    components these are. noise (r,): standard deviation of a sample of each; is_noise_known: given
    with the recording. bias (r,) and delay [s]: what the model file says of the sensor.
    """

    sensor: Sensor
    target: str
    prefix: str
    channels: tuple[str, ...]
    columns: tuple[int, ...]
    times: Array
    values: Array
    noise: Array
    is_noise_known: bool
    bias: Array

    @property
    def is_attitude(self) -> bool:
        """Whether the values are quaternions."""
        return self.values.shape[1] == 4

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the residuals of an instant."""
        return self.channels[:3] if self.is_attitude else self.channels

    def taken(self, keep: Mask) -> Stream:
        """The stream with fewer instants."""
        return replace(self, times=self.times[keep], values=self.values[keep])


def streams_of(system: System, telemetry: Telemetry) -> tuple[Stream, ...]:
    """Everything in the recording that the model can predict and that does not drive it."""
    found: dict[str, Stream] = {}
    for sensor, target in _candidates(system):
        for stream in _read(system, telemetry, sensor, target):
            if not set(stream.channels) & set(found):
                found |= dict.fromkeys(stream.channels, stream)
    return tuple({id(stream): stream for stream in found.values()}.values())


@dataclass(frozen=True)
class Outlet:
    """Where a channel comes from: its sensor, the name of all its channels, its stated bias."""

    group: str
    sensor: Sensor
    bias: float


def sensor_channels(model: Model) -> dict[str, Outlet]:
    """Everything that can be measured by channel name; an attitude has three, about x, y, z."""
    system = flatten(model)
    found: dict[str, Outlet] = {}
    for sensor, target in _candidates(system):
        names = stream_names(system, sensor, target)
        group = names[0] if len(names) == 1 else names[0].rpartition(".")[0]
        bias = np.broadcast_to(np.array(sensor.bias or (0.0,), dtype=float), (min(len(names), 3),))
        for name, offset in zip(names[:3], bias.tolist(), strict=True):
            found.setdefault(name, Outlet(group, sensor, offset))
    return found


def _candidates(system: System) -> Iterator[tuple[Sensor, str]]:
    """The model's sensors first, then whatever the usual channel names would mean."""
    model = system.model
    given = {system.coordinates[i] for i in system.tree.given}
    usual = [Sensor(kind, model.root.body, 1.0) for kind in BODY_SENSORS]
    usual += [Sensor(kind, "*", 1.0) for kind in (*JOINT_SENSORS, *MOTOR_SENSORS, "wheel_torque")]
    for sensor in (*model.sensors, *usual):
        if sensor.kind in INPUTS:
            continue
        for target in sensor_targets(model, sensor):
            moved = f"{target}.motor" if sensor.kind in MOTOR_SENSORS else target
            is_input = sensor.kind in ("encoder", "joint_rate", "motor_encoder", "motor_rate")
            if not (is_input and moved in given):
                yield sensor, target


def stream_names(system: System, sensor: Sensor, target: str) -> tuple[str, ...]:
    """The channels of a sensor on a target."""
    field = READERS[sensor.kind][0]
    is_planar = system.model.root.type == "planar" and system.body_link.get(target) == 0
    width = {"attitude": 4}.get(sensor.kind, 3 if sensor.kind in BODY_SENSORS else 1)
    if sensor.kind == "attitude" and is_planar:
        field, width = "angle", 1
    name = f"{prefix_of(system, sensor, target)}.{field}"
    return tuple(name + suffix for suffix in SUFFIXES[width])


def _read(system: System, telemetry: Telemetry, sensor: Sensor, target: str) -> Iterator[Stream]:
    names = stream_names(system, sensor, target)
    is_planar = system.model.root.type == "planar" and len(names) == 3
    axes = PLANAR_AXES[sensor.kind] if is_planar else range(len(names))
    present = [k for k in axes if names[k] in telemetry and telemetry[names[k]].valid.any()]
    if not present or (len(names) == 4 and len(present) < 4):
        return
    channels = {k: telemetry[names[k]] for k in present}
    first = channels[present[0]]
    is_common = all(
        np.array_equal(c.time, first.time) and np.array_equal(c.valid, first.valid)
        for c in channels.values()
    )
    for group in [present] if is_common or len(names) == 4 else [[k] for k in present]:
        yield _stream(sensor, target, names, group, [channels[k] for k in group])


def _stream(
    sensor: Sensor, target: str, names: Sequence[str], group: list[int], parts: list[Channel]
) -> Stream:
    usable = [part.usable() for part in parts]
    times = usable[0][0]
    for own, _ in usable[1:]:
        times = np.intersect1d(times, own)
    values = np.column_stack([value[np.isin(time, times)] for time, value in usable])
    if sensor.saturation is not None and len(names) != 4:
        # a reading at the end of its range says only that there was more
        inside = np.all(np.abs(values) < sensor.saturation * (1.0 - 1e-9), axis=1)
        times, values = times[inside], values[inside]
    rows = parts[:3] if len(names) == 4 else parts
    is_known = all(part.noise is not None for part in rows)
    # a guess is of quaternion components, which change by half a small rotation
    factor = 1.0 if is_known or len(names) != 4 else 2.0
    noise = [
        max(
            factor * (estimate_noise(part) if part.noise is None else part.noise), noise_floor(part)
        )
        for part in rows
    ]
    columns = tuple(group[:3]) if len(names) == 4 else tuple(group)
    width = 3 if len(names) >= 3 else 1
    bias = np.broadcast_to(np.array(sensor.bias or (0.0,), dtype=float), (width,))
    return Stream(
        replace(sensor, on=target), target, names[0].rpartition(".")[0] if len(names) > 1
        else names[0], tuple(names[k] for k in group), columns, times, values, np.array(noise),
        is_known, bias[list(columns)].copy(),
    )  # fmt: skip
