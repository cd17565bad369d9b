"""What a model is like before it flies: mass, modes, what is unusual, what keeps it from flying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

from freefloat.errors import ModelError
from freefloat.model.mass_properties import MassProperties, mass_properties, unit_note
from freefloat.model.model import Model
from freefloat.model.parts import Joint
from freefloat.notes import Note, as_note
from freefloat.text import name_list

if TYPE_CHECKING:
    from freefloat.dynamics.modes import Mode

STEP = 1e-3  # format: [s], the default step of `freefloat simulate`
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


def check_model(model: Model) -> ModelCheck:
    """Everything that can be said about a model before it flies.

    >>> from freefloat.model import load_model
    >>> checked = check_model(load_model("servicer"))
    >>> round(checked.modes[0].frequency, 3), checked.faults
    (0.086, [])
    """
    from freefloat.dynamics.modes import modes

    faults = missing_inertia(model)
    swinging: list[Mode] = []
    if not faults:
        try:
            swinging = modes(model)
        except ModelError as error:
            faults = [Note("model.modes", error.message)]
    return ModelCheck(model, mass_properties(model), swinging, [*_remarks(model, swinging)], faults)


def _remarks(model: Model, modes: Sequence[Mode]) -> Iterator[Note]:
    """Sentences about what is unusual; none for a model like any other."""
    yield from (as_note(note, "model.note") for note in model.notes)
    units = unit_note(model)
    if units is not None:
        yield units
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
