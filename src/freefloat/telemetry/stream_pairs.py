"""Two streams that show the same motion: changes of one against integrals of the other.

The changes of a position over its sampling intervals are regressed on the integrals of its rate: a
matrix, a bias and a lag. Noise of positions enters two neighbouring changes with opposite signs,
that of rates each integral; both are in the weights. Rates are noisy columns of the regression,
which alone would shrink the matrix: the expected part is taken out of the normal equations.
Deviations are the larger of those the noise gives and those that blocks of the recording show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freefloat.telemetry.channel import Array, Mask

N_BLOCKS = 20  # theory: their scatter has 19 degrees of freedom, and each is long against a lag
_MOST_STEPS = 30  # theory: Gauss-Newton converges in a few; a cycle does not
_SEEN = 4.0  # theory: times the noise of the integrals: less motion says nothing about a gain
_GAP = 3.5  # theory: [steps]; over a longer gap a rate cannot be integrated
_SAME = 1e-7  # theory: [s], a hundredth of what the best sensors tell
_POOR = 1.5  # theory: so much more than noise leaves, another minimum may leave less
_FAR = 0.5  # theory: [s], the largest lag looked for: sensors that are older are not of one flight


@dataclass(frozen=True)
class Track:
    """Samples of one stream: instants [s], one row each, and the noise of a sample [unit]."""

    time: Array
    values: Array
    noise: float

    @property
    def step(self) -> float:
        """The median time between samples [s]."""
        return float(np.median(np.diff(self.time)))


@dataclass(frozen=True)
class Changes:
    """Changes of a stream over intervals: their ends [s], rows, and the noise of a sample."""

    start: Array
    end: Array
    change: Array
    noise: float

    @staticmethod
    def of(time: Array, change: Array, noise: float) -> Changes:
        """Between samples at `time` [s]; gaps left out."""
        steps = np.diff(time)
        keep = steps < _GAP * np.median(steps)
        return Changes(time[:-1][keep], time[1:][keep], change[keep], noise)

    def select(self, keep: Mask) -> Changes:
        """Some of them."""
        return Changes(self.start[keep], self.end[keep], self.change[keep], self.noise)


class RateCurve:
    """A rate between its samples: a cubic spline, its integral, and where it has gaps."""

    def __init__(self, track: Track) -> None:
        from scipy.interpolate import CubicSpline

        self.track = track
        self.rate = CubicSpline(track.time, track.values)
        self.integral = self.rate.antiderivative()
        steps = np.diff(track.time)
        self.gaps = track.time[:-1][steps > _GAP * track.step]

    def covers(self, start: Array, end: Array) -> Mask:
        """Whether there are samples from each start to its end [s]."""
        inside = (start >= self.track.time[0]) & (end <= self.track.time[-1])
        first = np.searchsorted(self.gaps, start - _GAP * self.track.step)
        return inside & (first == np.searchsorted(self.gaps, end))

    @cached_property
    def noise_density(self) -> float:
        """The variance of an integral over its length."""
        return self.track.noise**2 * self.track.step


@dataclass(frozen=True)
class PairFit:
    """How a stream follows from the rate of another: change = matrix · integral + bias · time.

    `lag` is by how much the rate is late [s], less than 0 if the other is. `seen` says which
    columns of the matrix the motion shows; the others are taken as those of the identity.
    """

    lag: float
    lag_deviation: float
    matrix: Array
    matrix_deviation: Array
    bias: Array
    bias_deviation: Array
    seen: Mask
    misfit: float  # weighted squares of what is left, over their number
    n_rows: int
    start: float
    end: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the deviations."""
        return N_BLOCKS - 1.0

    @property
    def has_lag(self) -> bool:
        """Whether the motion changes enough to tell a lag at all."""
        return bool(np.isfinite(self.lag_deviation))


def fit_pair(changes: Changes, curve: RateCurve, *, far: float = _FAR) -> PairFit | None:
    """The matrix, bias and lag that explain changes by a rate; None if they hardly overlap."""
    found = _refine(changes, curve, 0.0, far)
    if found is not None and found.misfit > _POOR:
        other = _refine(changes, curve, _coarse_lag(changes, curve, far), far)
        if other is not None and other.misfit < found.misfit:
            return other
    return found


