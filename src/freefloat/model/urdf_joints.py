"""URDF joints: their kinds, limits and dynamics, and the joint that holds a robot to the world."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from freefloat.model.parts import Body, Joint, JointLimits, Placement, Vector
from freefloat.model.urdf_values import UNUSED, Instead, UrdfReader
from freefloat.model.urdf_xml import Element

FLOATING = "floating"
TYPES = ("revolute", "continuous", "prismatic", "fixed")
USED = ("origin", "parent", "child", "axis", "limit", "dynamics")
MIMIC = Instead(
    "substituted.mimic",
    'joints that mimic another one are locked (role = "motion" in a model file moves them)',
)
LIMITS = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")


def read_joint(reading: UrdfReader, element: Element, name: str) -> Joint:
    """The joint of a <joint>; its type is FLOATING where it may yet turn out to be the root."""
    owner, key = f"joint {name!r}", f"joint {name!r}"
    kind = _read_type(reading, element, owner)
    reading.no_text(element, owner)
    extras = reading.extras(element, owner, used=USED, named=("name", "type"))
    held = _read_mimic(reading, element, owner) if kind != "fixed" or reading.strict else {}
    for child in element.children:
        field = {"origin": "placement", "limit": "limits"}.get(child.tag, child.tag)
        reading.lines[f"{key}.{field}"] = child.line
        if child.tag == "dynamics":
            reading.lines |= {f"{key}.damping": child.line, f"{key}.friction": child.line}
    damping, friction = _read_dynamics(reading, element, owner)
    return Joint(
        name,
        "revolute" if kind == "continuous" else kind,  # type: ignore[arg-type]
        _read_end(reading, element, owner, "parent"),
        _read_end(reading, element, owner, "child"),
        read_origin(reading, element, owner),
        _read_axis(reading, element, owner, kind),
        damping=damping,
        friction=friction,
        limits=_read_limits(reading, element, owner, kind),
        extras=extras,
        **held,
    )


def read_origin(reading: UrdfReader, parent: Element, owner: str) -> Placement:
    """The placement an <origin> gives; zero where there is none."""
    element = reading.single(parent, owner, "origin")
    if element is None:
        return Placement()
    reading.attributes(element, owner, ("xyz", "rpy"))
    reading.only(element, owner, ())
    xyz, rpy = (
        reading.vector(element, owner, name) if name in element.attributes else None
        for name in ("xyz", "rpy")
    )
    return Placement(xyz or Placement().xyz, rpy or Placement().rpy)


def _read_type(reading: UrdfReader, element: Element, owner: str) -> str:
    kind = reading.require(element, owner, "type")
    if kind is None or kind in (*TYPES, FLOATING):
        return kind or "fixed"
    remedy = {
        "planar": 'hold the root with type = "planar" in a model file\'s [root], or use two'
        " prismatic joints and a revolute one",
        "spherical": "use three revolute joints with massless links between them",
        "ball": "use three revolute joints with massless links between them",
    }.get(kind, "use one of these")
    reading.fault(
        element,
        f"{owner} type",
        value=repr(kind),
        expected=" or ".join(TYPES),
        remedy=remedy,
        code="value.choice",
    )
    return "fixed"


def _read_mimic(reading: UrdfReader, element: Element, owner: str) -> dict[str, Any]:
    """Role and home of a joint that follows another: held where it is while that one is at 0."""
    mimic = reading.single(element, owner, "mimic")
    if mimic is None:
        return {}
    reading.fault(
        mimic,
        f"{owner} <mimic>",
        value=f"<mimic joint={mimic.attributes.get('joint', '')!r}>",
        expected="joints that move by themselves",
        remedy="delete the <mimic> and give the joint its motion, or make it fixed",
        code="urdf.mimic",
        instead=MIMIC,
    )
    offset = reading.optional_number(mimic, owner, "offset")
    return {"role": "locked", "home": 0.0 if offset is None else offset}


def _read_end(reading: UrdfReader, element: Element, owner: str, tag: str) -> str:
    """The link a joint starts from or carries; "" once a fault has been written down."""
    found = reading.require_child(element, owner, tag, f'<{tag} link="..."/>')
    name = None
    if found is not None:
        reading.attributes(found, owner, ("link",))
        reading.only(found, owner, ())
        name = reading.require(found, owner, "link")
    if name is None:
        reading.told.add(f"{owner}.{tag}")
    return name or ""


def _read_axis(reading: UrdfReader, element: Element, owner: str, kind: str) -> Vector:
    found = reading.single(element, owner, "axis")
    is_needed = kind != "fixed" or reading.strict
    if found is not None and not is_needed and "xyz" not in found.attributes:
        reading.substitute(UNUSED, f"{owner} <axis> (line {found.line})")
    elif found is not None:
        reading.attributes(found, owner, ("xyz",))
        reading.only(found, owner, ())
        axis = reading.vector(found, owner, "xyz")
        if axis is not None:
            return axis
        reading.told.add(f"{owner}.axis")
    # URDF's own default; a fixed joint has no axis, so it keeps that of a Joint.
    return (0.0, 0.0, 1.0) if kind in ("fixed", FLOATING) else (1.0, 0.0, 0.0)


def _read_dynamics(reading: UrdfReader, element: Element, owner: str) -> tuple[float, float]:
    found = reading.single(element, owner, "dynamics")
    if found is None:
        return 0.0, 0.0
    names = ("damping", "friction")
    reading.attributes(found, owner, names)
    reading.only(found, owner, ())
    damping, friction = (reading.optional_number(found, owner, name) for name in names)
    return 0.0 if damping is None else damping, 0.0 if friction is None else friction


def _read_limits(reading: UrdfReader, element: Element, owner: str, kind: str) -> JointLimits:
    found = reading.single(element, owner, "limit")
    if found is None:
        return JointLimits()
    reading.attributes(found, owner, LIMITS)
    reading.only(found, owner, ())
    limits = JointLimits(**{name: reading.limit(found, owner, name) for name in LIMITS})
    if kind == "continuous" and (limits.lower, limits.upper) != (None, None):
        text = f"line {found.line}: {owner} is continuous: lower and upper not used"
        reading.note("urdf.limits_ignored", text)
        return replace(limits, lower=None, upper=None)
    if kind in ("revolute", "prismatic") and not {"lower", "upper"} <= found.attributes.keys():
        text = f"line {found.line}: {owner} says no lower or upper limit: taken as unlimited"
        reading.note("urdf.unlimited", f"{text} (other readers take 0)")
    return limits


def remove_root_joint(
    reading: UrdfReader, bodies: list[Body], joints: list[Joint]
) -> tuple[list[Body], list[Joint]]:
    """Bodies and joints without a massless world and the floating joint that leaves it free.

    A floating joint anywhere else is written down as a fault.
    """
    by_name = {body.name: body for body in bodies}
    carried = {joint.child for joint in joints}
    for joint in [joint for joint in joints if joint.type == FLOATING]:
        world = by_name.get(joint.parent)
        siblings = [other for other in joints if other.parent == joint.parent]
        is_world = world is not None and world.mass == 0.0 and world.name not in carried
        if not is_world or len(siblings) > 1:
            line = reading.lines[f"joint {joint.name!r}"]
            reading.fault(
                Element("joint", {}, line, 0),
                f"joint {joint.name!r} type",
                value="'floating'",
                expected="a floating joint only from a massless world to the first body",
                remedy="make it revolute, prismatic or fixed, or give each robot its own file",
                code="urdf.floating",
            )
            continue
        bodies = [body for body in bodies if body.name != joint.parent]
        joints = [other for other in joints if other is not joint]
        text = f"the link {joint.parent!r} and the floating joint {joint.name!r} are the world the"
        text += f" root {joint.child!r} floats in"
        if joint.placement != Placement():
            text += ": the initial placement is not used"
        reading.note("urdf.world", text)
    _note_weld(reading, bodies, joints)
    return bodies, joints


def _note_weld(reading: UrdfReader, bodies: list[Body], joints: list[Joint]) -> None:
    if any(body.name == "world" and body.mass == 0.0 for body in bodies):
        for joint in joints:
            if joint.type == "fixed" and joint.parent == "world":
                text = f"joint {joint.name!r} fixes {joint.child!r} to a world; read as floating:"
                text += ' say type = "fixed" in [root] of a model file to hold it'
                reading.note("urdf.weld", text)
