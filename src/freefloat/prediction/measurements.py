"""What was measured: the channels of a recording, each with the sensor of the model behind it.

A measurement is one sensor on one target. Channels that only repeat what drives the simulation
(encoders of prescribed joints, wheel speeds, thrust) are none: they are inputs.
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
from freefloat.notes import Note
from freefloat.prediction.sensor_models import (
    SENSOR_MODELS,
    PlanarAngle,
    channel_group,
    sensor_model,
)
from freefloat.prediction.sensor_noise import SUFFIXES, sample_noise, sample_times
from freefloat.telemetry.channel import Channel, Mask, estimate_noise, noise_floor
from freefloat.telemetry.names import ChannelName, channel_names
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing


@dataclass(frozen=True)
class Measurement:
    """Samples of one sensor on one target.

    channels: one name a column of `values` (N, k); an attitude has four columns but three rows of
    residual an instant, named by its first three channels. columns: which of the sensor's own
    components these are. group: what the channels have in common, such as base.rate. noise (r,):
    standard deviation of a sample of each; is_noise_known: given with the recording. bias (r,):
    what the model file says of the sensor. A planned measurement has times but no values (0, k).
    """

    sensor: Sensor
    target: str
    group: str
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

    @property
    def needs_forces(self) -> bool:
        """Whether the sensor reads forces or accelerations rather than the state."""
        return SENSOR_MODELS[self.sensor.kind].needs_forces

    def select(self, keep: Mask) -> Measurement:
        """The measurement with fewer instants."""
        return replace(self, times=self.times[keep], values=self.values[keep])


def measurements_of(system: System, telemetry: Telemetry) -> tuple[Measurement, ...]:
    """Everything in the recording that the model can predict and that does not drive it."""
    found: dict[str, Measurement] = {}
    for sensor, target in _candidates(system):
        for measurement in _read(system, telemetry, sensor, target):
            if not set(measurement.channels) & set(found):
                found |= dict.fromkeys(measurement.channels, measurement)
    return tuple({id(measurement): measurement for measurement in found.values()}.values())


def planned_measurements(
    system: System, sensors: Sequence[Sensor], duration: float
) -> tuple[Measurement, ...]:
    """What a sensor suite will measure in `duration` [s] from t = 0 on: no values yet, no bias."""
    found = []
    for sensor in sensors:
        times = sample_times(sensor, duration)
        for target in sensor_targets(system.model, sensor):
            names = channels_of(system, sensor, target)
            rows = min(len(names), 3)
            found.append(
                Measurement(
                    replace(sensor, on=target), target, channel_group(system, sensor, target),
                    names, tuple(range(rows)), times, np.zeros((0, len(names))),
                    np.full(rows, sample_noise(sensor)), True, np.zeros(rows),
                )
            )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True)
class SensorChannel:
    """Where a channel comes from: its sensor, the name of all its channels, its stated bias."""

    group: str
    sensor: Sensor
    bias: float


def sensor_channels(model: Model) -> dict[str, SensorChannel]:
    """Everything that can be measured by channel name; an attitude has three, about x, y, z."""
    system = flatten(model)
    found: dict[str, SensorChannel] = {}
    for sensor, target in _candidates(system):
        names, group = channels_of(system, sensor, target), channel_group(system, sensor, target)
        bias = _bias(sensor, min(len(names), 3))
        for name, offset in zip(names[:3], bias.tolist(), strict=True):
            found.setdefault(name, SensorChannel(group, sensor, offset))
    return found


def unknown_channels(model: Model, telemetry: Telemetry) -> tuple[str, ...]:
    """Channels of a recording that mean nothing to a model: no frame, joint or sensor has them.

    >>> from freefloat.model import load_model
    >>> flight = Telemetry.from_arrays([0.0], {"tip_marker.angle": [0.1], "base.rate.z": [0.0]})
    >>> unknown_channels(load_model("planar-capture"), flight)
    ('tip_marker.angle',)
    """
    system = flatten(model)
    groups = {channel_group(system, sensor, target) for sensor, target in _readable(model)}
    groups |= {name for one in model.assembly.coordinates for name in channel_names(one)}
    groups |= {f"{one.name}.torque" for one in model.assembly.coordinates}
    groups |= {f"{thruster.name}.force" for thruster in model.thrusters}
    groups |= {"base.force", "base.torque"}
    return tuple(
        name
        for name in telemetry.names
        if name not in groups and ChannelName.parse(name).group not in groups
    )


def unknown_channel_notes(model: Model, flights: Sequence[Telemetry]) -> list[Note]:
    """A note where recordings have channels that mean nothing to a model."""
    unknown = dict.fromkeys(name for one in flights for name in unknown_channels(model, one))
    if not unknown:
        return []
    text = f"recorded, but nothing of the model has it: {listing(unknown, most=8)}; not used"
    return [Note("recording.unknown_channels", text)]


def _readable(model: Model) -> Iterator[tuple[Sensor, str]]:
    """Every sensor on every target, the usual ones too, inputs and prescribed motion as well."""
    for sensor in _with_angles(model, (*model.sensors, *_usual_sensors(model))):
        yield from ((sensor, target) for target in sensor_targets(model, sensor))


def _bias(sensor: Sensor, width: int) -> Array:
    """The bias of every channel; of an attitude that is one angle, that about z."""
    bias = np.array(sensor.bias or (0.0,), dtype=float)
    return np.broadcast_to(bias[-width:], (width,))


def _candidates(system: System) -> Iterator[tuple[Sensor, str]]:
    """The model's sensors first, then whatever the usual channel names would mean."""
    model = system.model
    given = {system.coordinates[i] for i in system.tree.given}
    for sensor in _with_angles(model, (*model.sensors, *_usual_sensors(model))):
        entry = SENSOR_MODELS[sensor.kind]
        if entry.is_input:
            continue
        for target in sensor_targets(model, sensor):
            if entry.coordinate is None or entry.coordinate(target) not in given:
                yield sensor, target


