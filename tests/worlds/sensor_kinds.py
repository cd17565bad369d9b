"""Sensors that are not what the model says: bias, gain, delay, mounting, axes, frames."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from worlds.kinds import Change, Kind, unit_vector
from worlds.mechanism import Readings
from worlds.recorder import at_times
from worlds.world import World


def of_reading(group: str, alter) -> Change:
    """Readings of a group through alter(values, size, rng, times)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        def act(world: World, readings: Readings) -> None:
            old = readings.groups[group]
            readings.groups[group] = alter(old, size, rng, readings.times)

        world.readings.append(act)

    return change


def add_bias(values, size, rng, times):
    return values + size * rng.choice([-1.0, 1.0], values.shape[1])


def add_walk(values, size, rng, times):
    """A random walk, `size` large on the mean after the whole flight."""
    steps = rng.normal(size=values.shape) / np.sqrt(len(times))
    return values + size * np.cumsum(steps, axis=0)


def scale(values, size, rng, times):
    return values * (1.0 + size)


def scale_one_axis(values, size, rng, times):
    factors = np.ones(3)
    factors[int(rng.integers(3))] += size
    return values * factors


def bend(values, size, rng, times):
    """A scale factor that grows with the reading: by `size` at its largest."""
    return values * (1.0 + size * np.abs(values) / np.max(np.abs(values)))


def mix(values, size, rng, times):
    """Axes that are not square to each other."""
    return values @ (np.eye(3) + size * np.triu(rng.choice([-1.0, 1.0], (3, 3)), 1))


def swap(values, size, rng, times):
    return values[:, [1, 0, 2]]


def flip(values, size, rng, times):
    return values * (1.0, 1.0, -1.0)


def late(group: str) -> Change:
    """A delay [s]."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        def act(world: World, readings: Readings) -> None:
            readings.groups[group] = at_times(readings, group, readings.times - size)

        world.readings.append(act)

    return change


def turned(sensor: str) -> Change:
    """A sensor that is mounted at an angle [rad]; in the plane about its normal."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        is_planar = world.model.root.type == "planar"
        axis = np.array([0.0, 0.0, 1.0]) if is_planar else unit_vector(rng)
        rpy = Rotation.from_rotvec(size * axis).as_euler("xyz")
        world.mounts[sensor] = ((0.0, 0.0, 0.0), tuple(rpy.tolist()))

    return change


def displaced(sensor: str) -> Change:
    """A sensor that sits elsewhere [m]."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        xyz = size * unit_vector(rng, world.model.root.type == "planar")
        world.mounts[sensor] = (tuple(xyz.tolist()), (0.0, 0.0, 0.0))

    return change


def other_frame(group: str, *, into_body: bool) -> Change:
    """World components written down as if in body axes, or the other way round."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        def act(world: World, readings: Readings) -> None:
            R = Rotation.from_quat(readings.groups["base.attitude"])
            readings.groups[group] = R.apply(readings.groups[group], inverse=into_body)

        world.readings.append(act)

    return change


