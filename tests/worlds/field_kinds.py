"""Mistakes made on the way from the laboratory to the file: frames, units, names, clocks, copies.

Made last, as somebody would make them who wants a wrong answer to be believed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, filtfilt
from scipy.spatial.transform import Rotation
from worlds.actuator_kinds import joint_of, soft_joint
from worlds.data_kinds import data, measured, wrong_unit
from worlds.kinds import Change, Kind, unit_vector
from worlds.mechanism import Readings, fly
from worlds.model_kinds import known_bodies, scale_body
from worlds.recorder import Columns
from worlds.robots import six, tensor
from worlds.sensor_kinds import of_reading
from worlds.world import World, right_world

from freefloat.model.parts import Placement


def reading(act) -> Change:
    """Clean readings through act(world, groups, times, size, rng)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        world.readings.append(lambda w, r: act(w, r.groups, r.times, size, rng))

    return change


def tie(world: World, size: float, rng: np.random.Generator) -> None:
    """A cable to the ground holds the bus where it began: by so many times m (2 pi 0.01 Hz)^2."""
    bus = world.model.body(world.model.root.body)
    world.cable = tuple(
        size * m * (2.0 * np.pi * 0.01) ** 2 for m in (bus.mass, float(max(bus.inertia)))
    )


def count_gravity(world, groups, times, size, rng):
    """An accelerometer that reads a share of the ground's gravity."""
    R = Rotation.from_quat(groups["base.attitude"])
    groups["base.acceleration"] = groups["base.acceleration"] + R.apply(
        [0.0, 0.0, size * 9.81], inverse=True
    )


def flip_group(group: str) -> Change:
    return of_reading(group, lambda values, size, rng, times: -values)


def other_axes(world, groups, times, size, rng):
    """Positions and velocities with z down (x north, y east), the attitude with z up."""
    for name in ("base.position", "base.velocity"):
        groups[name] = groups[name][:, [1, 0, 2]] * (1.0, 1.0, -1.0)


def turn_all(world: World, size: float, rng: np.random.Generator) -> None:
    """Gyro, tracker and accelerometer share a bracket that is mounted at an angle [rad]."""
    is_planar = world.model.root.type == "planar"
    axis = np.array([0.0, 0.0, 1.0]) if is_planar else unit_vector(rng)
    rpy = tuple(Rotation.from_rotvec(size * axis).as_euler("xyz").tolist())
    for kind in ("gyro", "attitude", "accelerometer"):
        world.mounts[kind] = ((0.0, 0.0, 0.0), rpy)


def scale_lengths(world: World, size: float, rng: np.random.Generator) -> None:
    """Every length of the file is in another unit: the true one is `size` times as long."""

    def longer(place: Placement) -> Placement:
        return Placement(tuple((size * np.array(place.xyz)).tolist()), place.rpy)

    def larger(body):
        return replace(
            body, com=tuple((size * np.array(body.com)).tolist()),
            inertia=tuple(size**2 * i for i in body.inertia),
        )  # fmt: skip

    model = world.model
    world.model = replace(
        model,
        bodies=tuple(larger(b) for b in model.bodies),
        joints=tuple(replace(j, placement=longer(j.placement)) for j in model.joints),
        frames=tuple(replace(f, placement=longer(f.placement)) for f in model.frames),
        targets=tuple(
            replace(t, body=larger(t.body), placement=longer(t.placement)) for t in model.targets
        ),
        thrusters=tuple(
            replace(t, position=tuple((size * np.array(t.position)).tolist()))
            for t in model.thrusters
        ),
        wheels=tuple(replace(w, inertia=size**2 * w.inertia) for w in model.wheels),
    )


def turn_joint_over(world: World, size: float, rng: np.random.Generator) -> None:
    """One axis points the other way in the file: position, rate and torque change sign."""
    name = joint_of(world, rng)

    def act(world: World, readings: Readings) -> None:
        home = world.model.joint(name).home
        for word, at in (("position", home), ("velocity", 0.0), ("torque", 0.0)):
            group = f"{name}.{word}"
            readings.groups[group] = at - (readings.groups[group] - at)

    world.readings.append(act)


