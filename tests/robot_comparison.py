"""Inverse dynamics of a robot's file beside Pinocchio's and MuJoCo's, which read it themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.dynamics import flatten
from freefloat.dynamics.equations import inverse_dynamics
from freefloat.model import Model
from freefloat.model.mass_properties import mass_properties
from freefloat.model.mujoco_ import Names, compile_mjcf

# MuJoCo's tables of forces that inverse dynamics of ours do not have
FORCES = (
    "dof_damping", "jnt_stiffness", "body_gravcomp", "dof_dampingpoly", "jnt_stiffnesspoly",
    "tendon_stiffness", "tendon_damping", "tendon_armature",
)  # fmt: skip


def pinocchio_difference(path: Path, model: Model, *, seed: int = 3) -> float:
    """The largest difference at a random state: forces, total mass and CoM, each by its size."""
    import pinocchio as pin

    root = pin.JointModelFreeFlyer() if model.root.type == "floating" else None
    other = pin.buildModelFromUrdf(str(path), *([root] if root else []))
    other.gravity.setZero()
    system, data = flatten(model), other.createData()
    rng = np.random.default_rng(seed)
    coordinates = rng.uniform(-1.0, 1.0, (system.n_coordinates, 3))
    q, v, a = pin.neutral(other), np.zeros(other.nv), np.zeros(other.nv)
    rate, acceleration = np.zeros(3), np.zeros(6)
    if root:
        v[3:6] = rate = rng.uniform(-1.0, 1.0, 3)
        acceleration = rng.uniform(-1.0, 1.0, 6)
        a[3:6], a[:3] = acceleration[:3], acceleration[3:]
    names = [re.sub(r"[\s.\[\]*?]", "_", name) for name in other.names]
    rows = []
    for k, name in enumerate(system.coordinates):
        joint = other.joints[names.index(name)]
        position, v[joint.idx_v], a[joint.idx_v] = coordinates[k]
        is_circle = joint.nq == 2  # a continuous joint is a cosine and a sine there
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            (np.cos(position), np.sin(position)) if is_circle else position
        )
        rows.append(joint.idx_v)
    theirs = pin.rnea(other, data, q, v, a)
    ours = inverse_dynamics(system, [rate], [acceleration], [coordinates])[0]
    expected = np.concatenate([theirs[3:6], theirs[:3], theirs[rows]] if root else [theirs[rows]])
    size = np.abs(theirs).max(initial=0.0)
    worst = _relative(ours if root else ours[6:], expected, size)
    home = np.array([c.home for c in model.assembly.coordinates])
    if root and not home.any():  # a fixed root's own mass is none of Pinocchio's business
        whole = mass_properties(model)
        com = pin.centerOfMass(other, data, pin.neutral(other))
        mass = pin.computeTotalMass(other)
        worst = max(worst, abs(whole.mass / mass - 1.0), np.abs(whole.com - com).max())
    return worst


def mujoco_difference(path: Path, model: Model, *, compiled: Any = None, seed: int = 5) -> float:
    """The largest difference of generalised forces at a random state, by the largest of them.

    Springs, dampers, armature and fields are zero on both sides.
    """
    ours, theirs = both_inverse_dynamics(path, model, compiled=compiled, seed=seed)
    return _relative(ours, theirs, np.abs(theirs).max(initial=0.0))


def _relative(ours: np.ndarray, theirs: np.ndarray, size: float) -> float:
    worst = float(np.abs(ours - theirs).max(initial=0.0))
    return worst / size if size else worst


def both_inverse_dynamics(
    path: Path, model: Model, *, compiled: Any = None, seed: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised forces of freefloat and of MuJoCo at one state, without springs and fields."""
    import mujoco

    m, rng = compiled or compile_mjcf(path), np.random.default_rng(seed)
    names, system = Names.of(m), flatten(model)
    for table in FORCES:
        if hasattr(m, table):
            getattr(m, table)[:] = 0.0
    m.opt.gravity[:], m.opt.density, m.opt.viscosity = 0.0, 0.0, 0.0
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(m)
    mujoco.mj_setConst(m, data)  # what it keeps of bodies that only slide has armature in it
    data.qpos[:] = m.qpos0
    coordinates = rng.uniform(-1.0, 1.0, (system.n_coordinates, 3))
    pairs = []  # rows of ours and of theirs
    for k, (name, (q, v, a)) in enumerate(zip(system.coordinates, coordinates, strict=True)):
        j = names.joints.index(name)
        dof = m.jnt_dofadr[j]
        data.qpos[m.jnt_qposadr[j]], data.qvel[dof], data.qacc[dof] = q, v, a
        pairs.append((6 + k, dof))
    of_joints = np.isin(np.arange(m.nv), [dof for _, dof in pairs])
    m.dof_armature[~of_joints] = 0.0  # of a root it is noted as not used
    rate, acceleration = np.zeros(3), np.zeros(6)
    if model.root.type == "planar":
        rate[2], acceleration[[2, 3, 4]] = rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0, 3)
        for name, k in (("root_x", 3), ("root_y", 4), ("root_yaw", 2)):
            dof = m.jnt_dofadr[names.joints.index(name)]
            data.qacc[dof], data.qvel[dof] = acceleration[k], rate[2] if k == 2 else 0.0
            pairs.append((k, dof))
    if model.root.type == "floating":
        j = next(j for j in range(m.njnt) if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE
                 and _is_root(names.bodies[m.jnt_bodyid[j]], model))  # fmt: skip
        dof, at = m.jnt_dofadr[j], m.jnt_qposadr[j]
        rate, acceleration = rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 6)
        data.qpos[at + 3 : at + 7] = 1.0, 0.0, 0.0, 0.0
        data.qvel[dof + 3 : dof + 6] = rate
        data.qacc[dof + 3 : dof + 6], data.qacc[dof : dof + 3] = acceleration[:3], acceleration[3:]
        pairs += [*zip(range(6), [*range(dof + 3, dof + 6), *range(dof, dof + 3)], strict=True)]
    mujoco.mj_inverse(m, data)
    ours = inverse_dynamics(system, [rate], [acceleration], [coordinates])[0]
    rotors = {joint.name: joint.armature for joint in model.joints}  # behind stiff gears
    ours[6:] += [rotors.get(name, 0.0) for name in system.coordinates] * coordinates[:, 2]
    mine, rows = np.array(pairs, dtype=int).reshape(-1, 2).T
    return ours[mine], data.qfrc_inverse[rows]


def _is_root(body: str, model: Model) -> bool:
    return body.rstrip("_") == model.root.body.rstrip("_")