def _refine(changes: Changes, curve: RateCurve, lag: float, far: float) -> PairFit | None:
    """The best lag near another, by Gauss and Newton."""
    regression = None
    for _ in range(_MOST_STEPS):
        regression = _regression(changes, curve, lag)
        if regression is None:
            return None
        step = regression.lag_step
        lag += float(np.clip(step, -0.5 * curve.track.step, 0.5 * curve.track.step))
        if abs(step) < _SAME:
            break
    assert regression is not None
    return regression.result(lag, is_lag_free=abs(lag) < 2.0 * far)


def _coarse_lag(changes: Changes, curve: RateCurve, far: float) -> float:
    """The lag on a grid of half sampling steps that leaves least."""
    step = max(0.5 * curve.track.step, 0.02 * far)
    tried = step * np.arange(-int(far / step), int(far / step) + 1)
    misfits = []
    for lag in tried:
        regression = _regression(changes, curve, float(lag))
        misfits.append(np.inf if regression is None else regression.misfit)
    return float(tried[int(np.argmin(misfits))])


class _Regression:
    """The regression at one lag, as Gram matrices of blocks of whitened rows.

    Columns: integrals (p), time, changes of the rate (p), and what is explained (n).
    """

    def __init__(
        self, grams: Array, noises: tuple[float, float], span: tuple[float, float], n_rows: int
    ) -> None:
        self.grams, self.span, self.n_rows = grams, span, n_rows
        noise, self.late_noise = noises
        self.n = (grams.shape[1] - 1) // 3
        whole = grams.sum(axis=0)
        n = self.n
        self.seen = np.diag(whole)[:n] > _SEEN * noise
        # columns without motion are those of the identity
        self.reduced = self._move(whole)
        self.columns = [*np.flatnonzero(self.seen).tolist(), n]
        normal = self.reduced[np.ix_(self.columns, self.columns)].copy()
        gains = len(self.columns) - 1
        normal[:gains, :gains] -= noise * np.eye(gains)
        self.normal = normal
        right = self.reduced[np.ix_(self.columns, range(2 * n + 1, 3 * n + 1))]
        self.gains = np.linalg.lstsq(normal, right, rcond=None)[0]
        self.matrix = np.eye(n)
        self.matrix[:, self.seen] = self.gains[:gains].T
        self.bias = self.gains[gains]

    def _move(self, gram: Array) -> Array:
        """Take the columns without motion over to the explained side."""
        n = self.n
        change = np.eye(3 * n + 1)
        for j in np.flatnonzero(~self.seen):
            change[j, 2 * n + 1 + j] = -1.0
        return change.T @ gram @ change

    def _residual(self, gram: Array, i: int) -> Array:
        """The combination of columns that is left of output i."""
        n = self.n
        left = np.zeros(3 * n + 1)
        left[2 * n + 1 + i] = 1.0
        left[:n] -= self.matrix[i]
        left[n] = -self.bias[i]
        return left

    @cached_property
    def misfit(self) -> float:
        """Squares of what is left over their number."""
        whole = self.grams.sum(axis=0)
        left = [self._residual(whole, i) for i in range(self.n)]
        freedom = self.n_rows * self.n - self.n * len(self.columns)
        return float(sum(v @ whole @ v for v in left)) / max(freedom, 1)

    @cached_property
    def _joint(self) -> tuple[Array, Array, float]:
        """Normal matrix of gains, biases and lag, the columns of each output, the lag's right."""
        whole, n, k = self.grams.sum(axis=0), self.n, len(self.columns)
        size = n * k + 1
        normal, right = np.zeros((size, size)), 0.0
        self.is_lag_seen = False
        for i in range(n):
            here = slice(i * k, (i + 1) * k)
            normal[here, here] = self.normal
            lag = self._lag_column(i)
            normal[here, -1] = normal[-1, here] = whole[self.columns] @ lag
            # less the noise of the rate, which would pass for changes of it
            own = float(lag @ whole @ lag)
            noisy = self.late_noise * float(np.sum(self.matrix[i] ** 2))
            self.is_lag_seen |= own > _SEEN * noisy
            normal[-1, -1] += own - noisy
            right += float(lag @ whole @ self._residual(whole, i))
        return normal, np.linalg.pinv(normal), right

    def _lag_column(self, i: int) -> Array:
        lag = np.zeros(3 * self.n + 1)
        lag[self.n + 1 : 2 * self.n + 1] = self.matrix[i]
        return lag

    @property
    def lag_step(self) -> float:
        """How much later the rate is than thought [s]."""
        _, inverse, right = self._joint
        return float(inverse[-1, -1] * right) if self.is_lag_seen else 0.0

    def result(self, lag: float, *, is_lag_free: bool) -> PairFit:
        n, k = self.n, len(self.columns)
        _, inverse, _ = self._joint
        scores = []
        for gram in self.grams:
            parts = [gram[self.columns] @ self._residual(gram, i) for i in range(n)]
            late = sum(self._lag_column(i) @ gram @ self._residual(gram, i) for i in range(n))
            scores.append(np.concatenate([*parts, [late]]))
        scatter = np.cov(np.array(scores).T) * len(scores)
        variance = np.maximum(
            np.diag(inverse @ scatter @ inverse), np.diag(inverse) * max(self.misfit, 1.0)
        )
        deviation = np.sqrt(np.maximum(variance, 0.0))
        gains = deviation[:-1].reshape(n, k)
        matrix_deviation = np.zeros((n, n))
        matrix_deviation[:, self.seen] = gains[:, : k - 1]
        is_lag_free = is_lag_free and bool(self.seen.any()) and self.is_lag_seen
        return PairFit(
            lag, float(deviation[-1]) if is_lag_free else np.inf, self.matrix, matrix_deviation,
            self.bias, gains[:, k - 1], self.seen, self.misfit, self.n_rows, *self.span,
        )  # fmt: skip


