"""The systems of the benchmark: robots outside the library, flown by MuJoCo, seeded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

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
    other_truths: tuple[dict[str, float], ...] = ()

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
    notes: tuple[str, ...] = field(default_factory=tuple)


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
    others = tuple(world.other_truths)
    return Recorded(believed, truth, wanted, flights[0], flights[1], plan, others)


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
    )
}  # fmt: skip
