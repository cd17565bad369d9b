"""The same mechanism in Pinocchio and in MuJoCo, built from a Model's parts alone.

Nothing of `freefloat.dynamics` is used, so that a shared mistake would have to be made twice. Both
engines answer in freefloat's order: root angular (3), root linear (3; classical acceleration) in
root axes, then every coordinate.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from freefloat.model.assembly import Rotor
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint

Array = NDArray[np.float64]


def spring_forces(model: Model) -> Callable[[Array, Array], Array]:
    """The generalised force of stiffness, damping and friction as a function of q and dq.

    A spring acts between two coordinates; one that acts on a joint alone is held by the last
    entry of a longer vector, which never moves.
    """
    order = [c.name for c in model.assembly.coordinates]
    ends, numbers = [], []
    for joint in (j for j in model.assembly.joints if j.type != "fixed"):
        i, speed = order.index(joint.name), joint.friction_speed
        ends.append((i, len(order)))
        numbers.append((joint.stiffness, joint.damping, joint.rest, joint.friction, speed))
        if joint.drive is not None:
            d = joint.drive
            ends.append((i, order.index(f"{joint.name}.motor")))
            numbers.append((d.stiffness, d.damping, 0.0, d.friction, speed))
    a, b = np.array(ends, dtype=int).reshape(-1, 2).T
    stiffness, damping, rest, friction, speed = np.array(numbers).reshape(-1, 5).T

    def force(q: Array, dq: Array) -> Array:
        q, dq, total = np.append(q, 0.0), np.append(dq, 0.0), np.zeros(len(order) + 1)
        x, u = q[a] - q[b], dq[a] - dq[b]
        pull = stiffness * (x - rest) + damping * u + friction * np.tanh(u / speed)
        np.add.at(total, a, -pull)
        np.add.at(total, b, pull)
        return total[:-1]

    return force


def matrix_of(q: Array) -> Array:
    """The rotation matrix of a quaternion x, y, z, w of any norm."""
    x, y, z, w = q
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return np.array(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )


def tensor(six: tuple[float, ...]) -> Array:
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def branches(model: Model) -> dict[str, list[tuple[Joint, Body]]]:
    """The joints that start at each body, with the bodies they carry."""
    carried: dict[str, list[tuple[Joint, Body]]] = {}
    for joint, body in zip(model.assembly.joints, model.assembly.bodies[1:], strict=True):
        carried.setdefault(joint.parent, []).append((joint, body))
    return carried


class Pinocchio:
    """A Model in Pinocchio; a rotor is a joint of its own that turns N times faster."""

    def __init__(self, model: Model, *, gravity: tuple[float, ...] = (0.0, 0.0, 0.0)) -> None:
        assembly = model.assembly
        self.model, self.robot = model, pin.Model()
        self.robot.gravity.linear[:] = gravity
        self.where = {model.root.body: (self._add_root(), pin.SE3.Identity())}
        self.index: dict[str, int] = {}  # coordinate -> joint of Pinocchio
        self.branches, self.springs = branches(model), spring_forces(model)
        self._grow(assembly.bodies[0])
        self.joints = [self.index[c.name] for c in assembly.coordinates]
        ratios = {rotor.coordinate: rotor.ratio for rotor in assembly.rotors}
        self.ratio = np.array([ratios.get(c.name, 1.0) for c in assembly.coordinates])
        self.data = self.robot.createData()
        self.iq = np.array([self.robot.joints[k].idx_q for k in self.joints], dtype=int)
        self.iv = np.array([self.robot.joints[k].idx_v for k in self.joints], dtype=int)
        free = [c.role in ("torque", "passive") for c in assembly.coordinates]
        root = {"floating": range(6), "planar": range(3), "fixed": range(0)}[model.root.type]
        self.free = np.array([*root, *(int(i) for i in self.iv[free])], dtype=int)
        self.given = np.array([int(i) for i in self.iv[~np.array(free, dtype=bool)]], dtype=int)
        for joint in model.joints:
            if joint.type != "fixed":
                place = self.robot.joints[self.index[joint.name]].idx_v
                self.robot.armature[place] = joint.armature

    def _add_root(self) -> int:
        kinds = {"floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}
        if self.model.root.type == "fixed":
            return 0
        return self.robot.addJoint(0, kinds[self.model.root.type](), pin.SE3.Identity(), "root")

    def _grow(self, body: Body) -> None:
        # Depth first: Pinocchio's crba takes a subtree's joints to be numbered without a gap.
        self._append(body)
        for rotor in self.model.assembly.rotors:
            if rotor.body == body.name:
                self._add_rotor(rotor)
        for joint, child in self.branches.get(body.name, ()):
            self._add_joint(joint)
            self._grow(child)

    def _add_joint(self, joint: Joint) -> None:
        index, place = self.where[joint.parent]
        here = place * pin.SE3(joint.placement.rotation, joint.placement.position)
        if joint.type == "fixed":
            self.where[joint.child] = (index, here)
            return
        kinds = {
            "revolute": pin.JointModelRevoluteUnaligned,
            "prismatic": pin.JointModelPrismaticUnaligned,
        }
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        new = self.robot.addJoint(index, kinds[joint.type](axis), here, joint.name)
        self.index[joint.name] = new
        self.where[joint.child] = (new, pin.SE3.Identity())

    def _append(self, body: Body) -> None:
        index, place = self.where[body.name]
        inertia = tensor(body.inertia)
        for wheel in self.model.wheels:  # the body's inertia is the one with locked wheels
            if wheel.body == body.name:
                inertia -= wheel.inertia * np.outer(wheel.axis, wheel.axis)
        self.robot.appendBodyToJoint(
            index, pin.Inertia(body.mass, np.array(body.com), inertia), place
        )

    def _add_rotor(self, rotor: Rotor) -> None:
        index, place = self.where[rotor.body]
        axis = np.array(rotor.axis)
        kind = pin.JointModelRevoluteUnaligned(axis)
        new = self.robot.addJoint(index, kind, place, f"rotor {rotor.coordinate}")
        self.index[rotor.coordinate] = new
        inertia = pin.Inertia(0.0, np.zeros(3), rotor.inertia * np.outer(axis, axis))
        self.robot.appendBodyToJoint(new, inertia, pin.SE3.Identity())

    def configuration(self, x: Array) -> tuple[Array, Array]:
        """Pinocchio's q and v of a freefloat state vector."""
        q, v, n = np.zeros(self.robot.nq), np.zeros(self.robot.nv), len(self.joints)
        R = matrix_of(x[3:7])
        if self.model.root.type == "floating":
            q[:7] = x[:7]
            v[:3], v[3:6] = R.T @ x[7:10], x[10:13]
        elif self.model.root.type == "planar":
            q[:4] = x[0], x[1], R[0, 0], R[1, 0]
            v[:3] = *(R.T @ x[7:10])[:2], x[12]
        q[self.iq] = self.ratio * x[13 : 13 + n]
        v[self.iv] = self.ratio * x[13 + n :]
        return q, v

    def accelerations(self, x: Array, effort: Array, ddq_given: Array | None = None) -> Array:
        """Accelerations (6 + c,) of a state under efforts (springs are added here).

        Prescribed coordinates accelerate as told (`ddq_given`, every coordinate's place filled).
        """
        n = len(self.joints)
        q, v = self.configuration(x)
        tau = np.zeros(self.robot.nv)
        force = effort + self.springs(x[13 : 13 + n], x[13 + n :])
        tau[self.iv] = force / self.ratio
        if len(self.given) == 0:
            a = pin.aba(self.robot, self.data, q, v, tau).copy()
        else:
            a = np.zeros(self.robot.nv)
            a[self.iv] = self.ratio * np.asarray(ddq_given)
            a[self.free] = 0.0
            bias = pin.rnea(self.robot, self.data, q, v, a)  # prescribed accelerations included
            H = np.triu(pin.crba(self.robot, self.data, q))  # only the upper triangle is filled
            H = H + np.triu(H, 1).T
            f = self.free
            a[f] = np.linalg.solve(H[np.ix_(f, f)], tau[f] - bias[f])
        return self._in_our_order(a, v)

    def _in_our_order(self, a: Array, v: Array) -> Array:
        out = np.zeros(6 + len(self.joints))
        if self.model.root.type == "floating":
            out[:3] = a[3:6]
            out[3:6] = a[:3] + np.cross(v[3:6], v[:3])  # from the derivative of components
        elif self.model.root.type == "planar":
            out[2] = a[2]
            out[3:5] = a[0] - v[2] * v[1], a[1] + v[2] * v[0]
        out[6:] = a[self.iv] / self.ratio
        return out

    def forces(self, x: Array, acceleration: Array) -> Array:
        """Inverse dynamics: generalised forces (6 + c,) for accelerations in our order."""
        q, v = self.configuration(x)
        a, out = np.zeros(self.robot.nv), np.zeros(6 + len(self.joints))
        a[self.iv] = self.ratio * acceleration[6:]
        if self.model.root.type == "floating":
            a[3:6], a[:3] = acceleration[:3], acceleration[3:6] - np.cross(v[3:6], v[:3])
        elif self.model.root.type == "planar":
            a[2] = acceleration[2]
            a[:2] = acceleration[3] + v[2] * v[1], acceleration[4] - v[2] * v[0]
        tau = pin.rnea(self.robot, self.data, q, v, a)
        if self.model.root.type == "floating":
            out[:3], out[3:6] = tau[3:6], tau[:3]
        elif self.model.root.type == "planar":
            out[2], out[3:5] = tau[2], tau[:2]
        out[6:] = self.ratio * tau[self.iv]
        return out

    def balance(self, x: Array) -> tuple[Array, Array, Array, float]:
        """Linear momentum, angular momentum about the CoM, CoM, kinetic energy; world axes."""
        q, v = self.configuration(x)
        h = pin.computeCentroidalMomentum(self.robot, self.data, q, v)
        energy = pin.computeKineticEnergy(self.robot, self.data, q, v)
        com = pin.centerOfMass(self.robot, self.data, q, v)
        return h.linear.copy(), h.angular.copy(), com.copy(), energy

    def state_rate(self, x: Array, effort: Array, ddq_given: Array | None = None) -> Array:
        """Time derivative of a freefloat state vector, for any integrator."""
        a, n = self.accelerations(x, effort, ddq_given), len(self.joints)
        wx, wy, wz = 0.5 * x[10:13]
        X, Y, Z, W = x[3:7]
        dq = [W * wx + Y * wz - Z * wy, W * wy + Z * wx - X * wz, W * wz + X * wy - Y * wx]
        dq.append(-X * wx - Y * wy - Z * wz)
        return np.concatenate([x[7:10], dq, matrix_of(x[3:7]) @ a[3:6], a[:3], x[13 + n :], a[6:]])


