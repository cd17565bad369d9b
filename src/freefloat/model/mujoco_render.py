"""A Model as MJCF of its own, wherever the model came from: what MuJoCo compiles has its dynamics.

Bodies, joints, springs, dampers and friction, fuel as pendulums, targets, wheels as bodies that
turn, thrusters and sensors at sites, gravity. What MJCF has no words for is named in a comment.
MuJoCo itself is not needed to write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, ModelError
from freefloat.model import inertia as inertial
from freefloat.model.assembly import Assembly, assemble
from freefloat.model.checks import BODY_SENSORS, sensor_targets, structure_faults
from freefloat.model.parts import Body, Joint, Limits, Placement, Vector, Wheel
from freefloat.model.rotations import (
    frame_with_z,
    matrix_from_rotation_vector,
    quaternion_from_matrix,
)
from freefloat.model.urdf_xml import escape

if TYPE_CHECKING:
    from freefloat.model.model import Model

# format: MuJoCo refuses bodies that move with less than 1e-15 kg or kg m^2
LEAST = 1e-14
# theory: a wheel's own mass stays with its carrier but for this share, which only has to be there
WHEEL_MASS = 1e-6
WORLD = "world"  # format: what MuJoCo calls the body that everything stands on
BODY_WORDS = {
    "gyro": "gyro", "accelerometer": "accelerometer", "attitude": "framequat",
    "position": "framepos", "velocity": "framelinvel",
}  # fmt: skip
COORDINATE_WORDS = {
    "encoder": "jointpos", "joint_rate": "jointvel", "joint_torque": "jointactuatorfrc",
    "wheel_speed": "jointvel", "wheel_torque": "jointactuatorfrc",
}  # fmt: skip


def render_mjcf(model: Model) -> str:
    """The model as MJCF text, with equal inverse dynamics; sites for frames, thrusters, sensors.

    Raises ModelError for a model that does not hold together.

    >>> from freefloat.model import Body, Model, Root
    >>> model = Model("one", Root("bus"), (Body("bus", 5.0, inertia=(1, 0, 0, 1, 0, 1)),))
    >>> '<inertial pos="0.0 0.0 0.0" mass="5.0" diaginertia="1.0 1.0 1.0"/>' in render_mjcf(model)
    True
    """
    if faults := structure_faults(model):
        raise ModelError(f"the model {model.name!r} cannot be written", faults)
    return _Rendering(model).text()


class _Rendering:
    """The lines of one file, made body by body."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.whole: Assembly = assemble(_without_drives(model))
        self.bodies = {body.name: body for body in self.whole.bodies}
        self.carried: dict[str, list[Joint]] = defaultdict(list)
        for joint in self.whole.joints:
            self.carried[joint.parent].append(joint)
        self.wheels: dict[str, list[Wheel]] = defaultdict(list)
        for wheel in model.wheels:
            self.wheels[wheel.body].append(wheel)
        self.sites: dict[str, list[str]] = defaultdict(list)
        self.light: list[str] = []  # bodies that got the least mass or inertia
        moving = [joint for joint in self.whole.joints if joint.type != "fixed"]
        self.locked = [joint.name for joint in moving if joint.role == "locked"]
        self.sensors = list(self._sensors())
        for frame in model.frames:
            self._site(frame.name, frame.body, frame.placement)
        for thruster in model.thrusters:
            self._site(thruster.name, thruster.body, Placement(thruster.position))

    def text(self) -> str:
        root = self.whole.bodies[0].name
        lines = list(self._body(root, "    ", "", list(self._root_joints())))
        if root == WORLD and self.model.root.type == "fixed":
            lines = [
                line[2:] for line in lines if not line.startswith(("    <body ", "    </body>"))
            ]
            lines = [line for line in lines if not line.startswith("    <inertial ")]
        actuators = list(self._actuators())
        # held where it is drawn, which is at home: what moves nothing in inverse dynamics
        locks = ["    " + _tag("joint", {"joint1": name}) for name in self.locked]
        gravity = _numbers(*self.model.gravity)
        head = [
            f'<mujoco model="{escape(self.model.name)}">',
            *self._comment(),
            '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
            f'  <option gravity="{gravity}"/>',
            "  <worldbody>",
        ]
        tail = ["  </worldbody>"]
        sections = {"equality": locks, "actuator": actuators, "sensor": self.sensors}
        for word, found in sections.items():
            tail += [f"  <{word}>", *found, f"  </{word}>"] if found else []
        return "\n".join([*head, *lines, *tail, "</mujoco>", ""])

    # ---- Bodies ----------------------------------------------------------------------------------

    def _root_joints(self) -> Iterator[str]:
        root = self.model.root
        if root.type == "floating":
            yield f'<freejoint name="{escape(self._free_name("root"))}"/>'
        if root.type == "planar":
            drags = {"x": root.linear_drag, "y": root.linear_drag, "yaw": root.angular_drag}
            for name, drag in drags.items():
                kind, axis = ("hinge", "0 0 1") if name == "yaw" else ("slide", "1 0 0")
                axis = "0 1 0" if name == "y" else axis
                given = {"name": self._free_name(f"root_{name}"), "type": kind, "axis": axis}
                yield _tag("joint", given | ({"damping": repr(float(drag))} if drag else {}))

    def _free_name(self, name: str) -> str:
        taken = {joint.name for joint in self.whole.joints} | {w.name for w in self.model.wheels}
        while name in taken:
            name += "_"
        return name

    def _body(self, name: str, indent: str, pose: str, joints: list[str]) -> Iterator[str]:
        """A body with its joints, its wheels, its sites, and all that hangs on it."""
        body, inner = self.bodies[name], indent + "  "
        own = self._free_body(name) if name == WORLD else name
        yield f'{indent}<body name="{escape(own)}"{pose}>'
        yield from (f"{inner}{joint}" for joint in joints)
        for wheel in self.wheels[name]:
            body = _without_wheel(body, wheel, WHEEL_MASS * self.bodies[name].mass)
        moves = bool(joints)
        if body.mass or moves:
            yield inner + self._inertial(body, moves)
        yield from (inner + site for site in self.sites[name])
        for wheel in self.wheels[name]:
            yield from self._wheel(self.bodies[name], wheel, inner)
        for joint in self.carried[name]:
            moved = [] if joint.type == "fixed" else [_joint(joint)]
            yield from self._body(joint.child, inner, _home_pose(joint), moved)
        yield f"{indent}</body>"

    def _inertial(self, body: Body, moves: bool) -> str:
        tensor = inertial.tensor(body.inertia)
        mass = body.mass
        diagonal = np.diag(tensor)
        if np.array_equal(tensor, np.diag(diagonal)):  # its numbers stay as they are
            moments, turn = diagonal.copy(), ""
        else:
            moments, axes = np.linalg.eigh(tensor)
            axes[:, 0] *= np.linalg.det(axes)  # a rotation, not a reflection
            turn = _quaternion(axes)
        if moves and (mass < LEAST or moments.min() < LEAST):
            self.light.append(body.name)
            mass, moments = max(mass, LEAST), np.maximum(moments, LEAST)
        return (
            f'<inertial pos="{_numbers(*body.com)}"{turn} mass="{float(mass)!r}"'
            f' diaginertia="{_numbers(*_within_inequality(moments))}"/>'
        )

    def _wheel(self, carrier: Body, wheel: Wheel, indent: str) -> Iterator[str]:
        """A wheel as a round body that turns, at the centre of mass of its carrier."""
        mass, half = WHEEL_MASS * carrier.mass, 0.5 * wheel.inertia
        pose = _pose(frame_with_z(wheel.axis), np.array(carrier.com))
        limits = {"damping": "0"} if wheel.max_torque is None else {
            "actuatorfrcrange": _numbers(-wheel.max_torque, wheel.max_torque)}  # fmt: skip
        yield f'{indent}<body name="{escape(self._free_body(wheel.name))}"{pose}>'
        yield f"{indent}  " + _tag("joint", {"name": wheel.name, "axis": "0 0 1", **limits})
        moments = _numbers(half, half, wheel.inertia)
        yield f'{indent}  <inertial pos="0 0 0" mass="{mass!r}" diaginertia="{moments}"/>'
        yield f"{indent}</body>"

    def _free_body(self, name: str) -> str:
        while name in self.bodies:
            name += "_"
        return name

    # ---- Sites, actuators, sensors ---------------------------------------------------------------

    def _site(self, name: str, body: str, placement: Placement) -> str:
        """A site on a body; the name it got, since frames, thrusters and sensors share names."""
        taken = {site for sites in self.sites.values() for site in sites}
        found = name
        while any(f'name="{escape(found)}"' in site for site in taken):
            found += "_"
        pose = _pose(placement.rotation, placement.position)
        self.sites[body].append(f'<site name="{escape(found)}"{pose}/>')
        return found

    def _actuators(self) -> Iterator[str]:
        driven = [
            coordinate.name
            for coordinate in self.whole.coordinates
            if coordinate.role in ("motion", "torque")
        ]
        for name in driven:
            yield "    " + _tag("motor", {"name": name, "joint": name})
        sites = {thruster.name: thruster for thruster in self.model.thrusters}
        for name, thruster in sites.items():
            gear = _numbers(*thruster.direction, 0.0, 0.0, 0.0)
            given = {"name": name, "site": name, "gear": gear}
            if thruster.max_force is not None:
                given["ctrlrange"] = _numbers(0.0, thruster.max_force)
            yield "    " + _tag("motor", given)

    def _sensors(self) -> Iterator[str]:
        frames = {frame.name: frame for frame in self.model.frames}
        moving = {c.name for c in self.whole.coordinates}
        for sensor in self.model.sensors:
            for name in sensor_targets(self.model, sensor):
                channel = f"{sensor.channel or name}.{sensor.kind}"
                if sensor.kind in BODY_SENSORS:
                    frame = frames.get(name)
                    body = frame.body if frame else name
                    placement = frame.placement if frame else Placement()
                    site = self._site(f"{channel}_site", body, placement)
                    word = BODY_WORDS[sensor.kind]
                    place = {"objtype": "site", "objname": site}
                    given = {"site": site} if word in ("gyro", "accelerometer") else place
                    yield "    " + _tag(word, {"name": channel, **given})
                elif sensor.kind in COORDINATE_WORDS and name in moving:
                    word = COORDINATE_WORDS[sensor.kind]
                    yield "    " + _tag(word, {"name": channel, "joint": name})

    def _comment(self) -> list[str]:
        missing = list(_omissions(self.model))
        if self.light:
            light = ", ".join(dict.fromkeys(self.light))
            missing.append(f"that {light} have no mass or inertia: they have {LEAST:g} of it here")
        if not missing:
            return []
        text = "; ".join(missing).replace("--", "- -").replace("--", "- -")
        return [
            "  <!-- Not in this file, because MJCF cannot say it: " + text + ".",
            "       Save the model as .toml to keep everything. -->",
        ]


