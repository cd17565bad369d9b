# pyright: reportCallIssue=false
"""State and covariance root of the Kalman filter from one instant to the next."""

from __future__ import annotations

from math import isfinite, sqrt

from freefloat.dynamics.kernels.tangent import rk4_tangent
from freefloat.numba_.bound_arguments import unpack
from freefloat.numba_.compilation import inline, kernel
from freefloat.online.kernels.joint_responses import (
    nudge_all,
    put_response,
    set_instant,
    set_parameters,
)
from freefloat.online.kernels.kalman_tables import FORGETTING, JERK, ORDERS
from freefloat.online.kernels.square_root_covariance import add_multiple, triangularise


@inline
def fly(mechanics, n_names, time, h, n_steps):
    """Tangent at the state in `mechanics.x`, and after a step of h where n_steps is one."""
    t = mechanics.tangent
    for i in range(t.T_flat.shape[0]):
        for p in range(t.T_flat.shape[1]):
            t.T_flat[i, p] = mechanics.first[i, p] if p < n_names else 0.0
    efforts = mechanics.no_efforts if n_steps > 0 else mechanics.efforts
    rk4_tangent(
        mechanics.tree, mechanics.parameters, mechanics.work, mechanics.inputs, mechanics.changes,
        mechanics.slopes, mechanics.directions, mechanics.setup, mechanics.inputs,
        mechanics.changes, time, h, n_steps, 1, mechanics.x, mechanics.stages, t, mechanics.states,
        mechanics.tangents, efforts,
    )  # fmt: skip


@inline
def set_step(inputs, joints, push, h):
    """Inputs at start, middle and end of a step, over which the joints' jerk holds."""
    set_instant(inputs, joints, push)
    for stage in range(1, 3):
        t = 0.5 * h * stage
        for m in range(joints.shape[1]):
            place, rate, gain, jerk = joints[0, m], joints[1, m], joints[2, m], joints[3, m]
            inputs.given[0, stage, m, 0] = place + t * (rate + t * (gain / 2.0 + t * (jerk / 6.0)))
            inputs.given[0, stage, m, 1] = rate + t * (gain + t * (jerk / 2.0))
            inputs.given[0, stage, m, 2] = gain + t * jerk


@inline
def carry_joints(joints, h):
    """The joints' motion h seconds on, jerk held."""
    for m in range(joints.shape[1]):
        place, rate, gain, jerk = joints[0, m], joints[1, m], joints[2, m], joints[3, m]
        joints[0, m] = place + h * rate + h**2 / 2.0 * gain + h**3 / 6.0 * jerk
        joints[1, m] = rate + h * gain + h**2 / 2.0 * jerk
        joints[2, m] = gain + h * jerk


@inline
def factorial(n):
    """n! of n below four."""
    return 6.0 if n == 3 else (2.0 if n == 2 else 1.0)


@inline
def put_transition(e, a, mechanics, g, h):
    """Rows of the transition that belong to the free states, after tangent and responses.

    What errors of the joints' motion do: accelerations by them, straight between both ends of the
    step. What an acceleration does must match what the rate it leads to does, or errors that cancel
    in truth pile up.
    """
    F, both = a.transition, a.transition.shape[1] - ORDERS * g
    for i in range(F.shape[0]):
        row = e.rows[i]
        for j in range(F.shape[1]):
            F[i, j] = 0.0
        for n in range(e.mix.shape[0]):
            F[i, e.mix[n, 1]] += mechanics.tangents[1, row, e.mix[n, 0]] * e.mix_size[n]
        is_rate, motion = e.motion[i, 0], e.motion[i, 1]
        for order in range(ORDERS):
            for k in range(min(order, 2) + 1):  # order j is felt through all below it
                n = order - k
                size = h ** (n + 1) / factorial(n)
                if is_rate == 1:
                    late = size / (n + 2)
                    first = size / (n + 1) - late
                else:
                    late = size * h * (1.0 / (n + 2) - 1.0 / (n + 3))
                    first = size * h / ((n + 1) * (n + 2)) - late
                for m in range(g):
                    F[i, both + order * g + m] += (
                        first * a.response[0, k, m, motion] + late * a.response[1, k, m, motion]
                    )


