"""MATLAB files: version 5 by scipy, 7.3 as the HDF5 that it is; structs by their path.

scipy believes what a file declares. Therefore its elements are walked through first: what a packed
one unpacks to, and what every array says of its size, are added up before anything is made.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.telemetry.readers.tables import contents, too_large
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

_HEAD = 128  # format: [B] of text and version at the beginning
_MATRIX, _COMPRESSED = 14, 15  # format: what an element is
_CELL, _STRUCT, _OBJECT = 1, 2, 3  # format: classes of arrays that hold arrays
_POINTER = 8  # format: [B] that an array of arrays takes for each
_DEEPEST = 32  # format: structs in structs


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The variables of a file."""
    with path.open("rb") if path.is_file() else _nothing() as file:
        head = file.read(_HEAD)
    if head.startswith(b"MATLAB 7.3") or head.startswith(b"\x89HDF"):
        return replace(hdf5_.open_recording(path, options), format="MATLAB 7.3")
    data = contents(path, max_bytes=options.max_bytes)
    with border(path, "MATLAB"):
        _require_size(path, data, max_bytes=options.max_bytes)
        arrays, fields = _variables(path)

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        for name in wanted.get("", ()):
            array, part, number = array_and_part(name, list(arrays))
            yield Piece("", {name: column_of_array(part_of_array(arrays[array], part), number)})

    return SourceRecording(path, "MATLAB", (RecordedStream("", tuple(fields)),), read)


def _nothing() -> Any:
    import io

    return io.BytesIO()


def _variables(path: Path) -> tuple[dict[str, np.ndarray], list[RecordedField]]:
    import warnings

    from scipy.io import loadmat

    with warnings.catch_warnings():  # of duplicate names and odd classes
        warnings.simplefilter("ignore")
        content = loadmat(path, simplify_cells=True)
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


# -- sizes, before anything is unpacked or made ----------------------------------------------------


def _require_size(path: Path, data: bytes, *, max_bytes: int) -> None:
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:  # version 4: nothing is packed, and scipy holds sizes against the file
        return
    total = 0
    for size in _element_sizes(data, order, max_bytes):
        total += size
        if total > max_bytes:
            raise too_large(path, total, max_bytes=max_bytes)


def _element_sizes(data: bytes, order: str, max_bytes: int) -> Iterator[int]:
    """What every element declares to be [B], packed ones unpacked no further than allowed."""
    at = _HEAD
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        body = data[at + 8 : at + 8 + size]
        if kind == _COMPRESSED:
            packer = zlib.decompressobj()
            body = packer.decompress(body, max_bytes + 1)
            yield len(body)
            if len(body) >= 8 and struct.unpack_from(f"{order}I", body)[0] == _MATRIX:
                yield from _matrix_sizes(body[8:], order, 0)
        elif kind == _MATRIX:
            yield size
            yield from _matrix_sizes(body, order, 0)
        at += 8 + size


def _matrix_sizes(body: bytes, order: str, depth: int) -> Iterator[int]:
    """What arrays of arrays declare to hold, in one another."""
    if depth > _DEEPEST:
        raise ValueError("arrays in arrays without end")
    parts = _elements(body, order)
    flags, dims = next(parts, (0, b"")), next(parts, (0, b""))
    next(parts, None)  # the name
    if len(flags[1]) < 4 or len(dims[1]) % 4:
        return
    kind = struct.unpack_from(f"{order}I", flags[1])[0] & 0xFF
    shape = struct.unpack(f"{order}{len(dims[1]) // 4}i", dims[1])
    if any(n < 0 for n in shape):
        raise ValueError(f"an array of shape {shape}")
    yield prod(shape) * _POINTER
    if kind in (_CELL, _STRUCT, _OBJECT):
        for inner, content in parts:
            if inner == _MATRIX and content:
                yield from _matrix_sizes(content, order, depth + 1)


def _elements(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The elements that follow one another, each with what it is; small ones share their tag."""
    at = 0
    while at + 8 <= len(body):
        kind, size = struct.unpack_from(f"{order}II", body, at)
        if kind >> 16:
            yield kind & 0xFFFF, body[at + 4 : at + 4 + (kind >> 16)]
            at += 8
        else:
            yield kind, body[at + 8 : at + 8 + size]
            at += 8 + size + (-size % 8)


SOURCE = SourceFormat("MATLAB", (".mat",), open_recording, begins=(b"MATLAB",))
