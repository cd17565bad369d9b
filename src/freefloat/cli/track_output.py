"""Where estimates go: newline JSON as they come, Parquet at the end, both whole or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from freefloat.files import atomic_path

if TYPE_CHECKING:
    from freefloat.online.live_estimate import LiveEstimate


def line_of(content: dict[str, object]) -> str:
    """A dictionary as one line of JSON; numbers that are not finite become null."""
    from freefloat.cli.screen import plain

    return json.dumps(plain(content), ensure_ascii=False, allow_nan=False)


class Output:
    """Writes estimates: to standard output and to files, as asked for."""

    def __init__(self, lines: list[TextIO], parquet: Path | None) -> None:
        self.lines, self.parquet = lines, parquet
        self.times: list[float] = []
        self.rows: list[list[float]] = []
        self.names: tuple[str, ...] = ()

    def write(self, estimate: LiveEstimate) -> None:
        """Tell one estimate."""
        if self.lines:
            line = line_of(estimate.as_dict()) + "\n"
            for file in self.lines:
                file.write(line)
                file.flush()
        if self.parquet is not None and estimate.time is not None:
            self.names = estimate.names
            self.times.append(estimate.time)
            self.rows.append([*estimate.values.tolist(), *estimate.std.tolist()])

    def finish(self, temporary: Path) -> None:
        """Write the Parquet file: time, then value and deviation of every parameter."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        n = len(self.names)
        columns: dict[str, list[float]] = {"time": self.times}
        for k, name in enumerate(self.names):
            columns[name] = [row[k] for row in self.rows]
            columns[f"{name}.std"] = [row[n + k] for row in self.rows]
        pq.write_table(pa.table(columns), temporary)


@contextmanager
def output(out: Path | None, parquet: Path | None, *, to_screen: bool) -> Iterator[Output]:
    """An Output whose files take their names when all went well."""
    with ExitStack() as stack:
        lines: list[TextIO] = [sys.stdout] if to_screen else []
        if out is not None:
            temporary = stack.enter_context(atomic_path(out))
            lines.append(stack.enter_context(temporary.open("w", encoding="utf-8")))
        place = stack.enter_context(atomic_path(parquet)) if parquet is not None else None
        made = Output(lines, parquet)
        yield made
        if place is not None:
            made.finish(place)
