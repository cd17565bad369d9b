"""`freefloat identify`: estimate parameters of a model from recorded flights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from freefloat.cli import screen
from freefloat.cli.identify_view import announcement, as_dict, overview
from freefloat.cli.options import (
    FLAG,
    FLIGHTS,
    REPEATED,
    WHOLE,
    RecordingOptions,
    Shared,
    check_flights,
    check_value,
    parse_pairs,
    read_flights,
    read_plans,
    require,
)
from freefloat.cli.output_files import OutputFiles
from freefloat.cli.parameter_options import (
    FitParameterOptions,
    choose_parameters,
)
from freefloat.cli.robot_file import read_robot, write_robot
from freefloat.cli.run_record import given_options, source_record
from freefloat.cli.settings import parse_settings, require_used, unused_settings
from freefloat.errors import Fault
from freefloat.files import together
from freefloat.identification.method_names import Method
from freefloat.notes import Note
from freefloat.parameters.default_choice import default_globs
from freefloat.text import count_noun

if TYPE_CHECKING:
    from freefloat import Fit, Model, Parameters, Plan, Telemetry

Solver = Literal["corrected", "ls", "iv"]
Robust = Literal["none", "huber", "tukey"]
Clock = Literal["none", "base", "joints", "torques"]

FORCE_KERNEL = ("force", "torque")  # the methods whose regressor is of forces, not momenta


@Parameter(name="*")
@dataclass(frozen=True)
class Choices:
    """How to identify: the method, its solver, and its options."""

    method: Method = "auto"
    """The equations to use; auto takes the most accurate that the telemetry allows."""

    solver: Solver = "corrected"
    """Least squares corrected for noise in the regressor, plain, or instrumental variables."""

    robust: Robust = "none"
    """How to down-weight outliers."""

    physical: bool = True
    """Keep bodies physically consistent (positive mass, positive definite pseudo-inertia)."""

    momentum: Annotated[tuple[float, float, float] | None, REPEATED] = None
    """Known angular momentum [N m s], world axes (angular method); 0 0 0 from rest."""

    drag: Annotated[bool, FLAG] = False
    """Estimate the drag of an air bearing on the base (angular method)."""

    clock: Clock = "none"
    """Channels with an unknown delay, which is estimated as well."""

    plan: Annotated[tuple[Path, ...], REPEATED] = ()
    """The plan that was flown (.toml, output error): one for all flights, or one each, repeated."""

    known_start: Annotated[bool, FLAG] = False
    """Take the initial state of the plan as exact (output error)."""

    starts: Annotated[int, WHOLE] = 1
    """Number of searches; all but the first start at random values (output error)."""

    profile: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters (globs) that get intervals by profile likelihood (output error)."""

    raw: Annotated[bool, FLAG] = False
    """Use the flights as they are. By default their faults are repaired first, and noted."""

    assess: bool = True
    """Grade the fit on all channels: total deviations, evidence, causes."""

    uncertainty: Annotated[tuple[str, ...], REPEATED] = ()
    """GLOB=STD: uncertainty of something the model takes as exact, in its unit; may be repeated."""

    mass_properties: Annotated[bool, FLAG] = False
    """Show centre of mass, inertia about it, principal moments and axes as well."""

    set: Annotated[tuple[str, ...], REPEATED] = ()
    """NAME=VALUE: an option of the method; may be repeated. `--set help` lists them."""


@dataclass(frozen=True)
class IdentifyRequest:
    """What to identify and from what: the arguments, read and found to make sense."""

    model: Model
    parameters: Parameters
    free: tuple[str, ...]
    is_default: bool  # no --free was given
    flights: dict[Path, Telemetry]
    sources: dict[str, str]  # where model and flights came from, with the sha256 of the latter
    choices: Choices
    plan: Plan | list[Plan] | None
    settings: dict[str, dict[str, Any]]  # of --set, by group
    files: dict[str, Path]  # "fit", "model", "report" and "plot" where asked for
    robot: str = ""  # the name or file of the model


