"""Telemetry files: one module per format, chosen by the suffix of the file.

In every format the table is wide, its first column is the time, and a cell is one of three things:
a number; nothing, where the channel has no sample at that time; or NaN, where a sample was taken
but cannot be used.
"""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

from freefloat.errors import Fault, TelemetryError
from freefloat.files import atomic_path
from freefloat.telemetry.readers.source import DEFAULT_MAX_BYTES, contents
from freefloat.telemetry.telemetry import Telemetry

# Each module has read(path, max_bytes=...) -> (telemetry, truth tag) and
# write(telemetry, path, truth_tag=...). Imported when first used: pyarrow is slow to start.
_MODULE_OF = {".csv": "csv_", ".tsv": "csv_", ".parquet": "parquet_", ".pq": "parquet_"}
SUFFIXES = tuple(_MODULE_OF)

_NO_TRUTH = "none"


def read_telemetry(
    path: str | os.PathLike[str], *, truth: bool = False, max_bytes: int = DEFAULT_MAX_BYTES
) -> Telemetry:
    """Return the telemetry in a file, converted to SI; with `truth`, what was saved as such too.

    The suffix names the format: .csv, .tsv, .parquet or .pq. A file that would take more than
    `max_bytes` [B], on disk or as a table in memory, is refused. Raises TelemetryError that names
    every fault found, its place, what was expected and what to do.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "flight.csv")
    ...     rows = ["time [s],base.rate.x [deg/s]", "0.0,180", "0.1,nan"]
    ...     _ = file.write_text(chr(10).join(rows))
    ...     read_telemetry(file)["base.rate.x"].values.round(4).tolist()
    [3.1416, nan]
    """
    file = Path(path)
    telemetry, tag = _module_for(file).read(file, max_bytes=max_bytes)
    if not truth or tag == _NO_TRUTH:
        return telemetry
    beside = truth_path(file)
    if not beside.exists():
        return telemetry
    _check_tag(file, beside, tag=tag, max_bytes=max_bytes)
    return telemetry.with_truth(_module_for(beside).read(beside, max_bytes=max_bytes)[0])


def write_telemetry(telemetry: Telemetry, path: str | os.PathLike[str]) -> None:
    """Write telemetry to a file whose suffix names the format: .csv, .tsv, .parquet or .pq.

    What is read back is equal to the last bit. The truth, if there is one, goes to the file
    `<stem>.truth<suffix>` beside it. Interrupted at any moment, each file is the old one or the
    new one.
    """
    file = Path(path)
    module = _module_for(file)
    if not len(telemetry):
        fault = Fault(str(file), "telemetry without samples", "at least one sample", "")
        raise TelemetryError(f"{file}: there is nothing to write", [fault])
    tag = _NO_TRUTH
    if telemetry.truth is not None:
        beside = truth_path(file)
        with atomic_path(beside) as temporary:
            module.write(telemetry.truth, temporary, truth_tag=_NO_TRUTH)
            tag = _digest(temporary.read_bytes())
    with atomic_path(file) as temporary:
        module.write(telemetry, temporary, truth_tag=tag)


def truth_path(path: str | os.PathLike[str]) -> Path:
    """Return where the truth of the telemetry at `path` is kept.

    >>> truth_path("flight.csv").name
    'flight.truth.csv'
    """
    file = Path(path)
    return file.with_name(f"{file.stem}.truth{file.suffix}")


def _module_for(file: Path) -> ModuleType:
    name = _MODULE_OF.get(file.suffix.lower())
    if name is None:
        supported = ", ".join(_MODULE_OF)
        value = f"suffix {file.suffix!r}" if file.suffix else "no suffix"
        fault = Fault(str(file), value, f"one of {supported}", "convert or rename the file")
        raise TelemetryError(f"{file}: not a telemetry format freefloat knows", [fault])
    return import_module(f"{__name__}.{name}")


def _check_tag(file: Path, beside: Path, *, tag: str | None, max_bytes: int) -> None:
    """Refuse a truth that was saved with another recording: comparing with it would mislead."""
    if tag is None:  # a file not written by freefloat promises nothing about its neighbour
        return
    found = _digest(contents(beside, max_bytes=max_bytes))
    if found != tag:
        fault = Fault(
            str(beside),
            f"a file with digest {found}",
            f"the truth saved with {file.name}, digest {tag}",
            "save both again, or read without truth=True",
        )
        raise TelemetryError(f"{beside}: not the truth of {file.name}", [fault])


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
