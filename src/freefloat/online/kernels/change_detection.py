"""What is odd about the last samples: a change of the robot, frozen readings, joints at rest."""

from __future__ import annotations

from math import sqrt

from freefloat.numba_.compilation import inline
from freefloat.online.kernels.codes import (
    CHANGED,
    DOF,
    EXCESS,
    FROZEN,
    GATED,
    GATES,
    LEVEL,
    NIS,
    OUT_OF_STEP,
    SETTLED,
    SINCE_CHANGE,
    STUCK,
)

RECENT = 10  # format: samples whose gating is remembered, as bits


@inline
def has_changed(limits, m, was_gated):
    """Whether the last samples are a change of the robot: most were gated, or NIS cumulates.

    A one-sided CUSUM of (NIS - n) / sqrt(2 n) - allowance (Page 1954).
    """
    counts, numbers = m.counts, m.numbers
    gates = ((counts[GATES] << 1) | (1 if was_gated else 0)) & ((1 << RECENT) - 1)
    counts[GATES] = gates
    n_gated = 0
    for k in range(RECENT):
        n_gated += (gates >> k) & 1
    if n_gated >= limits.gated_of_ten:
        return True
    if was_gated or not is_settled(limits, m):
        return False
    dof = numbers[DOF]
    nis = numbers[NIS] / max(numbers[LEVEL], 1.0)
    excess = numbers[EXCESS] + (nis - dof) / sqrt(2.0 * dof) - limits.surprise_allowance
    numbers[EXCESS] = max(0.0, excess)
    return excess > limits.surprise_limit


@inline
def is_settled(limits, m):
    """Whether NIS can be trusted: weights come from an estimate, or the model's fit well."""
    n = m.counts[SINCE_CHANGE]
    if m.numbers[SETTLED] == 1.0:
        return n > limits.surprise_after
    return n > limits.surprise_after_model and m.numbers[LEVEL] < limits.fitting


@inline
def is_out_of_step(m):
    """Whether the last two samples were gated: the one they are compared with may be the outlier.

    An outlier among the first two samples of a segment passes the gate of a filter that does not
    know the momentum yet.
    """
    return m.numbers[SETTLED] == 1.0 and m.counts[GATES] & 3 == 3


@inline
def is_stuck(limits, m, sigma, c):
    """Whether joint c moved before and rests now; and whether it moves."""
    n = m.rest.shape[0]
    has_moved = m.rest[c, 1] > limits.moved * max(sigma[9 + n + c], 1e-12)
    return has_moved and m.rest[c, 0] > limits.stuck_after, has_moved and m.rest[c, 0] == 0.0


@inline
def odd_findings(problem, m, code):
    """The bits of what is odd after a sample that was taken or gated."""
    limits, found = problem.limits, 0
    if has_changed(limits, m, code == GATED):
        found |= CHANGED
    elif code == GATED and is_out_of_step(m):
        found |= OUT_OF_STEP
    for i in range(m.repeats.shape[0]):
        if m.repeats[i] == limits.frozen_after:
            found |= FROZEN
    any_stuck = any_moves = False
    for c in range(m.rest.shape[0]):
        stuck, moves = is_stuck(limits, m, problem.sigma, c)
        any_stuck, any_moves = any_stuck or stuck, any_moves or moves
    return found | STUCK if any_stuck and any_moves else found
