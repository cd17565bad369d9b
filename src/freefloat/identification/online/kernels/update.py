"""One sample into the filter: rows, noise, gate, triangle, estimate. Nothing is allocated."""

from __future__ import annotations

import numpy as np

from freefloat.compilation import inlined, kernel
from freefloat.dynamics.kernels.newton_euler import root_axes
from freefloat.dynamics.kernels.spatial import F, six
from freefloat.identification.online.kernels.inputs import add_level, add_wrench
from freefloat.identification.online.kernels.interval import (
    covariances,
    integrate_interval,
    set_ends,
    set_factors,
    set_rows,
    whiten,
)
from freefloat.identification.online.kernels.memory import (
    BEGUN,
    BROKEN,
    CHI2,
    DOF,
    GATED,
    HISTORY,
    INPUT_TIME,
    N_GATED,
    N_ROWS,
    N_TAKEN,
    N_WRENCH,
    NIS,
    ROWS_HERE,
    SHARE,
    SINCE_CHANGE,
    STEP,
    TAKEN,
    UNUSABLE,
    WRONG,
)
from freefloat.identification.online.kernels.momenta import columns, slopes
from freefloat.identification.online.kernels.triangle import (
    cholesky,
    forget,
    let_wander,
    rotate_in,
    solve_cautiously,
    solve_corrected,
    solve_factored,
    solve_transposed,
)

HUGE = 1e12  # no reading in SI units is larger
STILL = 5.0  # standard deviations of its rate within which a joint rests


@inlined
def advance(m, t, levels, wrench, has_wrench):
    """Integrate the inputs up to t and take note of their new levels."""
    origin, before = m.times[3], m.numbers[INPUT_TIME]
    is_begun = m.counts[HISTORY] > 0
    if is_begun and t > before:
        for n in range(m.levels.shape[0]):
            add_level(m.level_moments[n], m.levels[n], before - origin, t - origin)
    for n in range(m.levels.shape[0]):
        m.levels[n] = levels[n]
    if has_wrench and (m.counts[N_WRENCH] == 0 or t > m.wrench[3, 0]):
        for j in range(3):
            for k in range(7):
                m.wrench[j, k] = m.wrench[j + 1, k]
        m.wrench[3, 0] = t
        for k in range(6):
            m.wrench[3, 1 + k] = wrench[k]
        m.counts[N_WRENCH] = min(m.counts[N_WRENCH] + 1, 4)
        if is_begun and m.counts[N_WRENCH] > 1:
            first = 4 - m.counts[N_WRENCH]
            start = m.wrench[2, 0] - origin
            add_wrench(m.wrench, first, m.wrench_moments, origin, max(start, 0.0), t - origin)
    m.numbers[INPUT_TIME] = t


@inlined
def keep(m, k, t):
    """The sample becomes the last one."""
    for j in range(3):
        m.times[j] = m.times[j + 1]
        for axis in range(3):
            m.velocities[j, axis] = m.velocities[j + 1, axis]
            m.positions[j, axis] = m.positions[j + 1, axis]
        for axis in range(9):
            m.axes[j, axis] = m.axes[j + 1, axis]
    m.times[3] = t
    for axis in range(3):
        m.velocities[3, axis] = k.sample[7 + axis]
        m.positions[3, axis] += k.gain[axis]
        m.impulse[axis] += k.gain[3 + axis]
        m.momentum[axis] = k.gain[9 + axis]
        m.probe_velocity[axis] = k.probe_velocity[axis]
    for axis in range(9):
        m.axes[3, axis] = k.axes[3, axis]
    for a in range(m.columns.shape[0]):
        for b in range(m.columns.shape[1]):
            m.columns[a, b] = k.columns[a, b]
            m.probe[a, b] = k.probe[a, b]
    for n in range(m.slopes.shape[0]):
        for r in range(6):
            m.slopes[n, r], m.ends[n, r] = k.slopes[n, r], k.ends[n, r]
    for n in range(m.level_moments.shape[0]):
        for i in range(4):
            m.level_moments[n, i] = 0.0
    for n in range(6):
        for i in range(4):
            m.wrench_moments[n, i] = 0.0
    m.counts[HISTORY] = min(m.counts[HISTORY] + 1, 4)


