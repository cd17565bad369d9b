"""A world: what really flies, and beside it what the engineer believes about it.

`World.model` is the mechanism that MuJoCo flies, `World.believed` the model that identify gets.
In a right world they differ in the parameters looked for and in nothing else. A kind of wrong
(kinds.py) changes the world, its readings or its recording, and leaves `believed` as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from worlds.robots import ROBOTS, Robot, Suite

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.parameters.parameters import parameter_values

Array = np.ndarray
Course = Callable[[Array], Array]  # a number at times [s]


@dataclass(frozen=True)
class Appendage:
    """Part of a body's mass that is not rigid: a point on a spring, in body axes."""

    body: str
    mass: float
    position: tuple[float, float, float]
    axis: tuple[float, float, float]
    frequency: float  # [Hz], if the body stood still
    damping_ratio: float = 0.005


@dataclass(frozen=True)
class Slip:
    """A captured body that turns and slides in the hand: about and along `axis` by a course."""

    body: str
    axis: tuple[float, float, float]
    angle: Course
    is_sliding: bool = False


@dataclass
class World:
    """Everything that decides a flight and its recording; changed in place by a kind."""

    robot: Robot
    seed: int
    model: ff.Model
    believed: ff.Model
    suite: Suite
    duration: float
    motions: dict[str, Course]
    thrusts: dict[str, Course]
    wheels: dict[str, Course]
    rate: Array
    velocity: Array
    noise: int = 0  # another number draws other noise of the same flight
    # what acts beside joints, wheels and thrusters
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gradient: float = 0.0  # n^2 [1/s^2]
    linear_drag: float = 0.0
    angular_drag: float = 0.0
    cable: tuple[float, float] = (0.0, 0.0)  # to the ground: stiffness [N/m], [N m/rad]
    soft: dict[str, tuple[float, float]] = field(default_factory=dict)
    appendages: list[Appendage] = field(default_factory=list)
    slips: list[Slip] = field(default_factory=list)
    lost: list[tuple[float, str, float]] = field(default_factory=list)  # time, body, factor
    # what thrusters do with their commands: (times, levels) -> levels
    valves: dict[str, Callable[[Array, Array], Array]] = field(default_factory=dict)
    # where sensors of a kind really sit on the bus, and how they are turned
    mounts: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)
    # what happens to clean readings before noise, and to the recording after it
    readings: list[Callable] = field(default_factory=list)
    recording: list[Callable] = field(default_factory=list)
    part: str = ""  # the one joint, thruster or body that is wrong, where it is one
    other_truths: list[dict[str, float]] = field(default_factory=list)

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the parameters looked for."""
        return tuple(p.name for p in ff.Parameters(self.believed).free(*self.robot.free).free_ones)

    @property
    def truths(self) -> list[dict[str, float]]:
        """True values; several where a parameter changes during the flight: any of them will do."""
        values = parameter_values(flatten(self.model))
        return [{name: values[name] for name in self.free}, *self.other_truths]

    def stream(self, name: str) -> np.random.Generator:
        """A random stream of its own for everything that has a name."""
        return np.random.default_rng([self.seed, self.noise, zlib.crc32(name.encode())])


def right_world(robot: str, seed: int, suite: str) -> World:
    """A robot as its engineer believes it to be, but for what is looked for."""
    made = ROBOTS[robot]()
    rng = np.random.default_rng([seed, zlib.crc32(robot.encode())])
    believed = vouch_for(replace(made.model, sensors=made.suites[suite]))
    model = made.draw(rng)
    is_planar = model.root.type == "planar"
    flat = np.array([0.0, 0.0, 1.0]) if is_planar else np.ones(3)
    return World(
        made, seed, model, believed, made.suites[suite], made.duration,
        motions={j.name: swing(rng, j.home, made.reach, made.duration) for j in model.joints},
        thrusts={t.name: pulses(rng, made.push, made.duration) for t in model.thrusters},
        wheels={w.name: spin(rng, made.spin, made.duration) for w in model.wheels},
        rate=0.02 * rng.normal(size=3) * flat,
        velocity=0.02 * rng.normal(size=3) * (1.0, 1.0, not is_planar),
    )  # fmt: skip


# what an engineer states of the scale of bodies, wheels, thrusters and sensors, relative
VOUCHED = {"body": 0.01, "wheel": 0.005, "thruster": 0.02, "joint_torque": 0.01,
           "accelerometer": 0.005}  # fmt: skip


def vouch_for(model: ff.Model, stated: dict[str, float] | None = None) -> ff.Model:
    """The model with the uncertainty of everything that carries the scale; none where {}."""
    stated = VOUCHED if stated is None else stated
    body, wheel, thruster = (stated.get(kind) for kind in ("body", "wheel", "thruster"))
    targets = (replace(t, body=replace(t.body, uncertainty=body)) for t in model.targets)
    sensors = (replace(s, gain_uncertainty=stated.get(s.kind)) for s in model.sensors)
    return replace(
        model,
        bodies=tuple(replace(b, uncertainty=body) for b in model.bodies),
        targets=tuple(targets),
        wheels=tuple(replace(w, uncertainty=wheel) for w in model.wheels),
        thrusters=tuple(replace(t, uncertainty=thruster) for t in model.thrusters),
        sensors=tuple(sensors),
    )


def smooth_step(s: Array) -> Array:
    """From 0 to 1 for s from 0 to 1, with four derivatives that do not jump."""
    s = np.clip(s, 0.0, 1.0)
    return s**5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + 70.0 * s))))


def swing(rng: np.random.Generator, home: float, reach: float, duration: float) -> Course:
    """Four sines about home, from rest and back to it."""
    sizes = rng.normal(size=4) * (0.6, 0.5, 0.35, 0.2)
    sizes *= reach / np.sum(np.abs(sizes))
    rates = 2.0 * np.pi * np.array([0.04, 0.08, 0.15, 0.25]) * rng.uniform(0.8, 1.2, 4)
    phases = rng.uniform(0.0, 2.0 * np.pi, 4)

    def course(t: Array) -> Array:
        wave = np.sin(np.multiply.outer(t, rates) + phases) @ sizes
        grown = smooth_step(t / 3.0) * smooth_step((duration - t) / 3.0)
        return home + grown * wave

    return course


def pulses(rng: np.random.Generator, level: float, duration: float) -> Course:
    """One or two pulses of 1 to 3 s, edges on the grid of 2 ms."""
    starts = np.sort(rng.uniform(0.05, 0.85, rng.integers(1, 3))) * duration
    rows = [(round(s / 0.002) * 0.002, round(rng.uniform(500, 1500)) * 0.002) for s in starts]

    def course(t: Array) -> Array:
        half = 1e-6  # [s]: edges belong to what follows
        inside = [(t > a - half) & (t < a + long - half) for a, long in rows]
        return level * np.any(inside, axis=0)

    return course


def spin(rng: np.random.Generator, size: float, duration: float) -> Course:
    """A wheel that goes from speed to speed [rad/s], staying in between."""
    speeds = np.concatenate([[0.0], size * rng.uniform(-1.0, 1.0, 3)])
    times = duration * np.array([0.15, 0.45, 0.75])

    def course(t: Array) -> Array:
        speed = np.full_like(t, speeds[0])
        for when, before, after in zip(times, speeds[:-1], speeds[1:], strict=True):
            speed = speed + (after - before) * smooth_step((t - when) / 5.0)
        return speed

    return course
