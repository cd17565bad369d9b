"""Whether the numbers of a Model can be: finite, of a usable size, of the right sign.

What the numbers mean together (names, tree, sensors) is looked at in `checks`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from freefloat.errors import Fault
from freefloat.model import inertia as inertial
from freefloat.records.record_checks import bound_faults
from freefloat.records.values import LARGEST, path_text

if TYPE_CHECKING:
    from freefloat.model.model import Model
    from freefloat.model.parts import Tank, Vector

UNIT = 1e-6  # format: how far a direction's length may be from 1; six digits are usual in a file
ROUNDING = 1e-9  # theory: of an inertia; rounding of its eigenvalues is a thousandth of that


def number_faults(model: Model) -> list[Fault]:
    """Every number of the model that is not finite, or too large to compute with."""
    return [f for place, part in _parts(model) for f in part_number_faults(place, part)]


def part_number_faults(place: str, part: object) -> list[Fault]:
    """The same for one part, at `place`."""
    expected = f"a finite number between -{LARGEST:g} and {LARGEST:g}"
    try:
        unusable = _unusable_numbers(part)
    except TypeError:  # a list where a tuple belongs has no hash
        unusable = _unusable_numbers.__wrapped__(part)
    return [
        Fault(f"{place}{path}", repr(float(value)), expected, "correct it", "value.range")
        for path, value in unusable
    ]


@lru_cache(maxsize=4096)
def _unusable_numbers(part: object) -> tuple[tuple[str, float], ...]:
    """Numbers that are not finite or too large, and their places; a part never changes.

    Models are made anew for every value that is tried, and most of their parts stay.
    """
    # written so that nan is one too
    return tuple((path, value) for path, value in _numbers(part) if not abs(value) <= LARGEST)


def sign_faults(model: Model) -> Iterator[Fault]:
    """Every number beyond the bounds that the annotations of the parts set."""
    for place, part in _parts(model):
        if dataclasses.is_dataclass(part):
            for fault in bound_faults(part):
                where = f"{place}.{path_text(fault.path)}"
                yield Fault(where, fault.value, fault.expected, fault.remedy, fault.code)


def direction_faults(model: Model) -> Iterator[Fault]:
    """Every direction that points nowhere, and pairs of them that must differ and do not."""
    for wheel in model.wheels:
        yield from _unit_faults(f"wheel {wheel.name!r}.axis", wheel.axis)
    for thruster in model.thrusters:
        yield from _unit_faults(f"thruster {thruster.name!r}.direction", thruster.direction)
    for tank in model.tanks:
        yield from _tank_faults(tank)
    if model.orbit is not None:
        yield from _unit_faults("orbit.radial", model.orbit.radial)
        yield from _unit_faults("orbit.normal", model.orbit.normal)
        if abs(np.dot(model.orbit.radial, model.orbit.normal)) > UNIT:
            yield Fault(
                "orbit.normal",
                str(list(model.orbit.normal)),
                f"a direction perpendicular to radial {list(model.orbit.radial)}",
                "the normal is the axis the orbit turns about; correct one of the two",
                "value.conflict",
            )


def _unit_faults(place: str, vector: Vector) -> Iterator[Fault]:
    if abs(np.hypot(np.hypot(vector[0], vector[1]), vector[2]) - 1.0) > UNIT:
        remedy = unit_remedy(vector)
        yield Fault(place, str(list(vector)), "a unit vector", remedy, "value.norm")


def unit_remedy(vector: Vector) -> str:
    """What to write instead of a vector that is not of unit length."""
    length = float(np.linalg.norm(np.asarray(vector, dtype=float)))
    if length == 0.0:
        return "give a direction such as [0, 0, 1]"
    return "divide it by its length: " + str([float(f"{x / length:.15g}") for x in vector])


def _tank_faults(tank: Tank) -> Iterator[Fault]:
    vectors = np.array([tank.direction, *tank.axes], dtype=float)
    lengths = np.linalg.norm(vectors, axis=1)
    names = ("direction", "axes", "axes")
    for name, vector, length in zip(names, vectors, lengths, strict=True):
        if length == 0.0:
            place = f"tank {tank.name!r}.{name}"
            value, remedy = str(vector.tolist()), "give one such as [0, 0, 1]"
            yield Fault(place, value, "a direction", remedy, "value.norm")
    # A pendulum whose two axes and rod do not span space has a coordinate without inertia.
    if np.all(lengths > 0.0):
        down, first, second = vectors / lengths[:, None]
        moves = np.cross(np.cross(first, down), np.cross(second, down))
        if np.linalg.norm(moves) < UNIT:
            yield Fault(
                f"tank {tank.name!r}.axes",
                str([list(axis) for axis in tank.axes]),
                f"two axes that move the fuel in two directions (it hangs along {down.tolist()})",
                "take two axes perpendicular to the direction and to each other",
                "value.conflict",
            )


def wheel_faults(model: Model) -> Iterator[Fault]:
    """Wheels whose spin inertia does not fit into the body that is said to include them."""
    carried = defaultdict(list)
    for wheel in model.wheels:
        carried[wheel.body].append(wheel)
    bodies = {body.name: body for body in (*model.bodies, *(t.body for t in model.targets))}
    for name, wheels in carried.items():
        if name not in bodies:
            continue
        locked = inertial.tensor(bodies[name].inertia)
        spun = sum(wheel.inertia * np.outer(wheel.axis, wheel.axis) for wheel in wheels)
        least = np.linalg.eigvalsh(locked - spun)[0]
        if least < -ROUNDING * np.abs(locked).max():
            yield Fault(
                f"wheel {wheels[0].name!r}.inertia",
                ", ".join(f"{wheel.name} {wheel.inertia:g} kg m^2" for wheel in wheels),
                f"less than the inertia of body {name!r}, which includes its wheels when locked",
                "add the wheels to the body's inertia, or correct theirs",
                "model.inertia",
            )


def _parts(model: Model) -> Iterator[tuple[str, object]]:
    """Every part with the place to name in a fault."""
    yield "root", model.root
    yield "gravity", model.gravity
    for kind, parts in (
        ("body", model.bodies),
        ("joint", model.joints),
        ("tank", model.tanks),
        ("wheel", model.wheels),
        ("thruster", model.thrusters),
        ("frame", model.frames),
    ):
        yield from ((f"{kind} {part.name!r}", part) for part in parts)
    for target in model.targets:
        yield f"target {target.name!r}", target.placement
        yield f"target {target.name!r}", target.body
    for i, sensor in enumerate(model.sensors):
        yield f"sensor[{i}] ({sensor.kind})", sensor
    yield from ((f"capsule[{i}]", part) for i, part in enumerate(model.capsules))
    yield "limits", model.limits
    if model.orbit is not None:
        yield "orbit", model.orbit


def _numbers(part: object, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number inside a part, with the way to it."""
    if isinstance(part, int | float):
        yield path, part
    elif isinstance(part, tuple | list):
        for i, item in enumerate(part):
            # A vector is one value to the reader of a message; a list of vectors is not.
            yield from _numbers(item, path if isinstance(item, int | float) else f"{path}[{i}]")
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            step = "" if field.name == "placement" else f".{field.name}"
            yield from _numbers(getattr(part, field.name), path + step)
