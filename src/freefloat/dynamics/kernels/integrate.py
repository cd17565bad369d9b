"""Fixed-step RK4 on position, quaternion, velocities and coordinates.

State: p (3) [m], quaternion (4, x y z w), v (3) [m/s] in world axes, w (3) [rad/s] in root axes,
q, dq. The quaternion is normalised after every step; inside a step the rotation matrix is taken
from the unnormalised one in a way that does not depend on its norm, which keeps the order at 4.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.forward import add_springs, forward_dynamics, set_wrench
from freefloat.dynamics.kernels.newton_euler import (
    ACCELERATION,
    ATTITUDE,
    DDQ,
    DQ,
    EFFORT,
    PUSH,
    RATE,
    Q,
    root_axes,
    set_field,
)
from freefloat.dynamics.kernels.spatial import HAS_GRAVITY, six
from freefloat.numba_.compilation import inline, kernel


class Inputs(NamedTuple):
    """What drives a simulation, tabulated at the start, middle and end of every step.

    A table with one row holds for every step. Coordinates under feedback get
    clip(feedforward + kp (q_ref - q) + kd (dq_ref - dq), limit).
    """

    given: np.ndarray  # (rows, 3, given, 3) q, dq, ddq of the prescribed coordinates
    effort: np.ndarray  # (rows, 3, coordinates, 3) feedforward, q_ref, dq_ref
    push: np.ndarray  # (rows, 3, thrusters + 6) [N], then world torque [N m] and force [N]
    gains: np.ndarray  # (coordinates, 3) kp, kd, limit


class Stages(NamedTuple):
    """Scratch vectors of the integrator."""

    x: np.ndarray
    k: np.ndarray
    total: np.ndarray


@inline
def clip(x, limit):
    """x held between -limit and limit."""
    return min(max(x, -limit), limit)


@inline
def commanded_effort(w, inputs, step, stage, c):
    """What feedforward and feedback ask of coordinate c, before the limit."""
    row = step if inputs.effort.shape[0] > 1 else 0
    feedback = inputs.gains[c, 0] * (inputs.effort[row, stage, c, 1] - w.U[c, Q])
    feedback += inputs.gains[c, 1] * (inputs.effort[row, stage, c, 2] - w.U[c, DQ])
    return inputs.effort[row, stage, c, 0] + feedback


@inline
def set_inputs(tree, w, inputs, step, stage):
    """Prescribed motion and commanded efforts of one stage into w (springs not yet)."""
    U = w.U
    row = step if inputs.given.shape[0] > 1 else 0
    for m in range(tree.given.shape[0]):
        for k in range(3):  # position, rate, acceleration
            U[tree.given[m], k] = inputs.given[row, stage, m, k] + 0.0 * U[tree.given[m], k]
        U[tree.given[m], EFFORT] = 0.0 * U[tree.given[m], Q]
    for m in range(tree.free.shape[0]):  # nobody asks what drives a prescribed coordinate
        c = tree.free[m] - 6
        if c < 0:
            continue
        U[c, EFFORT] = clip(commanded_effort(w, inputs, step, stage, c), inputs.gains[c, 2])


@inline
def load_state(tree, par, w, inputs, step, stage, time, x):
    """Everything forward dynamics needs at state x, into w."""
    U, root = w.U, w.root
    n = U.shape[0]
    for c in range(n):
        U[c, Q] = x[13 + c]
        U[c, DQ] = x[13 + n + c]
    for k in range(4):
        root[ATTITUDE + k] = x[3 + k]
    for k in range(3):
        root[RATE + k] = x[10 + k]
    set_inputs(tree, w, inputs, step, stage)
    add_springs(tree, par, U)
    row = step if inputs.push.shape[0] > 1 else 0
    push = inputs.push[row, stage]
    n_thrusters = tree.thruster_link.shape[0]
    for t in range(n_thrusters):
        root[PUSH + t] = push[t] + 0.0 * root[PUSH + t]
    tx, ty, tz, fx, fy, fz = six(inputs.push[row], stage, n_thrusters)
    set_wrench(tree, root, tx, ty, tz, fx, fy, fz, x[7], x[8], x[9])
    if tree.field[HAS_GRAVITY] != 0.0:
        set_field(tree, root, time, x[0], x[1], x[2])


@inline
def state_rate(tree, par, w, inputs, step, stage, time, x, dx):
    """dx = time derivative of the state; prescribed coordinates get their prescribed rates."""
    load_state(tree, par, w, inputs, step, stage, time, x)
    forward_dynamics(tree, par, w)
    put_rate(w, x, dx)


@inline
def put_rate(w, x, dx):
    """The state's rate from the accelerations in w."""
    n = w.U.shape[0]
    a, b, c, d, e, f, g, h, i = root_axes(w.root)
    ax, ay, az = w.root[ACCELERATION + 3], w.root[ACCELERATION + 4], w.root[ACCELERATION + 5]
    ox, oy, oz = 0.5 * x[10], 0.5 * x[11], 0.5 * x[12]
    qx, qy, qz, qw = x[3], x[4], x[5], x[6]
    dx[0], dx[1], dx[2] = x[7], x[8], x[9]
    dx[3] = qw * ox + qy * oz - qz * oy
    dx[4] = qw * oy + qz * ox - qx * oz
    dx[5] = qw * oz + qx * oy - qy * ox
    dx[6] = -qx * ox - qy * oy - qz * oz
    dx[7] = a * ax + b * ay + c * az
    dx[8] = d * ax + e * ay + f * az
    dx[9] = g * ax + h * ay + i * az
    for k in range(3):
        dx[10 + k] = w.root[ACCELERATION + k]
    for m in range(n):
        dx[13 + m] = w.U[m, DQ]
        dx[13 + n + m] = w.U[m, DDQ]


