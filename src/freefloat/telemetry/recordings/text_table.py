"""Text tables of others: CSV, TSV or columns apart by blanks, with any header or none.

The head of the file tells delimiter, labels and what each column holds: numbers, long whole
numbers, truth values, lists such as "[1, 0, 1]", or text. The rows are read in pieces.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.errors import Fault, TelemetryError, shorten
from freefloat.telemetry.readers.tables import (
    MAX_COLUMNS,
    check_is_text,
    require_file,
    split_label,
)
from freefloat.telemetry.recordings.array_columns import split_reference
from freefloat.telemetry.recordings.source_recording import (
    MISSING,
    MOST_ELEMENTS,
    Piece,
    RecordedField,
    RecordedStream,
    SourceFormat,
    SourceOptions,
    SourceRecording,
    border,
)
from freefloat.telemetry.units import si_unit

_HEAD = 2**20  # format: [B] that tell what a file is
_PIECE = 8 * 2**20  # format: [B] read at once
_SAMPLE = 200  # format: rows that tell what a column holds
_LONG = 2**53  # theory: whole numbers beyond are not all floats
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+")
_LIST = re.compile(r"[\[(]\s*([^\[\]()]*?)\s*[\])]")
_TRUTH = {"true": 1.0, "false": 0.0}  # format: how programs write truth values
_NOTHING = ("", "na", "n/a", "null", "none", "-")
_LABEL_UNIT = re.compile(r"(.*\S)\s*\(([^()]+)\)")


@dataclass(frozen=True)
class _TextColumn:
    """A column: its name, unit, what its cells hold, and how many of it where that is a list."""

    name: str
    unit: str | None
    kind: str
    width: int = 0
    example: float | None = None


@dataclass(frozen=True)
class _Layout:
    """How a file is laid out: where rows begin, what separates cells, and its columns."""

    delimiter: str
    start: int
    first_row: int
    columns: tuple[_TextColumn, ...]


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The columns of a file."""
    require_file(path, max_bytes=2**63)  # read in pieces, however large
    with path.open("rb") as file:
        head = file.read(_HEAD)
    check_is_text(path, head)
    with border(path, "text table"):
        layout = _layout(path, head, options, is_whole=len(head) < _HEAD)
        n_rows = sum(piece.count(b"\n") for piece in _pieces(path, layout.start))
    fields = [field for column in layout.columns for field in _fields(column, n_rows)]

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        names = wanted.get("", ())
        row = layout.first_row
        for piece in _pieces(path, layout.start):
            table = _cells(piece, layout, names, path, row)
            yield Piece("", {
                name: _column(table, name, layout, options, (path, row)) for name in names
            })  # fmt: skip
            row += piece.count(b"\n")

    return SourceRecording(path, "text table", (RecordedStream("", tuple(fields)),), read)


def _fields(column: _TextColumn, n_rows: int) -> Iterator[RecordedField]:
    if column.kind == "list":
        for n in range(column.width):
            yield RecordedField(f"{column.name}[{n}]", n_rows, column.unit)
    else:
        what = "text" if column.kind == "text" else ""
        yield RecordedField(column.name, n_rows, column.unit, what, column.example)


# -- the head --------------------------------------------------------------------------------------


def _layout(path: Path, head: bytes, options: SourceOptions, *, is_whole: bool) -> _Layout:
    """What the first rows tell."""
    lines = head.splitlines(keepends=True)
    lines = lines if is_whole else lines[:-1]
    at, row = 0, 1
    while lines and (row <= options.skip or not lines[0].strip() or lines[0][:1] in b"#%"):
        at, row = at + len(lines.pop(0)), row + 1
    if not lines:
        fault = Fault(str(path), "no rows", "rows of numbers", "record it again", "table.empty")
        raise TelemetryError(f"{path}: the file is empty", [fault])
    texts = [_text(path, line, row + n) for n, line in enumerate(lines[: _SAMPLE + 1])]
    delimiter = options.delimiter or _delimiter(texts, options.decimal)
    rows = [_split(text, delimiter) for text in texts]
    has_header = options.header
    if has_header is None:
        has_header = not all(_is_number(c, options) or not c.strip() for c in rows[0])
    labels = rows[0] if has_header else [f"c{n + 1}" for n in range(len(rows[0]))]
    if len(labels) > MAX_COLUMNS:
        raise ValueError(f"{len(labels)} columns, more than {MAX_COLUMNS}")
    if has_header:
        at, row, rows = at + len(lines[0]), row + 1, rows[1:]
    names = _names(labels)
    columns = tuple(
        _column_kind(name, unit, [r[n] for r in rows if n < len(r)], options)
        for n, (name, unit) in enumerate(names)
    )
    return _Layout(delimiter, at, row, columns)


