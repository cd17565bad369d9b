"""The bytes of a file, fetched with care, and the faults found in them."""

from __future__ import annotations

from pathlib import Path

from freefloat.errors import SHOWN_FAULTS, Fault, TelemetryError

DEFAULT_MAX_BYTES = 2 * 1024**3

_MOST_COUNTED = 1000  # beyond, the file is not what it claims to be, and reading on helps nobody

# How files that are often mistaken for others begin.
_SIGNATURES = (
    (b"PAR1", "a Parquet file", "give it the suffix .parquet"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "unpack it first"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "unpack it, or export it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", "export it as CSV"),
    (b"\x89HDF", "an HDF5 or MAT file", "export it as Parquet or CSV"),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
)


class Faults:
    """A list of faults in one file that keeps the first ones and counts the rest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._kept: list[Fault] = []

    def add(self, place: str, value: str, *, expected: str, remedy: str) -> None:
        """Note one fault."""
        self.count += 1
        if len(self._kept) < SHOWN_FAULTS:
            self._kept.append(Fault(place, value, expected, remedy))

    def add_fault(self, fault: Fault, *, place: str) -> None:
        """Note a fault found elsewhere, at its place in the file."""
        self.add(place, fault.value, expected=fault.expected, remedy=fault.remedy)

    @property
    def is_full(self) -> bool:
        """Whether there is no point in looking for more."""
        return self.count >= _MOST_COUNTED

    def raise_if_any(self) -> None:
        """Raise one TelemetryError with all that was noted."""
        if self.count:
            raise self.error()

    def error(self) -> TelemetryError:
        """Return the TelemetryError with all that was noted."""
        shown = len(self._kept)
        rest = f", the first {shown} of them" if self.count > shown else ""
        number = "1 fault" if self.count == 1 else f"{self.count} faults"
        number = f"at least {number}" if self.is_full else number
        return TelemetryError(f"{self.path}: {number}{rest}:", self._kept)


def contents(path: Path, *, max_bytes: int) -> bytes:
    """Return the bytes of a regular file no larger than `max_bytes` [B]."""
    try:
        if not path.exists():
            raise unreadable(path, "no such file", "a telemetry file", "check the path")
        if not path.is_file():  # a folder, or a pipe or device that might never end
            raise unreadable(path, "not a regular file", "a telemetry file", "name a file")
        size = path.stat().st_size
        if size > max_bytes:
            raise too_large(path, size, max_bytes=max_bytes)
        if not size:
            remedy = "record or export it again"
            raise unreadable(path, "an empty file", "a header and samples", remedy)
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise unreadable(path, reason, "a file that can be read", "check permissions") from error


def check_is_text(path: Path, data: bytes) -> None:
    """Raise TelemetryError, saying what the file seems to be, unless it begins like text."""
    for signature, what, remedy in _SIGNATURES:
        if data.startswith(signature):
            raise unreadable(path, what, "text in UTF-8", remedy)
    if b"\0" in data[:4096]:
        raise unreadable(path, "binary data", "text in UTF-8", "export it as CSV")


def too_large(path: Path, size: int, *, max_bytes: int) -> TelemetryError:
    """Return the error for a file of `size` bytes, on disk or unpacked, where that is too much."""
    remedy = "cut the file, or pass a larger max_bytes"
    return unreadable(path, f"{size} bytes", f"at most {max_bytes} bytes", remedy)


def unreadable(path: Path, value: str, expected: str, remedy: str) -> TelemetryError:
    """Return the error for a file that cannot be read at all."""
    fault = Fault(str(path), value, expected, remedy)
    return TelemetryError(f"{path}: cannot be read as telemetry", [fault])