def _without_drives(model: Model) -> Model:
    """The model with stiff drives without rotors: MJCF has no motor behind a spring."""
    joints = tuple(
        replace(j, role=j.drive.role, drive=None) if j.drive is not None else j
        for j in model.joints
    )
    kinds = ("motor_encoder", "motor_rate", "motor_torque")
    sensors = tuple(s for s in model.sensors if s.kind not in kinds)
    return replace(model, joints=joints, sensors=sensors)


def _without_wheel(body: Body, wheel: Wheel, mass: float) -> Body:
    """The carrier less what its wheel has for itself; ModelError where nothing would be left."""
    axis = np.array(wheel.axis) / np.linalg.norm(wheel.axis)
    half = 0.5 * wheel.inertia
    tensor = inertial.tensor(body.inertia) - half * (np.eye(3) + np.outer(axis, axis))
    xx, xy, xz, yy, yz, zz = inertial.six(tensor).tolist()
    left = replace(body, mass=body.mass - mass, inertia=(xx, xy, xz, yy, yz, zz))
    reason = inertial.inconsistency(inertial.phi_from_com(left.mass, (0, 0, 0), left.inertia))
    if reason:
        value = f"{wheel.inertia:g} kg m^2, without which {body.name!r} has {reason}"
        expected, remedy = "a wheel that is part of its body", "correct the wheel or the body"
        fault = Fault(f"wheel {wheel.name!r}.inertia", value, expected, remedy, "mjcf.wheel")
        raise ModelError("the model cannot be written as MJCF", [fault])
    return left


