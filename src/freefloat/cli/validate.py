"""`freefloat validate`: does an identified model predict a flight it has not seen?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit, Model, Verdict

SUFFIXES = {"--out": (".json",), "--report": (".html", ".htm")}


def validate(
    fit: str,
    flight: Path,
    /,
    *,
    error: float = 10.0,
    tip: float | None = None,
    deflections: Annotated[bool, FLAG] = False,
    out: Path | None = None,
    report: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Say whether an identified model predicts a flight it has not seen, and why.

    The joints follow the recording; the base, wings and fuel must do what the
    model says. Every sensor is compared with its prediction: fit, error,
    whether what is left is noise, whether momentum balances, and whether the
    model before was any worse. Exit code 1 says that a criterion is not met.

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
        Also fit where wings and fuel start; at rest unless said.
    out
        The verdict to write (.json); nothing unless said.
    report
        The verdict as one page of HTML to write; nothing unless said.
    """
    from freefloat.cli import screen
    from freefloat.cli.waiting import progress, tell_first_run
    from freefloat.validation.acceptance import AcceptanceLimits

    _require(error, tip, {"--out": out, "--report": report})
    source = _source(fit)
    from freefloat.identification.fit import Fit
    from freefloat.telemetry import read_telemetry

    recorded = read_telemetry(flight)
    tell_first_run("tangent.rk4_tangent", takes="about half a minute")
    from freefloat.validation.validate import validate as judge

    limits = AcceptanceLimits(error=error / 100.0, tip=None if tip is None else tip / 1000.0)
    with progress("predicting") as told:
        verdict = judge(
            source, recorded, limits=limits, deflections=deflections, progress=told
        )  # fmt: skip
    written: dict[str, Path] = {}
    if out is not None:
        verdict.save(out)
        written["verdict"] = out
    if report is not None:
        verdict.save_report(report, source if isinstance(source, Fit) else None)
        written["report"] = report
    if shared.json:
        screen.print_json(as_dict(verdict, fit, flight, written))
    else:
        screen.show(*overview(verdict, written))
    return 0 if verdict.is_positive else 1


def _source(name: str) -> Fit | Model:
    if Path(name).suffix.lower() == ".json":
        from freefloat.identification.fit_files import load_fit

        return load_fit(name)
    from freefloat.model import load_model

    return load_model(name)


def _require(error: float, tip: float | None, files: dict[str, Path | None]) -> None:
    """Everything that can fail fast fails here, all faults at once."""
    from freefloat.cli.simulate_request import require_writable
    from freefloat.errors import Fault, FreefloatError

    faults = [
        Fault(name, f"{value:g}", f"{unit}, more than 0", "correct it")
        for name, value, unit in (("--error", error, "per cent"), ("--tip", tip, "millimetres"))
        if value is not None and not 0.0 < value < float("inf")
    ]
    for name, path in files.items():
        if path is not None and path.suffix.lower() not in SUFFIXES[name]:
            expected = "a name that ends in " + " or ".join(SUFFIXES[name])
            faults.append(Fault(name, str(path), expected, "the suffix says what it is"))
    if faults:
        raise FreefloatError("these arguments cannot be used:", faults)
    for path in files.values():
        if path is not None:
            require_writable(path)


def overview(verdict: Verdict, written: dict[str, Path]) -> Iterator[RenderableType]:
    """The verdict as it shows itself, and the files."""
    from rich.text import Text

    from freefloat.cli.screen import facts, heading

    first, _, rest = str(verdict).partition("\n")
    yield Text(first, style="bold green" if verdict.is_positive else "bold red")
    yield Text(rest, overflow="fold")
    if written:
        yield ""
        yield heading("Files")
        yield facts((name, str(path)) for name, path in written.items())


def as_dict(
    verdict: Verdict, fit: str, flight: Path, written: dict[str, Path]
) -> dict[str, object]:
    """The same for machines; curves are in the saved verdict only."""
    from dataclasses import asdict

    return {
        "ok": verdict.is_positive,
        "fit": fit,
        "flight": str(flight),
        "model": verdict.model,
        "is_positive": verdict.is_positive,
        "has_run": verdict.has_run,
        "execution": verdict.execution,
        "status": verdict.status,
        "criteria": [asdict(criterion) for criterion in verdict.criteria],
        "scores": [{**asdict(s), "ratio": s.ratio} for s in verdict.scores],
        "residuals": [
            {"channel": w.channel, "outside": w.outside, "largest": w.largest, "band": w.band}
            for w in verdict.whiteness
        ],
        "balances": [asdict(balance) for balance in verdict.balances],
        "end_effectors": [asdict(end) for end in verdict.end_effectors],
        "quality": verdict.quality,
        "notes": verdict.notes,
        "provenance": verdict.provenance,
        "files": {name: str(path) for name, path in written.items()},
    }
