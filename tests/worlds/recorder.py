"""From clean readings to a recording: sampling, noise, and what a kind of wrong does to either."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from worlds.mechanism import STEP, Readings, fly
from worlds.world import Array, World

import freefloat as ff
from freefloat.model.checks import sensor_targets
from freefloat.model.parts import Sensor
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import unit_of

WORDS = {
    "gyro": "rate", "attitude": "attitude", "position": "position", "velocity": "velocity",
    "accelerometer": "acceleration", "encoder": "position", "joint_rate": "velocity",
    "joint_torque": "torque", "motor_encoder": "motor_position", "motor_rate": "motor_velocity",
    "wheel_speed": "speed", "thruster": "force",
}  # fmt: skip
AXES = {1: ("",), 3: (".x", ".y", ".z"), 4: (".x", ".y", ".z", ".w")}


@dataclass
class Column:
    """One channel in the making."""

    time: Array
    values: Array
    noise: float | None


Columns = dict[str, Column]


def record(world: World, readings: Readings | None = None) -> ff.Telemetry:
    """Fly a world, unless `readings` of it are there, and write down what its sensors say."""
    readings = readings or fly(world)
    for change in world.readings:
        change(world, readings)
    columns: Columns = {}
    for sensor in world.suite:
        for target in sensor_targets(world.believed, sensor):
            columns |= _columns(world, sensor, target, readings)
    for change in world.recording:
        change(world, columns)
    channels = [
        Channel(name, unit_of(name)[0], c.time, c.values, noise=c.noise)
        for name, c in columns.items()
    ]
    metadata = {"world": world.robot.name}
    if any(name.endswith(".force") for name in columns):
        metadata["thrust"] = "mean until the next sample"
    return ff.Telemetry.of(channels, metadata=metadata)


def group_of(world: World, sensor: Sensor, target: str) -> str:
    """What the channels of a sensor have in common."""
    place = "base" if target == world.model.root.body else target
    return f"{place}.{WORDS[sensor.kind]}"


def _columns(world: World, sensor: Sensor, target: str, readings: Readings) -> Columns:
    group = group_of(world, sensor, target)
    n = int(np.floor(world.duration * sensor.rate + 1e-9)) + 1
    times = np.arange(n) / sensor.rate
    rng = world.stream(group)
    if sensor.kind == "thruster":
        level = commanded_means(world, target, times, sensor.rate)
        noise = sensor.noise * rng.normal(size=n)
        return {group: Column(times, level + noise, sensor.noise or None)}
    clean = at_times(readings, group, times)
    if sensor.kind == "attitude":
        turn = _noise(sensor, rng, n, 3)
        values = (Rotation.from_quat(clean) * Rotation.from_rotvec(turn)).as_quat()
        if world.model.root.type == "planar":
            angle = np.unwrap(2.0 * np.arctan2(values[:, 2], values[:, 3]), period=2.0 * np.pi)
            return {"base.angle": Column(times, angle, total_noise(sensor))}
        same = np.sign(np.sum(values[1:] * values[:-1], axis=1))
        values[1:] *= np.cumprod(same)[:, None]
    else:
        clean = clean[:, None] if clean.ndim == 1 else clean
        values = clean + _noise(sensor, rng, n, clean.shape[1])
    return {
        group + axis: Column(times, values[:, k], total_noise(sensor))
        for k, axis in enumerate(AXES[values.shape[1]])
    }


def total_noise(sensor: Sensor) -> float:
    """The standard deviation of a sample, white and coloured together."""
    return float(np.hypot(sensor.noise, sensor.coloured.sigma if sensor.coloured else 0.0))


def _noise(sensor: Sensor, rng: np.random.Generator, n: int, width: int) -> Array:
    noise = sensor.noise * rng.normal(size=(n, width))
    if sensor.coloured is not None:
        keep = float(np.exp(-1.0 / (sensor.rate * sensor.coloured.time)))
        value = rng.normal(size=width)
        for k in range(n):
            noise[k] += sensor.coloured.sigma * value
            value = keep * value + np.sqrt(1.0 - keep**2) * rng.normal(size=width)
    return noise


def at_times(readings: Readings, group: str, times: Array) -> Array:
    """Clean readings at any times [s]; before the start the first one."""
    table = readings.groups[group]
    rows = np.round(times / readings.times[1]).astype(int)
    if rows[-1] < len(table) and np.allclose(readings.times[rows], times, atol=1e-9, rtol=0.0):
        return table[rows]
    inside = np.clip(times, readings.times[0], readings.times[-1])
    values = CubicSpline(readings.times, table, axis=0)(inside)
    if group.endswith(".attitude"):
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values


def commanded_means(world: World, name: str, times: Array, rate: float) -> Array:
    """What a thruster was told to push [N], on the mean until the next sample."""
    n = round(world.duration / STEP)
    level = world.thrusts[name](STEP * np.arange(n))
    impulse = np.concatenate([[0.0], np.cumsum(level * STEP)])
    end = np.minimum(times + 1.0 / rate, world.duration)
    grid = STEP * np.arange(n + 1)
    means = (np.interp(end, grid, impulse) - np.interp(times, grid, impulse)) * rate
    return np.where(np.abs(means) > 1e-12, means, 0.0)
