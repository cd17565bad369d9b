"""`freefloat check`: what a model is, whether it holds together, and what to know about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import Shared

if TYPE_CHECKING:
    from freefloat.dynamics.model_check import ModelCheck
    from freefloat.model import Model
    from freefloat.observability.visibility import Visibility

KERNELS = ("observe.free_mass_matrix",)
VISIBILITY_KERNELS = ("observe.observe", "tangent.rk4_tangent")


def check(
    model: str,
    /,
    *,
    plan: Path | None = None,
    sensors: str | None = None,
    free: Annotated[list[str] | None, Parameter(negative=())] = None,
    plot: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Show what a model holds, and any faults in it.

    Structure, mass properties, modes, actuators, sensors, limits and notes. A
    file that cannot be read gives every fault with its line and remedy (exit
    code 2). A model that can be read but not flown, such as one with a free
    joint that carries no inertia, gives exit code 1.

    For example:
      freefloat check servicer
      freefloat check my_robot.urdf --json
      freefloat check ets7 --sensors "gyro encoders" --free "bus.*"

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    plan
        Say which parameters a flight of this plan (.toml) would show.
    sensors
        The same with these sensors only: kinds or names, such as "gyro encoders".
    free
        The same for these parameters, names or globs; by default of the bus and a grasped target.
    plot
        Plot the result to this file: .png, .svg or .pdf. Needs freefloat[plot].
    """
    from freefloat.cli import screen
    from freefloat.cli.check_view import overview, structure
    from freefloat.cli.options import require
    from freefloat.cli.output_files import OutputFiles
    from freefloat.cli.waiting import tell_first_run
    from freefloat.model import load_model

    files = OutputFiles(plot=("--plot", plot))
    require([*files.faults()])
    files.require_possible(model=model, plan=plan)
    robot = load_model(model, strict=shared.strict)
    if plan is not None or sensors is not None or free or plot is not None:
        asked = (plan, sensors, free or [])
        return _check_visibility(robot, *asked, plot=plot, is_json=shared.json)
    if not shared.json:
        screen.show(*structure(robot))
    tell_first_run(*KERNELS, takes="a few seconds")
    from freefloat.dynamics.model_check import check_model

    checked = check_model(robot)
    if shared.json:
        screen.print_json(_as_dict(checked))
    else:
        screen.show(*overview(checked))
    return 1 if checked.faults else 0


def _check_visibility(
    model: Model, plan: Path | None, sensors: str | None, free: Sequence[str], *,
    plot: Path | None, is_json: bool,
) -> int:  # fmt: skip
    from freefloat.cli import screen
    from freefloat.cli.check_view import overview, visibility_overview
    from freefloat.dynamics.model_check import check_model

    checked = check_model(model)
    if checked.faults:  # it could not be flown
        screen.print_json(_as_dict(checked)) if is_json else screen.show(*overview(checked))
        return 1
    seen = find_visibility(model, plan=plan, sensors=sensors, free=free)
    if plot is not None:
        from freefloat.report.plots import save_figure
        from freefloat.report.result_plots import plot_visibility

        save_figure(plot_visibility(seen), plot)
    if is_json:
        screen.print_json({**_as_dict(checked), "visibility": _visibility_as_dict(seen)})
    else:
        screen.show(*visibility_overview(model, seen))
        screen.show(*screen.files_section({} if plot is None else {"plot": plot}))
    return 0


def find_visibility(
    model: Model, *, plan: Path | None, sensors: str | None, free: Sequence[str]
) -> Visibility:
    """What a flight would show of the parameters that fit `free`, or of the usual ones.

    FreefloatError for a plan that cannot be read, an unknown sensor or a glob that fits nothing.
    """
    from freefloat.cli.parameter_options import choose_parameters
    from freefloat.cli.screen import note
    from freefloat.cli.waiting import progress, tell_first_run
    from freefloat.excitation.plan_file import load_plan
    from freefloat.observability.identifiability import identifiability
    from freefloat.parameters.default_choice import default_globs
    from freefloat.text import count_noun

    parameters = choose_parameters(model, free=free or default_globs(model))
    flown = load_plan(plan) if plan is not None else None
    tell_first_run(*VISIBILITY_KERNELS, takes="about half a minute")
    shown = count_noun(len(parameters.free_ones), "parameter")
    note(f"simulating a flight of {model.name}, to see {shown}")
    with progress("simulating"):
        return identifiability(model, parameters, plan=flown, sensors=sensors)


def _as_dict(checked: ModelCheck) -> dict[str, object]:
    from freefloat.cli.screen import notes_json
    from freefloat.model.body_tree import branches
    from freefloat.model.checks import sensor_targets

    model = checked.model
    return {
        "ok": not checked.faults,
        "name": model.name,
        "description": model.description,
        "root": asdict(model.root),
        "structure": [asdict(branch) for branch in branches(model)],
        "mass": checked.mass.mass,
        "com": checked.mass.com,
        "inertia": checked.mass.inertia,
        "principal_inertia": checked.mass.principal,
        "modes": [
            {"frequency": mode.frequency, "damping": mode.damping, "shape": mode.shape}
            for mode in checked.modes
        ],
        "frames": [asdict(frame) for frame in model.frames],
        "wheels": [asdict(wheel) for wheel in model.wheels],
        "thrusters": [asdict(thruster) for thruster in model.thrusters],
        "sensors": [
            {**asdict(sensor), "reads": sensor_targets(model, sensor)} for sensor in model.sensors
        ],
        "joint_limits": {
            joint.name: asdict(joint.limits) for joint in model.joints if joint.type != "fixed"
        },
        "limits": asdict(model.limits),
        "notes": notes_json(checked.notes),
        "faults": notes_json(checked.faults),
    }


def _visibility_as_dict(seen: Visibility) -> dict[str, object]:
    from freefloat.cli.screen import notes_json

    return {
        "rank": seen.rank,
        "parameters": [asdict(parameter) for parameter in seen.parameters],
        "combinations": [asdict(combination) for combination in seen.combinations],
        "trades": list(seen.trades),
        "scale": asdict(seen.scale) if seen.scale else None,
        "notes": notes_json(seen.notes),
    }
