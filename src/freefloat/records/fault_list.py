"""The faults found in one file so far, each with the file's own path and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freefloat.errors import Fault
from freefloat.records.source import FileKind
from freefloat.records.values import KeyPath, PathFault
from freefloat.text import counted


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
            message = f"{self.file}: {counted(len(self.faults), 'fault')} found"
            raise kind.refuse(message, self.faults)
