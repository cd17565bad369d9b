"""A world flown by MuJoCo: its mechanism as MJCF, and what ideal sensors in it read.

Joints and wheels follow their courses: MuJoCo has no prescribed joints, so driven ones get an
armature of 1e9 kg m^2, which acts on the joint alone and not on what carries it, and the force
that gives them the wanted acceleration in the middle of each step. Passive joints have their spring
and damper. Thrusters are forces at sites.
All readings are those of MuJoCo's own sensors; torques of joints are its inverse dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import rollout
from scipy.spatial.transform import Rotation
from worlds.robots import tensor
from worlds.world import Appendage, Array, World

from freefloat.model.parts import Body, Joint

ARMATURE = 1e9  # [kg m^2]
STEP = 0.002  # [s]
FINE = 100.0  # [Hz], of readings
EVERY = round(1.0 / FINE / STEP)
WHEEL_MASS = 1e-6  # [kg]; a wheel's mass is part of its bus
WHOLE = mujoco.mjtState.mjSTATE_FULLPHYSICS.value


@dataclass
class Readings:
    """Clean readings by channel group, all at `times` [s]: scalars (N,), vectors, quaternions."""

    times: Array
    groups: dict[str, Array]


def _text(values: object) -> str:
    return " ".join(repr(float(v)) for v in np.ravel(np.asarray(values, dtype=float)))


def _full(inertia: Array) -> str:
    """As MuJoCo orders it: xx, yy, zz, xy, xz, yz."""
    return _text(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])


def _pose(xyz: object, rpy: object) -> str:
    x, y, z, w = Rotation.from_euler("xyz", rpy).as_quat()
    return f'pos="{_text(xyz)}" quat="{_text([w, x, y, z])}"'


class Mjcf:
    """The text of a world's mechanism."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.children: dict[str, list[Joint]] = {}
        for joint in world.model.assembly.joints:
            self.children.setdefault(joint.parent, []).append(joint)
        self.driven: list[str] = []

    def text(self) -> str:
        """The whole mechanism, with thrusters and sensors."""
        world, root = self.world, self.world.model.root
        held = {
            "floating": "<freejoint/>",
            "planar": '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
            '<joint type="hinge" axis="0 0 1"/>',
        }[root.type]
        inner = self._body(world.model.body(root.body), held, 'pos="0 0 0"')
        push = "".join(
            f'<general site="{t.name}" gear="{_text(t.direction)} 0 0 0"/>'
            for t in world.model.thrusters
        )
        drive = "".join(f'<motor joint="{name}" gear="{ARMATURE!r}"/>' for name in self.driven)
        kinds = ("gyro", "accelerometer", "framequat", "framepos", "framelinvel")
        sense = "".join(_sensor(kind) for kind in kinds)
        return (
            '<mujoco><compiler angle="radian" autolimits="false"/>'
            f'<option integrator="RK4" timestep="{STEP!r}" gravity="{_text(world.gravity)}">'
            '<flag contact="disable" constraint="disable"/></option>'
            f"<worldbody>{inner}</worldbody><actuator>{drive}{push}</actuator>"
            f"<sensor>{sense}</sensor></mujoco>"
        )

    def _body(self, body: Body, moves: str, place: str) -> str:
        world = self.world
        mass, first, about = body.mass, body.mass * np.array(body.com), _about_origin(body)
        inner = ""
        for part in world.appendages:
            if part.body == body.name:
                at = np.array(part.position)
                mass, first = mass - part.mass, first - part.mass * at
                about = about - part.mass * (at @ at * np.eye(3) - np.outer(at, at))
                inner += self._appendage(part)
        for wheel in world.model.wheels:
            if wheel.body == body.name:
                disc = _disc(wheel.axis, wheel.inertia)
                about = about - disc
                inner += self._wheel(wheel.name, wheel.axis, disc)
        if body.name == world.model.root.body:
            inner += "".join(_site(kind, world) for kind in SITES)
        for thruster in world.model.thrusters:
            if thruster.body == body.name:
                inner += f'<site name="{thruster.name}" pos="{_text(thruster.position)}"/>'
        inner += "".join(self._joint(joint) for joint in self.children.get(body.name, ()))
        com = first / mass
        inertia = about - mass * (com @ com * np.eye(3) - np.outer(com, com))
        return (
            f'<body name="{body.name}" {place}><inertial pos="{_text(com)}" mass="{mass!r}"'
            f' fullinertia="{_full(inertia)}"/>{moves}{inner}</body>'
        )

    def _joint(self, joint: Joint) -> str:
        body = self.world.model.body(joint.child)
        place = _pose(joint.placement.xyz, joint.placement.rpy)
        moves = ""
        if joint.role == "passive":
            moves = (
                f'<joint name="{joint.name}" axis="{_text(joint.axis)}"'
                f' stiffness="{joint.stiffness!r}" damping="{joint.damping!r}"/>'
            )
        elif joint.type != "fixed":
            self.driven.append(joint.name)
            moves = self._drive(joint.name, joint.axis)
            if joint.name in self.world.soft:
                stiffness, damping = self.world.soft[joint.name]
                moves += (
                    f'<joint name="{joint.name}.soft" axis="{_text(joint.axis)}"'
                    f' stiffness="{stiffness!r}" damping="{damping!r}"/>'
                )
        for k, slip in enumerate(self.world.slips):
            if slip.body == body.name:
                self.driven.append(f"slip_{k}")
                kind = "slide" if slip.is_sliding else "hinge"
                moves += self._drive(f"slip_{k}", slip.axis, kind)
        return self._body(body, moves, place)

    @staticmethod
    def _drive(name: str, axis: object, kind: str = "hinge") -> str:
        return f'<joint name="{name}" type="{kind}" axis="{_text(axis)}" armature="{ARMATURE!r}"/>'

    def _wheel(self, name: str, axis: object, disc: Array) -> str:
        self.driven.append(name)
        return (
            f'<body name="wheel {name}"><inertial pos="0 0 0" mass="{WHEEL_MASS!r}"'
            f' fullinertia="{_full(disc)}"/>{self._drive(name, axis)}</body>'
        )

    def _appendage(self, part: Appendage) -> str:
        """A point mass on a slider, as fuel in a tank or the tip of a wing."""
        k = self.world.appendages.index(part)
        w = 2.0 * np.pi * part.frequency
        stiffness, damping = part.mass * w**2, 2.0 * part.damping_ratio * part.mass * w
        return (
            f'<body name="appendage {k}" pos="{_text(part.position)}">'
            f'<joint type="slide" axis="{_text(part.axis)}" stiffness="{float(stiffness)!r}"'
            f' damping="{float(damping)!r}"/>'
            f'<inertial pos="0 0 0" mass="{part.mass!r}" diaginertia="1e-9 1e-9 1e-9"/></body>'
        )