def one_link(alter) -> Change:
    """What the file says of one known link is not so: alter(body, size) makes the true one."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        names = known_bodies(world)
        world.part = names[int(rng.integers(len(names)))]
        world.model = world.model.with_body(alter(world.model.body(world.part), size))

    return change


def about_joint(body, size):
    """The file has the inertia about the joint, where it should be about the centre of mass."""
    com = np.array(body.com)
    shift = size * body.mass * (com @ com * np.eye(3) - np.outer(com, com))
    moments, axes = np.linalg.eigh(tensor(body.inertia) - shift)
    moments = np.maximum(moments, 0.05 * body.mass * float(com @ com))
    return replace(body, inertia=six(axes @ np.diag(moments) @ axes.T))


def mirror(body, size):
    """A link's centre of mass on the other side of its joint."""
    return replace(body, com=tuple((-np.array(body.com)).tolist()))


def rename_axes(body, size):
    """Moments about x and z under each other's name."""
    xx, xy, xz, yy, yz, zz = body.inertia
    return replace(body, inertia=(zz, yz, xz, yy, xy, xx))


def forget_link(world: World, size: float, rng: np.random.Generator) -> None:
    """The heaviest known link counts a tenth (or so) of its mass in the file."""
    world.part = max(known_bodies(world), key=lambda name: world.model.body(name).mass)
    scale_body(world, world.part, size)


def shorten(world: World, size: float, rng: np.random.Generator) -> None:
    """One link's length in other units: by a factor."""
    inner = [j for j in world.model.joints if np.linalg.norm(j.placement.xyz) > 0.1]
    old = inner[int(rng.integers(len(inner)))]
    world.part = old.name
    place = Placement(tuple((size * np.array(old.placement.xyz)).tolist()), old.placement.rpy)
    joints = tuple(replace(j, placement=place) if j is old else j for j in world.model.joints)
    world.model = replace(world.model, joints=joints)


def another_flight(world: World, size: float, rng: np.random.Generator) -> None:
    """From half time on, the recording is that of another flight of the same spacecraft."""

    def act(world: World, readings: Readings) -> None:
        other = right_world(world.robot.name, world.seed + 7919, "tracked")
        other.model = world.model
        table = fly(other)
        cut = len(readings.times) // 2
        for name, values in readings.groups.items():
            readings.groups[name] = np.concatenate([values[:cut], table.groups[name][cut:]])
        for name in world.thrusts:
            one, two = world.thrusts[name], other.thrusts[name]
            when = readings.times[cut]
            world.thrusts[name] = lambda t, a=one, b=two, w=when: np.where(t < w, a(t), b(t))

    world.readings.append(act)


def wheel_in_space(world, groups, times, size, rng):
    """A wheel's speed counted against the stars, not against the bus."""
    for wheel in world.believed.wheels:
        axis = np.array(wheel.axis) / np.linalg.norm(wheel.axis)
        groups[f"{wheel.name}.speed"] = groups[f"{wheel.name}.speed"] + groups["base.rate"] @ axis


def gyro_on_arm(world, groups, times, size, rng):
    """A gyro that sits behind the first joint."""
    joint = world.model.joints[0]
    axis = Rotation.from_euler("xyz", joint.placement.rpy).apply(joint.axis)
    groups["base.rate"] = groups["base.rate"] + np.outer(groups[f"{joint.name}.velocity"], axis)


def averaged(*words: str) -> Change:
    """Readings that are means over the time before them, as of integrating sensors [s]."""

    def act(world, groups, times, size, rng):
        n = max(1, round(size / (times[1] - times[0])))
        for name in words:
            whole = np.concatenate([np.repeat(groups[name][:1], n, axis=0), groups[name]])
            total = np.cumsum(whole, axis=0)
            groups[name] = (total[n:] - total[:-n]) / n

    return reading(act)


