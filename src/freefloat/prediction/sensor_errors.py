"""What a real sensor reads: where it sits, how its axes stand, its gain, bias, drift and delay.

    reading(t) = gain * R^T (1 + S) truth(t - delay) + bias + drift (t - t0)

R is a small rotation of the sensor's axes (`tilt`, a rotation vector [rad]), S what they lack to
be square (`skew`, symmetric [rad]: .x between y and z, ...); the truth is that of a
point displaced by `offset` [m] in the axes of its frame; t0 is the first instant of the flight. The
attitude of a sensor is turned by bias and drift about its own axes. The torque of a joint is read
with the `friction` of its bearings, against its motion. No parameter here needs a
simulation of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.spatial import A
from freefloat.dynamics.tree import System
from freefloat.model.parameter_name import ParameterName, is_of_sensor
from freefloat.model.parts import Frame, Placement
from freefloat.model.rotations import (
    conjugate,
    matrix_from_quaternion,
    matrix_from_rotation_vector,
    quaternion_from_rotation_vector,
    quaternion_product,
    right_jacobian,
    rotation_vector_from_quaternion,
)
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.sensor_models import sensor_jacobian, sensor_reading
from freefloat.prediction.time_grid import SampleWeights

AXES = "xyz"
TILTED = ("gyro", "position", "velocity", "accelerometer")  # sensors with three axes of their own
SKEWED = ("gyro", "accelerometer")  # sensors made of three
PLACED = ("position", "velocity", "accelerometer")  # sensors that read the motion of a point
RUBBING = ("joint_torque", "motor_torque")  # sensors with bearings between them and the joint


@dataclass(frozen=True)
class SensorContext:
    """What is asked of a sensor: parameter values, names to differentiate by, its samples.

    weights: where the samples fall between the instants of the segment. since [s]: from when on
    the drift of a bias counts.
    """

    values: Mapping[str, float]
    names: Sequence[str]
    weights: SampleWeights
    since: float

    def three(self, kind: str, group: str) -> Array:
        """The values of a vector such as tilt.base.rate, by axis (3,)."""
        return np.array([self.values.get(f"{kind}.{group}.{axis}", 0.0) for axis in AXES])

    def places(self, kind: str, group: str) -> dict[int, int]:
        """By axis of a vector, its place among the names."""
        wanted = {f"{kind}.{group}.{axis}": k for k, axis in enumerate(AXES)}
        return {wanted[name]: p for p, name in enumerate(self.names) if name in wanted}

    def rows(self, kind: str, rows: Sequence[str]) -> list[tuple[int, int]]:
        """Row and place among the names of parameters such as bias.base.rate.x."""
        wanted = {f"{kind}.{channel}": r for r, channel in enumerate(rows)}
        return [(wanted[name], p) for p, name in enumerate(self.names) if name in wanted]


def predict_measurement(
    measurement: Measurement, system: System, at: FlightSegment, context: SensorContext
) -> tuple[Array, Array, Array]:
    """Readings (N, k), residuals (N, r) and their Jacobian (N, r, names).

    See `Prediction`. Columns of names that a sensor knows nothing of are zero, those of the
    segment's sensitivity included only if they are among the names.
    """
    truth, own = _true_reading(measurement, system, at, context)
    if measurement.is_attitude:
        return _attitude(measurement, truth, context.weights.values(own), context)
    columns = list(measurement.columns)
    truth, weights = truth[:, columns], context.weights
    reading, jacobian = weights.values(truth), weights.values(own[:, columns])
    elapsed = measurement.times - context.since
    gains = [context.values.get(f"gain.{channel}", 1.0) for channel in measurement.rows]
    predicted = gains * reading + _bias(measurement, context, elapsed)
    jacobian = np.array(gains)[:, None] * jacobian
    for r, p in context.rows("gain", measurement.rows):
        jacobian[:, r, p] = reading[:, r]
    for r, p in context.rows("bias", measurement.rows):
        jacobian[:, r, p] = 1.0
    for r, p in context.rows("drift", measurement.rows):
        jacobian[:, r, p] = elapsed
    if f"delay.{measurement.group}" in context.names:
        p = context.names.index(f"delay.{measurement.group}")
        jacobian[:, :, p] = -np.array(gains) * weights.rates(truth)
    if not len(measurement.values):
        return predicted, np.zeros((0, predicted.shape[1])), jacobian
    residual = predicted - measurement.values
    if measurement.sensor.kind == "attitude":  # a planar angle: the nearest turn
        residual = (residual + np.pi) % (2.0 * np.pi) - np.pi
    return predicted, residual, jacobian


def _true_reading(
    measurement: Measurement, system: System, at: FlightSegment, context: SensorContext
) -> tuple[Array, Array]:
    """What a perfect sensor reads where and as this one sits (records, k), and its Jacobian."""
    group, kind = measurement.group, measurement.sensor.kind
    names, target = context.names, measurement.target
    if kind in PLACED:
        system, target = _displace(system, target, group, context.three("offset", group))
    truth = sensor_reading(system, measurement.sensor, target, at)
    truth = truth[:, None] if truth.ndim == 1 else truth
    rows = 3 if measurement.is_attitude else truth.shape[1]
    inner = [p for p, name in enumerate(names) if not is_of_sensor(name)]
    if inner and len(inner) == len(names):
        jacobian = sensor_jacobian(system, measurement.sensor, target, at)
    else:
        jacobian = np.zeros((len(truth), rows, len(names)))
        if inner:
            jacobian[:, :, inner] = sensor_jacobian(system, measurement.sensor, target, at)
    if kind in PLACED:
        for axis, p in context.places("offset", group).items():
            jacobian[:, :, p] = _offset_column(kind, system, target, at, np.eye(3)[axis])
    if kind in SKEWED:
        truth, jacobian = _skew_axes(truth, jacobian, group, context)
    if kind in TILTED:
        truth, jacobian = _turn_axes(truth, jacobian, group, context)
    if kind in RUBBING:
        truth, jacobian = _rub(truth, jacobian, measurement, system, at, context)
    return truth, jacobian


def _displace(system: System, target: str, group: str, offset: Array) -> tuple[System, str]:
    """The system with a frame at the sensor's true place, and what that is called."""
    if not offset.any():
        return system, target
    body, place = target, Placement()
    for frame in system.model.frames:
        if frame.name == target:
            body, place = frame.body, frame.placement
    x, y, z = (place.position + place.rotation @ offset).tolist()
    frame = Frame(group, body, replace(place, xyz=(x, y, z)))
    model = replace(system.model, frames=(frame, *system.model.frames))
    return replace(system, model=model), group


