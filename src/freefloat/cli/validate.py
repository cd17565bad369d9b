"""`freefloat validate`: does an identified model predict a flight it has not seen?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import (
    FLAG,
    REPEATED,
    RecordingOptions,
    Shared,
    check_value,
    read_flight,
    read_plans,
    require,
)
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.cli.run_record import given_options, source_record
from freefloat.cli.settings import parse_settings
from freefloat.errors import Fault
from freefloat.files import together
from freefloat.records.values import Positive

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit, Model, Telemetry, Verdict

StartKind = Literal["search", "rest", "plan"]


def validate(
    fit: str,
    flight: Path,
    /,
    *,
    error: float = 10.0,
    tip: float | None = None,
    plan: Path | None = None,
    start: StartKind = "search",
    raw: Annotated[bool, FLAG] = False,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    out: Path | None = None,
    report: Path | None = None,
    plot: Path | None = None,
    reading: RecordingOptions = RecordingOptions(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Say whether an identified model predicts a flight it has not seen, and why.

    The joints follow the recording, and the initial state is estimated from it;
    the motion of base, wings and fuel is predicted. The residuals must be noise,
    allowing for the total deviations of the fit. Exit code 1: a criterion is
    not met.

    For example:
      freefloat validate fit.json second.parquet --report verdict.html
      freefloat validate my.toml flight.csv --tip 5

    Parameters
    ----------
    fit
        A fit (.json) that `freefloat identify --out` wrote; or a model, by name or file.
    flight
        Telemetry of another flight: .parquet, .pq, .csv, .tsv, .mcap or .mat; any other with --map.
    error
        Allowed prediction error beyond the noise, relative to the signal [%].
    tip
        Allowed mean error of an end-effector [mm]; not judged by default.
    plan
        The commanded plan (.toml); it drives the prediction in place of the recorded joints.
    start
        Initial state: estimated (search), the same with wings and fuel at rest, or of the plan.
    raw
        Use the flight as it is. By default its faults are repaired first, and noted.
    set
        NAME=VALUE: an acceptance limit; may be repeated. `--set help` lists them.
    out
        Write the verdict to this file (.json).
    report
        Write a report of the verdict to this file (.html).
    plot
        Plot measured and predicted curves: .png, .svg or .pdf. Needs freefloat[plot].
    """
    files = OutputFiles(verdict=("--out", out), report=("--report", report), plot=("--plot", plot))
    limits = [*check_value("--error", error, Positive), *check_value("--tip", tip, Positive)]
    require([*limits, *_check_start(start, plan), *files.faults()])
    known, model = (fit, None) if _is_fit(fit) else (None, fit)
    files.require_possible(fit=known, model=model, flight=flight, plan=plan, map=reading.map)
    given = {"error": error / 100.0, "tip": None if tip is None else tip / 1000.0}
    given |= parse_settings("validate", set)["acceptance"]
    recorded = read_flight(flight, reading, max_bytes=shared.max_bytes)
    source = _source(fit, strict=shared.strict)
    how, record = {"start": start, "raw": raw}, _record(fit, flight, reading)
    verdict = _judge(source, recorded, plan, given, files.paths, how, record)
    if shared.json:
        screen.print_json(_as_dict(verdict, fit, flight, files.paths))
    else:
        screen.show(*_overview(verdict, files.paths))
    return 0 if verdict.is_positive else 1


def _record(fit: str, flight: Path, reading: RecordingOptions) -> dict[str, str]:
    options = given_options(reading)
    return source_record(fit, [flight], recording_map=reading.map, options=options)


def _check_start(start: StartKind, plan: Path | None) -> Iterator[Fault]:
    if start == "plan" and plan is None:
        remedy = "add --plan PLAN.toml, or leave --start out"
        yield Fault("--start", "plan, but no plan", "the plan as well", remedy, "option.conflict")


def _judge(
    source: Fit | Model,
    recorded: Telemetry,
    plan: Path | None,
    limits: Mapping[str, Any],
    files: Mapping[str, Path],
    how: Mapping[str, Any],
    record: Mapping[str, str],
) -> Verdict:
    """The verdict, with a bar while it is made, written where that was asked for."""
    from freefloat.cli.waiting import progress, tell_first_run

    tell_first_run("tangent.rk4_tangent", takes="about half a minute")
    # Here and not above: this loads Numba, and the note above should come before that.
    from freefloat.identification.fit import Fit
    from freefloat.validation.acceptance import AcceptanceLimits
    from freefloat.validation.validate import validate

    model = source.model if isinstance(source, Fit) else source
    flown = read_plans([] if plan is None else [plan], model)
    assert not isinstance(flown, list)  # of one plan at most
    with progress("predicting") as update:
        verdict = validate(
            source, recorded, limits=AcceptanceLimits(**limits), plan=flown, progress=update, **how
        )
    verdict = replace(verdict, provenance={**verdict.provenance, **record})
    with together():
        if "verdict" in files:
            verdict.save(files["verdict"])
        if "report" in files:
            verdict.save_report(files["report"], source if isinstance(source, Fit) else None)
        if "plot" in files:
            from freefloat.report.plots import save_figure
            from freefloat.report.result_plots import plot_prediction

            save_figure(plot_prediction(verdict), files["plot"])
    return verdict


def _is_fit(name: str) -> bool:
    return Path(name).suffix.lower() == ".json"


def _source(name: str, *, strict: bool) -> Fit | Model:
    if _is_fit(name):
        from freefloat.identification.fit import load_fit

        return load_fit(name)
    from freefloat.cli.robot_file import read_robot

    return read_robot(name, strict=strict)


def _overview(verdict: Verdict, written: dict[str, Path]) -> Iterator[RenderableType]:
    """The verdict as it shows itself, and the files."""
    first, _, rest = str(verdict).partition("\n")
    yield Text(first, style="bold green" if verdict.is_positive else "bold red")
    yield Text(rest, overflow="fold")
    yield from screen.files_section(written)


def _as_dict(
    verdict: Verdict, fit: str, flight: Path, written: dict[str, Path]
) -> dict[str, object]:
    """The same for machines; curves are in the saved verdict only."""
    return {
        "ok": verdict.is_positive,
        "fit": fit,
        "flight": str(flight),
        "model": verdict.model,
        "is_positive": verdict.is_positive,
        "has_run": verdict.has_run,
        "execution": verdict.execution,
        "status": verdict.status,
        "status_code": verdict.status_code,
        "criteria": [asdict(criterion) for criterion in verdict.criteria],
        "scores": [{**asdict(s), "ratio": s.ratio} for s in verdict.scores],
        "residuals": [
            {"channel": w.channel, "outside": w.outside, "largest": w.largest, "band": w.band}
            for w in verdict.whiteness
        ],
        "balances": [asdict(balance) for balance in verdict.balances],
        "end_effectors": [asdict(end) for end in verdict.end_effectors],
        "quality": verdict.quality,
        "notes": screen.notes_json(verdict.notes),
        "provenance": verdict.provenance,
        "files": paths_as_text(written),
    }
