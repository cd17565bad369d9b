"""A made-up telemetry format: lines of JSON, each one instant, names and units in the first."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from freefloat.telemetry.readers.tables import (
    Content,
    Faults,
    FileContent,
    TelemetryFormat,
    columns_of,
    contents,
    split_label,
    telemetry_from,
    to_si,
)


def read(path: Path, *, max_bytes: int) -> FileContent:
    """The telemetry of a file; every fault of its labels in one error."""
    head, *rows = map(json.loads, contents(path, max_bytes=max_bytes).splitlines())
    faults, notes = Faults(path), []
    time_at, columns = columns_of([split_label(label) for label in head], faults, notes=notes)
    faults.raise_if_any()
    table = np.array(rows, dtype=float).T
    time = to_si(table[time_at], columns[time_at].factor)
    others = [n for n in range(len(columns)) if n != time_at]
    return FileContent(
        telemetry_from(
            time,
            [columns[n] for n in others],
            [Content(table[n]) for n in others],
            metadata={},
            notes=notes,
        )
    )


FORMAT = TelemetryFormat("lines", (".lines",), read=read)
