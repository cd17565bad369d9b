"""How `freefloat track` shows estimates: live on a terminal, and at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import copysign, isnan, log10
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from freefloat.cli import screen
from freefloat.digits import amount_text
from freefloat.errors import visible
from freefloat.identification.fit_text import GRADE_WORDS
from freefloat.online.health import USED
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model
    from freefloat.identification.assessment import Evidence
    from freefloat.online.health import Health
    from freefloat.online.live_estimate import LiveEstimate

BAND = 21  # format: characters of a band
FINEST = 1e-3  # format: natural sizes at the middle of a band; one is at its ends
NORMAL_95 = 1.96  # theory: standard deviations on either side that hold 95 % of a normal
RULER = "-100%  -1%|+1%  +100%"
STYLES = {"seen": "green", "weak": "yellow", "not seen": "dim", "no band": "dim"}
EVENTS = 4  # format: the last ones that are shown
DOUBTS = 3  # format: the most important ones that are shown
GRADE_STYLES = {"trusted": "green", "with reservations": "yellow", "not trusted": "red"}


def _table(estimate: LiveEstimate) -> RenderableType:
    """Parameters with both deviations, and the total interval around the model's value as a bar."""
    total = estimate.total_std
    has_total = bool(np.isfinite(total).any())
    lines = zip(
        estimate.unknowns.free, estimate.values, estimate.std,
        total if has_total else estimate.std, estimate.statuses, estimate.sizes, strict=True,
    )  # fmt: skip
    rows = []
    for p, value, std, whole, status, size in lines:
        half = NORMAL_95 * whole
        both = ["–" if isnan(one) else f"{one:.2g}" for one in (std, whole)]
        rows.append((
            p.name, Text(f"{value:.6g}", style="" if status != "not seen" else "dim"),
            *both[: 1 + has_total], p.unit,
            band((value - p.value) / size, half / size), Text(status, style=STYLES[status]),
        ))  # fmt: skip
    head = ("parameter", "value", "± std", *["± total"] * has_total, "unit", RULER, "status")
    # the status says in short what the line shows, and the total deviation is the one to go by
    optional = (RULER, *["± std"] * has_total, "status")
    return screen.table(head, rows, align="LRR" + "R" * has_total + "LLL", optional=optional)


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
    lines.append(grade_line(estimate))
    lines += [Text(line) for line in dict.fromkeys([health.sentence, estimate.status])]
    lines += [
        Text(f"{event.time:.2f} s {event.kind}: {event.message}", style="yellow")
        for event in health.events[-EVENTS:]
    ]
    return Group(*lines)


def grade_line(estimate: LiveEstimate) -> Text:
    """Whether the estimate is to be believed, in the colour of its grade."""
    grade = estimate.grade
    return Text(f"the estimate {GRADE_WORDS[grade]}", style=GRADE_STYLES[grade])


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


def fill_texts(health: Health) -> dict[str, str]:
    """The fill values of each channel, and how many readings of it were masked.

    >>> from freefloat.online.health import Health
    >>> fill_texts(Health({}, fill_values={"base.rate.z": {-9999.0: 12, 1e30: 1}}))
    {'base.rate.z': '-9999 (12 times), 1e+30 (1 time)'}
    """
    return {
        name: ", ".join(f"{value:.6g} ({count_noun(n, 'time')})" for value, n in known.items())
        for name, known in health.fill_values.items()
    }


def announcement(
    model: Model, n: int, source: str, notes: tuple[str, ...]
) -> Iterator[RenderableType]:
    """What is about to be tracked."""
    yield Text.assemble(
        (model.name, "bold"), f": tracking {count_noun(n, 'parameter')} from {visible(source)}"
    )
    for note in notes:
        yield screen.indent(Text(note, style="dim"))


def summary(
    estimate: LiveEstimate,
    latency: dict[str, float],
    remarks: Sequence[tuple[str, object]],
    files: list[str],
    *,
    unused: Sequence[str],
) -> Iterator[RenderableType]:
    """How it went: samples, remarks (such as lost connections), events, latencies, files."""
    health = estimate.health
    pairs: list[tuple[str, object]] = [("samples", sample_counts(health))]
    pairs.append(("grade", grade_line(estimate)))
    pairs += [("", _sentence(e)) for e in estimate.assessment.reasons]
    if health.is_fine:
        pairs.append(("health", health.sentence))
    pairs += [("scale", line) for line in _scale(estimate)]
    if estimate.time is not None and estimate.status not in health.concerns:
        pairs.append(("parameters", estimate.status))
    pairs += [("fill values", f"{name}: {text}") for name, text in fill_texts(health).items()]
    if unused:
        pairs.append(("unknown channels", listing(unused, most=4)))
    pairs += remarks
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


def _sentence(reason: Evidence) -> str:
    """Why the grade is no better, and what to do."""
    return f"{reason.text}; {reason.remedy}" if reason.remedy else reason.text


def _scale(estimate: LiveEstimate) -> Iterator[str]:
    """What is taken for exact, and what its doubt does to the estimates."""
    for doubt in estimate.assessment.doubts[:DOUBTS]:
        origin = "stated" if doubt.is_stated else "assumed"
        yield (
            f"{doubt.name} ± {amount_text(doubt.deviation, doubt.unit)} ({origin}):"
            f" known exactly, {100.0 * doubt.share:.3g} % less variance of {doubt.moves}"
        )
