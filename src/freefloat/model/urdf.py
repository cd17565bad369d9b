"""URDF as it is found: every fault with its line, nothing silently dropped or changed.

A number that is not a number or a link that does not exist is a fault; all of them are reported
together. What has one safe reading (an inertia by rounding no body can have, an axis of another
length, an unknown attribute) is read so and noted, with its place; reading strictly, it is a
fault too. What a URDF says beyond bodies and joints (visuals, transmissions, ...) is kept word for
word and written back.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from freefloat.errors import ModelError
from freefloat.model import inertia as inertial
from freefloat.model.checks import structure_faults
from freefloat.model.model import Model
from freefloat.model.parts import Body, Six, Vector
from freefloat.model.urdf_joints import FLOATING, read_joint, read_origin, remove_root_joint
from freefloat.model.urdf_substitutes import (
    hold_root,
    move_declaration,
    physical_body,
    replace_names,
    unit_axis,
    usable_numbers,
)
from freefloat.model.urdf_values import UrdfReader
from freefloat.model.urdf_xml import URDF_FILE, Element, parse_xml
from freefloat.model.xacro_ import read_urdf_bytes
from freefloat.records.bounded_read import decode
from freefloat.records.toml_text import MAX_PARTS
from freefloat.text import count_noun, listing

_STAND_IN = Body("", 1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0))


def read_urdf(source: str | Path, *, strict: bool = False) -> Model:
    """The model of a URDF file, or of a URDF text (any string with a "<" in it).

    The root floats and every joint has the role "motion"; a model file (.toml) beside the URDF
    says otherwise. `notes` of the model say what was read in another way than it is written;
    `strict` refuses such a file.

    >>> read_urdf('<robot name="r"><link name="a"><inertial><mass value="2"/><inertia ixx="1"'
    ...           ' ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>').mass
    2.0
    """
    if isinstance(source, str) and "<" in source:
        file, data = "URDF text", source.encode("utf-8", "replace")
    else:
        file, data = Path(source).name, read_urdf_bytes(Path(source))
    model, reading = draft_urdf(data, file, strict=strict)
    faults = [*reading.faults, *reading.locate(structure_faults(model))]
    if faults:
        raise ModelError(f"{file}: {count_noun(len(faults), 'fault')} found", faults)
    return model


def draft_urdf(data: bytes, file: str, *, strict: bool = False) -> tuple[Model, UrdfReader]:
    """The model as far as it can be read, and what was found on the way; nothing is checked yet."""
    reading = UrdfReader(file, decode(data, file, URDF_FILE).encode(), strict=strict)
    move_declaration(reading)
    robot = parse_xml(reading.data, file)
    if robot.tag != "robot":
        value, remedy, code = f"<{robot.tag}>", "give a URDF file", "file.format"
        reading.fault(robot, "", value=value, expected="<robot>", remedy=remedy, code=code)
        raise ModelError(f"{file}: not a URDF", reading.faults)
    robot = replace_names(reading, robot)
    name = _read_name(reading, robot)
    reading.lines |= {"root.body": robot.line, "root.type": robot.line, "name": robot.line}
    reading.no_text(robot, "")
    used = ("link", "joint")
    extras = reading.extras(robot, f"robot {name!r}", used=used, named=("name",))
    links, joints = (_family(reading, robot, tag) for tag in used)
    if not links:
        reading.fault(
            robot,
            "<robot>",
            value="no <link>",
            expected="at least one",
            remedy="add the bodies of the robot",
            code="key.missing",
        )
        raise ModelError(f"{file}: no bodies", reading.faults)
    bodies = [_read_link(reading, element, key) for key, element in links.items()]
    read = [read_joint(reading, element, key) for key, element in joints.items()]
    bodies = [physical_body(reading, body) for body in bodies]
    read = [usable_numbers(reading, unit_axis(reading, joint)) for joint in read]
    bodies, read = remove_root_joint(reading, bodies, read)
    carried = {joint.child for joint in read}
    roots = [body.name for body in bodies if body.name not in carried]
    if not roots:
        reading.told.add("root.body")
        reading.fault(
            robot,
            "<robot>",
            value="every link is the child of a joint",
            expected="one link that no joint carries: the root",
            remedy="break the loop of joints",
            code="model.loop",
        )
    root = hold_root(reading, roots[0] if roots else bodies[0].name, bodies=bodies, joints=read)
    _write_notes(reading, bodies)
    model = Model(
        name=name,
        root=root,
        bodies=tuple(bodies),
        joints=tuple(replace(j, type="fixed") if j.type == FLOATING else j for j in read),
        extras=extras,
        notes=(*reading.substitution_notes(), *reading.notes),
    )
    return model, reading


def _read_name(reading: UrdfReader, robot: Element) -> str:
    """The name of the robot; that of its file where it says none."""
    name = robot.attributes.get("name", "").strip()
    stem = Path(reading.file).stem
    if name or reading.strict:
        return reading.require(robot, "", "name") or "unnamed"
    text = f"the robot has no name and is called after its file (line {robot.line})"
    reading.note("substituted.name", text)
    return stem


def _family(reading: UrdfReader, robot: Element, tag: str) -> dict[str, Element]:
    """The links or joints by name, each name once; a stand-in where there is no name."""
    family: dict[str, Element] = {}
    elements = [child for child in robot.children if child.tag == tag]
    if len(elements) > MAX_PARTS:
        reading.fault(
            robot,
            "<robot>",
            value=f"{len(elements)} <{tag}>",
            expected=f"at most {MAX_PARTS}",
            remedy="split the model",
            code="value.count",
        )
        raise ModelError(f"{reading.file}: too many parts", reading.faults)
    for element in elements:
        name = reading.require(element, "", "name")
        if name is None:  # a stand-in, so that reading can go on
            name = f"unnamed_{tag}_{len(family)}"
            reading.told.add(f"body {name!r}")
        if name in family:
            reading.fault(
                element,
                f"{tag} {name!r}",
                value=f"a second {tag} of that name (the first is on line {family[name].line})",
                expected="a name no other one has",
                remedy="rename one of them",
                code="name.duplicate",
            )
            continue
        family[name] = element
        kind = "body" if tag == "link" else tag
        reading.lines |= {f"{kind} {name!r}": element.line, f"name {name!r}": element.line}
    return family


def _read_link(reading: UrdfReader, link: Element, name: str) -> Body:
    owner = f"link {name!r}"
    reading.no_text(link, owner)
    extras = reading.extras(link, owner, used=("inertial",), named=("name",))
    element = reading.single(link, owner, "inertial")
    if element is None:
        return Body(name, extras=extras)
    read = _read_inertial(reading, element, name)
    if read is None:  # nothing more can be said about this body
        return replace(_STAND_IN, name=name, extras=extras)
    return Body(name, *read, extras)


def _read_inertial(
    reading: UrdfReader, element: Element, name: str
) -> tuple[float, Vector, Six] | None:
    """Mass [kg], centre of mass [m], inertia about it in body axes [kg m^2]; None if unreadable."""
    owner = f"link {name!r}"
    parts = ("origin", "mass", "inertia")
    reading.only(element, owner, parts)
    reading.attributes(element, owner, ())
    place = read_origin(reading, element, owner)
    mass_element = reading.require_child(element, owner, "mass", '<mass value="..."/>')
    mass = None
    if mass_element is not None:
        reading.attributes(mass_element, owner, ("value",))
        reading.only(mass_element, owner, ())
        mass = reading.number(mass_element, owner, "value")
    for child in element.children:
        kind = {"origin": "com"}.get(child.tag, child.tag)
        reading.lines[f"body {name!r}.{kind}"] = child.line
    inertia = _read_inertia(reading, element, owner)
    if mass is None or inertia is None:
        return None
    if any(place.rpy):  # turned only when it must be: an untouched inertia keeps its bits
        R = place.rotation
        xx, xy, xz, yy, yz, zz = inertial.six(R @ inertial.tensor(inertia) @ R.T).tolist()
        inertia = (xx, xy, xz, yy, yz, zz)
    return mass, place.xyz, inertia


def _read_inertia(reading: UrdfReader, element: Element, owner: str) -> Six | None:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    example = "<inertia " + " ".join(f'{name}="..."' for name in names) + "/>"
    found = reading.require_child(element, owner, "inertia", example)
    if found is None:
        return None
    reading.attributes(found, owner, names)
    reading.only(found, owner, ())
    values = [reading.number(found, owner, name) for name in names]
    if any(value is None for value in values):
        return None
    xx, xy, xz, yy, yz, zz = np.array(values, dtype=float).tolist()
    return xx, xy, xz, yy, yz, zz


def _write_notes(reading: UrdfReader, bodies: list[Body]) -> None:
    if reading.kept:
        counts = listing((f"{n} {what}" for what, n in sorted(reading.kept.items())), most=20)
        reading.note("urdf.kept", f"kept for writing back but not used: {counts}")
    if reading.ignored:
        names = listing(sorted(reading.ignored), most=8)
        reading.note("urdf.ignored", f"not used and not kept: {names}")
    massless = [body.name for body in bodies if body.mass == 0.0]
    if massless:
        reading.note("urdf.massless", f"without mass: {listing(massless, most=8)}")
