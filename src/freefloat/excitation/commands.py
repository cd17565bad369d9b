"""Commands over time: torques, thruster forces and wrenches.

A command is asked for its mean over each step, so that the impulse of a pulse is exact wherever
its edges fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.excitation.motions import Duration

# theory: [s]; 0.1 + 0.2 and 0.3 are the same instant, and an edge counts as past: sums of times up
# to a day are rounded by 1e-11 s
SAME_INSTANT = 1e-9
# The components of a wrench on the root, in the order of the input tables.
WRENCH = ("torque.x", "torque.y", "torque.z", "force.x", "force.y", "force.z")


class Command(Protocol):
    """Anything that gives a level over time."""

    def over(self, start: Array, end: Array) -> Array:
        """The mean level between start and end [s]; the level itself where they coincide."""
        ...

    def edges(self) -> tuple[float, ...]:
        """The times [s] at which the level jumps."""
        ...


@dataclass(frozen=True)
class Pulses:
    """Rectangular pulses: rows of start [s], length [s], level (N m or N)."""

    pulses: tuple[tuple[float, float, float], ...]
    kind: Literal["pulses"] = "pulses"

    def over(self, start: Array, end: Array) -> Array:
        """The mean level between start and end [s]; the level itself where they coincide."""
        total = np.zeros_like(start)
        for begin, length, level in self.pulses:
            stop = begin + length
            shared = np.clip(np.minimum(end, stop) - np.maximum(start, begin), 0.0, None)
            instant = (start >= begin - SAME_INSTANT) & (start < stop - SAME_INSTANT)
            width = end - start
            total += level * np.where(width > 0.0, shared / np.where(width > 0, width, 1), instant)
        return total

    def edges(self) -> tuple[float, ...]:
        """The times [s] at which the level jumps."""
        return tuple(t for begin, length, _ in self.pulses for t in (begin, begin + length))


@dataclass(frozen=True)
class Wave:
    """offset + amplitude sin(2 pi t / period + phase)."""

    amplitude: float
    period: Duration
    phase: float = 0.0
    offset: float = 0.0
    kind: Literal["wave"] = "wave"

    def over(self, start: Array, end: Array) -> Array:
        """The level in the middle between start and end [s]."""
        t = 0.5 * (start + end)
        return self.offset + self.amplitude * np.sin(2.0 * np.pi * t / self.period + self.phase)

    def edges(self) -> tuple[float, ...]:
        """A wave does not jump."""
        return ()


@dataclass(frozen=True)
class Steps:
    """Levels held from each of the times [s] to the next; zero before the first."""

    times: tuple[float, ...]
    levels: tuple[float, ...]
    kind: Literal["steps"] = "steps"

    def over(self, start: Array, end: Array) -> Array:
        """The mean level between start and end [s]; the level itself where they coincide."""
        ends = (*self.times[1:], np.inf)
        rows = zip(self.times, ends, self.levels, strict=True)
        return Pulses(tuple((a, b - a, level) for a, b, level in rows)).over(start, end)

    def edges(self) -> tuple[float, ...]:
        """The times [s] at which the level jumps."""
        return self.times


AnyCommand = Pulses | Wave | Steps
