"""Option dataclasses: annotations say what a field may be, in Python and by `--set` alike."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from freefloat.errors import Fault, FreefloatError
from freefloat.records import values
from freefloat.records.record_checks import find_bounds
from freefloat.records.schema import Dialect, hints_of, kind_of
from freefloat.records.values import Check, PathFault, RefusedError, display, path_text, refusal

PYTHON = Dialect(
    checks={float: values.number, int: values.whole, bool: values.flag, str: values.name},
    table=("a dictionary", "write {'name': value}"),
    tables=("a list", "put it in brackets"),
)

OUTSIDE = "value.range"


class CheckedOptions:
    """Base of option dataclasses: what they are given is checked when they are made.

    A whole number stands for a float and a list for a tuple; what is kept is the annotated type.
    `error` in the class statement is what tells of a value that cannot be.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Descent(CheckedOptions):
    ...     rounds: values.Count = 3
    >>> Descent(rounds=0)
    Traceback (most recent call last):
    freefloat.errors.FreefloatError: Descent cannot be made of this:
      Descent.rounds: got 0; expected >= 1; give 1 or more
    """

    _error: type[FreefloatError]

    def __init_subclass__(cls, *, error: type[FreefloatError] = FreefloatError) -> None:
        super().__init_subclass__()
        cls._error = error

    def __post_init__(self) -> None:
        kind, found = type(self), []
        for name in _field_names(kind):
            try:
                # Frozen, but not made yet: the float that was written as a whole number.
                object.__setattr__(self, name, option_check(kind, name)(getattr(self, name)))
            except RefusedError as refused:
                found += [fault.below((kind.__name__, name)) for fault in refused.faults]
        if found:
            raise self._error(f"{kind.__name__} cannot be made of this:", list(map(_fault, found)))


def require_value(value: Any, hint: Any, argument: str, error: type[FreefloatError]) -> Any:
    """An argument as its type and bounds want it, or the error with what is wrong with it.

    Args:
        value: what was given.
        hint: what it may be: a type, an Annotated one with bounds, or an option dataclass.
        argument: its name, for the message.
        error: what is raised.

    >>> require_value(3, values.Positive, "step", FreefloatError)
    3.0
    """
    try:
        return value_check(hint)(value)
    except RefusedError as refused:
        faults = [_fault(fault.below((argument,))) for fault in refused.faults]
        raise error(f"{argument} cannot be used:", faults) from None


def option_check(record: type, name: str) -> Check:
    """The check of a field of an option dataclass, or of a NamedTuple that kernels read."""
    return value_check(hints_of(record)[name])


@cache
def value_check(hint: Any) -> Check:
    """The check of type and bounds that an annotation asks for; it gives the value to keep."""
    if _is_record(hint):
        return _record_check(hint)
    check, bounds = kind_of(hint, PYTHON), find_bounds(hint)
    assert callable(check), f"{hint} is no plain value"
    if bounds is None:
        return check

    def check_bounds(value: Any) -> Any:
        try:
            taken = check(value)
        except RefusedError as refused:  # not finite, or too large for any number
            finite = f"a finite number {bounds.text}"
            told = [f._replace(expected=finite) if f.code == OUTSIDE else f for f in refused.faults]
            raise RefusedError(*told) from None
        is_list = isinstance(taken, tuple)
        wrong = [
            PathFault((n,) if is_list else (), display(one), bounds.text, bounds.remedy, OUTSIDE)
            for n, one in enumerate(taken if is_list else (taken,))
            if one is not None and not bounds.admits(one)
        ]
        if wrong:
            raise RefusedError(*wrong)
        return taken

    return check_bounds


def _record_check(record: Any) -> Check:
    """The check of options inside of options."""

    def check_record(value: Any) -> Any:
        if not isinstance(value, record):
            raise refusal(value, f"{record.__name__}(...)", "leave it out for the defaults")
        if is_dataclass(record):  # checked when it was made
            return value
        kept, faults = [], []
        for name in _field_names(record):
            try:
                kept.append(option_check(record, name)(getattr(value, name)))
            except RefusedError as refused:
                faults += [fault.below((name,)) for fault in refused.faults]
        if faults:
            raise RefusedError(*faults)
        return record(*kept)

    return check_record


def _is_record(hint: Any) -> bool:
    is_named = isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")
    return is_dataclass(hint) or is_named


def _field_names(record: type) -> tuple[str, ...]:
    if is_dataclass(record):
        return tuple(one.name for one in fields(record))
    return record._fields  # type: ignore[attr-defined]


def _fault(fault: PathFault) -> Fault:
    return Fault(path_text(fault.path), fault.value, fault.expected, fault.remedy, fault.code)
