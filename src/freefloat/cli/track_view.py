"""How `freefloat track` shows estimates: a table with bands, live on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import copysign, isnan, log10
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from freefloat.cli.screen import counted, facts, indented
from freefloat.online.health import USED
from freefloat.online.status_text import listed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model
    from freefloat.online.health import Health
    from freefloat.online.live_estimate import LiveEstimate

BAND = 21  # characters of a band
FINEST = 1e-3  # natural sizes at the middle of a band; one is at its ends
RULER = "-100%  -1%|+1%  +100%"
STYLES = {"seen": "green", "weak": "yellow", "not seen": "dim", "no band": "dim"}
EVENTS = 4  # the last ones that are shown


def table(estimate: LiveEstimate) -> Table:
    """Parameters with values, deviations and where the truth may be: model value as a bar."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title, justify in (
        ("parameter", "left"), ("value", "right"), ("±95 %", "right"), ("unit", "left"),
        (RULER, "left"), ("status", "left"),
    ):  # fmt: skip
        grid.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    rows = zip(
        estimate.unknowns.free, estimate.values, estimate.std, estimate.statuses,
        estimate.unknowns.sizes[len(estimate.unknowns.nuisance) :], strict=True,
    )  # fmt: skip
    for p, value, std, status, size in rows:
        wide = "–" if isnan(std) else f"{1.96 * std:.2g}"
        shown = Text(f"{value:.6g}", style="" if status != "not seen" else "dim")
        grid.add_row(
            p.name, shown, wide, p.unit, band((value - p.value) / size, 1.96 * std / size),
            Text(status, style=STYLES[status]),
        )  # fmt: skip
    return grid


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


def screenful(estimate: LiveEstimate, *, told_once: bool = False) -> RenderableType:
    """What a person watches: the table, how the samples do, and the last events.

    told_once: only the table, where a summary with the rest follows.
    """
    from rich.console import Group

    health = estimate.health
    when = "no sample used yet" if estimate.time is None else f"t = {estimate.time:.2f} s"
    if told_once:
        told = f"At the end, {when}:"
        if estimate.time is None:
            told = "No sample was used; these are the model's values:"
        return Group(Text(told, style="dim"), table(estimate))
    lines = [Text(f"{when}   samples: {samples_told(health)}", style="dim"), table(estimate)]
    lines += [Text(line) for line in dict.fromkeys([health.sentence, estimate.sight])]
    lines += [
        Text(f"{event.time:.2f} s {event.kind}: {event.message}", style="yellow")
        for event in health.events[-EVENTS:]
    ]
    return Group(*lines)


def samples_told(health: Health) -> str:
    """How many samples came, how many were used, and what became of the others.

    >>> from freefloat.online.health import Health
    >>> samples_told(Health({"begun": 1, "taken": 97, "spike": 2}))
    '100, 98 of them used; not used: 2 spike'
    """
    unused = {word: n for word, n in health.counts.items() if word not in USED and n}
    rest = ", ".join(f"{n} {word}" for word, n in unused.items())
    told = f"{health.n_samples}, {health.n_samples - health.n_rejected} of them used"
    return f"{told}; not used: {rest}" if rest else told


def announcement(
    model: Model, n: int, source: str, notes: tuple[str, ...]
) -> Iterator[RenderableType]:
    """What is about to be tracked."""
    yield Text.assemble((model.name, "bold"), f": tracking {counted(n, 'parameter')} from {source}")
    for note in notes:
        yield indented(Text(note, style="dim"))


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
    pairs: list[tuple[str, object]] = [("samples", samples_told(health))]
    pairs.append(("health", health.sentence))
    if estimate.time is not None and estimate.sight not in health.concerns:
        pairs.append(("sight", estimate.sight))
    if unused:
        pairs.append(("not used", f"{listed(unused)}: unknown to this model"))
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
