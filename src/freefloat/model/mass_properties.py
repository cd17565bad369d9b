"""Mass properties of the whole robot: what a scale and a turntable would find, joints held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array, read_only_copy
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.model.parts import Joint
from freefloat.model.rotations import matrix_from_quaternion, quaternion_from_rotation_vector
from freefloat.notes import Note

Pose = tuple[Array, Array]
# theory: nothing that is built of metal is denser than osmium, or thinner than a solar sail whose
# mass is spread over a sphere: a thousandth of air
DENSEST, THINNEST = 22_600.0, 1e-3  # [kg/m^3]


@dataclass(frozen=True)
class MassProperties:
    """Mass [kg], centre of mass (3) [m] and inertia about it (3, 3) [kg m^2], in root axes.

    Positions count from the root's origin. Wheels and motors are held like the joints.
    """

    mass: float
    com: Array
    inertia: Array

    @property
    def principal(self) -> Array:
        """The principal moments of inertia about the centre of mass [kg m^2], smallest first."""
        return read_only_copy(np.linalg.eigvalsh(self.inertia))


def mass_properties(model: Model, *, posture: Mapping[str, float] | None = None) -> MassProperties:
    """The mass properties of everything at a posture (home by default), fuel and targets included.

    `posture` maps coordinate names to [rad] or [m].

    >>> from freefloat.model import load_model
    >>> mass_properties(load_model("servicer")).mass
    1237.0
    """
    mass, com, six = inertial.com_from_phi(whole_phi(model, posture=posture))
    return MassProperties(mass, read_only_copy(com), read_only_copy(inertial.tensor(six)))


def unit_note(model: Model) -> Note | None:
    """Why lengths or masses cannot be in m and kg; None where they can.

    theory: of bodies of one mass and volume a sphere has the least moments, tr I = 6/5 m r^2; so
    the density is at least that of such a sphere. Of a robot in a plane one moment counts.

    >>> from freefloat.model import load_model
    >>> unit_note(load_model("servicer")) is None
    True
    """
    whole = mass_properties(model)
    is_planar = model.root.type == "planar"
    moments = 3.0 * whole.inertia[2, 2] if is_planar else float(np.trace(whole.inertia))
    if not (whole.mass > 0.0 and moments > 0.0):
        return None
    radius = float(np.sqrt(5.0 / 6.0 * moments / whole.mass))
    density = whole.mass / (4.0 / 3.0 * np.pi * radius**3)
    if THINNEST <= density <= DENSEST:
        return None
    text = f"{whole.mass:.3g} kg spread over a radius of {radius:.2g} m have a density of"
    return Note("model.units", f"{text} {density:.2g} kg/m^3: lengths or masses are in other units")


def whole_phi(model: Model, *, posture: Mapping[str, float] | None = None) -> Array:
    """The ten inertial parameters of everything as one body, in the root's frame."""
    assembly, poses = model.assembly, body_poses(model, posture=posture)
    each = [inertial.phi_transform(*poses[body.name]) @ body.phi for body in assembly.bodies]
    phi = np.sum(each, axis=0)
    for rotor in assembly.rotors:
        if not rotor.is_included:  # a motor's rotor is not part of the body that carries it
            axis = poses[rotor.body][0] @ np.array(rotor.axis)
            phi[4:] += rotor.inertia * inertial.six(np.outer(axis, axis))
    return phi


def body_poses(model: Model, *, posture: Mapping[str, float] | None = None) -> dict[str, Pose]:
    """Rotation (3, 3) and position (3) [m] of every body in the root's frame, by name."""
    assembly = model.assembly
    q = {c.name: c.home for c in assembly.coordinates}
    for name, value in (posture or {}).items():
        assembly.index(name)  # an unknown name is an error that lists the known ones
        q[name] = value
    poses: dict[str, Pose] = {assembly.bodies[0].name: (np.eye(3), np.zeros(3))}
    for joint in assembly.joints:
        poses[joint.child] = _child_pose(poses[joint.parent], joint, q.get(joint.name, 0.0))
    return poses


def _child_pose(parent: Pose, joint: Joint, q: float) -> Pose:
    """The pose in the root's frame of the body a joint carries, at coordinate q."""
    R, p = parent
    R_joint, p_joint = R @ joint.placement.rotation, R @ joint.placement.position + p
    motion = q * np.array(joint.axis)
    if joint.type == "prismatic":
        return R_joint, p_joint + R_joint @ motion
    if joint.type == "revolute":
        turn = matrix_from_quaternion(quaternion_from_rotation_vector(motion))
        return R_joint @ turn, p_joint
    return R_joint, p_joint