class MuJoCo:
    """A Model in MuJoCo; every body needs mass, and rotors are not translated."""

    def __init__(self, model: Model, *, step: float = 1e-3) -> None:
        assert not model.assembly.rotors
        self.model = model
        self.robot = mujoco.MjModel.from_xml_string(mjcf(model, step=step))
        self.data = mujoco.MjData(self.robot)
        joints = [self.robot.joint(c.name) for c in model.assembly.coordinates]
        self.iq = np.array([joint.qposadr[0] for joint in joints], dtype=int)
        self.iv = np.array([joint.dofadr[0] for joint in joints], dtype=int)

    def load(self, x: Array) -> None:
        """Put a freefloat state vector into MuJoCo's data."""
        d, n = self.data, len(self.iq)
        if self.model.root.type == "floating":
            d.qpos[:7] = [*x[:3], x[6], *x[3:6]]  # the quaternion has its scalar first
            d.qvel[:6] = x[7:13]  # linear in world axes, angular in body axes
        elif self.model.root.type == "planar":
            d.qpos[:3] = x[0], x[1], 2.0 * np.arctan2(x[5], x[6])
            d.qvel[:3] = x[7], x[8], x[12]
        d.qpos[self.iq], d.qvel[self.iv] = x[13 : 13 + n], x[13 + n :]

    def state(self) -> Array:
        """MuJoCo's data as a freefloat state vector."""
        d, n = self.data, len(self.iq)
        x = np.zeros(13 + 2 * n)
        x[6] = 1.0
        if self.model.root.type == "floating":
            x[:3], x[6], x[3:6], x[7:13] = d.qpos[:3], d.qpos[3], d.qpos[4:7], d.qvel[:6]
        elif self.model.root.type == "planar":
            x[:2], x[7:9], x[12] = d.qpos[:2], d.qvel[:2], d.qvel[2]
            x[5], x[6] = np.sin(d.qpos[2] / 2.0), np.cos(d.qpos[2] / 2.0)
        x[13 : 13 + n], x[13 + n :] = d.qpos[self.iq], d.qvel[self.iv]
        return x

    def accelerations(self, x: Array, effort: Array) -> Array:
        """Accelerations (6 + c,) under efforts; stiffness and damping are in the MJCF already."""
        self.load(x)
        d = self.data
        d.qfrc_applied[self.iv] = effort
        mujoco.mj_forward(self.robot, d)
        a, out = d.qacc, np.zeros(6 + len(self.iv))
        R = matrix_of(x[3:7])
        if self.model.root.type == "floating":
            out[:3], out[3:6] = a[3:6], R.T @ a[:3]
        elif self.model.root.type == "planar":
            out[2], out[3:5] = a[2], R[:2, :2].T @ a[:2]
        out[6:] = a[self.iv]
        return out


