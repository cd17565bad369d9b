"""The inputs go on: integrated up to now, and switched."""

from __future__ import annotations

from freefloat.numba_.compilation import inlined
from freefloat.online.kernels.force_moments import add_level, add_wrench, push_whole
from freefloat.online.kernels.memory import HISTORY, INPUT_TIME, N_WRENCH, STEP


@inlined
def integrate_inputs(problem, m, t, levels, wrench, has_wrench):
    """Integrate the inputs up to t; the wrench runs smoothly to what it is then.

    A thruster switches when it is said to; after a gap it may have done so at any time in between,
    and m.unsure (6,) keeps the variance of its impulse and angular impulse.
    """
    origin, before = m.times[3], m.numbers[INPUT_TIME]
    is_begun = m.counts[HISTORY] > 0
    if is_begun and t > before:
        gap = t - before
        is_gap = m.numbers[STEP] > 0.0 and gap > 1.5 * m.numbers[STEP]
        for n in range(m.levels.shape[0]):
            more = levels[n] - m.levels[n]
            if not (is_gap and more != 0.0):
                add_level(m.level_moments[n], m.levels[n], before - origin, t - origin)
                continue
            middle = 0.5 * (before + t) - origin
            add_level(m.level_moments[n], m.levels[n], before - origin, middle)
            add_level(m.level_moments[n], levels[n], middle, t - origin)
            w, R = problem.tree.thrusters[n], m.axes[3]
            variance = more * more * gap * gap / 12.0
            for axis in range(3):
                a = 3 * axis
                push = R[a] * w[3] + R[a + 1] * w[4] + R[a + 2] * w[5]
                turn = R[a] * w[0] + R[a + 1] * w[1] + R[a + 2] * w[2]
                m.unsure[axis] += variance * push * push
                m.unsure[3 + axis] += variance * turn * turn
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
            a, b = max(start, 0.0), t - origin
            add_wrench(m.wrench, first, m.wrench_moments, m.slip, origin, a, b)
    m.numbers[INPUT_TIME] = t


@inlined
def switch(problem, m, t, levels):
    """Thrusters have new levels from t on, and the velocity a kink, of known size.

    Polynomials through samples before and after a kink are wrong. So the samples before it are
    moved to where the root would have come from with the new thrust on (m.detour: what that adds
    to the way since the last sample).
    """
    x = y = z = fx = fy = fz = 0.0
    for n in range(m.levels.shape[0]):
        more = levels[n] - m.levels[n]
        m.levels[n] = levels[n]
        if more != 0.0:
            w = problem.tree.thrusters[n]
            x, y, z = x + more * w[0], y + more * w[1], z + more * w[2]
            fx, fy, fz = fx + more * w[3], fy + more * w[4], fz + more * w[5]
    if m.counts[HISTORY] == 0 or (fx == 0.0 and fy == 0.0 and fz == 0.0 and x == y == z == 0.0):
        return
    ax, ay, az = push_whole(m.inertia, problem.n_nuisance == 2, x, y, z, fx, fy, fz)
    R = m.axes[3]
    kink = m.kink
    kink[0] = R[0] * ax + R[1] * ay + R[2] * az
    kink[1] = R[3] * ax + R[4] * ay + R[5] * az
    kink[2] = R[6] * ax + R[7] * ay + R[8] * az
    since = t - m.times[3]
    for axis in range(3):
        m.detour[axis] += 0.5 * kink[axis] * since * since
        for j in range(4):
            ago = m.times[j] - t
            m.velocities[j, axis] += kink[axis] * ago
            m.positions[j, axis] += 0.5 * kink[axis] * (ago * ago - since * since)
