"""What `freefloat identify` shows: what is looked for, and what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.output_files import paths_as_text
from freefloat.errors import visible
from freefloat.text import count_noun, listing, name_list

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit, Telemetry
    from freefloat.cli.identify import IdentifyRequest

NOT_WRITTEN = "the fit was not written: add --out fit.json to keep it"


def announcement(request: IdentifyRequest) -> Iterator[RenderableType]:
    """What is about to be looked for, and in what; the first thing a person sees."""
    from freefloat.identification.recording_warnings import recording_warnings

    unknowns = count_noun(len(request.parameters.free_ones), "parameter")
    yield Text.assemble((request.model.name, "bold"), f": {unknowns} to estimate")
    chosen = ", ".join(request.free)
    yield screen.indent(Text(f"free: {chosen}"))
    if request.is_default:
        default = "(the default: root body and whatever is grasped; --free GLOB chooses others)"
        yield screen.indent(Text(default, style="dim"))
    weighed = [p.name for p in request.parameters.free_ones if p.prior is not None]
    if weighed:
        yield screen.indent(Text(f"with a prior: {name_list(weighed)}"))
    for path, flight in request.flights.items():
        text = f"flight: {visible(str(path))}, {flight.duration:.4g} s"
        yield screen.indent(Text(text, overflow="fold"))
        if invalid := _invalid_samples(flight):
            each = [f"{name} ({n})" for name, n in invalid.items()]
            yield screen.indent(Text(f"invalid samples in it: {listing(each, most=4)}"))
    for odd in recording_warnings(request.model, list(request.flights.values())):
        yield screen.indent(Text(odd, style="yellow"))


def _invalid_samples(flight: Telemetry) -> dict[str, int]:
    """How many samples of each channel cannot be used, such as `nan` or a number too large."""
    return {name: c.n_invalid for name, c in flight.channels.items() if c.n_invalid}


def overview(fit: Fit, request: IdentifyRequest) -> Iterator[RenderableType]:
    """What was found: the fit as it shows itself, and the files."""
    from freefloat.identification.fit_text import mass_properties_text

    written = request.files
    first, _, rest = str(fit).partition("\n")
    yield ""
    yield Text(first, style=grade_style(fit))
    yield Text(rest, overflow="fold")
    if request.choices.mass_properties:
        yield Text(mass_properties_text(fit), overflow="fold")
    yield from screen.files_section(written, missing="" if "fit" in written else NOT_WRITTEN)


def estimates_json(fit: Fit) -> list[dict[str, object]]:
    """The estimates for machines, with both deviations and the intervals of both."""
    return [{**asdict(e), "total_interval95": e.total_interval95} for e in fit.estimates]


def grade_style(fit: Fit) -> str:
    """Green, yellow or red, as the grade is."""
    return {"trusted": "bold green", "not trusted": "bold red"}.get(fit.grade, "bold yellow")


def as_dict(request: IdentifyRequest, fit: Fit) -> dict[str, object]:
    """The same for machines; everything in the units it names, null where a number is not known."""
    from freefloat.identification.fit_text import deviation_words

    return {
        "ok": fit.is_trustworthy,
        "model": fit.model.name,
        "flights": [str(path) for path in request.flights],
        "invalid_samples": [_invalid_samples(flight) for flight in request.flights.values()],
        "free": request.free,
        "method": fit.method,
        "reason": fit.reason,
        "status": fit.status,
        "status_code": fit.status_code,
        "is_trustworthy": fit.is_trustworthy,
        "grade": fit.grade,
        "assessment": None if fit.assessment is None else asdict(fit.assessment),
        "scale": fit.scale,
        "parameters": estimates_json(fit),
        "deviations": deviation_words(fit),
        "mass_properties": [asdict(one) for one in fit.mass_properties],
        "adjusted": dict(fit.adjusted),
        "combinations": [asdict(combination) for combination in fit.combinations],
        "trades": fit.trades,
        "residuals": [asdict(residual) for residual in fit.residuals],
        "notes": screen.notes_json(fit.notes),
        "provenance": fit.provenance,
        "files": paths_as_text(request.files),
    }
