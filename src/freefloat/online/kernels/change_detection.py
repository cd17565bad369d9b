"""What is odd about the last samples: a change of the robot, frozen readings, joints at rest."""

from __future__ import annotations

from math import sqrt

from freefloat.numba_.compilation import inlined
from freefloat.online.kernels.memory import (
    DOF,
    EXCESS,
    GATED,
    LEVEL,
    NIS,
    SETTLED,
    SINCE_CHANGE,
    VERDICTS,
)

# What is looked for with a sample: nothing, gaps in time before it, and all that is odd after it.
NOTHING, GAPS, ALL = range(3)
# What is noticed, as bits.
CHANGED, OUT_OF_STEP, FROZEN, STUCK = 1, 2, 4, 8

RECENT, MOST = 10, 6  # so many of the last samples gated: not outliers
ALLOWANCE, LIMIT = 1.0, 25.0  # of the cumulated surprise, in deviations of NIS
SOON, LATER = 20, 100  # samples after a change until surprise means something
FITTING = 1.3  # of the mean NIS per row
REPEATED = 25  # samples with the very same bits
RESTED = 3.0  # [s] for which a joint rests that moved before, while others move
MOVED = 50.0  # deviations of its rate: a joint that was faster has moved


@inlined
def has_changed(m, was_gated):
    """Take note of the last sample's surprise; whether it is one too many."""
    counts, numbers = m.counts, m.numbers
    verdicts = ((counts[VERDICTS] << 1) | (1 if was_gated else 0)) & ((1 << RECENT) - 1)
    counts[VERDICTS] = verdicts
    n_gated = 0
    for k in range(RECENT):
        n_gated += (verdicts >> k) & 1
    if n_gated >= MOST:
        return True
    if was_gated or not is_settled(m):
        return False
    dof = numbers[DOF]
    nis = numbers[NIS] / max(numbers[LEVEL], 1.0)
    excess = numbers[EXCESS] + (nis - dof) / sqrt(2.0 * dof) - ALLOWANCE
    numbers[EXCESS] = max(0.0, excess)
    return excess > LIMIT


@inlined
def is_settled(m):
    """Whether surprise can be trusted: weights come from an estimate, or the model's fit well."""
    n = m.counts[SINCE_CHANGE]
    if m.numbers[SETTLED] == 1.0:
        return n > SOON
    return n > LATER and m.numbers[LEVEL] < FITTING


@inlined
def is_out_of_step(m):
    """Whether the last two samples were gated: the one they are compared with may be the outlier.

    An outlier among the first two samples of a segment is no surprise to a filter that does not
    know the momentum yet.
    """
    return m.numbers[SETTLED] == 1.0 and m.counts[VERDICTS] & 3 == 3


@inlined
def is_stuck(m, sigma, c):
    """Whether joint c moved before and rests now; and whether it moves."""
    n = m.still.shape[0]
    has_moved = m.still[c, 1] > MOVED * max(sigma[9 + n + c], 1e-12)
    return has_moved and m.still[c, 0] > RESTED, has_moved and m.still[c, 0] == 0.0


@inlined
def noticed(problem, m, code):
    """The bits of what is odd after a sample that was taken or gated."""
    found = 0
    if has_changed(m, code == GATED):
        found |= CHANGED
    elif code == GATED and is_out_of_step(m):
        found |= OUT_OF_STEP
    for i in range(m.repeats.shape[0]):
        if m.repeats[i] == REPEATED:
            found |= FROZEN
    any_stuck = any_moves = False
    for c in range(m.still.shape[0]):
        stuck, moves = is_stuck(m, problem.sigma, c)
        any_stuck, any_moves = any_stuck or stuck, any_moves or moves
    return found | STUCK if any_stuck and any_moves else found
