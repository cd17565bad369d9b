"""What the surroundings do to a system: gravity, its gradient along the orbit, drag on the root.

Momentum changes by nothing else unless somebody pushes, so these wrenches, integrated over a
flight, must account for every change of momentum: a check on a trajectory that costs little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.system_inertia import Whole, whole
from freefloat.dynamics.tree import ROOT_FREE, System
from freefloat.model.rotations import matrix_from_quaternion


@dataclass(frozen=True)
class MomentumChange:
    """How far momentum went from its start, and how much of that nothing explains.

    `linear` [N s] and `angular` [N m s] (about the system's centre of mass) are the largest
    changes; `linear_drift` and `angular_drift` what is left of them once the surroundings are
    accounted for, hence the integrator's error.
    """

    linear: float
    angular: float
    linear_drift: float
    angular_drift: float


def momentum_change(system: System, times: Array, states: Array) -> MomentumChange:
    """How momentum changed along a trajectory on which nobody pushed from outside.

    A planar root counts in its plane only; a fixed root holds, so its momentum means nothing.
    """
    from scipy.interpolate import CubicSpline

    at = whole(system, states)
    force, torque = environment_wrench(system, times, states, at)
    axes = np.isin(np.arange(6), ROOT_FREE[system.model.root.type])
    largest = []
    for momentum, wrench, counted in (
        (at.momentum, force, axes[3:]),
        (at.spin, torque, axes[:3]),
    ):
        change = (momentum - momentum[0]) * counted
        given = CubicSpline(times, wrench * counted).antiderivative()(times)
        largest += [_largest(change), _largest(change - given)]
    return MomentumChange(largest[0], largest[2], largest[1], largest[3])


def environment_wrench(
    system: System, times: Array, states: Array, at: Whole | None = None
) -> tuple[Array, Array]:
    """Force (N, 3) [N] and torque about the centre of mass (N, 3) [N m], in world axes."""
    at = whole(system, states) if at is None else at
    field = system.tree.field
    force = np.tile(at.mass * field[:3], (len(states), 1))
    torque = np.zeros_like(force)
    if field[3] > 0.0:
        angle = (field[10] * times)[:, None]
        r = np.cos(angle) * field[4:7] + np.sin(angle) * field[7:10]
        along = np.sum(r * at.com, axis=1, keepdims=True)
        force += at.mass * field[3] * (3.0 * along * r - at.com)
        # The textbook torque 3 n^2 r x I r, about the centre of mass.
        torque += 3.0 * field[3] * np.cross(r, np.einsum("nij,nj->ni", at.inertia, r))
    drag = -field[12] * states[:, 7:10]
    rate = np.einsum("nij,nj->ni", matrix_from_quaternion(states[:, 3:7]), states[:, 10:13])
    torque += np.cross(states[:, :3] - at.com, drag) - field[13] * rate
    return force + drag, torque


def _largest(rows: Array) -> float:
    return float(np.max(np.linalg.norm(rows, axis=1)))
