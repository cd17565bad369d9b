"""What differs between two sets of golden records, said in the terms of the results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from golden_record import Record, Table

FATES = ("identical", "within tolerance", "words changed", "numbers differ", "missing", "new")
# Fields that say how large an error of their neighbours would matter.
SCALES = ("std", "size", "rmse", "noise")
MOST_SHOWN = 6  # differences of one case


@dataclass(frozen=True)
class Renames:
    """What is called differently now.

    keys: parts of paths, or several parts joined by slashes where one alone would say too much;
    values: codes such as names of methods, which are parts of the names of cases as well.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def case(self, name: str) -> str:
        """The name of a case as it is now."""
        return "/".join(self.values.get(part, part) for part in name.split("/"))

    def record(self, record: Record) -> Record:
        """A record as it would be called now."""
        return {name: self._table(table) for name, table in record.items()}

    def _table(self, table: Table) -> Table:
        return {self._path(path): self._value(value) for path, value in table.items()}

    def _path(self, path: str) -> str:
        parts = "/".join(self.keys.get(part, part) for part in path.split("/"))
        whole = f"/{parts}/"
        for old, new in self.keys.items():
            if "/" in old:
                whole = whole.replace(f"/{old}/", f"/{new}/")
        return whole[1:-1]

    def _value(self, value: Any) -> Any:
        return self.values.get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Difference:
    """One value that is not what it was; `size` relative to its scale, infinite for codes."""

    path: str
    old: Any
    new: Any
    size: float

    def __str__(self) -> str:
        place = ", ".join(part for part in self.path.split("/"))
        size = "" if math.isinf(self.size) else f", {self.size:.2g} of its scale"
        return f"{place}: {_shown(self.old)} -> {_shown(self.new)}{size}"


@dataclass(frozen=True)
class Comparison:
    """One case: its fate, the numbers and the words that differ."""

    case: str
    fate: str
    numbers: tuple[Difference, ...] = ()
    words: tuple[Difference, ...] = ()


def compare_all(
    old: Mapping[str, Record], new: Mapping[str, Record], *, renames: Renames, tolerance: float
) -> list[Comparison]:
    """Every case of either set."""
    before = {renames.case(case): renames.record(record) for case, record in old.items()}
    found = []
    for case in sorted({*before, *new}):
        if case not in new:
            found.append(Comparison(case, "missing"))
        elif case not in before:
            found.append(Comparison(case, "new"))
        else:
            found.append(compare_case(case, before[case], new[case], tolerance=tolerance))
    return found


def compare_case(case: str, old: Record, new: Record, *, tolerance: float) -> Comparison:
    """One case, with the largest difference first."""
    numbers = sorted(differences(old["numbers"], new["numbers"]), key=lambda d: -d.size)
    beyond = tuple(one for one in numbers if not one.size <= tolerance or tolerance == 0.0)
    words = tuple(differences(old["words"], new["words"]))
    if beyond:
        return Comparison(case, "numbers differ", beyond, words)
    fate = "words changed" if words else "within tolerance" if numbers else "identical"
    return Comparison(case, fate, tuple(numbers), words)


def differences(old: Table, new: Table) -> Iterator[Difference]:
    """Values that are not the same to the last bit, and how far they are apart."""
    for path in [*old, *(path for path in new if path not in old)]:
        if path not in old or path not in new:
            yield Difference(path, old.get(path, "nothing"), new.get(path, "nothing"), math.inf)
        # Written text tells -0.0 from 0.0 and a whole number from a float; == does not.
        elif repr(old[path]) != repr(new[path]):
            size = distance(old[path], new[path], _deviation(path, old))
            yield Difference(path, old[path], new[path], size)


def _deviation(path: str, table: Table) -> float:
    """The deviation or natural size of the quantity at a path, if there is one beside it."""
    home = path.rpartition("/")[0]
    found = [table.get(f"{home}/{name}") for name in SCALES]
    return max((abs(value) for value in found if isinstance(value, float)), default=0.0)


def distance(old: Any, new: Any, deviation: float = 0.0) -> float:
    """How far two values are apart, relative to their scale; infinite where that makes no sense.

    The scale of a number is its magnitude or its standard deviation, whichever is larger: a value
    near zero is as good as its deviation. That of an array is its largest entry.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        if (old["n"], old["n_finite"]) != (new["n"], new["n_finite"]):
            return math.inf
        scale = max(_largest(old["shown"]), _largest(new["shown"]), old["norm"] / old["n"] ** 0.5)
        parts = [distance(old["norm"], new["norm"]), distance(old["shown"], new["shown"], scale)]
        return max(parts)
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return math.inf
        scale = max(_largest(old), _largest(new), deviation)
        return max((distance(a, b, scale) for a, b in zip(old, new, strict=True)), default=0.0)
    if not isinstance(old, float) or not isinstance(new, float):
        return 0.0 if old == new else math.inf
    scale = max(abs(old), abs(new), deviation)
    return abs(old - new) / scale if scale > 0.0 else 0.0


def _largest(value: Any) -> float:
    if isinstance(value, list):
        return max(map(_largest, value), default=0.0)
    return abs(value) if isinstance(value, float) else 0.0


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['n']} numbers of norm {value['norm']!r}"
    text = repr(value)
    return text if len(text) < 400 else text[:400] + " ..."


def report(found: list[Comparison], *, words: bool) -> str:
    """Every case that is not as it was, then how many there are of each fate."""
    lines: list[str] = []
    for one in found:
        if one.fate != "identical":
            lines.append(f"{one.fate}: {one.case}")
            shown = one.numbers[:MOST_SHOWN]
            lines += [f"    {difference}" for difference in shown]
            if len(one.numbers) > len(shown):
                lines.append(f"    and {len(one.numbers) - len(shown)} more")
            lines += [f"    {difference}" for difference in (one.words if words else ())]
    counts = Counter(one.fate for one in found)
    lines.append(", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts[fate]))
    return "\n".join(lines) or "nothing to compare"
