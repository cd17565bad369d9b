"""Trajectories under the closed loop of paper 001."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import whole_steps
from freefloat.dynamics.kernels.integrate import Stages
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError


@dataclass(frozen=True)
class ClosedLoop:
    """States (N, 13 + 2 c) at times (N,), joint accelerations (N, c), world wrench (N, 6)."""

    times: Array
    states: Array
    accelerations: Array
    wrench: Array


def integrate_closed_loop(
    system: System,
    start: Array,
    law: Sequence[float],
    *,
    duration: float,
    step: float = 1e-3,
    every: int = 1,
) -> ClosedLoop:
    """The motion from `start` with the arm holding the base's attitude and thrust braking.

    law: damping [1/s], stiffness [1/s^2], force gain [1/s], max force [N], torque gain [1/s], max
    torque [N m]. Every joint takes part, whatever its role.
    """
    from freefloat.dynamics.kernels.closed_loop import new_scratch, rk4_capture

    root, c = system.model.root.type, system.n_coordinates
    n_needed = 1 if root == "planar" else 3
    if root == "fixed" or len(system.tree.rotor_link) or c < n_needed:
        raise FreefloatError(
            f"the closed loop of paper 001 needs a floating or planar root, at least {n_needed}"
            f" joints and no rotors; {system.model.name!r} has a {root} root, {c} coordinates and"
            f" {len(system.tree.rotor_link)} rotors",
            code="loop.model",
        )
    if system.environment.has_gravity:
        raise FreefloatError(
            f"the closed loop of paper 001 knows no gravity; remove it and the orbit from"
            f" {system.model.name!r}",
            code="loop.gravity",
        )
    n_steps = whole_steps(duration, step, every)
    x = np.array(start, dtype=float)
    rows = 1 + n_steps // every
    states, extras = np.empty((rows, len(x))), np.empty((rows, c + 6))
    stages = Stages(*(np.zeros_like(x) for _ in range(3)))
    rk4_capture(
        system.tree, system.parameters, new_work(system.tree), np.array(law, dtype=float),
        root == "planar", float(step), n_steps, every, x, stages, new_scratch(c), states,
        extras,
    )  # fmt: skip
    if not np.all(np.isfinite(states)):
        raise FreefloatError(
            "the closed loop ran into a singular posture; change the start", code="loop.singular"
        )
    return ClosedLoop(np.arange(rows) * every * step, states, extras[:, :c], extras[:, c:])
