"""Samples between samples: by spline, line or hold, never outside them, and low-pass filtered.

All functions take instants [s] that increase and finite values, one column per channel.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from freefloat.telemetry.attitude import slerp, unit
from freefloat.telemetry.channel import Array

Method = Literal["spline", "linear", "hold"]
METHODS = ("spline", "linear", "hold")

# The low-pass filter, in shares of the new rate: what lies below the first passes, what lies
# above the second, where it would be aliased, is gone.
_PASSED, _STOPPED = 0.3, 0.5
_ATTENUATION = 80.0  # [dB]


def median_step(time: Array) -> float:
    """Return the median time between samples [s]; infinite with fewer than two."""
    return float(np.median(np.diff(time))) if time.size > 1 else np.inf


def interpolated(
    time: Array,
    values: Array,
    instants: Array,
    *,
    method: Method,
    max_gap: float,
    is_attitude: bool = False,
) -> Array:
    """Return the values at other instants; NaN before the first, after the last, and in gaps."""
    result = np.full((instants.size, values.shape[1]), np.nan)
    slack = 1e-6 * median_step(time) if time.size > 1 else 0.0  # for the rounding of instants
    for first, last in runs(time, max_gap=max_gap):
        t, y = time[first : last + 1], values[first : last + 1]
        inside = (instants >= t[0] - slack) & (instants <= t[-1] + slack)
        wanted = np.clip(instants[inside], t[0], t[-1])
        result[inside] = _between(t, y, wanted, method=method, is_attitude=is_attitude)
    return result


def runs(time: Array, *, max_gap: float) -> list[tuple[int, int]]:
    """Return first and last sample of every run of samples no further apart than `max_gap` [s].

    >>> runs(np.array([0.0, 1.0, 5.0]), max_gap=2.0)
    [(0, 1), (2, 2)]
    """
    if not time.size:
        return []
    breaks = np.flatnonzero(np.diff(time) > max_gap)
    return list(zip([0, *(breaks + 1).tolist()], [*breaks.tolist(), time.size - 1], strict=True))


def low_passed(
    time: Array, values: Array, *, rate: float, max_gap: float
) -> tuple[Array, Array, float]:
    """Return samples without what a lower sampling `rate` [Hz] cannot show.

    They come with the factor by which white noise has become smaller. The filter is a symmetric
    windowed sinc, so that nothing is delayed. At the ends the signal is continued by its point
    reflection, which leaves straight lines straight but the noise of the very last sample as is.
    """
    step = median_step(time)
    if not step * rate < 1.0 - 1e-6:
        return time, values, 1.0
    weights = _low_pass(step * rate)
    times, columns = [], []
    for first, last in runs(time, max_gap=max_gap):
        t, y = time[first : last + 1], values[first : last + 1]
        grid = t[0] + step * np.arange(round((t[-1] - t[0]) / step) + 1)
        grid = np.minimum(grid, t[-1])
        even = _between(t, y, grid, method="spline", is_attitude=False)
        times.append(grid)
        columns.append(np.column_stack([_filtered(column, weights) for column in even.T]))
    return np.concatenate(times), np.concatenate(columns), float(np.sqrt(np.sum(weights**2)))


def _between(t: Array, y: Array, wanted: Array, *, method: Method, is_attitude: bool) -> Array:
    """Values at instants within one run of samples."""
    before = np.clip(np.searchsorted(t, wanted, side="right") - 1, 0, max(t.size - 2, 0))
    if t.size == 1:
        return np.repeat(y, wanted.size, axis=0)
    if method == "hold":
        return y[np.searchsorted(t, wanted, side="right") - 1]
    if method == "spline" and t.size >= 4:
        from scipy.interpolate import CubicSpline

        curve = np.asarray(CubicSpline(t, y)(wanted))
        return unit(curve) if is_attitude else curve
    fraction = (wanted - t[before]) / (t[before + 1] - t[before])
    if is_attitude:
        return slerp(y[before], y[before + 1], fraction)
    return y[before] + fraction[:, None] * (y[before + 1] - y[before])


def _low_pass(share: float) -> Array:
    """Weights of a filter for a new rate that is `share` of the old one (Kaiser and Schafer)."""
    width = 2.0 * np.pi * share * (_STOPPED - _PASSED)
    half = int(np.ceil((_ATTENUATION - 8.0) / (2.285 * width) / 2.0))
    n = np.arange(-half, half + 1)
    middle = share * (_STOPPED + _PASSED)  # twice the middle of the transition, of the old rate
    weights = np.sinc(middle * n) * np.kaiser(n.size, 0.1102 * (_ATTENUATION - 8.7))
    return weights / np.sum(weights)


def _filtered(column: Array, weights: Array) -> Array:
    half = weights.size // 2
    if column.size < 2:
        return column
    padded = np.pad(column, half, mode="reflect", reflect_type="odd")
    return np.convolve(padded, weights, mode="valid")