def _omissions(model: Model) -> Iterator[str]:
    """What MJCF of this model does not hold, in words."""
    if drives := [joint.name for joint in model.joints if joint.drive is not None]:
        yield f"the flexible drives of {', '.join(drives)}, which are stiff here, without rotors"
    root = model.root
    if root.type == "floating" and (root.linear_drag or root.angular_drag):
        yield "the drag of the root"
    if model.orbit is not None:
        yield "the orbit"
    if model.capsules:
        yield f"{len(model.capsules)} capsules"
    if model.uncertainty:
        yield "what is stated of uncertainties"
    if model.limits != Limits():
        yield "the limits of the whole spacecraft"
    if model.sensors:
        yield "noise, rates and delays of sensors"
    if any(wheel.speed for wheel in model.wheels):
        yield "the speeds that wheels begin with"


def _joint(joint: Joint) -> str:
    slides = joint.type == "prismatic"
    given: dict[str, str] = {
        "name": joint.name,
        "type": "slide" if slides else "hinge",
        "axis": _numbers(*joint.axis),
    }
    numbers = {
        "ref": joint.home, "stiffness": joint.stiffness, "springref": joint.rest,
        "damping": joint.damping, "frictionloss": joint.friction,
        "armature": joint.armature,
    }  # fmt: skip
    given |= {word: repr(float(value)) for word, value in numbers.items() if value}
    limits = joint.limits
    if limits.lower is not None and limits.upper is not None and limits.lower < limits.upper:
        given["range"] = _numbers(limits.lower, limits.upper)
    if limits.effort:
        given["actuatorfrcrange"] = _numbers(-limits.effort, limits.effort)
    return _tag("joint", given)


