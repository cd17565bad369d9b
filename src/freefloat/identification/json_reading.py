"""JSON read strictly: values taken one by one, what is wrong with them written down with its place.

NaN is null and infinity a text there; JSON has no words for them.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from freefloat.errors import Fault, IdentificationError, ModelError, shortened
from freefloat.model.sources import decoded, read_bytes

REMEDY = "load a file that freefloat wrote, or identify again"
LARGEST = sys.float_info.max
# The annotations of a part's fields (as text), and who reads what the file holds for each.
READERS = {"str": "text", "float": "number", "int": "count", "bool": "flag", "Array": "numbers"}
READERS |= {"Interval | None": "interval", "bool | None": "maybe", "EstimateStatus": "text"}


def text_in(path: Path, *, most: int, kind: str) -> str:
    """The text of a file of ours; raises IdentificationError for what is none or is too large."""
    try:
        return decoded(read_bytes(path, most), path.name)
    except ModelError as error:  # the readers of bytes are those of model files, and speak of them
        faults = [
            replace(f, expected=f.expected.replace("a model file", f"a {kind} file"), remedy=REMEDY)
            for f in error.faults
        ]
        raise IdentificationError(error.message, faults) from None


def parsed(text: str, file: str, *, kind: str = "fit") -> dict[str, Any]:
    """The JSON object of a text; raises IdentificationError for anything else."""

    def no_constant(word: str) -> None:
        raise ValueError(f"{word} is no JSON; a number that is not known is null")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            raise ValueError("a key is there twice")
        return table

    try:
        raw = json.loads(text, parse_constant=no_constant, object_pairs_hook=once)
    except RecursionError:
        reason = "brackets inside brackets without end"
    except ValueError as error:  # JSONDecodeError, or a whole number of thousands of digits
        reason = str(error)
    else:
        if isinstance(raw, dict):
            return raw
        reason = shortened(repr(raw))
    raise IdentificationError(
        f"{file}: not a {kind} file", [Fault(file, reason, "a JSON object", REMEDY)]
    )


class JsonReader:
    """Values taken from a file one by one; what is wrong with them is written down."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def refuse(self) -> None:
        """Raise what was written down, if anything was."""
        if self.faults:
            count = len(self.faults)
            message = f"{self.file}: {count} fault{'s' * (count > 1)} found"
            raise IdentificationError(message, self.faults)

    def fault(self, way: str, value: object, expected: str, remedy: str = REMEDY) -> None:
        """Write down one thing that is wrong."""
        place = f"{self.file}: {way}" if way else self.file
        self.faults.append(Fault(place, _shown(value), expected, remedy))

    def require_keys(
        self, way: str, raw: dict[str, Any], keys: set[str], *, optional: set[str]
    ) -> None:
        """Every key that must be there is, and no other."""
        for key in sorted(keys - raw.keys()):
            self.fault(below(way, key), "nothing", "a value", "add the key")
        for key in sorted(raw.keys() - keys - optional):
            close = get_close_matches(key[:50], sorted(keys), n=1)
            remedy = f"did you mean {close[0]!r}?" if close else "delete it"
            self.fault(below(way, key), f"the key {shortened(key)!r}", "a known key", remedy)

    def text(self, way: str, raw: object) -> str:
        """A text."""
        if not isinstance(raw, str):
            self.fault(way, raw, "a text")
        return raw if isinstance(raw, str) else ""

    def flag(self, way: str, raw: object) -> bool:
        """True or false."""
        if not isinstance(raw, bool):
            self.fault(way, raw, "true or false")
        return raw is True

    def count(self, way: str, raw: object) -> int:
        """A whole number, 0 or more."""
        if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < 2**63:
            return raw
        self.fault(way, raw, "a whole number, 0 or more")
        return 0

    def number(self, way: str, raw: object) -> float:
        """A number; null is NaN."""
        if raw is None:
            return math.nan
        if isinstance(raw, str) and raw in ("inf", "-inf"):
            return float(raw)
        if isinstance(raw, float | int) and not isinstance(raw, bool) and abs(raw) <= LARGEST:
            return float(raw)
        self.fault(way, raw, 'a number, null, "inf" or "-inf"')
        return math.nan

    def interval(self, way: str, raw: object) -> tuple[float, ...] | None:
        """Two numbers, or none."""
        if raw is None:
            return None
        if isinstance(raw, list) and len(raw) == 2:
            return tuple(self.number(f"{way}[{i}]", item) for i, item in enumerate(raw))
        self.fault(way, raw, "two numbers in brackets, or null")
        return None

    def items(self, way: str, raw: object, read: Callable[[str, object], Any]) -> list[Any]:
        """A list, each item read by `read`."""
        if isinstance(raw, list):
            return [read(f"{way}[{i}]", item) for i, item in enumerate(raw)]
        self.fault(way, raw, "a list in brackets")
        return []

    def table(self, way: str, raw: object, read: Callable[[str, object], Any]) -> dict[str, Any]:
        """Named values, each read by `read`."""
        if isinstance(raw, dict):
            return {key: read(below(way, key), item) for key, item in raw.items()}
        self.fault(way, raw, "names and values in braces")
        return {}

    def matrix(self, way: str, raw: object) -> list[list[float]]:
        """Rows of equal length."""
        rows = self.items(way, raw, lambda place, row: self.items(place, row, self.number))
        if len({len(row) for row in rows}) > 1:
            self.fault(way, "rows of different lengths", "as many numbers in every row")
            return []
        return rows

    def maybe(self, way: str, raw: object) -> bool | None:
        """True, false or null."""
        return None if raw is None else self.flag(way, raw)

    def numbers(self, way: str, raw: object) -> list[float]:
        """A list of numbers."""
        return self.items(way, raw, self.number)

    def require_format(self, raw: dict[str, Any], kind: str, version: int) -> None:
        """Refuse other kinds of file, and those of a later freefloat, before anything else."""
        if raw.get("format") != kind:
            self.fault("format", raw.get("format"), repr(kind))
        elif raw.get("version") != version or isinstance(raw["version"], bool | float):
            remedy = "read it with the freefloat that wrote it"
            self.fault("version", raw.get("version"), str(version), remedy)
        self.refuse()

    def parts(self, way: str, raw: object, kind: type) -> list[Any]:
        """Parts of a noun, such as the estimates of a fit; those with faults are left out."""
        made = self.items(way, raw, lambda place, item: self.part(place, item, kind))
        return [part for part in made if part is not None]

    def part(self, way: str, raw: object, kind: type) -> Any:
        """One part, a dataclass; None where something is wrong with it."""
        if not isinstance(raw, dict):
            self.fault(way, raw, "names and values in braces")
            return None
        n_before = len(self.faults)
        named = {field.name: field for field in fields(kind)}
        given = {name for name, field in named.items() if field.default is not MISSING}
        self.require_keys(way, raw, named.keys() - given, optional=given)
        values = {
            name: getattr(self, READERS[str(field.type)])(below(way, name), raw[name])
            for name, field in named.items()
            if name in raw
        }
        if len(self.faults) > n_before:
            return None
        try:
            return kind(**values)
        except IdentificationError as error:
            self.faults += [
                replace(f, place=f"{self.file}: {way}: {f.place}") for f in error.faults
            ]
            return None


def below(way: str, key: str) -> str:
    """The way to a key inside a table."""
    return f"{way}.{shortened(key)}" if way else shortened(key)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return shortened(value)
    try:
        return "nothing" if value is None else shortened(repr(value))
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return "a number of thousands of digits"
