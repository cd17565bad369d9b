"""Whether the numbers of a Model can be: finite, of a usable size, of the right sign.

What the numbers mean together (names, tree, sensors) is looked at in `checks`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from freefloat.errors import Fault
from freefloat.model import inertia as inertial
from freefloat.records.values import LARGEST

if TYPE_CHECKING:
    from freefloat.model.model import Model
    from freefloat.model.parts import Tank, Vector

NOT_NEGATIVE = {
    "root": ("linear_drag", "angular_drag"),
    "tank": ("stiffness", "damping"),
    "wheel": ("max_speed", "max_torque"),
    "thruster": ("max_force",),
    "limits": ("base_attitude", "base_rate", "wheel_momentum", "thruster_impulse"),
}
POSITIVE = {
    "capsule": ("radius",),
    "orbit": ("radius", "mu"),
    "sensor": ("saturation",),
}


def number_faults(model: Model) -> list[Fault]:
    """Every number of the model that is not finite, or too large to compute with."""
    return [f for _, place, part in _parts(model) for f in part_number_faults(place, part)]


def part_number_faults(place: str, part: object) -> list[Fault]:
    """The same for one part, at `place`."""
    expected = f"a finite number between -{LARGEST:g} and {LARGEST:g}"
    return [
        Fault(f"{place}{path}", repr(float(value)), expected, "correct it")
        for path, value in _numbers(part)
        if not abs(value) <= LARGEST  # written so that nan is a fault too
    ]


def sign_faults(model: Model) -> Iterator[Fault]:
    """Every number of the wrong sign in the parts that are neither bodies nor joints."""
    for kind, place, part in _parts(model):
        for name in NOT_NEGATIVE.get(kind, ()):
            for path, value in _numbers(getattr(part, name)):
                if value < 0.0:
                    where = f"{place}.{name}{path}"
                    yield Fault(where, f"{value:g}", ">= 0", "give the magnitude")
        for name in POSITIVE.get(kind, ()):
            value = getattr(part, name)
            if value is not None and value <= 0.0:
                yield Fault(f"{place}.{name}", f"{value:g}", "> 0", "correct it")
    for i, sensor in enumerate(model.sensors):
        noise = sensor.coloured
        if noise is not None and (noise.sigma < 0.0 or noise.time <= 0.0):
            yield Fault(
                f"sensor[{i}] ({sensor.kind}).coloured",
                f"sigma {noise.sigma:g}, time {noise.time:g} s",
                "sigma >= 0 and time > 0",
                "correct it, or leave it out for white noise",
            )


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
        if abs(np.dot(model.orbit.radial, model.orbit.normal)) > 1e-6:
            yield Fault(
                "orbit.normal",
                str(list(model.orbit.normal)),
                f"a direction square to radial {list(model.orbit.radial)}",
                "the normal is the axis the orbit turns about; correct one of the two",
            )


def _unit_faults(place: str, vector: Vector) -> Iterator[Fault]:
    if abs(np.hypot(np.hypot(vector[0], vector[1]), vector[2]) - 1.0) > 1e-6:
        yield Fault(place, str(list(vector)), "a unit vector", unit_remedy(vector))


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
            yield Fault(place, str(vector.tolist()), "a direction", "give one such as [0, 0, 1]")
    # A pendulum whose two axes and rod do not span space has a coordinate without inertia.
    if np.all(lengths > 0.0):
        down, first, second = vectors / lengths[:, None]
        moves = np.cross(np.cross(first, down), np.cross(second, down))
        if np.linalg.norm(moves) < 1e-6:
            yield Fault(
                f"tank {tank.name!r}.axes",
                str([list(axis) for axis in tank.axes]),
                f"two axes that move the fuel in two directions (it hangs along {down.tolist()})",
                "take two axes square to the direction and to each other",
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
        if least < -1e-9 * np.abs(locked).max():
            yield Fault(
                f"wheel {wheels[0].name!r}.inertia",
                ", ".join(f"{wheel.name} {wheel.inertia:g} kg m^2" for wheel in wheels),
                f"less than the inertia of body {name!r}, which includes its wheels when locked",
                "add the wheels to the body's inertia, or correct theirs",
            )


def _parts(model: Model) -> Iterator[tuple[str, str, object]]:
    """Every part with its kind and the place to name in a fault."""
    yield "root", "root", model.root
    yield "gravity", "gravity", model.gravity
    for kind, parts in (
        ("body", model.bodies),
        ("joint", model.joints),
        ("tank", model.tanks),
        ("wheel", model.wheels),
        ("thruster", model.thrusters),
        ("frame", model.frames),
    ):
        yield from ((kind, f"{kind} {part.name!r}", part) for part in parts)
    for target in model.targets:
        yield "target", f"target {target.name!r}", target.placement
        yield "target", f"target {target.name!r}", target.body
    for i, sensor in enumerate(model.sensors):
        yield "sensor", f"sensor[{i}] ({sensor.kind})", sensor
    yield from (("capsule", f"capsule[{i}]", part) for i, part in enumerate(model.capsules))
    yield "limits", "limits", model.limits
    if model.orbit is not None:
        yield "orbit", "orbit", model.orbit


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
