"""Telemetry files: one module per format, found by the suffix of the file or by how it begins.

In every format the table is wide, its first column is the time, and a cell is one of three things:
a number; nothing, where the channel has no sample at that time; or NaN, where a sample was taken
but cannot be used.

Every module of this folder with a `FORMAT` (see `tables.TelemetryFormat`) is a format: to add one,
add a file. Programs that keep their format elsewhere call `register_format`.
"""

from __future__ import annotations

import hashlib
import os
import struct
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from freefloat.errors import Fault, TelemetryError
from freefloat.files import atomic_path, settle, together
from freefloat.records.bounded_read import DEFAULT_MAX_BYTES
from freefloat.records.option_record import require_value
from freefloat.records.values import Count
from freefloat.telemetry.readers.tables import (
    FileContent,
    TelemetryFormat,
    contents,
    require_path,
)
from freefloat.telemetry.telemetry import Telemetry

_NO_TRUTH = "none"
_registered: list[TelemetryFormat] = []


def read_telemetry(
    path: str | os.PathLike[str], *, truth: bool = False, max_bytes: int = DEFAULT_MAX_BYTES
) -> Telemetry:
    """Return the telemetry in a file, converted to SI.

    Args:
        path: The file. Its suffix names the format: .csv, .tsv, .parquet, .pq, .mcap or .mat; where
            the suffix is not known, the first bytes do. `import_telemetry` reads files of others.
        truth: Whether to read the truth that a simulation saved beside it, too.
        max_bytes: A file that would take more [B], on disk or as a table in memory, is refused.

    Returns:
        The telemetry, every channel in SI units, invalid samples as NaN.

    Raises:
        TelemetryError: It names every fault found, its place, what was expected and what to do.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "flight.csv")
    ...     rows = ["time [s],base.rate.x [deg/s]", "0.0,180", "0.1,nan"]
    ...     _ = file.write_text(chr(10).join(rows))
    ...     read_telemetry(file)["base.rate.x"].values.round(4).tolist()
    [3.1416, nan]
    """
    require_value(max_bytes, Count, "max_bytes", TelemetryError)
    file = require_path(path)
    settle(file)
    telemetry, tag = _read(file, max_bytes=max_bytes)
    if not truth or tag == _NO_TRUTH:
        return telemetry
    beside = truth_path(file)
    if not beside.exists():
        return telemetry
    _check_tag(file, beside, tag=tag, max_bytes=max_bytes)
    return telemetry.with_truth(_read(beside, max_bytes=max_bytes).telemetry)


@together()
def write_telemetry(telemetry: Telemetry, path: str | os.PathLike[str]) -> None:
    """Write telemetry to a file whose suffix names the format, such as .parquet, .csv or .mcap.

    What is read back is equal to the last bit. The truth, if there is one, goes to the file
    `<stem>.truth<suffix>` beside it. Interrupted at any moment, both are the old ones or the new.
    """
    file = Path(path)
    write = _format_by_suffix(file, is_writing=True).write
    assert write is not None
    if not len(telemetry):
        expected, remedy = "at least one sample", "keep a part that has some"
        fault = Fault(str(file), "telemetry without samples", expected, remedy, "telemetry.empty")
        raise TelemetryError(f"{file}: there is nothing to write", [fault])
    tag = _NO_TRUTH
    if telemetry.truth is not None:
        beside = truth_path(file)
        with atomic_path(beside) as temporary:
            write(telemetry.truth, temporary, truth_tag=_NO_TRUTH)
            tag = _digest(temporary.read_bytes())
    with atomic_path(file) as temporary:
        write(telemetry, temporary, truth_tag=tag)


def truth_path(path: str | os.PathLike[str]) -> Path:
    """Return where the truth of the telemetry at `path` is kept.

    >>> truth_path("flight.csv").name
    'flight.truth.csv'
    """
    file = Path(path)
    return file.with_name(f"{file.stem}.truth{file.suffix}")


def register_format(made: TelemetryFormat) -> None:
    """Make a format known that lives outside this folder; it comes before those that do."""
    _registered.insert(0, made)


def formats() -> tuple[TelemetryFormat, ...]:
    """Every format known, those registered first."""
    return (*_registered, *_formats_here())


def suffixes(*, can_write: bool = False) -> tuple[str, ...]:
    """The suffixes of files that can be read, or of those that can be written as well.

    >>> suffixes()
    ('.csv', '.tsv', '.mat', '.mcap', '.parquet', '.pq')
    """
    known = [form for form in formats() if not can_write or form.write is not None]
    return tuple(suffix for form in known for suffix in form.suffixes)


@cache
def _formats_here() -> tuple[TelemetryFormat, ...]:
    # By looking at the folder: a list of formats would be a second place to change.
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return tuple(module.FORMAT for module in modules if hasattr(module, "FORMAT"))


def _read(file: Path, *, max_bytes: int) -> FileContent:
    form = _format_by_content(file) or _format_by_suffix(file)
    try:
        return form.read(file, max_bytes=max_bytes)
    except (ValueError, LookupError, EOFError, struct.error) as error:
        # a reader that stumbles over damaged content has met a bad file, not a bug of freefloat
        value = f"content its reader cannot follow ({error})"
        expected, remedy = "a whole file of this format", "write it anew"
        fault = Fault(str(file), value, expected, remedy, "file.damaged")
        raise TelemetryError(f"{file}: cannot be read", [fault]) from error


def _format_by_content(file: Path) -> TelemetryFormat | None:
    """The format by the first bytes, where the suffix is nobody's."""
    if file.suffix.lower() in suffixes():
        return None  # a suffix that says one thing and a content that says another is a fault
    begins = {sign: form for form in formats() for sign in form.begins}
    try:
        if not begins or not file.is_file():
            return None
        with file.open("rb") as opened:
            head = opened.read(max(map(len, begins)))
    except (OSError, ValueError):  # ValueError: a null character in the path
        return None
    return next((form for sign, form in begins.items() if head.startswith(sign)), None)


def _format_by_suffix(file: Path, *, is_writing: bool = False) -> TelemetryFormat:
    suffix = file.suffix.lower()
    for form in formats():
        if suffix in form.suffixes and (form.write is not None or not is_writing):
            return form
    value = f"suffix {file.suffix!r}" if file.suffix else "no suffix"
    expected = f"one of {', '.join(suffixes(can_write=is_writing))}"
    remedy = (
        "rename the file, or read it with a map: freefloat import FILE --suggest --out map.toml"
    )
    remedy = "choose one of these" if is_writing else remedy
    fault = Fault(str(file), value, expected, remedy, "file.suffix")
    raise TelemetryError(f"{file}: not a telemetry format freefloat knows", [fault])


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
            "truth.mismatch",
        )
        raise TelemetryError(f"{beside}: not the truth of {file.name}", [fault])


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


Telemetry.writer = staticmethod(write_telemetry)
