"""The noise of a sensor, and from truth to what it reports: bias, rounding, saturation, dropout.

Every channel draws from its own random stream (seed and channel name), so that adding a sensor
never changes what another one reads.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

from freefloat.arrays import Array
from freefloat.model.parts import Coloured, Sensor
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import unit_of

# format: endings of the channels of a reading with so many numbers
SUFFIXES = {1: ("",), 3: (".x", ".y", ".z"), 4: (".x", ".y", ".z", ".w")}

# theory: without noise information would be infinite; float32 telemetry resolves 6e-8 of a value
QUIETEST = 1e-6  # of its root mean square: the noise a sensor is given that claims to have none


def random_stream(seed: int, name: str) -> np.random.Generator:
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
    rng = random_stream(seed, f"{name}:{sensor.kind}")
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
                noise=sample_noise(sensor) or None,
            )
        )
    return channels


def sample_noise(sensor: Sensor, *, is_averaged: bool = False) -> float:
    """The standard deviation of a sample: white noise, coloured noise and rounding together.

    Args:
        sensor: Its noise, coloured noise and quantisation step.
        is_averaged: Count coloured noise as the white noise that is as strong at low frequencies:
            what is left when many samples are averaged, as every fit of a few parameters does.

    Returns:
        In the unit of the channel; of an attitude, of the rotation about each axis [rad].

    >>> from freefloat.model.parts import Coloured, Sensor
    >>> gyro = Sensor("gyro", "bus", 10.0, noise=3e-4, coloured=Coloured(sigma=4e-4, time=5.0))
    >>> round(sample_noise(gyro), 6), round(sample_noise(gyro, is_averaged=True), 6)
    (0.0005, 0.004011)
    """
    coloured = sensor.coloured.sigma if sensor.coloured is not None else 0.0
    if is_averaged and sensor.coloured is not None:
        # theory: 2 tau f samples err together, so that averaging gains as much less
        coloured *= math.sqrt(max(1.0, 2.0 * sensor.coloured.time * sensor.rate))
    # theory: rounding to a step s has the variance s^2 / 12
    return math.hypot(sensor.noise, coloured, sensor.quantisation / math.sqrt(12.0))


def counted_noise(sensor: Sensor, values: Array) -> float:
    """`sample_noise` of averaged samples; a sensor that claims none gets QUIETEST of its values."""
    quiet = max(QUIETEST * float(np.sqrt(np.mean(values**2))), 1e-12)
    return sample_noise(sensor, is_averaged=True) or quiet


def _disturbance(sensor: Sensor, times: Array, width: int, rng: np.random.Generator) -> Array:
    noise = sensor.noise * rng.standard_normal((len(times), width))
    if sensor.coloured is not None:
        noise += gauss_markov(sensor.coloured, len(times), width, 1.0 / sensor.rate, rng)
    bias = np.zeros(width)
    if sensor.bias:
        # of an attitude that is one angle, that about z
        bias = np.broadcast_to(np.array(sensor.bias, dtype=float)[-width:], (width,))
    return noise + bias


def gauss_markov(
    coloured: Coloured, n: int, width: int, interval: float, rng: np.random.Generator
) -> Array:
    """First-order coloured noise (n, width) `interval` [s] apart, stationary from the first."""
    from scipy.signal import lfilter

    keep = np.exp(-interval / coloured.time)
    white = rng.standard_normal((n, width))
    drive = np.sqrt(1.0 - keep**2) * white
    drive[0] = white[0]
    return coloured.sigma * np.asarray(lfilter([1.0], [1.0, -keep], drive, axis=0))


def _digital(sensor: Sensor, values: Array) -> Array:
    if sensor.saturation is not None:
        values = np.clip(values, -sensor.saturation, sensor.saturation)
    return _round_to(values, sensor.quantisation)


def _round_to(values: Array, step: float) -> Array:
    return np.round(values / step) * step if step > 0.0 else values


def _attitude(sensor: Sensor, times: Array, truth: Array, rng: np.random.Generator) -> Array:
    """Attitude errors are small rotations in sensor axes; the sign never flips along the way.

    A quaternion changes by half a small rotation, so its components are rounded to half the step.
    """
    error = _disturbance(sensor, times, 3, rng)
    values = quaternion_product(truth, quaternion_from_rotation_vector(error))
    values = _round_to(values, 0.5 * sensor.quantisation)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    flips = np.cumprod(np.where(np.sum(values[1:] * values[:-1], axis=1) < 0.0, -1.0, 1.0))
    values[1:] *= flips[:, None]
    return values
