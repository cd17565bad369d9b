"""How well a signal is known across a gap of any length: learned from the signal itself.

Over more than a few samples a polynomial says little: it could be anywhere, and anything would
agree with it. What a signal has done in as much time elsewhere in the recording says far more. Two
bridges are tried: it stays where it is, or it goes on by the mean of its rates at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.telemetry.channel import Array
from freefloat.telemetry.local_prediction import SignalSamples

_LAGS = 16  # theory: over three powers of ten a length is at most a quarter from the next one
_MOST = 2000  # theory: of deviations; more would tell no more of their root mean square
_FEWEST = 8  # theory: of deviations; their root mean square is known to a quarter


@dataclass(frozen=True)
class GapBridge:
    """Deviations [unit] of both bridges across gaps of `lengths` [s]: held, and by its rates.

    baseline: samples from which a rate is taken at either end. Longer gaps than any that could be
    tried are bridged by the range of the signal.
    """

    baseline: int
    lengths: Array
    held: Array
    by_rates: Array
    range: float

    def mismatch(
        self, before: tuple[Array, Array], after: tuple[Array, Array], lengths: Array
    ) -> tuple[Array, Array]:
        """The difference between both sides (instants, values) and its standard deviation.

        lengths: of the gap [s], as many as are to be tried.
        """
        (tb, yb), (ta, ya), m = before, after, self.baseline
        rates = (yb[-1] - yb[-1 - m]) / (tb[-1] - tb[-1 - m]), (ya[m] - ya[0]) / (ta[m] - ta[0])
        rate = 0.5 * sum(rates)
        held = np.interp(lengths, self.lengths, self.held, right=self.range)
        moving = np.interp(lengths, self.lengths, self.by_rates, right=np.inf)
        step = ya[0] - yb[-1]
        is_moving = moving < held
        return np.where(is_moving, step - rate * lengths, step), np.where(is_moving, moving, held)


def learn_bridge(samples: SignalSamples, *, step: float, baseline: int, noise: float) -> GapBridge:
    """The bridge of a signal with that step of time [s] and noise of a sample [unit]."""
    time, values, ok, section = samples
    n, m = len(time), baseline
    whole = max(float(np.ptp(values[ok])), noise) if ok.any() else noise
    longest = int(np.max(np.bincount(section - section.min()), initial=0)) - 2 * m - _FEWEST
    found: list[tuple[float, float, float]] = []
    for k in np.unique(np.geomspace(2, max(longest, 2), _LAGS).astype(int)).tolist():
        i = np.arange(m, n - k - m, max(1, n // _MOST))
        j = i + k
        i = i[ok[i] & ok[j] & ok[i - m] & ok[j + m] & (section[i - m] == section[j + m])]
        if len(i) < _FEWEST:
            continue
        j = i + k
        rate = (values[i] - values[i - m]) / (time[i] - time[i - m])
        rate = 0.5 * (rate + (values[j + m] - values[j]) / (time[j + m] - time[j]))
        change = values[j] - values[i]
        missed = change - rate * (time[j] - time[i])
        sizes = [max(float(np.sqrt(np.mean(part**2))), noise) for part in (change, missed)]
        found.append((k * step, sizes[0], sizes[1]))
    lengths, held, by_rates = np.array(found or [(0.0, whole, np.inf)]).T
    return GapBridge(m, lengths, held, by_rates, whole)
