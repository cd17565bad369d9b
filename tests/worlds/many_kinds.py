"""Everything slightly wrong, as in the real world; alone, and with one thing grossly wrong.

`size` counts standard deviations of what workshops and data sheets promise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from worlds import actuator_kinds, model_kinds, sensor_kinds
from worlds.actuator_kinds import point_elsewhere, sit_elsewhere
from worlds.kinds import Kind, unit_vector
from worlds.mechanism import Readings
from worlds.model_kinds import scale_body, tilt
from worlds.recorder import WORDS, at_times
from worlds.world import World

GAIN = {"base.rate": 1e-3, "base.acceleration": 5e-3, "base.velocity": 1e-3, "base.position": 1e-3}
GROSS = (
    "gyro gain", "gyro delay", "gyro mounting rotation", "accelerometer elsewhere",
    "accelerometer gain", "velocity of another point", "thrust gain", "gain of one thruster",
    "thruster positions", "valve delay", "encoder zero", "gear ratio", "link length", "axis tilt",
    "known arm heavier", "wheel inertia", "drag", "residual gravity", "torque gain",
)  # fmt: skip


def slightly(world: World, size: float, rng: np.random.Generator) -> None:
    """Every assumption off by chance: thrust, arms, wheels, mountings, gains, zeros, delays."""
    _thrusters(world, size, rng)
    _mechanism(world, size, rng)
    _mountings(world, size, rng)
    world.readings.append(lambda world, readings: _readings(world, readings, size, rng))


def _thrusters(world: World, size: float, rng: np.random.Generator) -> None:
    is_planar = world.model.root.type == "planar"
    moved = []
    for thruster in world.model.thrusters:
        gain, delay = 1.0 + 0.02 * size * rng.normal(), 5e-3 * size * abs(rng.normal())
        old, command = world.valves.get(thruster.name), world.thrusts[thruster.name]

        def valve(t, level, old=old, command=command, gain=gain, delay=delay):
            late = command(t - delay)
            return gain * (late if old is None else old(t - delay, late))

        world.valves[thruster.name] = valve
        turned = point_elsewhere(thruster, 0.01 * size * rng.normal(), rng, is_planar)
        moved.append(sit_elsewhere(turned, 2e-3 * size * rng.normal(), rng, is_planar))
    world.model = replace(world.model, thrusters=tuple(moved))


def _mechanism(world: World, size: float, rng: np.random.Generator) -> None:
    is_planar = world.model.root.type == "planar"
    joints = []
    for joint in world.model.joints:
        xyz = np.array(joint.placement.xyz) + 5e-4 * size * rng.normal(size=3) * (
            1.0, 1.0, not is_planar
        )  # fmt: skip
        joint = replace(joint, placement=replace(joint.placement, xyz=tuple(xyz.tolist())))
        joints.append(joint if is_planar else tilt(joint, 1e-3 * size * rng.normal(), rng))
    world.model = replace(world.model, joints=tuple(joints))
    for name in model_kinds.known_bodies(world):
        scale_body(world, name, 1.0 + 0.01 * size * rng.normal())
    wheels = [
        replace(w, inertia=w.inertia * (1.0 + 5e-3 * size * rng.normal()))
        for w in world.model.wheels
    ]
    world.model = replace(world.model, wheels=tuple(wheels))


def _mountings(world: World, size: float, rng: np.random.Generator) -> None:
    """Sensors turned by 2 mrad and, where their place counts, displaced by 1 mm."""
    is_planar = world.model.root.type == "planar"
    for kind in ("gyro", "accelerometer", "attitude", "velocity", "position"):
        xyz, rpy = world.mounts.get(kind, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        turn = 2e-3 * size * rng.normal(size=3) * (not is_planar, not is_planar, 1.0)
        both = Rotation.from_euler("xyz", rpy) * Rotation.from_rotvec(turn)
        moved = np.array(xyz) + 1e-3 * size * unit_vector(rng, is_planar)
        world.mounts[kind] = (tuple(moved.tolist()), tuple(both.as_euler("xyz").tolist()))


def _readings(world: World, readings: Readings, size: float, rng: np.random.Generator) -> None:
    """Gains, biases as large as the noise of a sample, delays of a millisecond; encoder zeros."""
    for group, spread in GAIN.items():
        table = at_times(readings, group, readings.times - 1e-3 * size * abs(rng.normal()))
        readings.groups[group] = table * (1.0 + spread * size * rng.normal(size=3))
    for sensor in world.suite:
        group = f"base.{WORDS[sensor.kind]}"
        if group in GAIN and group != "base.position":
            readings.groups[group] = readings.groups[group] + sensor.noise * size * rng.normal(
                size=3
            )
    for joint in world.model.joints:
        group = f"{joint.name}.position"
        gear, zero = 1.0 + 1e-4 * size * rng.normal(), 1e-3 * size * rng.normal()
        readings.groups[group] = joint.home + gear * (readings.groups[group] - joint.home) + zero


def _with_gross(kind: Kind) -> Kind:
    """One thing grossly wrong, and everything else slightly."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        kind.change(world, size, rng)
        slightly(world, 1.0, rng)

    sizes = kind.sizes[1:] or kind.sizes
    return replace(kind, name=f"{kind.name}, all slightly", sizes=sizes, change=change)


_SINGLE = {k.name: k for t in (sensor_kinds, actuator_kinds, model_kinds) for k in t.KINDS}

KINDS = (
    Kind("all slightly", (), (0.3, 1.0, 2.0), "deviations", slightly),
    *(_with_gross(_SINGLE[name]) for name in GROSS),
)
