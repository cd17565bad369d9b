"""Whether the numbers of a motion, a command or a start can be: finite, enough of them, in order.

What the parts mean to each other and to a model is looked at in `plan_checks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from freefloat.model.value_checks import LARGEST

Way = tuple[str | int, ...]

POSITIVE = {
    "Fourier": ("duration",),
    "Sinusoid": ("duration", "period", "ramp"),
    "Multisine": ("duration", "ramp"),
    "Spline": ("duration",),
    "Bangs": ("duration", "ramp"),
    "Wave": ("period",),
}
NOT_NEGATIVE = {
    "Feedback": ("kp", "kd", "limit"),
    "CaptureControl": (
        *("damping", "stiffness", "force_gain", "max_force", "torque_gain", "max_torque"),
    ),
}
# Lists that go together, and how many numbers they have at least.
PAIRS = {
    "Fourier": ("a", "b", 0),
    "Multisine": ("cosines", "sines", 0),
    "Moves": ("times", "values", 1),
    "Speeds": ("times", "speeds", 1),
    "Table": ("times", "values", 2),
    "Steps": ("times", "levels", 1),
}
COUNTS = {"position": 3, "attitude": 4, "velocity": 3, "rate": 3}  # of a Start


class Wrong(NamedTuple):
    """One thing wrong with a part: the way to it, such as ("times", 3), and what to do."""

    way: Way
    value: str
    expected: str
    remedy: str


def part_wrongs(part: Any) -> list[Wrong]:
    """Everything wrong with the numbers of a motion, command, feedback, control or start.

    >>> from freefloat.excitation.motions import Moves
    >>> [wrong.way for wrong in part_wrongs(Moves((0.0, 2.0, 1.0), (0.0, 0.5)))]
    [('times',), ('times', 2)]
    """
    found = []
    for field in fields(part):
        found += _not_numbers(str(field.type), getattr(part, field.name), (field.name,))
    if found:  # nothing can be said about the order of what is not a number
        return found
    kind = type(part).__name__
    found += _signs(part, kind)
    if kind in PAIRS:
        found += _pairs(part, *PAIRS[kind])
    if kind == "Spline" and len(part.control) < 2:
        counted = f"{len(part.control)} numbers"
        found.append(Wrong(("control",), counted, "at least 2 control points", "add some"))
    if kind == "Bangs" and not found:
        found += _bangs(part)
    if kind == "Pulses":
        found += _pulses(part)
    if kind == "Start":
        found += _start(part)
    return found


def _not_numbers(kind: str, value: Any, way: Way) -> Iterator[Wrong]:
    """What is no finite number in a value that is annotated as `kind`."""
    if kind == "float" or (kind == "float | None" and value is not None):
        yield from not_a_number(value, way)
    elif kind.startswith("tuple["):
        if not isinstance(value, tuple | list | np.ndarray):
            yield Wrong(way, told(value), "a tuple of numbers", "put it in brackets")
            return
        if _are_numbers(value):
            return
        inner = "tuple[float, ...]" if kind.startswith("tuple[tuple[") else "float"
        for i, item in enumerate(value):
            yield from _not_numbers(inner, item, (*way, i))
    elif kind.startswith("dict["):
        if not isinstance(value, dict):
            yield Wrong(way, told(value), "names with their numbers", "write {name: number}")
            return
        for name, item in value.items():
            yield from not_a_number(item, (*way, name))


def _are_numbers(values: Any) -> bool:
    """Whether all is well with a list of numbers, told quickly: recordings are long."""
    if not set(map(type, values)) <= {float, np.float64}:
        return False
    return bool(np.all(np.abs(np.asarray(values)) <= LARGEST))


def not_a_number(value: Any, way: Way) -> Iterator[Wrong]:
    """What is wrong with a value that should be a finite number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        yield Wrong(way, told(value), "a number", "write it like 1.5 or -2e-3")
    elif not -LARGEST <= value <= LARGEST:  # type: ignore[operator]  # nan fails this too
        yield Wrong(way, told(value), f"a finite number up to {LARGEST:g}", "correct it")


def told(value: object) -> str:
    """A value as a message shows it."""
    try:
        return repr(value)[:200]
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return "a number of thousands of digits"


def _signs(part: Any, kind: str) -> Iterator[Wrong]:
    for name in POSITIVE.get(kind, ()):
        if getattr(part, name) <= 0.0:
            yield Wrong((name,), f"{getattr(part, name):g}", "> 0 s", "give a time in seconds")
    for name in NOT_NEGATIVE.get(kind, ()):
        value = getattr(part, name)
        if value is not None and value < 0.0:
            yield Wrong((name,), f"{value:g}", ">= 0", "drop the sign")


def _pairs(part: Any, first: str, second: str, least: int) -> Iterator[Wrong]:
    a, b = getattr(part, first), getattr(part, second)
    if len(a) != len(b):
        counted = f"{len(a)} {first} and {len(b)} {second}"
        yield Wrong((first,), counted, "equally many", "give one of each")
    elif len(a) < least:
        yield Wrong((first,), f"{len(a)} numbers", f"at least {least}", "add some")
    if first == "times" and not np.all(np.diff(np.asarray(a, dtype=float)) > 0.0):
        for i, (before, after) in enumerate(pairwise(a), start=1):
            if not after > before:
                told = f"{after:g} s after {before:g} s"
                yield Wrong((first, i), told, "increasing times", "sort them and drop doubles")


def _bangs(part: Any) -> Iterator[Wrong]:
    levels = np.asarray(part.levels, dtype=float)
    if not len(levels):
        yield Wrong(("levels",), "0 numbers", "at least 2 levels", "add some")
    elif abs(levels.sum()) > 1e-9 * np.abs(levels).sum():
        left = f"a sum of {levels.sum():g}"
        yield Wrong(("levels",), left, "levels that add up to 0", "it must end at rest")
    most = part.duration / (1.0 + max(1, len(levels)))
    if part.ramp > most * (1.0 + 1e-9):
        remedy = "a change must be over before the next begins"
        yield Wrong(("ramp",), f"{part.ramp:g} s", f"at most {most:g} s", remedy)


def _pulses(part: Any) -> Iterator[Wrong]:
    for i, row in enumerate(part.pulses):
        if len(row) != 3:
            counted = f"{len(row)} numbers"
            yield Wrong(("pulses", i), counted, "start, length and level", "give three numbers")
        elif row[1] < 0.0:
            yield Wrong(("pulses", i), f"length {row[1]:g} s", ">= 0 s", "drop the sign")


def _start(part: Any) -> Iterator[Wrong]:
    for name, count in COUNTS.items():
        value = getattr(part, name)
        if len(value) != count:
            yield Wrong((name,), f"{len(value)} numbers", f"{count} numbers", "give one per axis")
    norm = float(np.linalg.norm(np.asarray(part.attitude, dtype=float)))
    if len(part.attitude) == 4 and not 0.999 < norm < 1.001:
        remedy = "divide it by its norm; no rotation is [0, 0, 0, 1]"
        yield Wrong(("attitude",), f"norm {norm:g}", "a unit quaternion x, y, z, w", remedy)
