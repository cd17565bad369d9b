"""A map held against a recording: which columns every entry takes, at which clock."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from freefloat.errors import Fault, TelemetryError
from freefloat.telemetry.names import XYZ, XYZW, name_fault
from freefloat.telemetry.recordings.recording_map import MapEntry, RecordingMap
from freefloat.telemetry.recordings.source_recording import (
    PUBLISHED,
    RECEIVED,
    STAMP,
    RecordedField,
    RecordedStream,
    SourceRecording,
)
from freefloat.text import count_noun, did_you_mean

# format: words of a map for the clocks of messages, and what tables call their time
CLOCKS = {"header": STAMP, "receive": RECEIVED, "publish": PUBLISHED}
TIME_NAMES = ("time", "t", "timestamp", "time_s", "stamp", "sec", "seconds")


@dataclass(frozen=True)
class FieldPlace:
    """A field and the stream it is in."""

    stream: str
    field: RecordedField


@dataclass(frozen=True)
class MappedColumns:
    """What an entry takes: columns, its clock, and the channels they become.

    is_named: whether components have names (x, y, z, w) rather than places.
    """

    entry: MapEntry
    channels: tuple[str, ...]
    columns: tuple[FieldPlace, ...]
    clock: FieldPlace
    clock_unit: str | None
    is_named: bool


class FieldIndex:
    """The fields of a recording by how a map calls them."""

    def __init__(self, streams: Sequence[RecordedStream]) -> None:
        self.streams = {stream.name: stream for stream in streams}
        self.places: dict[str, FieldPlace] = {}
        for stream in streams:
            for one in stream.fields:
                self.places[stream.reference(one.name)] = FieldPlace(stream.name, one)
        self.groups = self._groups()

    def _groups(self) -> dict[str, list[str]]:
        """Names that stand for several fields, with the names of these."""
        children: dict[str, dict[str, str]] = {}
        for name in self.places:
            stem, dot, last = name.rpartition(".")
            if dot and last.lower() in XYZW:
                children.setdefault(stem, {})[last.lower()] = name
            elif name.endswith("]"):
                stem, _, key = name.rpartition("[")
                children.setdefault(stem, {})[key[:-1]] = name
        found: dict[str, list[str]] = {}
        for stem, parts in children.items():
            if {"x", "y", "z"} <= set(parts):
                found[stem] = [parts[axis] for axis in XYZW if axis in parts]
            elif all(key.isdecimal() for key in parts):
                found[stem] = [parts[key] for key in sorted(parts, key=int)]
        return found

    def find(self, name: str) -> list[str]:
        """The fields that a name of a map stands for; none where there is no such thing."""
        return [name] if name in self.places else self.groups.get(name, [])

    def matching(self, glob: str) -> Iterator[tuple[str, str]]:
        """Names that a pattern with one * fits, each with what the * stands for."""
        first, last = map(re.escape, glob.split("*"))
        pattern = re.compile(f"{first}([^.\\[\\]]+){last}")
        for name in (*self.places, *self.groups):
            if (found := pattern.fullmatch(name)) and not (
                name in self.places and self.places[name].field.what
            ):
                yield name, found[1]


def map_columns(
    wanted: RecordingMap, recording: SourceRecording
) -> tuple[list[MappedColumns], list[str]]:
    """What every entry takes, and the fields that none takes, none is a clock and none ignores.

    Raises TelemetryError with every entry that does not fit the recording.
    """
    index = FieldIndex(recording.streams)
    faults: list[Fault] = []
    found: list[MappedColumns] = []
    for entry in wanted.entries:
        for one in _entries_of(entry, index, wanted.rename, faults):
            made = _columns(one, wanted, index)
            if isinstance(made, Fault):
                faults.append(made)
            else:
                found.append(made)
    faults += _double_faults(found)
    if faults:
        number = count_noun(len(faults), "fault")
        message = f"{wanted.file}: {number}, held against {recording.path}"
        raise TelemetryError(message, faults)
    return found, _rest(found, wanted, index)


def _entries_of(
    entry: MapEntry, index: FieldIndex, rename: Mapping[str, str], faults: list[Fault]
) -> Iterator[MapEntry]:
    """An entry with a * as one entry for each name that it fits."""
    stars = sum("*" in name for name in (*entry.source, *entry.to))
    if not stars:
        yield entry
        return
    if len(entry.source) != 1 or len(entry.to) != 1 or entry.source[0].count("*") != 1 or stars < 2:
        expected, remedy = "one * in `to` and one in `from`", "name the fields one by one"
        value = f"{entry.source[0]} to {entry.to[0]}"
        faults.append(Fault(entry.place, value, expected, remedy, "map.glob"))
        return
    matching = list(index.matching(entry.source[0]))
    if not matching:
        faults.append(_unknown(entry.source[0], entry, index))
    for name, star in matching:
        to = entry.to[0].replace("*", rename.get(star, star))
        if forbidden := name_fault(to):
            remedy = "give it another name under [rename]"
            faults.append(Fault(entry.place, to, f"a name ({forbidden})", remedy, "name.form"))
            continue
        yield replace(entry, source=(name,), to=(to,))


def _columns(entry: MapEntry, wanted: RecordingMap, index: FieldIndex) -> MappedColumns | Fault:
    names: list[str] = []
    for name in entry.source:
        found = index.find(name)
        if not found:
            return _unknown(name, entry, index)
        names += found
    places = tuple(index.places[name] for name in names)
    for name, place in zip(names, places, strict=True):
        if place.field.what:
            value = f"{name}: {place.field.what}"
            return Fault(entry.place, value, "numbers", "map another field", "map.kind")
    channels = _channels(entry, len(places))
    if not channels:
        value = f"{len(places)} fields for {', '.join(entry.to)}"
        expected = "one field a channel, 2 or 3 for a vector, 4 for an attitude"
        return Fault(entry.place, value, expected, "correct `from` or `to`", "map.columns")
    for key in ("scale", "offset", "noise", "force"):
        size = len(getattr(entry, key))
        if size not in (0, 1, len(channels)):
            expected = f"1 or {len(channels)} numbers"
            return Fault(entry.place, f"{key} of {size}", expected, "correct it", "value.count")
    if entry.axes and len(entry.axes) != len(channels):
        expected = f"{len(channels)} axes"
        return Fault(entry.place, f"{len(entry.axes)} axes", expected, "correct it", "value.count")
    clock = _clock(entry, wanted, places, index)
    if isinstance(clock, Fault):
        return clock
    lengths = {place.field.n_samples for place in (*places, clock)}
    if len(lengths) > 1:
        counts = ", ".join(map(str, sorted(lengths)))
        value = f"{counts} samples of {', '.join(names[:3])} and clock"
        expected, remedy = "equally many", "map them one by one, each with its own clock"
        return Fault(entry.place, value, expected, remedy, "map.length")
    unit = entry.clock_unit or wanted.clock_unit if entry.clock is None else entry.clock_unit
    is_named = len(places) == 4 and names[0].lower().endswith(".x")
    return MappedColumns(entry, channels, places, clock, unit, is_named)


def _channels(entry: MapEntry, count: int) -> tuple[str, ...]:
    """The channels that so many columns become; none where the number does not fit."""
    name, *others = entry.to
    if others:
        return entry.to if len(entry.to) == count else ()
    if entry.quantity == "attitude" and name.endswith(".attitude"):
        return tuple(f"{name}.{axis}" for axis in XYZW) if count == 4 else ()
    if count == 1:
        return (name,)
    return tuple(f"{name}.{axis}" for axis in XYZ[:count]) if count <= 3 else ()


def _clock(
    entry: MapEntry, wanted: RecordingMap, places: Sequence[FieldPlace], index: FieldIndex
) -> FieldPlace | Fault:
    """The field with the times of an entry: its own, that of the map, or the usual one."""
    stream = index.streams[places[0].stream]
    asked = entry.clock or wanted.clock
    if asked is not None:
        own = stream.reference(CLOCKS.get(asked, asked))
        for name in (own, asked, f"{asked}.{STAMP}", f"{asked}.{RECEIVED}"):
            if name in index.places and not index.places[name].field.what:
                return index.places[name]
        remedy = did_you_mean(asked, index.places, otherwise="choose a field, header or receive")
        return Fault(entry.place, f"clock {asked!r}", "a field with times", remedy, "map.clock")
    usual = [stream.reference(name) for name in (STAMP, "timestamp", RECEIVED)]
    stem = next((n for n, p in index.places.items() if p is places[0]), "").rpartition(".")[0]
    beside = f"{stem}." if stem and not places[0].stream else ""
    usual += [
        name
        for name, place in index.places.items()
        if name.removeprefix(beside).lower() in TIME_NAMES and place.stream == stream.name
    ]
    for name in usual:
        if name in index.places and not index.places[name].field.what:
            return index.places[name]
    remedy = 'write [time] with clock = "the column with the time"'
    return Fault(entry.place, "no clock", "a field with times", remedy, "map.clock")


def _unknown(name: str, entry: MapEntry, index: FieldIndex) -> Fault:
    known = [*index.places, *index.groups]
    otherwise = "`freefloat import SOURCE` lists the fields there are"
    remedy = did_you_mean(name, known, otherwise=otherwise)
    return Fault(entry.place, repr(name), "a field of the recording", remedy, "map.field")


def _double_faults(found: Sequence[MappedColumns]) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for one in found:
        for name in one.channels:
            if name in seen:
                value, remedy = f"{name} again (first: {seen[name]})", "leave one of them out"
                yield Fault(one.entry.place, value, "every channel once", remedy, "name.duplicate")
            seen.setdefault(name, one.entry.place)


def _rest(found: Sequence[MappedColumns], wanted: RecordingMap, index: FieldIndex) -> list[str]:
    """Fields that are neither used nor ignored on purpose, arrays of numbers as one."""
    used = {id(place.field) for one in found for place in (*one.columns, one.clock)}
    left = [
        name
        for name, place in index.places.items()
        if id(place.field) not in used
        and not place.field.name.startswith("@")
        and not any(fnmatchcase(name, glob) for glob in wanted.ignore)
    ]
    whole = {name: group for group, names in index.groups.items() for name in names}
    spare = {group for group, names in index.groups.items() if set(names) <= set(left)}
    return list(dict.fromkeys(whole[n] if whole.get(n) in spare else n for n in left))
