"""Outliers: by the chi-square gate or, before there is an estimate, by the run of the readings.

The gate (`passes_gate`) compares the innovation of the whitened rows with all that is uncertain
about them (NIS).
A spike is a lone reading far off the straight line through its last two values. What a reading
usually misses that line by, noise and curvature together, is remembered as a peak that fades. When
spikes follow on each other they were none: the readings have really moved.
"""

from __future__ import annotations

import numpy as np

from freefloat.numba_.compilation import inline
from freefloat.numba_.lanes import lanes_at, put_lanes_at
from freefloat.online.kernels.codes import DOF, LEVEL, NIS, SETTLED, WRONG
from freefloat.online.kernels.square_root_information import (
    cholesky,
    dot,
    solve_table,
    solve_table_transposed,
)


@inline
def project_uncertainty(m, k):
    """k.uncertain (N, 8): how rows move with what is uncertain; k.misled: with what misled it."""
    N = m.x.shape[0]
    solve_table_transposed(m.information_root, k.uncertain)
    solve_table_transposed(m.clear_factor, k.uncertain)
    solve_table(m.clear_factor, k.uncertain)
    for i in range(N):
        for r in range(0, 8, 4):
            put_lanes_at(k.solved[i], r, lanes_at(k.uncertain[i], r))
    solve_table(m.information_root, k.solved)
    for i in range(N):
        row = m.bias[i]
        p, q = row[0] * lanes_at(k.solved[0], 0), row[0] * lanes_at(k.solved[0], 4)
        for j in range(1, N):
            p += row[j] * lanes_at(k.solved[j], 0)
            q += row[j] * lanes_at(k.solved[j], 4)
        put_lanes_at(k.misled[i], 0, m.numbers[WRONG] * p)
        put_lanes_at(k.misled[i], 4, m.numbers[WRONG] * q)


@inline
def set_innovation_covariance(U, V, row, S):
    """S = 1 + U^T U + V^T V, of as many columns as S has. Scratch: row (8)."""
    n = S.shape[0]
    for a in range(n):
        p, q = U[0, a] * lanes_at(U[0], 0), U[0, a] * lanes_at(U[0], 4)
        s, t = V[0, a] * lanes_at(V[0], 0), V[0, a] * lanes_at(V[0], 4)
        for i in range(1, U.shape[0]):
            p += U[i, a] * lanes_at(U[i], 0)
            q += U[i, a] * lanes_at(U[i], 4)
            s += V[i, a] * lanes_at(V[i], 0)
            t += V[i, a] * lanes_at(V[i], 4)
        put_lanes_at(row, 0, p + s)
        put_lanes_at(row, 4, q + t)
        for c in range(n):
            S[a, c] = row[c]
        S[a, a] += 1.0


@inline
def nis_of_rows(m, k):
    """NIS of the whitened rows: the square of what the estimate does not foresee."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        row = k.rows[r]
        k.innovation[r] = row[N] - dot(row, m.x, 0, N)
        for i in range(N):
            k.uncertain[i, r] = row[i]
    project_uncertainty(m, k)
    set_innovation_covariance(k.uncertain, k.misled, k.lanes, k.innovation_covariance)
    for a in range(n):
        k.innovation_covariance[a, a] *= 1.0 + 1e-12  # not lost in rounding
    if not cholesky(k.innovation_covariance) > 0.0:
        return np.nan
    nis = 0.0
    for a in range(n):
        total = k.innovation[a]
        for j in range(a):
            total -= k.innovation_covariance[j, a] * k.innovation[j]
        k.innovation[a] = total / k.innovation_covariance[a, a]
        nis += k.innovation[a] * k.innovation[a]
    return nis


@inline
def passes_gate(problem, m, nis, is_lost):
    """Whether the innovation of a sample is as small as chance makes it; NIS and rows are noted.

    If model and noise are right, the innovation is normal with the covariance S of `nis_of_rows`,
    and NIS is chi-square distributed with as many degrees of freedom as there are rows (Bar-Shalom,
    Li and Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001, 5.4). The
    limit is exceeded by a share `gate` of good samples (`filter_problem.gate_limits`); over a gap
    (is_lost) only the linear rows have weight, and are counted. It grows with the mean NIS per row,
    since noise stated too small must not lose every sample, and by `unsettled_gate` while rows are
    weighted by the parameters of the model, which may be wrong.
    """
    n_rows = problem.rows.shape[0]
    n_linear = 2 if n_rows == 3 else 3
    m.numbers[NIS], m.numbers[DOF] = nis, n_linear if is_lost else n_rows
    limit = problem.gates[1] if is_lost else problem.gates[0]
    if m.numbers[SETTLED] == 0.0:
        limit *= problem.limits.unsettled_gate
    return limit == 0.0 or nis <= limit * max(m.numbers[LEVEL], 1.0)


@inline
def reading_noise(problem, i):
    """The deviation of reading i of a sample."""
    if i < 3:
        return problem.sigma[i]
    if i < 7:  # a small turn moves a quaternion by half of it
        return 0.5 * max(problem.sigma[3], problem.sigma[4], problem.sigma[5])
    return problem.sigma[i - 1]


@inline
def is_spike(problem, m, t, s):
    """Whether the sample has a wild reading; takes note of it otherwise."""
    limits, known = problem.limits, m.spike_state[0]
    t0, t1 = m.spike_state[2], m.spike_state[3]
    ahead = t - t1
    is_foretold = known >= 2.0 and 0.0 < ahead <= 3.0 * (t1 - t0)
    worst, steps = 0.0, 1.0
    if is_foretold:
        steps = ahead / (t1 - t0)
        for i in range(s.shape[0]):
            noise = limits.spike_noise * reading_noise(problem, i)
            usual = max(m.usual_miss[i], noise)
            limit = limits.spike * usual
            if known < limits.spike_fresh:  # curvature is not known yet
                limit = max(limit, limits.spike_fresh_factor * noise)
            if limit > 0.0:
                worst = max(worst, line_miss(m, s, i, steps) / limit)
    if worst > 1.0:
        m.spike_state[1] += 1.0
        if m.spike_state[1] < limits.spikes_in_a_row:
            return True
        known = 0.0  # they move like that: no spikes, and the next miss as large is none either
    m.spike_state[1] = 0.0
    for i in range(s.shape[0]):
        if is_foretold:
            m.usual_miss[i] = max(0.97 * m.usual_miss[i], line_miss(m, s, i, steps))
        m.recent[0, i], m.recent[1, i] = m.recent[1, i], s[i]
    m.spike_state[0], m.spike_state[2], m.spike_state[3] = known + 1.0, t1, t
    return False


@inline
def line_miss(m, s, i, steps):
    """How far reading i is off the line through its last two, per square of the steps since then.

    Curvature makes it grow with the square of time.
    """
    line = m.recent[1, i] + (m.recent[1, i] - m.recent[0, i]) * steps
    return abs(s[i] - line) / max(1.0, steps * steps)
