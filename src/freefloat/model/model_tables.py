"""The tables of a model file: what may stand in them, and the parts of a Model they become.

A table is the dataclass of its part, except that a placement has no table of its own (xyz and rpy
stand in that of the part), a target is its body with the place where it is held, inertias and
springs have shorthands, and with a URDF beside it a joint or a body need only say what is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Protocol, get_args

from freefloat.model.joint_wheels import WHEEL
from freefloat.model.model import Model
from freefloat.model.parts import (
    Body,
    Capsule,
    Coloured,
    Drive,
    Frame,
    Joint,
    JointLimits,
    Limits,
    Orbit,
    Placement,
    Role,
    Root,
    Sensor,
    Six,
    Tank,
    Target,
    Thruster,
    Wheel,
)
from freefloat.model.uncertainty import uncertainty_table
from freefloat.records import values
from freefloat.records.schema import Kind, Schema, TableKind, TableList, table_of
from freefloat.records.toml_text import TOML
from freefloat.records.values import KeyPath, PathFault

NAMED = ("body", "joint", "tank", "wheel", "thruster", "target", "frame")
SECTIONS = (*NAMED, "sensor", "capsule")
GEOMETRY = ("type", "parent", "child", "xyz", "rpy", "axis")  # of a joint: a URDF has the last word

# What stands in for a value that is missing or wrong, so that the rest can still be checked.
_STAND_INS: dict[str, Any] = {
    "mass": 1.0, "length": 1.0, "inertia": 1e-9, "stiffness": 1.0, "radius": 1e9, "rate": 1.0,
    "sigma": 1.0, "time": 1.0, "kind": "gyro", "on": "?", "body": "?",
    "axis": (0.0, 0.0, 1.0), "direction": (0.0, 0.0, 1.0), "start": (0.0,) * 3, "end": (0.0,) * 3,
}  # fmt: skip


class PartFaults(Protocol):
    """Where faults are written down."""

    paths: set[KeyPath]

    def add(self, fault: PathFault) -> None:
        """Write down a fault."""

    def register_part(self, path: KeyPath, name: str) -> None:
        """Remember where the part called `name` is."""


@cache
def part_tables() -> dict[str, TableKind]:
    """The table of each part, by its name in a file."""
    extras = values.list_of(values.text)
    inertia = values.numbers(6, 3, 1)
    one_or_two = values.numbers(2, 1)
    inertial: dict[str, Kind] = {"extras": extras, "inertia": inertia}
    placed = ("placement",)
    return {
        "root": table_of(Root, TOML, optional=("body",)),
        "body": table_of(Body, TOML, instead=inertial),
        "joint": table_of(
            Joint,
            TOML,
            instead={"extras": extras, "role": values.one_of(*get_args(Role), WHEEL)},
            spread=placed,
            optional=GEOMETRY,
        ),
        "tank": table_of(Tank, TOML, instead=dict.fromkeys(("stiffness", "damping"), one_or_two)),
        "wheel": table_of(Wheel, TOML),
        "thruster": table_of(Thruster, TOML),
        "target": table_of(Target, TOML, instead=inertial, spread=("body", *placed)),
        "frame": table_of(Frame, TOML, spread=placed),
        "sensor": table_of(Sensor, TOML, instead={"bias": values.one_or_more_numbers}),
        "capsule": table_of(Capsule, TOML),
        "orbit": table_of(Orbit, TOML),
        "limits": table_of(Limits, TOML),
    }


@cache
def model_schema() -> Schema:
    """What may stand in a model file, format 1."""
    head: dict[str, Kind] = {
        "format": values.format_1,
        "name": values.name,
        "description": values.text,
        "urdf": values.text,
        "gravity": values.numbers(3),
        "extras": values.list_of(values.text),
        "uncertainty": uncertainty_table,
    }
    parts: dict[str, Kind] = {
        key: TableList(table) if key in SECTIONS else table for key, table in part_tables().items()
    }
    return Schema(TableKind({**head, **parts}, ("format", "name")), TOML)


def build(content: dict[str, Any], base: Model | None, faults: PartFaults) -> Model | None:
    """The model that the tables say, joined to the URDF beside them.

    What is missing is replaced by stand-ins, so that the checks can go on; the faults tell of it.
    None when there is no body to begin with.
    """
    tables = {section: _fill(content, section, faults) for section in SECTIONS}
    is_planar = content.get("root", {}).get("type") == "planar"
    bodies = _bodies(tables["body"], base, faults, is_planar)
    if not bodies:
        if ("body",) not in faults.paths:
            remedy = 'add [[body]] tables, or urdf = "..." with a file that has the bodies'
            faults.add(PathFault(("body",), "no body", "at least one", remedy, "key.missing"))
        return None
    first = base.root if base else Root(bodies[0].name)
    frames = tuple(Frame(**_place(given)) for given in tables["frame"])
    known = ("description", "gravity", "uncertainty")
    head = {key: content[key] for key in known if key in content}
    return Model(
        name=content.get("name", "unnamed"),
        root=replace(first, **content.get("root", {})),
        bodies=bodies,
        joints=_joints(tables["joint"], base, faults),
        tanks=tuple(map(_tank, tables["tank"])),
        wheels=tuple(Wheel(**given) for given in tables["wheel"]),
        thrusters=tuple(Thruster(**given) for given in tables["thruster"]),
        targets=tuple(
            _target(given, frames, faults, ("target", i), is_planar)
            for i, given in enumerate(tables["target"])
        ),
        frames=frames,
        sensors=tuple(map(_sensor, tables["sensor"])),
        capsules=tuple(Capsule(**given) for given in tables["capsule"]),
        orbit=Orbit(**_complete(Orbit, content["orbit"])) if "orbit" in content else None,
        limits=Limits(**content.get("limits", {})),
        extras=content.get("extras", base.extras if base else ()),
        notes=base.notes if base else (),
        **head,
    )


def _fill(content: dict[str, Any], section: str, faults: PartFaults) -> list[dict[str, Any]]:
    """The tables of a section, with stand-ins for what they need and do not have."""
    table = part_tables()[section]
    required = table.required
    filled = []
    for i, given in enumerate(content.get(section, [])):
        whole = {key: _STAND_INS[key] for key in required if key != "name"} | given
        if "name" in required and "name" not in given:
            whole["name"] = f"unnamed_{section}_{i}"
            faults.register_part((section, i), whole["name"])
        # without a sound one, all else would seem wrong; a wheel with one is another fault
        if "mass" in table.keys and (section, i, "mass") in faults.paths:
            whole["mass"] = _STAND_INS["mass"]
        filled.append(whole)
    return filled


def _complete(part: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a table gives, with stand-ins for what is missing."""
    required = table_of(part, TOML).required
    return {key: _STAND_INS[key] for key in required} | dict(given)