@inline
def put_table(e, a, root, joints, h, growth):
    """The table whose first rows are (F S)^T."""
    n, g = root.shape[0], joints.shape[1]
    T, n_states, first = a.table, a.transition.shape[0], n - ORDERS * g
    for i in range(n_states):
        F, own = a.transition[i], a.carried[i]
        for j in range(n):
            own[j] = 0.0
        for k in range(n):  # the root is lower triangular
            if F[k] != 0.0:
                add_multiple(own, root[k], F[k], 0, k + 1)
    for j in range(n):  # column j of S: rows j on
        row = T[j]
        for i in range(n_states):
            row[i] = a.carried[i, j]
        for i in range(n_states, first):
            row[i] = root[i, j] * growth
        for m in range(g):
            p, v = root[first + m, j], root[first + g + m, j]
            b, c = root[first + 2 * g + m, j], root[first + 3 * g + m, j]
            row[first + m] = p + h * v + h**2 / 2.0 * b + h**3 / 6.0 * c
            row[first + g + m] = v + h * b + h**2 / 2.0 * c
            row[first + 2 * g + m] = b + h * c
            row[first + 3 * g + m] = c


@inline
def add_noise_row(T, row, place, size):
    """A row of the table with one entry."""
    for k in range(T.shape[1]):
        T[row, k] = 0.0
    T[row, place] = size


@inline
def add_noise(e, a, push, g, h, n_steps):
    """Rows of process noise below (F S)^T; how many rows there are then."""
    T = a.table
    n, rows, n_states = T.shape[1], T.shape[1], a.transition.shape[0]
    for k in range(e.walk.shape[0]):
        if e.walk[k] * h > 0.0:
            add_noise_row(T, rows, n_states + k, sqrt(e.walk[k] * h))
            rows += 1
    for m in range(g):
        add_noise_row(T, rows, n - g + m, e.numbers[JERK] * sqrt(h))
        rows += 1
    for t in range(e.thrust_noise.shape[0]):
        size = sqrt(1.0 * n_steps) * e.thrust_noise[t]
        if e.thrust_noise[t] * push[t] != 0.0:
            add_noise_row(T, rows, 0, 0.0)
            for i in range(n_states):
                ahead = h if e.motion[i, 0] == 1 else 0.5 * h * h
                T[rows, i] = a.felt[t, e.motion[i, 1]] * ahead * size
            rows += 1
    return rows


@inline
def is_finite_table(T):
    """Whether all of a table's numbers are finite."""
    for i in range(T.shape[0]):
        for j in range(T.shape[1]):
            if not isfinite(T[i, j]):
                return False
    return True


@inline
def step_ahead(mechanics, e, streams, readings, a, m, n_names, time, h, n_steps, settle):
    """One of the n steps to a sample; False where it is not finite."""
    g = m.joints.shape[1]
    for i in range(m.x.shape[0]):
        mechanics.x[i] = m.x[i]
    set_step(mechanics.inputs, m.joints, m.push, h)
    fly(mechanics, n_names, time, h, 1)
    for end in range(2):
        if end == 1:
            carry_joints(m.joints, h)
        x = mechanics.states[end]
        noise = e.thrust_noise if end == 0 else e.thrust_noise[:0]
        nudge_all(mechanics, streams, readings, time + end * h, x, m.joints, m.push, noise, False)
        put_response(readings, a.response[end])
        for t in range(noise.shape[0]):
            for k in range(a.felt.shape[1]):
                a.felt[t, k] = readings.motion[1 + 3 * g + t, k] - readings.motion[0, k]
    put_transition(e, a, mechanics, g, h)
    for i in range(m.x.shape[0]):
        if not isfinite(mechanics.states[1, i]):
            return False
    if not is_finite_table(a.transition):
        return False
    put_table(e, a, m.root, m.joints, h, settle)
    rows = add_noise(e, a, m.push, g, h, n_steps)
    triangularise(a.table[:rows], a.sums)
    for i in range(m.root.shape[0]):
        for j in range(m.root.shape[1]):
            m.root[i, j] = a.table[j, i]
    for i in range(m.x.shape[0]):
        m.x[i] = mechanics.states[1, i]
    return True


@kernel
def move(bound, time, ahead, n_steps):
    """State, joints and root `ahead` seconds on, in so many steps; False where not finite."""
    mechanics, parameters, e, streams, readings, a, m = unpack(bound)
    set_parameters(parameters, m.values)
    n_names = mechanics.first.shape[1]
    h = ahead / n_steps
    growth = e.numbers[FORGETTING] ** (-0.5 * h)
    for step in range(n_steps):
        if not step_ahead(
            mechanics, e, streams, readings, a, m, n_names, time + step * h, h, n_steps, growth
        ):
            return False
    return True
