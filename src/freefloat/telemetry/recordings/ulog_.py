"""PX4 ULog: every topic a stream, its `timestamp` [us] the clock."""

from __future__ import annotations

import io
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


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The topics of a log."""
    require_file(path, max_bytes=options.max_bytes)  # its reader holds what it reads
    library = require_library("pyulog", extra="bags", path=path)
    with border(path, "ULog"):
        log = _read(library, path, None)
        streams, notes = _streams(log), _notes(log)

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        for one in log.data_list:
            for name in wanted.get(_name(one), ()):
                yield Piece(_name(one), {name: column_numbers(one.data[name])})

    return SourceRecording(path, "ULog", streams, read, notes)


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