def _numbers(values: object) -> str:
    return " ".join(repr(float(v)) for v in np.ravel(values))


def mjcf(model: Model, *, step: float = 1e-3) -> str:
    """The model as MJCF text, integrated by RK4."""
    children = branches(model)
    roots = {
        "floating": "<freejoint/>",
        "planar": '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
        '<joint type="hinge" axis="0 0 1"/>',
        "fixed": "",
    }

    def inertial(body: Body) -> str:
        xx, xy, xz, yy, yz, zz = body.inertia
        return (
            f'<inertial pos="{_numbers(body.com)}" mass="{body.mass!r}"'
            f' fullinertia="{_numbers([xx, yy, zz, xy, xz, yz])}"/>'
        )

    def branch(joint: Joint, body: Body) -> str:
        x, y, z, w = Rotation.from_matrix(joint.placement.rotation).as_quat()
        kind = {"revolute": "hinge", "prismatic": "slide"}.get(joint.type)
        # MuJoCo calls the angle at which a spring is relaxed springref
        moves = kind and (
            f'<joint name="{joint.name}" type="{kind}" axis="{_numbers(joint.axis)}"'
            f' stiffness="{joint.stiffness!r}"'
            f' springref="{joint.rest!r}" damping="{joint.damping!r}"'
            f' armature="{joint.armature!r}"/>'
        )
        inner = "".join(branch(*child) for child in children.get(body.name, ()))
        return (
            f'<body name="{body.name}" pos="{_numbers(joint.placement.xyz)}"'
            f' quat="{_numbers([w, x, y, z])}">{inertial(body)}{moves or ""}{inner}</body>'
        )

    root = model.assembly.bodies[0]
    inner = "".join(branch(*child) for child in children.get(root.name, ()))
    return (
        '<mujoco><compiler angle="radian" autolimits="false"/>'
        f'<option integrator="RK4" timestep="{step!r}" gravity="0 0 0"/><worldbody>'
        f'<body name="{root.name}">{inertial(root)}{roots[model.root.type]}{inner}</body>'
        "</worldbody></mujoco>"
    )
