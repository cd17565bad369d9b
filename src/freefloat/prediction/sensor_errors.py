"""From truth to what a sensor reports: delay, noise, bias, quantisation, saturation, dropout.

Every channel draws from its own random stream (seed and channel name), so that adding a sensor
never changes what another one reads.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

from freefloat.arrays import Array
from freefloat.model.parts import Sensor
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import unit_of

SUFFIXES = {1: ("",), 3: (".x", ".y", ".z"), 4: (".x", ".y", ".z", ".w")}


def stream(seed: int, name: str) -> np.random.Generator:
    """The random stream of one channel group."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def sample_times(sensor: Sensor, duration: float) -> Array:
    """When the sensor reports [s], the start included."""
    n = int(np.floor(duration * sensor.rate * (1.0 + 1e-12))) + 1
    return np.arange(n) / sensor.rate


def report(
    sensor: Sensor, name: str, times: Array, truth: Array, *, seed: int, unit: str | None = None
) -> list[Channel]:
    """The channels a sensor writes for noise-free readings `truth` (N,), (N, 3) or (N, 4).

    `truth` is already taken at the times minus the sensor's delay. `unit` need only be given where
    it does not follow from the name. The noise noted on the channels is that of a single sample,
    coloured noise and rounding included: for an attitude, of the small rotation about each axis
    [rad].
    """
    rng = stream(seed, f"{name}:{sensor.kind}")
    table = truth[:, None] if truth.ndim == 1 else truth
    if table.shape[1] == 4:
        values = _attitude(sensor, times, table, rng)
    else:
        values = table + _disturbance(sensor, times, table.shape[1], rng)
        values = _digital(sensor, values)
    keep = rng.random(len(times)) >= sensor.dropout
    channels = []
    for k, suffix in enumerate(SUFFIXES[table.shape[1]]):
        channels.append(
            Channel(
                name + suffix,
                unit or unit_of(name + suffix)[0],
                times[keep],
                values[keep, k],
                np.ones(int(keep.sum()), dtype=bool),
                noise=_noise_level(sensor) or None,
            )
        )
    return channels


def _noise_level(sensor: Sensor) -> float:
    """The standard deviation of a sample: white noise, coloured noise and rounding together."""
    coloured = sensor.coloured.sigma if sensor.coloured is not None else 0.0
    return math.hypot(sensor.noise, coloured, sensor.quantisation / math.sqrt(12.0))


def _disturbance(sensor: Sensor, times: Array, width: int, rng: np.random.Generator) -> Array:
    noise = sensor.noise * rng.standard_normal((len(times), width))
    if sensor.coloured is not None:
        noise += _gauss_markov(sensor, times, width, rng)
    bias = np.zeros(width)
    if sensor.bias:
        bias = np.broadcast_to(np.array(sensor.bias, dtype=float), (width,))
    return noise + bias


def _gauss_markov(sensor: Sensor, times: Array, width: int, rng: np.random.Generator) -> Array:
    """First-order coloured noise, stationary from the first sample."""
    from scipy.signal import lfilter

    assert sensor.coloured is not None
    keep = np.exp(-1.0 / (sensor.rate * sensor.coloured.time))
    white = rng.standard_normal((len(times), width))
    drive = np.sqrt(1.0 - keep**2) * white
    drive[0] = white[0]
    return sensor.coloured.sigma * np.asarray(lfilter([1.0], [1.0, -keep], drive, axis=0))


def _digital(sensor: Sensor, values: Array) -> Array:
    if sensor.saturation is not None:
        values = np.clip(values, -sensor.saturation, sensor.saturation)
    return _rounded(values, sensor.quantisation)


def _rounded(values: Array, step: float) -> Array:
    return np.round(values / step) * step if step > 0.0 else values


def _attitude(sensor: Sensor, times: Array, truth: Array, rng: np.random.Generator) -> Array:
    """Attitude errors are small rotations in sensor axes; the sign never flips along the way.

    A quaternion changes by half a small rotation, so its components are rounded to half the step.
    """
    error = _disturbance(sensor, times, 3, rng)
    values = quaternion_product(truth, quaternion_from_rotation_vector(error))
    values = _rounded(values, 0.5 * sensor.quantisation)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    flips = np.cumprod(np.where(np.sum(values[1:] * values[:-1], axis=1) < 0.0, -1.0, 1.0))
    values[1:] *= flips[:, None]
    return values
