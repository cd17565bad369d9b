"""What all table formats share: the bytes of a file, its faults, labels to channels and back.

A new format is one file in this folder that ends with, for example,

    FORMAT = TelemetryFormat("MAT", (".mat",), read=read)

where `read(path, max_bytes=...)` returns a `FileContent`. Nothing else has to know of it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from freefloat.errors import SHOWN_FAULTS, Fault, TelemetryError, require_type, shorten
from freefloat.telemetry.channel import Array, Channel, Mask, read_only
from freefloat.telemetry.names import name_fault, resolved_unit, unit_of
from freefloat.telemetry.sample_rows import rows_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.units import accepted_units, si_unit
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    import pyarrow as pa

LAYOUT = "freefloat telemetry 1"  # format: what our own files say they are
MAX_COLUMNS = 10_000  # format: a file with more was not meant as a table of channels
# format: beyond, the file is not what it claims to be, and reading on helps nobody
_MOST_COUNTED = 1000

TIME_REMEDY = "restore the time, correct its unit in the header, or remove the row"

# How files that are often mistaken for others begin.
_SIGNATURES = (
    (b"PAR1", "a Parquet file", "give it the suffix .parquet"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "unpack it first"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "unpack it, or export it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", "export it as CSV"),
    (b"\x89HDF", "an HDF5 or MAT file", "export it as Parquet or CSV"),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
)


class FileContent(NamedTuple):
    """What a reader found: the telemetry, and the tag of the truth saved with it, if any."""

    telemetry: Telemetry
    truth_tag: str | None = None


class Read(Protocol):
    """Read a file no larger than `max_bytes` [B]; TelemetryError with every fault found."""

    def __call__(self, path: Path, *, max_bytes: int) -> FileContent: ...  # noqa: D102


class Write(Protocol):
    """Write the telemetry, without its truth, and the tag of the truth beside it."""

    def __call__(self, telemetry: Telemetry, path: Path, *, truth_tag: str) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class TelemetryFormat:
    """A telemetry format: its name, the suffixes of its files, and how to read and write one.

    `write` is None for a format that is only read. `begins` are the first bytes by which a file of
    this format is known where its suffix is not. Modules that start slowly (pyarrow, h5py) are
    imported inside `read` and `write`: looking for the format of a file imports all readers.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Read
    write: Write | None = None
    begins: tuple[bytes, ...] = ()


class Faults:
    """A list of faults in one file that keeps the first ones and counts the rest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._kept: list[Fault] = []

    def add(
        self,
        code: str,
        place: str,
        value: str,
        *,
        expected: str,
        remedy: str,
        line: int | None = None,
    ) -> None:
        """Note one fault; `line` is the row of a text file."""
        self.count += 1
        if len(self._kept) < SHOWN_FAULTS:
            self._kept.append(Fault(place, value, expected, remedy, code, line))

    def add_fault(self, fault: Fault, *, place: str) -> None:
        """Note a fault found elsewhere, at its place in the file."""
        self.add(fault.code, place, fault.value, expected=fault.expected, remedy=fault.remedy)

    def extend(self, others: Faults) -> None:
        """Note the faults of another list."""
        self.count += others.count
        self._kept += others._kept[: SHOWN_FAULTS - len(self._kept)]

    @property
    def is_full(self) -> bool:
        """Whether there is no point in looking for more."""
        return self.count >= _MOST_COUNTED

    def raise_if_any(self) -> None:
        """Raise one TelemetryError with all that was noted."""
        if self.count:
            raise self.error()

    def error(self) -> TelemetryError:
        """Return the TelemetryError with all that was noted."""
        shown = len(self._kept)
        rest = f", the first {shown} of them" if self.count > shown else ""
        number = count_noun(self.count, "fault")
        number = f"at least {number}" if self.is_full else number
        return TelemetryError(f"{self.path}: {number}{rest}:", self._kept)


def require_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file; TelemetryError for what is none."""
    require_type(path, (str, os.PathLike), "path", error=TelemetryError)
    return Path(path)


def contents(path: Path, *, max_bytes: int) -> bytes:
    """Return the bytes of a regular file no larger than `max_bytes` [B]."""
    require_file(path, max_bytes=max_bytes)
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise unreadable(path, reason, "a file that can be read", "check permissions") from error


