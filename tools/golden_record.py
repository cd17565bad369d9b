"""Golden records: results taken apart into numbers and words, one line a value, lossless.

A record has two tables that map paths such as "estimates/target.mass/value" to values. `numbers`
has all that computation decides: numbers, flags, and codes such as "seen" or "momentum". `words`
has sentences, which may be reworded without anything being computed differently.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Table = dict[str, Any]
Record = dict[str, Table]

# Times, versions and file names differ from run to run; hashes of inputs are cases of their own.
LEFT_OUT = frozenset({"provenance", "file", "files", "created"})
LONGEST = 36  # numbers written one by one; longer arrays are written as a summary
N_SHOWN = 8  # numbers of a summary that are written
# Text that is a decision: one of a few values, on which programs may rely.
CODES = re.compile(
    r"(^|/)(method|unit|kind|verdict|measure|criterion|called_for(/\d+)?)$"
    r"|(^|/)(estimates|parameters|before|after)/[^/]+/status$"
)


def record_of(content: Mapping[str, Any]) -> Record:
    """The numbers and words of nested tables and lists.

    >>> record_of({"x": [1.0, 2.5], "method": "weak", "status": "All is well."})
    {'numbers': {'x': [1.0, 2.5], 'method': 'weak'}, 'words': {'status': 'All is well.'}}
    """
    record: Record = {"numbers": {}, "words": {}}
    for path, value in _leaves("", content):
        if value == "":  # nothing to say
            continue
        if value is None and path.endswith("/total_std"):  # the fit was not assessed
            continue
        is_words = isinstance(value, str) and not CODES.search(path)
        record["words" if is_words else "numbers"][path] = value
    return record


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Paths and values of everything inside; arrays of numbers stay whole."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "model" and isinstance(item, Mapping):
                # A model file has hundreds of numbers, of which a fit changes a few.
                yield f"{path}model", summary([*_numbers(item)])
            elif key not in LEFT_OUT:
                yield from _leaves(f"{path}{key}/", item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if value and _is_array(value):
            numbers = [*_numbers(value)]
            yield path[:-1], summary(numbers) if len(numbers) > LONGEST else _plain(value)
            return
        by, keys = _keys(value)
        for key, item in zip(keys, value, strict=True):
            inner = {k: v for k, v in item.items() if k != by} if by else item
            yield from _leaves(f"{path}{key}/", inner)
    else:
        yield path[:-1], _plain(value)


def _keys(items: Sequence[Any]) -> tuple[str, list[str]]:
    """By which of their fields the items of a list are called, and how; else they are counted."""
    for key in ("name", "channel"):
        names = [item.get(key) if isinstance(item, Mapping) else None for item in items]
        if None not in names and len(set(names)) == len(names):
            return key, [str(name) for name in names]
    return "", [str(number) for number in range(len(items))]


def _numbers(value: Any) -> Iterator[float]:
    """All numbers in nested tables and lists, in their order; None counts as not a number."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif value is None or isinstance(value, int | float):
        yield math.nan if value is None else value


def _is_array(value: Any) -> bool:
    """Whether nested lists hold numbers and nothing else."""
    if isinstance(value, list | tuple):
        return all(map(_is_array, value))
    return value is None or isinstance(value, int | float)


def summary(numbers: Sequence[float]) -> Table:
    """An array as a hash of all its bits, and a few figures to compare it by with a tolerance."""
    array = np.array(numbers, dtype=float)
    finite = array[np.isfinite(array)]
    shown = array[np.linspace(0, len(array) - 1, min(N_SHOWN, len(array))).astype(int)]
    return {
        "n": len(array),
        "n_finite": len(finite),
        # NaN has many bit patterns, of which none means anything
        "sha256": hashlib.sha256(np.where(np.isnan(array), np.nan, array).tobytes()).hexdigest(),
        # exactly rounded, so that it does not depend on the order of adding
        "norm": math.sqrt(math.fsum((finite * finite).tolist())),
        "shown": _plain(shown.tolist()),
    }


def _plain(value: Any) -> Any:
    """A value that JSON can hold; what is not finite becomes text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def file_of(folder: Path, case: str) -> Path:
    """Where a case is kept."""
    return folder / f"{case.replace('/', '.')}.json"


def write_record(path: Path, case: str, record: Record) -> None:
    """Write a record, whole or not at all, one value a line; floats have all their digits."""
    parts = [f'"case": {json.dumps(case)}']
    for name, table in record.items():
        rows = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items()]
        parts.append(f"{json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n}")
    beside = path.with_suffix(".part")
    beside.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    os.replace(beside, path)


def read_records(folder: Path) -> dict[str, Record]:
    """All records of a folder by case."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        found[content.pop("case")] = content
    return found