@inlined
def signs_of(count):
    """64 fair bits from a counter (the finaliser of splitmix64)."""
    z = np.uint64(count) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def move_sample(problem, k, side, bits, more):
    """k.sample = k.original with every source moved by its deviation, up or down as bits say.

    side: 1 or -1; 0 leaves it as it is.
    """
    s, o, turn = k.sample, k.original, k.turn
    n = k.w.U.shape[0]
    for i in range(9 + 2 * n):
        word = bits if i < 64 else more
        is_up = (word >> np.uint64(i % 64)) & np.uint64(1) == np.uint64(1)
        step = side * (problem.sigma[i] if is_up else -problem.sigma[i])
        if i < 3:
            s[i] = o[i] + step
        elif i < 6:
            turn[i - 3] = 0.5 * step
        else:
            s[i + 1] = o[i + 1] + step
        if 6 <= i < 9 and side > 0.0:
            k.probe_velocity[i - 6] = step
    x, y, z, w = o[3], o[4], o[5], o[6]
    s[3] = x + w * turn[0] + y * turn[2] - z * turn[1]
    s[4] = y + w * turn[1] + z * turn[0] - x * turn[2]
    s[5] = z + w * turn[2] + x * turn[1] - y * turn[0]
    s[6] = w - x * turn[0] - y * turn[1] - z * turn[2]


@inlined
def measure(problem, m, k, s):
    """Columns, slopes and probe of a sample, seen from the segment's frame."""
    for i in range(k.original.shape[0]):
        k.original[i] = s[i]
    for axis in range(3):
        k.original[7 + axis] = s[7 + axis] - m.shift[axis]
    count = m.counts[N_TAKEN] + m.counts[N_GATED]
    bits, more = signs_of(2 * count), signs_of(2 * count + 1)
    x = y = z = 0.0
    for turn in range(3):  # up, down, and at last as it is: then the links stand as they do
        move_sample(problem, k, (1.0, -1.0, 0.0)[turn], bits, more)
        x, y, z = columns(problem, k.w, k.Y, k.energy, k.sample, k.tables[turn])
    for a in range(6):
        for p in range(k.columns.shape[1]):
            k.probe[a, p] = 0.5 * (k.tables[0, a, p] - k.tables[1, a, p])
            k.columns[a, p] = k.tables[2, a, p]
    a, b, c, d, e, f, g, h, i_ = root_axes(k.w.root)
    k.axes[3, 0], k.axes[3, 1], k.axes[3, 2] = a, b, c
    k.axes[3, 3], k.axes[3, 4], k.axes[3, 5] = d, e, f
    k.axes[3, 6], k.axes[3, 7], k.axes[3, 8] = g, h, i_
    slopes(problem.tree, k.weights, k.w, problem.sigma, x, y, z, k.slopes)
    _, _, _, x, y, z = six(k.w.L, 0, F)
    k.gain[9] = a * x + b * y + c * z
    k.gain[10] = d * x + e * y + f * z
    k.gain[11] = g * x + h * y + i_ * z


