"""What the model would have read, minus what was read, in units of the noise; with slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import observe
from freefloat.dynamics.sensitivity import Sensitivity, integrate_with_sensitivity
from freefloat.dynamics.tree import System
from freefloat.identification.output_error.recording import Recording
from freefloat.model.parameter_name import ParameterName
from freefloat.model.rotations import (
    conjugate,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.prediction.measurements import Stream
from freefloat.prediction.sensor_jacobians import reading_slopes
from freefloat.prediction.sensor_models import FlightSegment, readings

START_PLACES = {"position": 0, "attitude": 3, "velocity": 7, "rate": 10}


@dataclass(frozen=True)
class Readings:
    """Predicted minus measured of one stream: errors (N, r) in its unit, slopes (N, r, names)."""

    errors: Array
    slopes: Array


def is_of_sensor(name: str) -> bool:
    """Whether a parameter belongs to a sensor rather than to the dynamics."""
    return ParameterName.parse(name).is_of_sensor


def started(system: System, start: Array, values: Mapping[str, float]) -> Array:
    """The nominal start changed by the `start.*` values."""
    x = start.copy()
    turn = np.zeros(3)
    c = system.n_coordinates
    for name, value in values.items():
        if not name.startswith("start.") or value == 0.0:
            continue
        part, _, field = name.removeprefix("start.").rpartition(".")
        if part == "attitude":
            turn["xyz".index(field)] = value
        elif part in START_PLACES:
            x[START_PLACES[part] + "xyz".index(field)] += value
        else:
            place = 13 + system.coordinates.index(part) + c * (field == "velocity")
            x[place] += value
    if turn.any():
        x[3:7] = quaternion_product(x[3:7], quaternion_from_rotation_vector(turn))
    return x


def predicted_errors(
    recording: Recording, system: System, values: Mapping[str, float], names: Sequence[str]
) -> list[Readings] | None:
    """Errors of every stream and their slopes by `names`; None where the flight is not finite.

    values: of `start.*`, `bias.*`, `gain.*` and `delay.*`, wherever they are not nominal.
    """
    inner = [name for name in names if not is_of_sensor(name)]
    flown = integrate_with_sensitivity(
        system, started(system, recording.start, values), inner, inputs=recording.inputs,
        step=recording.step, n_steps=(recording.n_records - 1) * recording.every,
        every=recording.every, time=recording.first, with_efforts=recording.needs_forces,
    )  # fmt: skip
    if not np.all(np.isfinite(flown.states[-1])) or not np.all(np.isfinite(flown.tangents[-1])):
        return None
    inputs, times = recording.record_inputs, recording.times
    motion = observe(system, flown.states, inputs=inputs, times=times)
    at = FlightSegment(times, flown.states, motion, inputs)
    return [
        _errors(recording, k, system, at, flown, values, list(names))
        for k in range(len(recording.streams))
    ]


def _errors(
    recording: Recording, k: int, system: System, at: FlightSegment, flown: Sensitivity,
    values: Mapping[str, float], names: list[str],
) -> Readings:  # fmt: skip
    stream = recording.streams[k]
    (truth,) = readings(system, stream.sensor, at).values()
    truth = truth[:, None] if truth.ndim == 1 else truth
    own = reading_slopes(system, stream.sensor, stream.target, at, flown)
    if not stream.is_attitude:
        truth, own = truth[:, stream.columns], own[:, stream.columns]
    taps = recording.taps(k, values.get(f"delay.{stream.prefix}"))
    slopes = np.zeros((len(stream.times), own.shape[1], len(names)))
    inner = [p for p, name in enumerate(names) if not is_of_sensor(name)]
    slopes[:, :, inner] = taps.values(own)
    if stream.is_attitude:
        return _attitude(stream, taps.values(truth), slopes, values, names)
    reading, error = taps.values(truth), np.empty((len(stream.times), own.shape[1]))
    for r, channel in enumerate(stream.rows):
        gain = values.get(f"gain.{channel}", 1.0)
        error[:, r] = gain * reading[:, r] + values.get(f"bias.{channel}", stream.bias[r])
        slopes[:, r] *= gain
        for p, name in enumerate(names):
            if name == f"gain.{channel}":
                slopes[:, r, p] = reading[:, r]
            elif name == f"bias.{channel}":
                slopes[:, r, p] = 1.0
            elif name == f"delay.{stream.prefix}":
                slopes[:, r, p] = -gain * taps.rates(truth)[:, r]
    error -= stream.values
    if stream.sensor.kind == "attitude":  # a planar angle: the nearest turn
        error = (error + np.pi) % (2.0 * np.pi) - np.pi
    return Readings(error, slopes)


def _attitude(
    stream: Stream, truth: Array, slopes: Array, values: Mapping[str, float], names: list[str]
) -> Readings:
    bias = np.array(
        [values.get(f"bias.{c}", b) for c, b in zip(stream.rows, stream.bias, strict=True)]
    )
    reading = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    if bias.any():
        reading = quaternion_product(reading, quaternion_from_rotation_vector(bias))
    measured = stream.values / np.linalg.norm(stream.values, axis=1, keepdims=True)
    error = rotation_vector_from_quaternion(quaternion_product(conjugate(measured), reading))
    for p, name in enumerate(names):
        for r, channel in enumerate(stream.rows):
            if name == f"bias.{channel}":
                slopes[:, r, p] = 1.0
    return Readings(error, _turned(error, slopes))


def _turned(error: Array, slopes: Array) -> Array:
    """Slopes of a rotation vector from those of the small rotation at its end."""
    angle = np.linalg.norm(error, axis=1)
    if np.max(angle, initial=0.0) < 1e-3:
        return slopes
    half = 0.5 * np.maximum(angle, 1e-6)
    factor = (1.0 - half / np.tan(half)) / (2.0 * half) ** 2
    once = np.cross(error[:, :, None], slopes, axis=1)
    twice = np.cross(error[:, :, None], once, axis=1)
    return slopes + 0.5 * once + factor[:, None, None] * twice


def right_jacobian(turn: Array) -> Array:
    """How a small change of a rotation vector turns its end: 3x3."""
    angle = float(np.linalg.norm(turn))
    x, y, z = turn
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-6:
        return np.eye(3) - 0.5 * K
    return (
        np.eye(3)
        - (1.0 - np.cos(angle)) / angle**2 * K
        + (angle - np.sin(angle)) / angle**3 * K @ K
    )
