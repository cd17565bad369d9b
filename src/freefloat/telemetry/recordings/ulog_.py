"""PX4 ULog: every topic a stream, its `timestamp` [us] the clock."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.notes import Note
from freefloat.telemetry.readers.tables import require_file
from freefloat.telemetry.recordings.array_columns import column_numbers
from freefloat.telemetry.recordings.source_recording import (
    Piece,
    RecordedField,
    RecordedStream,
    SourceFormat,
    SourceOptions,
    SourceRecording,
    border,
    require_library,
)

MAGIC = b"ULog\x01\x12\x35"  # format: how a ULog begins
HEAD = 16  # format: [B] of magic, version and stamp
LARGEST = 65535  # format: [B] of a message, whose size has two bytes
DEEPEST = 32  # format: messages in messages
# format: [B] of what messages are made of
SIZES = {"int8_t": 1, "uint8_t": 1, "bool": 1, "char": 1, "int16_t": 2, "uint16_t": 2,
         "int32_t": 4, "uint32_t": 4, "float": 4, "int64_t": 8, "uint64_t": 8,
         "double": 8}  # fmt: skip
_FIELD = re.compile(r"(\w+)(?:\[(\d+)\])? ")


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The topics of a log."""
    require_file(path, max_bytes=options.max_bytes)  # its reader holds what it reads
    library = require_library("pyulog", extra="bags", path=path)
    with border(path, "ULog"):
        _require_possible_messages(path.read_bytes())
        log = _read(library, path, None)
        streams, notes = _streams(log), _notes(log)

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        for one in log.data_list:
            for name in wanted.get(_name(one), ()):
                yield Piece(_name(one), {name: column_numbers(one.data[name])})

    return SourceRecording(path, "ULog", streams, read, notes)


def _require_possible_messages(data: bytes) -> None:
    """ValueError for a definition of more than a message can hold: pyulog would lay it out."""
    definitions: dict[str, list[tuple[str, int]]] = {}
    at = HEAD
    while at + 3 <= len(data):
        size, kind = struct.unpack_from("<HB", data, at)
        if kind == ord("F"):
            text = data[at + 3 : at + 3 + size].decode(errors="replace")
            name, _, fields = text.partition(":")
            found = [match for part in fields.split(";") if (match := _FIELD.match(part))]
            definitions[name] = [(field[1], int(field[2] or 1)) for field in found]
        at += 3 + size
    sizes = dict(SIZES)
    for name in definitions:
        _message_size(name, definitions, sizes, 0)


def _message_size(
    name: str, definitions: Mapping[str, list[tuple[str, int]]], sizes: dict[str, int], depth: int
) -> int:
    """What a message takes [B]; each is worked out once."""
    if depth > DEEPEST:
        raise ValueError("messages nested too deeply")
    if name not in sizes:
        parts = [
            most * _message_size(part, definitions, sizes, depth + 1)
            for part, most in definitions.get(name, ())
        ]
        sizes[name] = sum(parts)
    if sizes[name] > LARGEST:
        raise ValueError(f"{name} of {sizes[name]} B, where a message has at most {LARGEST} B")
    return sizes[name]


def _read(library: Any, path: Path, names: list[str] | None) -> Any:
    # pyulog prints what it thinks of a file; what matters of that is on the log itself
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), path.open("rb") as file:
        return library.ULog(file, names)


def _name(one: Any) -> str:
    return f"{one.name}[{one.multi_id}]" if one.multi_id else one.name


def _streams(log: Any) -> tuple[RecordedStream, ...]:
    found = []
    for one in log.data_list:
        fields = []
        for name, values in one.data.items():
            unit = "us" if name == "timestamp" else None
            example = float(values[0]) if len(values) and np.isfinite(values[0]) else None
            fields.append(RecordedField(name, len(values), unit, "", example))
        found.append(RecordedStream(_name(one), tuple(fields), one.name))
    return tuple(found)


def _notes(log: Any) -> list[Note]:
    notes = []
    if log.file_corruption:
        notes.append(Note("recording.damaged", "the log is damaged in places, which were skipped"))
    if log.dropouts:
        lost = sum(one.duration for one in log.dropouts) / 1000.0
        notes.append(Note("recording.dropouts", f"{len(log.dropouts)} dropouts, {lost:.3g} s"))
    return notes


SOURCE = SourceFormat("ULog", (".ulg", ".ulog"), open_recording, begins=(MAGIC,))
