"""`freefloat design`: the motion, within the limits, that shows parameters best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.design_trial import trial_dict, trial_view, try_plan
from freefloat.cli.options import FLAG, REPEATED, WHOLE, Shared, check_value, parse_pairs, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.cli.parameter_options import ParameterOptions, choose_parameters
from freefloat.cli.settings import parse_settings
from freefloat.errors import Fault, FreefloatError
from freefloat.files import together
from freefloat.parameters.default_choice import default_globs
from freefloat.records.values import Bounds, Natural, Positive
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Fit, Model, Parameters
    from freefloat.design import Design

Shape = Literal["fourier", "spline", "sinusoid", "multisine", "moves", "bangs"]
SHOWN_LIMITS = 6  # format: the limits that are used most
NOT_WRITTEN = "the plan was not written: add --out plan.toml to keep it"


@Parameter(name="*")
@dataclass(frozen=True)
class MotionOptions:
    """What is moved, how, and how hard a good motion is looked for."""

    duration: float = 60.0
    """Duration of the motion [s]."""

    shape: Shape = "fourier"
    """Family of motions; all start and end at home, at rest."""

    harmonics: Annotated[int, WHOLE] = 5
    """Number of frequencies (fourier, multisine), or of free points or levels (others)."""

    joints: Annotated[tuple[str, ...], REPEATED] = ("*",)
    """Joints to move, names or globs; may be repeated. All by default."""

    wheels: Annotated[tuple[str, ...], REPEATED] = ()
    """Wheels to accelerate as well."""

    thrusters: Annotated[tuple[str, ...], REPEATED] = ()
    """Thrusters to fire as well."""

    limit: Annotated[tuple[str, ...], REPEATED] = ()
    """A limit in place of the model's: NAME=VALUE, as in 'arm_*.velocity=0.1'."""

    avoid_modes: Annotated[bool, FLAG] = False
    """Keep the motion's energy out of the modes of wings, fuel and springs."""

    scenarios: Annotated[int, WHOLE] = 0
    """Number of models drawn from the priors; the design is for the worst of them."""

    seed: Annotated[int, WHOLE] = 0
    """The same seed gives the same motion."""

    starts: Annotated[int, WHOLE] = 2
    """How many of the best random motions to improve."""

    rounds: Annotated[int, WHOLE] = 12
    """Rounds of improvement for each start."""

    time: float | None = None
    """Stop after this time [s] with the best motion so far."""

    set: Annotated[tuple[str, ...], REPEATED] = ()
    """NAME=VALUE: an option of the search; may be repeated. `--set help` lists them."""


@Parameter(name="*")
@dataclass(frozen=True)
class Outputs:
    """What to write."""

    out: Path | None = None
    """Write the plan to this file (.toml)."""

    table: Path | None = None
    """Write the motion as a time table (.csv) for a controller."""

    rate: float = 100.0
    """Rate of that table [Hz]."""

    plot: Path | None = None
    """Plot the motion, and deviations before and after: .png, .svg or .pdf."""

    campaign: Annotated[int, WHOLE] = 0
    """Test the plan in this many simulated flights, with true values drawn from --prior."""


@dataclass(frozen=True)
class DesignRequest:
    """What to design for: the arguments, read and found to make sense."""

    model: Model
    parameters: Parameters
    free: tuple[str, ...]
    criterion: str
    sensors: str | None
    limits: dict[str, float]
    motion: MotionOptions
    settings: dict[str, Any]  # of --set
    rate: float
    files: dict[str, Path]  # "plan", "table" and "plot" where asked for


