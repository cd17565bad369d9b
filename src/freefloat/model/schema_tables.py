"""What may stand in a model file (TOML), table by table; pydantic finds every departure from it.

Optional keys default to None here, which means "not given": the defaults themselves are those of
the parts. Only `toml` imports this file, when a model file is read, for pydantic takes a while.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from freefloat.model.schema_values import (
    Axes,
    Bias,
    DriveForm,
    Extras,
    Format,
    Inertia,
    JointKind,
    Name,
    Number,
    OneOrTwo,
    Prose,
    RoleName,
    RootKind,
    SensorKindName,
    Vector3,
    WheelRole,
)


class SchemaTable(BaseModel):
    """A table of a model file: unknown keys are faults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self, *leaving_out: str) -> dict[str, Any]:
        """The keys the file gives, with their values."""
        return {k: getattr(self, k) for k in self.model_fields_set if k not in leaving_out}


class RootTable(SchemaTable):
    """How the first body is held."""

    type: RootKind | None = None
    body: Name | None = None
    linear_drag: Number | None = None
    angular_drag: Number | None = None


class BodyTable(SchemaTable):
    """A body, or other inertial data for a link of the URDF."""

    name: Name
    mass: Number | None = None
    com: Vector3 | None = None
    inertia: Inertia | None = None
    extras: Extras | None = None


class JointLimitsTable(SchemaTable):
    """What a joint may do."""

    lower: Number | None = None
    upper: Number | None = None
    velocity: Number | None = None
    acceleration: Number | None = None
    jerk: Number | None = None
    effort: Number | None = None


class DriveTable(SchemaTable):
    """A flexible drive."""

    inertia: Number
    stiffness: Number
    form: DriveForm | None = None
    ratio: Number | None = None
    damping: Number | None = None
    friction: Number | None = None
    role: RoleName | None = None


class JointTable(SchemaTable):
    """A joint, or more about a joint of the URDF (then without type, parent and child)."""

    name: Name
    type: JointKind | None = None
    parent: Name | None = None
    child: Name | None = None
    xyz: Vector3 | None = None
    rpy: Vector3 | None = None
    axis: Vector3 | None = None
    role: RoleName | None = None
    home: Number | None = None
    stiffness: Number | None = None
    damping: Number | None = None
    rest: Number | None = None
    friction: Number | None = None
    friction_speed: Number | None = None
    limits: JointLimitsTable | None = None
    drive: DriveTable | None = None
    extras: Extras | None = None


class TankTable(SchemaTable):
    """Sloshing fuel."""

    name: Name
    body: Name
    mass: Number
    length: Number
    pivot: Vector3 | None = None
    direction: Vector3 | None = None
    axes: Axes | None = None
    stiffness: OneOrTwo | None = None
    damping: OneOrTwo | None = None


class WheelTable(SchemaTable):
    """A reaction or momentum wheel."""

    name: Name
    body: Name
    axis: Vector3
    inertia: Number
    role: WheelRole | None = None
    speed: Number | None = None
    max_speed: Number | None = None
    max_torque: Number | None = None


class ThrusterTable(SchemaTable):
    """A thruster."""

    name: Name
    body: Name
    direction: Vector3
    position: Vector3 | None = None
    max_force: Number | None = None


class TargetTable(SchemaTable):
    """A grasped object; `on` is a body, or a frame that says where it is held."""

    name: Name
    on: Name
    xyz: Vector3 | None = None
    rpy: Vector3 | None = None
    mass: Number | None = None
    com: Vector3 | None = None
    inertia: Inertia | None = None
    extras: Extras | None = None


class FrameTable(SchemaTable):
    """A named place on a body."""

    name: Name
    body: Name
    xyz: Vector3 | None = None
    rpy: Vector3 | None = None


class ColouredTable(SchemaTable):
    """First-order Gauss-Markov noise."""

    sigma: Number
    time: Number


class SensorTable(SchemaTable):
    """A sensor."""

    kind: SensorKindName
    on: Name
    rate: Number
    channel: Name | None = None
    noise: Number | None = None
    bias: Bias | None = None
    quantisation: Number | None = None
    delay: Number | None = None
    dropout: Number | None = None
    saturation: Number | None = None
    coloured: ColouredTable | None = None


class CapsuleTable(SchemaTable):
    """A keep-out shape."""

    body: Name
    start: Vector3
    end: Vector3
    radius: Number


class OrbitTable(SchemaTable):
    """A circular orbit."""

    radius: Number
    mu: Number | None = None
    radial: Vector3 | None = None
    normal: Vector3 | None = None


class LimitsTable(SchemaTable):
    """What the whole spacecraft may do."""

    base_attitude: Number | None = None
    base_rate: Number | None = None
    wheel_momentum: Number | None = None
    thruster_impulse: Number | None = None


class ModelFile(SchemaTable):
    """A whole model file, format 1."""

    format: Format
    name: Name
    description: Prose = ""
    urdf: Prose | None = None  # its path is looked at before anything else
    gravity: Vector3 | None = None
    extras: Extras | None = None
    root: RootTable = RootTable()
    body: list[BodyTable] = []
    joint: list[JointTable] = []
    tank: list[TankTable] = []
    wheel: list[WheelTable] = []
    thruster: list[ThrusterTable] = []
    target: list[TargetTable] = []
    frame: list[FrameTable] = []
    sensor: list[SensorTable] = []
    capsule: list[CapsuleTable] = []
    orbit: OrbitTable | None = None
    limits: LimitsTable | None = None