def _usual_sensors(model: Model) -> list[Sensor]:
    """What the usual channel names would mean."""
    places = [model.root.body, *(p.name for p in (*model.frames, *model.targets))]
    usual = [Sensor(kind, place, 1.0) for place in places for kind in BODY_SENSORS]
    kinds = (*JOINT_SENSORS, *MOTOR_SENSORS, "wheel_torque")
    return usual + [Sensor(kind, "*", 1.0) for kind in kinds]


def _with_angles(model: Model, sensors: Sequence[Sensor]) -> Iterator[Sensor]:
    """The sensors, and where everything moves in a plane those of attitudes as an angle, too."""
    for sensor in sensors:
        yield sensor
        if model.root.type == "planar" and sensor.kind == "attitude":
            yield PlanarAngle.like(sensor)


def channels_of(system: System, sensor: Sensor, target: str) -> tuple[str, ...]:
    """The channels of a sensor on a target."""
    group = channel_group(system, sensor, target)
    width = sensor_model(system, sensor, target).width
    return tuple(group + suffix for suffix in SUFFIXES[width])


def with_sensor_noise(model: Model, telemetry: Telemetry) -> Telemetry:
    """The recording with the noise of the model's sensors, where it states none itself."""
    system = flatten(model)
    found: dict[str, Channel] = {}
    for sensor in _with_angles(model, model.sensors):
        noise = sample_noise(sensor)
        for target in sensor_targets(model, sensor) if noise > 0.0 else ():
            for name in channels_of(system, sensor, target):
                if name in telemetry and telemetry[name].noise is None:
                    found.setdefault(name, telemetry[name].with_noise(noise))
    return telemetry.with_channels(*found.values()) if found else telemetry


def _read(
    system: System, telemetry: Telemetry, sensor: Sensor, target: str
) -> Iterator[Measurement]:
    names = channels_of(system, sensor, target)
    is_planar = system.model.root.type == "planar" and len(names) == 3
    axes = SENSOR_MODELS[sensor.kind].planar_axes if is_planar else range(len(names))
    present = [k for k in axes if names[k] in telemetry and telemetry[names[k]].valid.any()]
    if not present or (len(names) == 4 and len(present) < 4):
        return
    channels = {k: telemetry[names[k]] for k in present}
    first = channels[present[0]]
    is_common = all(
        np.array_equal(c.time, first.time) and np.array_equal(c.valid, first.valid)
        for c in channels.values()
    )
    together = [present] if is_common or len(names) == 4 else [[k] for k in present]
    group = channel_group(system, sensor, target)
    for axes in together:
        parts = [channels[k] for k in axes]
        yield _measurement(replace(sensor, on=target), group, names, axes, parts)


def _measurement(
    sensor: Sensor, group: str, names: Sequence[str], axes: list[int], parts: list[Channel]
) -> Measurement:
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
    columns = tuple(axes[:3]) if len(names) == 4 else tuple(axes)
    width = 3 if len(names) >= 3 else 1
    bias = _bias(sensor, width)
    return Measurement(
        sensor, sensor.on, group, tuple(names[k] for k in axes), columns, times, values,
        np.array(noise), is_known, bias[list(columns)].copy(),
    )  # fmt: skip
