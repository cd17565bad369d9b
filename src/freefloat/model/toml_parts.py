"""The parts of a Model from the tables of a model file, joined to the URDF beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
    Root,
    Sensor,
    Six,
    Tank,
    Target,
    Thruster,
    Wheel,
)
from freefloat.model.schema_tables import BodyTable, JointTable, ModelFile, TankTable, TargetTable
from freefloat.model.toml_findings import Findings
from freefloat.model.toml_lines import Way


def build(tables: ModelFile, base: Model | None, findings: Findings) -> Model | None:
    """The model the tables say; None when there is no body to begin with."""
    is_planar = tables.root.type == "planar"
    bodies = _bodies(tables, base, findings, is_planar)
    if not bodies:
        if ("body",) not in findings.told:
            remedy = 'add [[body]] tables, or urdf = "..." with a file that has the bodies'
            findings.fault(("body",), value="no body", expected="at least one", remedy=remedy)
        return None
    root = {"body": base.root.body if base else bodies[0].name, **tables.root.given()}
    frames = tuple(Frame(table.name, table.body, _placement(table)) for table in tables.frame)
    targets = (
        _target(table, frames, findings, ("target", i), is_planar)
        for i, table in enumerate(tables.target)
    )
    return Model(
        name=tables.name,
        root=Root(**root),
        bodies=bodies,
        joints=_joints(tables, base, findings),
        tanks=tuple(map(_tank, tables.tank)),
        wheels=tuple(Wheel(**table.given()) for table in tables.wheel),
        thrusters=tuple(Thruster(**table.given()) for table in tables.thruster),
        targets=tuple(targets),
        frames=frames,
        sensors=tuple(_sensor(table) for table in tables.sensor),
        capsules=tuple(Capsule(**table.given()) for table in tables.capsule),
        orbit=Orbit(**tables.orbit.given()) if tables.orbit else None,
        limits=Limits(**tables.limits.given()) if tables.limits else Limits(),
        extras=tables.extras if tables.extras is not None else base.extras if base else (),
        notes=base.notes if base else (),
        **tables.given(*(set(ModelFile.model_fields) - {"description", "gravity"})),
    )


def _bodies(
    tables: ModelFile, base: Model | None, findings: Findings, is_planar: bool
) -> tuple[Body, ...]:
    """The bodies of the URDF, changed by the entries of the same name, then the others."""
    entries: dict[str, Body] = {}
    known = {body.name: body for body in base.bodies} if base else {}
    repeated = []
    for i, table in enumerate(tables.body):
        body = _body(table, known.get(table.name), findings, ("body", i), is_planar)
        if table.name in entries:
            repeated.append(body)  # the structure checks tell, with both names at hand
        entries.setdefault(table.name, body)
    changed = [entries.get(name, body) for name, body in known.items()]
    added = [body for name, body in entries.items() if name not in known]
    return (*changed, *added, *repeated)


def _body(
    table: BodyTable | TargetTable, old: Body | None, findings: Findings, way: Way, is_planar: bool
) -> Body:
    given = {k: v for k, v in table.given().items() if k in ("mass", "com", "inertia", "extras")}
    if "inertia" in given:
        given["inertia"] = _inertia(given["inertia"], findings, way, is_planar)
    return replace(old or Body(table.name), **given)


def _inertia(values: tuple[float, ...], findings: Findings, way: Way, is_planar: bool) -> Six:
    """Six inertias [kg m^2] from six, from three on the diagonal, or from one of a flat body."""
    if len(values) == 6:
        return values  # type: ignore[return-value]
    if len(values) == 3:
        return (values[0], 0.0, 0.0, values[1], 0.0, values[2])
    if not is_planar:
        findings.fault(
            (*way, "inertia"),
            value=repr(values[0]),
            expected="3 or 6 numbers (one number is for a flat body on a planar root)",
            remedy="write [xx, yy, zz] or [xx, xy, xz, yy, yz, zz]",
        )
    # A flat body: what turns about z is spread evenly over x and y.
    return (values[0] / 2.0, 0.0, 0.0, values[0] / 2.0, 0.0, values[0])


def _joints(tables: ModelFile, base: Model | None, findings: Findings) -> tuple[Joint, ...]:
    known = {joint.name: joint for joint in base.joints} if base else {}
    added = []
    for i, table in enumerate(tables.joint):
        way: Way = ("joint", i)
        geometry = {"type", "parent", "child", "xyz", "rpy", "axis"} & table.model_fields_set
        if table.name not in known:
            added.append(_new_joint(table, findings, way))
            continue
        for key in sorted(geometry):
            findings.fault(
                (*way, key),
                value=f"{key} for a joint of the URDF",
                expected="role, home, springs, limits and drive only: the rest is in the URDF",
                remedy="delete the key, or rename a joint that should be another one",
            )
        old = known[table.name]
        given = _joint_values(table)
        if table.limits is not None:
            given["limits"] = replace(old.limits, **table.limits.given())
        known[table.name] = replace(old, **given)
    return (*known.values(), *added)


def _new_joint(table: JointTable, findings: Findings, way: Way) -> Joint:
    ends = {"type": table.type, "parent": table.parent, "child": table.child}
    for key, value in ends.items():
        if value is None and (*way, key) not in findings.told:
            findings.fault(
                (*way, key),
                value="nothing",
                expected=f"{key} = ... for a joint that is in no URDF",
                remedy="add the key, or correct the name to that of a URDF joint",
            )
    return Joint(
        name=table.name,
        # Where the type is missing or misspelt: sensors on the joint, or its drive, are no mistake.
        type=table.type or "revolute",  # type: ignore[arg-type]
        parent=table.parent or "?",
        child=table.child or "?",
        placement=_placement(table),
        **({} if table.axis is None else {"axis": table.axis}),  # type: ignore[arg-type]
        **_joint_values(table),
    )


def _joint_values(table: JointTable) -> dict[str, Any]:
    """Everything a joint table gives beyond geometry."""
    given = table.given("name", "type", "parent", "child", "xyz", "rpy", "axis")
    if table.limits is not None:
        given["limits"] = JointLimits(**table.limits.given())
    if table.drive is not None:
        given["drive"] = Drive(**table.drive.given())
        given.setdefault("role", "passive")  # the link follows the spring
    return given


def _placement(table: Any) -> Placement:
    return Placement(**{k: v for k, v in table.given().items() if k in ("xyz", "rpy")})


def _tank(table: TankTable) -> Tank:
    given = table.given()
    for key in ("stiffness", "damping"):
        if key in given:
            first, *second = given[key]
            given[key] = (first, *(second or [first]))
    return Tank(**given)


def _target(
    table: TargetTable, frames: tuple[Frame, ...], findings: Findings, way: Way, is_planar: bool
) -> Target:
    body = _body(table, None, findings, way, is_planar)
    for frame in frames:
        if frame.name != table.on:
            continue
        for key in sorted({"xyz", "rpy"} & table.model_fields_set):
            findings.fault(
                (*way, key),
                value=f"{key} on the frame {frame.name!r}",
                expected="no placement of its own: the frame supplies it",
                remedy=f"delete the key, or say on = {frame.body!r}",
            )
        return Target(body, frame.body, frame.placement)
    return Target(body, table.on, _placement(table))


def _sensor(table: Any) -> Sensor:
    given = table.given()
    if table.coloured is not None:
        given["coloured"] = Coloured(**table.coloured.given())
    return Sensor(**given)
