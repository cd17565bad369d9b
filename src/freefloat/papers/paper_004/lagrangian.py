"""Paper 004's equations of motion, written down by hand: a second opinion on the kernels.

Seven coordinates x = (x0, y0, q0, q1, q2, q3, q_m). In absolute angles the centre of mass of every
link is a sum of constant vectors, each turned by one angle, so that velocities, accelerations and
the Lagrangian are short.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.model.model import Model

# Rows: x0, y0, then the absolute angles of base, three links and disc, by the coordinates x.
ABSOLUTE = np.array([
    [1, 0, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0, 0],
    [0, 0, 1, 0, 0, 0, 0],
    [0, 0, 1, 1, 0, 0, 0],
    [0, 0, 1, 1, 1, 0, 0],
    [0, 0, 1, 1, 1, 1, 0],
    [0, 0, 1, 0, 0, 0, 1],
], dtype=float)  # fmt: skip
FREE = [0, 1, 2, 3, 6]  # q2 and q3 are driven by motion


@dataclass(frozen=True)
class Arm:
    """Masses, inertias about the centres of mass, and the vectors of the sums (see above)."""

    mass: Array  # (4,) base and links [kg]
    inertia: Array  # (4,) [kg m^2]
    arms: Array  # (4, 4, 2): centre of mass i is at x0 + sum_k R(angle k) arms[i, k] [m]
    disc: float  # I_m [kg m^2]
    stiffness: float
    damping: float


def arm_of(model: Model) -> Arm:
    """The numbers of a planar three-joint model whose first joint has a disc behind a spring."""
    names = ("bus", "link_1", "link_2", "link_3")
    bodies = [model.body(name) for name in names]
    joints = [model.joint(f"arm_{k}") for k in (1, 2, 3)]
    arms = np.zeros((4, 4, 2))
    for i in range(4):
        arms[i, i] = bodies[i].com[:2]
        for k in range(i):
            arms[i, k] = joints[k].placement.xyz[:2]
    drive = joints[0].drive
    assert drive is not None
    return Arm(
        np.array([body.mass for body in bodies]),
        np.array([body.inertia[-1] for body in bodies]),
        arms, drive.inertia, drive.stiffness, drive.damping,
    )  # fmt: skip


def accelerations(arm: Arm, x: Array, dx: Array, given: Array, torque: float) -> Array:
    """The seven accelerations, those of q2 and q3 given, for a torque on the motor [N m]."""
    angles, rates = (ABSOLUTE @ x)[2:6], (ABSOLUTE @ dx)[2:6]
    M, h = np.diag([0.0, 0.0, *arm.inertia, arm.disc]), np.zeros(7)
    for i in range(4):
        J = np.zeros((2, 7))
        J[:, :2] = np.eye(2)
        away = np.zeros(2)
        for k in range(i + 1):
            c, s = np.cos(angles[k]), np.sin(angles[k])
            turned = np.array([[c, -s], [s, c]]) @ arm.arms[i, k]
            J[:, 2 + k] = -turned[1], turned[0]
            away -= rates[k] ** 2 * turned
        M += arm.mass[i] * J.T @ J
        h += arm.mass[i] * J.T @ away
    M, h = ABSOLUTE.T @ M @ ABSOLUTE, ABSOLUTE.T @ h
    spring = arm.stiffness * (x[6] - x[3]) + arm.damping * (dx[6] - dx[3])
    h[3] -= spring
    h[6] += spring - torque
    ddx = np.zeros(7)
    ddx[4:6] = given
    h = h + M[:, 4:6] @ given
    ddx[FREE] = np.linalg.solve(M[np.ix_(FREE, FREE)], -h[FREE])
    return ddx


def integrate_by_hand(arm: Arm, start: Array, motion: Array, torque: Array, step: float) -> Array:
    """Coordinates (steps + 1, 7) by RK4.

    motion (steps, 3 stages, 2, 3): q, dq, ddq of joints 2 and 3; torque (steps, 3) [N m].
    """
    x, dx = start[:7].copy(), start[7:].copy()
    rows = [x.copy()]

    def slope(n: int, stage: int, x: Array, dx: Array) -> tuple[Array, Array]:
        x, dx = x.copy(), dx.copy()
        x[4:6], dx[4:6] = motion[n, stage, :, 0], motion[n, stage, :, 1]
        return dx, accelerations(arm, x, dx, motion[n, stage, :, 2], float(torque[n, stage]))

    for n in range(len(motion)):
        v1, a1 = slope(n, 0, x, dx)
        v2, a2 = slope(n, 1, x + 0.5 * step * v1, dx + 0.5 * step * a1)
        v3, a3 = slope(n, 1, x + 0.5 * step * v2, dx + 0.5 * step * a2)
        v4, a4 = slope(n, 2, x + step * v3, dx + step * a3)
        x = x + step / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        dx = dx + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        x[4:6], dx[4:6] = motion[n, 2, :, 0], motion[n, 2, :, 1]
        rows.append(x.copy())
    return np.array(rows)
