"""Has the robot changed? A target caught or let go, a joint stuck, a reading frozen.

Lone outliers are what the gate is for. A change shows in sample after sample: either most of the
last ones are gated, or their surprise (NIS), cumulated beyond what chance gives, passes a limit.
With the limits of kernels/notice.py, white noise of the size it is said to have raises an alarm
once in about 1e11 samples (docs/live.md).
"""

from __future__ import annotations

import numpy as np

from freefloat.online.health import Event
from freefloat.online.kernels.change_detection import MOVED, REPEATED, RESTED
from freefloat.online.kernels.memory import EXCESS, SINCE_CHANGE, VERDICTS, FilterMemory
from freefloat.online.live_channels import Channels
from freefloat.online.sample import Taken


def clear(memory: FilterMemory) -> None:
    """After a change: nothing is held against the samples to come."""
    memory.counts[VERDICTS] = memory.counts[SINCE_CHANGE] = 0
    memory.numbers[EXCESS] = 0.0


def frozen_channels(memory: FilterMemory, channels: Channels) -> list[str]:
    """Channels whose noise has stopped: the same bits in sample after sample."""
    stuck = np.flatnonzero(memory.repeats == REPEATED)
    found = []
    for source in stuck:
        place = source if source < 3 else source + 1
        hits = np.flatnonzero(channels.places == place)
        found += [channels.names[k] for k in hits]
    return found


def any_frozen(silenced: set[str], memory: FilterMemory, channels: Channels, taken: Taken) -> bool:
    """Whether a silenced channel still repeats itself; one that does not may speak again."""
    for name in list(silenced):
        place = int(channels.places[channels.names.index(name)])
        if taken.vector[place] != memory.last[place]:
            silenced.discard(name)
            memory.repeats[place if place < 3 else place - 1] = 0
    return bool(silenced)


def stuck_joints(memory: FilterMemory, names: tuple[str, ...], *, sigma: np.ndarray) -> list[str]:
    """Joints that moved before and rest now."""
    rest, fastest = memory.still[:, 0], memory.still[:, 1]
    has_moved = fastest > MOVED * np.maximum(sigma[9 + len(rest) :], 1e-12)
    return [names[k] for k in np.flatnonzero((rest > RESTED) & has_moved)]


def stuck_event(time: float, name: str) -> Event:
    """The event of a joint that stopped."""
    return Event(time, "stuck", f"{name} rests while other joints move: stuck?")


def frozen_event(time: float, name: str) -> Event:
    """The event of a channel that repeats itself."""
    return Event(time, "frozen", f"{name} repeats the same value: its samples are not used")


def change_event(time: float, what: str) -> Event:
    """The event of a change: what is found anew from here on."""
    return Event(time, "change", f"the momentum no longer fits: finding {what} anew")
