"""`freefloat validate`: does an identified model predict a flight it has not seen?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import (
    FLAG,
    REPEATED,
    OutputFiles,
    Shared,
    check_value,
    paths_as_text,
    require,
)
from freefloat.cli.settings import parse_settings
from freefloat.records.values import Positive

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit, Model, Verdict


def validate(
    fit: str,
    flight: Path,
    /,
    *,
    error: float = 10.0,
    tip: float | None = None,
    deflections: Annotated[bool, FLAG] = False,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    out: Path | None = None,
    report: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Say whether an identified model predicts a flight it has not seen, and why.

    The joints follow the recording; the base, wings and fuel are predicted.
    Every sensor is compared with its prediction: fit, error, whether residuals
    are white, whether momentum balances, and whether the model before
    identification was any worse. Exit code 1 says that a criterion is not met.

    For example:
      freefloat validate fit.json second.parquet --report verdict.html
      freefloat validate my.toml flight.csv --tip 5

    Parameters
    ----------
    fit
        A fit (.json) that `freefloat identify --out` wrote; or a model, by name or file.
    flight
        Telemetry of another flight: .parquet, .pq, .csv or .tsv.
    error
        Prediction error that is allowed beyond the noise, of what was seen [%].
    tip
        Mean error of an end-effector that is allowed [mm]; not judged unless said.
    deflections
        Also estimate the initial deflections of wings and fuel; at rest unless said.
    set
        NAME=VALUE: another limit of acceptance; may be repeated. `--set help` lists them.
    out
        The verdict to write (.json); nothing unless said.
    report
        The verdict as one page of HTML to write; nothing unless said.
    """
    files = OutputFiles(verdict=("--out", out), report=("--report", report))
    require(
        [
            *check_value("--error", error, Positive),
            *check_value("--tip", tip, Positive),
            *files.faults(),
        ]
    )
    files.require_possible()
    given = {"error": error / 100.0, "tip": None if tip is None else tip / 1000.0}
    given |= parse_settings("validate", set)["acceptance"]
    verdict = _judge(fit, flight, given, files.paths, deflections=deflections)
    if shared.json:
        screen.print_json(_as_dict(verdict, fit, flight, files.paths))
    else:
        screen.show(*_overview(verdict, files.paths))
    return 0 if verdict.is_positive else 1


def _judge(
    fit: str,
    flight: Path,
    limits: Mapping[str, Any],
    files: Mapping[str, Path],
    *,
    deflections: bool,
) -> Verdict:
    """The verdict, with a bar while it is made, written where that was asked for."""
    from freefloat.cli.waiting import progress, tell_first_run

    source = _source(fit)
    from freefloat.telemetry import read_telemetry

    recorded = read_telemetry(flight)
    tell_first_run("tangent.rk4_tangent", takes="about half a minute")
    # Here and not above: this loads Numba, and the note above should come before that.
    from freefloat.identification.fit import Fit
    from freefloat.validation.acceptance import AcceptanceLimits
    from freefloat.validation.validate import validate

    with progress("predicting") as update:
        verdict = validate(
            source, recorded, limits=AcceptanceLimits(**limits), deflections=deflections,
            progress=update,
        )  # fmt: skip
    if "verdict" in files:
        verdict.save(files["verdict"])
    if "report" in files:
        verdict.save_report(files["report"], source if isinstance(source, Fit) else None)
    return verdict


def _source(name: str) -> Fit | Model:
    if Path(name).suffix.lower() == ".json":
        from freefloat.identification.fit import load_fit

        return load_fit(name)
    from freefloat.model import load_model

    return load_model(name)


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
