"""Joints of a URDF that are declared wheels: `role = "wheel"`, and nothing has to be copied.

The link becomes part of the body that carries it, and its moment about the axis a `Wheel`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Wheel
from freefloat.notes import Note

WHEEL = "wheel"  # the role in a model file; a Joint never keeps it
# theory: a wheel that is not round shakes its carrier; files round moments to three digits
ROUND = 1e-3


def turn_into_wheels(model: Model) -> tuple[Model, list[Fault]]:
    """The model with every joint of the role "wheel" as a Wheel, and why one cannot be."""
    faults: list[Fault] = []
    for joint in [joint for joint in model.joints if joint.role == WHEEL]:
        reason = _why_no_wheel(model, joint)
        if reason:
            value, remedy = f'"wheel", but {reason}', 'say role = "motion", or correct the link'
            expected = "a joint that turns a round body, balanced on its axis, with nothing on it"
            place = f"joint {joint.name!r}.role"
            faults.append(Fault(place, value, expected, remedy, "model.wheel"))
            joints = (replace(j, role="motion") if j is joint else j for j in model.joints)
            model = replace(model, joints=tuple(joints))
        else:
            model = _with_wheel(model, joint)
    return model, faults


def _why_no_wheel(model: Model, joint: Joint) -> str:
    bodies = {body.name: body for body in model.bodies}
    if joint.child not in bodies or joint.parent not in bodies:
        return "it does not join two bodies"
    if joint.type != "revolute" or joint.drive is not None:
        return f"it is {'driven by a flexible drive' if joint.drive else joint.type}"
    parts = (*model.tanks, *model.wheels, *model.thrusters, *model.frames, *model.capsules)
    carried = [other.name for other in model.joints if other.parent == joint.child]
    carried += [getattr(part, "name", "a capsule") for part in parts if part.body == joint.child]
    carried += [target.name for target in model.targets if target.on == joint.child]
    if carried:
        return f"{joint.child!r} carries {', '.join(carried)}"
    body = bodies[joint.child]
    if not any(joint.axis) or not body.mass > 0.0:
        return f"{joint.child!r} has no mass, or the joint no axis"
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    tensor = inertial.tensor(body.inertia)
    spin = float(axis @ tensor @ axis)
    across = 0.5 * (np.trace(tensor) - spin)
    around = np.outer(axis, axis)
    size = np.linalg.norm(tensor)
    if not spin > 0.0:
        return f"{joint.child!r} has no inertia about the axis"
    if np.linalg.norm(tensor - spin * around - across * (np.eye(3) - around)) > ROUND * size:
        return f"the inertia of {joint.child!r} is not round about the axis"
    beside = np.array(body.com) - axis * (axis @ np.array(body.com))
    if np.linalg.norm(beside) > ROUND * np.sqrt(spin / body.mass):
        return f"the centre of mass of {joint.child!r} is not on the axis"
    return ""


def _with_wheel(model: Model, joint: Joint) -> Model:
    carrier, child = model.body(joint.parent), model.body(joint.child)
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    spin = float(axis @ inertial.tensor(child.inertia) @ axis)
    R, p = joint.placement.rotation, joint.placement.position
    whole = carrier.phi + inertial.phi_transform(R, p) @ child.phi
    x, y, z = (R @ axis).tolist()
    wheel = Wheel(
        joint.name, carrier.name, (x, y, z), spin,
        max_speed=joint.limits.velocity, max_torque=joint.limits.effort,
    )  # fmt: skip
    text = f"joint {joint.name!r} is a wheel of {spin:g} kg m^2 on {carrier.name!r}, which now has"
    text += f" the mass of {child.name!r} as well"
    return replace(
        model,
        bodies=tuple(
            _lump(carrier, whole) if body is carrier else body
            for body in model.bodies
            if body is not child
        ),
        joints=tuple(other for other in model.joints if other is not joint),
        wheels=(*model.wheels, wheel),
        notes=(*model.notes, Note("joint.wheel", text)),
    )


def _lump(body: Body, phi: Array) -> Body:
    mass, com, six = inertial.com_from_phi(phi)
    x, y, z = com.tolist()
    xx, xy, xz, yy, yz, zz = six.tolist()
    return replace(body, mass=mass, com=(x, y, z), inertia=(xx, xy, xz, yy, yz, zz))
