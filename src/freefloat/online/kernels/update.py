"""One sample into the filter: rows, noise, gate, triangle, estimate. Nothing is allocated."""

from __future__ import annotations

from freefloat.dynamics.kernels.spatial import C
from freefloat.numba_.bound_arguments import opened
from freefloat.numba_.compilation import inlined, kernel
from freefloat.online.kernels.change_detection import ALL, NOTHING, noticed
from freefloat.online.kernels.force_integrals import integrate_inputs, switch
from freefloat.online.kernels.gate import surprise
from freefloat.online.kernels.interval import (
    covariances,
    integrate_interval,
    let_way_depend,
    set_ends,
    set_factors,
    set_moments,
    set_rows,
    whiten,
)
from freefloat.online.kernels.memory import (
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
    NIS,
    ROWS_HERE,
    SETTLED,
    SHARE,
    SINCE_CHANGE,
    SPIKY,
    STEP,
    TAKEN,
    UNUSABLE,
    WRONG,
)
from freefloat.online.kernels.momentum_columns import gather_outboard
from freefloat.online.kernels.noise_correction import factor_clear_part, solve_corrected
from freefloat.online.kernels.random_walk_whitening import (
    copy,
    hear,
    hear_probe,
    is_echoing,
    pass_on,
    silence,
    wander_echo,
)
from freefloat.online.kernels.sample_probe import measure
from freefloat.online.kernels.spikes import is_spike
from freefloat.online.kernels.square_root_information import (
    add_squares,
    forget,
    let_wander,
    turn_in,
)

HUGE = 1e12  # no reading in SI units is larger
UNSETTLED = 30.0  # times the gate, as long as weights are those of a model that may be far off
ROWS_EACH = 8  # rows for every unknown before an estimate makes weights: fewer may hide an outlier
FEWEST = 4  # the same where nobody looks for outliers
LONG = 10.0  # usual steps without a sample after which momentum is found anew, if anything pushes
# The part of the information that is noise moves by one in so many samples: it is found anew with
# every sample of the first FRESH, and with every SELDOM-th later, when it has moved by 3 % at most.
FRESH, SELDOM = 128, 4
# theory: of a row's own variance; it would take the inverse in samples to add up to as much
NEGLIGIBLE = 1e-8
STILL = 5.0  # standard deviations of its rate within which a joint rests


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
        m.velocities[3, axis] = m.velocity[axis] = k.sample[7 + axis]
        m.positions[3, axis] += k.gain[axis]
        m.impulse[axis] += k.gain[3 + axis]
        m.momentum[axis] = k.gain[9 + axis]
        m.probe_velocity[axis] = k.probe_velocity[axis]
        m.rate[axis] = k.sample[axis]
        m.detour[axis] = m.unsure[axis] = m.unsure[3 + axis] = 0.0
        m.slip[axis] = m.slip[3 + axis] = 0.0
    for n in range(10):
        m.inertia[n] = k.w.L[0, C + n]
    for axis in range(9):
        m.axes[3, axis] = k.axes[3, axis]
    for a in range(m.columns.shape[0]):
        for b in range(m.columns.shape[1]):
            m.columns[a, b] = k.columns[a, b]
            m.probe[a, b] = k.probe[a, b]
    copy(k.firsts, m.firsts)
    for n in range(m.slopes.shape[0]):
        for r in range(6):
            m.slopes[n, r], m.ends[n, r] = k.slopes[n, r], k.ends[n, r]
        for axis in range(3):
            m.moments[n, axis] = k.moments[n, axis]
    for n in range(m.level_moments.shape[0]):
        for i in range(5):
            m.level_moments[n, i] = 0.0
    for n in range(6):
        for i in range(4):
            m.wrench_moments[n, i] = 0.0
    m.counts[HISTORY] = min(m.counts[HISTORY] + 1, 4)


@inlined
def age(problem, m, k, seconds):
    """Old information fades, and wandering unknowns lose some of theirs.

    Mass that comes or goes does so at its own velocity, and takes its momentum along: the momentum
    of the segment's start moves with a wandering parameter, by the parameter's column. Returned:
    whether any unknown wandered.
    """
    if problem.forgetting < 1.0:
        forget(m.triangle, m.bias, problem.forgetting)
    nn, has_wandered = problem.n_nuisance, False
    for i in range(m.x.shape[0]):
        variance = problem.walk[i] * seconds
        if i < nn and k.unsure[i] > NEGLIGIBLE * k.own[i, i]:
            # an impulse that is not known for sure stays in the momentum
            variance += k.unsure[i] / (problem.momentum_size * problem.momentum_size)
        if variance > 0.0:
            has_wandered = True
            for j in range(m.x.shape[0]):
                k.d[j] = 1.0 if j == i else 0.0
            if i >= nn:
                for b in range(nn):
                    k.d[b] = m.columns[b, i - nn] / problem.momentum_size
            if m.counts[ROWS_HERE] > 0:
                wander_echo(m, k, i, variance)
            let_wander(m.triangle, m.bias, m.x, k.d, i, variance, k.row, k.g, k.pushed)
    return has_wandered