def design(
    model: str,
    /,
    *,
    wanted: ParameterOptions = ParameterOptions(),  # noqa: B008
    criterion: str = "a_optimal",
    sensors: str | None = None,
    motion: MotionOptions = MotionOptions(),  # noqa: B008
    fit: Path | None = None,
    outputs: Outputs = Outputs(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Design the motion that shows parameters best, within every limit.

    Limits are those of the model: position, velocity, acceleration, jerk and
    torque of joints, turn and rate of the base, wheels, thrusters, hinges, and
    the clearance of capsules. The plan is checked at a tenth of the step.
    Ctrl-C stops with the best motion so far. Exit code 2: no motion is within
    the limits; the message names those that block.

    Criteria: a_optimal (mean variance), d_optimal (volume), e_optimal (worst
    direction), condition, worst_parameter, modal_energy (left in the modes).

    For example:
      freefloat design servicer --free 'target.*' --out plan.toml
      freefloat design cepheus --free 'link_2.*' --duration 10 --plot plan.png
      freefloat design servicer --fit fit.json --out next.toml

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    criterion
        What is best: one of the criteria above, or names of parameters.
    sensors
        Sensors that will be read, such as "gyro encoders"; all of the model's by default.
    fit
        A fit (.json) of an earlier flight: design for its model, and for what it left uncertain.
    """
    request = parse_request(
        model, wanted, criterion=criterion, sensors=sensors, motion=motion, fit=fit,
        outputs=outputs, strict=shared.strict,
    )  # fmt: skip
    if not shared.json:
        screen.show(*_announcement(request))
    designed = run_design(request)
    _write(request, designed)
    trial = try_plan(request.model, request.parameters, designed.plan, runs=outputs.campaign,
                     seed=motion.seed)  # fmt: skip
    if shared.json:
        screen.print_json({**_as_dict(request, designed), **trial_dict(trial)})
    else:
        screen.show(*_overview(request, designed), *trial_view(trial))
    return 0


def run_design(request: DesignRequest) -> Design:
    """The design that was asked for; a bar on the terminal shows the criterion so far."""
    from freefloat.cli.waiting import acknowledge_interrupt, progress, tell_first_run

    tell_first_run("tangent.rk4_tangent", takes="about half a minute")
    # Here and not above: this loads Numba, and the note above should come before that.
    from freefloat.design import Effort
    from freefloat.design.excitation import design, scenarios_of
    from freefloat.design.motion_criteria import bands_of
    from freefloat.dynamics.tree import flatten

    motion = request.motion
    given = {"starts": motion.starts, "rounds": motion.rounds, "seconds": motion.time}
    effort = Effort(**given, **request.settings)
    others = scenarios_of(request.model, request.parameters, n=motion.scenarios, seed=motion.seed)
    avoid = bands_of(flatten(request.model)) if motion.avoid_modes else ()
    with progress(f"designing: {request.criterion}") as update:
        return design(
            request.model, request.parameters, duration=motion.duration,
            criterion=request.criterion, sensors=request.sensors, shape=motion.shape,
            harmonics=motion.harmonics, limits=request.limits, joints=motion.joints,
            wheels=motion.wheels, thrusters=motion.thrusters, scenarios=others,
            avoid=avoid, seed=motion.seed, effort=effort, progress=update,
            on_interrupt=acknowledge_interrupt,
        )  # fmt: skip


@together()
def _write(request: DesignRequest, designed: Design) -> None:
    """Write every file that was asked for."""
    from freefloat.excitation.plan_write import save_table

    files = request.files
    if "plan" in files:
        designed.plan.save(files["plan"])
    if "table" in files:
        save_table(designed.plan, request.model, files["table"], rate=request.rate)
    if "plot" in files:
        from freefloat.report.design_plot import save_design_plot

        save_design_plot(request.model, designed, files["plot"])


# -- the request -----------------------------------------------------------------------------------


def parse_request(
    model: str,
    wanted: ParameterOptions,
    *,
    criterion: str,
    sensors: str | None,
    motion: MotionOptions,
    fit: Path | None,
    outputs: Outputs,
    strict: bool = False,
) -> DesignRequest:
    """The design that the arguments ask for; FreefloatError with every fault of theirs."""
    from freefloat.cli.robot_file import read_robot

    files = OutputFiles(
        plan=("--out", outputs.out), table=("--table", outputs.table), plot=("--plot", outputs.plot)
    )
    limits, wrong = parse_pairs("--limit", motion.limit, example="arm_1.velocity=0.1")
    trials = check_value("--campaign", outputs.campaign, Natural)
    require([*files.faults(), *wrong, *_number_faults(motion, outputs.rate), *trials])
    settings = parse_settings("design", motion.set)["effort"]
    robot = read_robot(model, strict=strict)
    known = _earlier_fit(robot, fit)
    if known is not None:
        robot = known.model
    files.require_possible(model=model, fit=fit)
    globs = wanted.free or _free_in(known) or default_globs(robot)
    said = {"free": globs, "fix": wanted.fix, "tie": wanted.tie}
    parameters = choose_parameters(robot, **said)
    if known is not None:
        parameters = _with_fit_as_prior(parameters, known)
    if wanted.prior:
        for p in choose_parameters(robot, prior=wanted.prior, **said).free_ones:  # not the fit's
            if p.prior is not None:
                parameters = parameters.prior(p.name, std=p.prior[1])
    return DesignRequest(
        robot, parameters, globs, criterion, sensors, limits, motion, settings, outputs.rate,
        files.paths,
    )  # fmt: skip


def _number_faults(motion: MotionOptions, rate: float) -> Iterator[Fault]:
    from freefloat.excitation.basis import Harmonics
    from freefloat.excitation.motions import Duration

    few = Annotated[int, Bounds(least=1, most=1000)]
    yield from check_value("--duration", motion.duration, Duration)
    yield from check_value("--time", motion.time, Positive)
    yield from check_value("--harmonics", motion.harmonics, Harmonics)
    yield from check_value("--starts", motion.starts, few)
    yield from check_value("--rounds", motion.rounds, few)
    yield from check_value("--seed", motion.seed, Natural)
    yield from check_value("--scenarios", motion.scenarios, Annotated[int, Bounds(0, most=50)])
    yield from check_value("--rate", rate, Positive)


def _earlier_fit(model: Model, fit: Path | None) -> Fit | None:
    """An earlier fit, of this model."""
    if fit is None:
        return None
    from freefloat.identification.fit import load_fit

    known = load_fit(fit)
    mine = {body.name for body in model.assembly.bodies}
    if {body.name for body in known.model.assembly.bodies} != mine:
        fault = Fault("--fit", f"{fit}, of {known.model.name!r}", f"a fit of {model.name!r}",
                      "give the fit and the model that belong together",
                      "value.conflict")  # fmt: skip
        raise FreefloatError("the fit is of another model", [fault])
    return known


def _free_in(fit: Fit | None) -> tuple[str, ...]:
    """The parameters that a fit estimated."""
    estimates = () if fit is None else fit.estimates
    return tuple(one.name for one in estimates if one.status != "fixed")


def _with_fit_as_prior(parameters: Parameters, fit: Fit) -> Parameters:
    """The parameters with the standard deviations of a fit as priors."""
    free = {p.name for p in parameters.free_ones}
    for one in fit.estimates:
        if one.name in free and math.isfinite(one.std) and one.std > 0.0:
            parameters = parameters.prior(one.name, std=one.std)
    return parameters


# -- the result ------------------------------------------------------------------------------------


def _announcement(request: DesignRequest) -> Iterator[RenderableType]:
    """What is about to be designed for; the first thing a person sees."""
    unknowns = count_noun(len(request.parameters.free_ones), "parameter")
    motion = request.motion
    yield Text.assemble(
        (request.model.name, "bold"), f": a motion of {motion.duration:g} s for {unknowns}"
    )
    yield screen.indent(Text(f"free: {', '.join(request.free)}"))
    yield screen.indent(Text(f"criterion: {request.criterion}, {motion.shape}, seed {motion.seed}"))
    if motion.scenarios:
        yield screen.indent(Text(f"worst of {count_noun(1 + motion.scenarios, 'model')}"))


def _overview(request: DesignRequest, designed: Design) -> Iterator[RenderableType]:
    """What was found: parameters before and after, limits, files."""
    yield ""
    yield Text(f"{designed.measure}: {designed.value:.4g}", style="bold green")
    yield screen.indent(Text(count_noun(designed.n_flights, "simulation"), style="dim"))
    known = _prior_stds(request)
    second = "prior std" if known else "value"
    head = ("parameter", second, "default motion", "designed", "better by", "unit")
    rows = _parameter_rows(designed, known)
    stds = screen.table(head, rows, align="Lrrrrl")
    yield from screen.section("Expected standard deviations", stds)
    limits = screen.table(("limit", "used", "of", "unit"), _limit_rows(designed), align="Lrrl")
    yield from screen.section("Limits, replayed at a tenth of the step: none exceeded", limits)
    for note in designed.notes:
        yield screen.indent(Text(f"note: {note}", style="yellow"))
    missing = "" if "plan" in request.files else NOT_WRITTEN
    yield from screen.files_section(request.files, missing=missing)


def _prior_stds(request: DesignRequest) -> dict[str, float]:
    """Standard deviations of the priors, of parameters that have one."""
    return {p.name: p.prior[1] for p in request.parameters.free_ones if p.prior is not None}


def _parameter_rows(designed: Design, known: dict[str, float]) -> Iterator[tuple[str, ...]]:
    if designed.after is None:
        return
    for one, (_, old, new) in zip(designed.after.parameters, designed.comparison(), strict=True):
        gain = f"{old / new:.3g} x" if math.isfinite(old) and new > 0.0 else "-"
        second = f"{one.value:.5g}"
        if known:
            second = f"{known[one.name]:.3g}" if one.name in known else "none"
        yield one.name, second, _number(old), _number(new), gain, one.unit


def _limit_rows(designed: Design) -> Iterator[tuple[str, ...]]:
    for usage in designed.usage[:SHOWN_LIMITS]:
        limit = usage.limit
        value = f">= {limit.value:.4g}" if limit.quantity == "clearance" else f"{limit.value:.4g}"
        yield limit.name, f"{100.0 * usage.share:.1f} %", value, limit.unit


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "not seen"


def _as_dict(request: DesignRequest, designed: Design) -> dict[str, object]:
    """The same for machines; everything in the units it names, null where a number is not known."""
    seen = designed.after.parameters if designed.after is not None else ()
    known = _prior_stds(request)
    return {
        "ok": True,
        "model": request.model.name,
        "free": request.free,
        "criterion": designed.criterion,
        "measure": designed.measure,
        "value": designed.value,
        "duration": designed.plan.duration,
        "parameters": [
            {"name": one.name, "unit": one.unit, "value": one.value, "status": one.status,
             "std_prior": known.get(one.name), "std_default": old, "std": new}
            for one, (_, old, new) in zip(seen, designed.comparison(), strict=True)
        ],
        "limits": [
            {"name": one.limit.name, "unit": one.limit.unit, "limit": one.limit.value,
             "share": one.share}
            for one in designed.usage
        ],
        "flights": designed.n_flights,
        "seed": designed.seed,
        "is_interrupted": designed.is_interrupted,
        "notes": screen.notes_json(designed.notes),
        "files": paths_as_text(request.files),
    }  # fmt: skip
