"""The check of a record that was made in Python, by the same annotations as that of a file."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args

from freefloat.records.schema import hints_of, table_of
from freefloat.records.toml_text import TOML
from freefloat.records.values import Bounds, Check, PathFault, RefusedError


@cache
def bounds_of(record: type) -> dict[str, Bounds]:
    """The bounds that the annotations of a dataclass set, by field."""
    found = {name: find_bounds(hint) for name, hint in hints_of(record).items()}
    return {name: bound for name, bound in found.items() if bound is not None}


def find_bounds(hint: Any) -> Bounds | None:
    """The bounds in Annotated[float, Bounds(...)], or in such a type or None."""
    for inner in get_args(hint):
        found = inner if isinstance(inner, Bounds) else find_bounds(inner)
        if found is not None:
            return found
    return None


@cache
def _inner_records(record: type) -> list[str]:
    """The fields that hold records of their own with bounds."""
    return [
        name
        for name, hint in hints_of(record).items()
        for inner in (hint, *get_args(hint))
        if isinstance(inner, type) and is_dataclass(inner) and bounds_of(inner)
    ]


@cache
def _checks(record: type) -> dict[str, Check]:
    keys = table_of(record, TOML).keys
    return {name: kind for name, kind in keys.items() if callable(kind)}


def value_faults(record: Any) -> list[PathFault]:
    """The fields of a record that do not hold what their annotations say, or no finite number.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Ramp:
    ...     duration: float
    ...     levels: tuple[float, ...] = ()
    >>> [fault.path for fault in value_faults(Ramp("1", (0.0, float("nan"))))]
    [('duration',), ('levels', 1)]
    """
    found: list[PathFault] = []
    for name, check in _checks(type(record)).items():
        try:
            check(getattr(record, name))
        except RefusedError as refused:
            found += [fault.below((name,)) for fault in refused.faults]
    return found


def bound_faults(record: Any) -> list[PathFault]:
    """The numbers of a record that are outside of the bounds that its annotations set.

    >>> from dataclasses import make_dataclass
    >>> from typing import Annotated
    >>> seconds = Annotated[float, Bounds(above=0.0, unit="s")]
    >>> Ramp = make_dataclass("Ramp", [("duration", seconds)])
    >>> bound_faults(Ramp(-1.0))[0].expected
    '> 0 s'
    """
    found: list[PathFault] = []
    for name, bound in bounds_of(type(record)).items():
        value = getattr(record, name)
        for number in value if isinstance(value, tuple) else (value,):
            if number is not None and not bound.admits(number):
                fault = PathFault((name,), f"{number:g}", bound.text, bound.remedy, "value.range")
                found.append(fault)
    for name in _inner_records(type(record)):
        inner = getattr(record, name)
        if inner is not None:
            found += [fault.below((name,)) for fault in bound_faults(inner)]
    return found
