"""The same mechanism in MuJoCo, integrated by its RK4.

MuJoCo has no prescribed joints. The seven driven ones get an armature of 1e9 kg m^2, which acts on
the joint alone and not on what carries it, and the force that gives them the planned acceleration
in the middle of each step: they follow the plan to 1e-6 rad whatever pulls at them.
"""

from __future__ import annotations

import mujoco
import numpy as np
from common import GIVEN, HINGES, MODEL, Array, C

from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.model import inertia
from freefloat.model.parts import Joint

ARMATURE = 1e9  # [kg m^2]


def build(step: float) -> mujoco.MjModel:
    """`servicer-wings` as a MuJoCo model."""
    children: dict[str, list[Joint]] = {}
    for joint in MODEL.assembly.joints:
        children.setdefault(joint.parent, []).append(joint)

    def numbers(values) -> str:
        return " ".join(repr(float(v)) for v in values)

    def body(name: str, joint: Joint | None = None) -> str:
        part = MODEL.body(name)
        xx, xy, xz, yy, yz, zz = part.inertia
        moves, place = "<freejoint/>", (0.0, 0.0, 0.0)
        if joint is not None:
            place = joint.placement.xyz
            armature = ARMATURE if joint.role == "motion" else 0.0
            moves = (
                f'<joint axis="{numbers(joint.axis)}" stiffness="{joint.stiffness!r}"'
                f' damping="{joint.damping!r}" armature="{armature!r}"/>'
            )
        inner = "".join(body(j.child, j) for j in children.get(name, ()))
        return (
            f'<body name="{name}" pos="{numbers(place)}">{moves}<inertial mass="{part.mass!r}"'
            f' pos="{numbers(part.com)}" fullinertia="{numbers([xx, yy, zz, xy, xz, yz])}"/>'
            f"{inner}</body>"
        )

    return mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian"/>'
        f'<option gravity="0 0 0" timestep="{step!r}" integrator="RK4">'
        '<flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{body(MODEL.root.body)}</worldbody></mujoco>"
    )


def set_parameters(robot: mujoco.MjModel, name: str, phi: Array) -> None:
    """Ten inertial parameters (about the body's origin) into a body of the model."""
    mass, com = phi[0], phi[1:4] / phi[0]
    xx, xy, xz, yy, yz, zz = phi[4:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    about_com = about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
    moments, axes = np.linalg.eigh(about_com)
    axes = axes * np.sign(np.linalg.det(axes))
    i = robot.body(name).id
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, axes.ravel())
    robot.body_mass[i], robot.body_ipos[i] = mass, com
    robot.body_inertia[i], robot.body_iquat[i] = moments, quaternion
    robot.body_sameframe[i] = 0  # the inertial frame is its own from now on
    mujoco.mj_setConst(robot, mujoco.MjData(robot))


def change(robot: mujoco.MjModel, parameter: str, amount: float) -> None:
    """Add to a named parameter, such as bus.mass or hinge_l1.stiffness."""
    owner, field = parameter.split(".")
    if owner.startswith("hinge"):
        k = [joint.name for joint in MODEL.assembly.joints].index(owner) + 1  # 0: the free joint
        if field == "stiffness":
            robot.jnt_stiffness[k] += amount
        else:
            robot.dof_damping[robot.jnt_dofadr[k]] += amount
        return
    phi = MODEL.body(owner).phi.copy()
    phi[inertia.NAMES.index(field)] += amount
    set_parameters(robot, owner, phi)


def forces(table: Inputs) -> Array:
    """qfrc_applied (steps, 17) that moves the driven joints as planned."""
    applied = np.zeros((len(table.given), 6 + C))
    applied[:, 6 + GIVEN] = ARMATURE * table.given[:, 1, :, 2]
    return applied


def load(data: mujoco.MjData, x: Array) -> None:
    """A freefloat state into MuJoCo's data."""
    data.qpos[:7] = [*x[:3], x[6], *x[3:6]]  # the scalar of the quaternion comes first
    data.qvel[:6] = x[7:13]
    data.qpos[7:], data.qvel[6:] = x[13 : 13 + C], x[13 + C :]


def free_state(qpos: Array, qvel: Array) -> Array:
    """The 21 free numbers of a freefloat state from MuJoCo's."""
    return np.concatenate(
        [qpos[:3], qpos[4:7], qpos[3:4], qvel[:6], qpos[7 + HINGES], qvel[6 + HINGES]]
    )


def run(robot: mujoco.MjModel, data: mujoco.MjData, x: Array, applied: Array) -> Array:
    """One mj_step a row of `applied`, from Python; the free state at the end."""
    mujoco.mj_resetData(robot, data)
    load(data, x)
    force, step = data.qfrc_applied, mujoco.mj_step
    for row in applied:
        force[:] = row
        step(robot, data)
    return free_state(data.qpos, data.qvel)


def roll(robots: list[mujoco.MjModel], data: mujoco.MjData, x: Array, applied: Array) -> Array:
    """The final free states (robots, 21) by `mujoco.rollout`, which loops in C."""
    from mujoco import rollout

    mujoco.mj_resetData(robots[0], data)
    load(data, x)
    whole = mujoco.mjtState.mjSTATE_FULLPHYSICS.value
    begin = np.zeros(mujoco.mj_stateSize(robots[0], whole))
    mujoco.mj_getState(robots[0], data, begin, whole)
    states, _ = rollout.rollout(
        robots, data, np.tile(begin, (len(robots), 1)), applied,
        control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED.value,
    )  # fmt: skip
    last = states[:, -1]
    return np.array([free_state(row[1 : 8 + C], row[8 + C : 14 + 2 * C]) for row in last])