@inlined
def surprise(m, k):
    """NIS of the whitened rows: the square of what the estimate does not foresee.

    The estimate is uncertain by its information, less what of it is noise, and by part of what the
    correction for noise has moved.
    """
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        left, moved = k.rows[r, N], 0.0
        for i in range(N):
            left -= k.rows[r, i] * m.x[i]
            moved += k.rows[r, i] * m.correction[i]
            k.U[i, r] = k.rows[r, i]
        k.left[r], k.moved[r] = left, m.numbers[WRONG] * moved
    solve_transposed(m.triangle, k.U, n)
    for r in range(n):
        for i in range(N):
            k.g[i] = k.U[i, r]
        solve_factored(m.spread, k.g)
        for i in range(N):
            k.U[i, r] = k.g[i]
    for a in range(n):
        for b in range(n):
            total = k.moved[a] * k.moved[b] + (1.0 if a == b else 0.0)
            for i in range(N):
                total += k.U[i, a] * k.U[i, b]
            k.S[a, b] = total * (1.0 + 1e-12) if a == b else total  # not lost in rounding
    if not cholesky(k.S) > 0.0:
        return np.nan
    nis = 0.0
    for a in range(n):
        total = k.left[a]
        for j in range(a):
            total -= k.S[a, j] * k.left[j]
        k.left[a] = total / k.S[a, a]
        nis += k.left[a] * k.left[a]
    return nis


@inlined
def age(problem, m, k, seconds):
    """Old information fades, and wandering unknowns lose some of theirs."""
    if problem.forgetting < 1.0:
        forget(m.triangle, m.bias, problem.forgetting)
    for i in range(m.x.shape[0]):
        if problem.walk[i] > 0.0:
            let_wander(m.triangle, m.bias, m.x, i, problem.walk[i] * seconds, k.row, k.g)