def _text(path: Path, line: bytes, row: int) -> str:
    try:
        return line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        remedy = "save it as UTF-8"
        fault = Fault(f"row {row}", "bytes that are no text", "UTF-8", remedy, "file.encoding", row)
        raise TelemetryError(f"{path}: not UTF-8 text", [fault]) from None


def _delimiter(texts: Sequence[str], decimal: str) -> str:
    """What separates cells: what all of the rows have equally often, blanks where nothing is."""
    for mark in ("\t", ";", ",", "|"):
        if mark == decimal:
            continue
        counts = Counter(len(_split(text, mark)) for text in texts[:50])
        if max(counts) > 1 and counts.most_common(1)[0][0] > 1:
            return mark
    return " "


def _split(text: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return text.split()
    return next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), [])


def _names(labels: Sequence[str]) -> list[tuple[str, str | None]]:
    """Labels as names and units; a label that comes again gets a number."""
    found, seen = [], Counter[str]()
    for n, label in enumerate(labels):
        name, unit = split_label(label)
        if unit is None and (match := _LABEL_UNIT.fullmatch(label.strip())) and si_unit(match[2]):
            name, unit = match[1], match[2]
        name = name or f"c{n + 1}"
        seen[name] += 1
        found.append((name if seen[name] == 1 else f"{name}#{seen[name]}", unit))
    return found


def _is_number(cell: str, options: SourceOptions) -> bool:
    return _NUMBER.fullmatch(cell.strip().replace(options.decimal, ".")) is not None


def _column_kind(
    name: str, unit: str | None, cells: Sequence[str], options: SourceOptions
) -> _TextColumn:
    """What the cells of a column hold, by the first rows."""
    given = [cell.strip() for cell in cells if cell.strip().lower() not in _NOTHING]
    if not given:
        return _TextColumn(name, unit, "number")  # it may begin later
    numbers = [cell for cell in given if _is_number(cell, options)]
    if len(numbers) > len(given) / 2:  # what else is there is a fault, told with its row
        example = float(numbers[0].replace(options.decimal, "."))
        whole = all(_WHOLE.fullmatch(cell) for cell in given)
        is_long = whole and max(abs(int(cell)) for cell in given) > _LONG
        return _TextColumn(name, unit, "long" if is_long else "number", 0, example)
    if all(cell.lower() in _TRUTH for cell in given):
        return _TextColumn(name, unit, "truth")
    lists = [_list_cells(cell) for cell in given]
    widths = {len(one) for one in lists}
    width = widths.pop() if len(widths) == 1 else 0
    parts = [one for row in lists for one in row]
    are_numbers = all(_is_number(one, options) or one.lower() in _TRUTH for one in parts)
    if 0 < width <= MOST_ELEMENTS and are_numbers:
        return _TextColumn(name, unit, "list", width)
    return _TextColumn(name, unit, "text")


def _list_cells(cell: str) -> list[str]:
    found = _LIST.fullmatch(cell)
    return re.split(r"\s*[,; ]\s*", found[1]) if found else []


# -- the rows --------------------------------------------------------------------------------------


def _pieces(path: Path, start: int) -> Iterator[bytes]:
    """The rows in pieces of whole lines."""
    with path.open("rb") as file:
        file.seek(start)
        rest = b""
        while data := file.read(_PIECE):
            whole, mark, rest = (rest + data).rpartition(b"\n")
            if len(rest) > 4 * _PIECE:
                raise ValueError(f"a row of more than {len(rest)} bytes")
            if whole:
                yield whole + mark
        if rest.strip():
            yield rest + b"\n"


