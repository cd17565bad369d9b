"""The faults found in one file so far, each with the file's own path and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from freefloat.errors import Fault
from freefloat.records.bounded_read import FileKind
from freefloat.records.values import KeyPath, PathFault
from freefloat.text import count_noun


class FaultList:
    """Faults of one file; `names` are what entries of its lists are called, to be shown."""

    def __init__(self, file: str, *, lines: Mapping[KeyPath, int] | None = None) -> None:
        self.file = file
        self.lines = lines or {}
        self.names: dict[KeyPath, str] = {}
        self.faults: list[Fault] = []
        self.paths: set[KeyPath] = set()  # where faults are; later checks need not tell them again

    def add(self, fault: PathFault) -> None:
        """Write down a fault at a path into the file such as ("joint", 3, "damping")."""
        self.paths.add(fault.path)
        place, line = self.place(fault.path), self.line(fault.path)
        made = Fault(place, fault.value, fault.expected, fault.remedy, fault.code, line)
        self.faults.append(made)

    def extend(self, faults: Iterable[PathFault]) -> None:
        """Write down several."""
        for fault in faults:
            self.add(fault)

    def line(self, path: KeyPath) -> int | None:
        """The line of the innermost table or key on the way to `path` that is known."""
        known = (self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines)
        return next(known, None)

    def place(self, path: KeyPath) -> str:
        """A path as people read it: servicer.toml: joint[3] "arm_4".damping (line 81)."""
        shown = ""
        for i, step in enumerate(path):
            shown += f"[{step}]" if isinstance(step, int) else f".{step}" if i else step
            if i == 1 and path[:2] in self.names:
                shown += f' "{self.names[path[:2]]}"'
        line = self.line(path)
        return f"{self.file}: {shown}" + (f" (line {line})" if line else "")

    def raise_any(self, kind: FileKind) -> None:
        """Raise what was written down, if anything was."""
        if self.faults:
            message = f"{self.file}: {count_noun(len(self.faults), 'fault')} found"
            raise kind.refuse(message, self.faults)


class NamedFaults(FaultList):
    """Faults of a file whose parts have names, by which the checks of a whole record call them."""

    def __init__(self, file: str, *, lines: Mapping[KeyPath, int]) -> None:
        super().__init__(file, lines=lines)
        self._paths: dict[str, KeyPath] = {}

    def register(self, path: KeyPath, name: str, *, kinds: Iterable[str] = ()) -> None:
        """Remember where the part called `name` is, by all that a check may call it."""
        self._paths[f"{path[0]} {name!r}"] = path
        self._paths[f"name {name!r}"] = (*path, "name")
        for kind in kinds:
            self._paths.setdefault(f"{kind} {name!r}", path)

    def path_of(self, place: str) -> KeyPath | None:
        """The path to a part as a check names it, such as "joint 'arm_4'.axis"."""
        part, steps = place, ()
        while part not in self._paths and "." in part:
            part, _, last = part.rpartition(".")
            steps = (last, *steps)
        if part in self._paths:
            return (*self._paths[part], *steps)
        if indexed := re.match(r"(\w+)\[(\d+)\]", part):
            return (indexed.group(1), int(indexed.group(2)), *steps)
        return None if " " in part else (part, *steps)

    def add_check(self, fault: Fault) -> None:
        """Add the fault of a check at its place in the file, unless it has been told already."""
        path = self.path_of(fault.place)
        if path is None:
            self.faults.append(replace(fault, place=f"{self.file}: {fault.place}"))
        elif not self.is_told(path):
            self.faults.append(replace(fault, place=self.place(path), line=self.line(path)))

    def is_told(self, path: KeyPath) -> bool:
        """Whether a fault at `path` only repeats one that has been written down already."""
        return any(path[: len(known)] == known for known in self.paths)
