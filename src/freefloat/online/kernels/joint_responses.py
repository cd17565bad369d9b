# pyright: reportCallIssue=false
"""How the motion at an instant answers to every joint's position, rate and acceleration.

One-sided differences, see NUDGES: a row of `motion` and of the readings for the instant as it is,
then for every order and joint, then for every thruster that fires.
"""

from __future__ import annotations

from freefloat.dynamics.kernels.forward import forward_dynamics
from freefloat.dynamics.kernels.integrate import load_state
from freefloat.dynamics.kernels.newton_euler import (
    ACCELERATION,
    DDQ,
    newton_euler,
    root_axes,
)
from freefloat.numba_.compilation import inline, kernel
from freefloat.online.kernels.frame_readings import read_streams
from freefloat.online.kernels.kalman_tables import NUDGES


@inline
def set_parameters(p, values):
    """The mechanism's numbers from values of the free parameters."""
    n_inner, n_linear, flat = p.start.shape[0], p.linear.shape[0], p.flat
    for i in range(n_inner):
        total = 0.0
        for k in range(values.shape[0]):
            total += p.shares[i, k] * values[k]
        p.inner[i] = total
    for j in range(flat.shape[0]):
        flat[j] = p.base[j]
    for f in range(n_linear):
        moved = p.inner[p.linear[f]] - p.start[p.linear[f]]
        if moved != 0.0:
            add_column(flat, p.columns[f], moved)
    for t in range(p.tanks.shape[0]):
        m, n = p.tanks[t, 0], p.tanks[t, 1]
        heavy = p.inner[m] if m >= 0 else p.tank_values[t, 0]
        long = p.inner[n] if n >= 0 else p.tank_values[t, 1]
        for power in range(3):
            size = heavy * (1.0 if power == 0 else (long if power == 1 else long * long))
            add_column(flat, p.columns[n_linear + 3 * t + power], size)


@inline
def add_column(flat, column, size):
    """flat += size column."""
    for j in range(flat.shape[0]):
        flat[j] += size * column[j]


@inline
def set_instant(inputs, joints, push):
    """Inputs at the joints' instant, in all three stages."""
    for stage in range(3):
        for m in range(joints.shape[1]):
            for order in range(3):
                inputs.given[0, stage, m, order] = joints[order, m]
        for k in range(push.shape[0]):
            inputs.push[0, stage, k] = push[k]


@kernel
def nudge_all(mechanics, streams, readings, time, x, joints, push, noise, has_readings):
    """Fill `readings.motion`, and what the streams should read, row by row.

    noise: of the thrusters' levels: those that fire and have some get rows of their own; none when
    empty.
    """
    tree, par, w, inputs = mechanics.tree, mechanics.parameters, mechanics.work, mechanics.nudged
    set_instant(inputs, joints, push)
    g = joints.shape[1]
    n_nudges = 1 + 3 * g
    for r in range(n_nudges + noise.shape[0]):
        is_thrust = r >= n_nudges
        t = r - n_nudges
        order, m = (r - 1) // g if g > 0 else 0, (r - 1) % g if g > 0 else 0
        if is_thrust:
            if noise[t] * push[t] == 0.0:
                continue
            inputs.push[0, 0, t] = push[t] + 1.0
        elif r > 0:
            inputs.given[0, 0, m, order] = joints[order, m] + NUDGES[order]
        load_state(tree, par, w, inputs, 0, 0, time, x)
        forward_dynamics(tree, par, w)
        put_motion(tree, w, readings.motion[r])
        if has_readings and not is_thrust:
            newton_euler(tree, par, w)
            read_streams(tree, w, streams, readings, r, time, x)
        if is_thrust:
            inputs.push[0, 0, t] = push[t]
        elif r > 0:
            inputs.given[0, 0, m, order] = joints[order, m]


@inline
def put_motion(tree, w, motion):
    """Accelerations of the root, linear (world axes) then angular, and of the free coordinates."""
    a, b, c, d, e, f, g, h, i = root_axes(w.root)
    x, y, z = w.root[ACCELERATION + 3], w.root[ACCELERATION + 4], w.root[ACCELERATION + 5]
    motion[0] = a * x + b * y + c * z
    motion[1] = d * x + e * y + f * z
    motion[2] = g * x + h * y + i * z
    for k in range(3):
        motion[3 + k] = w.root[ACCELERATION + k]
    n = 6
    for m in range(tree.free.shape[0]):
        if tree.free[m] >= 6:
            motion[n] = w.U[tree.free[m] - 6, DDQ]
            n += 1


@inline
def put_response(readings, response):
    """response (3, joints, motions) of the rows of `readings.motion`."""
    motion, g = readings.motion, response.shape[1]
    for order in range(3):
        for m in range(g):
            row = 1 + order * g + m
            for k in range(motion.shape[1]):
                response[order, m, k] = (motion[row, k] - motion[0, k]) / NUDGES[order]
