"""The grids of simulations: when steps are made, and which instants are recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.errors import TelemetryError
from freefloat.model.parts import Sensor

# format: bounds time and memory: a minute at 20 kHz is 1.2 million steps
MAX_GRID_RATE = 20_000  # [Hz]
# theory: a polynomial of degree 5 errs by (2 pi f h)^6 / 200 for motion of f hertz
TAPS = 6  # records that a sample between them is interpolated from
# theory: moves a reading by a millionth of its change in an interval, less than any noise
ON_RECORD = 1e-6  # of a record interval


@dataclass(frozen=True)
class SampleWeights:
    """Samples as sums over records: columns (N, taps) of records, weights and their slopes [1/s].

    Slopes are by the sample's time; what is read before the first record is the first record.
    """

    records: NDArray[np.intp]
    weights: Array
    slopes: Array
    exact: NDArray[np.intp] | None = None  # the record that every sample is, if each is one

    def values(self, table: Array) -> Array:
        """Rows of a table (records, ...) at the samples."""
        if self.exact is not None:
            return table[self.exact if self._span is None else self._span]
        return np.einsum("nk,nk...->n...", self.weights, table[self.records])

    @cached_property
    def _span(self) -> slice | None:
        """The records in a row that the samples are, if they are; such a table is not copied."""
        at = np.zeros(0, dtype=np.intp) if self.exact is None else self.exact
        is_row = len(at) > 0 and bool(np.all(np.diff(at) == 1))
        return slice(int(at[0]), int(at[-1]) + 1) if is_row else None

    def rates(self, table: Array) -> Array:
        """Their derivative by time [1/s]."""
        return np.einsum("nk,nk...->n...", self.slopes, table[self.records])


@dataclass(frozen=True)
class TimeGrid:
    """Records `every` steps of `step` [s] apart, `n_records` of them from `first` [s] on."""

    first: float
    step: float
    every: int
    n_records: int

    @property
    def interval(self) -> float:
        """Between records [s]."""
        return self.every * self.step

    @property
    def n_steps(self) -> int:
        """Steps from the first record to the last."""
        return (self.n_records - 1) * self.every

    @cached_property
    def times(self) -> Array:
        """The times of the records (n_records,) [s]."""
        return self.first + np.arange(self.n_records) * self.interval

    @property
    def stages(self) -> Array:
        """Start, middle and end of every step (n_steps, 3) [s]."""
        steps = np.arange(self.n_steps)[:, None] + np.array([0.0, 0.5, 1.0])
        return self.first + steps * self.step

    @property
    def instants(self) -> Array:
        """Every record as a step of no length (n_records, 3) [s]."""
        return np.repeat(self.times[:, None], 3, axis=1)

    def weights(self, times: Array, *, is_moving: bool = False) -> SampleWeights:
        """How to read tables of records at times [s]; is_moving: their derivative is wanted too."""
        at = np.clip((times - self.first) / self.interval, 0.0, self.n_records - 1.0)
        nearest = np.round(at)
        is_exact = bool(np.all(np.abs(at - nearest) < ON_RECORD))
        exact = nearest.astype(np.intp) if is_exact else None
        if exact is not None and not is_moving:
            ones = np.ones((len(at), 1))
            return SampleWeights(exact[:, None], ones, np.zeros((len(at), 1)), exact)
        n = min(TAPS, self.n_records)
        below = np.clip(np.floor(at).astype(int) - (n // 2 - 1), 0, self.n_records - n)
        records = (below[:, None] + np.arange(n)).astype(np.intp)
        weights, slopes = _lagrange(at - below, n)
        slopes[at <= 0.0] = 0.0
        return SampleWeights(records, weights, slopes / self.interval, exact)

    def ends(self) -> TimeGrid:
        """The same steps, of which only the first and the last instant are recorded."""
        return replace(self, every=self.n_steps, n_records=2)

    def finer(self) -> TimeGrid:
        """The same records, integrated with half the step."""
        return replace(self, step=0.5 * self.step, every=2 * self.every)

    def until(self, seconds: float) -> TimeGrid:
        """The records of the first seconds, two at least."""
        n = min(self.n_records, max(2, round(seconds / self.interval) + 1))
        return replace(self, n_records=n)


def _lagrange(at: Array, n: int) -> tuple[Array, Array]:
    """Weights (N, n) of the values at 0 .. n - 1 in the polynomial at `at`, and their slopes."""
    nodes = np.arange(float(n))
    apart = nodes[:, None] - nodes
    np.fill_diagonal(apart, 1.0)
    bottom = np.prod(apart, axis=1)
    gaps = at[:, None] - nodes
    weights, slopes = np.empty((len(at), n)), np.zeros((len(at), n))
    for k in range(n):
        others = [j for j in range(n) if j != k]
        weights[:, k] = np.prod(gaps[:, others], axis=1) / bottom[k]
        for left in others:
            rest = [j for j in others if j != left]
            slopes[:, k] += np.prod(gaps[:, rest], axis=1) / bottom[k]
    return weights, slopes


def common_grid(suite: tuple[Sensor, ...], step: float) -> tuple[float, float, int]:
    """Rate of the grid that holds every sensor's samples [Hz], step [s], steps per grid interval.

    A delayed sensor looks at earlier instants, which are on the grid too: nothing is interpolated.

    >>> from freefloat.model.parts import Sensor
    >>> common_grid((Sensor("gyro", "bus", 30.0), Sensor("attitude", "bus", 100.0)), 1e-3)[0]
    300.0
    """
    rates = [_fraction(sensor.rate) for sensor in suite]
    delays = [Fraction(sensor.delay).limit_denominator(MAX_GRID_RATE) for sensor in suite]
    rates += [Fraction(delay.denominator) for delay in delays if delay]
    top = lcm(*(rate.numerator for rate in rates))
    grid = Fraction(top, gcd(*(rate.denominator for rate in rates)))
    if grid > MAX_GRID_RATE:
        listed = ", ".join(f"{sensor.kind} {sensor.rate:g} Hz" for sensor in suite)
        raise TelemetryError(
            f"the sensors' rates and delays have no common grid below {MAX_GRID_RATE} Hz"
            f" ({listed}); choose rates and delays that divide each other better",
            code="rates.grid",
        )
    interval = float(1 / grid)
    every = max(1, int(np.ceil(interval / step * (1 - 1e-9))))
    return float(grid), interval / every, every


def _fraction(rate: float) -> Fraction:
    """A rate as a fraction of small numbers; slow ones by their period."""
    if rate >= 1.0:
        return Fraction(rate).limit_denominator(1000)
    return 1 / Fraction(1.0 / rate).limit_denominator(1000)
