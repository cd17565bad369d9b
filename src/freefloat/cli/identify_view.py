"""How `freefloat identify` tells what it found, to people and to machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import counted, facts, heading, indented, named

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit
    from freefloat.cli.identify import IdentifyRequest

NOT_WRITTEN = "the fit was not written: add --out fit.json to keep it"


def announcement(request: IdentifyRequest) -> Iterator[RenderableType]:
    """What is about to be looked for, and in what; the first thing a person sees."""
    from freefloat.identification.recording_warnings import suspicions

    unknowns = counted(len(request.parameters.free_ones), "parameter")
    yield Text.assemble((request.model.name, "bold"), f": {unknowns} to be found")
    chosen = ", ".join(request.free)
    yield indented(Text(f"looked for: {chosen}"))
    if request.is_default:
        yield indented(
            Text(
                "(the default: root body and whatever is grasped; --free GLOB chooses others)",
                style="dim",
            )
        )
    weighed = [p.name for p in request.parameters.free_ones if p.prior is not None]
    if weighed:
        yield indented(Text(f"with a prior: {named(weighed)}"))
    for path, flight in request.flights.items():
        yield indented(Text(f"flight: {path}, {flight.duration:.4g} s", overflow="fold"))
    for odd in suspicions(request.model, list(request.flights.values())):
        yield indented(Text(odd, style="yellow"))


def overview(fit: Fit, written: dict[str, Path]) -> Iterator[RenderableType]:
    """What was found: the fit as it shows itself, and the files."""
    first, _, rest = str(fit).partition("\n")
    yield ""
    yield Text(first, style="bold green" if fit.is_trustworthy else "bold red")
    yield Text(rest, overflow="fold")
    yield ""
    yield heading("Files")
    if written:
        yield facts((name, str(path)) for name, path in written.items())
    if "fit" not in written:
        yield indented(Text(NOT_WRITTEN, style="yellow"))


def as_dict(request: IdentifyRequest, fit: Fit, written: dict[str, Path]) -> dict[str, object]:
    """The same for machines; everything in the units it names, null where a number is not known."""
    return {
        "ok": fit.is_trustworthy,
        "model": fit.model.name,
        "flights": [str(path) for path in request.flights],
        "free": request.free,
        "method": fit.method,
        "reason": fit.reason,
        "status": fit.status,
        "is_trustworthy": fit.is_trustworthy,
        "scale": fit.scale,
        "parameters": [asdict(estimate) for estimate in fit.estimates],
        "combinations": [asdict(combination) for combination in fit.combinations],
        "trades": fit.trades,
        "residuals": [asdict(residual) for residual in fit.residuals],
        "notes": fit.notes,
        "provenance": fit.provenance,
        "files": {name: str(path) for name, path in written.items()},
    }