def _home_pose(joint: Joint) -> str:
    """Where the child is while the joint is at home: MJCF draws a robot there, and calls it ref."""
    R, p, axis = joint.placement.rotation, joint.placement.position, np.array(joint.axis)
    if joint.type == "revolute" and joint.home:
        R = R @ matrix_from_rotation_vector(joint.home * axis)
    elif joint.type == "prismatic":
        p = p + R @ axis * joint.home
    return _pose(R, p)


def _tag(word: str, given: Mapping[str, str]) -> str:
    values = " ".join(f'{key}="{escape(value)}"' for key, value in given.items())
    return f"<{word} {values}/>"


def _pose(R: Array, p: Array) -> str:
    place = f' pos="{_numbers(*p)}"' if np.any(p) else ""
    return place + ("" if np.array_equal(R, np.eye(3)) else _quaternion(R))


def _quaternion(R: Array) -> str:
    x, y, z, w = quaternion_from_matrix(R)
    return f' quat="{_numbers(w, x, y, z)}"'


def _within_inequality(moments: Array) -> Vector:
    """Principal moments of which none is larger than the two others together, by rounding either.

    MuJoCo compares sums exactly; bodies have been checked, and ours come from a decomposition,
    which may leave a rod less than nothing about its axis.
    """
    moments = np.maximum(moments, 0.0)
    k = int(np.argmax(moments))
    a, b, c = (*moments[:k].tolist(), min(float(moments[k]), float(np.delete(moments, k).sum())),
               *moments[k + 1 :].tolist())  # fmt: skip
    return a, b, c


def _numbers(*values: float) -> str:
    return " ".join(repr(float(value)) for value in values)
