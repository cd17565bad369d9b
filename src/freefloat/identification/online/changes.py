"""Has the robot changed? A target caught or let go, a joint stuck, a reading frozen.

Lone outliers are what the gate is for. A change shows in sample after sample: either most of the
last ones are gated, or their surprise (NIS), cumulated beyond what chance gives, passes a limit.
With the limits below, white noise of the size it is said to have raises an alarm once in about
1e11 samples (docs/live.md).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from freefloat.identification.online.channels import Channels
from freefloat.identification.online.health import Event
from freefloat.identification.online.kernels.memory import (
    DOF,
    EXCESS,
    LEVEL,
    NIS,
    SETTLED,
    SINCE_CHANGE,
    VERDICTS,
    Memory,
)

RECENT, MOST = 10, 6  # so many of the last samples gated: not outliers
ALLOWANCE, LIMIT = 1.0, 25.0  # of the cumulated surprise, in deviations of NIS
SOON, LATER = 20, 100  # samples after a change until surprise means something
FITTING = 1.3  # of the mean NIS per row
REPEATED = 25  # samples with the very same bits
RESTED = 3.0  # [s] for which a joint rests that moved before, while others move


def has_changed(memory: Memory, *, was_gated: bool) -> bool:
    """Take note of the last sample's surprise; whether it is one too many."""
    counts, numbers = memory.counts, memory.numbers
    verdicts = ((int(counts[VERDICTS]) << 1) | was_gated) & ((1 << RECENT) - 1)
    counts[VERDICTS] = verdicts
    if verdicts.bit_count() >= MOST:
        return True
    if was_gated or not _is_settled(memory):
        return False
    dof = float(numbers[DOF])
    nis = float(numbers[NIS]) / max(float(numbers[LEVEL]), 1.0)
    excess = float(numbers[EXCESS]) + (nis - dof) / sqrt(2.0 * dof) - ALLOWANCE
    numbers[EXCESS] = max(0.0, excess)
    return excess > LIMIT


def is_out_of_step(memory: Memory) -> bool:
    """Whether the last two samples were gated: the one they are compared with may be the outlier.

    An outlier among the first two samples of a segment is no surprise to a filter that does not
    know the momentum yet.
    """
    return bool(memory.numbers[SETTLED]) and int(memory.counts[VERDICTS]) & 3 == 3


def _is_settled(memory: Memory) -> bool:
    """Whether surprise can be trusted: weights come from an estimate, or the model's fit well."""
    n, numbers = int(memory.counts[SINCE_CHANGE]), memory.numbers
    if numbers[SETTLED]:
        return n > SOON
    return n > LATER and float(numbers[LEVEL]) < FITTING


def clear(memory: Memory) -> None:
    """After a change: nothing is held against the samples to come."""
    memory.counts[VERDICTS] = memory.counts[SINCE_CHANGE] = 0
    memory.numbers[EXCESS] = 0.0


def frozen_channels(memory: Memory, channels: Channels) -> list[str]:
    """Channels whose noise has stopped: the same bits in sample after sample."""
    stuck = np.flatnonzero(memory.repeats == REPEATED)
    found = []
    for source in stuck:
        place = source if source < 3 else source + 1
        hits = np.flatnonzero(channels.places == place)
        found += [channels.names[k] for k in hits]
    return found


def stuck_joints(memory: Memory, names: tuple[str, ...], *, sigma: np.ndarray) -> list[str]:
    """Joints that moved before and rest now, while another one still moves."""
    rest, fastest = memory.still[:, 0], memory.still[:, 1]
    n = len(rest)
    has_moved = fastest > 50.0 * np.maximum(sigma[9 + n :], 1e-12)
    is_resting = (rest > RESTED) & has_moved
    if not np.any(has_moved & (rest == 0.0)):
        return []
    return [names[k] for k in np.flatnonzero(is_resting)]


def stuck_event(time: float, name: str) -> Event:
    """The event of a joint that stopped."""
    return Event(time, "stuck", f"{name} rests while other joints move: stuck?")


def frozen_event(time: float, name: str) -> Event:
    """The event of a channel that repeats itself."""
    return Event(time, "frozen", f"{name} repeats the same value: its samples are not used")


def change_event(time: float, what: str) -> Event:
    """The event of a change: what is found anew from here on."""
    return Event(time, "change", f"the momentum no longer fits: finding {what} anew")
