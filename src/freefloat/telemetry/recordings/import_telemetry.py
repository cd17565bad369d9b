"""From a file of anybody's and a map to Telemetry, with what was left out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from freefloat.errors import Fault, TelemetryError, shorten
from freefloat.files import settle
from freefloat.notes import Note
from freefloat.records.bounded_read import DEFAULT_MAX_BYTES
from freefloat.records.option_record import require_value
from freefloat.records.values import Count
from freefloat.telemetry import recordings
from freefloat.telemetry.readers.tables import require_path, unreadable
from freefloat.telemetry.recordings.clock_checks import clock_faults, clock_notes, date_faults
from freefloat.telemetry.recordings.map_fields import MappedColumns, map_columns
from freefloat.telemetry.recordings.map_values import (
    clock_unit,
    convert,
    time_origin,
    turn_frames,
)
from freefloat.telemetry.recordings.recording_map import RecordingMap, load_map
from freefloat.telemetry.recordings.source_recording import (
    SourceFormat,
    SourceOptions,
    SourceRecording,
    collect,
)
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import HOLD, MEAN, THRUST
from freefloat.text import count_noun, listing

_ANYTHING = "text table"  # format: what a file is taken for that begins like no other


@dataclass(frozen=True)
class Imported:
    """A recording as Telemetry, the fields that no entry of the map takes, and notes."""

    telemetry: Telemetry
    unmapped: tuple[str, ...]
    notes: tuple[Note, ...]


@cache
def source_formats() -> tuple[SourceFormat, ...]:
    """Every format of recordings, by looking at this folder."""
    names = [found.name for found in iter_modules(recordings.__path__)]
    modules = [import_module(f"{recordings.__name__}.{name}") for name in names]
    return tuple(module.SOURCE for module in modules if hasattr(module, "SOURCE"))


def open_recording(
    path: str | os.PathLike[str],
    options: SourceOptions = SourceOptions(),  # noqa: B008
) -> SourceRecording:
    """What is in a recording of any format; nothing is read that is not needed to tell."""
    file = require_path(path)
    settle(file)
    return _format_of(file).open(file, options)


def _format_of(file: Path) -> SourceFormat:
    known = {form.name: form for form in source_formats()}
    if file.is_dir():
        return known["ROS 2 bag"]
    if file.exists() and not file.is_file():  # a pipe would be waited for, a device read for ever
        raise unreadable(file, "not an ordinary file", "a recording", "name a file")
    try:
        with file.open("rb") as opened:
            head = opened.read(128)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        code = "file.missing" if isinstance(error, FileNotFoundError) else "file.unreadable"
        raise unreadable(file, reason, "a recording", "check the path", code=code) from None
    by_suffix = [form for form in known.values() if file.suffix.lower() in form.suffixes]
    by_content = [f for f in known.values() if any(head.startswith(b) for b in f.begins)]
    for form in by_suffix:  # MATLAB 7.3 is HDF5 as well
        if form in by_content or not form.begins or not by_content:
            return form
    return (by_content or by_suffix or [known[_ANYTHING]])[0]


def import_telemetry(
    source: str | os.PathLike[str],
    map: str | os.PathLike[str] | RecordingMap,
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Telemetry:
    """Return the telemetry in a recording of any kind, by a map of its fields.

    Args:
        source: The recording: a text table, NPZ, MATLAB, HDF5, ROS bag, MCAP, ULog or Parquet file,
            or the folder of a ROS 2 bag.
        map: The map, or its file (.toml).
        max_bytes: What would take more memory [B] is refused.

    Returns:
        The telemetry in SI units; its metadata says where it came from and what was not mapped.

    Raises:
        TelemetryError: It names every fault found, its place, what was expected and what to do.
    """
    return import_recording(source, map, max_bytes=max_bytes).telemetry


def import_recording(
    source: str | os.PathLike[str],
    map: str | os.PathLike[str] | RecordingMap,
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Imported:
    """The same, with the fields that were not mapped and what there is to say."""
    require_value(max_bytes, Count, "max_bytes", TelemetryError)
    wanted = map if isinstance(map, RecordingMap) else load_map(require_path(map))
    recording = open_recording(source, wanted.options(max_bytes))
    mapped, unmapped = map_columns(wanted, recording)
    columns = collect(recording, _fields(mapped), max_bytes=max_bytes)
    with np.errstate(all="ignore"):  # what is not finite in the end is no valid sample
        faults = list(date_faults(mapped, columns))
        origins, began = time_origin(mapped, columns, wanted.origin)
        found = []
        for one in [] if faults else mapped:
            try:
                found.append(convert(one, columns, origin=origins.get(clock_unit(one), 0)))
            except TelemetryError as error:
                faults += error.faults
        faults += clock_faults(found)
        faults += [] if faults else turn_frames(found)
    if faults:
        number = count_noun(len(faults), "fault")
        raise TelemetryError(f"{recording.path}: {number}, mapped by {wanted.file}", faults)
    recording.notes += [*clock_notes(found), *mirror_notes(mapped)]
    metadata = {"source": recording.path.name, "map": wanted.file}
    if began is not None:
        metadata["time origin"] = f"{began!r} s"
    if unmapped:
        metadata["not mapped"] = listing((shorten(name) for name in unmapped), most=40)
    if recording.notes:
        metadata["notes"] = "; ".join(recording.notes)
    metadata |= _thrust(mapped)
    channels = [channel for one in found for channel in one.channels()]
    if not channels:
        fault = Fault(wanted.file, "no channels", "at least one", "add [[channel]]", "channel.none")
        raise TelemetryError(f"{recording.path}: nothing is mapped", [fault])
    return Imported(Telemetry.of(channels, metadata), tuple(unmapped), tuple(recording.notes))


def mirror_notes(mapped: Sequence[MappedColumns]) -> list[Note]:
    """Notes on axes that no turn of a sensor brings about."""
    mirrored = [one for one in mapped if one.entry.is_mirrored]
    text = "the axes of the map are left-handed: right only where those of the recording are too"
    return [Note("recording.left_handed", f"{one.entry.place}: {text}") for one in mirrored]


def _fields(mapped: Sequence[MappedColumns]) -> dict[str, list[str]]:
    wanted: dict[str, dict[str, None]] = {}
    for one in mapped:
        for place in (*one.columns, one.clock):
            wanted.setdefault(place.stream, {})[place.field.name] = None
    return {stream: list(names) for stream, names in wanted.items()}


def _thrust(mapped: Sequence[MappedColumns]) -> dict[str, str]:
    """What the metadata say of valves and of channels that are held."""
    held = [name for one in mapped if one.entry.hold for name in one.channels]
    found = {HOLD: ", ".join(held)} if held else {}
    if any(one.entry.force for one in mapped):
        found[THRUST] = MEAN
    return found
