"""A recording of anybody's: streams of fields, listed first and read in pieces afterwards.

A new format is one file in this folder that ends with, for example,

    SOURCE = SourceFormat("NPZ", (".npz",), open_recording, begins=(b"PK",))

where `open_recording(path, options)` returns a `SourceRecording`. Nothing else has to know of it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple

import numpy as np

from freefloat.errors import Fault, FreefloatError, TelemetryError, shorten
from freefloat.notes import Note
from freefloat.records.bounded_read import DEFAULT_MAX_BYTES
from freefloat.telemetry.readers.tables import too_large

RECEIVED = "@receive"  # format: the field of a stream with the time a message was written down
PUBLISHED = "@publish"  # format: ... with the time it was sent, where the file keeps that
STAMP = "header.stamp"  # format: where ROS messages keep the time of the measurement
MOST_ELEMENTS = 64  # format: of an array in a message; a larger one is a picture or a map
PIECE = 65_536  # format: samples a piece; large enough for numpy, small enough for any memory

# theory: a NaN with a payload of its own: there is no sample, where any other NaN is a sample that
# cannot be used
_MISSING_BITS = 0x7FF8_0000_0000_0F0F
MISSING = float(np.array([_MISSING_BITS], dtype=np.uint64).view(np.float64)[0])

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class RecordedField:
    """A field: its name in its stream, how many samples, its unit where the file states it.

    `what` says why it cannot be mapped, such as "text"; "" where it is numbers.
    """

    name: str
    n_samples: int
    unit: str | None = None
    what: str = ""
    example: float | None = None


@dataclass(frozen=True)
class RecordedStream:
    """A stream: a topic of a bag, or "" for a table; `kind` is the type of its messages."""

    name: str
    fields: tuple[RecordedField, ...]
    kind: str = ""

    def reference(self, name: str) -> str:
        """How a map calls a field.

        >>> RecordedStream("/imu", ()).reference("header.stamp")
        '/imu.header.stamp'
        """
        return f"{self.name}.{name}" if self.name else name


class Piece(NamedTuple):
    """Some samples of a stream: columns by field, each complete or empty."""

    stream: str
    columns: Columns


@dataclass(frozen=True)
class SourceOptions:
    """How to read a file, where it does not say so itself: `[source]` of a map."""

    max_bytes: int = DEFAULT_MAX_BYTES
    delimiter: str | None = None
    decimal: str = "."
    header: bool | None = None
    skip: int = 0


@dataclass
class SourceRecording:
    """An open recording: what is in it, and a way to read some of it.

    `read` gets names of fields by stream and gives pieces in the order of the file, `MISSING` where
    a message or a row lacks a field.
    """

    path: Path
    format: str
    streams: tuple[RecordedStream, ...]
    read: Callable[[Mapping[str, Sequence[str]]], Iterator[Piece]]
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True)
class SourceFormat:
    """A format of recordings: its name, suffixes, how files begin, and how to open one."""

    name: str
    suffixes: tuple[str, ...]
    open: Callable[[Path, SourceOptions], SourceRecording]
    begins: tuple[bytes, ...] = ()


def collect(
    recording: SourceRecording, wanted: Mapping[str, Sequence[str]], *, max_bytes: int
) -> dict[str, Columns]:
    """The whole columns that were asked for, by stream; refused where they would be too large."""
    pieces: dict[str, dict[str, list[np.ndarray]]] = {
        stream: {name: [] for name in names} for stream, names in wanted.items()
    }
    size = 0
    with border(recording.path, recording.format):
        for stream, columns in recording.read(wanted):
            for name, values in columns.items():
                pieces[stream][name].append(values)
                size += values.nbytes
            if size > max_bytes:
                raise too_large(recording.path, size, max_bytes=max_bytes)
        return {
            stream: {name: _join(parts) for name, parts in columns.items()}
            for stream, columns in pieces.items()
        }


def is_missing(column: np.ndarray) -> np.ndarray:
    """Where there is no sample.

    >>> is_missing(np.array([1.0, np.nan, MISSING])).tolist()
    [False, False, True]
    """
    if column.dtype != np.float64:
        return np.zeros(len(column), dtype=bool)
    return np.ascontiguousarray(column).view(np.uint64) == _MISSING_BITS


def _join(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0)


@contextmanager
def border(path: Path, form: str) -> Iterator[None]:
    """Let no exception of another library through: damaged files make them raise any kind."""
    try:
        yield
    except FreefloatError:
        raise
    except MemoryError:  # also what a damaged size leads to, within what is allowed
        expected, remedy = "memory for what it declares", "free some, or lower --max-bytes"
        fault = Fault(str(path), "not enough memory", expected, remedy, "memory.short")
        raise TelemetryError(f"{path}: cannot be read as {form}", [fault]) from None
    except Exception as error:
        reason = shorten(f"{type(error).__name__}: {error}", 200)
        fault = Fault(
            str(path), f"content that its reader cannot follow ({reason})",
            f"an undamaged {form} file", "fetch or record the file again", "file.damaged",
        )  # fmt: skip
        raise TelemetryError(f"{path}: cannot be read as {form}", [fault]) from error


class WithinFile:
    """A file that is never asked for more than it holds: memory is taken before that shows.

    >>> import io
    >>> WithinFile(io.BytesIO(b"abc")).read(10**15)
    b'abc'
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        here = file.tell()
        self._size = file.seek(0, io.SEEK_END)
        file.seek(here)

    def read(self, size: int) -> bytes:
        """At most so many bytes."""
        return self._file.read(min(size, self._size - self._file.tell()))


def require_library(name: str, *, extra: str, path: Path) -> ModuleType:
    """A library that only some formats need, or the error that says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        remedy = f"pip install 'freefloat[{extra}]'"
        expected = f"{name}, to read it"
        fault = Fault(str(path), f"no package {name}", expected, remedy, "package.missing")
        raise TelemetryError(f"{path}: cannot be read without {name}", [fault]) from None


def numbers(values: Sequence[float | int | bool]) -> np.ndarray:
    """A column of what messages held: whole numbers as such, because stamps are long, or floats.

    >>> numbers([1, 2]).dtype.name, numbers([1, 2.5]).dtype.name, numbers([True]).dtype.name
    ('int64', 'float64', 'float64')
    """
    made = np.array(values) if values else np.zeros(0)
    return made if made.dtype == np.int64 else made.astype(np.float64)
