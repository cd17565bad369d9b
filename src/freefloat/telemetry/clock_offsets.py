"""Clocks compared: by how much one channel lags another that shows the same motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.telemetry.channel import Array, Channel
from freefloat.telemetry.names import misuse
from freefloat.telemetry.resample import median_step
from freefloat.telemetry.smoothing import SmoothSignal, smooth

# theory: from within a sample Gauss-Newton converges quadratically; more steps would be a cycle
_MOST_STEPS = 20


@dataclass(frozen=True)
class TimeOffset:
    """By how much one channel lags another: `seconds` [s], give or take `deviation` [s].

    `correlation` is that of the two once shifted, 1 for the same shape; below about 0.9 the two
    do not show the same motion well enough to trust the offset.
    """

    seconds: float
    deviation: float
    correlation: float


def estimate_offset(
    a: Channel,
    b: Channel,
    *,
    max_offset: float = np.inf,
    min_overlap: float = 0.5,
    min_samples: int = 16,
) -> TimeOffset:
    """Return by how many seconds `b` lags `a`, to a fraction of a sample.

    The two may differ in rate, gain, bias and in where their clocks start: then
    `telemetry.shift(b.name, -offset.seconds)` brings them together. A motion that repeats itself
    cannot be told from its repetitions.

    Args:
        a: One channel.
        b: The other, which shows the same motion.
        max_offset: The largest offset [s] considered, either way.
        min_overlap: The least share of the shorter recording [1] that an offset leaves to compare.
        min_samples: The fewest valid samples of either.

    Returns:
        The offset, its standard deviation, and the correlation of the two once shifted.

    Raises:
        TelemetryError: A channel is constant or too short, or no offset leaves enough to compare.

    >>> t = np.arange(500) * 0.01
    >>> a = Channel("a.angle", "rad", t, np.exp(-((t - 2.0) ** 2)))
    >>> b = Channel("b.angle", "rad", t, np.exp(-((t - 2.3456) ** 2)))
    >>> round(estimate_offset(a, b).seconds, 6)
    0.3456
    """
    (ta, ya), (tb, yb) = _varying(a, min_samples), _varying(b, min_samples)
    step = min(median_step(ta), median_step(tb))
    lags, correlations, overlaps = _correlations(_even(ta, ya, step), _even(tb, yb, step))
    offsets = tb[0] - ta[0] + step * lags
    shorter = min(ta[-1] - ta[0], tb[-1] - tb[0]) / step
    allowed = (overlaps >= min_overlap * shorter) & (np.abs(offsets) <= max_offset)
    if not allowed.any():
        raise misuse(
            f"channels {a.name!r} and {b.name!r}",
            f"no offset up to {max_offset:.9g} s that leaves enough to compare",
            "recordings that overlap once shifted",
            "allow a larger max_offset",
            code="offset.overlap",
        )
    # How much likelier a common shape makes the samples: a short overlap that happens to agree
    # well counts for less than a long one.
    evidence = -overlaps * np.log1p(-(np.clip(correlations, 0.0, 1.0 - 1e-12) ** 2))
    best = int(np.argmax(np.where(allowed, evidence, -np.inf)))
    start = float(offsets[best])
    return _refine(smooth(ta, ya), (ta, tb, yb), offset=start, step=step)


def _varying(channel: Channel, fewest: int) -> tuple[Array, Array]:
    time, values = channel.usable()
    if time.size < fewest or np.ptp(values) == 0.0:
        is_short = time.size < fewest
        found = f"{time.size} valid samples" if is_short else "a constant"
        code = "channel.short" if is_short else "channel.constant"
        expected = f"at least {fewest} valid samples of a signal that changes"
        remedy = "choose another channel"
        raise misuse(f"channel {channel.name!r}", found, expected, remedy, code=code)
    return time, values


def _even(time: Array, values: Array, step: float) -> Array:
    n = int((time[-1] - time[0]) / step) + 1
    return np.interp(time[0] + step * np.arange(n), time, values)


def _correlations(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Lags of b behind a [samples], the correlation at each, and the samples it rests on."""
    a, b = a - a.mean(), b - b.mean()
    n = a.size + b.size - 1
    size = 1 << (n - 1).bit_length()
    products = np.fft.irfft(np.fft.rfft(a, size).conj() * np.fft.rfft(b, size), size)
    lags = np.arange(1 - a.size, b.size)
    first, last = np.maximum(0, -lags), np.minimum(a.size, b.size - lags)
    overlap = (last - first).astype(np.float64)
    (sum_a, squares_a), (sum_b, squares_b) = (
        [_partial_sums(x, start, stop) for x in (signal, signal**2)]
        for signal, start, stop in ((a, first, last), (b, first + lags, last + lags))
    )
    covariance = products[lags % size] - sum_a * sum_b / overlap
    variance = (squares_a - sum_a**2 / overlap) * (squares_b - sum_b**2 / overlap)
    floor = 1e-12 * np.sum(a**2) * np.sum(b**2)  # a stretch without motion correlates with nothing
    return lags.astype(np.float64), covariance / np.sqrt(np.maximum(variance, floor)), overlap


def _partial_sums(x: Array, start: np.ndarray, stop: np.ndarray) -> Array:
    total = np.concatenate([[0.0], np.cumsum(x)])
    return total[stop] - total[start]


def _refine(
    a: SmoothSignal, samples: tuple[Array, Array, Array], *, offset: float, step: float
) -> TimeOffset:
    """The offset that makes b(t) = gain a(t - offset) + bias fit best, by Gauss and Newton.

    `samples` are the instants of a, and the instants and values of b.
    """
    _, time, values = samples
    deviation = np.nan
    for _ in range(_MOST_STEPS):
        change, deviation = _newton_step(a, samples, offset)
        # The start is within a sample of the best offset: a longer step would leave its basin.
        change = float(np.clip(change, -0.5 * step, 0.5 * step))
        offset += change
        if abs(change) < 1e-9 * step:
            break
    model = a.value(time - offset)
    inside = np.isfinite(model)
    correlation = float(np.corrcoef(model[inside], values[inside])[0, 1])
    return TimeOffset(offset, deviation, correlation)


def _newton_step(
    a: SmoothSignal, samples: tuple[Array, Array, Array], offset: float
) -> tuple[float, float]:
    """A better offset less this one, and its standard deviation [s]."""
    time_a, time, values = samples
    model, slope = a.value(time - offset), a.rate(time - offset)
    inside = np.isfinite(model)
    model, slope, measured = (x[inside] - x[inside].mean() for x in (model, slope, values))
    gain = model @ measured / (model @ model)
    residual = measured - gain * model
    columns = np.column_stack([-gain * slope, model])
    solution = np.linalg.lstsq(columns, residual, rcond=None)[0]
    after = residual - columns @ solution
    # The noise of a counts too, the less the more samples it has in the time of one of b.
    share = median_step(time_a) / median_step(time)
    noise = (after @ after) / after.size + share * (gain * a.noise[0]) ** 2
    variance = np.linalg.pinv(columns.T @ columns)[0, 0] * noise
    return float(solution[0]), float(np.sqrt(variance))
