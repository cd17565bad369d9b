"""What a MATLAB file of version 5 declares to be, before anything is unpacked or made.

scipy believes what a file declares. Therefore its elements are walked through first: what a packed
one unpacks to, and what every array says of its size, are added up.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from freefloat.telemetry.readers.tables import too_large

HEAD = 128  # format: [B] of text and version at the beginning
_MATRIX, _COMPRESSED = 14, 15  # format: what an element is
_CELL, _STRUCT, _OBJECT = 1, 2, 3  # format: classes of arrays that hold arrays
_POINTER = 8  # format: [B] that an array of arrays takes for each
_DEEPEST = 32  # format: structs in structs
# format: of elements, whole and real numbers, arrays and text; scipy takes any other on trust, too
_KINDS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, _MATRIX, 16, 17, 18}
_CLASSES = range(1, 18)  # format: of arrays, from cells to what only MATLAB can read


def require_mat_size(path: Path, data: bytes, *, max_bytes: int) -> None:
    """Raise TelemetryError where the content of a file would take more than `max_bytes` [B]."""
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:  # version 4: nothing is packed, and scipy holds sizes against the file
        return
    total = 0
    for size in _element_sizes(data, order, max_bytes):
        total += size
        if total > max_bytes:
            raise too_large(path, total, max_bytes=max_bytes)


def load_mat(path: Path) -> dict[str, Any]:
    """The variables of a file whose size is known to be bearable; structs are dictionaries."""
    from scipy.io import loadmat

    with warnings.catch_warnings():  # of duplicate names and odd classes
        warnings.simplefilter("ignore")
        return loadmat(path, simplify_cells=True)


def _element_sizes(data: bytes, order: str, max_bytes: int) -> Iterator[int]:
    """What every element declares to be [B], packed ones unpacked no further than allowed."""
    at = HEAD
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
        raise ValueError("arrays nested too deeply")
    parts = _elements(body, order)
    flags, dims = next(parts, (0, b"")), next(parts, (0, b""))
    next(parts, None)  # the name
    if len(flags[1]) < 4 or len(dims[1]) % 4:
        return
    kind = struct.unpack_from(f"{order}I", flags[1])[0] & 0xFF
    if kind not in _CLASSES:
        raise ValueError(f"an array of class {kind}, which is unknown")
    shape = struct.unpack(f"{order}{len(dims[1]) // 4}i", dims[1])
    if any(n < 0 for n in shape):
        raise ValueError(f"an array of shape {shape}")
    yield prod(shape) * _POINTER
    for inner, content in parts:
        if inner not in _KINDS:
            raise ValueError(f"an element of type {inner}, which is unknown")
        if kind in (_CELL, _STRUCT, _OBJECT) and inner == _MATRIX and content:
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
