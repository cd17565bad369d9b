"""One sample into the filter: rows, noise, gate, information, estimate. Nothing is allocated."""

from __future__ import annotations

from freefloat.dynamics.kernels.spatial import C
from freefloat.numba_.bound_arguments import unpack
from freefloat.numba_.compilation import inline, kernel
from freefloat.online.kernels.change_detection import odd_findings
from freefloat.online.kernels.codes import (
    ALL,
    BEGUN,
    BROKEN,
    CHI2,
    DOF,
    GAP,
    GATED,
    HISTORY,
    LEVEL,
    N_GATED,
    N_ROWS,
    N_TAKEN,
    N_WRENCH,
    NOTHING,
    ROWS_HERE,
    SETTLED,
    SHARE,
    SINCE_CHANGE,
    SPIKE,
    STEP,
    TAKEN,
    UNUSABLE,
    WRONG,
)
from freefloat.online.kernels.innovation_tests import note_innovation
from freefloat.online.kernels.input_moments import integrate_inputs, switch_thrusters
from freefloat.online.kernels.interval import (
    decorrelate,
    integrate_interval,
    linearise_displacement,
    set_covariances,
    set_end_errors,
    set_factors,
    set_moment_errors,
    set_rows,
)
from freefloat.online.kernels.momentum_columns import measure_sample, sum_outboard
from freefloat.online.kernels.noise_correction import factor_clear_part, solve_corrected
from freefloat.online.kernels.outlier_tests import is_spike, nis_of_rows, passes_gate
from freefloat.online.kernels.random_walk_whitening import (
    add_walk,
    carry_walk,
    clear_walk,
    copy_table,
    has_walked,
    remove_walk,
    whiten_probe,
)
from freefloat.online.kernels.square_root_information import (
    add_process_noise,
    add_rows,
    add_squares,
    fade,
)

HUGE = 1e12  # format: no reading in SI units is larger
# theory: of n samples the next one moves the noisy part of the information by 1 / n. With more than
# this many times `correct_every` samples, the part found so many ago is off by 1 / 32, 3 %, at most
FRESH = 32
# theory: of a row's own variance; it would take the inverse in samples to add up to as much
NEGLIGIBLE = 1e-8


@inline
def store_sample(m, k, t):
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
        m.velocities[3, axis] = m.velocity[axis] = k.sample[7 + axis]
        m.positions[3, axis] += k.gain[axis]
        m.impulse[axis] += k.gain[3 + axis]
        m.momentum[axis] = k.gain[9 + axis]
        m.probe_velocity[axis] = k.probe_velocity[axis]
        m.velocity_noise[axis] = k.velocity_noise[axis]
        m.rate[axis] = k.sample[axis]
        m.switch_displacement[axis] = m.impulse_variance[axis] = m.impulse_variance[3 + axis] = 0.0
        m.wrench_error[axis] = m.wrench_error[3 + axis] = 0.0
    for n in range(10):
        m.inertia[n] = k.work.L[0, C + n]
    for axis in range(9):
        m.axes[3, axis] = k.axes[3, axis]
    for a in range(m.columns.shape[0]):
        for b in range(m.columns.shape[1]):
            m.columns[a, b] = k.columns[a, b]
            m.probe_columns[a, b] = k.probe_columns[a, b]
    copy_table(k.first_moments, m.first_moments)
    for n in range(m.momentum_errors.shape[0]):
        for r in range(6):
            m.momentum_errors[n, r], m.end_errors[n, r] = (
                k.momentum_errors[n, r],
                k.end_errors[n, r],
            )
        for axis in range(3):
            m.moment_errors[n, axis] = k.moment_errors[n, axis]
    for n in range(m.level_moments.shape[0]):
        for i in range(5):
            m.level_moments[n, i] = 0.0
    for n in range(6):
        for i in range(4):
            m.wrench_moments[n, i] = 0.0
    m.counts[HISTORY] = min(m.counts[HISTORY] + 1, 4)