def _cells(piece: bytes, layout: _Layout, names: Sequence[str], path: Path, row: int) -> Any:
    """The cells of the columns asked for, as text."""
    import pyarrow as pa
    import pyarrow.csv

    if layout.delimiter == " ":
        piece = b"\n".join(b" ".join(line.split()) for line in piece.splitlines()) + b"\n"
    numbers = [str(n) for n in range(len(layout.columns))]
    wanted = {_index(name, layout) for name in names}
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(piece),
            read_options=pyarrow.csv.ReadOptions(column_names=numbers),
            parse_options=pyarrow.csv.ParseOptions(delimiter=layout.delimiter),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=[str(n) for n in sorted(wanted)],
                column_types=dict.fromkeys(numbers, pa.string()),
            ),
        )
    except pa.ArrowInvalid as error:
        found = re.search(r"Row #(\d+): (.*)", str(error))
        line = row + int(found[1]) - 1 if found else row
        what = shorten(found[2] if found else str(error), 120)
        expected = f"{len(layout.columns)} cells"
        remedy = "complete or remove the row, or say delimiter = ... under [source] of the map"
        fault = Fault(f"row {line}", what, expected, remedy, "cell.count", line)
        raise TelemetryError(f"{path}: a row that differs from the others", [fault]) from None


def _index(name: str, layout: _Layout) -> int:
    names = [column.name for column in layout.columns]
    return names.index(name if name in names else split_reference(name)[0])


def _column(
    table: Any, name: str, layout: _Layout, options: SourceOptions, place: tuple[Path, int]
) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute  # its functions are made when it is imported

    n = _index(name, layout)
    column = layout.columns[n]
    cells = pc.utf8_trim_whitespace(table.column(str(n)).combine_chunks())
    if column.kind == "list":
        return _from_lists(cells, split_reference(name)[1] or 0)
    lower = pc.utf8_lower(cells)
    is_nothing = pc.is_in(lower, value_set=pa.array(_NOTHING))
    if options.decimal != ".":
        lower = pc.replace_substring(lower, options.decimal, ".")
    if column.kind == "truth":
        lower = pc.replace_substring(pc.replace_substring(lower, "true", "1"), "false", "0")
    lower = pc.if_else(is_nothing, pa.scalar(None, pa.string()), lower)
    try:
        if column.kind == "long" and not lower.null_count:
            return lower.cast(pa.int64()).to_numpy(zero_copy_only=False)
        made = lower.cast(pa.float64())
    except pa.ArrowInvalid:
        raise _bad_cell(lower, column.name, place) from None
    if made.null_count:
        made = made.fill_null(pa.scalar(MISSING))
    return made.to_numpy(zero_copy_only=False)


def _from_lists(cells: Any, number: int) -> np.ndarray:
    found = np.full(len(cells), MISSING)
    for row, cell in enumerate(cells.to_pylist()):
        parts = _list_cells(cell or "")
        if number < len(parts):
            one = parts[number].lower()
            if one in _TRUTH or _NUMBER.fullmatch(one):
                found[row] = _TRUTH.get(one) if one in _TRUTH else float(one)
    return found


def _bad_cell(cells: Any, name: str, place: tuple[Path, int]) -> TelemetryError:
    path, first = place
    for n, cell in enumerate(cells.to_pylist()):
        if cell is not None and not _NUMBER.fullmatch(cell):
            where = f"row {first + n}, column {name!r}"
            expected = "a number, or an empty cell for none"
            remedy = "correct or empty the cell"
            fault = Fault(where, repr(cell), expected, remedy, "cell.number", first + n)
            return TelemetryError(f"{path}: a cell that is no number", [fault])
    return TelemetryError(f"{path}: column {name!r} is not numbers", code="cell.number")


SOURCE = SourceFormat("text table", (".csv", ".tsv", ".txt", ".dat", ".log"), open_recording)
