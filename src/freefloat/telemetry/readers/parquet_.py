"""Parquet: one float64 column per channel, unit and noise in the metadata of its field.

A null means that the channel has no sample at that time, NaN that the sample is invalid. Tables
from elsewhere are read too: integer and single-precision columns, and labels such as `name [unit]`
where the field has no unit.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from freefloat.errors import Fault, FreefloatError, TelemetryError, shorten
from freefloat.telemetry.channel import LATEST, TIME_EXPECTED, is_noise
from freefloat.telemetry.names import metadata_fault
from freefloat.telemetry.readers.tables import (
    LAYOUT,
    TIME_REMEDY,
    Column,
    Content,
    Faults,
    FileContent,
    TelemetryFormat,
    columns_of,
    content_of,
    require_file,
    split_label,
    telemetry_from,
    to_si,
    too_large,
    unreadable,
    wide,
)
from freefloat.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet

_MEGABYTE = 2**20  # format: [B]
_REMEDY = "fetch the file again; if it was changed on purpose, remove the metadata 'freefloat'"


def read(path: Path, *, max_bytes: int) -> FileContent:
    """Return the telemetry in a Parquet file, and the tag of the truth saved with it, if any."""
    require_file(path, max_bytes=max_bytes)
    faults = Faults(path)
    notes: list[str] = []
    with _border(path), path.open("rb") as opened:
        file = open_parquet(opened)
        schema, n_rows = file.schema_arrow, _require_size(path, file, max_bytes=max_bytes)
        metadata, truth = _about(schema, _what_is_written(file, opened), faults)
        time_at, columns = columns_of(_labels(schema), faults, notes=notes)
        fields = list(zip(columns, schema, strict=True))
        columns = [_with_noise(column, field, faults) for column, field in fields]
        # by the schema, before anything is unpacked: text may be a thousand times its size on disk
        is_number = all([_check_type(column, field, faults) for column, field in fields])
        cells = [_content(file, n, n_rows) for n in range(len(columns))] if is_number else []
        if time_at >= 0 and not faults.count:
            _check_time(cells[time_at], columns[time_at], faults, n_rows=n_rows)
    faults.raise_if_any()
    channels = [n for n in range(len(columns)) if n != time_at]
    telemetry = telemetry_from(
        to_si(cells[time_at].values, columns[time_at].factor),
        [columns[n] for n in channels],
        [cells[n] for n in channels],
        metadata=metadata,
        notes=notes,
    )
    return FileContent(telemetry, truth)


def write(telemetry: Telemetry, path: Path, *, truth_tag: str) -> None:
    """Write the telemetry, without its truth, as Parquet with a checksum on every page."""
    import pyarrow as pa
    import pyarrow.parquet

    time, columns = wide(telemetry)
    fields = [pa.field("time", pa.float64(), nullable=False, metadata={"unit": "s"})]
    arrays = [pa.array(time, from_pandas=False)]
    for channel, column in zip(telemetry.channels.values(), columns, strict=True):
        about = {"unit": channel.unit}
        if channel.noise is not None:
            about["noise"] = repr(channel.noise)
        fields.append(pa.field(channel.name, pa.float64(), metadata=about))
        mask = None if column.present is None else ~column.present
        arrays.append(pa.array(column.values, mask=mask, from_pandas=False))
    about = {
        "format": LAYOUT,
        "truth": truth_tag,
        "metadata": dict(telemetry.metadata),
        "columns": {field.name: _description(field) for field in fields},
    }
    about["check"] = _check_sum(about)
    schema = pa.schema(fields, metadata={"freefloat": json.dumps(about)})
    pyarrow.parquet.write_table(
        pa.table(arrays, schema=schema),
        path,
        compression="zstd",
        use_dictionary=False,  # measured numbers hardly ever repeat
        use_byte_stream_split=True,
        write_statistics=False,
        write_page_checksum=True,
    )


@contextmanager
def _border(path: Path) -> Iterator[None]:
    """Let no exception of pyarrow through: on a damaged file it raises a dozen different kinds."""
    try:
        yield
    except FreefloatError:
        raise
    except Exception as error:
        reason = shorten(str(error), 200) or type(error).__name__
        fault = Fault(
            place=str(path),
            value="a damaged file, or none in the Parquet format",
            expected="an undamaged Parquet table",
            remedy="fetch or export the file again",
            code="file.damaged",
        )
        raise TelemetryError(f"{path}: cannot be read as Parquet: {reason}", [fault]) from error


def open_parquet(opened: BinaryIO) -> pyarrow.parquet.ParquetFile:
    """A table that is not read yet; its checksums are looked at, and its head is bounded."""
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(
        opened,
        page_checksum_verification=True,
        thrift_string_size_limit=16 * _MEGABYTE,
        thrift_container_size_limit=_MEGABYTE,
    )


def _require_size(path: Path, file: pyarrow.parquet.ParquetFile, *, max_bytes: int) -> int:
    """The number of rows of a table that is not too large by what it declares."""
    about = file.metadata
    # Packed tables may be tiny on disk: what counts is what they unpack to.
    size = 8 * about.num_rows * about.num_columns
    unpacked = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
    if max(size, unpacked) > max_bytes:
        raise too_large(path, max(size, unpacked), max_bytes=max_bytes)
    if about.num_rows <= 0:
        expected = "at least one row"
        remedy = "record or export it again"
        raise unreadable(path, "a table without rows", expected, remedy, code="table.empty")
    return about.num_rows


def _what_is_written(file: pyarrow.parquet.ParquetFile, opened: BinaryIO) -> bytes | None:
    """What freefloat wrote about the table, None where freefloat did not write it."""
    # It is in the file twice; damage to one leaves the other.
    entries = (file.metadata.metadata or {}) | (file.schema_arrow.metadata or {})
    text = entries.get(b"freefloat")
    opened.seek(max(0, opened.seek(0, os.SEEK_END) - _MEGABYTE))
    is_ours = LAYOUT.encode() in opened.read()
    return b"" if text is None and is_ours else text


def _about(
    schema: pa.Schema, text: bytes | None, faults: Faults
) -> tuple[dict[str, str], str | None]:
    """The metadata of the recording, and the tag of its truth; what freefloat wrote is checked."""
    if text is None:
        return {}, None
    try:
        about = json.loads(text)
        is_whole = about.pop("check") == _check_sum(about)
        form, truth, metadata = about["format"], about["truth"], about["metadata"]
        columns = about["columns"] if is_whole else {}
        is_whole &= not any(metadata_fault(*entry) for entry in metadata.items())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        form, truth, metadata, columns, is_whole = "", "", {}, {}, False
    if not is_whole:
        shown = text[:60].decode("utf-8", errors="replace")
        expected = "the JSON freefloat wrote"
        faults.add("file.damaged", "metadata 'freefloat'", shown, expected=expected, remedy=_REMEDY)
    elif form != LAYOUT:
        place = "metadata 'freefloat', format"
        faults.add(
            "file.version", place, repr(form), expected=repr(LAYOUT), remedy="use a newer freefloat"
        )
    else:
        _check_columns(schema, columns, faults)
    return metadata, truth


def _check_columns(schema: pa.Schema, columns: dict[str, list[str]], faults: Faults) -> None:
    """Columns may be dropped, but those there must be as written: names carry no checksum."""
    for field in schema:
        if columns.get(field.name) != _description(field):
            place, value = f"column {field.name!r}", "a name, unit or noise not as written"
            expected = "one of " + ", ".join(columns)
            faults.add(
                "column.changed", place, value, expected=shorten(expected, 200), remedy=_REMEDY
            )


def _description(field: pa.Field) -> list[str]:
    """Unit and noise of a column, as written."""
    about = field.metadata or {}
    return [about.get(key, b"").decode("utf-8", errors="replace") for key in (b"unit", b"noise")]


def _check_sum(about: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode("utf-8")).hexdigest()[:16]


def _labels(schema: pa.Schema) -> list[tuple[str, str | None]]:
    labels = []
    for field in schema:
        name, unit = split_label(field.name)
        written = (field.metadata or {}).get(b"unit")
        labels.append((name, written.decode("utf-8", errors="replace") if written else unit))
    return labels


def _with_noise(column: Column, field: pa.Field, faults: Faults) -> Column:
    text = (field.metadata or {}).get(b"noise")
    if text is None:
        return column
    try:
        noise = float(text)
    except ValueError:
        noise = math.nan
    if not is_noise(noise * column.factor):
        place = f"column {column.label!r}, noise"
        shown = text.decode("utf-8", errors="replace")
        expected = "a standard deviation >= 0"
        faults.add(
            "channel.noise", place, shown, expected=expected, remedy="correct or remove the entry"
        )
        return column
    return replace(column, noise=noise)


def _check_type(column: Column, field: pa.Field, faults: Faults) -> bool:
    """Whether the cells of a column are numbers; a fault is noted where they are not."""
    import pyarrow as pa

    kind = field.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return True
    if pa.types.is_timestamp(kind):
        remedy = "write the time as seconds from the start, in float64"
    else:
        remedy = "convert the column to float64 or remove it"
    place = f"column {column.label!r}"
    faults.add("column.type", place, f"cells of type {kind}", expected="numbers", remedy=remedy)
    return False


def _content(file: pyarrow.parquet.ParquetFile, number: int, n_rows: int) -> Content:
    """One column; read for itself, so that memory has the table once."""
    import pyarrow as pa

    cells = file.reader.read_column(number)
    cells.validate(full=True)
    if len(cells) != n_rows:
        raise ValueError(f"column {number + 1} has {len(cells)} of {n_rows} rows")
    return content_of(cells.cast(pa.float64(), safe=False).combine_chunks())


def _check_time(time: Content, column: Column, faults: Faults, *, n_rows: int) -> None:
    present = np.ones(n_rows, dtype=bool) if time.present is None else time.present
    whole = np.full(n_rows, np.nan)
    whole[present] = time.values
    for row in np.flatnonzero(~(np.abs(whole) * column.factor <= LATEST)):
        shown = f"{whole[row]}" if present[row] else "null"
        place = f"row {row + 1}, column {column.label!r}"
        faults.add("time.invalid", place, shown, expected=TIME_EXPECTED, remedy=TIME_REMEDY)
        if faults.is_full:
            break


FORMAT = TelemetryFormat("Parquet", (".parquet", ".pq"), read, write, begins=(b"PAR1",))
