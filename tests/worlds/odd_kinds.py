"""What nobody had in mind: errors between two sensors, thrust that depends on the rest, ...

Made after the catalogue of causes was finished, to see what it says of what it does not have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from worlds.actuator_kinds import joint_of, valves
from worlds.kinds import Kind, unit_vector
from worlds.mechanism import STEP, Readings
from worlds.model_kinds import hidden_wheel
from worlds.recorder import Columns
from worlds.sensor_kinds import of_reading
from worlds.world import World, smooth_step


def feel_acceleration(world: World, size: float, rng: np.random.Generator) -> None:
    """A gyro whose bias follows the acceleration along its axes."""

    def act(world: World, readings: Readings) -> None:
        force = readings.groups["base.acceleration"]
        readings.groups["base.rate"] = readings.groups["base.rate"] + size * force

    world.readings.append(act)


def ignore_small(values, size, rng, times):
    """Readings below a threshold are none."""
    return np.where(np.abs(values) < size, 0.0, values)


def saturate_softly(values, size, rng, times):
    """A range that ends softly: the largest reading comes out by a share of `size` too small."""
    return values * (1.0 - size * (values / np.max(np.abs(values))) ** 2)


def eccentric_encoder(world: World, size: float, rng: np.random.Generator) -> None:
    """The disc of one encoder turns about another point than its centre."""
    name, phase = joint_of(world, rng), float(rng.uniform(0.0, 2.0 * np.pi))

    def act(world: World, readings: Readings) -> None:
        q = readings.groups[f"{name}.position"]
        readings.groups[f"{name}.position"] = q + size * (np.sin(q + phase) - np.sin(phase))

    world.readings.append(act)


def drifting_zero(world: World, size: float, rng: np.random.Generator) -> None:
    """The zero of one encoder creeps."""
    name = joint_of(world, rng)

    def act(world: World, readings: Readings) -> None:
        crept = size * readings.times / world.duration
        readings.groups[f"{name}.position"] = readings.groups[f"{name}.position"] + crept

    world.readings.append(act)


def sagging_feed(world: World, size: float, rng: np.random.Generator) -> None:
    """Every further open valve takes a share of the thrust of all."""
    commands = dict(world.thrusts)

    def valve(t, level):
        others = np.sum([command(t) > 0.0 for command in commands.values()], axis=0) - 1
        return level * (1.0 - size * np.maximum(others, 0))

    for name in commands:
        world.valves[name] = valve


def plume(world: World, size: float, rng: np.random.Generator) -> None:
    """The exhaust of one thruster strikes the arm, where the arm is in its way."""
    names, joint = list(world.thrusts), world.model.joints[0]
    world.part = names[int(rng.integers(len(names)))]
    course = world.motions[joint.name]
    reach = world.robot.reach

    def valve(t, level):
        return level * (1.0 - size * np.sin((course(t) - joint.home) / reach) ** 2)

    world.valves[world.part] = valve


def swapped_thrusters(world: World, size: float, rng: np.random.Generator) -> None:
    """The commands of two neighbours are written down under each other's name."""
    names = list(world.thrusts)
    k = int(rng.integers(len(names) - 1))
    a, b = names[k : k + 2]
    one, other = world.thrusts[a], world.thrusts[b]
    world.valves[a] = lambda t, level: other(t)
    world.valves[b] = lambda t, level: one(t)


def late_by_chance(world: World, size: float, rng: np.random.Generator) -> None:
    """Every valve opens late by another time, up to `size` [s]."""
    for name, command in world.thrusts.items():
        late = float(rng.uniform(0.0, size))
        world.valves[name] = lambda t, level, c=command, late=late: np.where(
            c(t - late) > 0.0, level, 0.0
        )


def turned_tracker(world: World, size: float, rng: np.random.Generator) -> None:
    """Positions and velocities are told in axes that are not those of the attitude."""
    is_planar = world.model.root.type == "planar"
    axis = np.array([0.0, 0.0, 1.0]) if is_planar else unit_vector(rng)
    turn = Rotation.from_rotvec(size * axis)

    def act(world: World, readings: Readings) -> None:
        for group in ("base.position", "base.velocity"):
            readings.groups[group] = turn.apply(readings.groups[group])

    world.readings.append(act)


def attitude_of_the_gyro(world: World, size: float, rng: np.random.Generator) -> None:
    """The attitude is the gyro's integral: both wander together, and agree."""

    def act(world: World, readings: Readings) -> None:
        rate, t = readings.groups["base.rate"], readings.times
        steps = rng.normal(size=rate.shape) / np.sqrt(len(t))
        steps *= np.array([0.0, 0.0, 1.0]) if world.model.root.type == "planar" else 1.0
        wrong = size * np.cumsum(steps, axis=0)
        turned = np.cumsum(wrong, axis=0) * (t[1] - t[0])
        readings.groups["base.rate"] = rate + wrong
        attitude = Rotation.from_quat(readings.groups["base.attitude"])
        readings.groups["base.attitude"] = (attitude * Rotation.from_rotvec(turned)).as_quat()

    world.readings.append(act)


