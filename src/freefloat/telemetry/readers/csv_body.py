"""The rows of a CSV file: quickly where all is well, row by row where something is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from freefloat.telemetry.channel import LATEST, read_only
from freefloat.telemetry.readers.columns import Column, Content, content_of
from freefloat.telemetry.readers.csv_head import Head
from freefloat.telemetry.readers.csv_rows import read_rows
from freefloat.telemetry.readers.source import Faults

_PIECE = 4 * 2**20  # [B]: one bad cell costs the careful reading of one piece, not of the file


def read_body(
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
            read = read_rows(piece, head, columns, time_at=time_at, first_row=row, faults=faults)
        if faults.is_full:
            break
        row += len(piece.splitlines())
        pieces.append(read)
    n_rows = sum(_n_rows(piece[time_at]) for piece in pieces if piece)
    if not n_rows and not faults.count:
        remedy = "record or export it again"
        faults.add("rows", "a header without samples", expected="at least one row", remedy=remedy)
    if faults.count:
        return []
    return [_joined(parts) for parts in zip(*filter(None, pieces), strict=True)]


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
    return [content_of(column.combine_chunks()) for column in table.columns]


def _pieces(data: bytes, *, start: int) -> Iterator[bytes]:
    while start < len(data):
        end = data.find(b"\n", min(start + _PIECE, len(data)))
        end = len(data) if end < 0 else end + 1
        yield data[start:end]
        start = end


def _n_rows(content: Content) -> int:
    return content.values.size if content.present is None else content.present.size


def _joined(parts: Sequence[Content]) -> Content:
    present = [
        np.ones(part.values.size, dtype=bool) if part.present is None else part.present
        for part in parts
    ]
    values = np.concatenate([part.values for part in parts])
    return Content(read_only(values), np.concatenate(present))
