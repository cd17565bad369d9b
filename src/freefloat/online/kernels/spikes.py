"""Lone wild readings, told from their own run: for times when nothing else is known.

A reading is foretold by the straight line through its last two values. What it usually misses that
by, noise and curvature together, is remembered as a peak that fades; a lone miss of many times that
is a spike. When spikes follow on each other it was none, and the readings have really moved.
"""

from __future__ import annotations

from freefloat.numba_.compilation import inlined

MANY = 6.0  # times the usual miss
NOISE = 50.0  # deviations that any miss may have: finer outliers are for the gate
FRESH = 10  # samples during which curvature is still unknown: only misses far beyond noise count
FAR = 20.0  # times that
IN_A_ROW = 3


@inlined
def noise_of(problem, i):
    """The deviation of reading i of a sample."""
    if i < 3:
        return problem.sigma[i]
    if i < 7:  # a small turn moves a quaternion by half of it
        return 0.5 * max(problem.sigma[3], problem.sigma[4], problem.sigma[5])
    return problem.sigma[i - 1]


@inlined
def is_spike(problem, m, t, s):
    """Whether the sample has a wild reading; takes note of it otherwise."""
    known = m.trend[0]
    t0, t1 = m.trend[2], m.trend[3]
    ahead = t - t1
    is_foretold = known >= 2.0 and 0.0 < ahead <= 3.0 * (t1 - t0)
    worst, steps = 0.0, 1.0
    if is_foretold:
        steps = ahead / (t1 - t0)
        for i in range(s.shape[0]):
            noise = NOISE * noise_of(problem, i)
            usual = max(m.wobble[i], noise)
            limit = MANY * usual if known >= FRESH else max(MANY * usual, FAR * noise)
            if limit > 0.0:
                worst = max(worst, miss(m, s, i, steps) / limit)
    if worst > 1.0:
        m.trend[1] += 1.0
        if m.trend[1] < IN_A_ROW:
            return True
        known = 0.0  # they move like that: no spikes, and the next miss as large is none either
    m.trend[1] = 0.0
    for i in range(s.shape[0]):
        if is_foretold:
            m.wobble[i] = max(0.97 * m.wobble[i], miss(m, s, i, steps))
        m.recent[0, i], m.recent[1, i] = m.recent[1, i], s[i]
    m.trend[0], m.trend[2], m.trend[3] = known + 1.0, t1, t
    return False


@inlined
def miss(m, s, i, steps):
    """How far reading i is off the line through its last two, per square of the steps since then.

    Curvature makes it grow with the square of time.
    """
    line = m.recent[1, i] + (m.recent[1, i] - m.recent[0, i]) * steps
    return abs(s[i] - line) / max(1.0, steps * steps)
