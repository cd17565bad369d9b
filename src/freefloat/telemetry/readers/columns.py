"""What all table formats share: labels of columns to channels, channels to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.errors import Fault
from freefloat.telemetry.channel import Array, Channel, Mask, read_only
from freefloat.telemetry.names import name_fault, resolved_unit
from freefloat.telemetry.readers.source import Faults
from freefloat.telemetry.sample_rows import rows_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.units import accepted_units, si_unit

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "freefloat telemetry 1"
MAX_COLUMNS = 10_000

TIME_REMEDY = "restore the time, correct its unit in the header, or remove the row"


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
    if len(labels) > MAX_COLUMNS:
        expected = f"at most {MAX_COLUMNS} columns"
        faults.add("header", f"{len(labels)} columns", expected=expected, remedy="split the file")
        raise faults.error()
    columns = [_column(n, label, faults, notes) for n, label in enumerate(labels)]
    names = [column.name for column in columns]
    first: dict[str, int] = {}
    for n, name in enumerate(names):
        if name in first:
            where = f"columns {first[name] + 1} and {n + 1}"
            remedy = "rename or remove one of them"
            faults.add(where, f"{name!r} twice", expected="different names", remedy=remedy)
        first.setdefault(name, n)
    if "time" not in first:
        found = ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")
        remedy = "name the column with the time 'time [s]'"
        faults.add("header", f"columns {found}", expected="a time column", remedy=remedy)
    elif len(columns) == 1:
        expected = "at least one channel beside the time"
        faults.add("header", "only a time column", expected=expected, remedy="add columns")
    return first.get("time", -1), columns


def _column(n: int, label: tuple[str, str | None], faults: Faults, notes: list[str]) -> Column:
    name, unit = label
    shown = name if unit is None else f"{name} [{unit}]"
    place = f"header, column {n + 1} {shown!r}"
    if name.lower() == "time":
        return _time_column(shown, unit, faults=faults, place=place, notes=notes)
    forbidden = name_fault(name)
    if forbidden:
        expected = "a name such as 'base.rate.x'"
        faults.add(place, forbidden, expected=expected, remedy="rename the column")
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
        faults.add(place, f"unit {unit!r}", expected="a unit of time", remedy=remedy)
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
        values = scaled(content.values, column.factor)
        noise = None if column.noise is None else column.noise * column.factor
        channels.append(Channel(column.name, column.unit, base, values, noise=noise))
    entries = dict(metadata)
    if notes:
        entries["notes"] = "; ".join([*filter(None, [entries.get("notes")]), *notes])
    return Telemetry.of(channels, entries)


def scaled(values: Array, factor: float) -> Array:
    """Return the values in SI; one that overflows becomes infinite, hence invalid."""
    if factor == 1.0:
        return read_only(values)
    with np.errstate(over="ignore"):
        return read_only(values * factor)


def wide(telemetry: Telemetry) -> tuple[Array, list[Content]]:
    """Return the instants [s] of the common rows, and one full column per channel.

    Where a channel has no sample, `present` is False and the value means nothing.
    """
    channels = tuple(telemetry.channels.values())
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