def quaternion(alter) -> Change:
    """A quaternion written down otherwise than x, y, z, w from body to world."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        # an attitude that is not near zero, as those of real flights
        turn = Rotation.from_rotvec([0.4, -0.3, 0.5])

        def act(world: World, readings: Readings) -> None:
            for name in ("base.position", "base.velocity"):
                readings.groups[name] = turn.apply(readings.groups[name])
            q = (turn * Rotation.from_quat(readings.groups["base.attitude"])).as_quat()
            readings.groups["base.attitude"] = alter(q)

        world.readings.append(act)

    return change


RATE, ATTITUDE, FORCE = "base.rate", "base.attitude", "base.acceleration"
VELOCITY, POSITION = "base.velocity", "base.position"
ACC, TRACK = "accelerometer", "position"

KINDS = (
    Kind("gyro bias", ("bias.base.rate*",), (2e-5, 2e-4, 2e-3), "rad/s",
         of_reading(RATE, add_bias), sensor="gyro"),
    Kind("gyro bias walk", ("walk.base.rate*", "drift.base.rate*", "bias.base.rate*"),
         (1e-4, 1e-3, 1e-2), "rad/s",
         of_reading(RATE, add_walk), sensor="gyro"),
    Kind("gyro gain", ("gain.base.rate*",), (1e-3, 1e-2, 0.1), "1",
         of_reading(RATE, scale), sensor="gyro"),
    Kind("gyro gain of one axis", ("gain.base.rate*",), (1e-3, 1e-2, 0.1), "1",
         of_reading(RATE, scale_one_axis), sensor="gyro", root="floating"),
    Kind("gyro not linear", ("bend.base.rate*", "gain.base.rate*"), (2e-3, 0.02, 0.2), "1",
         of_reading(RATE, bend), sensor="gyro"),
    Kind("gyro axes not square", ("skew.base.rate*", "tilt.base.rate*"), (1e-3, 0.01, 0.1), "rad",
         of_reading(RATE, mix), sensor="gyro", root="floating"),
    Kind("gyro delay", ("delay.base.rate*",), (5e-3, 0.03, 0.2), "s", late(RATE), sensor="gyro"),
    Kind("gyro mounting rotation", ("tilt.base.rate*",),
         (2e-3, 0.02, 0.2), "rad", turned("gyro"), sensor="gyro", root="floating"),
    Kind("gyro axes swapped", ("swap.base.rate*", "tilt.base.rate*"),
         (1.0,), "1", of_reading(RATE, swap), sensor="gyro", root="floating"),
    Kind("gyro sign flipped", ("sign.base.rate*", "gain.base.rate*"),
         (1.0,), "1", of_reading(RATE, flip), sensor="gyro"),
    Kind("gyro in world axes", ("frame.base.rate*",), (1.0,), "1",
         other_frame(RATE, into_body=False), sensor="gyro", root="floating"),
    Kind("attitude mounting rotation", ("bias.base.attitude*", "tilt.base.attitude*"),
         (2e-3, 0.02, 0.2), "rad", turned("attitude"), sensor="attitude", root="floating"),
    Kind("attitude delay", ("delay.base.attitude*", "delay.base.angle*"), (5e-3, 0.03, 0.2), "s",
         late(ATTITUDE), sensor="attitude"),
    Kind("quaternion scalar first", ("order.base.attitude*",), (1.0,), "1",
         quaternion(lambda q: q[:, [3, 0, 1, 2]]), sensor="attitude", root="floating"),
    Kind("quaternion from world to body", ("direction.base.attitude*",),
         (1.0,), "1", quaternion(lambda q: q * (-1.0, -1.0, -1.0, 1.0)), sensor="attitude",
         root="floating"),
    Kind("accelerometer bias", ("bias.base.acceleration*",), (2e-4, 2e-3, 2e-2), "m/s^2",
         of_reading(FORCE, add_bias), sensor=ACC),
    Kind("accelerometer gain", ("gain.base.acceleration*",), (5e-3, 0.05, 0.3), "1",
         of_reading(FORCE, scale), sensor=ACC),
    Kind("accelerometer mounting rotation",
         ("tilt.base.acceleration*",), (5e-3, 0.05, 0.5), "rad",
         turned(ACC), sensor=ACC),
    Kind("accelerometer elsewhere", ("offset.base.acceleration*",),
         (0.01, 0.1, 0.5), "m", displaced(ACC), sensor=ACC),
    Kind("accelerometer delay", ("delay.base.acceleration*",), (0.01, 0.05, 0.3), "s",
         late(FORCE), sensor=ACC),
    Kind("velocity gain", ("gain.base.velocity*",), (5e-3, 0.05, 0.3), "1",
         of_reading(VELOCITY, scale), sensor="velocity"),
    Kind("velocity bias walk",
         ("walk.base.velocity*", "drift.base.velocity*", "bias.base.velocity*"),
         (1e-3, 1e-2, 0.1), "m/s", of_reading(VELOCITY, add_walk), sensor="velocity"),
    Kind("velocity in body axes", ("frame.base.velocity*",), (1.0,), "1",
         other_frame(VELOCITY, into_body=True), sensor="velocity"),
    Kind("velocity of another point", ("offset.base.velocity*",),
         (0.01, 0.1, 0.5), "m", displaced("velocity"), sensor="velocity"),
    Kind("velocity delay", ("delay.base.velocity*",), (0.01, 0.05, 0.3), "s",
         late(VELOCITY), sensor="velocity"),
)  # fmt: skip
