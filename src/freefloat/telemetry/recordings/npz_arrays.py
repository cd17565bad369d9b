"""NPZ and NPY: arrays of numpy, each a column or several; nothing that needs pickle is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from freefloat.errors import TelemetryError
from freefloat.records.bounded_read import FileKind, array_of, zip_members
from freefloat.telemetry.readers.tables import contents
from freefloat.telemetry.recordings.array_columns import (
    array_and_part,
    column_of_array,
    fields_of_array,
    part_of_array,
)
from freefloat.telemetry.recordings.source_recording import (
    Piece,
    RecordedField,
    RecordedStream,
    SourceFormat,
    SourceOptions,
    SourceRecording,
    border,
)


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The arrays of a file."""
    data = contents(path, max_bytes=options.max_bytes)
    kind = FileKind(
        "recording", TelemetryError, ".npz", options.max_bytes, "allow more by --max-bytes"
    )
    with border(path, "NPZ"):
        if data.startswith(b"PK"):
            packed = zip_members(data, str(path), kind)
            members = {name.removesuffix(".npy"): raw for name, raw in packed.items()}
        else:
            members = {path.stem: data}
        arrays: dict[str, np.ndarray] = {}
        fields: list[RecordedField] = []
        for name, raw in members.items():
            if b"'O'" in raw[:256] or b"|O" in raw[:256]:
                fields.append(RecordedField(name, 0, None, "Python objects"))
                continue
            arrays[name] = array_of(raw)
            fields += fields_of_array(name, arrays[name].shape, arrays[name].dtype)

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        columns = {}
        for name in wanted.get("", ()):
            array, part, number = array_and_part(name, list(arrays))
            columns[name] = column_of_array(part_of_array(arrays[array], part), number)
        yield Piece("", columns)

    return SourceRecording(path, "NPZ", (RecordedStream("", tuple(fields)),), read)


SOURCE = SourceFormat("NPZ", (".npz", ".npy"), open_recording, begins=(b"\x93NUMPY", b"PK\x03\x04"))
