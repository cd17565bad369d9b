"""A Model as URDF text; what URDF has no words for is named in a comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from freefloat.errors import Fault, ModelError
from freefloat.model import urdf_joints
from freefloat.model.checks import structure_faults
from freefloat.model.parts import Body, Joint, JointLimits, Limits, Placement, Root
from freefloat.model.urdf_xml import escape, parse_xml

if TYPE_CHECKING:
    from freefloat.model.model import Model

# format: what other URDF readers take for "no limit" where they insist on a number
UNLIMITED = 1.7976931348623157e308
OMITTED = "Not in this file, because URDF cannot say it:"  # format: how a comment begins
_USED = {"robot": ("link", "joint"), "link": ("inertial",), "joint": urdf_joints.USED}


def write_urdf(model: Model) -> str:
    """The model as URDF; reading it back gives the same bits in everything URDF can say.

    Targets and frames become links on fixed joints. A comment names what had to be left out.
    Raises ModelError for a model that does not hold together.

    >>> from freefloat.model import Body, Model, Root
    >>> model = Model("one", Root("bus"), (Body("bus", 5.0, inertia=(1, 0, 0, 1, 0, 1)),))
    >>> '<mass value="5.0"/>' in write_urdf(model)
    True
    """
    faults = [*structure_faults(model), *extras_faults(model)]
    if faults:
        raise ModelError(f"the model {model.name!r} cannot be written", faults)
    attributes, elements = _sorted_extras(model.extras)
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append(f'<robot name="{escape(model.name)}"{attributes}>')
    lines += _comment(model)
    for body in (*model.bodies, *(target.body for target in model.targets)):
        lines += _link(body)
    lines += [f'  <link name="{escape(frame.name)}"/>' for frame in model.frames]
    for joint in (*model.joints, *_holding_joints(model)):
        lines += joint_lines(joint)
    lines += [f"  {extra}" for extra in elements]
    return "\n".join([*lines, "</robot>", ""])


def extras_faults(model: Model) -> Iterator[Fault]:
    """The extras that would not come back as they are: neither an attribute nor one element."""
    groups = [("robot", "extras", model.extras)]
    groups += [("link", f"body {body.name!r}.extras", body.extras) for body in model.bodies]
    groups += [("link", f"target {t.name!r}.extras", t.body.extras) for t in model.targets]
    groups += [("joint", f"joint {joint.name!r}.extras", joint.extras) for joint in model.joints]
    for tag, place, extras in groups:
        seen = {"name", "type"}  # written by us already
        for extra in extras:
            reason = _unusable(extra, _USED[tag], seen)
            if reason:
                yield Fault(
                    place,
                    f"{extra[:40]!r} ({reason})",
                    'one XML element or one attribute such as version="1.0", as a URDF had it',
                    "delete it",
                    "urdf.extra",
                )


def _unusable(extra: str, used: Iterable[str], seen: set[str]) -> str:
    """Why an extra cannot be written, or "" when it can."""
    try:
        if not extra.startswith("<"):
            (name, value), *more = parse_xml(f"<r {extra}/>".encode(), "").attributes.items()
            if more or extra != f'{name}="{escape(value)}"' or name in seen:
                return "not one new attribute"
            seen.add(name)
            return "an attribute after an element" if "<" in seen else ""
        seen.add("<")  # attributes are read first, so they must come first
        data = f"<r>{extra}</r>".encode()
        root = parse_xml(data, "")
        if len(root.children) != 1 or root.children[0].source(data) != extra:
            return "not one element"
        tag = root.children[0].tag
        return f"<{tag}> is for the model itself to write" if tag in used else ""
    except (ModelError, ValueError, UnicodeError):
        return "not XML"


def _sorted_extras(extras: Iterable[str]) -> tuple[str, list[str]]:
    attributes = "".join(f" {extra}" for extra in extras if not extra.startswith("<"))
    return attributes, [extra for extra in extras if extra.startswith("<")]


def _comment(model: Model) -> list[str]:
    missing = list(omissions(model))
    if not missing:
        return []
    text = "; ".join(missing).replace("--", "- -").replace("--", "- -")
    return [
        f"  <!-- {OMITTED} {text}.",
        "       Save the model as .toml to keep everything. -->",
    ]


def omissions(model: Model) -> Iterator[str]:
    """What a URDF of this model does not hold, in words."""
    for kind in ("tanks", "wheels", "thrusters"):
        if names := [part.name for part in getattr(model, kind)]:
            yield f"{kind} {', '.join(names)}"
    if model.sensors:
        yield f"{len(model.sensors)} sensors"
    if model.capsules:
        yield f"{len(model.capsules)} capsules"
    if model.root != Root(model.root.body):
        yield f"the {model.root.type} root {model.root.body} and its drag"
    if model.orbit is not None:
        yield "the orbit"
    if any(model.gravity):
        yield "gravity"
    if model.uncertainty:
        yield "what is stated of uncertainties"
    if model.limits != Limits():
        yield "the limits of the whole spacecraft"
    if model.description:
        yield "the description"
    plain = Joint("", "fixed", "", "")
    for what, names in (
        ("roles", ("role", "home")),
        ("springs", ("stiffness", "rest", "friction_speed")),
        ("armature", ("armature",)),
        ("drives", ("drive",)),
    ):
        if found := [j.name for j in model.joints if _differs(j, plain, names)]:
            yield f"{what} of the joints {', '.join(found)}"
    held = [*(target.name for target in model.targets), *(frame.name for frame in model.frames)]
    if held:
        yield f"that {', '.join(held)} are targets or frames and not bodies of the robot"


def _differs(joint: Joint, plain: Joint, names: tuple[str, ...]) -> bool:
    return any(getattr(joint, name) != getattr(plain, name) for name in names)


def _holding_joints(model: Model) -> Iterator[Joint]:
    """The fixed joints that carry targets and frames."""
    taken = {joint.name for joint in model.joints} | {target.name for target in model.targets}
    for target in model.targets:
        yield Joint(target.name, "fixed", target.on, target.name, target.placement)
    for frame in model.frames:
        name = frame.name
        while name in taken:
            name += "_frame"
        taken.add(name)
        yield Joint(name, "fixed", frame.body, frame.name, frame.placement)


def _link(body: Body) -> list[str]:
    attributes, elements = _sorted_extras(body.extras)
    content = [f"    {extra}" for extra in elements]
    # Compared as text: minus zero is a value of its own, to be kept.
    if _numbers(body.mass, *body.com, *body.inertia) != _numbers(*[0.0] * 10):
        content = [*inertial_lines(body), *content]
    opening = f'  <link name="{escape(body.name)}"{attributes}'
    return [opening + ">", *content, "  </link>"] if content else [opening + "/>"]


def inertial_lines(body: Body) -> list[str]:
    """The <inertial> of a body."""
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    moments = " ".join(
        f'{name}="{_numbers(value)}"' for name, value in zip(names, body.inertia, strict=True)
    )
    return [
        "    <inertial>",
        f'      <origin xyz="{_numbers(*body.com)}" rpy="0.0 0.0 0.0"/>',
        f'      <mass value="{_numbers(body.mass)}"/>',
        f"      <inertia {moments}/>",
        "    </inertial>",
    ]


def joint_lines(joint: Joint) -> list[str]:
    """The <joint> of a joint."""
    attributes, elements = _sorted_extras(joint.extras)
    kind, limits = joint.type, joint.limits
    if kind == "revolute" and limits.lower is None and limits.upper is None:
        kind = "continuous"
    lines = [f'  <joint name="{escape(joint.name)}" type="{kind}"{attributes}>']
    if _numbers(*joint.placement.xyz, *joint.placement.rpy) != _numbers(*[0.0] * 6):
        lines.append(f"    {_origin(joint.placement)}")
    lines.append(f'    <parent link="{escape(joint.parent)}"/>')
    lines.append(f'    <child link="{escape(joint.child)}"/>')
    if kind != "fixed" or _numbers(*joint.axis) != _numbers(0.0, 0.0, 1.0):
        lines.append(f'    <axis xyz="{_numbers(*joint.axis)}"/>')
    lines += _limit(limits, kind)
    if _numbers(joint.damping, joint.friction) != _numbers(0.0, 0.0):
        damping, friction = _numbers(joint.damping), _numbers(joint.friction)
        lines.append(f'    <dynamics damping="{damping}" friction="{friction}"/>')
    return [*lines, *(f"    {extra}" for extra in elements), "  </joint>"]


def _origin(placement: Placement) -> str:
    return f'<origin xyz="{_numbers(*placement.xyz)}" rpy="{_numbers(*placement.rpy)}"/>'


def _limit(limits: JointLimits, kind: str) -> list[str]:
    """The <limit> element; other readers need one, with effort and velocity, on these joints."""
    is_needed = kind in ("revolute", "prismatic")
    if not is_needed and limits == JointLimits():
        return []
    values = {"lower": limits.lower, "upper": limits.upper}
    if is_needed:
        values["lower"] = -UNLIMITED if limits.lower is None else limits.lower
        values["upper"] = UNLIMITED if limits.upper is None else limits.upper
    values["effort"] = UNLIMITED if limits.effort is None else limits.effort
    values["velocity"] = UNLIMITED if limits.velocity is None else limits.velocity
    values |= {"acceleration": limits.acceleration, "jerk": limits.jerk}
    given = " ".join(f'{name}="{_numbers(v)}"' for name, v in values.items() if v is not None)
    return [f"    <limit {given}/>"]


def _numbers(*values: float) -> str:
    return " ".join(repr(float(value)) for value in values)
