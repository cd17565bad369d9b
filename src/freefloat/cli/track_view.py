"""How `freefloat track` shows estimates, live on a terminal, and writes them: lines and Parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import copysign, isnan, log10
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.text import Text

from freefloat.cli import screen
from freefloat.files import atomic_path
from freefloat.online.health import USED
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model
    from freefloat.online.health import Health
    from freefloat.online.live_estimate import LiveEstimate

BAND = 21  # format: characters of a band
FINEST = 1e-3  # format: natural sizes at the middle of a band; one is at its ends
NORMAL_95 = 1.96  # theory: standard deviations on either side that hold 95 % of a normal
RULER = "-100%  -1%|+1%  +100%"
STYLES = {"seen": "green", "weak": "yellow", "not seen": "dim", "no band": "dim"}
EVENTS = 4  # format: the last ones that are shown


def _table(estimate: LiveEstimate) -> RenderableType:
    """Parameters with values, deviations, and the interval around the model's value as a bar."""
    lines = zip(
        estimate.unknowns.free, estimate.values, estimate.std, estimate.statuses,
        estimate.sizes, strict=True,
    )  # fmt: skip
    rows = []
    for p, value, std, status, size in lines:
        half = NORMAL_95 * std
        rows.append((
            p.name, Text(f"{value:.6g}", style="" if status != "not seen" else "dim"),
            "–" if isnan(std) else f"{half:.2g}", p.unit,
            band((value - p.value) / size, half / size), Text(status, style=STYLES[status]),
        ))  # fmt: skip
    head = ("parameter", "value", "±95 %", "unit", RULER, "status")
    return screen.table(head, rows, align="LRRLLL")


def band(shift: float, half: float) -> str:
    """The interval on a line around the model's value, in parts of the natural size.

    The line is logarithmic: within 0.1 % of the model at the middle, 100 % off at the ends.

    >>> band(0.02, 0.01), band(0.0, 1e-4)
    ('··········|··═●═·····', '··········●··········')
    """
    middle = BAND // 2
    cells = ["·"] * BAND
    cells[middle] = "|"
    if isnan(half):
        return "".join(cells)

    def cell(x: float) -> int:
        decades = log10(max(FINEST, min(abs(x), 1.0)) / FINEST) / -log10(FINEST)
        return middle + round(copysign(middle * decades, x))

    for k in range(cell(shift - half), cell(shift + half) + 1):
        cells[k] = "═"
    cells[cell(shift)] = "●"
    return "".join(cells)


def estimate_view(estimate: LiveEstimate, *, is_last: bool = False) -> RenderableType:
    """What a person watches: the table, how the samples do, and the last events.

    is_last: only the table, where a summary with the rest follows.
    """
    from rich.console import Group

    health = estimate.health
    when = "no sample used yet" if estimate.time is None else f"t = {estimate.time:.2f} s"
    if is_last:
        title = f"At the end, {when}:"
        if estimate.time is None:
            title = "No sample was used; these are the model's values:"
        return Group(Text(title, style="dim"), _table(estimate))
    lines = [Text(f"{when}   samples: {sample_counts(health)}", style="dim"), _table(estimate)]
    lines += [Text(line) for line in dict.fromkeys([health.sentence, estimate.status])]
    lines += [
        Text(f"{event.time:.2f} s {event.kind}: {event.message}", style="yellow")
        for event in health.events[-EVENTS:]
    ]
    return Group(*lines)


def sample_counts(health: Health) -> str:
    """How many samples came, how many were used, and what became of the others.

    >>> from freefloat.online.health import Health
    >>> sample_counts(Health({"begun": 1, "taken": 97, "spike": 2}))
    '100, 98 of them used; not used: 2 spike'
    """
    unused = {word: n for word, n in health.counts.items() if word not in USED and n}
    rest = ", ".join(f"{n} {word}" for word, n in unused.items())
    text = f"{health.n_samples}, {health.n_samples - health.n_rejected} of them used"
    return f"{text}; not used: {rest}" if rest else text


def announcement(
    model: Model, n: int, source: str, notes: tuple[str, ...]
) -> Iterator[RenderableType]:
    """What is about to be tracked."""
    yield Text.assemble(
        (model.name, "bold"), f": tracking {count_noun(n, 'parameter')} from {source}"
    )
    for note in notes:
        yield screen.indent(Text(note, style="dim"))


def summary(
    estimate: LiveEstimate,
    latency: dict[str, float],
    n_lost: int,
    files: list[str],
    *,
    unused: Sequence[str],
) -> Iterator[RenderableType]:
    """How it went: samples, events, latencies, files."""
    health = estimate.health
    pairs: list[tuple[str, object]] = [("samples", sample_counts(health))]
    pairs.append(("health", health.sentence))
    if estimate.time is not None and estimate.status not in health.concerns:
        pairs.append(("parameters", estimate.status))
    if unused:
        pairs.append(("unknown channels", listing(unused, most=4)))
    if n_lost:
        pairs.append(("connections lost", n_lost))
    pairs += [(f"{event.time:.2f} s", event.message) for event in health.events[-EVENTS:]]
    pairs.append(
        (
            "latency",
            f"{latency['p50_us']:.0f} us (median), {latency['p99_us']:.0f} us (99 %),"
            f" {latency['max_us']:.0f} us (longest)",
        )
    )
    pairs += [("written", name) for name in files]
    yield screen.facts(pairs)


# -- estimates written to files --------------------------------------------------------------------


class EstimateWriter:
    """Writes estimates: to standard output and to files, as asked for."""

    def __init__(self, lines: list[TextIO], parquet: Path | None) -> None:
        self.lines, self.parquet = lines, parquet
        self.times: list[float] = []
        self.rows: list[list[float]] = []
        self.names: tuple[str, ...] = ()

    def write(self, estimate: LiveEstimate) -> None:
        """Write one estimate."""
        if self.lines:
            line = screen.json_text(estimate.as_dict()) + "\n"
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
def open_writer(
    out: Path | None, parquet: Path | None, *, to_screen: bool
) -> Iterator[EstimateWriter]:
    """A writer whose files take their names when all went well."""
    with ExitStack() as stack:
        lines: list[TextIO] = [sys.stdout] if to_screen else []
        if out is not None:
            temporary = stack.enter_context(atomic_path(out))
            lines.append(stack.enter_context(temporary.open("w", encoding="utf-8")))
        place = stack.enter_context(atomic_path(parquet)) if parquet is not None else None
        writer = EstimateWriter(lines, parquet)
        yield writer
        if place is not None:
            writer.finish(place)
