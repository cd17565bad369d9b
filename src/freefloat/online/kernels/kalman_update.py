# pyright: reportCallIssue=false
"""Readings into the state, the parameters and the covariance root of the Kalman filter."""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt

from freefloat.numba_.bound_arguments import unpack
from freefloat.numba_.compilation import inline, kernel
from freefloat.online.kernels.frame_readings import put_slopes, turn_from
from freefloat.online.kernels.innovation_tests import note_rows
from freefloat.online.kernels.joint_responses import nudge_all, set_instant, set_parameters
from freefloat.online.kernels.kalman_motion import fly
from freefloat.online.kernels.kalman_tables import (
    AGAIN,
    ALL_ODD,
    ATTITUDE,
    BROKEN,
    CHI2,
    DOF,
    DONE,
    DRIVEN,
    LARGE_ACCELERATION,
    LARGE_PARAMETER,
    N_ROWS,
    NIS,
    ORDERS,
)
from freefloat.online.kernels.square_root_covariance import add_multiple, take_rows


@kernel
def look(bound, time):
    """What the streams should read now, and its slopes."""
    mechanics, parameters, e, streams, readings, _a, m = unpack(bound)
    set_parameters(parameters, m.values)
    for i in range(m.x.shape[0]):
        mechanics.x[i] = m.x[i]
    set_instant(mechanics.inputs, m.joints, m.push)
    nudge_all(mechanics, streams, readings, time, m.x, m.joints, m.push, e.thrust_noise[:0], True)
    fly(mechanics, mechanics.first.shape[1], time, 1.0, 0)
    put_slopes(mechanics, streams, readings, time, m.x, m.joints.shape[1])


@inline
def put_innovations(streams, readings, joints, values, k, left, n):
    """Measured less predicted of stream k, in its unit."""
    first, end, at = streams.first[k], streams.first[k + 1], streams.value_at[k]
    if streams.kind[k] == ATTITUDE:
        left[n], left[n + 1], left[n + 2] = turn_from(readings.turn[0, k], readings.measured, at)
    elif streams.kind[k] == DRIVEN:
        g, place = joints.shape[1], streams.where[k]
        left[n] = readings.measured[at] - joints[place // g, place % g]
    else:
        for row in range(end - first):
            left[n + row] = readings.measured[at + row] - readings.value[0, first + row]
    for row in range(first, end):
        own = streams.bias_place[row]
        left[n + row - first] -= values[own] if own >= 0 else streams.bias[row]


@inline
def put_rows(e, streams, readings, a, m):
    """Whitened slopes C and innovations of all rows that are here; how many."""
    n, g = 0, m.joints.shape[1]
    both = a.C.shape[1] - ORDERS * g
    for k in range(streams.kind.shape[0]):
        if readings.present[k] == 0:
            continue
        put_innovations(streams, readings, m.joints, m.values, k, a.left, n)
        for row in range(streams.first[k], streams.first[k + 1]):
            a.used[n] = row
            size, C = 1.0 / readings.blur[row], a.C[n]
            a.left[n] *= size / streams.noise[row]
            for j in range(C.shape[0]):
                C[j] = streams.fixed[row, j] * size
            if streams.kind[k] != DRIVEN:
                size /= streams.noise[row]
                for i in range(e.mix.shape[0]):
                    C[e.mix[i, 1]] += readings.own[row, e.mix[i, 0]] * e.mix_size[i] * size
                for j in range(3 * g):
                    C[both + j] += readings.by_joints[row, j] * size
            n += 1
    return n


@inline
def put_spread(a, root, n):
    """B = C S of n rows; False where anything is not finite."""
    is_fine = True
    for r in range(n):
        B, C = a.B[r], a.C[r]
        total = a.left[r]
        for j in range(B.shape[0]):
            B[j] = 0.0
        for i in range(B.shape[0]):
            total += C[i]
            if C[i] != 0.0:
                add_multiple(B, root[i], C[i], 0, i + 1)
        is_fine = is_fine and isfinite(total)
    return is_fine


@inline
def nis_of(a, first, n):
    """NIS of n rows alone, at most three of them."""
    G = a.gate
    for i in range(n):
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            for k in range(a.B.shape[1]):
                total += a.B[first + i, k] * a.B[first + j, k]
            G[i, j] = total
    nis = 0.0
    for i in range(n):  # Cholesky, and the innovation through it
        for j in range(i + 1):
            total = G[i, j]
            for k in range(j):
                total -= G[i, k] * G[j, k]
            G[i, j] = sqrt(total) if i == j else total / G[j, j]
        total = a.left[first + i]
        for k in range(i):
            total -= G[i, k] * G[k, 4]
        G[i, 4] = total / G[i, i]
        nis += G[i, 4] * G[i, 4]
    return nis


@inline
def gate_streams(e, streams, readings, a, n):
    """Take out the rows of streams beyond the gate; how many rows are left."""
    kept = first = 0
    for k in range(streams.kind.shape[0]):
        readings.odd[k] = 0
        if readings.present[k] == 0:
            continue
        size = streams.first[k + 1] - streams.first[k]
        if nis_of(a, first, size) > e.gates[size]:
            readings.odd[k], readings.present[k] = 1, 0
        else:
            for r in range(first, first + size):
                if r != kept:
                    a.left[kept], a.used[kept] = a.left[r], a.used[r]
                    for j in range(a.C.shape[1]):
                        a.C[kept, j], a.B[kept, j] = a.C[r, j], a.B[r, j]
                kept += 1
        first += size
    return kept


@inline
def put_step(e, a, m):
    """Where the step from the state before ends: state, joints and parameters."""
    x, old, n_states = m.x, a.before_x, e.rows.shape[0]
    n_p, g = m.values.shape[0], m.joints.shape[1]
    n_free = (e.tangent.shape[0] - 12) // 2
    for i in range(e.tangent.shape[0]):
        e.tangent[i] = 0.0
    for i in range(n_states):
        e.tangent[e.rows[i]] = a.step[i]
    d = e.tangent
    for k in range(3):
        x[k], x[7 + k], x[10 + k] = old[k] + d[k], old[7 + k] + d[6 + k], old[10 + k] + d[9 + k]
    turn_attitude(x, old, d)
    c = (x.shape[0] - 13) // 2
    for k in range(2 * c):
        x[13 + k] = old[13 + k]
    for k in range(n_free):
        x[13 + e.free[k]] = old[13 + e.free[k]] + d[12 + k]
        x[13 + c + e.free[k]] = old[13 + c + e.free[k]] + d[12 + n_free + k]
    for order in range(ORDERS):
        for j in range(g):
            place = n_states + n_p + order * g + j
            m.joints[order, j] = a.before_joints[order, j] + a.step[place]
    for j in range(g):
        x[13 + e.given[j]], x[13 + c + e.given[j]] = m.joints[0, j], m.joints[1, j]
    for k in range(n_p):
        value = a.before_values[k] + e.sizes[k] * a.step[n_states + k]
        value = max(value, e.least[k] * a.before_values[k]) if e.least[k] > 0.0 else value
        m.values[k] = min(max(value, e.bounds[0, k]), e.bounds[1, k])


@inline
def turn_attitude(x, old, d):
    """The old attitude turned by the small rotation d[3:6] in root axes."""
    angle = sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5])
    share = 0.5 * sin(0.5 * angle) / (0.5 * angle) if angle > 0.0 else 0.5
    bx, by, bz, bw = share * d[3], share * d[4], share * d[5], cos(0.5 * angle)
    ax, ay, az, aw = old[3], old[4], old[5], old[6]
    qx = aw * bx + bw * ax + (ay * bz - az * by)
    qy = aw * by + bw * ay + (az * bx - ax * bz)
    qz = aw * bz + bw * az + (ax * by - ay * bx)
    qw = aw * bw - (ax * bx + ay * by + az * bz)
    n = sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    x[3], x[4], x[5], x[6] = qx / n, qy / n, qz / n, qw / n


