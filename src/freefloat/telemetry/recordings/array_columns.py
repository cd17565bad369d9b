"""Columns of arrays: a table is an array with one row an instant, or one column, as it comes.

The longest axis of an array is its time; `q` of shape (500, 3) or (3, 500) has the columns q[0],
q[1] and q[2] of 500 samples. A row or a column is one column of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from freefloat.telemetry.recordings.source_recording import MOST_ELEMENTS, RecordedField


def fields_of_array(
    name: str, shape: Sequence[int], dtype: np.dtype, *, unit: str | None = None
) -> Iterator[RecordedField]:
    """The columns of an array by its shape, before it is read.

    >>> [f.name for f in fields_of_array("q", (2, 50), np.dtype(float))]
    ['q[0]', 'q[1]']
    """
    if dtype.names:
        for part in dtype.names:
            yield from fields_of_array(f"{name}.{part}", shape, dtype[part], unit=unit)
        return
    if dtype.kind not in "biufmM":
        yield RecordedField(name, prod(shape), unit, "text" if dtype.kind in "SU" else "no numbers")
        return
    width, length = _size(shape)
    if width > MOST_ELEMENTS:
        yield RecordedField(name, length, unit, f"{width} numbers a sample")
    elif width == 1:
        yield RecordedField(name, length, _stamp_unit(dtype) or unit)
    else:
        for n in range(width):
            yield RecordedField(f"{name}[{n}]", length, _stamp_unit(dtype) or unit)


def _size(shape: Sequence[int]) -> tuple[int, int]:
    """How many columns an array has, and how long they are."""
    length = max(shape, default=1)
    return (prod(shape) // length if length else 1), length


def _stamp_unit(dtype: np.dtype) -> str | None:
    return "ns" if dtype.kind in "mM" else None


def column_of_array(array: np.ndarray, number: int | None) -> np.ndarray:
    """One column of an array, the longest axis being its length."""
    width, length = _size(array.shape)
    if number is None or width == 1:
        column = array.reshape(-1)
    else:
        axis = int(np.argmax(array.shape))
        column = np.moveaxis(array, axis, 0).reshape(length, -1)[:, number]
    return column_numbers(column)


def column_numbers(column: np.ndarray) -> np.ndarray:
    """A column as whole numbers, where these are large (times), or as floats."""
    if column.dtype.kind in "mM":
        return column.astype("datetime64[ns]" if column.dtype.kind == "M" else "m8[ns]").astype(int)
    is_long = column.dtype.kind in "iu" and column.dtype.itemsize == 8
    if is_long and (column.dtype.kind == "i" or int(column.max(initial=0)) < 2**63):
        return column.astype(np.int64)
    return column.astype(np.float64)


def split_reference(name: str) -> tuple[str, int | None]:
    """The array of a column and which of its columns it is.

    >>> split_reference("log.q[2]"), split_reference("t")
    (('log.q', 2), ('t', None))
    """
    stem, bracket, number = name.rpartition("[")
    if not bracket or not number[:-1].isdecimal():
        return name, None
    return stem, int(number[:-1])


def array_and_part(name: str, arrays: Sequence[str]) -> tuple[str, str, int | None]:
    """Which of some arrays a column is in, the part of a structured one, and its number."""
    stem, number = split_reference(name)
    if name in arrays:
        return name, "", None
    if stem in arrays:
        return stem, "", number
    whole = max((a for a in arrays if stem.startswith(f"{a}.")), key=len)
    return whole, stem[len(whole) + 1 :], number


def part_of_array(array: np.ndarray, part: str) -> np.ndarray:
    """The part `a.b` of a structured array."""
    for step in filter(None, part.split(".")):
        array = array[step]
    return array
