"""Thrusters and joints that do not do what is written down of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation
from worlds.kinds import Change, Kind, unit_vector
from worlds.mechanism import STEP, Readings
from worlds.recorder import at_times
from worlds.world import World


def valves(alter, *, share: float = 1.0) -> Change:
    """What thrusters push: alter(times, levels, size, command), for all of them or for one."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        names = list(world.thrusts)
        if share < 1.0:
            names = [names[int(rng.integers(len(names)))]]
            world.part = names[0]
        for name in names:
            command = world.thrusts[name]
            world.valves[name] = lambda t, level, c=command: alter(t, level, size, c)

    return change


def leak(t, level, size, command):
    """A share of its force even when closed."""
    return np.maximum(level, size * np.max(command(np.arange(0.0, 40.0, 0.1))))


def moved_thruster(alter) -> Change:
    """Every thruster is somewhere else, or points elsewhere."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        is_planar = world.model.root.type == "planar"
        new = tuple(alter(t, size, rng, is_planar) for t in world.model.thrusters)
        world.model = replace(world.model, thrusters=new)

    return change


def point_elsewhere(thruster, size, rng, is_planar):
    axis = np.array([0.0, 0.0, rng.choice([-1.0, 1.0])]) if is_planar else unit_vector(rng)
    direction = Rotation.from_rotvec(size * axis).apply(thruster.direction)
    return replace(thruster, direction=tuple(direction.tolist()))


def sit_elsewhere(thruster, size, rng, is_planar):
    position = np.array(thruster.position) + size * unit_vector(rng, is_planar)
    return replace(thruster, position=tuple(position.tolist()))


def shift_thrusters(world: World, size: float, rng: np.random.Generator) -> None:
    """All thrusters are displaced alike: somebody measured them from another datum."""
    away = size * unit_vector(rng, world.model.root.type == "planar")
    moved = [
        replace(t, position=tuple((np.array(t.position) + away).tolist()))
        for t in world.model.thrusters
    ]
    world.model = replace(world.model, thrusters=tuple(moved))


def joint_of(world: World, rng: np.random.Generator) -> str:
    """One of the joints, by chance."""
    names = [joint.name for joint in world.model.joints]
    world.part = names[int(rng.integers(len(names)))]
    return world.part


def encoder(alter) -> Change:
    """The encoder of one joint through alter(position, size, home)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        name = joint_of(world, rng)

        def act(world: World, readings: Readings) -> None:
            group = f"{name}.position"
            home = world.model.joint(name).home
            readings.groups[group] = alter(readings.groups[group], size, home)

        world.readings.append(act)

    return change


def wrong_gear(world: World, size: float, rng: np.random.Generator) -> None:
    """Position and rate of one joint by a wrong ratio."""
    name = joint_of(world, rng)

    def act(world: World, readings: Readings) -> None:
        home, groups = world.model.joint(name).home, readings.groups
        groups[f"{name}.position"] = home + (groups[f"{name}.position"] - home) * (1.0 + size)
        groups[f"{name}.velocity"] = groups[f"{name}.velocity"] * (1.0 + size)

    world.readings.append(act)


def late_joints(world: World, size: float, rng: np.random.Generator) -> None:
    """All encoders and joint rates are old [s]."""

    def act(world: World, readings: Readings) -> None:
        for joint in world.model.joints:
            for word in ("position", "velocity"):
                group = f"{joint.name}.{word}"
                readings.groups[group] = at_times(readings, group, readings.times - size)

    world.readings.append(act)


def late_encoder(world: World, size: float, rng: np.random.Generator) -> None:
    """Position and rate of one joint are old [s]."""
    name = joint_of(world, rng)

    def act(world: World, readings: Readings) -> None:
        for word in ("position", "velocity"):
            group = f"{name}.{word}"
            readings.groups[group] = at_times(readings, group, readings.times - size)

    world.readings.append(act)