def require_file(path: Path, *, max_bytes: int) -> None:
    """Raise TelemetryError unless this is a regular file of 1 to `max_bytes` [B]."""
    try:
        if not path.exists():
            raise unreadable(
                path, "no such file", "a telemetry file", "check the path", code="file.missing"
            )
        if not path.is_file():  # a folder, or a pipe or device that might never end
            raise unreadable(path, "not a regular file", "a telemetry file", "name a file")
        size = path.stat().st_size
        if size > max_bytes:
            raise too_large(path, size, max_bytes=max_bytes)
        if not size:
            remedy = "record or export it again"
            raise unreadable(
                path, "an empty file", "a header and samples", remedy, code="table.empty"
            )
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise unreadable(path, reason, "a file that can be read", "check permissions") from error


def check_is_text(path: Path, data: bytes) -> None:
    """Raise TelemetryError, saying what the file seems to be, unless it begins like text."""
    for signature, what, remedy in _SIGNATURES:
        if data.startswith(signature):
            raise unreadable(path, what, "text in UTF-8", remedy, code="file.format")
    if b"\0" in data[:4096]:
        raise unreadable(
            path, "binary data", "text in UTF-8", "export it as CSV", code="file.format"
        )


def too_large(path: Path, size: int, *, max_bytes: int) -> TelemetryError:
    """Return the error for a file of `size` bytes, on disk or unpacked, where that is too much."""
    remedy = "cut the file, or allow more by max_bytes= (--max-bytes)"
    return unreadable(path, f"{size} bytes", f"at most {max_bytes} bytes", remedy, code="file.size")


def unreadable(
    path: Path, value: str, expected: str, remedy: str, *, code: str = "file.unreadable"
) -> TelemetryError:
    """Return the error for a file that cannot be read at all."""
    fault = Fault(str(path), value, expected, remedy, code)
    return TelemetryError(f"{path}: cannot be read as telemetry", [fault])


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its label as written, its channel name, SI unit and factor to SI."""

    label: str
    name: str
    unit: str
    factor: float
    noise: float | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """The samples of one column: a value for every row where `present`, all rows when None."""

    values: Array
    present: Mask | None = None


def content_of(column: pa.Array) -> Content:
    """Return the samples of a float64 column, nulls apart."""
    if not column.null_count:
        return Content(read_only(column.to_numpy(zero_copy_only=False)))
    present = column.is_valid().to_numpy(zero_copy_only=False)
    return Content(read_only(column.drop_null().to_numpy(zero_copy_only=False)), present)


def split_label(label: str) -> tuple[str, str | None]:
    """Return name and unit of a label; the unit is None when the label has none.

    >>> split_label("base.rate.x [deg/s]"), split_label("elbow.torque")
    (('base.rate.x', 'deg/s'), ('elbow.torque', None))
    """
    text = label.strip()
    name, bracket, unit = text.partition("[")
    if not bracket or not unit.endswith("]") or set("[]") & set(unit[:-1]):
        return text, None
    return name.strip(), unit[:-1].strip() or None


def columns_of(
    labels: Sequence[tuple[str, str | None]], faults: Faults, *, notes: list[str]
) -> tuple[int, list[Column]]:
    """Return which column is the time, and all columns, from their names and units.

    Every fault is noted, and the column kept, so that its cells can be checked too.
    """
    if too_wide := width_fault(len(labels), "header", remedy="split the file"):
        faults.add_fault(too_wide, place="header")
        raise faults.error()
    found = Faults(faults.path)
    columns = [_column(n, label, found, notes) for n, label in enumerate(labels)]
    # a single fault is short enough, and says more
    if found.count > 1 and not any(unit_of(column.name) for column in columns):
        raise _foreign(columns, faults)
    faults.extend(found)
    names = [column.name for column in columns]
    first: dict[str, int] = {}
    for n, name in enumerate(names):
        if name in first:
            where = f"columns {first[name] + 1} and {n + 1}"
            remedy = "rename or remove one of them"
            faults.add(
                "channel.duplicate",
                where,
                f"{name!r} twice",
                expected="different names",
                remedy=remedy,
            )
        first.setdefault(name, n)
    if "time" not in first:
        found = listing(map(repr, names), most=4)
        remedy = "name the column with the time 'time [s]'"
        faults.add(
            "time.missing", "header", f"columns {found}", expected="a time column", remedy=remedy
        )
    elif len(columns) == 1:
        expected = "at least one channel beside the time"
        faults.add(
            "channel.none", "header", "only a time column", expected=expected, remedy="add columns"
        )
    return first.get("time", -1), columns


def _foreign(columns: Sequence[Column], faults: Faults) -> TelemetryError:
    """One fault for a table of somebody else's: none of its columns is a channel by its name."""
    faults.add(
        "channel.none",
        "header",
        f"columns {listing((repr(shorten(column.name)) for column in columns), most=4)}",
        expected="channels such as 'base.rate.x [rad/s]'",
        remedy=f"draft a map with `freefloat import {shlex.quote(str(faults.path))} --suggest"
        " --out map.toml`, correct it, and give it as --map map.toml",
    )
    return faults.error()


