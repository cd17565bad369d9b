"""JSON of ours: read strictly, within bounds; written with all digits, one key a line.

NaN is null and infinity a text there; JSON has no words for them.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, shorten
from freefloat.notes import Note, as_note
from freefloat.records import values
from freefloat.records.bounded_read import FileKind
from freefloat.records.fault_list import FaultList
from freefloat.records.schema import Dialect, Schema
from freefloat.records.values import PathFault, display, refusal

REMEDY = "load a file that freefloat wrote, or make it again"
HEAD = ("format", "version")
LARGEST = sys.float_info.max  # theory: what a double can hold; an integer of JSON may be larger
MAX_KEYS = 10_000  # format: a table of ours has dozens; a hostile one could have millions


def parse_json(text: str, file: str, kind: FileKind) -> dict[str, Any]:
    """The JSON object of a text; raises the error of its kind for anything else."""

    def refuse_constant(word: str) -> None:
        raise ValueError(f"{word} is no JSON; a number that is not known is null")

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > MAX_KEYS:
            raise ValueError(f"{len(pairs)} keys in one object; at most {MAX_KEYS} are read")
        made = dict(pairs)
        if len(made) < len(pairs):
            raise ValueError("a key is there twice")
        return made

    code = "file.syntax"
    try:
        raw = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=table)
    except RecursionError:
        reason, code = "brackets inside brackets without end", "file.depth"
    except ValueError as error:  # JSONDecodeError, or a whole number of thousands of digits
        reason = str(error)
    else:
        if isinstance(raw, dict):
            return raw
        reason = shorten(repr(raw))
    fault = Fault(file, reason, "a JSON object", REMEDY, code)
    raise kind.refuse(f"{file}: not a {kind.noun} file", [fault])


def number(value: Any) -> float:
    """A number; null is NaN."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, float | int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    raise refusal(value, 'a number, null, "inf" or "-inf"', REMEDY)


def text(value: Any) -> str:
    """A text, or a sentence with its code."""
    if isinstance(value, dict) and set(value) == {"code", "text"}:
        return as_note({key: text(item) for key, item in value.items()})
    if not isinstance(value, str):
        raise refusal(value, "a text", REMEDY)
    return value


def matrix(value: Any) -> list[tuple[float, ...]]:
    """Rows of numbers of equal length."""
    rows = list(values.list_of(values.list_of(number))(value))
    if len({len(row) for row in rows}) > 1:
        fault = PathFault(
            (), "rows of different lengths", "as many numbers in every row", REMEDY, "value.count"
        )
        raise values.RefusedError(fault)
    return rows


JSON = Dialect(
    checks={
        float: number,
        str: text,
        int: values.count,
        bool: values.flag,
        Array: values.list_of(number),
        tuple[float, float]: values.fixed_list(2, number),
    },
    table=("names and values in braces", REMEDY),
    tables=("a list in brackets", REMEDY),
    entry='"{key}": ...',
)


def read_json(text: str, schema: Schema, *, file: str, kind: FileKind) -> dict[str, Any]:
    """The values in the text of a JSON file of ours.

    Raises the error of its kind listing every fault. Other kinds of file, and those of a later
    freefloat, are refused before anything else is looked at.
    """
    raw, faults = parse_json(text, file, kind), FaultList(file)
    faults.extend(_head_faults(raw, kind))
    faults.raise_any(kind)
    reading = schema.read({key: item for key, item in raw.items() if key not in HEAD})
    faults.extend(reading.faults)
    faults.raise_any(kind)
    return reading.content


def _head_faults(raw: dict[str, Any], kind: FileKind) -> Iterator[PathFault]:
    found, version = raw.get("format"), raw.get("version")
    if found != kind.format:
        yield PathFault(("format",), display(found), repr(kind.format), REMEDY, "file.format")
    elif isinstance(version, bool | float) or version != kind.version:
        remedy = "read it with the freefloat that wrote it"
        expected = str(kind.version)
        yield PathFault(("version",), display(version), expected, remedy, "file.version")


def write_json(content: Mapping[str, object], kind: FileKind) -> str:
    """Named values as the text of a file of ours, one a line; a list has one item a line.

    >>> kind = FileKind("fit", Exception, ".json", 1000, "")
    >>> print(write_json({"value": 0.1, "std": float("nan"), "notes": ("a", "b")}, kind), end="")
    {
    "format": "freefloat fit",
    "version": 1,
    "value": 0.1,
    "std": null,
    "notes": [
      "a",
      "b"
    ]
    }
    """
    whole = {"format": kind.format, "version": kind.version, **content}
    lines = (f"{json.dumps(key)}: {_lines(value)}" for key, value in whole.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: object) -> str:
    """A value as JSON; for people and for version control a list has one item a line."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple) and value:
        return "[\n  " + ",\n  ".join(map(_text, value)) + "\n]"
    return _text(value)


def _text(value: object) -> str:
    # ASCII only: a lone surrogate in a note must not keep the file from being written.
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: Any) -> object:
    """Dictionaries, lists, texts and numbers that JSON knows."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, Note):
        return value.as_dict()
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
