"""Levels that are held, such as the force of a valve: their means between instants.

What a valve does within a sampling step shows in a mean (its on-time) and not in a level at an
instant. Recordings whose thruster channels are means say so in their metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.telemetry.channel import Channel

if TYPE_CHECKING:
    from freefloat.telemetry.telemetry import Telemetry

# theory: [standard deviations]; white noise exceeds it once in two million samples, so a smaller
# level is that of a closed valve
CLOSED = 5.0
LOST = 1.5  # theory: [median steps], half way between a whole step and one with a sample lost
THRUST = "thrust"  # the key of the metadata
MEAN = "mean until the next sample"  # its value
HOLD = "hold"  # the key of the metadata that names channels held from sample to sample


def is_held(recording: Telemetry, name: str) -> bool:
    """Whether a recording says that a channel is digital: held from each sample to the next.

    Its metadata `hold` lists names or globs, apart by commas.

    >>> from freefloat.telemetry.telemetry import Telemetry
    >>> flight = Telemetry.from_arrays([0.0, 1.0], {"arm_1.torque": [0.0, 1.0]})
    >>> is_held(flight.with_metadata(hold="arm_*.torque"), "arm_1.torque")
    True
    """
    globs = recording.metadata.get(HOLD, "").split(",")
    return any(fnmatchcase(name, glob.strip()) for glob in globs)


def open_levels(level: Array, noise: Array | float) -> Array:
    """Levels without the noise that closed valves read.

    >>> open_levels(np.array([0.03, -0.01, 5.02]), 0.02)
    array([0.  , 0.  , 5.02])
    """
    return np.where(np.abs(level) > CLOSED * noise, level, 0.0)


def insert_switches(time: Array, level: Array, noise: float = 0.0) -> tuple[Array, Array]:
    """Instants and levels held from each to the next, for means between samples.

    A step longer than usual has lost the mean of its end, and tells nothing.

    A mean between the levels before and after it tells when, in its step, one became the other. A
    force whose direction turns needs that: a mean has its size and not its direction.

    >>> insert_switches(np.arange(4.0), np.array([0.0, 1.5, 6.0, 6.0]))
    (array([0.  , 1.  , 1.75, 2.  , 3.  ]), array([0., 0., 6., 6., 6.]))
    """
    if len(level) < 3:
        return time, level
    before, mean, after = level[:-2], level[1:-1], level[2:]
    is_between = (mean - before) * (mean - after) < 0.0
    is_switch = np.minimum(np.abs(mean - before), np.abs(mean - after)) > CLOSED * noise
    step = np.diff(time)[1:]
    is_whole = step < LOST * np.median(step)
    inside = np.flatnonzero(is_between & is_switch & is_whole) + 1
    a, b = level[inside - 1], level[inside + 1]
    share = (level[inside] - b) / (a - b)
    when = time[inside] + share * (time[inside + 1] - time[inside])
    held = level.copy()
    held[inside] = a
    return np.insert(time, inside + 1, when), np.insert(held, inside + 1, b)


def with_switches(recording: Telemetry, names: Sequence[str]) -> Telemetry:
    """The recording with held levels, told when they switch, where it has means.

    >>> from freefloat.telemetry.telemetry import Telemetry
    >>> flight = Telemetry.from_arrays(np.arange(4.0), {"jet.force": [0.0, 1.5, 6.0, 6.0]})
    >>> flight = flight.with_metadata(**{THRUST: MEAN})
    >>> with_switches(flight, ["jet.force"])["jet.force"].time
    array([0.  , 1.  , 1.75, 2.  , 3.  ])
    """
    if recording.metadata.get(THRUST) != MEAN:
        return recording
    found = []
    for name in names:
        if name in recording:
            channel = recording[name]
            time, level = channel.usable()
            noise = channel.noise or 0.0
            time, level = insert_switches(time, open_levels(level, noise), noise)
            found.append(Channel(name, channel.unit, time, level, noise=channel.noise))
    return recording.with_channels(*found)


def mean_levels(time: Array, level: Array, instants: Array) -> Array:
    """Levels held from each time to the next, averaged from each instant to the next.

    >>> mean_levels(np.arange(4.0), np.array([0.0, 6.0, 0.0, 0.0]), np.array([0.0, 0.5, 3.0]))
    array([0. , 2.4, 0. ])
    """
    impulse = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(time))])
    after = np.clip(np.searchsorted(time, instants, side="right") - 1, 0, None)
    held = np.where(instants >= time[0], level[after], 0.0)
    inside = np.interp(instants, time, impulse) + held * np.maximum(instants - time[-1], 0.0)
    mean = np.append(np.diff(inside) / np.diff(instants), held[-1])
    # where nothing switches in between, the level itself, to the last bit
    return np.where(np.abs(mean - held) < 1e-9 * np.max(np.abs(level), initial=0.0), held, mean)
