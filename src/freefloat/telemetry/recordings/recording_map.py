"""The map: which field of a recording is which channel, and what has to be done to it (TOML).

```toml
format = 1
ignore = ["Target_*"]               # fields that are left out on purpose
[source]                            # delimiter, decimal, header, skip: for text tables only
[time]                              # clock, unit, origin
[rename]                            # panda_joint1 = "arm_1": for names that `*` finds
[[channel]]                         # to, from, unit, and what `MapEntry` has
```
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, TelemetryError
from freefloat.model.rotations import matrix_from_quaternion, matrix_from_rpy
from freefloat.records import values
from freefloat.records.bounded_read import FileKind, read_text
from freefloat.records.fault_list import FaultList
from freefloat.records.schema import Schema, TableKind, TableList
from freefloat.records.toml_text import TOML, entries, lines_of, parse_toml
from freefloat.records.values import PathFault, RefusedError, refusal
from freefloat.telemetry.channel import is_noise
from freefloat.telemetry.names import ChannelName, name_fault, resolved_unit
from freefloat.telemetry.readers.tables import MAX_COLUMNS
from freefloat.telemetry.recordings.source_recording import SourceOptions
from freefloat.telemetry.units import accepted_units, si_unit

# format: a map of a thousand channels has a tenth of this
MAP_FILE = FileKind("map", TelemetryError, ".toml", 2**20, "check that this is a map")
SQUARE = 1e-6  # theory: far beyond rounding of six digits, far below any mounting error

# format: quantities that have axes, and those whose axes a frame may turn
VECTORS = (
    "position", "velocity", "acceleration", "rate", "angular_acceleration", "force", "torque",
    "angular_momentum", "linear_momentum",
)  # fmt: skip
WORLD_AXES = (
    "position", "velocity", "force", "torque", "angular_momentum", "linear_momentum",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class MapEntry:
    """One `[[channel]]` of a map.

    to: the channel, a group such as base.rate, or several channels. source: the fields (`from` in
    the file). unit: of the values; value = scale * number + offset, in that unit. axes: which
    component, with its sign, is x, y and z of the channel. rotation: turns the sensor's axes into
    those of the body, world the recording's world axes into ours (3, 3). order, direction: of a
    quaternion. frame: the axes of a vector. clock, clock_unit, delay [s]: when it was measured.
    noise: standard deviation, in the unit. force [N]: of an open valve. valve: whether numbers are
    on or off, or on-times. unwrap: an angle that jumps by whole turns. hold: a value is kept until
    the next one. place: where it stands in the file.
    """

    to: tuple[str, ...]
    source: tuple[str, ...]
    unit: str | None = None
    scale: tuple[float, ...] = (1.0,)
    offset: tuple[float, ...] = (0.0,)
    axes: tuple[str, ...] = ()
    rotation: Array | None = None
    world: Array | None = None
    order: str | None = None
    direction: str = "body_to_world"
    frame: str | None = None
    clock: str | None = None
    clock_unit: str | None = None
    delay: float = 0.0
    noise: tuple[float, ...] = ()
    force: tuple[float, ...] = ()
    valve: str = "on_off"
    unwrap: bool = False
    hold: bool = False
    place: str = ""

    @property
    def quantity(self) -> str:
        """What the first channel measures."""
        return ChannelName.parse(self.to[0]).quantity

    @property
    def is_mirrored(self) -> bool:
        """Whether `axes` turn right-handed axes into left-handed ones."""
        if len(self.axes) != 3:
            return False
        turn = np.zeros((3, 3))
        for row, axis in enumerate(self.axes):
            turn[row, "xyz".index(axis[-1])] = -1.0 if axis.startswith("-") else 1.0
        return bool(np.linalg.det(turn) < 0.0)


@dataclass(frozen=True)
class RecordingMap:
    """A whole map: its entries, the usual clock, how to read the file, what to leave out."""

    entries: tuple[MapEntry, ...]
    clock: str | None = None
    clock_unit: str | None = None
    origin: float | str = "auto"
    ignore: tuple[str, ...] = ()
    rename: dict[str, str] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    file: str = "map"

    def options(self, max_bytes: int) -> SourceOptions:
        """How to read the file."""
        return SourceOptions(max_bytes=max_bytes, **self.source)


# -- what may stand in a file ----------------------------------------------------------------------


def _names(value: Any) -> tuple[str, ...]:
    """One name, or a list of them."""
    given = value if isinstance(value, list) else [value]
    if not 0 < len(given) <= MAX_COLUMNS:
        raise refusal(value, "a name, or names in brackets", "give at least one", "value.count")
    return tuple(values.name(one) for one in given)


def _origin(value: Any) -> float | str:
    if isinstance(value, str):
        return values.one_of("first", "keep")(value)
    return values.number(value)


def _delimiter(value: Any) -> str:
    if value == "blank":
        return " "
    if not isinstance(value, str) or len(value) != 1:
        raise refusal(value, 'one character, or "blank"', 'write ";" or "\\t"')
    return value


def _sign(value: Any) -> str:
    return values.one_of(*(f"{s}{a}" for s in ("", "-", "+") for a in "xyz"))(value)


_ROTATION = TableKind(
    {
        "rpy": values.numbers(3),
        "matrix": values.fixed_list(3, values.numbers(3)),
        "quaternion": values.numbers(4),
        "unit": values.one_of("rad", "deg"),
    }
)


@cache
def _schema() -> Schema:
    numbers = values.one_or_more_numbers
    channel = TableKind(
        {
            "to": _names, "from": _names, "unit": values.text, "scale": numbers, "offset": numbers,
            "axes": values.list_of(_sign), "rotation": _ROTATION, "world": _ROTATION,
            "order": values.one_of("xyzw", "wxyz"),
            "direction": values.one_of("body_to_world", "world_to_body"),
            "frame": values.one_of("world", "body"), "clock": values.name,
            "clock_unit": values.text, "delay": values.number, "noise": numbers, "force": numbers,
            "valve": values.one_of("on_off", "on_time"), "unwrap": values.flag, "hold": values.flag,
        },
        ("to", "from"),
    )  # fmt: skip
    source = {
        "delimiter": _delimiter, "decimal": values.one_of(".", ","), "header": values.flag,
        "skip": values.count,
    }  # fmt: skip
    time = {"clock": values.name, "unit": values.text, "origin": _origin}
    rename = values.dict_of(values.name, expected="names", remedy='write old = "new"')
    keys = {
        "format": values.format_1, "ignore": values.list_of(values.name),
        "source": TableKind(source), "time": TableKind(time), "rename": rename,
        "channel": TableList(channel),
    }  # fmt: skip
    return Schema(TableKind(keys, ("format", "channel")), TOML)


# -- reading ---------------------------------------------------------------------------------------


def load_map(path: str | Path) -> RecordingMap:
    """The map in a file (TOML).

    Raises TelemetryError listing every fault: file, place, value, expectation, remedy.
    """
    if Path(path).suffix.lower() != MAP_FILE.suffix:
        expected = "a map of a recording's fields (.toml), as --map or `map` takes"
        remedy = "`freefloat import SOURCE --suggest --out map.toml` drafts one; a robot is MODEL"
        value = Path(path).suffix or "no suffix"
        fault = Fault(str(path), value, expected, remedy, "file.suffix")
        raise TelemetryError(f"--map {Path(path).name}: not a map", [fault])
    return read_map_text(read_text(Path(path), MAP_FILE), file=Path(path).name)


def read_map_text(text: str, *, file: str = "map") -> RecordingMap:
    """The map of the text of a map file.

    >>> lines = ["format = 1", "[[channel]]", 'to = "base.angle"', 'from = "yaw"', 'unit = "deg"']
    >>> read_map_text(chr(10).join(lines)).entries[0].source
    ('yaw',)
    """
    raw = parse_toml(text, file=file, kind=MAP_FILE, sections=("channel",))
    faults = FaultList(file, lines=lines_of(text))
    for n, entry in enumerate(entries(raw, "channel")):
        if isinstance(entry, dict) and isinstance(entry.get("to"), str):
            faults.names[("channel", n)] = entry["to"]
    reading = _schema().read(raw)
    faults.extend(reading.faults)
    given = reading.content
    made = [
        _entry(table, n, faults)
        for n, table in enumerate(given.get("channel", []))
        if "to" in table and "from" in table
    ]
    time = given.get("time", {})
    faults.extend(_time_faults(time.get("unit"), ("time", "unit")))
    if not made and not faults.faults:
        remedy = "add at least one [[channel]]"
        faults.add(PathFault(("channel",), "nothing", "channels", remedy, "value.count"))
    faults.raise_any(MAP_FILE)
    return RecordingMap(
        tuple(made), time.get("clock"), time.get("unit"), time.get("origin", "auto"),
        tuple(given.get("ignore", ())), dict(given.get("rename", {})),
        dict(given.get("source", {})), file,
    )  # fmt: skip


def _entry(table: dict[str, Any], n: int, faults: FaultList) -> MapEntry:
    path = ("channel", n)
    given = {key: value for key, value in table.items() if key not in ("from", "rotation", "world")}
    for key in ("rotation", "world"):
        if key in table:
            try:
                given[key] = _matrix(table[key])
            except RefusedError as refused:
                faults.extend(fault.below((*path, key)) for fault in refused.faults)
    known = {one.name for one in fields(MapEntry)}
    entry = MapEntry(
        source=table["from"], place=faults.place(path),
        **{key: value for key, value in given.items() if key in known},
    )  # fmt: skip
    faults.extend(fault.below(path) for fault in _entry_faults(entry))
    return entry


def _matrix(table: dict[str, Any]) -> Array:
    """The rotation that a table describes in one of three ways."""
    ways = [key for key in ("rpy", "matrix", "quaternion") if key in table]
    if len(ways) != 1:
        found = " and ".join(ways) or "none of them"
        raise refusal(found, "one of rpy, matrix or quaternion", "give one", "value.conflict")
    given = np.array(table[ways[0]], dtype=float)
    if ways[0] == "rpy":
        return matrix_from_rpy(np.radians(given) if table.get("unit") == "deg" else given)
    if ways[0] == "quaternion":
        size = float(np.linalg.norm(given))
        if abs(size - 1.0) > 1e-3:  # digits that were rounded; what is more is another thing
            raise refusal(given.tolist(), "x, y, z, w of norm 1", "normalise it", "value.norm")
        return matrix_from_quaternion(given / size)
    if np.abs(given @ given.T - np.eye(3)).max() > SQUARE or np.linalg.det(given) < 0.0:
        remedy = "use axes = [...] for axes that are swapped or turned round"
        raise refusal(given.tolist(), "a rotation matrix", remedy, "value.norm")
    return given


def _time_faults(unit: str | None, path: tuple[str | int, ...]) -> list[PathFault]:
    known = si_unit(unit) if unit is not None else ("s", 1.0)
    if known is not None and known[0] == "s":
        return []
    remedy = "use one of: " + ", ".join(accepted_units("s"))
    return [PathFault(path, repr(unit), "a unit of time", remedy, "channel.unit")]


def _entry_faults(entry: MapEntry) -> list[PathFault]:
    """What does not fit together within one entry."""
    found = _time_faults(entry.clock_unit, ("clock_unit",))
    for name in entry.to:
        plain = name.replace("*", "_")
        forbidden = name_fault(plain)
        if forbidden or name.count("*") > 1:
            what, expected = forbidden or "more than one *", "a channel such as 'base.rate'"
            found.append(PathFault(("to",), what, expected, "rename the channel", "name.form"))
    if any(fault.path == ("to",) for fault in found):
        return found
    found += _unit_faults(entry)
    found += [
        PathFault(("noise",), repr(one), "a standard deviation >= 0", "correct it", "channel.noise")
        for one in entry.noise if not is_noise(one)
    ]  # fmt: skip
    if any(one == 0.0 for one in entry.scale):
        remedy = "give the factor from the numbers to the unit; -1 turns a sign round"
        found.append(PathFault(("scale",), "0", "a number that is not zero", remedy, "value.range"))
    if len({axis[-1] for axis in entry.axes}) < len(entry.axes):
        expected, remedy = "every component once", 'write them like ["-y", "x", "z"]'
        found.append(PathFault(("axes",), str(list(entry.axes)), expected, remedy, "value.choice"))
    quantity = entry.quantity
    wrong = {
        "order": entry.order is not None and quantity != "attitude",
        "direction": entry.direction != "body_to_world" and quantity != "attitude",
        "axes": bool(entry.axes) and quantity not in VECTORS,
        "rotation": entry.rotation is not None and quantity not in (*VECTORS, "attitude"),
        "world": entry.world is not None and quantity not in (*WORLD_AXES, "attitude"),
        "frame": entry.frame is not None and quantity not in VECTORS,
        "force": bool(entry.force) and quantity != "force",
        "valve": entry.valve != "on_off" and not entry.force,
        "unwrap": entry.unwrap and quantity not in ("angle", "position", "motor_position"),
    }
    for key in (key for key, is_wrong in wrong.items() if is_wrong):
        expected = "force = [...] beside it" if key == "valve" else f"a channel that has {key}"
        value, remedy = f"{key} of {entry.to[0]}", "leave it out, or correct the channel"
        found.append(PathFault((key,), value, expected, remedy, "value.conflict"))
    return found


def _unit_faults(entry: MapEntry) -> list[PathFault]:
    """The unit must be one of the quantity; an on-time has one of time."""
    if entry.force and entry.valve == "on_time":
        return _time_faults(entry.unit, ("unit",))
    if entry.force and entry.unit is not None:
        value, remedy = repr(entry.unit), "leave the unit out: force is in N"
        return [PathFault(("unit",), value, "none beside force", remedy, "value.conflict")]
    for name in entry.to:
        plain = name.replace("*", "_")
        for one in (plain, f"{plain}.x"):  # a group such as base.rate stands for its axes
            unit = resolved_unit(one, entry.unit)
            if isinstance(unit, tuple):
                break
        else:
            assert not isinstance(unit, tuple)
            return [PathFault(("unit",), unit.value, unit.expected, unit.remedy, unit.code)]
    return []
