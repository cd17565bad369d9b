"""MATLAB files: version 5 by scipy, 7.3 as the HDF5 that it is; structs by their path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.telemetry.readers.mat_sizes import HEAD, load_mat, require_mat_size
from freefloat.telemetry.readers.tables import contents, require_file
from freefloat.telemetry.recordings import hdf5_
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

_DEEPEST = 32  # format: structs in structs


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The variables of a file."""
    require_file(path, max_bytes=2**63)
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith(b"MATLAB 7.3") or head.startswith(b"\x89HDF"):
        return replace(hdf5_.open_recording(path, options), format="MATLAB 7.3")
    data = contents(path, max_bytes=options.max_bytes)
    with border(path, "MATLAB"):
        require_mat_size(path, data, max_bytes=options.max_bytes)
        arrays, fields = _variables(path)

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        for name in wanted.get("", ()):
            array, part, number = array_and_part(name, list(arrays))
            yield Piece("", {name: column_of_array(part_of_array(arrays[array], part), number)})

    return SourceRecording(path, "MATLAB", (RecordedStream("", tuple(fields)),), read)


def _variables(path: Path) -> tuple[dict[str, np.ndarray], list[RecordedField]]:
    content = load_mat(path)
    arrays: dict[str, np.ndarray] = {}
    fields: list[RecordedField] = []
    for name, value in content.items():
        if not name.startswith("__"):
            _flatten(name, value, arrays, fields, depth=0)
    return arrays, fields


def _flatten(
    name: str, value: Any, arrays: dict[str, np.ndarray], fields: list[RecordedField], *, depth: int
) -> None:
    """Arrays below a variable, by their path."""
    if depth > _DEEPEST:
        fields.append(RecordedField(name, 0, None, "nested too deeply"))
    elif isinstance(value, dict):
        for key, inner in value.items():
            _flatten(f"{name}.{key}", inner, arrays, fields, depth=depth + 1)
    elif isinstance(value, list) or (isinstance(value, np.ndarray) and value.dtype.hasobject):
        for n, inner in enumerate(value if isinstance(value, list) else value.ravel().tolist()):
            _flatten(f"{name}[{n}]", inner, arrays, fields, depth=depth + 1)
    elif isinstance(value, str):
        fields.append(RecordedField(name, 0, None, "text"))
    else:
        array = np.asarray(value)
        arrays[name] = array
        fields += fields_of_array(name, array.shape, array.dtype)


SOURCE = SourceFormat("MATLAB", (".mat",), open_recording, begins=(b"MATLAB",))
