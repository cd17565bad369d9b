"""What was found wrong in a model file so far, said with the file's own paths and lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from freefloat.errors import Fault
from freefloat.model.toml_lines import Way, line_at
from freefloat.model.urdf import located
from freefloat.model.urdf_values import UrdfReader

NAMED = ("body", "joint", "tank", "wheel", "thruster", "target", "frame")
SECTIONS = (*NAMED, "sensor", "capsule")
REFERENCES = ("parent", "child", "body", "on")  # keys whose value is the name of another part


class Findings:
    """Faults found so far in one model file, and where its parts are."""

    def __init__(self, file: str, raw: dict[str, Any], lines: dict[Way, int]) -> None:
        self.file = file
        self.lines = lines
        self.faults: list[Fault] = []
        self.told: set[Way] = set()  # ways that later checks need not mention again
        # Names are taken now: what is faulty is taken out of `raw` later.
        self.names: dict[Way, str] = {
            (section, i): entry["name"]
            for section in NAMED
            for i, entry in enumerate(entries(raw, section))
            if isinstance(entry, dict) and isinstance(entry.get("name"), str)
        }
        self.ways: dict[str, Way] = {}
        for way, name in self.names.items():
            self.register(way, name)

    def fault(
        self, way: Way, *, value: str, expected: str, remedy: str, code: str = "value.type"
    ) -> None:
        """Write down a fault at a way into the file such as ("joint", 3, "damping")."""
        self.told.add(way)
        self.faults.append(Fault(self.place(way), value, expected, remedy, code))

    def register(self, way: Way, name: str) -> None:
        """Remember where the part called `name` is, by all that `checks` may call it."""
        self.ways[f"{way[0]} {name!r}"] = way
        self.ways[f"name {name!r}"] = (*way, "name")
        for kind in ("body", "joint"):  # a target is also a body, a tank also a joint
            self.ways.setdefault(f"{kind} {name!r}", way)

    def place(self, way: Way) -> str:
        """A way as people read it: servicer.toml: joint[3] "arm_4".damping (line 81)."""
        shown = ""
        for i, step in enumerate(way):
            shown += f"[{step}]" if isinstance(step, int) else f".{step}" if i else step
            if i == 1 and way[:2] in self.names:
                shown += f' "{self.names[way[:2]]}"'
        line = line_at(self.lines, way)
        return f"{self.file}: {shown}" + (f" (line {line})" if line else "")

    def way(self, place: str) -> Way | None:
        """The way to a part of the model as `checks` names it, e.g. "joint 'arm_4'.axis"."""
        part, steps = place, ()
        while part not in self.ways and "." in part:
            part, _, last = part.rpartition(".")
            steps = (last, *steps)
        if part in self.ways:
            return (*self.ways[part], *steps)
        if indexed := re.match(r"(sensor|capsule)\[(\d+)\]", part):
            return (indexed.group(1), int(indexed.group(2)), *steps)
        return None if " " in part else (part, *steps)

    def add_structure(self, faults: Iterable[Fault], reading: UrdfReader | None) -> None:
        """Add the faults of a model at their places in the files, without those told already."""
        for fault in faults:
            way = self.way(fault.place)
            is_ours = way is not None and way in self.lines
            is_urdfs = reading is not None and fault.place in reading.lines
            if way is None or (is_urdfs and not is_ours):
                place = [replace(fault, place=f"{self.file}: {fault.place}")]
                self.faults += place if reading is None else located([fault], reading)
            elif not self._is_told(way):
                self.faults.append(replace(fault, place=self.place(way)))

    def _is_told(self, way: Way) -> bool:
        """Whether a fault at `way` only repeats one that has been written down already."""
        if any(way[: len(known)] == known for known in self.told):
            return True
        if way[-1] in REFERENCES and self._is_name_missing():
            return True  # what is named may well be the part whose name could not be read
        if way[:1] == ("sensor",) and way[-1] == "on" and self._is_seat_unknown(way):
            return True
        # What is said of a whole part that has no name, or of half a sensor, says nothing new.
        is_half_read = (*way, "name") in self.told or way[:1] == ("sensor",)
        return len(way) == 2 and is_half_read and any(known[:2] == way for known in self.told)

    def _is_name_missing(self) -> bool:
        """Whether a named part, or a whole section of them, could not be read."""
        return any(
            known[0] in NAMED and (len(known) < 3 or known[2:] == ("name",)) for known in self.told
        )

    def _is_seat_unknown(self, way: Way) -> bool:
        """Whether what the sensor at `way` reads, or the drive it may sit on, was told wrong."""
        is_kind_wrong = (*way[:2], "kind") in self.told
        return is_kind_wrong or any(known[2:] == ("drive",) for known in self.told)


def entries(raw: dict[str, Any], section: str) -> list[Any]:
    """The tables [[section]] of a file, or nothing where something else stands in their place."""
    value = raw.get(section)
    return value if isinstance(value, list) else []
