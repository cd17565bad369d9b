"""Where joints, wheels and thrusters sit, changed by small turns and displacements.

`arm_1.offset.x|y|z` [m] moves a joint in its parent's axes, and all it carries; `arm_1.tilt.x|y|z`
[rad] turns its axis, in its own frame, by a rotation vector: at an angle of zero all it carries
stays where it is. `thr_1.offset` and `thr_1.tilt` do so in the axes of the body that carries the
thruster, and `rw_z.tilt` turns the axis of a wheel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.model.assembly import assemble
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.model.parts import Joint, Placement, Thruster, Vector, Wheel
from freefloat.model.rotations import matrix_from_rotation_vector

AXES = "xyz"


def geometry_names(model: Model) -> list[str]:
    """Every name of the geometry of a model, in its order."""
    both = [part.name for part in (*model.joints, *model.thrusters)]
    names = [f"{owner}.{what}.{axis}" for owner in both for what in ("offset", "tilt")
             for axis in AXES]  # fmt: skip
    return names + [f"{wheel.name}.tilt.{axis}" for wheel in model.wheels for axis in AXES]


def with_geometry(model: Model, values: Mapping[str, float]) -> Model:
    """The model with joints, wheels and thrusters displaced and turned; other names are ignored.

    >>> from freefloat.model import load_model
    >>> with_geometry(load_model("planar-capture"), {"arm_1.offset.y": 0.01}).joints[0].placement
    Placement(xyz=(0.5, 0.01, 0.0), rpy=(0.0, 0.0, 0.0))
    """
    named: dict[str, dict[str, Array]] = defaultdict(lambda: defaultdict(lambda: np.zeros(3)))
    for name, value in values.items():
        parsed = ParameterName.parse(name)
        if parsed.kind == "geometry" and value != 0.0:
            what, _, axis = parsed.field.partition(".")
            named[parsed.owner][what][AXES.index(axis)] = value
    if not named:
        return model
    moved = replace(
        model,
        joints=tuple(_joint(part, named.get(part.name)) for part in model.joints),
        wheels=tuple(_wheel(part, named.get(part.name)) for part in model.wheels),
        thrusters=tuple(_thruster(part, named.get(part.name)) for part in model.thrusters),
    )
    # sound parts are sound wherever they are: a model is displaced for every column of a Jacobian
    vars(moved)["assembly"] = assemble(moved, is_sound=bool(model.assembly))
    return moved


Changes = Mapping[str, Array]


def _joint(joint: Joint, changes: Changes | None) -> Joint:
    if changes is None:
        return joint
    place = joint.placement
    if "offset" in changes:
        place = Placement(_vector(place.position + changes["offset"]), place.rpy)
    return replace(joint, placement=place, axis=_turn(joint.axis, changes))


def _wheel(wheel: Wheel, changes: Changes | None) -> Wheel:
    return wheel if changes is None else replace(wheel, axis=_turn(wheel.axis, changes))


def _thruster(thruster: Thruster, changes: Changes | None) -> Thruster:
    if changes is None:
        return thruster
    position = np.array(thruster.position) + changes.get("offset", np.zeros(3))
    direction = _turn(thruster.direction, changes)
    return replace(thruster, direction=direction, position=_vector(position))


def _turn(axis: Vector, changes: Changes) -> Vector:
    if "tilt" not in changes:
        return axis
    return _vector(matrix_from_rotation_vector(changes["tilt"]) @ np.array(axis))


def _vector(numbers: Array) -> Vector:
    x, y, z = map(float, numbers)
    return x, y, z
