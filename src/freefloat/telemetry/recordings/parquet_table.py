"""Parquet of others: columns of numbers, times, structs and short lists, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.telemetry.readers.parquet_ import open_parquet
from freefloat.telemetry.readers.tables import require_file, split_label, too_large
from freefloat.telemetry.recordings.array_columns import split_reference
from freefloat.telemetry.recordings.source_recording import (
    MISSING,
    MOST_ELEMENTS,
    PIECE,
    Piece,
    RecordedField,
    RecordedStream,
    SourceFormat,
    SourceOptions,
    SourceRecording,
    border,
)


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The columns of a table."""
    require_file(path, max_bytes=2**63)  # batch by batch, and only what is mapped
    with border(path, "Parquet"), path.open("rb") as opened:
        file = open_parquet(opened)
        _require_groups(path, file.metadata, options.max_bytes)
        n_rows = file.metadata.num_rows
        head = next(file.iter_batches(batch_size=1), None)
        fields = [
            field
            for n, one in enumerate(file.schema_arrow)
            for field in _fields(one, n_rows, None if head is None else head.column(n))
        ]

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        labels = {split_label(one.name)[0]: one.name for one in file.schema_arrow}
        chosen = dict.fromkeys(labels[_first(name, labels)] for name in wanted.get("", ()))
        with path.open("rb") as again:
            for batch in open_parquet(again).iter_batches(batch_size=PIECE, columns=[*chosen]):
                yield Piece("", {name: _column(batch, name, labels) for name in wanted[""]})

    return SourceRecording(path, "Parquet", (RecordedStream("", tuple(fields)),), read)


def _first(name: str, labels: Mapping[str, str]) -> str:
    """The column that a reference begins with: names of columns may have dots themselves."""
    stem = split_reference(name)[0]
    while stem not in labels and "." in stem:
        stem = stem.rpartition(".")[0]
    return stem


def _require_groups(path: Path, about: Any, max_bytes: int) -> None:
    """Refuse a table of which one piece alone would unpack to more than is allowed."""
    for n in range(about.num_row_groups):
        size = about.row_group(n).total_byte_size
        if size > max_bytes:
            raise too_large(path, size, max_bytes=max_bytes)


def _fields(one: Any, n_rows: int, first: Any) -> Iterator[RecordedField]:
    import pyarrow as pa

    name, unit = split_label(one.name)
    about = one.metadata or {}
    unit = about.get(b"unit", b"").decode("utf-8", errors="replace") or unit
    for path, kind, values in _parts(name, one.type, first):
        if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
            yield RecordedField(path, n_rows, "ns")
        elif pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            yield RecordedField(path, n_rows, unit, "", values)
        elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
            yield RecordedField(path, n_rows, unit, "lists that are long or not equally long")
        else:
            what = "text" if pa.types.is_string(kind) else f"cells of type {kind}"
            yield RecordedField(path, n_rows, unit, what)


def _parts(path: str, kind: Any, first: Any) -> Iterator[tuple[str, Any, float | None]]:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        for inner in kind:
            below = None if first is None else first.field(inner.name)
            yield from _parts(f"{path}.{inner.name}", inner.type, below)
        return
    width = 0
    if pa.types.is_fixed_size_list(kind):
        width = kind.list_size
    elif pa.types.is_list(kind) and first is not None and len(first) and first[0].is_valid:
        width = len(first[0])
    if 0 < width <= MOST_ELEMENTS:
        for n in range(width):
            yield f"{path}[{n}]", kind.value_type, None
    else:
        yield path, kind, None


def _column(batch: Any, name: str, labels: Mapping[str, str]) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute  # its functions are made when it is imported

    first = _first(name, labels)
    stem, number = split_reference(name)
    column = batch.column(labels[first])
    for step in filter(None, stem[len(first) + 1 :].split(".")):
        column = pc.struct_field(column, step)
    if number is not None:
        column = pc.list_element(column, number)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns")).cast(pa.int64())
    elif pa.types.is_duration(column.type):
        column = column.cast(pa.duration("ns")).cast(pa.int64())
    if column.type == pa.int64() and not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    column = column.cast(pa.float64(), safe=False)
    if column.null_count:
        column = column.fill_null(pa.scalar(MISSING))
    return column.to_numpy(zero_copy_only=False)


SOURCE = SourceFormat("Parquet", (".parquet", ".pq"), open_recording, begins=(b"PAR1",))
