"""`freefloat check`: what a model is, whether it holds together, and what to know about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

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


def check(model: str, /, *, shared: Shared = Shared()) -> int:  # noqa: B008
    """Show what a model holds, and what is amiss with it.

    Structure, mass properties, modes, actuators, sensors, limits and notes. A
    file that cannot be read gives every fault with its line and remedy (exit
    code 2). A model that can be read but not flown, such as one with a free
    joint that carries no inertia, gives exit code 1.

    For example:
      freefloat check servicer
      freefloat check my_robot.urdf --json

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    """
    from freefloat.cli import screen
    from freefloat.cli.check_view import overview, structure
    from freefloat.cli.waiting import tell_first_run
    from freefloat.model import load_model

    read = load_model(model)
    if not shared.json:
        screen.show(*structure(read))
    tell_first_run(*KERNELS, takes="a few seconds")
    found = examine(read)
    if shared.json:
        screen.print_json(_as_dict(found))
    else:
        screen.show(*overview(found))
    return 1 if found.faults else 0


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
        "wheels": [asdict(wheel) for wheel in model.wheels],
        "thrusters": [asdict(thruster) for thruster in model.thrusters],
        "sensors": [asdict(sensor) for sensor in model.sensors],
        "joint_limits": {
            joint.name: asdict(joint.limits) for joint in model.joints if joint.type != "fixed"
        },
        "limits": asdict(model.limits),
        "notes": found.notes,
        "faults": found.faults,
    }
