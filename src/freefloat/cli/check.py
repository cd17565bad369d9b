"""`freefloat check`: what a model is, whether it holds together, and what to know about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import pi
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import Shared
from freefloat.cli.screen import name_list
from freefloat.notes import Note

if TYPE_CHECKING:
    from freefloat.dynamics.modes import Mode
    from freefloat.model import Joint, Model
    from freefloat.model.mass_properties import MassProperties
    from freefloat.observability.visibility import Visibility

KERNELS = ("observe.free_mass_matrix",)
VISIBILITY_KERNELS = ("observe.observe", "tangent.rk4_tangent")
STEP = 1e-3  # format: [s], the step of `freefloat simulate` unless said otherwise
# theory: RK4's local error is (w h)^5 / 120; at w h = 0.3 it keeps about five digits a period
ACCURATE = 0.3
SINGULAR = 1e-12  # theory: eigenvalue of a scaled mass matrix, between rounding and any real robot
SHARE = 0.3  # format: coordinates named with at least this part of the largest in a null vector


@dataclass(frozen=True)
class ModelCheck:
    """A model and what was found out about it."""

    model: Model
    mass: MassProperties
    modes: list[Mode]
    notes: list[Note]
    faults: list[Note]


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
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    plan
        Say which parameters a flight of this plan (.toml) would show, before it is flown.
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

    robot = load_model(model, strict=shared.strict)
    if plan is not None or sensors is not None or free:
        return _check_visibility(robot, plan, sensors, free or [], is_json=shared.json)
    if not shared.json:
        screen.show(*structure(robot))
    tell_first_run(*KERNELS, takes="a few seconds")
    checked = examine(robot)
    if shared.json:
        screen.print_json(_as_dict(checked))
    else:
        screen.show(*overview(checked))
    return 1 if checked.faults else 0


def _check_visibility(
    model: Model, plan: Path | None, sensors: str | None, free: Sequence[str], *, is_json: bool
) -> int:
    from freefloat.cli import screen
    from freefloat.cli.check_view import overview, visibility_overview

    checked = examine(model)
    if checked.faults:  # it could not be flown
        screen.print_json(_as_dict(checked)) if is_json else screen.show(*overview(checked))
        return 1
    seen = find_visibility(model, plan=plan, sensors=sensors, free=free)
    if is_json:
        screen.print_json({**_as_dict(checked), "visibility": _visibility_as_dict(seen)})
    else:
        screen.show(*visibility_overview(model, seen))
    return 0


def find_visibility(
    model: Model, *, plan: Path | None, sensors: str | None, free: Sequence[str]
) -> Visibility:
    """What a flight would show of the parameters that fit `free`, or of the usual ones.

    FreefloatError for a plan that cannot be read, an unknown sensor or a glob that fits nothing.
    """
    from freefloat.cli.parameter_options import choose_parameters, default_globs
    from freefloat.cli.waiting import progress, tell_first_run
    from freefloat.excitation.plan_file import load_plan
    from freefloat.observability.identifiability import identifiability

    parameters = choose_parameters(model, free=free or default_globs(model))
    flown = load_plan(plan) if plan is not None else None
    tell_first_run(*VISIBILITY_KERNELS, takes="about half a minute")
    with progress("simulating"):
        return identifiability(model, parameters, plan=flown, sensors=sensors)


def examine(model: Model) -> ModelCheck:
    """Everything that can be said about a model before it flies."""
    from freefloat.dynamics.modes import modes
    from freefloat.errors import ModelError
    from freefloat.model.mass_properties import mass_properties

    faults = missing_inertia(model)
    swinging: list[Mode] = []
    if not faults:
        try:
            swinging = modes(model)
        except ModelError as error:
            faults = [Note("model.modes", error.message)]
    return ModelCheck(model, mass_properties(model), swinging, [*_remarks(model, swinging)], faults)


def _as_dict(checked: ModelCheck) -> dict[str, object]:
    from freefloat.cli.check_view import branches
    from freefloat.cli.screen import notes_json
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


# -- what is unusual, and what keeps a model from flying -------------------------------------------


def _remarks(model: Model, modes: Sequence[Mode]) -> Iterator[Note]:
    """Sentences about what is unusual; none for a model like any other."""
    from freefloat.notes import as_note

    yield from (as_note(note, "model.note") for note in model.notes)
    for remarks in (_missing, _homes, _discs, _spinning, _without_limits):
        yield from remarks(model)
    yield from _fast(modes)


def missing_inertia(model: Model) -> list[Note]:
    """Why the equations of motion cannot be solved at home: what is free to move without inertia.

    >>> from freefloat.model import load_model
    >>> missing_inertia(load_model("servicer"))
    []
    """
    import numpy as np

    from freefloat.dynamics import flatten, mass_matrix

    system = flatten(model)
    H = mass_matrix(system, [c.home for c in model.assembly.coordinates])
    if not len(H):
        return []
    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    names = [_free_name(int(g), system.coordinates) for g in system.tree.free]
    if not np.all(scale > 0.0):
        empty = dict.fromkeys(name for name, s in zip(names, scale, strict=True) if not s > 0.0)
        text = f"free to move but without inertia: {name_list(list(empty))}; give the bodies beyond"
        return [Note("model.no_inertia", f"{text} mass and inertia, or lock the joint")]
    values, vectors = np.linalg.eigh(H / np.outer(scale, scale))
    if values[0] > SINGULAR:
        return []
    share = np.abs(vectors[:, 0])
    who = dict.fromkeys(
        name for name, s in zip(names, share, strict=True) if s > SHARE * share.max()
    )
    text = f"a combination of {name_list(list(who))} moves no mass; give the bodies beyond mass and"
    return [Note("model.no_inertia", f"{text} inertia, or lock a joint")]


def _free_name(index: int, coordinates: tuple[str, ...]) -> str:
    return "the root" if index < 6 else coordinates[index - 6]


def _missing(model: Model) -> Iterator[Note]:
    if not model.sensors:
        from freefloat.model.default_sensors import default_sensor_note

        yield default_sensor_note(model)
    is_driven = any(c.role in ("motion", "torque") for c in model.assembly.coordinates)
    if not is_driven and not model.thrusters:
        yield Note("model.no_actuators", "nothing can be driven: no joint, wheel or thruster")


def _homes(model: Model) -> Iterator[Note]:
    for joint in model.joints:
        low, high = joint.limits.lower, joint.limits.upper
        if (low is not None and joint.home < low) or (high is not None and joint.home > high):
            text = f"{joint.name}: home {joint.home:g} is outside its limits"
            yield Note("joint.home_outside_limits", text)


def _discs(model: Model) -> Iterator[Note]:
    for joint in model.joints:
        drive = joint.drive
        if drive is not None and drive.form == "disc" and drive.ratio != 1.0:
            text = f'{joint.name}: a "disc" turns at joint speed, so its ratio {drive.ratio:g}'
            text += ' changes nothing; say form = "geared" if the rotor spins faster'
            yield Note("drive.ratio_without_effect", text)


def _spinning(model: Model) -> Iterator[Note]:
    for wheel in model.wheels:
        if wheel.max_speed is not None and abs(wheel.speed) > wheel.max_speed:
            text = f"{wheel.name}: starts at {wheel.speed:g} rad/s, beyond its max_speed"
            yield Note("wheel.start_beyond_limit", f"{text} {wheel.max_speed:g} rad/s")


def _without_limits(model: Model) -> Iterator[Note]:
    names = [joint.name for joint in model.joints if _is_driven(joint) and _has_no_limit(joint)]
    if names:
        text = f"without position or velocity limits: {name_list(names)}; the default motion keeps"
        text += " within 0.5 rad and 0.2 rad/s (metres for prismatic joints)"
        yield Note("joint.no_limits", text)


def _is_driven(joint: Joint) -> bool:
    role = joint.drive.role if joint.drive else joint.role
    return joint.type != "fixed" and role in ("motion", "torque")


def _has_no_limit(joint: Joint) -> bool:
    limits = joint.limits
    return limits.velocity is None and (limits.lower is None or limits.upper is None)


def _fast(modes: Sequence[Mode]) -> Iterator[Note]:
    fastest = max((mode.frequency for mode in modes), default=0.0)
    if 2.0 * pi * fastest * STEP > ACCURATE:
        step = ACCURATE / (2.0 * pi * fastest)
        text = f"the fastest mode, {fastest:.4g} Hz, is fast for steps of {STEP:g} s: simulate with"
        yield Note("mode.fast_for_step", f"{text} --step {step:.1g} or shorter")
