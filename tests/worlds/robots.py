"""Four robots that are not in the library, the sensors they may carry, and what is looked for.

tug: thrusters and a body, no arm. puck: planar on air bearings, three joints, a wheel, thrusters.
grappler: seven joints, a captured target, a wheel, thrusters. twins: two arms, one of them holding
a payload, nothing that pushes.

Every seed is another spacecraft: bus and captured body get other masses, centres and inertias.
What an engineer has before the flight is the nominal one, and the rest of the model exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

import freefloat as ff
from freefloat.model.parts import (
    Body,
    Frame,
    Joint,
    Placement,
    Root,
    Sensor,
    Target,
    Thruster,
    Wheel,
)

Suite = tuple[Sensor, ...]


@dataclass(frozen=True)
class Robot:
    """A robot: its nominal model, sensor sets by name, what is looked for, how hard it moves.

    reach [rad] and speed [Hz] of the joints' motion, push [N] of a thruster, spin [rad/s] of the
    wheels' changes of speed, duration [s] of a flight.
    """

    name: str
    model: ff.Model
    suites: dict[str, Suite]
    free: tuple[str, ...]
    drawn: tuple[str, ...]
    duration: float = 40.0
    reach: float = 0.6
    push: float = 0.0
    spin: float = 0.0

    def draw(self, rng: np.random.Generator) -> ff.Model:
        """One that could be the nominal one: bus and captured body differ from it."""
        model = self.model
        for name in self.drawn:
            model = model.with_body(_another(model.body(name), rng, model.root.type == "planar"))
        return model


def _another(body: Body, rng: np.random.Generator, is_planar: bool) -> Body:
    """A body of another size: mass by 15 %, centre by 10 % of its radius, inertia turned a bit."""
    factor = rng.uniform(0.85, 1.15)
    inertia = tensor(body.inertia)
    radius = float(np.sqrt(np.trace(inertia) / 2.0 / body.mass))
    com = np.array(body.com) + 0.1 * radius * rng.normal(size=3) * (1.0, 1.0, not is_planar)
    moments, axes = np.linalg.eigh(inertia * factor)
    turn = Rotation.from_rotvec(0.1 * rng.normal(size=3) * (not is_planar, not is_planar, 1.0))
    # stretched a little, which keeps the triangle inequality for what is no thin plate
    moments = moments * rng.uniform(0.95, 1.05, 3)
    axes = turn.as_matrix() @ axes
    return replace(
        body, mass=body.mass * factor, com=tuple(com.tolist()),
        inertia=six(axes @ np.diag(moments) @ axes.T),
    )  # fmt: skip


def tensor(inertia: tuple[float, ...]) -> np.ndarray:
    """The matrix of xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six(inertia: np.ndarray) -> tuple[float, float, float, float, float, float]:
    """The numbers xx, xy, xz, yy, yz, zz of a matrix."""
    return tuple(inertia[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].tolist())


def _link(name: str, mass: float, length: float, along: int, radius: float = 0.06) -> Body:
    """A tube along one of its axes, its frame at the joint that carries it."""
    com = np.zeros(3)
    com[along] = 0.5 * length
    inertia = np.full(3, mass * (length**2 / 12.0 + radius**2 / 2.0))
    inertia[along] = mass * radius**2
    return Body(name, mass, tuple(com.tolist()), six(np.diag(inertia)))


def _chain(
    prefix: str, parent: str, start: Placement, axes: str, lengths: tuple[float, ...],
    masses: tuple[float, ...], home: tuple[float, ...], along: int = 2,
) -> tuple[list[Body], list[Joint], Frame]:  # fmt: skip
    """An arm: links along one axis, each with its joint, and the frame at its end."""
    bodies, joints = [], []
    place = start
    for k, (axis, length, mass) in enumerate(zip(axes, lengths, masses, strict=True), start=1):
        body = _link(f"{prefix}_link_{k}", mass, length, along)
        direction = tuple(float(axis == name) for name in "xyz")
        joints.append(
            Joint(
                f"{prefix}_{k}", "revolute", parent, body.name, place, direction, home=home[k - 1]
            )
        )
        bodies.append(body)
        step = np.zeros(3)
        step[along] = length
        place, parent = Placement(tuple(step.tolist())), body.name
    return bodies, joints, Frame(f"{prefix}_hand", parent, place)


