"""One time base for all channels, without aliasing and without extrapolation."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from freefloat.telemetry.attitude import continuous, slerp, unit
from freefloat.telemetry.channel import Array, Channel, read_only
from freefloat.telemetry.names import XYZW, ChannelName, attitude_groups, misuse
from freefloat.telemetry.telemetry import Telemetry, different_times

Method = Literal["spline", "linear", "hold"]
METHODS = ("spline", "linear", "hold")

# theory: the low-pass filter, in shares of the new rate: what lies above the second, the Nyquist
# frequency, would be aliased and is gone; what lies below the first passes. A narrower band between
# the two needs a longer filter: this one takes 25 new samples, (80 - 8) / (2.285 * 2 pi * 0.2)
_PASSED, _STOPPED = 0.3, 0.5
_ATTENUATION = 80.0  # theory: [dB]; 1e-4 of the amplitude is below the noise of most sensors


def resample(
    telemetry: Telemetry,
    rate: float | None = None,
    *,
    times: ArrayLike | None = None,
    method: Method = "spline",
    max_gap: float | None = None,
    max_gap_steps: float = 5.0,
) -> Telemetry:
    """Return all channels at new instants: at a `rate` [Hz], or at the given `times` [s].

    Attitude quaternions are interpolated along the rotation, whatever the signs of the samples, and
    stay unit quaternions. Angles `*.angle` that jump by a whole turn are unwound. Where the new
    rate is lower than that of a channel, components above 0.3 times the new rate are filtered out
    first, unless samples are held, and the noise is scaled accordingly. Nothing is extrapolated:
    before the first and after the last valid sample of a channel, and in long gaps, samples are
    invalid. Samples interpolated between measured ones tell nothing new: their errors are
    correlated.

    Args:
        telemetry: The recording.
        rate: The new sampling rate [Hz]; or
        times: the new instants [s], increasing.
        method: "spline" (cubic), "linear", or "hold" (a sample counts until the next).
        max_gap: A longer gap [s] is not interpolated over; or, unless given,
        max_gap_steps: the same in median sampling steps of the channel.

    Returns:
        The same channels at the new instants; the truth, if any, as it was.

    Raises:
        TelemetryError: Both or neither of `rate` and `times` are given, or one is unusable.

    >>> flight = Telemetry.from_arrays([0.0, 1.0, 2.0], {"base.angle": [0, 1, 2]})
    >>> resample(flight, 2.0, method="linear")["base.angle"].values.tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    if method not in METHODS:
        expected = " or ".join(map(repr, METHODS))
        raise misuse("method", repr(method), expected, code="option.choice")
    instants = _instants(telemetry, rate, times)
    resampled: dict[str, Channel] = {}
    attitudes = [ChannelName.parse(g).along(XYZW) for g in attitude_groups(telemetry.names)]
    groups = {name: names for names in attitudes for name in names}
    for name in telemetry.names:
        if name in resampled:
            continue
        together = [telemetry[one] for one in groups.get(name, (name,))]
        gap = (max_gap, max_gap_steps)
        made = _resample_group(together, instants, method=method, longest=gap)
        resampled |= {new.name: new for new in made}
    ordered = [resampled[name] for name in telemetry.names]
    return Telemetry.of(ordered, telemetry.metadata, truth=telemetry.truth)


def align(
    telemetry: Telemetry, rate: float | None = None, *, method: Method = "spline"
) -> Telemetry:
    """Return all channels on one uniform time base, over the time that all of them cover.

    Telemetry that already shares one time base is returned as it is. See `resample` for what
    happens between samples.

    Args:
        telemetry: The recording.
        rate: Of the time base [Hz]; that of the fastest channel unless given.
        method: "spline" (cubic), "linear", or "hold" (a sample counts until the next).

    Returns:
        The same channels, all at the same instants.

    Raises:
        TelemetryError: The channels have no time in common, or an argument is unusable.

    >>> fast = Telemetry.from_arrays([0.0, 1.0, 2.0, 3.0], {"a.angle": [0, 1, 2, 3]})
    >>> slow = Telemetry.from_arrays([0.5, 2.5], {"b.angle": [0, 2]})
    >>> both = align(fast.with_channels(slow["b.angle"]), method="linear")
    >>> both.matrix("*.angle")[1].tolist()
    [[0.5, 0.0], [1.5, 1.0], [2.5, 2.0]]
    """
    channels = [channel for channel in telemetry.channels.values() if channel.n_samples]
    bases = {channel.time.tobytes() for channel in channels}
    if rate is None and len(bases) <= 1:
        return telemetry
    start = max(float(channel.time.min()) for channel in channels)
    end = min(float(channel.time.max()) for channel in channels)
    if start > end:
        raise misuse(
            "channels",
            f"one that starts at {start:.9g} s and one that ends at {end:.9g} s",
            "channels that overlap in time",
            "shift their clocks, or leave out one of them",
            code="telemetry.overlap",
        )
    rates = [channel.rate for channel in channels if np.isfinite(channel.rate)]
    chosen = _check_rate(rate) if rate is not None else max(rates, default=1.0)
    return resample(telemetry, times=_grid(start, end, chosen), method=method)


