"""Systems the code was not written for: random branched trees, and the same trees elsewhere.

`random_model` builds a Model; `pinocchio_model` builds it again in Pinocchio from the
parts alone, so that a shared mistake would have to be made twice.
"""

from __future__ import annotations

import numpy as np

from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Placement, Root


def random_body(rng: np.random.Generator, name: str, *, scale: float = 1.0) -> Body:
    """A physical body: a few point masses thrown at random."""
    points, masses = rng.normal(size=(6, 3)) * 0.4 * scale, rng.uniform(0.2, 2.0, 6) * scale
    m = masses.sum()
    c = masses @ points / m
    d = points - c
    tensor = sum(w * (r @ r * np.eye(3) - np.outer(r, r)) for w, r in zip(masses, d, strict=True))
    six = tuple(float(tensor[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    return Body(name, float(m), tuple(c.tolist()), six)


def random_model(
    seed: int,
    *,
    n_joints: int | None = None,
    root: str = "floating",
    roles: tuple[str, ...] = ("torque",),
    prismatic: float = 0.3,
    massless: bool = True,
) -> Model:
    """A random branched tree with rotated placements, prismatic joints and a massless link."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9)) if n_joints is None else n_joints
    planar = root == "planar"
    bodies = [random_body(rng, "bus", scale=3.0)]
    joints: list[Joint] = []
    for i in range(1, n + 1):
        parent = bodies[int(rng.integers(max(0, i - 3), i))].name
        axis = np.array([0.0, 0.0, 1.0]) if planar else rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        rpy = (0.0, 0.0, rng.uniform(-3, 3)) if planar else tuple(rng.uniform(-1.4, 1.4, 3))
        xyz = rng.normal(size=3) * 0.5
        if planar:
            xyz[2] = 0.0
        kind = "prismatic" if rng.random() < prismatic and not planar else "revolute"
        bodies.append(random_body(rng, f"link_{i}"))
        joints.append(
            Joint(
                f"joint_{i}",
                kind,
                parent,
                f"link_{i}",
                Placement(tuple(map(float, xyz)), tuple(map(float, rpy))),
                tuple(axis.tolist()),
                role=roles[i % len(roles)],
            )
        )
    if massless and n >= 3 and not planar:
        # an inner link without mass is legal as long as something heavy hangs on it by a
        # joint that does not leave it a free motion of its own
        parents = [joint.parent for joint in joints]
        inner = [k for k in range(1, n) if parents.count(f"link_{k}") > 0]
        if inner:
            bodies[inner[0]] = Body(bodies[inner[0]].name)
    return Model(f"random_{seed}", Root("bus", root), tuple(bodies), tuple(joints))


def pinocchio_model(model: Model):
    """The same tree in Pinocchio: (model, data, joint order)."""
    import pinocchio as pin

    assembly = model.assembly
    robot = pin.Model()
    robot.gravity.linear[:] = 0.0
    kinds = {"floating": pin.JointModelFreeFlyer(), "planar": pin.JointModelPlanar()}
    parents = {}
    root = model.root.body
    if model.root.type == "fixed":
        parents[root] = (0, pin.SE3.Identity())
    else:
        parents[root] = (
            robot.addJoint(0, kinds[model.root.type], pin.SE3.Identity(), "root"),
            pin.SE3.Identity(),
        )
    _append(pin, robot, parents[root], assembly.bodies[0])
    for joint, body in zip(assembly.joints, assembly.bodies[1:], strict=True):
        index, place = parents[joint.parent]
        here = place * pin.SE3(joint.placement.rotation, joint.placement.position)
        if joint.type == "fixed":
            parents[body.name] = (index, here)
        else:
            axis = np.array(joint.axis)
            kind = (
                pin.JointModelRevoluteUnaligned(axis)
                if joint.type == "revolute"
                else pin.JointModelPrismaticUnaligned(axis)
            )
            parents[body.name] = (robot.addJoint(index, kind, here, joint.name), pin.SE3.Identity())
        _append(pin, robot, parents[body.name], body)
    return robot, robot.createData()


def _append(pin, robot, where, body: Body) -> None:
    index, place = where
    xx, xy, xz, yy, yz, zz = body.inertia
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    robot.appendBodyToJoint(index, pin.Inertia(body.mass, np.array(body.com), tensor), place)