def _edges(body: str, size: float, force: float) -> tuple[Thruster, ...]:
    """Twelve thrusters, two each way on opposite edges of a cube."""
    out = []
    for axis in range(3):
        for side in (1.0, -1.0):
            for offset in (1.0, -1.0):
                direction, position = np.zeros(3), np.zeros(3)
                direction[axis] = side
                position[axis], position[(axis + 1) % 3] = -side * size, offset * size
                out.append(
                    Thruster(
                        f"thr_{len(out) + 1}", body, tuple(direction.tolist()),
                        tuple(position.tolist()), max_force=force,
                    )
                )  # fmt: skip
    return tuple(out)


def _suites(
    joints: str | None, *, has_wheel: bool = False, has_thrust: bool = False, noisy: float = 1.0
) -> dict[str, Suite]:
    """Sensor sets: what most fly, and with more of it; rates differ as they do on real buses."""
    root = "bus"
    base = [
        Sensor("gyro", root, 50.0, noise=5e-5 * noisy),
        Sensor("attitude", root, 10.0, noise=5e-5 * noisy),
    ]
    if joints:
        base.append(Sensor("encoder", joints, 50.0, noise=2e-5 * noisy))
        base.append(Sensor("joint_rate", joints, 50.0, noise=1e-4 * noisy))
    if has_wheel:
        base.append(Sensor("wheel_speed", "rw", 50.0, noise=0.01))
    if has_thrust:
        base.append(Sensor("thruster", "thr_*", 50.0))
    accelerometer = Sensor("accelerometer", root, 50.0, noise=2e-4 * noisy)
    velocity = Sensor("velocity", root, 10.0, noise=3e-4 * noisy)
    position = Sensor("position", root, 10.0, noise=1e-3 * noisy)
    out = {
        "gyro": tuple(base),
        "accelerometer": (*base, accelerometer),
        "velocity": (*base, velocity),
        "tracked": (*base, velocity, position, accelerometer),
    }
    if joints:
        torque = Sensor("joint_torque", joints, 50.0, noise=0.02 * noisy)
        out["torque"] = (*base, accelerometer, torque)
        slow = tuple(replace(s, rate=10.0) for s in (*base, velocity))
        out["slow"] = slow
    return out


def tug() -> Robot:
    """Thrusters and one body."""
    bus = Body("bus", 320.0, (0.04, -0.06, 0.10), (95.0, 3.0, -4.0, 120.0, 2.5, 80.0))
    model = ff.Model(
        "tug", Root("bus"), (bus,), thrusters=_edges("bus", 0.7, 8.0),
        description="A 320 kg tug without an arm.",
    )  # fmt: skip
    suites = _suites(None, has_thrust=True)
    suites = {name: suites[name] for name in ("accelerometer", "velocity", "tracked")}
    return Robot("tug", model, suites, ("bus.*",), ("bus",), push=8.0)


def grappler() -> Robot:
    """Seven joints, a captured target, a wheel, thrusters."""
    bus = Body("bus", 240.0, (0.03, 0.02, -0.05), (52.0, 1.2, -0.8, 47.0, 1.0, 58.0))
    links, joints, hand = _chain(
        "arm", "bus", Placement((0.45, 0.1, 0.55), (0.1, 0.2, 0.0)), "zyyxyxz",
        (0.18, 0.75, 0.65, 0.30, 0.22, 0.20, 0.15), (7.0, 11.0, 8.5, 5.0, 3.5, 3.0, 2.5),
        (0.3, 0.7, 0.9, -0.4, 0.6, 0.5, 0.2),
    )  # fmt: skip
    target = Body("target", 85.0, (0.06, -0.04, 0.35), (9.0, 0.3, -0.4, 7.5, 0.5, 6.0))
    model = ff.Model(
        "grappler", Root("bus"), (bus, *links), tuple(joints),
        wheels=(Wheel("rw", "bus", (0.6, 0.0, 0.8), 0.05),),
        thrusters=_edges("bus", 0.55, 5.0)[::2], frames=(hand,),
        targets=(Target(target, hand.body, hand.placement),),
        description="A 240 kg bus with a seven-joint arm that holds an 85 kg target.",
    )  # fmt: skip
    suites = _suites("arm_*", has_wheel=True, has_thrust=True)
    return Robot(
        "grappler", model, suites, ("bus.*", "target.*"), ("bus", "target"), push=5.0, spin=60.0,
        reach=0.5,
    )  # fmt: skip


