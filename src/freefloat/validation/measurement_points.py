"""What a recording and a prediction are compared in: one look for every sensor and its target.

What drives the prediction (encoders of driven joints, wheel speeds, thrust) is left out: it agrees
with itself and says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.model.parts import Sensor
from freefloat.model.rotations import conjugate, quaternion_product, rotation_vector_from_quaternion
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.measurements import Measurement, measurements_of
from freefloat.prediction.sensor_models import sensor_jacobian, sensor_reading
from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.channel import Mask
from freefloat.telemetry.telemetry import Telemetry

AXES = ("x", "y", "z")
JUMPING = ("accelerometer", "joint_torque", "motor_torque", "wheel_torque")  # follow forces at once
LEAST_SAMPLES = 8  # below, there is nothing to say of errors


@dataclass(frozen=True)
class Look:
    """One sensor on one target, and the unit of its channels.

    names are those of what is compared: for an attitude the turn about each axis, with the unit
    rad.
    """

    stream: Measurement
    unit: str

    @property
    def sensor(self) -> Sensor:
        """The sensor, on its target alone."""
        return self.stream.sensor

    @property
    def target(self) -> str:
        """What the sensor sits on."""
        return self.stream.target

    @property
    def group(self) -> str:
        """What the axes of a vector have in common, such as base.rate."""
        return self.stream.group

    @property
    def times(self) -> Array:
        """The instants of the samples (N,) [s]."""
        return self.stream.times

    @property
    def measured(self) -> Array:
        """The samples (N, k), less the bias that the model states; attitudes are quaternions."""
        stream = self.stream
        return continuous(unit(stream.values)) if self.is_attitude else stream.values - stream.bias

    @property
    def noise(self) -> Array:
        """The standard deviation of a sample of each of the names (r,)."""
        return self.stream.noise

    @property
    def is_noise_known(self) -> bool:
        """Whether the recording states its noise."""
        return self.stream.is_noise_known

    @property
    def is_attitude(self) -> bool:
        """Whether quaternions are compared."""
        return self.stream.is_attitude

    @property
    def names(self) -> tuple[str, ...]:
        """One name for every column of a residual."""
        if not self.is_attitude:
            return self.stream.channels
        return tuple(f"{self.group.removesuffix('attitude')}turn.{axis}" for axis in AXES)

    def taken(self, which: Mask) -> Look:
        """The same with some samples only."""
        return Look(self.stream.select(which), self.unit)

    def asked_at(self, at: FlightSegment) -> Array:
        """The instants of a prediction at which the samples look (N,) [s]: a delay earlier."""
        return np.clip(self.times - self.sensor.delay, at.times[0], at.times[-1])

    def predicted(self, system: System, at: FlightSegment) -> Array:
        """What a perfect sensor would have read (N, k), from a prediction on a grid."""
        truth = sensor_reading(system, self.sensor, self.target, at)
        table = truth[:, None] if truth.ndim == 1 else truth
        table = continuous(table) if self.is_attitude else table[:, self.stream.columns]
        is_smooth = self.sensor.kind not in JUMPING
        values = between(at.times, table, self.asked_at(at), is_smooth=is_smooth)
        return unit(values) if self.is_attitude else values

    def slopes(self, system: System, at: FlightSegment) -> Array:
        """How the readings change with the parameters of the flight (N, r, parameters)."""
        own = sensor_jacobian(system, self.sensor, self.target, at)
        own = own if self.is_attitude else own[:, self.stream.columns]
        flat = own.reshape(len(own), -1)
        return between(at.times, flat, self.asked_at(at), is_smooth=False).reshape(
            len(self.times), *own.shape[1:]
        )

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
        measured = self.measured
        turn = continuous(quaternion_product(conjugate(measured[0]), measured))
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
    """Everything in a recording, within a span [s], that a prediction can be compared with."""
    found = []
    for stream in measurements_of(system, telemetry):
        asked = stream.times - stream.sensor.delay
        inside = (asked >= span[0] - 1e-9) & (asked <= span[1] + 1e-9)
        if inside.sum() >= LEAST_SAMPLES:
            name = "rad" if stream.is_attitude else telemetry[stream.channels[0]].unit
            found.append(Look(stream.select(inside), name))
    return tuple(found)