def identify(
    model: str,
    /,
    *flights: Annotated[Path, FLIGHTS],
    wanted: FitParameterOptions = FitParameterOptions(),  # noqa: B008
    choices: Choices = Choices(),  # noqa: B008
    reading: RecordingOptions = RecordingOptions(),  # noqa: B008
    out: Path | None = None,
    save_model: Path | None = None,
    report: Path | None = None,
    plot: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Estimate parameters of a model from recorded flights, and say how far to trust them.

    Every parameter gets a value, a standard deviation and a status: seen, weak,
    only in combination, invisible, at bound or fixed. Exit code 1 says that the
    fit is not to be trusted; the status says why and what to do. With --no-assess
    only the method's own residuals are tested, and the fit is called not assessed.

    Globs choose parameters; quote them, or the shell may take them for files.

    For example:
      freefloat identify spatial-capture flight.parquet --report fit.html
      freefloat identify my.toml a.csv b.csv --free 'box.*' --prior box.mass=10%

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    flights
        One or several flights: .parquet, .pq, .csv, .tsv, .mcap, .mat; any other with --map.
    out
        Write the fit to this file (.json).
    save_model
        Write the model with the estimates: .toml (complete), .urdf, or .xml for an MJCF robot.
    report
        Write a report of the fit to this file (.html).
    plot
        Plot the estimates to this file: .png, .svg or .pdf. Needs freefloat[plot].
    """
    files = OutputFiles(
        fit=("--out", out), model=("--save-model", save_model), report=("--report", report),
        plot=("--plot", plot),
    )  # fmt: skip
    request = parse_request(
        model, flights, wanted, choices, files, reading=reading, max_bytes=shared.max_bytes,
        strict=shared.strict,
    )  # fmt: skip
    if not shared.json:
        screen.show(*announcement(request))
    fit = run_identification(request)
    _write(request, fit)
    if shared.json:
        screen.print_json(as_dict(request, fit))
    else:
        screen.show(*overview(fit, request))
    return 0 if fit.is_trustworthy else 1


def run_identification(request: IdentifyRequest) -> Fit:
    """The fit that was asked for; notes on standard error say what is taking so long."""
    from freefloat.cli.waiting import progress, tell_first_run

    choices = request.choices
    kernel = "force" if choices.method in FORCE_KERNEL else "momentum"
    tell_first_run(f"regressor.{kernel}_regressor", takes="about half a minute")
    unknowns = count_noun(len(request.parameters.free_ones), "parameter")
    flights = count_noun(len(request.flights), "flight")
    screen.note(f"identifying: {unknowns}, {flights}")
    # Here and not above: this loads Numba, and the notes above should come before that.
    from freefloat.identification.fit_assembly import TrustLimits
    from freefloat.identification.identify import identify
    from freefloat.identification.linear.linear_options import LinearOptions
    from freefloat.identification.output_error.options import SearchOptions
    from freefloat.identification.trust.trust_options import TrustOptions

    given = request.settings
    search = {"starts": choices.starts, "profile": choices.profile, **given["search"]}
    trust = TrustLimits(**given["trust"])
    with progress("identifying") as update:
        fit = identify(
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
            plan=request.plan,
            known_start=choices.known_start,
            search=SearchOptions(**search, trust=trust),
            options=LinearOptions(**given["linear"], trust=trust),
            raw=choices.raw,
            assess=choices.assess,
            trust=TrustOptions(**given["assessment"]),
            progress=update,
        )
    notes = (*fit.notes, *_unused_notes(fit, given))
    return replace(fit, notes=notes, provenance={**fit.provenance, **request.sources})


def _unused_notes(fit: Fit, given: dict[str, dict[str, Any]]) -> Iterator[Note]:
    """What `--set` said of methods other than the one that was chosen."""
    unused = unused_settings(given, used=_groups(fit.method))
    if unused:
        text = f"--set {', '.join(unused)}: of another method than {fit.method}, not used"
        yield Note("option.unused", text)


@together()
def _write(request: IdentifyRequest, fit: Fit) -> None:
    """Write every file that was asked for."""
    if "fit" in request.files:
        fit.save(request.files["fit"])
    if "model" in request.files:
        write_robot(_with_origin(request, fit), request.files["model"], request.robot)
    if "report" in request.files:
        fit.save_report(request.files["report"], *request.flights.values())
    if "plot" in request.files:
        from freefloat.report.plots import save_figure
        from freefloat.report.result_plots import plot_estimates

        save_figure(plot_estimates(fit), request.files["plot"])


def _with_origin(request: IdentifyRequest, fit: Fit) -> Model:
    """The model with the estimates; its description says that they are, and from where."""
    flights = ", ".join(path.name for path in request.flights)
    origin = f"With parameters identified from {flights} ({fit.method} method)."
    return replace(fit.model, description=f"{fit.model.description} {origin}".strip())


# -- the request -----------------------------------------------------------------------------------


def parse_request(
    model: str,
    flights: Sequence[Path],
    wanted: FitParameterOptions,
    choices: Choices,
    files: OutputFiles,
    *,
    reading: RecordingOptions,
    max_bytes: int,
    strict: bool,
) -> IdentifyRequest:
    """The identification that the arguments ask for; FreefloatError with every fault of theirs."""
    vector = tuple[float, float, float]
    momentum = check_value("--momentum", choices.momentum, vector)
    own = _per_recording_faults(wanted, choices)
    require([*files.faults(), *check_flights(flights), *momentum, *own])
    settings = parse_settings("identify", choices.set)
    require_used(settings, used=_groups(choices.method), by=f"--method {choices.method}")
    robot = state_uncertainty(read_robot(model, strict=strict), choices)
    files.require_possible(model=model, flight=flights, plan=choices.plan, map=reading.map)
    globs = wanted.free or default_globs(robot)
    parameters = choose_parameters(robot, **asdict(replace(wanted, free=globs)))
    plan = read_plans(choices.plan, robot)
    recorded = read_flights(flights, reading=reading, max_bytes=max_bytes)
    options = given_options(wanted, choices, reading)
    sources = source_record(model, flights, recording_map=reading.map, options=options)
    return IdentifyRequest(
        robot, parameters, globs, not wanted.free, recorded, sources, choices, plan, settings,
        files.paths, model,
    )  # fmt: skip


def _per_recording_faults(wanted: FitParameterOptions, choices: Choices) -> Iterator[Fault]:
    if wanted.per_recording and choices.method not in ("auto", "output_error"):
        got, expected = f"--method {choices.method}", "output error, which alone can do that"
        remedy = "leave --method out, or write --method output_error"
        yield Fault("--per-recording", got, expected, remedy, "option.conflict")


def _groups(method: str) -> str:
    """The groups of `--set` that a method has; any may turn out to count with `auto`."""
    own = {"auto": "search linear", "output_error": "search"}.get(method, "linear")
    return f"{own} trust assessment"


def state_uncertainty(model: Model, choices: Choices) -> Model:
    """The model with what --uncertainty says; FreefloatError with every fault of it."""
    from freefloat.model.uncertainty import with_uncertainty

    example = "arm_*.zero=2e-4"
    stated, faults = parse_pairs("--uncertainty", choices.uncertainty, example=example, least=0.0)
    require(faults)
    return with_uncertainty(model, stated)