@inline
def settle(tree, inputs, step, x):
    """Normalise the quaternion and put prescribed coordinates exactly on their motion."""
    norm = 1.0 / sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6])
    for k in range(3, 7):
        x[k] *= norm
    n = (x.shape[0] - 13) // 2
    row = step if inputs.given.shape[0] > 1 else 0
    for m in range(tree.given.shape[0]):
        c = tree.given[m]
        x[13 + c] = inputs.given[row, 2, m, 0] + 0.0 * x[0]
        x[13 + n + c] = inputs.given[row, 2, m, 1] + 0.0 * x[0]


@inline
def rk4_step(tree, par, w, inputs, step, time, h, x, stages):
    """One step of length h [s] of the classical Runge-Kutta method, in place."""
    y, k, total = stages.x, stages.k, stages.total
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i]
        total[i] = 0.0 * x[i]
    for stage in range(4):  # one loop, so that the dynamics are compiled in once
        at = (stage + 1) // 2  # start, middle, middle, end
        state_rate(tree, par, w, inputs, step, at, time + 0.5 * at * h, y, k)
        weight = 1.0 if stage == 0 or stage == 3 else 2.0
        ahead = h if stage == 2 else 0.5 * h
        for i in range(n):
            total[i] += weight * k[i]
            y[i] = x[i] + ahead * k[i]
    for i in range(n):
        x[i] += h / 6.0 * total[i]
    settle(tree, inputs, step, x)


@inline
def rk4_loop(tree, par, w, inputs, time, h, n_steps, every, x, stages, out):
    """Integrate x over n_steps, writing it to out after every `every` steps."""
    for step in range(n_steps):
        rk4_step(tree, par, w, inputs, step, time + step * h, h, x, stages)
        if (step + 1) % every == 0:
            row = (step + 1) // every - 1
            for i in range(x.shape[0]):
                out[row, i] = x[i]


@kernel
def rk4(tree, par, w, inputs, time, h, n_steps, every, x, stages, out):
    """Integrate one simulation; see `rk4_loop`."""
    rk4_loop(tree, par, w, inputs, time, h, n_steps, every, x, stages, out)


@kernel
def state_rate_at(tree, par, w, inputs, time, x, dx):
    """The state's rate at one instant, from row 0 and stage 0 of the inputs."""
    state_rate(tree, par, w, inputs, 0, 0, time, x, dx)