def point_at_exhaust(world: World, size: float, rng: np.random.Generator) -> None:
    """Directions of thrusters are those of the exhaust."""
    turned = tuple(
        replace(t, direction=tuple(-d for d in t.direction)) for t in world.model.thrusters
    )
    world.model = replace(world.model, thrusters=turned)


def short_impulses(world: World, size: float, rng: np.random.Generator) -> None:
    """Thrust builds up with a time constant [s] each time, and stops at once."""
    for name, command in world.thrusts.items():

        def valve(t, level, command=command):
            back = np.arange(1, 40) * size / 8.0
            open_for = np.sum([command(t - b) > 0.0 for b in back], axis=0) * size / 8.0
            return level * (1.0 - np.exp(-open_for / size))

        world.valves[name] = valve


def soft_joints(world: World, size: float, rng: np.random.Generator) -> None:
    """Every one of the first three joints yields."""
    for _ in range(3):
        soft_joint(world, size, rng)
    world.part = ""


def loose_grip(world: World, size: float, rng: np.random.Generator) -> None:
    """What is held swings in the hand about the last joint's axis [Hz]."""
    joint = (
        world.model.joints[-1]
        if "left" not in world.model.joints[0].name
        else next(j for j in reversed(world.model.joints) if j.name.startswith("left"))
    )
    held = world.model.targets[0].body
    inertia = float(np.mean([held.inertia[0], held.inertia[3], held.inertia[5]]))
    inertia += held.mass * float(np.sum(np.square(held.com)))
    stiffness = inertia * (2.0 * np.pi * size) ** 2
    world.part = joint.name
    world.soft[joint.name] = (stiffness, 0.04 * float(np.sqrt(stiffness * inertia)))


def smooth_by_both_ways(columns: Columns, size, rng):
    """Everything filtered forwards and backwards at `size` [Hz], the noise told as before."""
    for name in measured(columns):
        c = columns[name]
        rate = 1.0 / float(np.median(np.diff(c.time)))
        if size < 0.45 * rate:
            b, a = butter(2, size, fs=rate)
            c.values = filtfilt(b, a, c.values)


def resample(columns: Columns, size, rng):
    """All channels by cubic splines on one clock of `size` [Hz]."""
    for name in measured(columns):
        c = columns[name]
        times = np.arange(c.time[0], c.time[-1], 1.0 / size)
        c.values, c.time = CubicSpline(c.time, c.values)(times), times


def rounded_stamps(columns: Columns, size, rng):
    """Stamps in whole multiples of `size` [s], of doubles the first is kept."""
    for c in columns.values():
        times = np.round(c.time / size) * size
        keep = np.concatenate([[True], np.diff(times) > 0.5 * size])
        c.time, c.values = times[keep], c.values[keep]


def lost_and_closed(columns: Columns, size, rng):
    """`size` seconds were lost in the middle, and what follows was moved up."""
    for c in columns.values():
        begin = 0.45 * c.time[-1]
        keep = (c.time < begin) | (c.time >= begin + size)
        c.time = np.where(c.time >= begin + size, c.time - size, c.time)[keep]
        c.values = c.values[keep]


def shift_thrust(columns: Columns, size, rng):
    """Stamps of the thrust are late by `size` [s]."""
    for name, c in columns.items():
        if name.endswith(".force"):
            c.time = c.time + size


