"""Closed-loop motion of paper 001: the arm holds the base on eq. 39, thrust follows eqs 40, 41.

At every stage the base's angular acceleration is what the law wants; of all joint accelerations
that produce it the smallest is taken. With the linear rows eliminated (their block is the mass
times one) three equations A ddq = r remain, one for a planar root.
"""

from __future__ import annotations

from math import asin, atan2, cos, sin
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.forward import factorise, root_entry, set_wrench, solve
from freefloat.dynamics.kernels.integrate import clip, put_rate
from freefloat.dynamics.kernels.newton_euler import (
    ACCELERATION,
    ATTITUDE,
    DDQ,
    DQ,
    RATE,
    Q,
    move_links,
    newton_euler,
    place_links,
    root_axes,
)
from freefloat.dynamics.kernels.observe import link_momenta
from freefloat.dynamics.kernels.spatial import C, F, S, cross, momentum_of, place_inertia, six
from freefloat.numba_.compilation import inline, kernel


class CaptureScratch(NamedTuple):
    """Scratch space of the closed loop."""

    push: np.ndarray  # (6,) world torque and force on the root
    alpha: np.ndarray  # (3,) wanted angular acceleration of the root
    A: np.ndarray  # (3, joints)
    G: np.ndarray  # (3, 3) A A^T; rows a planar root does not have are those of the unit matrix
    r: np.ndarray  # (3,)
    above: np.ndarray  # (3,) see `factorise`


def new_scratch(n_joints: int) -> CaptureScratch:
    """Scratch space for so many joints."""
    A, above = np.zeros((3, n_joints)), np.array([-1, 0, 1])
    return CaptureScratch(np.zeros(6), np.zeros(3), A, np.zeros((3, 3)), np.zeros(3), above)


@inline
def wanted_acceleration(root, damping, stiffness, out):
    """Angular acceleration (root axes) that makes yaw, pitch and roll obey eq. 39."""
    a, _, _, d, _, _, g, h, i = root_axes(root)
    yaw, pitch, roll = atan2(d, a), asin(clip(-g, 1.0)), atan2(h, i)
    sr, cr, sp, cp = sin(roll), cos(roll), sin(pitch), cos(pitch)
    wx, wy, wz = root[RATE], root[RATE + 1], root[RATE + 2]
    # body rates from Euler rates: w = (droll - dyaw sp, dpitch cr + dyaw cp sr, ...)
    dpitch = wy * cr - wz * sr
    dyaw = (wy * sr + wz * cr) / cp
    droll = wx + dyaw * sp
    ddyaw = -damping * dyaw - stiffness * yaw
    ddpitch = -damping * dpitch - stiffness * pitch
    ddroll = -damping * droll - stiffness * roll
    out[0] = ddroll - ddyaw * sp - dyaw * dpitch * cp
    out[1] = ddpitch * cr - dpitch * droll * sr + ddyaw * cp * sr
    out[1] += dyaw * (droll * cp * cr - dpitch * sp * sr)
    out[2] = -ddpitch * sr - dpitch * droll * cr + ddyaw * cp * cr
    out[2] += dyaw * (-dpitch * sp * cr - droll * cp * sr)


@inline
def brake(tree, par, w, x, law, push):
    """World torque and force of eqs 40, 41 into push (6), from the momentum about the CoM."""
    L = w.L
    place_links(tree, w)
    move_links(tree, w)
    m = mx = my = mz = 0.0
    for i in range(L.shape[0]):
        place_inertia(L, i, par.phi)
        m += L[i, C]
        mx, my, mz = mx + L[i, C + 1], my + L[i, C + 2], mz + L[i, C + 3]
    lx, ly, lz, px, py, pz, _ = link_momenta(tree, par, L, w.U)
    # about the CoM: subtract c x P; the root's own velocity adds nothing there
    ax, ay, az = cross(mx / m, my / m, mz / m, px, py, pz)
    lx, ly, lz = lx - ax, ly - ay, lz - az
    a, b, c, d, e, f, g, h, i = root_axes(w.root)
    push[0] = clip(-law[4] * (a * lx + b * ly + c * lz), law[5])
    push[1] = clip(-law[4] * (d * lx + e * ly + f * lz), law[5])
    push[2] = clip(-law[4] * (g * lx + h * ly + i * lz), law[5])
    push[3] = clip(-law[2] * (a * px + b * py + c * pz + m * x[7]), law[3])
    push[4] = clip(-law[2] * (d * px + e * py + f * pz + m * x[8]), law[3])
    push[5] = clip(-law[2] * (g * px + h * py + i * pz + m * x[9]), law[3])