def width_fault(n_columns: int, place: str, *, remedy: str) -> Fault | None:
    """Return the fault of a table with more columns than is read, hence than is written."""
    if n_columns <= MAX_COLUMNS:
        return None
    expected = f"at most {MAX_COLUMNS} columns"
    return Fault(place, f"{n_columns} columns", expected, remedy, "table.columns")


def _column(n: int, label: tuple[str, str | None], faults: Faults, notes: list[str]) -> Column:
    name, unit = label
    shown = name if unit is None else f"{name} [{unit}]"
    place = f"header, column {n + 1} {shown!r}"
    if name.lower() == "time":
        return _time_column(shown, unit, faults=faults, place=place, notes=notes)
    forbidden = name_fault(name)
    if forbidden:
        expected = "a name such as 'base.rate.x'"
        faults.add("channel.name", place, forbidden, expected=expected, remedy="rename the column")
        return Column(shown, name, "1", 1.0)
    resolved = resolved_unit(name, unit)
    if isinstance(resolved, Fault):
        faults.add_fault(resolved, place=place)
        return Column(shown, name, "1", 1.0)
    if unit is None:
        notes.append(f"column {name!r} had no unit, assumed {resolved[0]}")
    return Column(shown, name, *resolved)


def _time_column(
    shown: str, unit: str | None, *, faults: Faults, place: str, notes: list[str]
) -> Column:
    known = si_unit(unit or "s")
    if known is None or known[0] != "s":
        remedy = "use one of: " + ", ".join(accepted_units("s"))
        faults.add(
            "channel.unit", place, f"unit {unit!r}", expected="a unit of time", remedy=remedy
        )
        known = "s", 1.0
    if unit is None:
        notes.append("column 'time' had no unit, assumed s")
    return Column(shown, "time", *known)


def telemetry_from(
    time: Array,
    columns: Sequence[Column],
    contents: Sequence[Content],
    *,
    metadata: Mapping[str, str],
    notes: Sequence[str],
) -> Telemetry:
    """Return the telemetry of channel columns whose rows are at `time` [s]."""
    bases: dict[bytes, Array] = {}  # channels with samples on the same rows share a time base
    channels = []
    for column, content in zip(columns, contents, strict=True):
        base = time
        if content.present is not None and not content.present.all():
            key = np.packbits(content.present).tobytes()
            base = bases.setdefault(key, read_only(time[content.present]))
        values = to_si(content.values, column.factor)
        noise = None if column.noise is None else column.noise * column.factor
        channels.append(Channel(column.name, column.unit, base, values, noise=noise))
    entries = dict(metadata)
    if notes:
        entries["notes"] = "; ".join([*filter(None, [entries.get("notes")]), *notes])
    return Telemetry.of(channels, entries)


def to_si(values: Array, factor: float) -> Array:
    """Return the values in SI; one that overflows becomes infinite, hence invalid."""
    if factor == 1.0:
        return read_only(values)
    with np.errstate(over="ignore"):
        return read_only(values * factor)


def wide(telemetry: Telemetry) -> tuple[Array, list[Content]]:
    """Return the instants [s] of the common rows, and one full column per channel.

    Where a channel has no sample, `present` is False and the value means nothing. TelemetryError
    where there are more columns than a reader would take back.
    """
    channels = tuple(telemetry.channels.values())
    remedy = "save it as .mcap or .mat, or a part of its channels"
    if too_wide := width_fault(1 + len(channels), "telemetry", remedy=remedy):
        raise TelemetryError("telemetry: too wide for a table", [too_wide])
    time, rows = rows_of(channels)
    contents = []
    for channel, own in zip(channels, rows, strict=True):
        if own.size == time.size:
            contents.append(Content(channel.values))
            continue
        values, present = np.zeros(time.size), np.zeros(time.size, dtype=bool)
        values[own], present[own] = channel.values, True
        contents.append(Content(values, present))
    return time, contents