def _regression(changes: Changes, curve: RateCurve, lag: float) -> _Regression | None:
    keep = curve.covers(changes.start + lag, changes.end + lag)
    keep &= np.isfinite(changes.change).all(axis=1)
    if np.count_nonzero(keep) < 2 * N_BLOCKS:
        return None
    kept = changes.select(keep)
    start, end = kept.start + lag, kept.end + lag
    integral = curve.integral(end) - curve.integral(start)
    late = curve.rate(end) - curve.rate(start)
    rows = np.column_stack([integral, end - start, late, kept.change])
    white, noises = _whiten(kept, rows, curve.noise_density, curve.track.noise)
    grams = np.array([part.T @ part for part in np.array_split(white, N_BLOCKS)])
    if not np.isfinite(grams).all():
        return None
    return _Regression(grams, noises, (float(kept.start[0]), float(kept.end[-1])), len(white))


def _whiten(
    changes: Changes, rows: Array, density: float, noise: float
) -> tuple[Array, tuple[float, float]]:
    """Rows with noise of one, and the expected squares of the noise in columns of the rate.

    The first is that of an integral, the second that of a change of the rate.
    """
    from scipy.linalg import cholesky_banded, solve_banded

    own = density * (changes.end - changes.start)
    is_chained = changes.start[1:] == changes.end[:-1]
    floor = 1e-24 * float(np.max(changes.change**2, initial=0.0)) + 1e-300
    band = np.zeros((2, len(own)))
    band[0] = own + 2.0 * changes.noise**2 + floor
    band[1, :-1] = np.where(is_chained, -(changes.noise**2), 0.0)
    factor = cholesky_banded(band, lower=True)
    # theory: eigenvalues of a chain of changes; half angles from 0 to pi/2
    angle = 0.5 * np.pi * (np.arange(len(own)) + 0.5) / len(own)
    mean = float(np.mean(own))
    power = mean + 4.0 * changes.noise**2 * np.sin(angle) ** 2 + floor
    late = 4.0 * noise**2 * np.sin(angle) ** 2
    noises = float(np.sum(mean / power)), float(np.sum(late / power))
    return solve_banded((1, 0), factor, rows), noises


def weighted_mean(values: Sequence[float], deviations: Sequence[float]) -> tuple[float, float]:
    """The mean of independent estimates and its deviation, widened where they disagree.

    >>> weighted_mean([1.0, 3.0], [1.0, 1.0])
    (2.0, 1.0)
    """
    x, s = np.array(values), np.array(deviations)
    weight = 1.0 / s**2
    mean = float(np.sum(weight * x) / np.sum(weight))
    excess = float(np.sum(weight * (x - mean) ** 2)) / max(len(x) - 1, 1)
    return mean, float(np.sqrt(max(excess, 1.0) / np.sum(weight)))