@inline
def capture_rate(tree, par, w, law, is_planar, x, scratch, dx):
    """dx under the closed loop; joint accelerations in w.U, wrench in scratch.push.

    law: damping, stiffness, force gain, max force, torque gain, max torque.
    """
    L, U, root, push, alpha = w.L, w.U, w.root, scratch.push, scratch.alpha
    n = U.shape[0]
    for c in range(n):
        U[c, Q], U[c, DQ], U[c, DDQ] = x[13 + c], x[13 + n + c], 0.0
    for k in range(4):
        root[ATTITUDE + k] = x[3 + k]
    for k in range(3):
        root[RATE + k] = x[10 + k]
    for k in range(6):
        root[ACCELERATION + k] = 0.0
    brake(tree, par, w, x, law, push)
    if is_planar:
        push[0] = push[1] = push[5] = 0.0
        angle = 2.0 * atan2(x[5], x[6])
        alpha[0] = alpha[1] = 0.0
        alpha[2] = -law[0] * x[12] - law[1] * angle
    else:
        wanted_acceleration(root, law[0], law[1], alpha)
    set_wrench(tree, root, push[0], push[1], push[2], push[3], push[4], push[5], x[7], x[8], x[9])
    newton_euler(tree, par, w)
    joint_accelerations(L, U, is_planar, scratch)
    for k in range(3):
        root[ACCELERATION + k] = alpha[k]
    linear_acceleration(L, U, alpha, root)
    if is_planar:
        root[ACCELERATION + 5] = 0.0
    put_rate(w, x, dx)


@inline
def joint_accelerations(L, U, is_planar, scratch):
    """The smallest ddq for which the root turns with alpha; forces and inertias are in L."""
    n, A, alpha = L.shape[0] - 1, scratch.A, scratch.alpha
    first = 2 if is_planar else 0
    G, r = scratch.G, scratch.r
    m = L[0, C]
    for k in range(3):
        r[k] = 0.0
    for k in range(first, 3):
        r[k] = -L[0, F + k]
        for j in range(3):
            row, col = max(k, j), min(k, j)
            r[k] -= root_entry(L, row, col) * alpha[j]
        for j in range(3):  # eliminate the linear acceleration
            h = root_entry(L, 3 + j, k)
            free = -L[0, F + 3 + j]
            for i in range(3):
                free -= root_entry(L, 3 + j, i) * alpha[i]
            r[k] -= h * free / m
    for c in range(n):
        ax, ay, az, bx, by, bz = six(L, c + 1, S)
        f = momentum_of(L, c + 1, ax, ay, az, bx, by, bz)
        for k in range(first, 3):
            A[k, c] = f[k]
            for j in range(3):
                A[k, c] -= root_entry(L, 3 + j, k) * f[3 + j] / m
    for k in range(3):
        for j in range(k + 1):
            G[k, j] = 1.0 if k == j and k < first else 0.0
            for c in range(n if j >= first else 0):
                G[k, j] += A[k, c] * A[j, c]
    factorise(G, scratch.above)
    solve(G, scratch.above, r)
    for c in range(n):
        U[c, DDQ] = 0.0
        for k in range(first, 3):
            U[c, DDQ] += A[k, c] * r[k]


@inline
def linear_acceleration(L, U, alpha, root):
    """The root's linear acceleration that goes with alpha and ddq, from the force rows."""
    for j in range(3):
        total = -L[0, F + 3 + j]
        for i in range(3):
            total -= root_entry(L, 3 + j, i) * alpha[i]
        for c in range(L.shape[0] - 1):
            ax, ay, az, bx, by, bz = six(L, c + 1, S)
            f = momentum_of(L, c + 1, ax, ay, az, bx, by, bz)
            total -= f[3 + j] * U[c, DDQ]
        root[ACCELERATION + 3 + j] = total / L[0, C]


@kernel
def rk4_capture(
    tree, par, w, law, is_planar, h, n_steps, every, x, stages, scratch, states, extras
):
    """Integrate the closed loop; extras[i] = ddq and wrench at each recorded state."""
    y, k, total = stages.x, stages.k, stages.total
    n, c = x.shape[0], w.U.shape[0]
    for step in range(n_steps + 1):
        for i in range(n):
            y[i], total[i] = x[i], 0.0
        for stage in range(4):
            capture_rate(tree, par, w, law, is_planar, y, scratch, k)
            if stage == 0 and step % every == 0:
                row = step // every
                for i in range(n):
                    states[row, i] = x[i]
                for j in range(c):
                    extras[row, j] = w.U[j, DDQ]
                for j in range(6):
                    extras[row, c + j] = scratch.push[j]
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            ahead = h if stage == 2 else 0.5 * h
            for i in range(n):
                total[i] += weight * k[i]
                y[i] = x[i] + ahead * k[i]
        for i in range(n):
            x[i] += h / 6.0 * total[i]
        norm = 1.0 / np.sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6])
        for i in range(3, 7):
            x[i] *= norm