@inlined
def absorb(problem, m, k):
    """The whitened rows go into the triangle, what noise does to them into the bias."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        for i in range(N + 1):
            m.rows[r, i] = k.rows[r, i]
            m.probe_rows[r, i] = k.probe_rows[r, i]
        left = rotate_in(m.triangle, k.rows[r])
        m.numbers[CHI2] += left * left
        for i in range(N):
            f = k.probe_rows[r, i]
            if f != 0.0:
                for j in range(N + 1):
                    m.bias[i, j] += f * k.probe_rows[r, j]
        for j in range(n):
            m.factor[r, j] = k.D[r, j]
    m.counts[N_ROWS] += n
    m.counts[ROWS_HERE] += 1


@inlined
def renew_estimate(problem, m, k):
    """The corrected solution, and from time to time the parameters that the weights are made of."""
    count = m.counts[N_TAKEN]
    if count % problem.every[0] == 0:
        n_rows = float(m.counts[SINCE_CHANGE]) * k.rows.shape[0]
        m.numbers[SHARE], m.numbers[WRONG] = solve_corrected(
            m.triangle, m.bias, n_rows, m, m.spread, k.W, k.g
        )
    if count % problem.every[1] == 0 and solve_cautiously(m.triangle, m.bias, k.g, k.M):
        nn = problem.n_nuisance
        for i in range(m.phi.shape[0]):
            for j in range(10):
                m.phi[i, j] = problem.par.phi[i, j]
        for a in range(problem.links.shape[0]):
            for j in range(10):
                for p in range(problem.spans[a, 0], problem.spans[a, 1]):
                    m.phi[problem.links[a], j] += problem.blocks[a, j, p] * k.g[nn + p]
        for r in range(m.rotor.shape[0]):
            m.rotor[r] = problem.par.rotor[r]
            for p in range(problem.blocks.shape[2]):
                m.rotor[r] += problem.rotor_blocks[r, p] * k.g[nn + p]


@inlined
def begin(m, k, s):
    """Get ready for the first sample of a segment."""
    for axis in range(3):
        m.shift[axis] = s[7 + axis]
        m.impulse[axis] = 0.0
        m.positions[3, axis] = 0.0
        k.gain[axis] = k.gain[3 + axis] = 0.0
    m.counts[ROWS_HERE] = 0


@inlined
def is_usable(t, s):
    """Whether all numbers are finite and of this world, and the attitude is one."""
    size = 0.0
    for i in range(s.shape[0]):
        if not -HUGE < s[i] < HUGE:
            return False
        if 3 <= i < 7:
            size += s[i] * s[i]
    return -HUGE < t < HUGE and 0.25 < size < 4.0


@inlined
def watch(problem, m, s, h):
    """For how many samples a reading has been the same to the last bit, and how long joints rest.

    Only of readings that have noise: others may well repeat.
    """
    n = m.still.shape[0]
    for i in range(9 + 2 * n):
        place = i if i < 3 else i + 1
        is_same = s[place] == m.last[place] and problem.sigma[i] > 0.0
        m.repeats[i] = m.repeats[i] + 1 if is_same else 0
    for c in range(n):
        speed, sigma = abs(s[10 + n + c]), problem.sigma[9 + n + c]
        m.still[c, 1] = max(m.still[c, 1], speed)
        m.still[c, 0] = m.still[c, 0] + h if speed < STILL * sigma else 0.0
    for i in range(s.shape[0]):
        m.last[i] = s[i]


@inlined
def note_step(m, h):
    """The usual time between samples: what is not much longer than it was so far."""
    usual = m.numbers[STEP]
    if usual == 0.0 or h < 0.6 * usual:
        m.numbers[STEP] = h
    elif h < 1.5 * usual:
        m.numbers[STEP] += 0.05 * (h - usual)


@kernel
def tell_inputs(m, t, levels, wrench, has_wrench):
    """Thruster levels [N] and the commanded wrench from t on, between samples."""
    advance(m, t, levels, wrench, has_wrench)


@kernel
def take_sample(problem, m, k, t, s, levels, wrench, has_wrench):
    """One sample s at t, with the inputs from then on; what became of it."""
    if not is_usable(t, s):
        return UNUSABLE
    advance(m, t, levels, wrench, has_wrench)
    is_first = m.counts[HISTORY] == 0
    if is_first:
        begin(m, k, s)
    h = 0.0 if is_first else t - m.times[3]
    half = 0.5 * h
    watch(problem, m, s, h)
    measure(problem, m, k, s)
    set_ends(problem.sigma, half, k.gain[9], k.gain[10], k.gain[11], k.slopes, k.ends)
    if is_first:
        keep(m, k, t)
        return BEGUN
    first = integrate_interval(problem, m, k, t, k.sample)
    is_lost = first > 1 or (m.numbers[STEP] > 0.0 and h > problem.gap * m.numbers[STEP])
    J = k.after
    for axis in range(3):
        J[axis] = m.impulse[axis] + k.gain[3 + axis]
    covariances(problem, m, k, half, is_lost)
    if not set_factors(m, k):
        return BROKEN
    d = k.gain
    set_rows(problem, k.columns, m.columns, d[0], d[1], d[2], J, k.gain, False, k.rows)
    whiten(k, m.rows, k.rows)
    nis = surprise(m, k)
    n_linear = 2 if problem.rows.shape[0] == 3 else 3
    dof = n_linear if is_lost else problem.rows.shape[0]
    m.numbers[NIS], m.numbers[DOF] = nis, dof
    limit = problem.gates[1] if is_lost else problem.gates[0]
    if not nis < 1e300:
        return BROKEN
    if limit > 0.0 and nis > limit:
        m.counts[N_GATED] += 1
        return GATED
    v = k.probe_velocity
    dx, dy, dz = (
        half * (v[0] + m.probe_velocity[0]),
        half * (v[1] + m.probe_velocity[1]),
        half * (v[2] + m.probe_velocity[2]),
    )
    set_rows(problem, k.probe, m.probe, dx, dy, dz, J, k.gain, True, k.probe_rows)
    whiten(k, m.probe_rows, k.probe_rows)
    age(problem, m, k, h)
    absorb(problem, m, k)
    m.counts[N_TAKEN] += 1
    m.counts[SINCE_CHANGE] += 1
    keep(m, k, t)
    note_step(m, h)
    renew_estimate(problem, m, k)
    return TAKEN