@inline
def keep_state(a, m):
    """Remember where the sample begins."""
    for i in range(m.x.shape[0]):
        a.before_x[i] = m.x[i]
    for i in range(m.joints.shape[0]):
        for j in range(m.joints.shape[1]):
            a.before_joints[i, j] = m.joints[i, j]
    for k in range(m.values.shape[0]):
        a.before_values[k] = m.values[k]
    for k in range(a.step.shape[0]):
        a.step[k] = 0.0


@inline
def bring_back(a, m):
    """Go back to where the sample begins."""
    for i in range(m.x.shape[0]):
        m.x[i] = a.before_x[i]
    for i in range(m.joints.shape[0]):
        for j in range(m.joints.shape[1]):
            m.joints[i, j] = a.before_joints[i, j]
    for k in range(m.values.shape[0]):
        m.values[k] = a.before_values[k]


@inline
def put_root(a, root):
    """The updated root of the covariance, into the memory."""
    for i in range(root.shape[0]):
        for j in range(root.shape[1]):
            root[i, j] = a.table[j, i]


@inline
def is_large(e, a, m):
    """Whether the last change is so long that slopes may differ at its end."""
    n_states, n_p, g = e.rows.shape[0], m.values.shape[0], m.joints.shape[1]
    for k in range(n_p):
        if abs(a.new[n_states + k] - a.step[n_states + k]) > e.numbers[LARGE_PARAMETER]:
            return True
    for k in range(a.new.shape[0] - 2 * g, a.new.shape[0] - g):
        if abs(a.new[k] - a.step[k]) > e.numbers[LARGE_ACCELERATION]:
            return True
    return False


@inline
def solve_rows(a, root, n):
    """The step and the updated root in the table; False where the step is not finite."""
    size = root.shape[0]
    for i in range(size):
        for j in range(size):
            a.table[i, j] = root[j, i]
    for r in range(n):
        total = a.left[r]
        for j in range(size):
            total += a.C[r, j] * a.step[j]
            a.spoilt[r, j] = a.B[r, j]
        a.pushed[r] = total
    take_rows(a.table[:size], a.spoilt[:n], a.pushed, a.head[:n], a.white, a.new)
    total = 0.0
    for j in range(size):
        total += a.new[j]
    return isfinite(total)


@kernel
def correct(bound, turn, is_last):
    """One turn of Gauss-Newton on a sample, after `look`; what became of it.

    Torques are products of inertias and accelerations, so after a large step the slopes are taken
    anew where it ended.
    """
    _mechanics, _parameters, e, streams, readings, a, m = unpack(bound)
    if turn == 0:
        keep_state(a, m)
    n = put_rows(e, streams, readings, a, m)
    if not put_spread(a, m.root, n):
        bring_back(a, m)
        return BROKEN
    if turn == 0 and e.gates.shape[0] > 0:
        n = gate_streams(e, streams, readings, a, n)
        if n == 0:
            return ALL_ODD
    if not solve_rows(a, m.root, n):
        bring_back(a, m)
        return BROKEN
    is_long = is_large(e, a, m)
    for k in range(a.step.shape[0]):
        a.step[k] = a.new[k]
    put_step(e, a, m)
    if is_long and not is_last:
        return AGAIN
    put_root(a, m.root)
    m.numbers[NIS], m.counts[DOF] = note_rows(m, a.used, a.white, n), n
    m.numbers[CHI2] += m.numbers[NIS]
    m.counts[N_ROWS] += n
    return DONE
