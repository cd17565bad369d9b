"""`freefloat check`: what a model is, whether it holds together, and what to know about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import Shared

if TYPE_CHECKING:
    from freefloat.dynamics.modes import Mode
    from freefloat.model import Model
    from freefloat.model.mass_properties import MassProperties

KERNELS = ("observe.free_mass_matrix",)


@dataclass(frozen=True)
class Checked:
    """A model and what was found out about it."""

    model: Model
    mass: MassProperties
    modes: list[Mode]
    notes: list[str]
    faults: list[str]


def check(
    model: str,
    /,
    *,
    plan: Path | None = None,
    sensors: str | None = None,
    free: Annotated[list[str] | None, Parameter(negative=())] = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Show what a model holds, and what is amiss with it.

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
        The name of a built-in model, or a .toml or .urdf file.
    plan
        Say what flying this plan (.toml) would tell of the parameters, before it is flown.
    sensors
        The same with these sensors only: kinds or names, such as "gyro encoders".
    free
        The same for these parameters: a name or glob such as "bus.*"; may be repeated. Unless
        said, those of the root and of what is grasped.
    """
    from freefloat.cli import screen
    from freefloat.cli.check_view import overview, structure
    from freefloat.cli.waiting import tell_first_run
    from freefloat.model import load_model

    read = load_model(model)
    if plan is not None or sensors is not None or free:
        return _look(read, plan, sensors, free or [], is_json=shared.json)
    if not shared.json:
        screen.show(*structure(read))
    tell_first_run(*KERNELS, takes="a few seconds")
    found = examine(read)
    if shared.json:
        screen.print_json(_as_dict(found))
    else:
        screen.show(*overview(found))
    return 1 if found.faults else 0


def _look(
    model: Model, plan: Path | None, sensors: str | None, free: list[str], *, is_json: bool
) -> int:
    from freefloat.cli import screen
    from freefloat.cli.check_view import overview
    from freefloat.cli.visibility_view import as_dict, looked_at, visible_parts

    checked = examine(model)
    if checked.faults:  # it could not be flown
        screen.print_json(_as_dict(checked)) if is_json else screen.show(*overview(checked))
        return 1
    found = looked_at(model, plan=plan, sensors=sensors, free=free)
    if is_json:
        screen.print_json({**_as_dict(checked), "visibility": as_dict(found)})
    else:
        screen.show(*visible_parts(model, found))
    return 0


def examine(model: Model) -> Checked:
    """Everything that can be said about a model before it flies."""
    from freefloat.cli.check_remarks import remarks, weightless
    from freefloat.dynamics.modes import modes
    from freefloat.errors import ModelError
    from freefloat.model.mass_properties import mass_properties

    faults = weightless(model)
    try:
        swinging = [] if faults else modes(model)
    except ModelError as error:
        swinging, faults = [], [error.message]
    notes = remarks(model, swinging)
    return Checked(model, mass_properties(model), swinging, notes, faults)


def _as_dict(found: Checked) -> dict[str, object]:
    from freefloat.cli.check_tree import branches
    from freefloat.model.checks import sensor_targets

    model = found.model
    return {
        "ok": not found.faults,
        "name": model.name,
        "description": model.description,
        "root": asdict(model.root),
        "structure": [asdict(branch) for branch in branches(model)],
        "mass": found.mass.mass,
        "com": found.mass.com,
        "inertia": found.mass.inertia,
        "principal_inertia": found.mass.principal,
        "modes": [
            {"frequency": mode.frequency, "damping": mode.damping, "shape": mode.shape}
            for mode in found.modes
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
        "notes": found.notes,
        "faults": found.faults,
    }
