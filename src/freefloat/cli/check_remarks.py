"""What a person should know about a model that is well-formed, and what keeps it from flying."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from freefloat.cli.screen import named

if TYPE_CHECKING:
    from freefloat.dynamics.modes import Mode
    from freefloat.model import Joint, Model

STEP = 1e-3  # [s] of `freefloat simulate` unless said otherwise
ACCURATE = 0.3  # angular frequency times step up to which RK4 keeps about five digits a period


def remarks(model: Model, modes: list[Mode]) -> list[str]:
    """Sentences about what is unusual, in no particular order; none for a model like any other."""
    found = [*model.notes, *_missing(model), *_homes(model), *_discs(model), *_spinning(model)]
    return [*found, *_unlimited(model), *_fast(modes)]


def weightless(model: Model) -> list[str]:
    """Why the equations of motion cannot be solved at home: what is free to move and has no mass.

    >>> from freefloat.model import load_model
    >>> weightless(load_model("servicer"))
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
        return [f"free to move but without inertia: {named(list(empty))}; give the bodies beyond"
                " mass and inertia, or lock the joint"]  # fmt: skip
    values, vectors = np.linalg.eigh(H / np.outer(scale, scale))
    if values[0] > 1e-12:  # far below any real robot, far above rounding
        return []
    share = np.abs(vectors[:, 0])
    who = dict.fromkeys(name for name, s in zip(names, share, strict=True) if s > 0.3 * share.max())
    return [f"a combination of {named(list(who))} moves no mass; give the bodies beyond mass and"
            " inertia, or lock a joint"]  # fmt: skip


def _free_name(index: int, coordinates: tuple[str, ...]) -> str:
    return "the root" if index < 6 else coordinates[index - 6]


def _missing(model: Model) -> Iterator[str]:
    if not model.sensors:
        yield "no sensors: `freefloat simulate` needs [[sensor]] entries in a model file (.toml)"
    moved = any(c.role in ("motion", "torque") for c in model.assembly.coordinates)
    if not moved and not model.thrusters:
        yield "nothing can be driven: no joint, wheel or thruster"


def _homes(model: Model) -> Iterator[str]:
    for joint in model.joints:
        low, high = joint.limits.lower, joint.limits.upper
        if (low is not None and joint.home < low) or (high is not None and joint.home > high):
            yield f"{joint.name}: home {joint.home:g} is outside its limits"


def _discs(model: Model) -> Iterator[str]:
    for joint in model.joints:
        drive = joint.drive
        if drive is not None and drive.form == "disc" and drive.ratio != 1.0:
            yield (
                f'{joint.name}: a "disc" turns at joint speed, so its ratio {drive.ratio:g} changes'
                ' nothing; say form = "geared" if the rotor spins faster'
            )


def _spinning(model: Model) -> Iterator[str]:
    for wheel in model.wheels:
        if wheel.max_speed is not None and abs(wheel.speed) > wheel.max_speed:
            yield (
                f"{wheel.name}: starts at {wheel.speed:g} rad/s, beyond its max_speed"
                f" {wheel.max_speed:g} rad/s"
            )


def _unlimited(model: Model) -> Iterator[str]:
    names = [joint.name for joint in model.joints if _is_driven(joint) and _has_no_limit(joint)]
    if names:
        yield (
            f"without position or velocity limits: {named(names)}; the default motion keeps within"
            " 0.5 rad and 0.2 rad/s (metres for prismatic joints)"
        )


def _is_driven(joint: Joint) -> bool:
    role = joint.drive.role if joint.drive else joint.role
    return joint.type != "fixed" and role in ("motion", "torque")


def _has_no_limit(joint: Joint) -> bool:
    limits = joint.limits
    return limits.velocity is None and (limits.lower is None or limits.upper is None)


def _fast(modes: list[Mode]) -> Iterator[str]:
    from math import pi

    fastest = max((mode.frequency for mode in modes), default=0.0)
    if 2.0 * pi * fastest * STEP > ACCURATE:
        step = ACCURATE / (2.0 * pi * fastest)
        yield (
            f"the fastest mode, {fastest:.4g} Hz, is fast for steps of {STEP:g} s: simulate with"
            f" --step {step:.1g} or shorter"
        )