def twins() -> Robot:
    """Two arms, a payload in one of them, nothing that pushes."""
    bus = Body("bus", 130.0, (-0.02, 0.03, 0.02), (19.0, 0.4, 0.5, 22.0, -0.6, 17.0))
    left, left_joints, hand = _chain(
        "left", "bus", Placement((0.3, 0.35, 0.4), (0.3, 0.0, 0.2)), "zyxy",
        (0.2, 0.6, 0.5, 0.25), (5.0, 7.0, 5.0, 3.0), (0.4, 0.6, 0.5, 0.7),
    )  # fmt: skip
    right, right_joints, _ = _chain(
        "right", "bus", Placement((0.3, -0.35, 0.4), (-0.4, 0.1, 0.0)), "yxy",
        (0.25, 0.55, 0.45), (6.0, 6.5, 4.5), (-0.5, 0.8, 0.4),
    )  # fmt: skip
    payload = Body("payload", 22.0, (0.03, 0.02, 0.15), (0.9, 0.05, 0.03, 0.8, -0.04, 0.6))
    model = ff.Model(
        "twins", Root("bus"), (bus, *left, *right), (*left_joints, *right_joints), frames=(hand,),
        targets=(Target(payload, hand.body, hand.placement),),
        description="A 130 kg bus with two arms; the left one holds a 22 kg payload.",
    )  # fmt: skip
    suites = _suites("*t_?")
    return Robot("twins", model, suites, ("bus.*", "payload.*"), ("bus", "payload"), reach=0.8)


def puck() -> Robot:
    """Planar on air bearings: three joints, a wheel, thrusters."""
    bus = Body("bus", 14.0, (0.02, -0.015, 0.0), (0.11, 0.0, 0.0, 0.12, 0.0, 0.21))
    links, joints, hand = _chain(
        "arm", "bus", Placement((0.18, 0.05, 0.0)), "zzz",
        (0.30, 0.25, 0.18), (0.6, 0.45, 0.3), (0.5, -0.7, 0.6), along=0,
    )  # fmt: skip
    payload = Body("payload", 1.4, (0.05, 0.02, 0.0), (3e-3, 0.0, 0.0, 3e-3, 0.0, 5e-3))
    corners = ((0.2, 0.2, 1, 0), (0.2, -0.2, 0, 1), (-0.2, -0.2, 0, 1), (-0.2, 0.2, -1, 0),
               (-0.2, 0.1, 1, 0), (0.1, 0.2, 0, -1))  # fmt: skip
    thrusters = tuple(
        Thruster(f"thr_{k}", "bus", (float(dx), float(dy), 0.0), (x, y, 0.0), max_force=0.4)
        for k, (x, y, dx, dy) in enumerate(corners, start=1)
    )
    model = ff.Model(
        "puck", Root("bus", "planar"), (bus, *links), tuple(joints),
        wheels=(Wheel("rw", "bus", (0.0, 0.0, 1.0), 0.002),), thrusters=thrusters, frames=(hand,),
        targets=(Target(payload, hand.body, hand.placement),),
        description="A 14 kg planar robot on air bearings with a three-joint arm and a payload.",
    )  # fmt: skip
    suites = _suites("arm_*", has_wheel=True, has_thrust=True, noisy=4.0)
    planar = ("mass", "mx", "my", "izz")
    free = tuple(f"{body}.{name}" for body in ("bus", "payload") for name in planar)
    return Robot("puck", model, suites, free, ("bus", "payload"), push=0.4, spin=80.0, reach=1.0)


ROBOTS: dict[str, Callable[[], Robot]] = {
    "tug": tug, "grappler": grappler, "twins": twins, "puck": puck,
}  # fmt: skip
