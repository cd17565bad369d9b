"""A bounded buffer that hands samples out in the order of their times."""

from __future__ import annotations

from bisect import insort

from freefloat.telemetry.sample_rows import Sample


class ReorderBuffer:
    """Holds the newest `size` samples back, so that one that comes late finds its place.

    >>> buffer = ReorderBuffer(1)
    >>> [s.time for t in (1.0, 3.0, 2.0, 4.0) for s in buffer.push(Sample(t, {}))]
    [1.0, 2.0, 3.0]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.held: list[Sample] = []

    def push(self, sample: Sample) -> list[Sample]:
        """Take one in; the samples whose turn it is, oldest first."""
        if not self.size:
            return [sample]
        if self.held and abs(sample.time - self.held[-1].time) > 60.0:
            # another clock: order means nothing across it
            ready, self.held = self.held, [sample]
            return ready
        insort(self.held, sample, key=lambda s: s.time)
        return [self.held.pop(0)] if len(self.held) > self.size else []

    def drain(self) -> list[Sample]:
        """All that are left, oldest first."""
        ready, self.held = self.held, []
        return ready