@inline
def age_information(problem, m, k, seconds):
    """Process noise: old information fades, and unknowns on a random walk lose some of theirs.

    Mass that comes or goes does so at its own velocity, and takes its momentum along: the momentum
    of the segment's start moves with a walking parameter, by the parameter's column. Returned:
    whether any unknown walked.
    """
    R = m.information_root
    if problem.forgetting < 1.0:
        fade(R, m.bias, problem.forgetting)
    nn, has_walked_now = problem.n_nuisance, False
    for i in range(m.x.shape[0]):
        variance = problem.walk[i] * seconds
        if i < nn and k.impulse_variance[i] > NEGLIGIBLE * k.row_covariance[i, i]:
            # an impulse that is not known for sure stays in the momentum
            variance += k.impulse_variance[i] / (problem.momentum_size * problem.momentum_size)
        if variance > 0.0:
            has_walked_now = True
            for j in range(m.x.shape[0]):
                k.direction[j] = 1.0 if j == i else 0.0
            if i >= nn:
                for b in range(nn):
                    k.direction[b] = m.columns[b, i - nn] / problem.momentum_size
            if m.counts[ROWS_HERE] > 0:
                add_walk(m, k, i, variance)
            add_process_noise(R, m.bias, m.x, k.direction, i, variance, k.row, k.gradient, k.along)
    return has_walked_now


