"""What a URDF says in a way no robot can be, and the one safe reading of it.

Each substitute keeps every number that can be kept and is written down with its place, so that it
becomes a note; reading strictly, nothing here is done and the checks of the model refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from freefloat.model import inertia as inertial
from freefloat.model.parts import Body, Joint, Root
from freefloat.model.urdf_values import NUMBER, Instead, UrdfReader
from freefloat.model.urdf_xml import Element, parse_xml
from freefloat.model.value_checks import UNIT

POINT = 1e-6  # theory: [m], radius of gyration; a body of a micrometre has the inertia of a point
NOT_IN_NAMES = re.compile(rb"[ .\[\]*?]")  # dots and globs belong to channels and parameters
# after blanks and comments only
DECLARATION = re.compile(rb"(?:\s+|<!--(?:[^-]|-[^-])*+-->)*+(<\?xml\s[^<>]*\?>)")
LATE_DECLARATION = Instead(
    "substituted.declaration", "an <?xml ...?> that is not the first thing is not used"
)
RENAMED = Instead("substituted.part_name", "names with dots, spaces or brackets have '_' there")
UNPHYSICAL = Instead(
    "substituted.inertia", "inertias that no body can have are replaced by the closest physical one"
)
NO_MASS = Instead(
    "substituted.no_mass", "a centre of mass or an inertia without a mass is taken as zero"
)
DRIVING = Instead(
    "substituted.friction", "negative damping or friction, which would drive a joint, is zero"
)
NEGATIVE_LIMIT = Instead(
    "substituted.limit", "negative limits of speed, effort and the like are not used"
)
SWAPPED_LIMITS = Instead("substituted.limit", "lower limits above the upper ones are swapped")
LONG_AXIS = Instead("substituted.axis", "axes not of unit length are divided by their length")


def move_declaration(reading: UrdfReader) -> None:
    """Blank an <?xml ...?> that is not the very first thing; it says nothing that counts here."""
    found = DECLARATION.match(reading.data)
    if reading.strict or found is None or found.start(1) == 0:
        return
    start, end = found.span(1)
    reading.data = reading.data[:start] + b" " * (end - start) + reading.data[end:]
    line = reading.data.count(b"\n", 0, start) + 1
    reading.substitute(LATE_DECLARATION, f"line {line}")


def replace_names(reading: UrdfReader, robot: Element) -> Element:
    """The robot with names that freefloat can use, wherever the file writes them in quotes.

    A name of the same length takes the place of each, so that every line stays where it is and
    transmissions, plugins and the like still name the part that they mean.
    """
    if reading.strict:
        return robot
    parts = [c for c in robot.children if c.tag in ("link", "joint") and "name" in c.attributes]
    names = {part.attributes["name"] for part in parts}
    data = reading.data
    for part in parts:
        old = part.attributes["name"]
        new = NOT_IN_NAMES.sub(b"_", old.encode()).decode()
        # A name made of numbers could be a value elsewhere, and no number is ever changed.
        if new == old or new in names or all(map(NUMBER.fullmatch, old.split())):
            continue
        if (there := _name_pattern(old)).search(data):
            data = there.sub(lambda found, new=new: found[1] + new.encode() + found[1], data)
            names.add(new)
            place = f"{part.tag} {old!r} (line {part.line}) is {new!r}"
            reading.substitute(RENAMED, place)
    if data is reading.data:
        return robot
    reading.data = data
    return parse_xml(data, reading.file)


def _name_pattern(name: str) -> re.Pattern[bytes]:
    """The name as a whole attribute, but not the name of a file."""
    return re.compile(rb"(?<!filename=)(?<!uri=)([\"'])" + re.escape(name.encode()) + rb"\1")


def physical_body(reading: UrdfReader, body: Body) -> Body:
    """The body that can be: the closest inertia, and nothing that needs a mass without one."""
    if reading.strict or body.mass < 0.0:
        return body
    line = reading.lines.get(f"body {body.name!r}.inertia", reading.lines[f"body {body.name!r}"])
    place = f"link {body.name!r} (line {line})"
    if body.mass == 0.0:
        if not any(body.com) and not any(body.inertia):
            return body
        reading.substitute(NO_MASS, place)
        return Body(body.name, extras=body.extras)
    if not inertial.inconsistency(inertial.phi_from_com(body.mass, (0, 0, 0), body.inertia)):
        return body
    six, change = inertial.closest_inertia(body.inertia)
    is_point = np.max(np.abs(body.inertia)) < body.mass * POINT**2
    if not np.any(six) and not is_point:  # nothing is left of it, so there is no safe reading
        return body
    reading.substitute(UNPHYSICAL, f"{place} by {_percent(change)}")
    xx, xy, xz, yy, yz, zz = six.tolist()
    return replace(body, inertia=(xx, xy, xz, yy, yz, zz))


def _percent(change: float) -> str:
    return f"{100.0 * change:.2g} %" if change > 1e-6 else "less than 0.0001 % (rounding)"


def unit_axis(reading: UrdfReader, joint: Joint) -> Joint:
    """The joint with an axis of unit length; one that points nowhere is left to the checks."""
    length = float(np.linalg.norm(joint.axis))
    is_moving = joint.type in ("revolute", "prismatic")
    if reading.strict or not is_moving or abs(length - 1.0) <= UNIT or not length > 0.0:
        return joint
    line = reading.lines.get(f"joint {joint.name!r}.axis", 0)
    reading.substitute(LONG_AXIS, f"joint {joint.name!r} (line {line}) of {length:.6g}")
    x, y, z = (np.array(joint.axis) / length).tolist()
    return replace(joint, axis=(x, y, z))


def usable_numbers(reading: UrdfReader, joint: Joint) -> Joint:
    """The joint without what no joint has: friction that drives, limits below nothing."""
    if reading.strict:
        return joint
    place = f"joint {joint.name!r}"
    given = {name: getattr(joint, name) for name in ("damping", "friction")}
    if driving := [name for name, value in given.items() if value < 0.0]:
        values = ", ".join(f"{name} {given[name]:g}" for name in driving)
        line = reading.lines.get(f"{place}.friction", 0)
        reading.substitute(DRIVING, f"{place} (line {line}) {values}")
        joint = replace(joint, **dict.fromkeys(driving, 0.0))
    limits, line = joint.limits, reading.lines.get(f"{place}.limits", 0)
    most = {name: getattr(limits, name) for name in ("velocity", "acceleration", "jerk", "effort")}
    if negative := [name for name, value in most.items() if value is not None and value < 0.0]:
        values = ", ".join(f"{name} {most[name]:g}" for name in negative)
        reading.substitute(NEGATIVE_LIMIT, f"{place} (line {line}) {values}")
        limits = replace(limits, **dict.fromkeys(negative))
    low, high = limits.lower, limits.upper
    if low is not None and high is not None and low > high:
        reading.substitute(SWAPPED_LIMITS, f"{place} (line {line}) {low:g} .. {high:g}")
        limits = replace(limits, lower=high, upper=low)
    return replace(joint, limits=limits)


def hold_root(
    reading: UrdfReader, name: str, *, bodies: Iterable[Body], joints: list[Joint]
) -> Root:
    """The root: floating, but fixed where nothing that is firmly on it has mass.

    A floating root without any inertia could not move in a way that can be computed; in such a
    file it is the world that a robot stands in.
    """
    mass = {body.name: body.mass for body in bodies}
    firm, grown = {name}, True
    while grown:
        more = {j.child for j in joints if j.type == "fixed" and j.parent in firm} - firm
        firm, grown = firm | more, bool(more)
    is_empty = not any(mass.get(one, 0.0) for one in firm)
    if reading.strict or not is_empty or not any(mass.values()):
        return Root(name)
    text = f"the root {name!r} has no mass and carries joints that move: it is held fixed, as the"
    reading.note("substituted.root", f'{text} world is (type = "floating" in [root] frees it)')
    return Root(name, "fixed")