def torque_of_the_motor(world: World, size: float, rng: np.random.Generator) -> None:
    """Torques are read at the motor, whose rotor takes its share [kg m^2 at the joint]."""

    def act(world: World, readings: Readings) -> None:
        t = readings.times
        for joint in world.model.joints:
            rate = readings.groups[f"{joint.name}.velocity"]
            group = f"{joint.name}.torque"
            readings.groups[group] = readings.groups[group] + size * np.gradient(rate, t)

    world.readings.append(act)


def sticky_torque(world: World, size: float, rng: np.random.Generator) -> None:
    """Torque sensors that lag behind by a share of what they went through last."""

    def act(world: World, readings: Readings) -> None:
        for joint in world.model.joints:
            tau = readings.groups[f"{joint.name}.torque"]
            play, told = size * float(np.std(tau)), tau.copy()
            for k in range(1, len(told)):
                told[k] = np.clip(told[k - 1], tau[k] - play, tau[k] + play)
            readings.groups[f"{joint.name}.torque"] = told

    world.readings.append(act)


def scanning_instrument(world: World, size: float, rng: np.random.Generator) -> None:
    """A mirror that no model knows swings to and fro: `size` times the bus's inertia [rad/s]."""
    hidden_wheel(world, size, rng)
    speed, duration = 100.0 * size, world.duration
    world.wheels["hidden"] = lambda t: (
        speed * np.sin(2.0 * np.pi * 0.15 * t) * smooth_step(t / 3.0)
        * smooth_step((duration - t) / 3.0)
    )  # fmt: skip


def noisier_in_motion(world: World, size: float, rng: np.random.Generator) -> None:
    """A star tracker whose noise grows with the rate: so many times at the fastest."""

    def act(world: World, columns: Columns) -> None:
        names = [name for name in columns if name.startswith(("base.attitude", "base.angle"))]
        for name in names:
            column = columns[name]
            speed = np.abs(np.gradient(column.values, column.time))
            more = size * (column.noise or 0.0) * speed / max(float(np.max(speed)), STEP)
            column.values = column.values + more * rng.normal(size=len(column.values))

    world.recording.append(act)


def heavier_hand(world: World, size: float, rng: np.random.Generator) -> None:
    """Somebody left a tool on the last known link, at its end [kg]."""
    last = [b.name for b in world.model.bodies if b.name not in world.robot.drawn][-1]
    body = world.model.body(last)
    at = 2.0 * np.array(body.com)
    mass, share = body.mass + size, size / (body.mass + size)
    arm = at - np.array(body.com)
    xx, xy, xz, yy, yz, zz = body.inertia
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = J + body.mass * share * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    com = np.array(body.com) + share * arm
    inertia = tuple(float(J[i, k]) for i, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    world.model = world.model.with_body(
        replace(body, mass=mass, com=tuple(com.tolist()), inertia=inertia)
    )


KINDS = (
    Kind("gyro that feels acceleration", (), (0.01, 0.1, 1.0), "rad/s per m/s^2",
         feel_acceleration, sensor="gyro"),
    Kind("gyro without small rates", (), (2e-4, 2e-3, 0.01), "rad/s",
         of_reading("base.rate", ignore_small), sensor="gyro"),
    Kind("gyro that saturates softly", ("bend.base.rate*", "gain.base.rate*"),
         (0.01, 0.05, 0.2), "1", of_reading("base.rate", saturate_softly), sensor="gyro"),
    Kind("eccentric encoder", (), (1e-3, 0.01, 0.05), "rad", eccentric_encoder, part="joints"),
    Kind("encoder zero creeps", (), (1e-3, 0.01, 0.05), "rad", drifting_zero, part="joints"),
    Kind("feed pressure sags", (), (0.02, 0.1, 0.3), "of the thrust a valve", sagging_feed,
         part="thrusters"),
    Kind("plume on the arm", ("thr_*.gain",), (0.05, 0.3, 0.8), "1", plume, part="thrusters"),
    Kind("thrusters swapped", (), (1.0,), "1", swapped_thrusters, part="thrusters"),
    Kind("valves shut late", ("thr_*.delay", "thr_*.gain"), (0.02, 0.1, 0.4), "s",
         valves(lambda t, level, size, c: np.maximum(level, c(t - size))), part="thrusters"),
    Kind("valves late by chance", ("thr_*.delay",), (0.02, 0.1, 0.5), "s", late_by_chance,
         part="thrusters"),
    Kind("tracker in turned axes", (), (5e-3, 0.05, 0.3), "rad", turned_tracker,
         sensor="velocity"),
    Kind("attitude made from the gyro", (), (1e-4, 1e-3, 5e-3), "rad/s", attitude_of_the_gyro,
         sensor="gyro"),
    Kind("torques of the motors", (), (0.05, 0.5, 2.0), "kg m^2", torque_of_the_motor,
         part="joints", sensor="joint_torque"),
    Kind("torque sensors that stick", (), (0.05, 0.3, 1.0), "of its deviation", sticky_torque,
         part="joints", sensor="joint_torque"),
    Kind("scanning instrument", (), (1e-3, 1e-2, 0.05), "rad/s", scanning_instrument),
    Kind("tracker noisier in motion", (), (1.0, 5.0, 20.0), "times the noise", noisier_in_motion,
         sensor="attitude"),
    Kind("tool left on the hand", ("*link*.scale", "*link*.com*", "*link*.m[xyz]"),
         (0.1, 0.5, 2.0), "kg", heavier_hand, part="joints"),
)  # fmt: skip