def soft_joint(world: World, size: float, rng: np.random.Generator) -> None:
    """A spring behind the encoder of one joint: its outer part rings at `size` [Hz]."""
    joints = [joint.name for joint in world.model.joints]
    name = world.part = joints[int(rng.integers(min(3, len(joints))))]
    outer = _outer_inertia(world, name)
    stiffness = outer * (2.0 * np.pi * size) ** 2
    world.soft[name] = (float(stiffness), float(0.04 * np.sqrt(stiffness * outer)))


def _outer_inertia(world: World, name: str) -> float:
    """About what hangs on a joint [kg m^2], stretched out."""
    order = world.model.assembly.joints
    inside, at, total = {world.model.joint(name).child: 0.0}, 0.0, 0.0
    for joint in order:
        if joint.parent in inside:
            at = inside[joint.parent] + float(np.linalg.norm(joint.placement.xyz))
            inside[joint.child] = at
    for body, reach in inside.items():
        part = world.model.body(body)
        total += part.mass * (reach + float(np.linalg.norm(part.com))) ** 2
        total += float(np.max(part.inertia))
    return 0.5 * total


def backlash(world: World, size: float, rng: np.random.Generator) -> None:
    """Play of `size` [rad] between the encoder of one joint and its link."""
    name = joint_of(world, rng)
    motor = world.motions[name]
    t = np.arange(-1.0, world.duration + 1.0, STEP)
    wanted, link = motor(t), np.empty(len(t))
    link[0] = wanted[0]
    for k in range(1, len(t)):
        link[k] = np.clip(link[k - 1], wanted[k] - 0.5 * size, wanted[k] + 0.5 * size)
    smooth = CubicSpline(t, gaussian_filter1d(link, 0.05 / STEP))
    world.motions[name] = smooth
    rate = CubicSpline(t, wanted).derivative()

    def act(world: World, readings: Readings) -> None:
        readings.groups[f"{name}.position"] = motor(readings.times)
        readings.groups[f"{name}.velocity"] = rate(readings.times)

    world.readings.append(act)


def torques(alter) -> Change:
    """The torque sensors of all joints through alter(torque, rate, size)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        def act(world: World, readings: Readings) -> None:
            for joint in world.model.joints:
                group, rate = f"{joint.name}.torque", readings.groups[f"{joint.name}.velocity"]
                readings.groups[group] = alter(readings.groups[group], rate, size)

        world.readings.append(act)

    return change


def flip_torque(world: World, size: float, rng: np.random.Generator) -> None:
    """The torque sensor of one joint has the other sign."""
    group = f"{joint_of(world, rng)}.torque"
    world.readings.append(
        lambda world, readings: readings.groups.update({group: -readings.groups[group]})
    )


def swap_joints(world: World, size: float, rng: np.random.Generator) -> None:
    """Two neighbouring joints are written down under each other's name."""
    names = [joint.name for joint in world.model.joints]
    k = int(rng.integers(len(names) - 1))

    def act(world: World, readings: Readings) -> None:
        for word in ("position", "velocity", "torque"):
            a, b = (f"{name}.{word}" for name in names[k : k + 2])
            readings.groups[a], readings.groups[b] = readings.groups[b], readings.groups[a]

    world.readings.append(act)