def _offset_column(kind: str, system: System, target: str, at: FlightSegment, e: Array) -> Array:
    """How a reading (records, 3) changes where the sensor is moved along e in its frame's axes."""
    frame = at.frame(system, target)
    if kind == "position":
        return frame.rotation @ e
    if kind == "velocity":
        return np.einsum("nij,nj->ni", frame.rotation, np.cross(frame.rate, e))
    link, R_LF, _ = system.frame_pose(target)
    rows = at.motion.links[:, link]
    to_frame = np.swapaxes(rows[:, :9].reshape(-1, 3, 3) @ R_LF, 1, 2)
    turning = np.einsum("nij,nj->ni", to_frame, rows[:, A : A + 3])
    moved = (frame.rotation @ e)[:, :, None]
    field = system.environment.gravity_change(moved, at.times)[:, :, 0]
    pull = np.einsum("nji,nj->ni", frame.rotation, field)
    return np.cross(turning, e) + np.cross(frame.rate, np.cross(frame.rate, e)) - pull


def _skew_axes(
    truth: Array, jacobian: Array, group: str, context: SensorContext
) -> tuple[Array, Array]:
    """(1 + S) truth and its Jacobian, for axes that are not square."""
    skew, places = context.three("skew", group), context.places("skew", group)
    if not (skew.any() or places):
        return truth, jacobian
    jacobian = np.einsum("ij,njp->nip", np.eye(3) + _symmetric(skew), jacobian)
    for axis, p in places.items():
        jacobian[:, :, p] = truth @ _symmetric(np.eye(3)[axis])
    return truth + truth @ _symmetric(skew), jacobian


def _symmetric(off: Array) -> Array:
    x, y, z = off
    return np.array([[0.0, z, y], [z, 0.0, x], [y, x, 0.0]])


def _rub(
    truth: Array, jacobian: Array, measurement: Measurement, system: System, at: FlightSegment,
    context: SensorContext,
) -> tuple[Array, Array]:  # fmt: skip
    """A torque (records, 1) with the friction between its sensor and the joint, and its slopes."""
    name = f"friction.{measurement.rows[0]}"
    friction = context.values.get(name, 0.0)
    if friction == 0.0 and name not in context.names:
        return truth, jacobian
    motor = f"{measurement.target}.motor"
    is_motor = measurement.sensor.kind == "motor_torque" and motor in system.coordinates
    rates = replace(measurement.sensor, kind="motor_rate" if is_motor else "joint_rate")
    rate = sensor_reading(system, rates, measurement.target, at)
    speed = next(j.friction_speed for j in system.model.joints if j.name == measurement.target)
    sign = np.tanh(rate / speed)
    if friction != 0.0:
        inner = [p for p, n in enumerate(context.names) if not is_of_sensor(n)]
        slope = friction * (1.0 - sign**2)[:, None, None] / speed
        if inner:
            change = sensor_jacobian(system, rates, measurement.target, at)
            jacobian[:, :, inner] += slope * change
    if name in context.names:
        jacobian[:, 0, context.names.index(name)] = sign
    return truth + friction * sign[:, None], jacobian


