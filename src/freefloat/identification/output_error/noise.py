"""The noise of every row of residuals: how large it is, and how it goes on from sample to sample.

A row's noise is white, or autoregressive: each sample a sum of the ones before plus something new.
Whitening takes that sum off, so that what is left is independent and of unit size, and least
squares on it is the most that coloured noise allows. Samples after a gap follow from those before
it by as much as the noise outlasts the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.telemetry.thrust_levels import LOST

# theory: of two models whose Akaike criteria differ by less than 2 both are supported by the data;
# beyond 10 the worse one is not (Burnham and Anderson, Model Selection, 2002, section 2.6)
SUPPORTED, RULED_OUT = 2.0, 10.0
FORGOTTEN = 1000  # theory: what p samples tell of one a thousand times as far away is nothing


CHUNK = 4096  # measured: benchmarks/s6_identify.py; samples after gaps worked out at a time


@dataclass(frozen=True)
class Bridges:
    """Samples that do not follow on those just before.

    places (k,): among all. weights (k, q): of the q samples before each. news (k,): standard
    deviation of what they do not tell, in units of that of a sample.
    """

    places: NDArray[np.int64]
    weights: Array
    news: Array


@dataclass(frozen=True)
class RowNoise:
    """Standard deviation of a sample in its unit, and the autoregression of what follows.

    lags (p,): e[n] = sum lags[k] e[n - 1 - k] + news; news: standard deviation of the news in
    units of that of a sample; first (p, p): whitens the first p samples. bridges: where samples
    are missing.
    """

    size: float
    lags: Array | None = None
    news: float = 1.0
    first: Array | None = None
    bridges: Bridges | None = None

    @property
    def is_white(self) -> bool:
        """Whether samples are independent of each other."""
        return self.lags is None

    def whiten(self, rows: Array) -> Array:
        """Rows (N, ...) of independent errors of unit size."""
        scaled = rows / self.size
        if self.lags is None or self.first is None:
            return scaled
        p = min(len(self.lags), len(scaled))
        out = scaled.copy()
        for k, lag in enumerate(self.lags):
            out[k + 1 :] -= lag * scaled[: len(scaled) - k - 1]
        out /= self.news
        head = self.first[:p, :p] @ scaled[:p].reshape(p, -1)
        out[:p] = head.reshape(p, *scaled.shape[1:])
        if self.bridges is not None:
            at = self.bridges.places
            q = self.bridges.weights.shape[1]
            before = np.maximum(at[:, None] - np.arange(q, 0, -1), 0)
            known = np.einsum("kq,kq...->k...", self.bridges.weights, scaled[before])
            news = self.bridges.news.reshape(-1, *(1,) * (scaled.ndim - 1))
            out[at] = (scaled[at] - known) / news
        return out


def transposed_whiten(noise: RowNoise, rows: Array) -> Array:
    """Rows (n, N) times the matrix that whitens N samples: what unwhitened errors are weighed by.

    >>> white = RowNoise(2.0)
    >>> transposed_whiten(white, np.ones((1, 3)))
    array([[0.5, 0.5, 0.5]])
    """
    if noise.lags is None or noise.first is None:
        return rows / noise.size
    p = min(len(noise.lags), rows.shape[1])
    later = rows / noise.news
    later[:, :p] = 0.0
    bridges = noise.bridges
    if bridges is not None:
        later[:, bridges.places] = 0.0
    out = later.copy()
    for k, lag in enumerate(noise.lags):
        out[:, : rows.shape[1] - k - 1] -= lag * later[:, k + 1 :]
    is_head = np.arange(p)
    if bridges is not None:
        is_head = np.setdiff1d(is_head, bridges.places)
        news = rows[:, bridges.places] / bridges.news
        before = bridges.places[:, None] - np.arange(bridges.weights.shape[1], 0, -1)
        np.add.at(out.T, bridges.places, news.T)
        for q in range(before.shape[1]):
            known = np.maximum(before[:, q], 0)
            np.add.at(out.T, known, -(news * bridges.weights[:, q]).T)
    out[:, :p] += rows[:, is_head] @ noise.first[is_head, :p]
    return out / noise.size


def fit_noise(
    errors: Array, size: float, options: SearchOptions = USUAL, *, times: Array | None = None
) -> RowNoise:
    """The noise that errors (N,) show, white unless the samples clearly say otherwise.

    The order is chosen by the corrected Akaike criterion among Burg's autoregressions, which are
    always stable. times [s]: of the samples to be whitened, where some may be missing.
    """
    scaled = errors / size
    n = len(scaled)
    most = min(options.noise_lags, n // options.samples_per_lag)
    spread = float(np.sqrt(np.mean(scaled**2)))
    if most < 1 or spread == 0.0:
        return RowNoise(size)
    best, white = None, n * np.log(spread**2)
    score_of_best = white
    for lags, variance in burg(scaled, most, options.least_innovation):
        p = len(lags)
        score = n * np.log(variance) + 2.0 * p * n / max(n - p - 2, 1)
        if score < score_of_best - SUPPORTED:
            best, score_of_best = (lags, variance), score
    # coloured only where white noise is ruled out: whitening every row would cost time
    if best is None or score_of_best > white - RULED_OUT:
        return RowNoise(size)
    lags, variance = best
    covariance = autocovariance(lags, variance, len(lags))
    index = np.abs(np.subtract.outer(np.arange(len(lags)), np.arange(len(lags))))
    first = np.linalg.inv(np.linalg.cholesky(covariance[index]))
    bridges = None if times is None else _bridges(lags, variance, times)
    return RowNoise(size, lags, float(np.sqrt(variance)), first, bridges)


def _bridges(lags: Array, variance: float, times: Array) -> Bridges | None:
    """How samples go on where some before them are missing; None where none is.

    theory: the mean of a normal sample given those before it is their covariance with it over
    their own. Where samples are lost once in a while, all that counts are those since then and the
    p before: fewer than 2 p.
    """
    n, p, q = len(times), len(lags), 2 * len(lags)
    steps = np.diff(times)
    if n < 2 or not np.any(steps > LOST * np.median(steps)):
        return None
    number = np.round((times - times[0]) / np.median(steps)).astype(np.int64)
    rows = np.arange(n)
    places = rows[number - number[np.maximum(rows - p, 0)] != np.minimum(rows, p)]
    if not len(places):  # a step that is longer, but not by a sample
        return None
    weights, news = np.zeros((len(places), q)), np.ones(len(places))
    last = int(np.max(number[places] - number[np.maximum(places - q, 0)]))
    covariance = autocovariance(lags, variance, min(last, FORGOTTEN * p) + 2)
    covariance = np.append(covariance, 0.0)
    for k in range(0, len(places), CHUNK):
        at = places[k : k + CHUNK]
        before = at[:, None] - np.arange(q, 0, -1)
        is_known = before >= 0
        when = number[np.maximum(before, 0)]
        apart = np.abs(when[:, :, None] - when[:, None, :])
        both = is_known[:, :, None] & is_known[:, None, :]
        C = np.where(both, covariance[np.minimum(apart, len(covariance) - 1)], np.eye(q))
        c = covariance[np.minimum(number[at][:, None] - when, len(covariance) - 1)] * is_known
        own = np.linalg.solve(C, c[:, :, None])[:, :, 0]
        weights[k : k + CHUNK] = own
        left = covariance[0] - np.sum(own * c, axis=1)
        news[k : k + CHUNK] = np.sqrt(np.maximum(left, variance))
    return Bridges(places, weights, news)


def burg(values: Array, most: int, least: float) -> list[tuple[Array, float]]:
    """Autoregressions of order 1 .. most: lags and the variance of the news.

    least: share of the variance that the news must have; a smaller one is that of an offset, which
    any sample foretells.
    """
    forward, backward = values[1:].copy(), values[:-1].copy()
    whole = variance = float(np.mean(values**2))
    lags: Array = np.zeros(0)
    found = []
    for _ in range(most):
        bottom = float(forward @ forward + backward @ backward)
        if bottom <= 0.0:
            break
        k = 2.0 * float(forward @ backward) / bottom
        lags = np.append(lags - k * lags[::-1], k)
        variance *= 1.0 - k**2
        if not variance > least * whole:
            break
        found.append((lags, variance))
        forward, backward = (forward - k * backward)[1:], (backward - k * forward)[:-1]
    return found


def autocovariance(lags: Array, variance: float, n: int) -> Array:
    """The first n covariances of an autoregression driven by news of that variance."""
    p = len(lags)
    A = np.eye(p + 1)
    for k in range(p + 1):
        for j, lag in enumerate(lags, start=1):
            A[k, abs(k - j)] -= lag
    right = np.zeros(p + 1)
    right[0] = variance
    known = list(np.linalg.solve(A, right))
    while len(known) < n:
        known.append(float(np.dot(lags, known[-1 : -p - 1 : -1])))
    return np.array(known[:n])


def resize(noise: RowNoise, size: float) -> RowNoise:
    """The same noise with another standard deviation."""
    return replace(noise, size=size)
