"""Whether a Model holds together: every fault found at once, each with its place and remedy."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import translate
from typing import TYPE_CHECKING

from freefloat.errors import Fault
from freefloat.model import inertia as inertial
from freefloat.model import value_checks as values
from freefloat.model.parts import Body, Capsule, Joint, Sensor
from freefloat.model.uncertainty import deviation_faults
from freefloat.text import did_you_mean, listing

if TYPE_CHECKING:
    from freefloat.model.model import Model

JOINT_SENSORS = ("encoder", "joint_rate", "joint_torque")
MOTOR_SENSORS = ("motor_encoder", "motor_rate", "motor_torque")
BODY_SENSORS = ("gyro", "attitude", "position", "velocity", "accelerometer")
WHEEL_SENSORS = ("wheel_speed", "wheel_torque")

LONGEST_NAME = 100  # format: names become channel and parameter names, and columns of tables

_SEATS = {
    **dict.fromkeys(JOINT_SENSORS, "a moving joint"),
    **dict.fromkeys(MOTOR_SENSORS, "a joint with a drive"),
    "motor_torque": "a joint that a motor drives",
    **dict.fromkeys(BODY_SENSORS, "a body, frame or target"),
    **dict.fromkeys(WHEEL_SENSORS, "a wheel"),
    "thruster": "a thruster",
}


def structure_faults(model: Model) -> list[Fault]:
    """Every reason why the model cannot be a mechanism, in reading order; empty when sound.

    >>> from freefloat.model import load_model
    >>> structure_faults(load_model("servicer"))
    []
    """
    faults = [*_name_faults(model), *_tree_faults(model)]
    unusable = [*values.number_faults(model), *deviation_faults(model.uncertainty)]
    if unusable:  # nothing can be said about signs and inertias of what is not a number
        return [*faults, *unusable]
    for body in model.bodies:
        faults += _body_faults(body, "body")
    for target in model.targets:
        faults += _body_faults(target.body, "target")
    for joint in model.joints:
        faults += _joint_faults(joint)
    faults += _part_faults(model)
    faults += [*values.sign_faults(model), *values.direction_faults(model)]
    faults += values.wheel_faults(model)
    read = [sensor_targets(model, sensor) for sensor in model.sensors]
    for i, (sensor, found) in enumerate(zip(model.sensors, read, strict=True)):
        faults += _sensor_faults(sensor, f"sensor[{i}] ({sensor.kind})", found)
    return [*faults, *_channel_faults(model, read)]


def _name_faults(model: Model) -> Iterator[Fault]:
    # Bodies and joints are separate families in URDF; a joint may be called like its child body.
    # A tank also brings a massless link and two joints of its own.
    families = {
        "body": [*model.bodies, *model.targets, *model.tanks, *model.frames],
        "joint": [*model.joints, *model.targets, *model.tanks, *model.wheels, *model.thrusters],
    }
    brought = {
        "body": [f"{tank.name}_link" for tank in model.tanks],
        "joint": [f"{tank.name}_{i}" for tank in model.tanks for i in (1, 2)],
    }
    for family, parts in families.items():
        names = [part.name for part in parts]
        for name, count in Counter([*names, *brought[family]]).items():
            if count > 1:
                made = " (one is made for a tank)" if name in brought[family] else ""
                yield Fault(
                    f"{family} {name!r}",
                    f"{count} parts of that name{made}",
                    "a name no other part has",
                    "rename one of them",
                    "name.duplicate",
                )
    if not model.name.strip() or not model.name.isprintable() or len(model.name) > LONGEST_NAME:
        value = f"{len(model.name)} characters" if model.name.isprintable() else repr(model.name)
        expected = f"1 to {LONGEST_NAME} printable characters"
        yield Fault("name", value, expected, "name the model", "name.form")
    for part in model._named_parts():
        bad = [c for c in part.name if c.isspace() or c in ".[]*?" or not c.isprintable()]
        if bad or not part.name or len(part.name) > LONGEST_NAME:
            yield Fault(
                f"name {part.name!r}",
                repr("".join(bad)) if bad else f"{len(part.name)} characters",
                f"1 to {LONGEST_NAME} printable characters without spaces, dots, brackets, * or ?",
                "rename (dots and globs are used in channel and parameter names)",
                "name.form",
            )


def _tree_faults(model: Model) -> Iterator[Fault]:
    known = {body.name for body in model.bodies}
    if model.root.body not in known:
        yield _unknown_body("root.body", model.root.body, known)
        return
    parents: dict[str, str] = {}
    for joint in model.joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                yield _unknown_body(f"joint {joint.name!r}.{end}", name, known)
        if joint.child in parents:
            yield Fault(
                f"joint {joint.name!r}.child",
                joint.child,
                f"a body no other joint carries (joint {parents[joint.child]!r} does)",
                "remove one of the joints: closed loops are not supported",
                "model.loop",
            )
        parents[joint.child] = joint.name
    if model.root.body in parents:
        yield Fault(
            "root.body",
            model.root.body,
            f"a body that no joint carries (joint {parents[model.root.body]!r} does)",
            "make the first body of the tree the root",
            "model.loop",
        )
    has_mass = model.mass != 0.0 or any(body.mass for body in model.bodies)
    if model.root.type != "fixed" and not has_mass:
        yield Fault(
            "root.type",
            f"{model.root.type}, and no body has mass",
            "at least one body with mass on a root that is free to move",
            "a file that is only for drawing has no masses: add <inertial> with <mass> and"
            " <inertia> to its links, or [[body]] tables with mass, com and inertia to a model"
            " file (.toml) that names it",
            "model.massless",
        )
    reached = _connected_bodies(model, known)
    for body in model.bodies:
        if body.name not in reached:
            yield Fault(
                f"body {body.name!r}",
                "not connected to the root",
                f"a chain of joints from {model.root.body!r}",
                "add the missing joint or delete the body",
                "model.unconnected",
            )


def _connected_bodies(model: Model, known: set[str]) -> set[str]:
    children = defaultdict(list)
    for joint in model.joints:
        children[joint.parent].append(joint.child)
    # What hangs on a body that does not exist is a fault of that joint, told already.
    frontier = [model.root.body, *(parent for parent in children if parent not in known)]
    reached = set(frontier)
    while frontier:
        for child in children[frontier.pop()]:
            if child not in reached:
                reached.add(child)
                frontier.append(child)
    return reached


def target_faults(body: Body) -> list[Fault]:
    """Every reason why `body` cannot be grasped: what no real body can have.

    >>> [fault.place for fault in target_faults(Body("rock", -1.0))]
    ["target 'rock'.mass"]
    """
    unusable = values.part_number_faults(f"target {body.name!r}", body)
    return unusable or list(_body_faults(body, "target"))


def _body_faults(body: Body, kind: str) -> Iterator[Fault]:
    reason = inertial.inconsistency(inertial.phi_from_com(body.mass, (0, 0, 0), body.inertia))
    if reason:
        yield Fault(
            f"{kind} {body.name!r}.{'mass' if body.mass < 0.0 else 'inertia'}",
            reason,
            "mass and inertia that a real body can have",
            "correct mass or inertia (the inertia is about the centre of mass)",
            "model.inertia",
        )
    if body.mass == 0.0 and any(body.com):
        yield Fault(
            f"{kind} {body.name!r}.com",
            str(list(body.com)),
            "no centre of mass where there is no mass",
            "add the mass or delete the centre of mass",
            "model.massless",
        )


def _joint_faults(joint: Joint) -> Iterator[Fault]:
    place = f"joint {joint.name!r}"
    length = math.hypot(*joint.axis)
    if joint.type != "fixed" and abs(length - 1.0) > values.UNIT:
        value, remedy = str(list(joint.axis)), values.unit_remedy(joint.axis)
        yield Fault(f"{place}.axis", value, "a unit vector", remedy, "value.norm")
    low, high = joint.limits.lower, joint.limits.upper
    if low is not None and high is not None and low > high:
        value = f"{low:g} .. {high:g}"
        yield Fault(f"{place}.limits", value, "lower <= upper", "swap them", "value.order")
    if joint.drive is not None:
        yield from _drive_faults(joint, place)


def _drive_faults(joint: Joint, place: str) -> Iterator[Fault]:
    if joint.type == "fixed":
        expected = "none on a fixed joint"
        yield Fault(f"{place}.drive", "a drive", expected, "remove it", "value.conflict")
    if joint.role != "passive":
        yield Fault(
            f"{place}.role",
            joint.role,
            "'passive' beside a drive (the link follows the spring)",
            "say how the motor moves in drive.role",
            "value.conflict",
        )
    if joint.armature:
        yield Fault(
            f"{place}.armature",
            f"{joint.armature:g}",
            "none beside a drive, whose inertia is the rotor's",
            "leave it out, or leave the drive out where the gear is stiff",
            "value.conflict",
        )


def _part_faults(model: Model) -> Iterator[Fault]:
    known = {body.name for body in model.bodies}
    carriers = known | {target.name for target in model.targets}
    for kind, parts in (
        ("tank", model.tanks),
        ("wheel", model.wheels),
        ("thruster", model.thrusters),
        ("frame", model.frames),
        ("capsule", model.capsules),
    ):
        for i, part in enumerate(parts):
            if part.body not in carriers:
                here = f"{kind}[{i}]" if isinstance(part, Capsule) else f"{kind} {part.name!r}"
                yield _unknown_body(f"{here}.body", part.body, carriers)
    for target in model.targets:
        if target.on not in known:
            yield _unknown_body(f"target {target.name!r}.on", target.on, known)
    if model.orbit is not None and model.root.type != "floating":
        value, remedy = f"a {model.root.type} root", "remove [orbit]"
        yield Fault("orbit", value, "a floating root", remedy, "value.conflict")


def sensor_targets(model: Model, sensor: Sensor) -> list[str]:
    """The names of the parts a sensor reads, in model order."""
    if sensor.kind in JOINT_SENSORS:
        names = [joint.name for joint in model.joints if joint.type != "fixed"]
        names += [f"{tank.name}_{i}" for tank in model.tanks for i in (1, 2)]
    elif sensor.kind == "motor_torque":
        moving = (joint for joint in model.joints if joint.type != "fixed")
        names = [joint.name for joint in moving if joint.drive or joint.role != "passive"]
    elif sensor.kind in MOTOR_SENSORS:
        names = [joint.name for joint in model.joints if joint.drive is not None]
    elif sensor.kind in WHEEL_SENSORS:
        names = [wheel.name for wheel in model.wheels]
    elif sensor.kind == "thruster":
        names = [thruster.name for thruster in model.thrusters]
    else:
        names = [part.name for part in (*model.bodies, *model.frames, *model.targets)]
    is_match = re.compile(translate(sensor.on)).match
    return [name for name in dict.fromkeys(names) if is_match(name)]


def _sensor_faults(sensor: Sensor, place: str, found: list[str]) -> Iterator[Fault]:
    if not found:
        yield Fault(
            f"{place}.on",
            repr(sensor.on),
            f"a name or glob that matches {_SEATS[sensor.kind]}",
            "name a part the model has",
            "name.unknown",
        )
    if len(found) > 1 and sensor.kind in BODY_SENSORS:
        remedy = f"choose one of {listing(found)}"
        yield Fault(f"{place}.on", sensor.on, "one body or frame", remedy, "value.count")
    if not 0.0 <= sensor.dropout < 1.0:
        value, remedy = f"{sensor.dropout:g}", "give the probability that a sample is missing"
        yield Fault(f"{place}.dropout", value, "0 <= dropout < 1", remedy, "value.range")
    if sensor.kind == "attitude" and sensor.saturation is not None:
        value, expected = f"{sensor.saturation:g}", "none: an attitude does not clip"
        yield Fault(f"{place}.saturation", value, expected, "remove it", "value.conflict")
    width = 3 if sensor.kind in BODY_SENSORS else 1
    if len(sensor.bias) not in (0, 1, width):
        expected, remedy = f"{width} numbers", "give one per axis"
        yield Fault(f"{place}.bias", str(sensor.bias), expected, remedy, "value.count")


def _channel_faults(model: Model, read: list[list[str]]) -> Iterator[Fault]:
    """Two sensors must not write the same channel."""
    seen: dict[tuple[str, str], int] = {}
    for i, (sensor, names) in enumerate(zip(model.sensors, read, strict=True)):
        keys = [(sensor.channel or name, sensor.kind) for name in names]
        others = sorted({seen[key] for key in keys if key in seen})
        if others or len(set(keys)) < len(keys):
            yield Fault(
                f"sensor[{i}] ({sensor.kind})",
                f"the same channel as sensor[{others[0]}]" if others else "one channel for many",
                "one sensor per channel",
                'give one of them another name with channel = "..."',
                "name.duplicate",
            )
        for key in keys:
            seen.setdefault(key, i)


def _unknown_body(place: str, name: str, known: set[str]) -> Fault:
    expected = f"one of {listing(sorted(known), most=8)}"
    remedy = did_you_mean(name, sorted(known), otherwise="name an existing body")
    return Fault(place, repr(name), expected, remedy, "name.unknown")