@inlined
def absorb(problem, m, k):
    """The whitened rows go into the triangle, what noise does to them into the bias."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        for i in range(N + 1):
            m.rows[r, i] = k.plain[0, r, i]
            m.probe_rows[r, i] = k.plain[1, r, i]
        for j in range(n):
            m.factor[r, j] = k.D[r, j]
    if problem.probing > 0.0:
        add_squares(m.bias, k.probe_rows)
    m.numbers[CHI2] += turn_in(m.triangle, k.rows, k.turned)
    m.counts[N_ROWS] += n
    m.counts[ROWS_HERE] += 1


@inlined
def renew_estimate(problem, m, k):
    """The corrected solution, and from time to time the parameters that the weights are made of.

    Weights follow the estimate only while it is clear of noise in every direction: else smaller
    parameters would make smaller noise, more weight for that noise, and smaller parameters. So
    long the model's count; `early` then takes the samples again.
    """
    count = m.counts[N_TAKEN]
    if count % problem.every[0] == 0:
        is_fresh = min(m.counts[SINCE_CHANGE], m.counts[ROWS_HERE]) < FRESH
        if is_fresh or count % (SELDOM * problem.every[0]) == 0:
            n_rows = float(m.counts[SINCE_CHANGE]) * k.rows.shape[0]
            m.numbers[SHARE], m.numbers[WRONG] = factor_clear_part(
                m.triangle, m.bias, n_rows, m, k.A, k.W
            )
        solve_corrected(m.triangle, m.bias, m.spread, m.x, k.g)
    each = ROWS_EACH if problem.gates[0] > 0.0 else FEWEST
    is_enough = m.counts[SINCE_CHANGE] * k.rows.shape[0] >= each * m.x.shape[0]
    if count % problem.every[1] == 0 and is_enough and m.numbers[SHARE] == 1.0:
        m.numbers[SETTLED] = 1.0
        renew_weights(problem, m, problem.n_nuisance)
        gather_outboard(problem.tree, k.weights, k.w.L, k.w.U, 0.0, 0.0, 0.0)
        for n in range(10):
            m.inertia[n] = k.w.L[0, C + n]


@inlined
def renew_weights(problem, m, nn):
    """The weights' parameters are those of the estimate."""
    for p in range(m.wx.shape[0]):
        m.wx[p] = m.x[nn + p]
    for i in range(m.phi.shape[0]):
        for j in range(10):
            m.phi[i, j] = problem.par.phi[i, j]
    for e in range(problem.entries.shape[0]):
        place, p = problem.entries[e, 0], problem.entries[e, 1]
        m.phi[place // 10, place % 10] += problem.entry_sizes[e] * m.wx[p]
    for r in range(m.rotor.shape[0]):
        m.rotor[r] = problem.par.rotor[r]
        for p in range(problem.n_unknowns):
            m.rotor[r] += problem.rotor_blocks[r, p] * m.wx[p]


@inlined
def note_level(m, ratio):
    """A slow mean of NIS per row, at least one: by how much the rows' variances seem too small."""
    level = max(m.numbers[LEVEL], 1.0)
    m.numbers[LEVEL] = max(1.0, level + 0.02 * (min(ratio, 1e3) - level))


@inlined
def begin(m, k, s):
    """Get ready for the first sample of a segment."""
    for axis in range(3):
        m.shift[axis] = s[7 + axis]
        m.impulse[axis] = 0.0
        m.positions[3, axis] = 0.0
        k.gain[axis] = k.gain[3 + axis] = 0.0
    m.counts[ROWS_HERE] = 0
    silence(m)


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


@inlined
def take_rows(problem, m, k, t, s):
    """The sample's equations, into the triangle if they are not too surprising."""
    is_first = m.counts[HISTORY] == 0
    if is_first:
        begin(m, k, s)
    h = 0.0 if is_first else t - m.times[3]
    watch(problem, m, s, h)
    measure(problem, m, k, s)
    first = 3 if is_first else integrate_interval(problem, m, k, t, k.sample)
    half = 0.5 * h
    set_moments(problem.sigma, k.slopes, k.moments)
    px, py, pz = k.gain[9], k.gain[10], k.gain[11]
    set_ends(k, problem.sigma, half, 1.0, px, py, pz, k.slopes, k.moments, k.ends)
    if is_first:
        keep(m, k, t)
        return BEGUN
    is_lost = first > 1 or (m.numbers[STEP] > 0.0 and h > problem.gap * m.numbers[STEP])
    J = k.after
    for axis in range(3):
        J[axis] = m.impulse[axis] + k.gain[3 + axis]
    covariances(problem, m, k, half, is_lost)
    if not set_factors(m, k):
        return BROKEN
    d = k.gain
    set_rows(problem, k.columns, m.columns, d[0], d[1], d[2], J, k.gain, False, k.rows)
    let_way_depend(problem, m, k)
    whiten(k, m.rows, k.rows)
    copy(k.rows, k.plain[0])
    if is_echoing(m) and not hear(m, k):
        return BROKEN
    nis = surprise(m, k)
    n_linear = 2 if problem.rows.shape[0] == 3 else 3
    dof = n_linear if is_lost else problem.rows.shape[0]
    m.numbers[NIS], m.numbers[DOF] = nis, dof
    limit = problem.gates[1] if is_lost else problem.gates[0]
    if m.numbers[SETTLED] == 0.0:
        limit *= UNSETTLED
    if not nis < 1e300:
        return BROKEN
    if limit > 0.0 and nis > limit * max(m.numbers[LEVEL], 1.0):
        m.counts[N_GATED] += 1
        return GATED
    before, now = m.probe_velocity, k.probe_velocity
    dx, dy, dz = (
        half * (before[0] + now[0]),
        half * (before[1] + now[1]),
        half * (before[2] + now[2]),
    )
    set_rows(problem, k.probe, m.probe, dx, dy, dz, J, k.gain, True, k.probe_rows)
    whiten(k, m.probe_rows, k.probe_rows)
    note_level(m, nis / dof)
    copy(k.probe_rows, k.plain[1])
    if age(problem, m, k, h):  # what is heard is another echo now
        copy(k.plain[0], k.rows)
        if is_echoing(m) and not hear(m, k):
            return BROKEN
    if is_echoing(m):
        hear_probe(k)
        pass_on(m, k)
    absorb(problem, m, k)
    m.counts[N_TAKEN] += 1
    m.counts[SINCE_CHANGE] += 1
    keep(m, k, t)
    note_step(m, h)
    renew_estimate(problem, m, k)
    return TAKEN


@inlined
def is_gap(m, t, levels):
    """Whether forces may have acted unseen since the last sample."""
    step = m.numbers[STEP]
    if m.counts[HISTORY] == 0 or step == 0.0 or t - m.times[3] <= LONG * step:
        return False
    if m.counts[N_WRENCH] > 0:
        return True
    for n in range(levels.shape[0]):  # noqa: SIM110
        if m.levels[n] != 0.0 or levels[n] != 0.0:
            return True
    return False


@kernel
def tell_inputs(bound, t, has_wrench):
    """Thruster levels [N] and the commanded wrench from t on, between samples."""
    problem, m, _, _, levels, wrench = opened(bound)
    integrate_inputs(problem, m, t, levels, wrench, has_wrench)
    switch(problem, m, t, levels)


@kernel
def take_sample(bound, t, has_wrench, watched):
    """The sample at t, with the inputs from then on; what became of it, and what is odd times 8.

    watched: NOTHING, GAPS (then `notice_sample` does the rest, later) or ALL.
    """
    problem, m, k, s, levels, wrench = opened(bound)
    if watched != NOTHING and is_gap(m, t, levels):
        return GAP
    if not is_usable(t, s):
        return UNUSABLE
    integrate_inputs(problem, m, t, levels, wrench, has_wrench)
    is_guarded = problem.gates[0] > 0.0 and m.numbers[SETTLED] == 0.0  # later, the gate does it
    if is_guarded and is_spike(problem, m, t, s):
        m.counts[N_GATED] += 1
        code = SPIKY
    else:
        code = take_rows(problem, m, k, t, s)
    switch(problem, m, t, levels)
    if watched == ALL and code in (TAKEN, GATED):
        return code + 8 * noticed(problem, m, code)
    return code


@kernel
def notice_sample(bound, code):
    """What is odd about the sample that this became of."""
    problem, m, _, _, _, _ = opened(bound)
    return noticed(problem, m, code)
