"""How long updates take: a histogram of bounded size, whatever the number of updates."""

from __future__ import annotations

import numpy as np

BINS = np.geomspace(1e-7, 10.0, 801)  # format: [s], 2.3 % wide


class Latencies:
    """Counts durations [s] in bins of 2.3 %.

    >>> taken = Latencies()
    >>> for _ in range(100): taken.add(20e-6)
    >>> round(taken.quantile(0.5) * 1e6)
    20
    """

    def __init__(self) -> None:
        self.counts = np.zeros(len(BINS) + 1, dtype=np.int64)
        self.longest = 0.0
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Take note of one."""
        self.counts[int(BINS.searchsorted(seconds))] += 1
        self.longest = max(self.longest, seconds)
        self.total += seconds

    @property
    def n(self) -> int:
        """How many there were."""
        return int(self.counts.sum())

    def quantile(self, share: float) -> float:
        """The duration [s] that this share of updates stays below."""
        if not self.n:
            return 0.0
        k = int(np.searchsorted(np.cumsum(self.counts), share * self.n))
        return float(np.sqrt(BINS[max(k - 1, 0)] * BINS[min(k, len(BINS) - 1)]))

    def as_dict(self) -> dict[str, float]:
        """Microseconds, and updates per second while updating."""
        return {
            "p50_us": 1e6 * self.quantile(0.5),
            "p99_us": 1e6 * self.quantile(0.99),
            "max_us": 1e6 * self.longest,
            "updates_per_second": self.n / self.total if self.total else 0.0,
        }
