"""`freefloat diagnose`: which assumption a recording contradicts, and what that does to the fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.identify import (
    Choices,
    IdentifyRequest,
    parse_request,
    run_identification,
    state_uncertainty,
)
from freefloat.cli.identify_view import estimates_json, grade_style
from freefloat.cli.options import FLIGHTS, RecordingOptions, Shared
from freefloat.cli.output_files import OutputFiles
from freefloat.cli.parameter_options import FitParameterOptions
from freefloat.digits import amount_text
from freefloat.errors import Fault, IdentificationError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit
    from freefloat.identification.assessment import Assessment, Cause


def diagnose(
    model: str,
    /,
    *flights: Annotated[Path, FLIGHTS],
    fit: Path | None = None,
    wanted: FitParameterOptions = FitParameterOptions(),  # noqa: B008
    choices: Choices = Choices(),  # noqa: B008
    reading: RecordingOptions = RecordingOptions(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Name the assumptions that recorded flights contradict.

    Everything the model takes as exact (thrust, delays, mounting of sensors,
    encoder zeros, link lengths, known masses, drag ...) is tested as the one
    thing that is wrong: how far off it would have to be, how much of the
    residuals that would explain, and how far the estimates would move. There
    is no refit. Exit code 1 says that the fit is not to be trusted.

    For example:
      freefloat diagnose spatial-capture flight.parquet
      freefloat diagnose my.toml flight.csv --fit fit.json

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    flights
        One or several flights: .parquet, .pq, .csv, .tsv, .mcap, .mat; any other with --map.
    fit
        A fit (.json), graded with the options it was made with; else the flights are fitted.
    """
    choices = replace(choices, assess=True)
    request = parse_request(
        model, flights, wanted, choices, OutputFiles(), reading=reading,
        max_bytes=shared.max_bytes, strict=shared.strict,
    )  # fmt: skip
    found = run_identification(request) if fit is None else _assess(fit, request)
    if shared.json:
        screen.print_json(_as_dict(model, found))
    else:
        screen.show(*_overview(found))
    return 0 if found.is_trustworthy else 1


def _assess(path: Path, request: IdentifyRequest) -> Fit:
    """A saved fit, graded by the flights given."""
    from freefloat.cli.waiting import progress
    from freefloat.identification.fit import MODELS, load_fit
    from freefloat.identification.output_error.options import SearchOptions
    from freefloat.identification.trust.assess import assess_fit
    from freefloat.identification.trust.trust_options import TrustOptions

    saved = load_fit(path)
    models = {key: state_uncertainty(getattr(saved, key), request.choices) for key in MODELS}
    saved = replace(saved, **models)
    if saved.model.name != request.model.name:
        expected, remedy = f"a fit of {request.model.name!r}", "give the model it was made of"
        fault = Fault("--fit", repr(saved.model.name), expected, remedy, "fit.other_model")
        raise IdentificationError("the fit is of another model:", [fault])
    with progress("assessing") as update:
        return assess_fit(
            saved, list(request.flights.values()), parameters=request.parameters,
            plan=request.plan, known_start=request.choices.known_start, raw=request.choices.raw,
            options=TrustOptions(**request.settings["assessment"]),
            search=SearchOptions(**request.settings["search"]), progress=update,
        )  # fmt: skip


def _overview(fit: Fit) -> Iterator[RenderableType]:
    """The grade with its reasons, the causes, and what carries the scale."""
    from freefloat.identification.fit_text import LIMIT_HEAD, limit_rows, verdict
    from freefloat.identification.trust.assumption_columns import is_common

    found = fit.assessment
    assert found is not None  # this verb always grades
    yield Text(verdict(fit), style=grade_style(fit))
    for reason in found.reasons:
        words = f"{reason.text}; {reason.remedy}" if reason.remedy else reason.text
        yield screen.indent(Text(f"· {words}", overflow="fold"))
    if found.causes:
        rows = [_row(cause) for cause in found.causes]
        head = ("taken as exact", "off by", "chi-square", "moves", "by [sigma]", "heals")
        yield from screen.section("Causes", screen.table(head, rows, align="Llrlrl"))
        name = found.causes[0].names[0]
        if not (found.causes[0].remedy or is_common(name)):
            hint = f"to fit it: freefloat identify ... --free {name}"
            yield screen.indent(Text(hint, style="dim"))
    else:
        yield screen.indent(Text("no single assumption is contradicted by the data"))
    yield from screen.section("Assumptions behind the total deviations", _doubts(found))
    if rows := limit_rows(fit):
        table = screen.table(LIMIT_HEAD, rows, align="Lrrrl")
        yield from screen.section("Would do harm before this flight shows it", table)


def _row(cause: Cause) -> tuple[str, ...]:
    names = cause.names[0] + (f" (or {', '.join(cause.names[1:3])})" if cause.names[1:] else "")
    return (
        names, amount_text(cause.amplitude, cause.unit, cause.std), f"{cause.chi_square:.3g}",
        cause.moves, f"{cause.shift:.2g}", "yes" if cause.heals else "no",
    )  # fmt: skip


def _doubts(found: Assessment) -> RenderableType:
    head = ("taken as exact", "doubt", "", "share of variance", "of")
    rows = [
        (c.name, amount_text(c.deviation, c.unit), "stated" if c.is_stated else "assumed",
         f"{100.0 * c.share:.3g} %", c.moves)
        for c in found.doubts[:10]
    ]  # fmt: skip
    return screen.table(head, rows, align="Lllrl") if rows else Text("  none that matters")


def _as_dict(model: str, fit: Fit) -> dict[str, object]:
    """The same for machines."""
    from freefloat.identification.fit_text import deviation_words

    assert fit.assessment is not None
    return {
        "ok": fit.is_trustworthy,
        "model": model,
        "method": fit.method,
        "status_code": fit.status_code,
        "grade": fit.grade,
        "assessment": asdict(fit.assessment),
        "parameters": estimates_json(fit),
        "deviations": deviation_words(fit),
        "adjusted": dict(fit.adjusted),
    }