KINDS = (
    Kind("cable to the ground", (), (0.02, 0.3, 3.0), "m (0.063 rad/s)^2", tie),
    Kind("accelerometer counts gravity", ("bias.base.acceleration*",), (1e-4, 1e-2, 1.0),
         "of 9.81 m/s^2", reading(count_gravity), sensor="accelerometer"),
    Kind("accelerometer sign", ("sign.base.acceleration*", "gain.base.acceleration*"), (1.0,), "1",
         flip_group("base.acceleration"), sensor="accelerometer"),
    Kind("tracker with z down", (), (1.0,), "1", reading(other_axes), sensor="velocity"),
    Kind("sensors on one turned bracket", ("tilt.*", "bias.base.attitude*"), (0.02, 0.2), "rad",
         turn_all, sensor="gyro"),
    # theory: sensors of angles alone fit the same robot with all lengths a larger and all inertias
    # a^2 larger exactly, whatever a; positions, velocities or accelerations tell a
    Kind("all lengths in other units", (), (1.05, 2.54), "1", scale_lengths, part="joints",
         sensor="[pva][oec][slc]*"),
    Kind("axis of a joint turned over", ("*.gear", "sign.*"), (1.0,), "1", turn_joint_over,
         part="joints"),
    Kind("inertia of a link about its joint", ("*.i[xyz][xyz]",), (0.3, 1.0), "1",
         one_link(about_joint), part="joints"),
    Kind("centre of a link mirrored", ("*.com*",), (1.0,), "1", one_link(mirror), part="joints"),
    Kind("axes of a link's inertia renamed", ("*.i[xyz][xyz]",), (1.0,), "1",
         one_link(rename_axes), part="joints", root="floating"),
    Kind("mass of a link in other units", ("*link*.scale", "*link*.mass"), (0.1, 2.2), "1",
         forget_link, part="joints"),
    Kind("length of a link in other units", ("*.offset*",), (0.0254, 0.3048), "1", shorten,
         part="joints"),
    Kind("two flights in one file", ("knock*", "step.*", "change.*"), (1.0,), "1", another_flight),
    Kind("wheel speed against the stars", (), (1.0,), "1", reading(wheel_in_space),
         part="wheels", sensor="gyro"),
    Kind("gyro behind the first joint", (), (1.0,), "1", reading(gyro_on_arm), part="joints",
         sensor="gyro"),
    Kind("integrating gyro", ("delay.base.rate*",), (0.02, 0.1, 0.5), "s",
         averaged("base.rate"), sensor="gyro"),
    Kind("integrating accelerometer", ("delay.base.acceleration*",), (0.02, 0.1, 0.5), "s",
         averaged("base.acceleration"), sensor="accelerometer"),
    Kind("directions of the exhaust", ("thr_*.gain", "thr_*.tilt*"), (1.0,), "1",
         point_at_exhaust, part="thrusters"),
    Kind("thrust that builds up", ("thr_*.gain", "thr_*.delay"), (0.02, 0.1, 0.5), "s",
         short_impulses, part="thrusters"),
    Kind("three flexible joints", ("*.compliance",), (5.0, 1.5, 0.5), "Hz", soft_joints,
         part="joints"),
    Kind("loose grip", ("*.compliance",), (3.0, 0.6, 0.15), "Hz", loose_grip, part="targets"),
    Kind("filtered both ways", (), (10.0, 2.0, 0.5), "Hz", data(smooth_by_both_ways)),
    Kind("resampled", (), (200.0, 37.0), "Hz", data(resample)),
    Kind("stamps rounded", (), (1e-3, 0.01, 0.1), "s", data(rounded_stamps)),
    Kind("a stretch lost and closed", ("step.*", "knock*", "change.*"), (0.1, 1.0, 5.0), "s",
         data(lost_and_closed)),
    Kind("stamps of thrust late", ("thr_*.delay", "inputs.delay"), (0.03, 0.3, 2.0), "s",
         data(shift_thrust), part="thrusters"),
    Kind("acceleration in g", ("gain.base.acceleration*",), (1.0 / 9.80665,), "1",
         data(wrong_unit("base.acceleration")), sensor="accelerometer"),
    Kind("positions in millimetres", ("gain.base.position*",), (1000.0,), "1",
         data(wrong_unit("base.position")), sensor="position"),
)  # fmt: skip
