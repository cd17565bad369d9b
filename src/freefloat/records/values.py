"""Single values of a record, checked strictly; every refusal has its remedy and its code.

A check takes a value as a file or a caller gave it, and returns the value to be kept or raises
`RefusedError`. No check takes a truth value, a text or NaN for a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple

import numpy as np

from freefloat.text import did_you_mean

KeyPath = tuple[str | int, ...]
Check = Callable[[Any], Any]

# theory: far beyond anything that flies, yet its square and its cube are still finite numbers
LARGEST = 1e50
LONGEST_NAME = 200  # format: names stand in tables and messages
MAX_FAULTS = 1000  # format: nobody corrects more at once, and a hostile list may hold millions


class PathFault(NamedTuple):
    """One thing wrong inside a record: the keys that lead to it, such as ("times", 3), and why."""

    path: KeyPath
    value: str
    expected: str
    remedy: str
    code: str = "value.type"

    def below(self, path: KeyPath) -> PathFault:
        """The same fault, seen from further outside."""
        return self._replace(path=(*path, *self.path))


@dataclass(frozen=True)
class Bounds:
    """What a number may be: the least and the largest, or what it must be above.

    In an annotation: `duration: Annotated[float, Bounds(above=0.0, unit="s")]`.

    >>> Bounds(above=0.0, most=1.0).text
    '> 0 and <= 1'
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    unit: str = ""
    remedy: str = "correct it"

    @property
    def text(self) -> str:
        """The bounds as a message shows them."""
        signs = ((">=", self.least), (">", self.above), ("<=", self.most))
        words = " and ".join(f"{sign} {end:g}" for sign, end in signs if end is not None)
        return f"{words} {self.unit}".strip()

    def admits(self, value: float) -> bool:
        """Whether a value is within the bounds."""
        is_low = self.least is not None and value < self.least
        is_high = self.most is not None and value > self.most
        return not is_low and not is_high and (self.above is None or value > self.above)


Positive = Annotated[float, Bounds(above=0.0, remedy="give a positive number")]
NotNegative = Annotated[float, Bounds(least=0.0, remedy="give the magnitude")]
Share = Annotated[float, Bounds(above=0.0, most=1.0, remedy="give a part of one")]
Natural = Annotated[int, Bounds(least=0, remedy="give 0 or more")]
Count = Annotated[int, Bounds(least=1, remedy="give 1 or more")]


class RefusedError(ValueError):
    """A value that cannot be taken; `faults` says why. It never leaves the readers."""

    def __init__(self, *faults: PathFault) -> None:
        super().__init__(faults)
        self.faults = faults


def refusal(value: object, expected: str, remedy: str, code: str = "value.type") -> RefusedError:
    """The exception that refuses a value as a whole."""
    return RefusedError(PathFault((), display(value), expected, remedy, code))


def display(value: object) -> str:
    """A value as a message shows it."""
    try:
        return repr(value)[:200]
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return "a number of thousands of digits"


