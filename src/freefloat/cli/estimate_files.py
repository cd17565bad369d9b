"""Files of estimates that grow while samples arrive, and are whole whenever the run is stopped."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.files import atomic_path, atomic_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freefloat.online.live_estimate import LiveEstimate

BLOCK = 65536  # format: [B] read at a time, from the end of a file
END = 4_000_000  # format: [B] of a file of lines, in which its last estimate is
ROWS = 1024  # format: estimates of a row group, which is all that is held of a Parquet table


class LineFile:
    r"""Newline JSON to append to: a line is there as a whole or not at all.

    A file that is gone on with is mended first: of a line that was torn when its writer died
    nothing is kept.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "lines")
    ...     _ = path.write_text('{"a": 1}\n{"a":')
    ...     file = LineFile(path, is_resumed=True)
    ...     file.write('{"a": 2}\n')
    ...     file.close()
    ...     path.read_text()
    '{"a": 1}\n{"a": 2}\n'
    """

    def __init__(self, path: Path, *, is_resumed: bool) -> None:
        self.path, self.is_resumed = path, is_resumed
        self._handle: int | None = None
        self._size = self._last = 0  # [B] of the file, and of it before the last line

    def write(self, text: str, *, is_again: bool = False) -> None:
        """Append a line; OSError where that is impossible, and the file is as it was.

        is_again: it takes the place of the one before, which said the same.
        """
        handle = self._open() if self._handle is None else self._handle
        if is_again:
            os.ftruncate(handle, self._last)
            self._size = self._last
        data = text.encode("utf-8", "backslashreplace")  # which JSON reads as what it was
        os.lseek(handle, self._size, os.SEEK_SET)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(handle, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, self._size)
            raise
        self._last = self._size
        self._size += len(data)

    def last_time(self) -> float | None:
        """The time of the last estimate that is there as a whole [s]; None without any."""
        if not self.is_resumed or not self.path.is_file():
            return None
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - END))
            lines = file.read().split(b"\n")
        for line in reversed(lines):
            with suppress(ValueError, KeyError, TypeError):  # torn, or without a time
                return float(json.loads(line)["time"])
        return None

    def _open(self) -> int:
        """Not before the first line: a run that never begins leaves an older file as it is."""
        if not (self.is_resumed and self.path.exists()):
            atomic_write(self.path, b"")
        self._handle = os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        self._size = self._last = _mend(self._handle)
        return self._handle

    def sync(self) -> None:
        """All that was written is on disk."""
        if self._handle is not None:
            os.fsync(self._handle)

    def close(self) -> None:
        """The end, on disk."""
        try:
            self.sync()
        finally:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None


def _mend(handle: int) -> int:
    """Cut off a last line that is torn, end one that only lacks its end; the size [B] then."""
    size = os.lseek(handle, 0, os.SEEK_END)
    start, tail = size, b""
    while start > 0 and b"\n" not in tail:
        step = min(BLOCK, start)
        start -= step
        os.lseek(handle, start, os.SEEK_SET)
        tail = os.read(handle, step) + tail
    whole = start + tail.rfind(b"\n") + 1
    last = tail[whole - start :]
    if not last:
        return size
    try:
        json.loads(last)
    except ValueError:
        os.ftruncate(handle, whole)
        return whole
    os.lseek(handle, size, os.SEEK_SET)
    os.write(handle, b"\n")
    return size + 1


class EstimateFile(ABC):
    """A file of estimates that takes its name at the end; until then an older one stays.

    A file that is gone on with keeps its estimates, `last` [s] is the time of the last of them. An
    estimate takes the place of one of the same time: it says the same, or more.
    """

    def __init__(self, path: Path) -> None:
        self.last: float | None = None
        self._stack = ExitStack()
        self._temporary = self._stack.enter_context(atomic_path(path))

    @abstractmethod
    def write(self, estimate: LiveEstimate) -> None:
        """Add an estimate, once there is one."""

    @abstractmethod
    def _end(self) -> None:
        """Write what is held back, and end the file."""

    @abstractmethod
    def _abandon(self) -> None:
        """Let go of the file."""

    def close(self) -> None:
        """The last estimates, and the name."""
        with self._stack:
            self._end()

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(Exception), self._stack:
            with suppress(Exception):
                self._abandon()
            raise OSError("discarded")  # so that the temporary file goes


class TableFile(EstimateFile):
    """A Parquet table of estimates, written in row groups.

    Columns are the time, and value and both deviations of every parameter.
    """

    def __init__(self, path: Path, names: Sequence[str], *, is_resumed: bool = False) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        ends = ("", ".std", ".total_std")
        columns = ["time", *(f"{name}{end}" for name in names for end in ends)]
        self._schema = pa.schema([(column, pa.float64()) for column in columns])
        super().__init__(path)
        self._writer = pq.ParquetWriter(self._temporary, self._schema)
        self._rows: list[list[float]] = []
        if is_resumed and path.is_file():
            self._keep_rows(path)

    def _keep_rows(self, path: Path) -> None:
        """Take over the rows of a table of the same columns; another one is replaced."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with suppress(pa.ArrowException, OSError), pq.ParquetFile(path) as older:
            if older.schema_arrow.equals(self._schema):
                for number in range(older.num_row_groups):
                    group = older.read_row_group(number)
                    self._writer.write_table(group)
                    self.last = group["time"][-1].as_py() if len(group) else self.last

    def write(self, estimate: LiveEstimate) -> None:
        """Add a row, once there is an estimate."""
        if estimate.time is None:
            return
        if self._rows and self._rows[-1][0] == estimate.time:
            self._rows.pop()
        if len(self._rows) >= ROWS:
            self._flush()
        each = zip(estimate.values, estimate.std, estimate.total_std, strict=True)
        self._rows.append([estimate.time, *(float(x) for three in each for x in three)])

    def _flush(self) -> None:
        import pyarrow as pa

        columns: list[Any] = [list(column) for column in zip(*self._rows, strict=True)]
        self._rows = []
        if columns:
            self._writer.write_table(pa.table(columns, schema=self._schema))

    def _end(self) -> None:
        self._flush()
        self._writer.close()

    def _abandon(self) -> None:
        self._writer.close()
