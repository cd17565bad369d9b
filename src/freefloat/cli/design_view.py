"""How `freefloat design` tells what it found, to people and to machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import counted, facts, heading, indented, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.cli.design import DesignRequest
    from freefloat.design import Design

SHOWN_LIMITS = 6
NOT_WRITTEN = "the plan was not written: add --out plan.toml to keep it"


def announcement(request: DesignRequest) -> Iterator[RenderableType]:
    """What is about to be designed for; the first thing a person sees."""
    unknowns = counted(len(request.parameters.free_ones), "parameter")
    motion = request.motion
    yield Text.assemble(
        (request.model.name, "bold"),
        f": a motion of {motion.duration:g} s that shows {unknowns}",
    )
    yield indented(Text(f"looked for: {', '.join(request.free)}"))
    yield indented(Text(f"criterion: {request.criterion}, {motion.shape}, seed {motion.seed}"))
    if motion.scenarios:
        yield indented(Text(f"worst of {counted(1 + motion.scenarios, 'model')}"))


def overview(request: DesignRequest, found: Design) -> Iterator[RenderableType]:
    """What was found: parameters before and after, limits, files."""
    yield ""
    yield Text(f"{found.measure}: {found.value:.4g}", style="bold green")
    yield indented(Text(f"{counted(found.n_flights, 'flight')} tried", style="dim"))
    yield ""
    yield heading("Expected standard deviations")
    known = _known(request)
    second = "known to" if known else "value"
    yield table(
        ("parameter", second, "default motion", "designed", "better by", "unit "),
        _parameter_rows(found, known),
    )
    yield ""
    yield heading("Limits, replayed at a tenth of the step: none exceeded")
    yield table(("limit", "used", "of", "unit "), _limit_rows(found))
    for note in found.notes:
        yield indented(Text(f"note: {note}", style="yellow"))
    yield ""
    yield heading("Files")
    if request.files:
        yield facts((name, str(path)) for name, path in request.files.items())
    if "plan" not in request.files:
        yield indented(Text(NOT_WRITTEN, style="yellow"))


def _known(request: DesignRequest) -> dict[str, float]:
    """What is known beforehand of parameters that have a prior: their deviations."""
    return {p.name: p.prior[1] for p in request.parameters.free_ones if p.prior is not None}


def _parameter_rows(found: Design, known: dict[str, float]) -> Iterator[tuple[str, ...]]:
    if found.after is None:
        return
    for sight, (_, old, new) in zip(found.after.parameters, found.comparison(), strict=True):
        gain = f"{old / new:.3g} x" if math.isfinite(old) and new > 0.0 else "-"
        second = f"{sight.value:.5g}"
        if known:
            second = f"{known[sight.name]:.3g}" if sight.name in known else "nothing"
        yield sight.name, second, _number(old), _number(new), gain, sight.unit


def _limit_rows(found: Design) -> Iterator[tuple[str, ...]]:
    for usage in found.usage[:SHOWN_LIMITS]:
        limit = usage.limit
        value = f">= {limit.value:.4g}" if limit.quantity == "clearance" else f"{limit.value:.4g}"
        yield limit.name, f"{100.0 * usage.share:.1f} %", value, limit.unit


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "not seen"


def as_dict(request: DesignRequest, found: Design) -> dict[str, object]:
    """The same for machines; everything in the units it names, null where a number is not known."""
    sights = found.after.parameters if found.after is not None else ()
    known = _known(request)
    return {
        "ok": True,
        "model": request.model.name,
        "free": request.free,
        "criterion": found.criterion,
        "measure": found.measure,
        "value": found.value,
        "duration": found.plan.duration,
        "parameters": [
            {"name": sight.name, "unit": sight.unit, "value": sight.value, "status": sight.status,
             "std_prior": known.get(sight.name), "std_default": old, "std": new}
            for sight, (_, old, new) in zip(sights, found.comparison(), strict=True)
        ],
        "limits": [
            {"name": one.limit.name, "unit": one.limit.unit, "limit": one.limit.value,
             "share": one.share}
            for one in found.usage
        ],
        "flights": found.n_flights,
        "seed": found.seed,
        "is_interrupted": found.is_interrupted,
        "notes": found.notes,
        "files": {name: str(path) for name, path in request.files.items()},
    }  # fmt: skip