def _place(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a part whose table holds its placement."""
    rest = {key: value for key, value in given.items() if key not in ("xyz", "rpy")}
    return {**rest, "placement": _placement(given)}


def _placement(given: dict[str, Any]) -> Placement:
    return Placement(**{key: given[key] for key in ("xyz", "rpy") if key in given})


def _bodies(
    tables: list[dict[str, Any]], base: Model | None, faults: PartFaults, is_planar: bool
) -> tuple[Body, ...]:
    """The bodies of the URDF, changed by the entries of the same name, then the others."""
    known = {body.name: body for body in base.bodies} if base else {}
    changed: dict[str, Body] = {}
    repeated = []
    for i, given in enumerate(tables):
        body = _body(given, known.get(given["name"]), faults, ("body", i), is_planar)
        if body.name in changed:
            repeated.append(body)  # the structure checks tell, with both names at hand
        changed.setdefault(body.name, body)
    others = [body for name, body in changed.items() if name not in known]
    return (*(changed.get(name, body) for name, body in known.items()), *others, *repeated)


def _body(
    given: dict[str, Any], old: Body | None, faults: PartFaults, path: KeyPath, is_planar: bool
) -> Body:
    keys = ("name", "mass", "com", "inertia", "extras", "uncertainty")
    own = {key: given[key] for key in keys if key in given}
    if "inertia" in own:
        own["inertia"] = _inertia(own["inertia"], faults, path, is_planar)
    return replace(old, **own) if old is not None else Body(**own)


def _inertia(given: tuple[float, ...], faults: PartFaults, path: KeyPath, is_planar: bool) -> Six:
    """Six inertias [kg m^2] from six, from three on the diagonal, or from one of a flat body."""
    if len(given) == 6:
        return given  # type: ignore[return-value]
    if len(given) == 3:
        return (given[0], 0.0, 0.0, given[1], 0.0, given[2])
    if not is_planar:
        expected = "3 or 6 numbers (one number is for a flat body on a planar root)"
        remedy = "write [xx, yy, zz] or [xx, xy, xz, yy, yz, zz]"
        fault = PathFault((*path, "inertia"), repr(given[0]), expected, remedy, "value.count")
        faults.add(fault)
    # A flat body: its moment about z is the sum of those about x and y, taken as equal.
    return (given[0] / 2.0, 0.0, 0.0, given[0] / 2.0, 0.0, given[0])


def _joints(
    tables: list[dict[str, Any]], base: Model | None, faults: PartFaults
) -> tuple[Joint, ...]:
    known = {joint.name: joint for joint in base.joints} if base else {}
    added = []
    for i, given in enumerate(tables):
        old = known.get(given["name"])
        if old is None:
            added.append(_new_joint(given, faults, ("joint", i)))
            continue
        for key in sorted(set(GEOMETRY) & given.keys()):
            value = f"{key} for a joint of the URDF"
            expected = "role, home, springs, limits and drive only: the rest is in the URDF"
            remedy = "delete the key, or rename a joint that should be another one"
            faults.add(PathFault(("joint", i, key), value, expected, remedy, "value.conflict"))
        own = _joint_values(given)
        if "limits" in given:
            own["limits"] = replace(old.limits, **given["limits"])
        known[old.name] = replace(old, **own)
    return (*known.values(), *added)


def _new_joint(given: dict[str, Any], faults: PartFaults, path: KeyPath) -> Joint:
    for key in ("type", "parent", "child"):
        if key not in given and (*path, key) not in faults.paths:
            expected = f"{key} = ... for a joint that is in no URDF"
            remedy = "add the key, or correct the name to that of a URDF joint"
            faults.add(PathFault((*path, key), "nothing", expected, remedy, "key.missing"))
    return Joint(
        # Where the type is missing or misspelt: sensors on the joint, or its drive, are no mistake.
        type=given.get("type", "revolute"),
        parent=given.get("parent", "?"),
        child=given.get("child", "?"),
        placement=_placement(given),
        **({"axis": given["axis"]} if "axis" in given else {}),
        **_joint_values(given),
    )


def _joint_values(given: dict[str, Any]) -> dict[str, Any]:
    """Everything a joint table gives beyond geometry."""
    # A key that no joint has is a fault already; what else is wrong is still to be told.
    kept = Joint.__dataclass_fields__.keys() - set(GEOMETRY)
    own = {key: value for key, value in given.items() if key in kept}
    if "limits" in own:
        own["limits"] = JointLimits(**own["limits"])
    if "drive" in own:
        own["drive"] = Drive(**_complete(Drive, own["drive"]))
        own.setdefault("role", "passive")  # the link follows the spring
    return own


def _tank(given: dict[str, Any]) -> Tank:
    for key in ("stiffness", "damping"):
        if len(given.get(key, ())) == 1:
            given = {**given, key: given[key] * 2}
    return Tank(**given)


def _target(
    given: dict[str, Any],
    frames: tuple[Frame, ...],
    faults: PartFaults,
    path: KeyPath,
    is_planar: bool,
) -> Target:
    body = _body(given, None, faults, path, is_planar)
    for frame in frames:
        if frame.name != given["on"]:
            continue
        for key in sorted({"xyz", "rpy"} & given.keys()):
            value = f"{key} on the frame {frame.name!r}"
            expected = "no placement of its own: the frame supplies it"
            remedy = f"delete the key, or say on = {frame.body!r}"
            faults.add(PathFault((*path, key), value, expected, remedy, "value.conflict"))
        return Target(body, frame.body, frame.placement)
    return Target(body, given["on"], _placement(given))


def _sensor(given: dict[str, Any]) -> Sensor:
    if "coloured" in given:
        given = {**given, "coloured": Coloured(**_complete(Coloured, given["coloured"]))}
    return Sensor(**given)
