"""The careful reader of CSV rows: slower, but it knows the row and column of every fault."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from freefloat.errors import shortened
from freefloat.telemetry.channel import LATEST, TIME_EXPECTED
from freefloat.telemetry.readers.columns import TIME_REMEDY, Column, Content
from freefloat.telemetry.readers.csv_head import Head, cells_of
from freefloat.telemetry.readers.source import Faults

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_SHOWN = 30  # characters of a cell in a message
_USE_POINT = "write decimal points, 1.5 for 1,5"


def read_rows(
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
            shown = shortened(cell.strip()) or "an empty cell"
            faults.add(place, shown, expected=TIME_EXPECTED, remedy=TIME_REMEDY)
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
        value = f"{shortened(cell, _SHOWN)!r} with a decimal comma"
        faults.add(place, value, expected="a number", remedy=_USE_POINT)
        return
    value = f"{shortened(cell, _SHOWN)!r}, which is not a number"
    expected = "a number, 'nan' for an invalid sample or an empty cell for none"
    faults.add(place, value, expected=expected, remedy="correct or empty the cell")


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
    faults.add(f"row {row}", f"{len(cells)} cells", expected=expected, remedy=remedy)