def _turn_axes(
    truth: Array, jacobian: Array, group: str, context: SensorContext
) -> tuple[Array, Array]:
    """R^T truth and its Jacobian, for axes turned by the rotation vector tilt."""
    tilt = context.three("tilt", group)
    if tilt.any():
        R = matrix_from_rotation_vector(tilt)
        truth, jacobian = truth @ R, R.T @ jacobian
    for axis, p in context.places("tilt", group).items():
        jacobian[:, :, p] = np.cross(truth, right_jacobian(tilt)[:, axis])
    return truth, jacobian


def _bias(measurement: Measurement, context: SensorContext, elapsed: Array) -> Array:
    """Bias and drift of every row: (r,) if constant, else (N, r)."""
    values, rows = context.values, measurement.rows
    bias = [values.get(f"bias.{c}", b) for c, b in zip(rows, measurement.bias, strict=True)]
    drift = np.array([values.get(f"drift.{channel}", 0.0) for channel in rows])
    return bias + np.outer(elapsed, drift) if drift.any() else np.array(bias, dtype=float)


def _attitude(
    measurement: Measurement, truth: Array, jacobian: Array, context: SensorContext
) -> tuple[Array, Array, Array]:
    """A bias turns the reading about sensor axes; the residual is a rotation vector.

    jacobian: the small rotation of the true attitude, in sensor axes, per parameter.
    """
    elapsed = measurement.times - context.since
    if f"delay.{measurement.group}" in context.names:
        p = context.names.index(f"delay.{measurement.group}")
        jacobian[:, :, p] = -_rate(context.weights.values(truth), context.weights.rates(truth))
    truth = context.weights.values(truth)
    predicted = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    bias = _bias(measurement, context, elapsed)
    if bias.any():
        turn = quaternion_from_rotation_vector(bias)
        predicted = quaternion_product(predicted, turn)
        jacobian = np.swapaxes(matrix_from_quaternion(turn), -1, -2) @ jacobian
    for r, p in context.rows("bias", measurement.rows):
        jacobian[:, :, p] = _turn_change(bias, r)
    for r, p in context.rows("drift", measurement.rows):
        jacobian[:, :, p] = elapsed[:, None] * _turn_change(bias, r)
    if not len(measurement.values):
        return predicted, np.zeros((0, 3)), jacobian
    measured = measurement.values / np.linalg.norm(measurement.values, axis=1, keepdims=True)
    residual = rotation_vector_from_quaternion(quaternion_product(conjugate(measured), predicted))
    return predicted, residual, of_rotation_vector(residual, jacobian)


def _rate(quaternion: Array, slope: Array) -> Array:
    """The rate in sensor axes (N, 3) [rad/s] of a quaternion and its derivative by time."""
    turned = quaternion_product(conjugate(quaternion), slope)[:, :3]
    return 2.0 * turned / np.sum(quaternion**2, axis=1, keepdims=True)


def _turn_change(turn: Array, axis: int) -> Array:
    """A column of the right Jacobian of SO(3) at rotation vectors (3,) or (N, 3)."""
    e = np.eye(3)[axis]
    angle = np.maximum(np.linalg.norm(turn, axis=-1, keepdims=True), 1e-4)
    once = np.cross(turn, e)
    return (
        e
        - (1.0 - np.cos(angle)) / angle**2 * once
        + (angle - np.sin(angle)) / angle**3 * np.cross(turn, once)
    )


def of_rotation_vector(residual: Array, jacobian: Array) -> Array:
    """Jacobian of a rotation vector from that of the small rotation at its end.

    The inverse of the right Jacobian of SO(3): Sola, Deray, Atchuthan, "A micro Lie theory",
    eq. 144.
    """
    angle = np.linalg.norm(residual, axis=1)
    if np.max(angle, initial=0.0) < 1e-3:  # theory: the change would be below 5e-4 of the slope
        return jacobian
    half = 0.5 * np.maximum(angle, 1e-6)
    factor = (1.0 - half / np.tan(half)) / (2.0 * half) ** 2
    once = np.cross(residual[:, :, None], jacobian, axis=1)
    twice = np.cross(residual[:, :, None], once, axis=1)
    return jacobian + 0.5 * once + factor[:, None, None] * twice


def reading_change(measurement: Measurement, before: Array, after: Array, residual: Array) -> Array:
    """How residuals (N, r) near `residual` change from readings `before` to `after`, nearby."""
    if measurement.is_attitude:
        turn = rotation_vector_from_quaternion(quaternion_product(conjugate(before), after))
        return of_rotation_vector(residual, turn[:, :, None])[:, :, 0] if len(residual) else turn
    change = after - before
    if measurement.sensor.kind == "attitude":  # a planar angle: the nearest turn
        change -= 2.0 * np.pi * np.round(change / (2.0 * np.pi))
    return change


def is_sensor_parameter(name: str, measurements: Sequence[Measurement]) -> bool:
    """Whether a sensor's parameter belongs to one of the measurements."""
    parsed = ParameterName.parse(name)
    if parsed.kind in ("delay", "tilt", "offset"):
        return any(m.group == parsed.owner for m in measurements)
    return any(parsed.owner in m.rows for m in measurements)
