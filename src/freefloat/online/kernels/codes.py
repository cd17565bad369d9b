"""Integers that the kernels and Python share: outcomes, findings, and places in the memory.

Kernels compare plain integers, so every member is also a constant of this module.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class KernelOutcome(IntEnum):
    """What became of a sample; names as in SampleOutcome, but for GAP.

    GAP: nothing yet, since the momentum must be estimated anew first.
    """

    BEGUN = 0
    TAKEN = 1
    GATED = 2
    BROKEN = 3
    UNUSABLE = 4
    SPIKE = 5
    GAP = 6


class WatchLevel(IntEnum):
    """What is looked for with a sample: nothing, gaps before it, and all that is odd after it."""

    NOTHING = 0
    GAPS = 1
    ALL = 2


class Odd(IntFlag):
    """What is odd about the last samples; a kernel returns it KERNEL_BITS above the outcome."""

    CHANGED = 1
    OUT_OF_STEP = 2
    FROZEN = 4
    STUCK = 8


class Count(IntEnum):
    """Places in FilterMemory.counts."""

    HISTORY = 0  # samples in the segment's history, 0 to 4
    ROWS_HERE = 1  # samples with rows in the segment
    N_TAKEN = 2  # samples taken
    N_GATED = 3  # samples gated
    GATES = 4  # whether each of the last ten samples was gated, as bits
    SINCE_CHANGE = 5  # samples taken since the last change
    N_ROWS = 6  # rows in R and z
    N_WRENCH = 7  # wrench samples known, 0 to 4
    N_INNOVATIONS = 8  # samples whose innovations are in the sums of `innovation_tests`


class Number(IntEnum):
    """Places in FilterMemory.numbers."""

    INPUT_TIME = 0  # [s] up to which inputs are integrated
    CHI2 = 1  # chi-square of the residuals
    EXCESS = 2  # cumulated excess of NIS (CUSUM), in standard deviations
    NIS = 3  # of the last sample
    DOF = 4  # its degrees of freedom
    SHARE = 5  # share of the bias B that is taken off
    WRONG = 6  # natural sizes, times B / (R^T R), by which noise may have misled the estimate
    STEP = 7  # [s] usual step
    LEVEL = 8  # mean NIS per row, at least one
    SETTLED = 9  # 1 once the weights of the rows are those of an estimate


BEGUN, TAKEN, GATED, BROKEN, UNUSABLE, SPIKE, GAP = map(int, KernelOutcome)
NOTHING, GAPS, ALL = map(int, WatchLevel)
CHANGED, OUT_OF_STEP, FROZEN, STUCK = map(int, Odd)
HISTORY, ROWS_HERE, N_TAKEN, N_GATED, GATES, SINCE_CHANGE, N_ROWS, N_WRENCH, N_INNOVATIONS = map(
    int, Count
)
INPUT_TIME, CHI2, EXCESS, NIS, DOF, SHARE, WRONG, STEP, LEVEL, SETTLED = map(int, Number)

KERNEL_BITS = 3  # format: bits that an outcome takes in what `take_sample` returns
KERNEL_MASK = (1 << KERNEL_BITS) - 1
