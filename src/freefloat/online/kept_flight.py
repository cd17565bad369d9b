"""Samples of the whole flight so far, thinned out: what an estimate is judged by.

The filter forgets a sample once it has taken it. To know what an assumption that is off would have
done, or other noise, it takes these again (`trials.py`). Every second one is dropped when there
are too many; inputs are kept as they were, since an impulse counts whenever it came, and where
there is no room for these either the older half of the flight goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array

if TYPE_CHECKING:
    from freefloat.online.sample import SampleVector

WRENCH, SAMPLE, RESTART = 1, 2, 4  # format: bits of the flags of an entry
# theory: a deviation by 256 samples or more is known to 1 / sqrt(2 n), 4 %
MOST_SAMPLES = 512
ROOM = 4 * MOST_SAMPLES  # format: entries; thrusters that switch often take most of it
FIELDS = ("time", "flags", "vector", "levels", "wrench", "sigma")


@dataclass(frozen=True)
class FlightTable:
    """Entries as arrays; flags: whether one has a wrench, is a sample, begins a segment."""

    time: Array  # (n,) [s]
    flags: NDArray[np.int64]  # (n,)
    vector: Array  # (n, vector)
    levels: Array  # (n, thrusters)
    wrench: Array  # (n, 6)
    sigma: Array  # (n, sources)


class KeptFlight:
    """The entries so far; the samples among them lie `stride` samples apart.

    All its room is taken at once, so that a stream needs no more with every sample.
    """

    def __init__(self, vector: SampleVector, sigma: Array) -> None:
        widths = (len(vector.vector), len(vector.levels), 6, len(sigma))
        self.table_of = FlightTable(
            np.zeros(ROOM), np.zeros(ROOM, dtype=np.int64), *(np.zeros((ROOM, w)) for w in widths)
        )
        self.clear()

    def clear(self) -> None:
        """Forget everything: another robot flies from here on."""
        self.n_entries = self.n_samples = self._since = 0
        self.stride, self._restarts = 1, False

    def restart(self) -> None:
        """The next sample begins a segment."""
        self._restarts = True

    def note(self, time: float, vector: SampleVector, sigma: Array, *, is_sample: bool) -> None:
        """Keep a sample, or inputs alone."""
        self._since += is_sample
        is_kept = is_sample and (self._since >= self.stride or self._restarts)
        if not is_kept and not self._tells_inputs(vector):
            return
        flags = WRENCH * vector.has_wrench + SAMPLE * is_kept + RESTART * self._restarts * is_kept
        if self.n_entries == ROOM:
            self._drop_older_half()
        t, k = self.table_of, self.n_entries
        t.time[k], t.flags[k], t.vector[k] = time, flags, vector.vector
        t.levels[k], t.wrench[k], t.sigma[k] = vector.levels, vector.wrench, sigma
        self.n_entries += 1
        if is_kept:
            self._since, self._restarts = 0, False
            self.n_samples += 1
            if self.n_samples > MOST_SAMPLES:
                self._thin_out()

    def _tells_inputs(self, vector: SampleVector) -> bool:
        """Whether thrust or wrench are not those of the last entry."""
        if vector.has_wrench or not self.n_entries:
            return bool(vector.has_inputs)
        # of a few numbers, many times faster than a comparison of arrays
        return self.table_of.levels[self.n_entries - 1].tobytes() != vector.levels.tobytes()

    def _drop_older_half(self) -> None:
        """What is left begins a segment of its own."""
        half = self.n_entries // 2
        for column in self._columns(None):
            column[: self.n_entries - half] = column[half : self.n_entries]
        self.n_entries -= half
        flags = self.table_of.flags[: self.n_entries]
        samples = np.flatnonzero(flags & SAMPLE)
        flags[samples[:1]] |= RESTART
        self.n_samples = len(samples)

    def _columns(self, n: int | None) -> list[Any]:
        return [getattr(self.table_of, name)[:n] for name in FIELDS]

    def _thin_out(self) -> None:
        """Every second sample goes, but for its inputs."""
        n, t = self.n_entries, self.table_of
        is_sample = (t.flags[:n] & SAMPLE) > 0
        is_second = is_sample & (np.cumsum(is_sample) % 2 == 0) & ((t.flags[:n] & RESTART) == 0)
        t.flags[:n][is_second] &= ~SAMPLE
        is_same = np.concatenate([[False], np.all(t.levels[1:n] == t.levels[: n - 1], axis=1)])
        kept = np.flatnonzero(~(is_second & is_same & ((t.flags[:n] & WRENCH) == 0)))
        for column in self._columns(None):
            column[: len(kept)] = column[kept]
        self.n_entries, self.stride = len(kept), 2 * self.stride
        self.n_samples = int(np.sum((t.flags[: len(kept)] & SAMPLE) > 0))

    def table(self) -> FlightTable:
        """The entries so far as arrays of their own."""
        return FlightTable(*(column.copy() for column in self._columns(self.n_entries)))

    # -- for the state file ------------------------------------------------------------------------

    def arrays(self) -> dict[str, Any]:
        """Everything, by name."""
        columns = zip(FIELDS, self._columns(self.n_entries), strict=True)
        numbers = [self.stride, self._since, self._restarts]
        return {f"flight.{name}": column.copy() for name, column in columns} | {
            "flight.numbers": np.array(numbers, dtype=np.int64)
        }

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`; ValueError where they do not fit."""
        columns = [arrays[f"flight.{name}"] for name in FIELDS]
        stride, since, restarts = arrays["flight.numbers"].tolist()
        self.n_entries = len(columns[0])
        for own, column in zip(self._columns(self.n_entries), columns, strict=True):
            own[...] = column
        self.n_samples = int(np.sum((self.table_of.flags[: self.n_entries] & SAMPLE) > 0))
        self.stride, self._since = stride, since
        self._restarts = bool(restarts)
