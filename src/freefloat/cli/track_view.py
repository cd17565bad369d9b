"""How `freefloat track` shows estimates: a table with bands, live on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from freefloat.cli.screen import counted, facts, indented

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model
    from freefloat.identification.online.estimate import Estimate
    from freefloat.identification.online.health import Health

BAND = 21  # characters of a band
STYLES = {"seen": "green", "weak": "yellow", "not seen": "dim", "no band": "dim"}
EVENTS = 4  # the last ones that are shown


def table(estimate: Estimate) -> Table:
    """Parameters with values, deviations and where the truth may be: model value as a bar."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title, justify in (
        ("parameter", "left"), ("value", "right"), ("±95 %", "right"), ("unit", "left"),
        ("from the model", "left"), ("status", "left"),
    ):  # fmt: skip
        grid.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    rows = zip(
        estimate.unknowns.free, estimate.values, estimate.std, estimate.statuses,
        estimate.unknowns.sizes[len(estimate.unknowns.nuisance) :], strict=True,
    )  # fmt: skip
    for p, value, std, status, size in rows:
        wide = "–" if isnan(std) else f"{1.96 * std:.2g}"
        grid.add_row(
            p.name, f"{value:.6g}", wide, p.unit, band((value - p.value) / size, 1.96 * std / size),
            Text(status, style=STYLES[status]),
        )  # fmt: skip
    return grid


def band(shift: float, half: float) -> str:
    """A line from -1 to +1 natural sizes around the model's value, with the interval on it.

    >>> band(0.5, 0.2)
    '··········|··══●══···'
    """
    if isnan(half):
        return "·" * (BAND // 2) + "|" + "·" * (BAND // 2)
    middle = BAND // 2
    cells = ["·"] * BAND
    cells[middle] = "|"

    def cell(x: float) -> int:
        return round(middle * (1.0 + max(-1.0, min(1.0, x))))

    for k in range(cell(shift - half), cell(shift + half) + 1):
        cells[k] = "═"
    cells[cell(shift)] = "●"
    return "".join(cells)


def screenful(estimate: Estimate, health: Health) -> RenderableType:
    """What a person watches: the table, how the samples do, and the last events."""
    from rich.console import Group

    when = "–" if estimate.time is None else f"{estimate.time:.2f} s"
    told = ", ".join(f"{n} {word}" for word, n in health.counts.items())
    lines = [Text(f"{when}   {told}", style="dim"), table(estimate), Text(health.sentence)]
    lines += [
        Text(f"{event.time:.2f} s {event.kind}: {event.message}", style="yellow")
        for event in health.events[-EVENTS:]
    ]
    return Group(*lines)


def announcement(
    model: Model, n: int, source: str, notes: tuple[str, ...]
) -> Iterator[RenderableType]:
    """What is about to be tracked."""
    yield Text.assemble((model.name, "bold"), f": tracking {counted(n, 'parameter')} from {source}")
    for note in notes:
        yield indented(Text(note, style="dim"))


def summary(
    health: Health, latency: dict[str, float], n_lost: int, files: list[str]
) -> Iterator[RenderableType]:
    """How it went: samples, events, latencies, files."""
    counts = ", ".join(f"{n} {word}" for word, n in health.counts.items()) or "none"
    pairs: list[tuple[str, object]] = [("samples", counts), ("health", health.sentence)]
    if n_lost:
        pairs.append(("connections lost", n_lost))
    pairs += [(f"{event.time:.2f} s", event.message) for event in health.events[-EVENTS:]]
    pairs.append(
        (
            "an update",
            f"{latency['p50_us']:.0f} us (median), {latency['p99_us']:.0f} us (99 %),"
            f" {latency['max_us']:.0f} us (longest)",
        )
    )
    pairs += [("written", name) for name in files]
    yield facts(pairs)