def wheel_speed(alter) -> Change:
    """What is written down of the wheels' speed through alter(speed, size)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        def act(world: World, readings: Readings) -> None:
            for wheel in world.believed.wheels:
                group = f"{wheel.name}.speed"
                readings.groups[group] = alter(readings.groups[group], size)

        world.readings.append(act)

    return change


KINDS = (
    Kind("thrust gain", ("thr_*.gain",), (0.01, 0.05, 0.2), "1",
         valves(lambda t, level, size, c: level * (1.0 + size)), part="thrusters"),
    Kind("gain of one thruster", ("thr_*.gain",), (0.02, 0.1, 0.4), "1",
         valves(lambda t, level, size, c: level * (1.0 - size), share=0.0), part="thrusters"),
    Kind("one thruster dead", ("thr_*.gain",), (1.0,), "1",
         valves(lambda t, level, size, c: 0.0 * level, share=0.0), part="thrusters"),
    Kind("one thruster leaks", ("thr_*.bias",), (2e-3, 2e-2, 0.1), "1",
         valves(leak, share=0.0), part="thrusters"),
    Kind("thrust directions", ("thr_*.tilt*",),
         (0.01, 0.05, 0.2), "rad", moved_thruster(point_elsewhere), part="thrusters"),
    Kind("thruster positions", ("thr_*.offset*",), (0.005, 0.03, 0.1), "m",
         moved_thruster(sit_elsewhere), part="thrusters"),
    Kind("all thrusters displaced", ("thr_*.offset*",), (2e-3, 0.02, 0.1), "m", shift_thrusters,
         part="thrusters"),
    Kind("valve delay", ("thr_*.delay",), (0.01, 0.05, 0.3), "s",
         valves(lambda t, level, size, c: c(t - size)), part="thrusters"),
    Kind("digital hold of thrust", ("thr_*.hold", "thr_*.delay"),
         (0.05, 0.2, 1.0), "s",
         valves(lambda t, level, size, c: c(size * np.floor(t / size + 1e-9))), part="thrusters"),
    Kind("slow valves", ("thr_*.delay",), (0.05, 0.2, 0.6), "s",
         valves(lambda t, level, size, c: np.mean(
             [c(t - s) for s in size * np.array([0.0, 0.2, 0.5, 0.9, 1.4, 2.2])], axis=0)),
         part="thrusters"),
    Kind("thrust fades", ("thr_*.fade",), (0.02, 0.1, 0.5), "1",
         valves(lambda t, level, size, c: level * (1.0 - size * t / 40.0)), part="thrusters"),
    Kind("wheel sign", ("rw.gear", "rw.inertia"), (1.0,), "1",
         wheel_speed(lambda speed, size: -speed), part="wheels"),
    Kind("wheel in revolutions per minute", ("rw.gear", "rw.inertia"), (9.549296585513721,), "1",
         wheel_speed(lambda speed, size: speed * size), part="wheels"),
    Kind("joints swapped", (), (1.0,), "1", swap_joints, part="joints"),
    Kind("torque sign", ("gain.*.torque",), (1.0,), "1", flip_torque, part="joints",
         sensor="joint_torque"),
    Kind("encoder zero", ("*.zero",), (2e-3, 0.02, 0.2), "rad",
         encoder(lambda q, size, home: q + size), part="joints"),
    Kind("gear ratio", ("*.gear",), (2e-3, 0.02, 0.1), "1", wrong_gear,
         part="joints"),
    Kind("encoder sign", ("*.gear", "sign.*"), (1.0,), "1",
         encoder(lambda q, size, home: home - (q - home)), part="joints"),
    Kind("encoder delay of one joint", ("*.delay",), (0.01, 0.05, 0.3), "s", late_encoder,
         part="joints"),
    Kind("encoder delay of all joints", ("*_?.delay", "delay.base*"), (0.005, 0.03, 0.2),
         "s", late_joints, part="joints"),
    Kind("quantised encoders", (), (1e-4, 2e-3, 0.02), "rad",
         lambda world, size, rng: _quantise(world, size), part="joints"),
    Kind("flexible joint", ("*.compliance",), (5.0, 1.5, 0.4), "Hz", soft_joint,
         part="joints"),
    Kind("backlash", (), (1e-3, 0.01, 0.1), "rad", backlash, part="joints"),
    Kind("joint friction in torques", ("friction.*",), (0.02, 0.2, 1.0), "N m",
         torques(lambda tau, rate, size: tau + size * np.tanh(rate / 1e-3)), part="joints",
         sensor="joint_torque"),
    Kind("torque gain", ("gain.*.torque",), (0.01, 0.05, 0.2), "1",
         torques(lambda tau, rate, size: tau * (1.0 + size)), part="joints",
         sensor="joint_torque"),
    Kind("torque bias", ("bias.*.torque",), (0.01, 0.1, 1.0), "N m",
         torques(lambda tau, rate, size: tau + size), part="joints", sensor="joint_torque"),
)  # fmt: skip


def _quantise(world: World, size: float) -> None:
    def act(world: World, columns) -> None:
        for joint in world.model.joints:
            column = columns[f"{joint.name}.position"]
            column.values = np.round(column.values / size) * size

    world.recording.append(act)
