"""`freefloat identify`: find parameters of a model from recorded flights, and say how surely."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from freefloat import Fit, Model, Parameters, Plan, Telemetry

Method = Literal[
    "auto", "momentum", "angular", "force", "torque", "weak", "energy", "reduced", "output_error"
]  # fmt: skip
Solver = Literal["corrected", "ls", "iv"]
Robust = Literal["none", "huber", "tukey"]
Clock = Literal["none", "base", "joints", "torques"]

# No --empty-free, and a glob such as [ab]* is not taken for a JSON list.
_REPEATED = Parameter(negative=(), show_default=False, json_list=False)
_FLIGHTS = Parameter(name="FLIGHT", required=True)
_FORCE_KERNEL = ("force", "torque")  # the methods that weigh forces, not momenta


@Parameter(name="*")
@dataclass(frozen=True)
class Choices:
    """How to identify: the method, its solver, and what is asked of the answer."""

    method: Method = "auto"
    """The equations to use; auto takes the best that the telemetry allows."""

    solver: Solver = "corrected"
    """Least squares corrected for noise in the equations, plain, or instrumental variables."""

    robust: Robust = "none"
    """How to weigh down outliers."""

    physical: bool = True
    """Look among bodies that can be real only."""

    momentum: Annotated[tuple[float, float, float] | None, _REPEATED] = None
    """Known angular momentum [N m s], world axes (angular method); 0 0 0 from rest."""

    drag: Annotated[bool, FLAG] = False
    """An air bearing brakes the base (angular method): one more unknown."""

    clock: Clock = "none"
    """Channels that may be late by an unknown time, which is then found as well."""
    plan: Annotated[tuple[Path, ...], _REPEATED] = ()
    """What was flown (output error): a plan .toml for all flights, or one each, repeated."""

    known_start: Annotated[bool, FLAG] = False
    """The flights began exactly as the plan says (output error)."""

    starts: int = 1
    """How many starts to try, the model's values and random ones (output error)."""

    profile: Annotated[tuple[str, ...], _REPEATED] = ()
    """Parameters (globs) whose intervals to find by profile likelihood (output error)."""


@dataclass(frozen=True)
class IdentifyRequest:
    """What to identify and from what: the arguments, read and found to make sense."""

    model: Model
    parameters: Parameters
    free: tuple[str, ...]
    is_default: bool  # nobody said what to look for
    flights: dict[Path, Telemetry]
    sources: dict[str, str]  # where model and flights came from, with the sha256 of the latter
    choices: Choices
    files: dict[str, Path]  # "fit", "model" and "report" where asked for


def identify(
    model: str,
    /,
    *flights: Annotated[Path, _FLIGHTS],
    free: Annotated[tuple[str, ...], _REPEATED] = (),
    fix: Annotated[tuple[str, ...], _REPEATED] = (),
    prior: Annotated[tuple[str, ...], _REPEATED] = (),
    choices: Choices = Choices(),  # noqa: B008
    out: Path | None = None,
    save_model: Path | None = None,
    report: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Find parameters of a model from recorded flights, and say how far to trust them.

    Every parameter gets a value, a standard deviation and a status: seen, weak,
    only in combination, invisible, at bound or fixed. Exit code 1 says that the
    answer is not to be trusted; the status says why and what to do.

    Globs choose parameters; quote them, or the shell may take them for files.

    For example:
      freefloat identify spatial-capture flight.parquet --report fit.html
      freefloat identify my.toml a.csv b.csv --free 'box.*' --prior box.mass=10%

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    flights
        Telemetry of one flight or of several: .parquet, .pq, .csv or .tsv.
    free
        Parameters to look for, as a name or glob; may be repeated. Unless said, those of the root
        body and of what is grasped.
    fix
        Parameters to hold at the model's value, or at another: GLOB or GLOB=VALUE.
    prior
        How well the model's values are known: GLOB=STD in the parameter's unit, or GLOB=10%.
    out
        The fit to write (.json); nothing unless said.
    save_model
        The model with the estimates, to write: .toml (complete) or .urdf.
    report
        The fit, and how it predicts these flights, as one page of HTML to write.
    """
    from freefloat.cli import screen
    from freefloat.cli.identify_request import understood
    from freefloat.cli.identify_view import announcement, as_dict, overview

    request = understood(
        model, flights, free=free, fix=fix, prior=prior,
        choices=choices, out=out, save_model=save_model, report=report,
    )  # fmt: skip
    if not shared.json:
        screen.show(*announcement(request))
    fit = find(request)
    written = _write(request, fit)
    if shared.json:
        screen.print_json(as_dict(request, fit, written))
    else:
        screen.show(*overview(fit, written))
    return 0 if fit.is_trustworthy else 1


def find(request: IdentifyRequest) -> Fit:
    """The fit that was asked for; notes on standard error say what is taking so long."""
    from dataclasses import replace

    from freefloat.cli import screen
    from freefloat.cli.waiting import tell_first_run

    choices = request.choices
    kernel = "force" if choices.method in _FORCE_KERNEL else "momentum"
    tell_first_run(f"regressor.{kernel}_regressor", takes="about half a minute")
    n, many = len(request.parameters.free_ones), len(request.flights)
    screen.note(f"identifying: {n} unknowns, {screen.counted(many, 'flight')}; may take a while")
    # Here and not above: this loads Numba, and the notes above should come before that.
    from freefloat.identification.identify import identify as run_identification
    from freefloat.identification.output_error.options import SearchOptions

    fit = run_identification(
        request.model,
        request.parameters,
        list(request.flights.values()),
        method=choices.method,
        solver=choices.solver,
        robust=None if choices.robust == "none" else choices.robust,
        physical=choices.physical,
        momentum=choices.momentum,
        drag=choices.drag,
        clock=None if choices.clock == "none" else choices.clock,
        plan=_plans(choices.plan),
        known_start=choices.known_start,
        search=SearchOptions(starts=choices.starts, profile=choices.profile),
    )
    return replace(fit, provenance={**fit.provenance, **request.sources})


def _plans(paths: tuple[Path, ...]) -> Plan | list[Plan] | None:
    """One plan for all flights, or one each."""
    from freefloat.excitation.plan_file import load_plan

    plans = [load_plan(path) for path in paths]
    return plans if len(plans) > 1 else next(iter(plans), None)


def _write(request: IdentifyRequest, fit: Fit) -> dict[str, Path]:
    """Write every file that was asked for; what each is, and where."""
    if "fit" in request.files:
        fit.save(request.files["fit"])
    if "model" in request.files:
        _told_apart(request, fit).save(request.files["model"])
    if "report" in request.files:
        fit.save_report(request.files["report"], *request.flights.values())
    return request.files


def _told_apart(request: IdentifyRequest, fit: Fit) -> Model:
    """The model with the estimates; its description says that they are, and from where."""
    from dataclasses import replace

    flights = ", ".join(path.name for path in request.flights)
    origin = f"With parameters identified from {flights} ({fit.method} method)."
    return replace(fit.model, description=f"{fit.model.description} {origin}".strip())
