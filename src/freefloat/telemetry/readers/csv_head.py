"""The head of a CSV file: byte order mark, comment lines, and the row with the labels."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from freefloat.errors import shorten
from freefloat.telemetry.channel import is_noise
from freefloat.telemetry.names import metadata_fault
from freefloat.telemetry.readers.tables import LAYOUT, Faults, split_label

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_ENTRY = re.compile(r"([^:]*):(?:\s(.*))?")
_DELIMITERS = ",;\t"


@dataclass(frozen=True)
class Head:
    """What stands before the samples: `size` [B] of it all, and the file row of the labels."""

    labels: list[tuple[str, str | None]]
    delimiter: str
    size: int
    row: int
    metadata: dict[str, str] = field(default_factory=dict)
    noise: dict[str, tuple[int, float]] = field(default_factory=dict)
    truth: str | None = None


def read_head(data: bytes, faults: Faults) -> Head:
    """Return the head of the file; raise TelemetryError when there is no row of labels."""
    metadata: dict[str, str] = {}
    noise: dict[str, tuple[int, float]] = {}
    truth = None
    for row, text, end in _lines(data, faults):
        comment = text.removeprefix("#").strip() if text.startswith("#") else None
        if comment is None or _are_labels(comment):
            labels = text if comment is None else comment
            return _head(labels, faults, row=row, size=end, found=(metadata, noise, truth))
        entry = _ENTRY.fullmatch(comment)
        key, value = (entry[1].strip(), (entry[2] or "").strip()) if entry else ("", "")
        if key == "format":
            _check_format(value, faults, row=row)
        elif key == "truth":
            truth = value
        elif key == "noise":
            _read_noise(value, faults, row=row, noise=noise)
        elif metadata_fault(key, _unquote(value)) is None:  # else it is a remark for people
            metadata[key] = _unquote(value)
    remedy = "begin with a row such as 'time [s],base.rate.x [rad/s]'"
    faults.add("header.missing", "header", "no row of column labels", expected="one", remedy=remedy)
    raise faults.error()


def _head(
    text: str,
    faults: Faults,
    *,
    row: int,
    size: int,
    found: tuple[dict[str, str], dict[str, tuple[int, float]], str | None],
) -> Head:
    delimiter = max(_DELIMITERS, key=text.count)
    cells = cells_of(text, delimiter)
    if all(_is_number(cell) for cell in cells):
        expected = "column labels before the numbers"
        remedy = "put a row such as 'time [s],base.rate.x [rad/s]' first"
        faults.add(
            "header.missing",
            f"row {row}",
            shorten(text),
            expected=expected,
            remedy=remedy,
            line=row,
        )
        raise faults.error()
    labels = [split_label(cell) for cell in cells]
    return Head(labels, delimiter, size, row, *found)


def _are_labels(comment: str) -> bool:
    """Whether a comment is the row of labels: numpy.savetxt, among others, puts it there."""
    cell, delimiter, _ = comment.partition(max(_DELIMITERS, key=comment.count))
    return bool(delimiter) and split_label(cell.strip(' "'))[0].lower() == "time"


def cells_of(text: str, delimiter: str) -> list[str]:
    """Return the cells of one line, quotes removed."""
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader([text], delimiter=delimiter), [""])
    except csv.Error:  # a cell longer than the csv module takes; as it stands it is no number
        return text.split(delimiter)


def _lines(data: bytes, faults: Faults) -> Iterator[tuple[int, str, int]]:
    """Number, text and end [B] of the lines that are not blank."""
    position = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    row = 0
    while position < len(data):
        matched = _LINE.match(data, position)
        assert matched is not None  # the pattern matches even nothing
        row, position = row + 1, matched.end()
        try:
            text = matched.group().decode("utf-8").strip("\r\n ")
        except UnicodeDecodeError as error:
            value = f"byte {matched.group()[error.start]:#04x} at column {error.start + 1}"
            faults.add(
                "file.encoding",
                f"row {row}",
                value,
                expected="text in UTF-8",
                remedy="save it as UTF-8",
                line=row,
            )
            raise faults.error() from error
        if text.strip():
            yield row, text, position


def _check_format(value: str, faults: Faults, *, row: int) -> None:
    if value != LAYOUT:
        remedy = "read it with the version of freefloat that wrote it, or a newer one"
        faults.add(
            "file.version",
            f"row {row}",
            f"format {value!r}",
            expected=repr(LAYOUT),
            remedy=remedy,
            line=row,
        )


def _read_noise(
    value: str, faults: Faults, *, row: int, noise: dict[str, tuple[int, float]]
) -> None:
    name, _, number = value.rpartition(" ")
    try:
        sigma = float(number)
    except ValueError:
        sigma = math.nan
    if not name or not is_noise(sigma):
        expected = "a channel name and a standard deviation >= 0"
        remedy = "write a line such as '# noise: base.rate.x 1e-5', or remove it"
        faults.add(
            "channel.noise",
            f"row {row}, noise",
            repr(value),
            expected=expected,
            remedy=remedy,
            line=row,
        )
        return
    noise[name.strip()] = row, sigma


def _unquote(value: str) -> str:
    if value.startswith('"'):
        try:
            text = json.loads(value)
        except ValueError:
            return value
        return text if isinstance(text, str) else value
    return value


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
