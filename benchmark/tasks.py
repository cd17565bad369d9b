"""The systems of the benchmark: robots outside the library, flown by MuJoCo or Basilisk, seeded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import basilisk_systems
import flexible_joint
import ground_arm
import ground_system
import numpy as np
from worlds import data_kinds, robots
from worlds.bound import plan_of
from worlds.recorder import record
from worlds.world import Appendage, World, right_world

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.excitation.plan import Plan
from freefloat.model.parts import Body, Joint, Orbit, Placement, Wheel
from freefloat.parameters.parameters import parameter_values

ORBIT_RADIUS = 7.0e6  # [m]
SMALL = 1e-6  # [kg m^2] of what is a point for MuJoCo


@dataclass(frozen=True)
class Recorded:
    """A task made: two recordings of one robot, what is believed, and what is true.

    second: another flight of the same robot, to be predicted.
    """

    believed: ff.Model
    truth: ff.Model
    free: tuple[str, ...]
    recording: ff.Telemetry
    second: ff.Telemetry
    plan: Plan

    @property
    def true_values(self) -> dict[str, float]:
        """Of what is looked for."""
        values = parameter_values(flatten(self.truth))
        return {name: values[name] for name in self.free}


@dataclass(frozen=True)
class Task:
    """A system and what is asked about it."""

    name: str
    about: str
    make: Callable[[int], Recorded]
    is_live: bool = False
    engine: str = "MuJoCo"


def _recorded(
    world: World, second: World, *, believed: ff.Model | None = None, truth: ff.Model | None = None,
    free: tuple[str, ...] | None = None,
) -> Recorded:  # fmt: skip
    flights = [record(one) for one in (world, second)]
    believed = believed or world.believed
    truth = truth or replace(world.model, sensors=world.suite)
    names = free or world.robot.free
    wanted = tuple(p.name for p in ff.Parameters(believed).free(*names).free_ones)
    plan = plan_of(world)
    return Recorded(believed, truth, wanted, flights[0], flights[1], plan)


def _pair(robot: str, suite: str, seed: int) -> tuple[World, World]:
    """One robot on two flights: the second moves otherwise and has other noise."""
    first, second = right_world(robot, seed, suite), right_world(robot, seed + 5000, suite)
    return first, replace(second, model=first.model, believed=first.believed)


def _simple(robot: str, suite: str) -> Callable[[int], Recorded]:
    return lambda seed: _recorded(*_pair(robot, suite, seed))


def _with_wheel(seed: int) -> Recorded:
    if "twins and wheel" not in robots.ROBOTS:

        def made() -> robots.Robot:
            twins = robots.twins()
            wheel = Wheel("rw", "bus", (0.0, 0.6, 0.8), 0.04)
            suites = robots._suites("*t_?", has_wheel=True)
            model = replace(twins.model, wheels=(wheel,), name="twins-wheel")
            return replace(twins, model=model, suites=suites, spin=60.0)

        robots.ROBOTS["twins and wheel"] = made
    return _recorded(*_pair("twins and wheel", "tracked", seed))


def _appended(robot: str, suite: str, points: tuple[Appendage, ...]) -> Callable[[int], Recorded]:
    """A robot of which part of the bus swings; entrants know where and how heavy it is."""

    def make(seed: int) -> Recorded:
        first, second = _pair(robot, suite, seed)
        for world in (first, second):
            world.appendages.extend(points)
        believed = _split(first.believed, points, is_true=False)
        truth = _split(replace(first.model, sensors=first.suite), points, is_true=True)
        springs = tuple(f"swing_{k}.stiffness" for k in range(1, len(points) + 1))
        return _recorded(first, second, believed=believed, truth=truth, free=("bus.*", *springs))

    return make


def _split(model: ff.Model, points: tuple[Appendage, ...], *, is_true: bool) -> ff.Model:
    """The model with points of its bus on springs; what is believed of them is 20 % soft."""
    bus = model.body("bus")
    phi_mass, first = bus.mass, bus.mass * np.array(bus.com)
    about = robots.tensor(bus.inertia) + bus.mass * _steiner(np.array(bus.com))
    bodies, joints = [], []
    for k, part in enumerate(points, start=1):
        at = np.array(part.position)
        phi_mass, first = phi_mass - part.mass, first - part.mass * at
        about = about - part.mass * _steiner(at)
        w = 2.0 * np.pi * part.frequency
        stiffness = part.mass * w**2 * (1.0 if is_true else 0.8)
        damping = 2.0 * part.damping_ratio * part.mass * w
        small = (SMALL, 0.0, 0.0, SMALL, 0.0, SMALL)
        bodies.append(Body(f"point_{k}", part.mass, (0.0, 0.0, 0.0), small))
        joints.append(
            Joint(f"swing_{k}", "prismatic", "bus", f"point_{k}", Placement(tuple(at.tolist())),
                  part.axis, role="passive", stiffness=stiffness, damping=damping)
        )  # fmt: skip
    com = first / phi_mass
    inertia = about - phi_mass * _steiner(com)
    rigid = replace(bus, mass=phi_mass, com=tuple(com.tolist()), inertia=robots.six(inertia))
    made = model.with_body(rigid)
    return replace(made, bodies=(*made.bodies, *bodies), joints=(*made.joints, *joints))


def _steiner(at: np.ndarray) -> np.ndarray:
    return at @ at * np.eye(3) - np.outer(at, at)


def _orbit(seed: int) -> Recorded:
    first, second = _pair("tug", "tracked", seed)
    orbit = Orbit(ORBIT_RADIUS, radial=(1.0, 0.0, 0.0), normal=(0.0, -0.8, 0.6))
    for world in (first, second):
        world.gradient = orbit.rate**2
        world.duration = 40.0
    believed = replace(first.believed, orbit=orbit)
    truth = replace(first.model, sensors=first.suite, orbit=orbit)
    return _recorded(first, second, believed=believed, truth=truth)


def _faulty(seed: int) -> Recorded:
    first, second = _pair("grappler", "tracked", seed)
    for alter, size in ((data_kinds.outliers, 0.01), (data_kinds.dropouts, 0.1)):
        rng = np.random.default_rng([seed, 31])
        first.recording.append(
            lambda world, columns, alter=alter, size=size, rng=rng: alter(columns, size, rng)
        )
    return _recorded(first, second)


def _drain(seed: int) -> Recorded:
    """A tug that loses a per cent of its mass every four seconds; its mass at the end counts."""
    first, second = _pair("tug", "tracked", seed)
    times = np.arange(4.0, 40.0, 4.0)
    first.lost.extend((float(t), "bus", 0.99) for t in times)
    bus = first.model.body("bus")
    factor = 0.99 ** len(times)
    inertia = tuple(factor * x for x in bus.inertia)
    end = first.model.with_body(replace(bus, mass=factor * bus.mass, inertia=inertia))
    second.model = end
    truth = replace(end, sensors=first.suite)
    return _recorded(first, second, truth=truth)


def _flexible(seed: int) -> Recorded:
    """The second flight is of the same robot: its bodies are those of the first."""
    first, second = (flexible_joint.flexible_world(k) for k in (seed, seed + 5000))
    bus_and_load = {name: first.model.body(name) for name in first.robot.drawn}
    second.model = _with_bodies(second.model, bus_and_load)
    bare = replace(first.believed, sensors=first.suite)
    truth = flexible_joint.with_drive(
        _with_bodies(replace(bare, joints=first.robot.model.joints), bus_and_load), 1.0
    )
    names = tuple(p.name for p in ff.Parameters(truth).free(*first.robot.free).free_ones)
    plan = plan_of(first)
    motions = {f"{n}.motor" if n == "arm_1" else n: m for n, m in plan.motions.items()}
    return Recorded(first.believed, truth, names, record(first), record(second),
                    replace(plan, motions=motions))  # fmt: skip


def _with_bodies(model: ff.Model, bodies: dict[str, Body]) -> ff.Model:
    for body in bodies.values():
        model = model.with_body(body)
    return model


def _on_ground(seed: int) -> Recorded:
    truth = ground_system.true_arm()
    believed = ground_system.believed_arm(truth, seed)
    first, second = (ground_arm.flown(k, ground_system.DURATION) for k in (seed, seed + 5000))
    names = tuple(p.name for p in ff.Parameters(believed).free(*ground_system.FREE).free_ones)
    return Recorded(believed, truth, names, first, second, ground_system.plan_of_arm(truth, seed))


def _panels(seed: int) -> Recorded:
    worlds = _pair("tug", "velocity", seed)
    flights = []
    for world in worlds:
        flights.append(record(world, basilisk_systems.fly(world, panels=basilisk_systems.PANELS)))
    first = worlds[0]
    believed = basilisk_systems.with_panels(first.believed, 0.8)
    truth = basilisk_systems.with_panels(replace(first.model, sensors=first.suite), 1.0)
    wanted = ff.Parameters(believed).free("bus.*", "*_hinge.stiffness", "*_hinge.damping")
    names = tuple(p.name for p in wanted.free_ones)
    return Recorded(believed, truth, names, *flights, plan_of(first))


def _slow_orbit(seed: int) -> Recorded:
    """Ten minutes in a real orbit, a few weak pulses, sensors once a second."""
    worlds = _pair("tug", "velocity", seed)
    orbit = Orbit(ORBIT_RADIUS, radial=(1.0, 0.0, 0.0), normal=(0.0, -0.8, 0.6))
    flights = []
    for world in worlds:
        world.duration, world.rate = SLOW_DURATION, 0.2 * world.rate
        world.suite = tuple(replace(s, rate=SLOW_RATE[s.kind]) for s in world.suite)
        world.believed = replace(world.believed, sensors=world.suite, orbit=orbit)
        for name, course in world.thrusts.items():
            world.thrusts[name] = lambda t, course=course: SLOW_PUSH * course(t)
        readings = basilisk_systems.fly(world, orbit=orbit, rate=SLOW_RATE["gyro"])
        flights.append(record(world, readings))
    first = worlds[0]
    truth = replace(first.model, sensors=first.suite, orbit=orbit)
    names = tuple(p.name for p in ff.Parameters(truth).free("bus.*").free_ones)
    return Recorded(first.believed, truth, names, *flights, plan_of(first))


# [Hz] by kind of sensor, [s], and of the thrust: housekeeping over a tenth of an orbit
SLOW_RATE = {"gyro": 5.0, "attitude": 1.0, "velocity": 1.0, "thruster": 5.0}
SLOW_DURATION, SLOW_PUSH = 600.0, 0.02
WINGS = (
    Appendage("bus", 6.0, (0.0, 1.4, 0.1), (0.0, 0.0, 1.0), 0.25),
    Appendage("bus", 6.0, (0.0, -1.4, 0.1), (0.0, 0.0, 1.0), 0.31),
)
FUEL = (
    Appendage("bus", 18.0, (0.1, 0.05, -0.3), (1.0, 0.0, 0.0), 0.45, 0.02),
    Appendage("bus", 18.0, (0.1, 0.05, -0.3), (0.0, 1.0, 0.0), 0.45, 0.02),
)
TASKS = {
    task.name: task
    for task in (
        Task("capture-3", "planar, three joints, wheel, thrust; bus and payload",
             _simple("puck", "tracked")),
        Task("capture-7", "seven joints, wheel, thrust; bus and captured target",
             _simple("grappler", "tracked")),
        Task("capture-7-torque", "the same with joint torques instead of velocity and position",
             _simple("grappler", "torque")),
        Task("dual-arm", "two arms and a wheel, no thrust; bus and payload", _with_wheel),
        Task("tug", "one body with thrusters", _simple("tug", "accelerometer")),
        Task("wings", "a tug with two wings that swing; bus and stiffness",
             _appended("tug", "tracked", WINGS)),
        Task("slosh", "a tug with fuel that swings two ways; bus and stiffness",
             _appended("tug", "tracked", FUEL)),
        Task("orbit", "a tug in a low orbit, with the gradient of gravity", _orbit),
        Task("faulty", "capture-7 with outliers and a tenth of the samples lost", _faulty),
        Task("drain", "a tug that loses mass all the time; what it has at the end", _drain,
             is_live=True),
        Task("slow-sensors", "two arms, no thrust, all sensors at 10 Hz", _simple("twins", "slow")),
        Task("gyro-only", "planar capture by gyro, attitude, encoders and thrust",
             _simple("puck", "gyro")),
        Task("flexible-joint", "planar on air bearings, a flexible drive; bus, payload, spring",
             _flexible),
        Task("ground-arm", "seven joints on the ground, torques; last link, friction and damping",
             _on_ground),
        Task("panels", "a tug with two hinged panels; bus, stiffness and damping", _panels,
             engine="Basilisk"),
        Task("slow-orbit", "a tug for ten minutes in a low orbit, sensors once a second",
             _slow_orbit, engine="Basilisk"),
    )
}  # fmt: skip