@inline
def add_sample_rows(problem, m, k):
    """The whitened rows go into R and z, what noise does to them into the bias."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        for i in range(N + 1):
            m.rows[r, i] = k.plain_rows[0, r, i]
            m.probe_rows[r, i] = k.plain_rows[1, r, i]
        for j in range(n):
            m.noise_factor[r, j] = k.noise_factor[r, j]
    if problem.probing > 0.0:
        add_squares(m.bias, k.probe_rows)
    m.numbers[CHI2] += add_rows(m.information_root, k.rows, k.reflected)
    m.counts[N_ROWS] += n
    m.counts[ROWS_HERE] += 1


@inline
def renew_estimate(problem, m, k):
    """The corrected solution, and from time to time the parameters that the weights are made of.

    Weights follow the estimate only while it is clear of noise in every direction: else smaller
    parameters would make smaller noise, more weight for that noise, and smaller parameters. So
    long the model's count; `StartupReplay` then takes the samples again.
    """
    count = m.counts[N_TAKEN]
    if count % problem.every[0] == 0:
        seldom = problem.every[2]
        is_fresh = min(m.counts[SINCE_CHANGE], m.counts[ROWS_HERE]) < FRESH * seldom
        if is_fresh or count % (seldom * problem.every[0]) == 0:
            n_rows = float(m.counts[SINCE_CHANGE]) * k.rows.shape[0]
            m.numbers[SHARE], m.numbers[WRONG] = factor_clear_part(
                problem.limits, m.information_root, m.bias, n_rows, m, k.noise_part, k.clear_part
            )
        solve_corrected(m.information_root, m.bias, m.clear_factor, m.x, k.gradient)
    limits = problem.limits
    each = limits.rows_each if problem.gates[0] > 0.0 else limits.rows_each_ungated
    is_enough = m.counts[SINCE_CHANGE] * k.rows.shape[0] >= each * m.x.shape[0]
    if count % problem.every[1] == 0 and is_enough and m.numbers[SHARE] == 1.0:
        m.numbers[SETTLED] = 1.0
        renew_weights(problem, m, problem.n_nuisance)
        sum_outboard(problem.tree, k.weights, k.work.L, k.work.U, 0.0, 0.0, 0.0)
        for n in range(10):
            m.inertia[n] = k.work.L[0, C + n]


@inline
def renew_weights(problem, m, nn):
    """The weights' parameters are those of the estimate."""
    for p in range(m.weight_x.shape[0]):
        m.weight_x[p] = m.x[nn + p]
    for i in range(m.weight_phi.shape[0]):
        for j in range(10):
            m.weight_phi[i, j] = problem.par.phi[i, j]
    for e in range(problem.entries.shape[0]):
        place, p = problem.entries[e, 0], problem.entries[e, 1]
        m.weight_phi[place // 10, place % 10] += problem.entry_sizes[e] * m.weight_x[p]
    for r in range(m.weight_rotor.shape[0]):
        m.weight_rotor[r] = problem.par.rotor[r]
        for p in range(problem.n_unknowns):
            m.weight_rotor[r] += problem.rotor_blocks[r, p] * m.weight_x[p]


@inline
def note_level(m, ratio):
    """A slow mean of NIS per row, at least one: by how much the rows' variances seem too small."""
    level = max(m.numbers[LEVEL], 1.0)
    m.numbers[LEVEL] = max(1.0, level + 0.02 * (min(ratio, 1e3) - level))


@inline
def begin_segment(m, k, s):
    """Get ready for the first sample of a segment."""
    for axis in range(3):
        m.frame_velocity[axis] = s[7 + axis]
        m.impulse[axis] = 0.0
        m.positions[3, axis] = 0.0
        k.gain[axis] = k.gain[3 + axis] = 0.0
    m.counts[ROWS_HERE] = 0
    clear_walk(m)


@inline
def is_usable(t, s):
    """Whether all numbers are finite and of this world, and the attitude is one."""
    size = 0.0
    for i in range(s.shape[0]):
        if not -HUGE < s[i] < HUGE:
            return False
        if 3 <= i < 7:
            size += s[i] * s[i]
    return -HUGE < t < HUGE and 0.25 < size < 4.0


@inline
def watch_readings(problem, m, s, h):
    """For how many samples a reading has been the same to the last bit, and how long joints rest.

    Only of readings that have noise: others may well repeat.
    """
    n = m.rest.shape[0]
    for i in range(9 + 2 * n):
        place = i if i < 3 else i + 1
        is_same = s[place] == m.last[place] and problem.sigma[i] > 0.0
        m.repeats[i] = m.repeats[i] + 1 if is_same else 0
    for c in range(n):
        speed, sigma = abs(s[10 + n + c]), problem.sigma[9 + n + c]
        m.rest[c, 1] = max(m.rest[c, 1], speed)
        m.rest[c, 0] = m.rest[c, 0] + h if speed < problem.limits.rest * sigma else 0.0
    for i in range(s.shape[0]):
        m.last[i] = s[i]


@inline
def note_step(m, h):
    """The usual time between samples: what is not much longer than it was so far."""
    usual = m.numbers[STEP]
    if usual == 0.0 or h < 0.6 * usual:
        m.numbers[STEP] = h
    elif h < 1.5 * usual:
        m.numbers[STEP] += 0.05 * (h - usual)


@inline
def take_rows(problem, m, k, t, s):
    """The sample's equations, into R and z if they pass the gate."""
    is_first = m.counts[HISTORY] == 0
    if is_first:
        begin_segment(m, k, s)
    h = 0.0 if is_first else t - m.times[3]
    watch_readings(problem, m, s, h)
    measure_sample(problem, m, k, s)
    first = 3 if is_first else integrate_interval(problem, m, k, t, k.sample)
    half = 0.5 * h
    set_moment_errors(problem.sigma, k.momentum_errors, k.moment_errors)
    px, py, pz = k.gain[9], k.gain[10], k.gain[11]
    for axis in range(3):
        k.velocity_noise[axis] = problem.sigma[6 + axis]
    set_end_errors(
        k, k.velocity_noise, half, 1.0, px, py, pz, k.momentum_errors, k.moment_errors, k.end_errors
    )
    if is_first:
        store_sample(m, k, t)
        return BEGUN
    is_lost = first > 1 or (
        m.numbers[STEP] > 0.0 and h > problem.limits.displacement_gap * m.numbers[STEP]
    )
    J = k.impulse
    for axis in range(3):
        J[axis] = m.impulse[axis] + k.gain[3 + axis]
    set_covariances(problem, m, k, half, is_lost)
    if not set_factors(m, k):
        return BROKEN
    d = k.gain
    set_rows(problem, k.columns, m.columns, d[0], d[1], d[2], J, k.gain, False, k.rows)
    linearise_displacement(problem, m, k)
    decorrelate(k, m.rows, k.rows)
    copy_table(k.rows, k.plain_rows[0])
    if has_walked(m) and not remove_walk(m, k):
        return BROKEN
    nis = nis_of_rows(m, k)
    is_likely = passes_gate(problem, m, nis, is_lost)
    if not nis < 1e300:
        return BROKEN
    if not is_likely:
        m.counts[N_GATED] += 1
        return GATED
    before, now = m.probe_velocity, k.probe_velocity
    dx, dy, dz = (
        half * (before[0] + now[0]),
        half * (before[1] + now[1]),
        half * (before[2] + now[2]),
    )
    set_rows(problem, k.probe_columns, m.probe_columns, dx, dy, dz, J, k.gain, True, k.probe_rows)
    decorrelate(k, m.probe_rows, k.probe_rows)
    note_level(m, nis / m.numbers[DOF])
    # else they are weighted by a model that may be wrong, or the estimate may be noise
    if m.numbers[SETTLED] == 1.0 and m.numbers[SHARE] == 1.0:
        note_innovation(m, k, nis, m.numbers[DOF])
    copy_table(k.probe_rows, k.plain_rows[1])
    if age_information(problem, m, k, h):  # the walk has another estimate now
        copy_table(k.plain_rows[0], k.rows)
        if has_walked(m) and not remove_walk(m, k):
            return BROKEN
    if has_walked(m):
        whiten_probe(k)
        carry_walk(m, k)
    add_sample_rows(problem, m, k)
    m.counts[N_TAKEN] += 1
    m.counts[SINCE_CHANGE] += 1
    store_sample(m, k, t)
    note_step(m, h)
    renew_estimate(problem, m, k)
    return TAKEN


@inline
def is_gap(problem, m, t, levels):
    """Whether forces may have acted unseen since the last sample."""
    step = m.numbers[STEP]
    if m.counts[HISTORY] == 0 or step == 0.0 or t - m.times[3] <= problem.limits.long_gap * step:
        return False
    if m.counts[N_WRENCH] > 0:
        return True
    for n in range(levels.shape[0]):  # noqa: SIM110
        if m.levels[n] != 0.0 or levels[n] != 0.0:
            return True
    return False


@kernel
def take_inputs(bound, t, has_wrench):
    """Thruster levels [N] and the commanded wrench from t on, between samples."""
    problem, m, _, _, levels, wrench = unpack(bound)
    integrate_inputs(problem, m, t, levels, wrench, has_wrench)
    switch_thrusters(problem, m, t, levels)


@kernel
def take_sample(bound, t, has_wrench, watched):
    """The sample at t, with the inputs from then on; what became of it, and what is odd times 8.

    watched: NOTHING, GAPS (then `find_odd` does the rest, later) or ALL.
    """
    problem, m, k, s, levels, wrench = unpack(bound)
    if watched != NOTHING and is_gap(problem, m, t, levels):
        return GAP
    if not is_usable(t, s):
        return UNUSABLE
    integrate_inputs(problem, m, t, levels, wrench, has_wrench)
    is_guarded = problem.gates[0] > 0.0 and m.numbers[SETTLED] == 0.0  # later, the gate does it
    if is_guarded and is_spike(problem, m, t, s):
        m.counts[N_GATED] += 1
        code = SPIKE
    else:
        code = take_rows(problem, m, k, t, s)
    switch_thrusters(problem, m, t, levels)
    if watched == ALL and code in (TAKEN, GATED):
        return code + 8 * odd_findings(problem, m, code)
    return code


@kernel
def find_odd(bound, code):
    """What is odd about the sample that this became of."""
    problem, m, _, _, _, _ = unpack(bound)
    return odd_findings(problem, m, code)