def path_text(path: KeyPath) -> str:
    """The keys of a path as people write them: motion[0].times[3]."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def number(value: Any) -> float:
    """A finite number of a size that can be computed with.

    >>> number(3)
    3.0
    """
    # bool is an int to Python, but true is not a mass.
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        remedy = "write it like 1.5 or -2e-3, without quotes or unit (SI is implied)"
        raise refusal(value, "a number", remedy)
    try:
        taken = float(value)
    except OverflowError:  # an integer of hundreds of digits
        taken = math.inf
    if not -LARGEST <= taken <= LARGEST:  # NaN fails this too
        expected = f"a finite number up to {LARGEST:g}"
        raise refusal(value, expected, "correct it, or leave it out", "value.range")
    return taken


def list_of(check: Check) -> Check:
    """A check of lists: every item by `check`, each wrong one told with its place."""

    def check_list(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple | np.ndarray):
            raise refusal(value, "a list in brackets", "put it in brackets")
        items = value.tolist() if isinstance(value, np.ndarray) else value
        if check is number and _are_floats(items):  # told quickly: recordings are long
            return tuple(items)
        return tuple(_each(enumerate(items), check))

    return check_list


def _are_floats(items: Iterable[Any]) -> bool:
    if not set(map(type, items)) <= {float}:
        return False
    return bool(np.all(np.abs(np.asarray(items)) <= LARGEST))


def dict_of(check: Check, *, expected: str, remedy: str) -> Check:
    """A check of names with values, such as { arm_1 = 0.3 }."""

    def check_dict(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise refusal(value, expected, remedy)
        return dict(zip(value, _each(value.items(), check), strict=True))

    return check_dict


def _each(items: Iterable[tuple[Any, Any]], check: Check) -> list[Any]:
    """Every item as its check returns it; raises one RefusedError for all that are wrong."""
    taken, faults = [], []
    for step, item in items:
        try:
            taken.append(check(item))
        except RefusedError as refused:
            faults += [fault.below((step,)) for fault in refused.faults]
            if len(faults) >= MAX_FAULTS:
                break
    if faults:
        raise RefusedError(*faults)
    return taken


def numbers(*counts: int) -> Check:
    """A check of lists with a fixed count of numbers; where 1 is allowed, a bare number will do."""
    expected = " or ".join(map(str, counts)) + " numbers in brackets"

    def check_numbers(value: Any) -> tuple[float, ...]:
        is_list = isinstance(value, list | tuple | np.ndarray)
        values = value if is_list else [value]
        if (not is_list and 1 not in counts) or len(values) not in counts:
            example = "[" + ", ".join(["0.0"] * counts[0]) + "]"
            raise refusal(value, expected, f"write it like {example}", "value.count")
        try:
            return tuple(map(number, values))
        except RefusedError as refused:  # a vector is one value to the reader of a message
            raise RefusedError(refused.faults[0]._replace(value=display(value))) from None

    return check_numbers


def fixed_list(count: int, check: Check) -> Check:
    """A check of lists of exactly `count` items."""
    check_items = list_of(check)

    def check_fixed(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != count:
            expected, remedy = f"a list of {count}", f"give {count} values in brackets"
            raise refusal(value, expected, remedy, "value.count")
        return check_items(value)

    return check_fixed


def or_null(check: Check) -> Check:
    """A check that lets null pass."""
    return lambda value: None if value is None else check(value)


def one_or_more_numbers(value: Any) -> tuple[float, ...]:
    """A number, or a list of numbers."""
    return tuple(_each(enumerate(value), number)) if isinstance(value, list) else (number(value),)


def text(value: Any) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise refusal(value, "text in quotes", "put it in quotes")
    return value


def name(value: Any) -> str:
    """The name of something."""
    if not text(value).strip() or len(value) > LONGEST_NAME:
        expected = f"a name of 1 to {LONGEST_NAME} characters"
        raise refusal(value, expected, "give it a name", "name.form")
    return value


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool | np.bool_):
        raise refusal(value, "true or false", "write true or false, without quotes")
    return bool(value)


def count(value: Any) -> int:
    """A whole number, 0 or more."""
    if whole(value) < 0:
        raise refusal(value, "a whole number, 0 or more", "correct it")
    return int(value)


def whole(value: Any) -> int:
    """A whole number that fits into 64 bits."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not -(2**63) <= int(value) < 2**63:
        raise refusal(value, "a whole number of at most 64 bits", "correct it")
    return int(value)


def one_of(*options: str) -> Check:
    """A check of words: one of these and no other."""

    def check_word(value: Any) -> str:
        if isinstance(value, str) and value in options:
            return value
        word = value if isinstance(value, str) else ""
        remedy = did_you_mean(word, options, otherwise="choose one of these")
        raise refusal(value, " or ".join(map(repr, options)), remedy, "value.choice")

    return check_word


def format_1(value: Any) -> int:
    """The number of a file's format, of which there is one so far."""
    if isinstance(value, bool) or value != 1:
        remedy = "write format = 1, or use the freefloat that wrote this file"
        raise refusal(value, "1", remedy, "file.version")
    return 1