SITES = ("gyro", "accelerometer", "attitude", "position", "velocity")
_FRAME_SENSORS = {"framequat": "attitude", "framepos": "position", "framelinvel": "velocity"}


def _sensor(kind: str) -> str:
    if kind in _FRAME_SENSORS:
        return f'<{kind} objtype="site" objname="at_{_FRAME_SENSORS[kind]}"/>'
    return f'<{kind} site="at_{kind}"/>'


def _site(kind: str, world: World) -> str:
    xyz, rpy = world.mounts.get(kind, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    return f'<site name="at_{kind}" {_pose(xyz, rpy)}/>'


def _about_origin(body: Body) -> Array:
    com = np.array(body.com)
    return tensor(body.inertia) + body.mass * (com @ com * np.eye(3) - np.outer(com, com))


def _disc(axis: object, inertia: float) -> Array:
    a = np.asarray(axis, dtype=float)
    a = a / np.linalg.norm(a)
    # a little fatter than a disc, whose moments meet the triangle inequality with nothing to spare
    return inertia * (0.6 * np.eye(3) + 0.4 * np.outer(a, a))


def fly(world: World) -> Readings:
    """Fly a world and read its ideal sensors at FINE."""
    text = Mjcf(world)
    xml = text.text()
    robots = [_build(world, xml)]
    for time, body, factor in world.lost:
        robots.append(_build(world, xml))
        for _, name, share in world.lost[: len(robots) - 1]:
            i = robots[-1].body(name).id
            robots[-1].body_mass[i] *= share
            robots[-1].body_inertia[i] *= share
        assert 0.0 < time < world.duration and factor > 0.0 and body
    n = round(world.duration / STEP)
    times = STEP * np.arange(n + 1)
    controls = _controls(world, text.driven, times[:-1] + 0.5 * STEP, times)
    switches = [0, *(round(time / STEP) for time, _, _ in world.lost), n]
    start = _start(world, robots[0], text.driven)
    states = [start[None]]
    for k, robot in enumerate(robots):
        part = controls[switches[k] : switches[k + 1]]
        states.append(_roll(world, robot, states[-1][-1], part))
    whole = np.concatenate(states)[::EVERY]
    which = np.searchsorted(switches[1:-1], EVERY * np.arange(len(whole)), side="right")
    at = times[::EVERY]
    return _read(world, robots, which, whole, _controls(world, text.driven, at, at), at, text)


def _build(world: World, xml: str) -> mujoco.MjModel:
    robot = mujoco.MjModel.from_xml_string(xml)
    n = 3 if world.model.root.type == "floating" else 2
    robot.dof_damping[:n] = world.linear_drag
    robot.dof_damping[n : 6 if n == 3 else 3] = world.angular_drag
    if n == 2:
        robot.jnt_stiffness[:3] = (world.cable[0], world.cable[0], world.cable[1])
    else:  # one number for both in MuJoCo
        robot.jnt_stiffness[0] = world.cable[0]
    return robot


def _courses(world: World, driven: list[str], t: Array) -> Array:
    """Positions (N, driven) of joints and slips; of wheels their speed."""
    columns = []
    for name in driven:
        if name.startswith("slip_"):
            columns.append(world.slips[int(name.removeprefix("slip_"))].angle(t))
        else:
            columns.append((world.motions | world.wheels)[name](t))
    return np.column_stack([np.zeros((len(t), 0)), *columns])


def _controls(world: World, driven: list[str], middle: Array, steps: Array) -> Array:
    """Accelerations of the drives (at `middle`) and forces of the thrusters (at `steps`)."""
    h = 1e-3
    ahead, here, behind = (_courses(world, driven, middle + dt) for dt in (h, 0.0, -h))
    acceleration = (ahead - 2.0 * here + behind) / h**2
    for k, name in enumerate(driven):
        if name in world.wheels:
            acceleration[:, k] = (ahead[:, k] - behind[:, k]) / (2.0 * h)
    steps = steps[: len(middle)]
    push = [applied_thrust(world, t.name, steps) for t in world.model.thrusters]
    return np.column_stack([acceleration, *push])


def applied_thrust(world: World, name: str, t: Array) -> Array:
    """What a thruster pushes [N] at times: its command, through its valve."""
    level = world.thrusts[name](t)
    valve = world.valves.get(name)
    return level if valve is None else valve(t, level)


def _start(world: World, robot: mujoco.MjModel, driven: list[str]) -> Array:
    data = mujoco.MjData(robot)
    if world.model.root.type == "floating":
        data.qvel[:3], data.qvel[3:6] = world.velocity, world.rate
    else:
        data.qvel[:3] = *world.velocity[:2], world.rate[2]
    h = 1e-3
    ahead, here, behind = (_courses(world, driven, np.array([dt])) for dt in (h, 0.0, -h))
    for k, name in enumerate(driven):
        joint = robot.joint(name)
        if name in world.wheels:
            data.qvel[joint.dofadr[0]] = here[0, k]
        else:
            data.qpos[joint.qposadr[0]] = here[0, k]
            data.qvel[joint.dofadr[0]] = (ahead[0, k] - behind[0, k]) / (2.0 * h)
    state = np.zeros(mujoco.mj_stateSize(robot, WHOLE))
    mujoco.mj_getState(robot, data, state, WHOLE)
    return state


def _roll(world: World, robot: mujoco.MjModel, start: Array, controls: Array) -> Array:
    """States (steps, size) after each step."""
    data = mujoco.MjData(robot)
    if not world.gradient:
        control = mujoco.mjtState.mjSTATE_CTRL.value
        states, _ = rollout.rollout(robot, data, start[None], controls[None], control_spec=control)
        return states[0]
    mujoco.mj_setState(robot, data, start, WHOLE)
    out = np.empty((len(controls), len(start)))
    for k, control in enumerate(controls):
        data.ctrl[:] = control
        if k % EVERY == 0:  # it changes with the attitude only
            mujoco.mj_kinematics(robot, data)
            mujoco.mj_comPos(robot, data)
            _apply_gradient(world, robot, data)
        mujoco.mj_step(robot, data)
        mujoco.mj_getState(robot, data, out[k], WHOLE)
    return out


def _radial(world: World, time: float) -> Array:
    """The direction away from the planet."""
    angle = np.sqrt(world.gradient) * time
    return np.array([np.cos(angle), 0.6 * np.sin(angle), 0.8 * np.sin(angle)])


def _apply_gradient(world: World, robot: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Forces and torques of a circular orbit's gravity on every body, about its own centre."""
    r = _radial(world, data.time)
    x = data.xipos[1:]
    force = world.gradient * robot.body_mass[1:, None] * (3.0 * np.outer(x @ r, r) - x)
    turned = data.ximat[1:].reshape(-1, 3, 3)
    local = np.einsum("bji,j->bi", turned, r) * robot.body_inertia[1:]
    torque = 3.0 * world.gradient * np.cross(r, np.einsum("bij,bj->bi", turned, local))
    data.xfrc_applied[1:, :3], data.xfrc_applied[1:, 3:] = force, torque


def _outer_forces(data: mujoco.MjData) -> Array:
    """Generalised forces of what acts on bodies from outside."""
    inner = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator
    return data.qfrc_smooth - inner


def _gradient_at(world: World, data: mujoco.MjData, site: str) -> Array:
    """Acceleration of free fall at a site, in its axes."""
    place = data.site(site)
    x, r = place.xpos, _radial(world, data.time)
    return place.xmat.reshape(3, 3).T @ (world.gradient * (3.0 * (x @ r) * r - x))


def _read(
    world: World, robots: list[mujoco.MjModel], which: Array, states: Array, controls: Array,
    times: Array, text: Mjcf,
) -> Readings:  # fmt: skip
    datas = [mujoco.MjData(robot) for robot in robots]
    free_of_armature = [mujoco.MjModel.from_xml_string(text.text()) for _ in robots]
    for robot, like in zip(free_of_armature, robots, strict=True):
        robot.dof_armature[:] = 1e-6  # or two hinges on one axis would be singular
        robot.body_mass[:], robot.body_inertia[:] = like.body_mass, like.body_inertia
        robot.dof_damping[:] = like.dof_damping
    inverses = [mujoco.MjData(robot) for robot in free_of_armature]
    joints = [j for j in world.model.assembly.joints if j.type != "fixed"]
    iq = [int(robots[0].joint(j.name).qposadr[0]) for j in joints]
    iv = [int(robots[0].joint(j.name).dofadr[0]) for j in joints]
    wv = [int(robots[0].joint(w.name).dofadr[0]) for w in world.model.wheels]
    sensed = np.empty((len(times), robots[0].nsensordata))
    q, dq, tau = (np.empty((len(times), len(joints))) for _ in range(3))
    speed = np.empty((len(times), len(wv)))
    for n, (state, k) in enumerate(zip(states, which, strict=True)):
        robot, data = robots[k], datas[k]
        mujoco.mj_setState(robot, data, state, WHOLE)
        data.ctrl[:] = controls[n]
        if world.gradient:
            mujoco.mj_kinematics(robot, data)
            mujoco.mj_comPos(robot, data)
            _apply_gradient(world, robot, data)
        mujoco.mj_forward(robot, data)
        sensed[n], q[n], dq[n], speed[n] = (
            data.sensordata,
            data.qpos[iq],
            data.qvel[iv],
            data.qvel[wv],
        )
        inverse = inverses[k]
        inverse.qpos[:], inverse.qvel[:], inverse.qacc[:] = data.qpos, data.qvel, data.qacc
        mujoco.mj_inverse(free_of_armature[k], inverse)
        tau[n] = inverse.qfrc_inverse[iv]
        if world.gradient:  # for MuJoCo a force like any other: it has no part in what is read
            tau[n] -= _outer_forces(data)[iv]
            sensed[n, 3:6] -= _gradient_at(world, data, "at_accelerometer")
    groups = {
        "base.rate": sensed[:, :3],
        "base.acceleration": sensed[:, 3:6],
        "base.attitude": sensed[:, [7, 8, 9, 6]],  # MuJoCo has the scalar first
        "base.position": sensed[:, 10:13],
        "base.velocity": sensed[:, 13:16],
    }
    for i, joint in enumerate(joints):
        groups[f"{joint.name}.position"] = q[:, i]
        groups[f"{joint.name}.velocity"] = dq[:, i]
        groups[f"{joint.name}.torque"] = tau[:, i]
    for i, wheel in enumerate(world.model.wheels):
        groups[f"{wheel.name}.speed"] = speed[:, i]
    return Readings(times, groups)
