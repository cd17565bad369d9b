"""CSV: a header of `name [unit]` cells, one row per instant, metadata in leading `# key: value`.

An empty cell means that the channel has no sample at that time; `nan` or `inf` that the sample is
invalid. A line `# noise: base.rate.x 1e-5` gives the standard deviation of a channel's white noise
in the unit of its column. Commas, semicolons and tabs are told apart by the header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from freefloat.errors import shorten
from freefloat.telemetry.channel import LATEST, TIME_EXPECTED, read_only
from freefloat.telemetry.readers.csv_head import Head, cells_of, read_head
from freefloat.telemetry.readers.tables import (
    LAYOUT,
    TIME_REMEDY,
    Column,
    Content,
    Faults,
    FileContent,
    TelemetryFormat,
    check_is_text,
    columns_of,
    content_of,
    contents,
    telemetry_from,
    to_si,
    wide,
)
from freefloat.telemetry.telemetry import Telemetry

# format: [B]; one bad cell costs the careful reading of one piece, not of the file
_PIECE = 4 * 2**20
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_SHOWN = 30  # format: characters of a cell in a message
_USE_POINT = "write decimal points, 1.5 for 1,5"


def read(path: Path, *, max_bytes: int) -> FileContent:
    """Return the telemetry in a CSV file, and the tag of the truth saved with it, if any."""
    data = contents(path, max_bytes=max_bytes)
    check_is_text(path, data)
    faults = Faults(path)
    head = read_head(data, faults)
    notes: list[str] = []
    time_at, columns = columns_of(head.labels, faults, notes=notes)
    columns = _with_noise(columns, head, faults)
    table = _read_body(data, head, columns, time_at=time_at, faults=faults)
    faults.raise_if_any()
    time = to_si(table[time_at].values, columns[time_at].factor)
    channels = [n for n in range(len(columns)) if n != time_at]
    telemetry = telemetry_from(
        time,
        [columns[n] for n in channels],
        [table[n] for n in channels],
        metadata=head.metadata,
        notes=notes,
    )
    return FileContent(telemetry, head.truth)


def write(telemetry: Telemetry, path: Path, *, truth_tag: str) -> None:
    """Write the telemetry, without its truth, as CSV, or with tabs when the suffix is .tsv."""
    import pyarrow as pa
    import pyarrow.csv

    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    time, columns = wide(telemetry)
    arrays = [pa.array(time, from_pandas=False)]
    for column in columns:
        mask = None if column.present is None else ~column.present
        arrays.append(pa.array(column.values, mask=mask, from_pandas=False))
    table = pa.table(arrays, names=[str(n) for n in range(len(arrays))])
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter)
    with path.open("wb") as file:
        file.write(_head(telemetry, delimiter=delimiter, truth_tag=truth_tag).encode("utf-8"))
        pyarrow.csv.write_csv(table, file, options)


def _head(telemetry: Telemetry, *, delimiter: str, truth_tag: str) -> str:
    channels = telemetry.channels.values()
    lines = [f"# format: {LAYOUT}", f"# truth: {truth_tag}"]
    lines += [f"# {key}: {_quote(value)}" for key, value in telemetry.metadata.items()]
    lines += [f"# noise: {c.name} {c.noise!r}" for c in channels if c.noise is not None]
    lines += [delimiter.join(["time [s]", *(f"{c.name} [{c.unit}]" for c in channels)])]
    return "\n".join(lines) + "\n"


def _quote(value: str) -> str:
    """A metadata value as it is when it fits on its line, else as a JSON string."""
    is_plain = value.isprintable() and value == value.strip() and not value.startswith('"')
    return value if is_plain else json.dumps(value)


def _with_noise(columns: Sequence[Column], head: Head, faults: Faults) -> list[Column]:
    names = {column.name for column in columns} - {"time"}
    for name, (row, _) in head.noise.items():
        if name not in names:
            remedy = "correct the name or remove the line"
            place = f"row {row}, noise of {name!r}"
            faults.add(
                "channel.unknown",
                place,
                "no such column",
                expected="the name of a column",
                remedy=remedy,
                line=row,
            )
    noise = {name: value for name, (_, value) in head.noise.items()}
    return [replace(column, noise=noise.get(column.name)) for column in columns]


# -- the rows: quickly where all is well, row by row where something is not ------------------


def _read_body(
    data: bytes, head: Head, columns: Sequence[Column], *, time_at: int, faults: Faults
) -> list[Content]:
    """Return the columns below the head; note every fault with its row in the file.

    When there are faults, in the head or here, what is returned is of no use.
    """
    latest = LATEST / columns[time_at].factor
    whole = None
    if not faults.count:
        whole = _quickly(data, head, time_at=time_at, latest=latest, start=head.size)
    if whole is not None:
        return whole
    pieces = []
    row = head.row + 1
    for piece in _pieces(data, start=head.size):
        read = _quickly(piece, head, time_at=time_at, latest=latest)
        if read is None:
            read = _read_rows(piece, head, columns, time_at=time_at, first_row=row, faults=faults)
        if faults.is_full:
            break
        row += len(piece.splitlines())
        pieces.append(read)
    n_rows = sum(_n_rows(piece[time_at]) for piece in pieces if piece)
    if not n_rows and not faults.count:
        remedy = "record or export it again"
        faults.add(
            "table.empty",
            "rows",
            "a header without samples",
            expected="at least one row",
            remedy=remedy,
        )
    if faults.count:
        return []
    return [_join(parts) for parts in zip(*filter(None, pieces), strict=True)]


def _quickly(
    data: bytes, head: Head, *, time_at: int, latest: float, start: int = 0
) -> list[Content] | None:
    """The columns, or None when a row is not as it should be: then there is something to report."""
    import pyarrow as pa
    import pyarrow.csv

    names = [str(n) for n in range(len(head.labels))]
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.float64()), null_values=[""], check_utf8=False
    )
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            read_options=pyarrow.csv.ReadOptions(column_names=names),
            parse_options=pyarrow.csv.ParseOptions(delimiter=head.delimiter),
            convert_options=convert,
        )
    except Exception:  # whatever stopped it, the careful reader finds out where and says so
        return None
    time = table.column(time_at)
    if not table.num_rows or time.null_count or not (np.abs(time.to_numpy()) <= latest).all():
        return None
    pieces = table.columns[::-1]
    del table, time  # each column's pieces go as soon as it is one: memory has it once
    return [content_of(pieces.pop().combine_chunks()) for _ in names]


def _pieces(data: bytes, *, start: int) -> Iterator[bytes]:
    while start < len(data):
        end = data.find(b"\n", min(start + _PIECE, len(data)))
        end = len(data) if end < 0 else end + 1
        yield data[start:end]
        start = end


def _n_rows(content: Content) -> int:
    return content.values.size if content.present is None else content.present.size


def _join(parts: Sequence[Content]) -> Content:
    present = [
        np.ones(part.values.size, dtype=bool) if part.present is None else part.present
        for part in parts
    ]
    values = np.concatenate([part.values for part in parts])
    return Content(read_only(values), np.concatenate(present))


def _read_rows(
    data: bytes,
    head: Head,
    columns: Sequence[Column],
    *,
    time_at: int,
    first_row: int,
    faults: Faults,
) -> list[Content]:
    """Return the columns of some rows, the first of them row `first_row` of the file.

    Every fault is noted. Once there is one, the rows are only checked and nothing is returned.
    """
    rows: list[list[float | None]] = []
    for row, line in enumerate(data.splitlines(), start=first_row):
        text = line.decode("utf-8", errors="replace")
        if not text.strip():
            continue
        cells = cells_of(text, head.delimiter)
        if len(cells) != len(columns):
            _note_ragged(row, cells, head=head, n_columns=len(columns), faults=faults)
        else:
            rows.append(_values(row, cells, columns, time_at=time_at, faults=faults))
        if faults.is_full:
            break
    return [] if faults.count else [_content(column) for column in zip(*rows, strict=True)]


def _values(
    row: int, cells: Sequence[str], columns: Sequence[Column], *, time_at: int, faults: Faults
) -> list[float | None]:
    """The numbers in the cells of one row, None where a cell is empty; faults are noted."""
    values: list[float | None] = []
    for n, cell in enumerate(cells):
        try:
            values.append(_value(cell))
        except ValueError:
            values.append(None)
            _note_cell(row, cell, column=columns[n], faults=faults)
            continue
        value = values[-1]
        if n == time_at and (value is None or not abs(value) * columns[n].factor <= LATEST):
            place = f"row {row}, column {columns[n].label!r}"
            shown = shorten(cell.strip()) or "an empty cell"
            faults.add(
                "time.invalid", place, shown, expected=TIME_EXPECTED, remedy=TIME_REMEDY, line=row
            )
    return values


def _value(cell: str) -> float | None:
    """The number in a cell, None when it is empty; raise ValueError when it is anything else."""
    text = cell.strip()
    if not text:
        return None
    # float() also takes 1_000 and digits of other scripts, which no telemetry means.
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _note_cell(row: int, cell: str, *, column: Column, faults: Faults) -> None:
    place = f"row {row}, column {column.label!r}"
    if _DECIMAL_COMMA.fullmatch(cell.strip()):
        value = f"{shorten(cell, _SHOWN)!r} with a decimal comma"
        faults.add(
            "cell.decimal_comma", place, value, expected="a number", remedy=_USE_POINT, line=row
        )
        return
    value = f"{shorten(cell, _SHOWN)!r}, which is not a number"
    expected = "a number, 'nan' for an invalid sample or an empty cell for none"
    faults.add(
        "cell.number", place, value, expected=expected, remedy="correct or empty the cell", line=row
    )


def _content(column: Sequence[float | None]) -> Content:
    present = np.array([value is not None for value in column])
    values = np.array([value for value in column if value is not None], dtype=np.float64)
    return Content(values, present)


def _note_ragged(
    row: int, cells: Sequence[str], *, head: Head, n_columns: int, faults: Faults
) -> None:
    if head.delimiter == "," and len(cells) > n_columns:
        remedy = f"if these are decimal commas, {_USE_POINT}; else remove the extra cells"
    else:
        remedy = "complete or remove the row; leave a cell empty where there is no sample"
    expected = f"{n_columns} cells, as in the header in row {head.row}"
    faults.add(
        "row.length",
        f"row {row}",
        f"{len(cells)} cells",
        expected=expected,
        remedy=remedy,
        line=row,
    )


FORMAT = TelemetryFormat("CSV", (".csv", ".tsv"), read, write)
