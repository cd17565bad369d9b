"""`freefloat design`: the motion, within the limits, that shows what one wants to know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from freefloat import Model, Parameters
    from freefloat.design import Design

Shape = Literal["fourier", "spline", "sinusoid", "multisine", "moves", "bangs"]
_REPEATED = Parameter(negative=(), show_default=False, json_list=False)


@Parameter(name="*")
@dataclass(frozen=True)
class MotionOptions:
    """What is moved, how, and how hard a good motion is looked for."""

    duration: float = 60.0
    """How long the motion lasts [s]."""

    shape: Shape = "fourier"
    """The family of motions; all start and end at home, at rest."""

    harmonics: int = 5
    """Frequencies of a fourier or multisine, free points or levels of others."""

    joints: Annotated[tuple[str, ...], _REPEATED] = ("*",)
    """Joints to move, as a name or glob; may be repeated. All unless said."""

    wheels: Annotated[tuple[str, ...], _REPEATED] = ()
    """Wheels whose speed is changed too."""

    thrusters: Annotated[tuple[str, ...], _REPEATED] = ()
    """Thrusters that are fired too."""

    limit: Annotated[tuple[str, ...], _REPEATED] = ()
    """A limit in place of the model's: NAME=VALUE, as in 'arm_*.velocity=0.1'."""

    avoid_modes: Annotated[bool, FLAG] = False
    """Keep the motion's energy out of the modes of wings, fuel and springs."""

    scenarios: int = 0
    """Models drawn from the priors; the motion is good for the worst of them."""

    seed: int = 0
    """The same seed gives the same motion."""

    starts: int = 2
    """How many of the best random motions are improved."""

    rounds: int = 12
    """Rounds of improvement for each."""

    time: float | None = None
    """Stop after this long [s] with the best so far."""


@Parameter(name="*")
@dataclass(frozen=True)
class Outputs:
    """What to write; nothing unless said."""

    out: Path | None = None
    """The plan to write (.toml)."""

    table: Path | None = None
    """The motion as a time table to write (.csv), for a controller to play."""

    rate: float = 100.0
    """Rows of the table a second [Hz]."""

    plot: Path | None = None
    """A picture of motion and deviations before and after: .png, .svg or .pdf."""


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
    rate: float
    files: dict[str, Path]  # "plan", "table" and "plot" where asked for


def design(
    model: str,
    /,
    *,
    free: Annotated[tuple[str, ...], _REPEATED] = (),
    fix: Annotated[tuple[str, ...], _REPEATED] = (),
    prior: Annotated[tuple[str, ...], _REPEATED] = (),
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
    the clearance of capsules. The plan is replayed at a tenth of the step and
    breaks none. Ctrl-C keeps the best motion so far. Exit code 2 says that no
    motion is within the limits, and which of them block.

    For example:
      freefloat design servicer --free 'target.*' --out plan.toml
      freefloat design cepheus --free 'link_2.*' --duration 10 --plot plan.png
      freefloat design servicer --fit fit.json --out next.toml

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    free
        Parameters to look for, as a name or glob; may be repeated. Unless said, those of the root
        body and of what is grasped.
    fix
        Parameters to hold at the model's value, or at another: GLOB or GLOB=VALUE.
    prior
        How well the model's values are known: GLOB=STD in the parameter's unit, or GLOB=10%.
    criterion
        a_optimal (mean variance), d_optimal (volume), e_optimal (worst direction), condition,
        worst_parameter, modal_energy (left behind), or the names of parameters.
    sensors
        Sensors that will be read, in words such as "gyro encoders"; all of the model's unless said.
    fit
        A fit (.json) of an earlier flight: design around the model it found, for what it left weak.
    """
    from freefloat.cli import screen
    from freefloat.cli.design_request import understood
    from freefloat.cli.design_view import announcement, as_dict, overview

    request = understood(
        model, free=free, fix=fix, prior=prior, criterion=criterion, sensors=sensors,
        motion=motion, fit=fit, outputs=outputs,
    )  # fmt: skip
    if not shared.json:
        screen.show(*announcement(request))
    found = look(request)
    _write(request, found)
    if shared.json:
        screen.print_json(as_dict(request, found))
    else:
        screen.show(*overview(request, found))
    return 0


def look(request: DesignRequest) -> Design:
    """The design that was asked for; a bar on the terminal shows the criterion so far."""
    from freefloat.cli.interrupts import heard
    from freefloat.cli.waiting import progress, tell_first_run

    tell_first_run("tangent.rk4_tangent", takes="about half a minute")
    # Here and not above: this loads Numba, and the note above should come before that.
    from freefloat.design import Effort
    from freefloat.design.excitation import design as run_design
    from freefloat.design.excitation import scenarios_of
    from freefloat.design.motion_criteria import bands_of
    from freefloat.dynamics.tree import flatten

    motion = request.motion
    effort = Effort(starts=motion.starts, rounds=motion.rounds, seconds=motion.time)
    others = scenarios_of(request.model, request.parameters, n=motion.scenarios, seed=motion.seed)
    avoid = bands_of(flatten(request.model)) if motion.avoid_modes else ()
    with progress(f"designing: {request.criterion}") as told:
        return run_design(
            request.model, request.parameters, duration=motion.duration,
            criterion=request.criterion, sensors=request.sensors, shape=motion.shape,
            harmonics=motion.harmonics, limits=request.limits, joints=motion.joints,
            wheels=motion.wheels, thrusters=motion.thrusters, scenarios=others,
            avoid=avoid, seed=motion.seed, effort=effort, progress=told, on_interrupt=heard,
        )  # fmt: skip


def _write(request: DesignRequest, found: Design) -> None:
    """Write every file that was asked for."""
    from freefloat.excitation.plan_file import save_table

    files = request.files
    if "plan" in files:
        found.plan.save(files["plan"])
    if "table" in files:
        save_table(found.plan, request.model, files["table"], rate=request.rate)
    if "plot" in files:
        from freefloat.report.design_plot import save_design_plot

        save_design_plot(request.model, found, files["plot"])
