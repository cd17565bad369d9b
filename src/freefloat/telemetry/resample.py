"""One time base for all channels, without aliasing and without extrapolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.channel import Array, Channel, read_only
from freefloat.telemetry.clock_offsets import TimeOffset as TimeOffset
from freefloat.telemetry.clock_offsets import estimate_offset as estimate_offset
from freefloat.telemetry.interpolation import (
    METHODS,
    Method,
    interpolated,
    low_passed,
    median_step,
)
from freefloat.telemetry.lookup import different_times, misuse
from freefloat.telemetry.names import attitude_groups
from freefloat.telemetry.telemetry import Telemetry

_BRIDGED_STEPS = 5.0  # a longer gap between samples, in median steps, is not interpolated over


def resample(
    telemetry: Telemetry,
    rate: float | None = None,
    *,
    times: ArrayLike | None = None,
    method: Method = "spline",
    max_gap: float | None = None,
) -> Telemetry:
    """Return all channels at new instants: at a `rate` [Hz], or at the given `times` [s].

    `method` is "spline" (cubic), "linear", or "hold" (a sample counts until the next). Attitude
    quaternions are interpolated along the turn, whatever the signs of the samples, and stay unit
    quaternions. Angles `*.angle` that jump by a whole turn are unwound. Where the new rate is
    lower than that of a channel, components above 0.3 times the new rate are filtered out first,
    unless samples are held, and the noise is scaled accordingly.

    Nothing is extrapolated: before the first and after the last valid sample of a channel, and in
    gaps longer than `max_gap` [s] (five of its sampling steps unless given), samples are invalid.
    Samples interpolated between measured ones tell nothing new: their errors are correlated.

    >>> flight = Telemetry.from_arrays([0.0, 1.0, 2.0], {"base.angle": [0, 1, 2]})
    >>> resample(flight, 2.0, method="linear")["base.angle"].values.tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    if method not in METHODS:
        raise misuse("method", repr(method), " or ".join(map(repr, METHODS)))
    instants = _instants(telemetry, rate, times)
    resampled: dict[str, Channel] = {}
    groups = {f"{p}.{axis}": p for p in attitude_groups(telemetry.names) for axis in "xyzw"}
    for name, channel in telemetry.channels.items():
        if name in resampled:
            continue
        together = [channel]
        if name in groups:
            together = [telemetry[f"{groups[name]}.{axis}"] for axis in "xyzw"]
        made = _resampled(together, instants, method=method, max_gap=max_gap)
        resampled |= {new.name: new for new in made}
    ordered = [resampled[name] for name in telemetry.names]
    return Telemetry.of(ordered, telemetry.metadata, truth=telemetry.truth)


def align(
    telemetry: Telemetry, rate: float | None = None, *, method: Method = "spline"
) -> Telemetry:
    """Return all channels on one uniform time base, over the time that all of them cover.

    The rate [Hz] is that of the fastest channel unless given. Telemetry that already shares one
    time base is returned as it is. See `resample` for the rest.

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
        )
    rates = [channel.rate for channel in channels if np.isfinite(channel.rate)]
    chosen = _checked_rate(rate) if rate is not None else max(rates, default=1.0)
    return resample(telemetry, times=_grid(start, end, chosen), method=method)


def _instants(telemetry: Telemetry, rate: float | None, times: ArrayLike | None) -> Array:
    if (rate is None) == (times is None):
        raise misuse("resampling", "both or neither of rate and times", "one of them")
    if times is None:
        assert rate is not None
        return _grid(telemetry.start, telemetry.end, _checked_rate(rate))
    instants = np.array(times, dtype=np.float64)
    if instants.ndim != 1 or not np.isfinite(instants).all() or np.any(np.diff(instants) <= 0.0):
        raise misuse("times", f"an array of shape {instants.shape}", "increasing instants [s]")
    return read_only(instants)


def _checked_rate(rate: float) -> float:
    if not (np.isfinite(rate) and rate > 0.0):
        raise misuse("rate", repr(rate), "a positive number [Hz]")
    return float(rate)


def _grid(start: float, end: float, rate: float) -> Array:
    n = int(np.floor((end - start) * rate + 1e-6)) + 1
    return read_only(start + np.arange(n) / rate)


def _resampled(
    channels: list[Channel], instants: Array, *, method: Method, max_gap: float | None
) -> list[Channel]:
    """One channel at other instants, or the four of a quaternion."""
    is_attitude = len(channels) == 4
    time, values = _usable(channels)
    if is_attitude:
        values = continuous(unit(values))
    elif channels[0].name.endswith(".angle"):
        values = np.unwrap(values, axis=0)
    gap = _BRIDGED_STEPS * median_step(time) if max_gap is None else max_gap
    quieter = 1.0
    if method != "hold" and instants.size > 1:
        new_rate = 1.0 / median_step(instants)
        time, values, quieter = low_passed(time, values, rate=new_rate, max_gap=gap)
        values = unit(values) if is_attitude else values
    new = interpolated(time, values, instants, method=method, max_gap=gap, is_attitude=is_attitude)
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
