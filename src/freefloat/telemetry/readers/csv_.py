"""CSV: a header of `name [unit]` cells, one row per instant, metadata in leading `# key: value`.

An empty cell means that the channel has no sample at that time; `nan` or `inf` that the sample is
invalid. A line `# noise: base.rate.x 1e-5` gives the standard deviation of a channel's white noise
in the unit of its column. Commas, semicolons and tabs are told apart by the header.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from freefloat.telemetry.readers.columns import (
    FORMAT,
    Column,
    columns_of,
    scaled,
    telemetry_from,
    wide,
)
from freefloat.telemetry.readers.csv_body import read_body
from freefloat.telemetry.readers.csv_head import Head, read_head
from freefloat.telemetry.readers.source import Faults, check_is_text, contents
from freefloat.telemetry.telemetry import Telemetry


def read(path: Path, *, max_bytes: int) -> tuple[Telemetry, str | None]:
    """Return the telemetry in a CSV file, and the tag of the truth saved with it, if any."""
    data = contents(path, max_bytes=max_bytes)
    check_is_text(path, data)
    faults = Faults(path)
    head = read_head(data, faults)
    notes: list[str] = []
    time_at, columns = columns_of(head.labels, faults, notes=notes)
    columns = _with_noise(columns, head, faults)
    table = read_body(data, head, columns, time_at=time_at, faults=faults)
    faults.raise_if_any()
    time = scaled(table[time_at].values, columns[time_at].factor)
    channels = [n for n in range(len(columns)) if n != time_at]
    telemetry = telemetry_from(
        time,
        [columns[n] for n in channels],
        [table[n] for n in channels],
        metadata=head.metadata,
        notes=notes,
    )
    return telemetry, head.truth


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
    lines = [f"# format: {FORMAT}", f"# truth: {truth_tag}"]
    lines += [f"# {key}: {_quoted(value)}" for key, value in telemetry.metadata.items()]
    lines += [f"# noise: {c.name} {c.noise!r}" for c in channels if c.noise is not None]
    lines += [delimiter.join(["time [s]", *(f"{c.name} [{c.unit}]" for c in channels)])]
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    """A metadata value as it is when it fits on its line, else as a JSON string."""
    is_plain = value.isprintable() and value == value.strip() and not value.startswith('"')
    return value if is_plain else json.dumps(value)


def _with_noise(columns: Sequence[Column], head: Head, faults: Faults) -> list[Column]:
    names = {column.name for column in columns} - {"time"}
    for name, (row, _) in head.noise.items():
        if name not in names:
            remedy = "correct the name or remove the line"
            place = f"row {row}, noise of {name!r}"
            faults.add(place, "no such column", expected="the name of a column", remedy=remedy)
    noise = {name: value for name, (_, value) in head.noise.items()}
    return [replace(column, noise=noise.get(column.name)) for column in columns]