def _instants(telemetry: Telemetry, rate: float | None, times: ArrayLike | None) -> Array:
    if (rate is None) == (times is None):
        value = "both or neither of rate and times"
        raise misuse("resampling", value, "one of them", code="option.conflict")
    if times is None:
        assert rate is not None
        return _grid(telemetry.start, telemetry.end, _check_rate(rate))
    instants = np.array(times, dtype=np.float64)
    if instants.ndim != 1 or not np.isfinite(instants).all() or np.any(np.diff(instants) <= 0.0):
        value = f"an array of shape {instants.shape}"
        raise misuse("times", value, "increasing instants [s]", code="option.order")
    return read_only(instants)


def _check_rate(rate: float) -> float:
    if not (np.isfinite(rate) and rate > 0.0):
        raise misuse("rate", repr(rate), "a positive number [Hz]", code="option.range")
    return float(rate)


def _grid(start: float, end: float, rate: float) -> Array:
    n = int(np.floor((end - start) * rate + 1e-6)) + 1
    return read_only(start + np.arange(n) / rate)


def _resample_group(
    channels: list[Channel], instants: Array, *, method: Method, longest: tuple[float | None, float]
) -> list[Channel]:
    """One channel at other instants, or the four of a quaternion."""
    is_attitude = len(channels) == 4
    time, values = _usable(channels)
    if is_attitude:
        values = continuous(unit(values))
    elif ChannelName.parse(channels[0].name).is_scalar("angle"):
        values = np.unwrap(values, axis=0)
    gap = longest[1] * median_step(time) if longest[0] is None else longest[0]
    quieter = 1.0
    if method != "hold" and instants.size > 1:
        new_rate = 1.0 / median_step(instants)
        time, values, quieter = low_pass(time, values, rate=new_rate, max_gap=gap)
        values = unit(values) if is_attitude else values
    new = interpolate(time, values, instants, method=method, max_gap=gap, is_attitude=is_attitude)
    return [
        Channel(
            c.name, c.unit, instants, column, None, None if c.noise is None else c.noise * quieter
        )
        for c, column in zip(channels, new.T, strict=True)
    ]


def _usable(channels: list[Channel]) -> tuple[Array, Array]:
    """Valid samples in time order, one column per channel, each instant once."""
    if len(channels) == 1:
        time, values = channels[0].usable()
        return time, values[:, None]
    first = channels[0]
    for channel in channels[1:]:
        if not np.array_equal(channel.time, first.time):
            raise different_times(first, channel)
    values = np.column_stack([channel.values for channel in channels])
    norm = np.linalg.norm(values, axis=1)
    is_good = np.isfinite(norm) & (norm > 0.0)
    time, unique = np.unique(first.time[is_good], return_index=True)
    return time, values[is_good][unique]


def median_step(time: Array) -> float:
    """Return the median time between samples [s]; infinite with fewer than two."""
    return float(np.median(np.diff(time))) if time.size > 1 else np.inf


def interpolate(
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


def low_pass(
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
    weights = _low_pass_weights(step * rate)
    times, columns = [], []
    for first, last in runs(time, max_gap=max_gap):
        t, y = time[first : last + 1], values[first : last + 1]
        grid = t[0] + step * np.arange(round((t[-1] - t[0]) / step) + 1)
        grid = np.minimum(grid, t[-1])
        even = _between(t, y, grid, method="spline", is_attitude=False)
        times.append(grid)
        columns.append(np.column_stack([_filter(column, weights) for column in even.T]))
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


def _low_pass_weights(share: float) -> Array:
    """Weights of a filter for a new rate that is `share` of the old one (Kaiser and Schafer)."""
    width = 2.0 * np.pi * share * (_STOPPED - _PASSED)
    half = int(np.ceil((_ATTENUATION - 8.0) / (2.285 * width) / 2.0))
    n = np.arange(-half, half + 1)
    middle = share * (_STOPPED + _PASSED)  # twice the middle of the transition, of the old rate
    weights = np.sinc(middle * n) * np.kaiser(n.size, 0.1102 * (_ATTENUATION - 8.7))
    return weights / np.sum(weights)


def _filter(column: Array, weights: Array) -> Array:
    half = weights.size // 2
    if column.size < 2:
        return column
    padded = np.pad(column, half, mode="reflect", reflect_type="odd")
    return np.convolve(padded, weights, mode="valid")
