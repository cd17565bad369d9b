"""One channel: the samples of one quantity, each with its own instant and validity."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from freefloat.arrays import Array
from freefloat.errors import Fault, TelemetryError
from freefloat.telemetry.names import misuse, name_fault
from freefloat.telemetry.units import accepted_units, si_unit

Mask = NDArray[np.bool_]
# theory: [s] from zero, 30 000 years: a time beyond was not in seconds
LATEST = 1e12
# theory: [SI units]; a thousand times the way to the outer planets in metres, and no other quantity
# of a robot comes near: a larger number was never measured, nor has its square room in sums
ABSURD = 1e15
# theory: [SI units] of a noise; far below what a double resolves of any reading, and its square
# is still a number to divide by
FAINTEST = 1e-100
_SAME_INSTANT = 1e-9  # theory: [s]; 3 * 0.1 and 0.3 are the same instant, and no clock is finer
MAD = 1.4826  # theory: standard deviation of a normal variable over its median absolute deviation
TIME_EXPECTED = f"a finite time, at most {LATEST:g} s from zero"
AnyArray = TypeVar("AnyArray", bound=np.ndarray)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Channel:
    """The samples of one quantity: `time` [s], `values` [unit], `valid`, and their `noise` [unit].

    `unit` is an SI unit. `noise` is the standard deviation of the noise on a single sample, white
    and coloured together, or None when it is not known. A sample that is not valid holds NaN,
    whatever it held before, so that no calculation can use it by mistake; a value that is not
    finite is never valid. All arrays are read-only. Two channels are equal when every bit of them
    is.

    >>> rate = Channel("base.rate.x", "rad/s", [0.0, 0.1], [1e-3, float("inf")])
    >>> rate.valid.tolist(), rate.n_samples, rate.n_invalid
    ([True, False], 2, 1)
    """

    name: str
    unit: str
    time: Array
    values: Array
    valid: Mask
    noise: float | None

    def __init__(
        self,
        name: str,
        unit: str,
        time: ArrayLike,
        values: ArrayLike,
        valid: ArrayLike | None = None,
        noise: float | None = None,
    ) -> None:
        instants, numbers = _instants(name, time), column_of(name, "values", values)
        mask = np.isfinite(numbers)
        if valid is not None:
            flags = _flags(name, valid)
            mask = mask & flags if mask.shape == flags.shape else flags
        fields = {
            "name": _check_name(name),
            "unit": _check_unit(name, unit),
            "time": instants,
            "values": _blank_invalid(numbers, mask),
            "valid": read_only(mask),
            "noise": _check_noise(name, noise),
        }
        if not instants.shape == numbers.shape == mask.shape:
            sizes = f"{instants.size} instants, {numbers.size} values, {mask.size} flags"
            raise _channel_error(
                name, sizes, "equally many", "give one value for each instant", "length"
            )
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @property
    def n_samples(self) -> int:
        """The number of samples, valid or not."""
        return self.time.size

    @property
    def n_invalid(self) -> int:
        """The number of samples that were taken but cannot be used."""
        return self.time.size - int(np.count_nonzero(self.valid))

    @property
    def rate(self) -> float:
        """The sampling rate [Hz], from the median step; NaN with fewer than two instants."""
        steps = np.diff(self.time)
        steps = steps[steps > 0.0]
        return float(1.0 / np.median(steps)) if steps.size else float("nan")

    def usable(self) -> tuple[Array, Array]:
        """Return instants [s] and values of the valid samples, in time order, each instant once.

        Of several samples at one instant the first counts.
        """
        time, values = self.time[self.valid], self.values[self.valid]
        if np.any(np.diff(time) <= 0.0):
            time, first = np.unique(time, return_index=True)
            values = values[first]
        return time, values

    def values_at(self, instants: Array) -> Array:
        """Return the values of the samples taken at `instants` [s]; NaN where invalid.

        Nothing is interpolated: TelemetryError where there is no sample within a nanosecond.
        """
        order = np.argsort(self.time, kind="stable")
        times = np.concatenate([[-np.inf], self.time[order], [np.inf]])
        after = np.searchsorted(times[1:-1], instants) + 1
        nearest = np.where(times[after] - instants <= instants - times[after - 1], after, after - 1)
        missing = instants[~(np.abs(times[nearest] - instants) <= _SAME_INSTANT)]
        if missing.size:
            shown = f"{missing[0]:.9g} s ({missing.size} of {instants.size} instants missing)"
            raise misuse(
                f"channel {self.name!r}",
                f"no sample at {shown}",
                "a sample at each instant asked for",
                "use resample(telemetry, times=...) to interpolate",
                code="telemetry.no_sample",
            )
        return self.values[order][nearest - 1]

    def select(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Channel:
        """Return the channel with the samples `which` (a mask or indices) only."""
        time, values, valid = self.time[which], self.values[which], self.valid[which]
        return Channel(self.name, self.unit, read_only(time), values, valid, self.noise)

    def with_name(self, name: str) -> Channel:
        """Return the same samples under another name."""
        return Channel(name, self.unit, self.time, self.values, self.valid, self.noise)

    def with_time(self, time: ArrayLike) -> Channel:
        """Return the same values at other instants [s]."""
        return Channel(self.name, self.unit, time, self.values, self.valid, self.noise)

    def with_noise(self, noise: float | None) -> Channel:
        """Return the same samples with another standard deviation of the noise [unit]."""
        return Channel(self.name, self.unit, self.time, self.values, self.valid, noise)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        if (self.name, self.unit, self.noise) != (other.name, other.unit, other.noise):
            return False
        # Bytes, not numbers: NaN equals NaN here and -0.0 differs from 0.0.
        pairs = ((self.time, other.time), (self.values, other.values), (self.valid, other.valid))
        return all(a is b or a.tobytes() == b.tobytes() for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Channel({self.name!r}, {self.unit!r}, {self.n_samples} samples)"

    def __reduce__(self) -> tuple[object, ...]:
        # Through __init__, so that a copy sent to another process is read-only again.
        fields = (self.name, self.unit, self.time, self.values, self.valid, self.noise)
        return Channel, fields


def noise_floor(channel: Channel) -> float:
    """A floor for the noise of any channel [unit]: 1e-9 of its size; nothing is known better."""
    return noise_floor_of(channel.values[channel.valid])


def noise_floor_of(values: Array) -> float:
    """The same of values [unit]."""
    return 1e-9 * max(float(np.max(np.abs(values), initial=0.0)), 1e-3)


def estimate_noise(channel: Channel) -> float:
    """The white noise of a smooth channel [unit], from fourth differences (robust to outliers).

    The fourth difference removes a cubic trend, and its variance is 1 + 16 + 36 + 16 + 1 = 70
    times that of white noise. A coarse sensor has at least the noise of its rounding,
    step / sqrt(12).

    >>> t = np.linspace(0.0, 10.0, 1001)
    >>> noisy = np.sin(t) + 0.01 * np.random.default_rng(0).normal(size=1001)
    >>> round(estimate_noise(Channel("base.rate.x", "rad/s", t, noisy)), 3)
    0.01
    """
    return noise_of(channel.usable()[1])


def noise_of(values: Array) -> float:
    """The same of the values that can be used [unit]."""
    if len(values) < 9:
        return 0.0
    steps = np.abs(np.diff(values))
    rounding = np.min(steps[steps > 0.0], initial=np.inf)
    is_coarse = np.mean(steps == 0.0) > 0.2
    sigma = float(MAD * np.median(np.abs(np.diff(values, 4))) / np.sqrt(70.0))
    return max(sigma, float(rounding) / np.sqrt(12.0)) if is_coarse and steps.any() else sigma


def read_only(array: AnyArray) -> AnyArray:
    """Return `array` itself, from now on read-only."""
    array.setflags(write=False)
    return array


def _check_name(name: str) -> str:
    forbidden = name_fault(name) if isinstance(name, str) else "it is no text"
    if forbidden:
        expected = "a name such as 'base.rate.x' or 'elbow.position'"
        raise _channel_error(name, f"an unusable name: {forbidden}", expected, "rename it", "name")
    return name


def _instants(name: str, time: ArrayLike) -> Array:
    instants = column_of(name, "time", time)
    is_bad = ~(np.abs(instants) <= LATEST)  # true for NaN as well
    if is_bad.any():
        n = int(np.argmax(is_bad))
        raise _channel_error(
            name, f"time {instants[n]} s at sample {n}", TIME_EXPECTED, "drop or convert it", "time"
        )
    if np.any(np.signbit(instants) & (instants == 0.0)):
        instants = read_only(instants + 0.0)  # one zero only, or equal instants would differ
    return instants


def column_of(name: str, what: str, data: ArrayLike) -> Array:
    """Return `data` as read-only numbers in one dimension; raise TelemetryError if it is not.

    Masked entries become NaN. Dates and durations become seconds, dates from 1970 on.

    >>> column_of("base.rate.x", "values", np.ma.masked_greater([1.0, 2.0], 1.5)).tolist()
    [1.0, nan]
    """
    try:
        array = _real_numbers(data)
    except (TypeError, ValueError, OverflowError) as error:
        raise _channel_error(
            name, f"{what}: {error}", "real numbers", "convert them", "type"
        ) from error
    if array.ndim != 1:
        shape = f"{what} of shape {array.shape}"
        raise _channel_error(
            name, shape, "one dimension", "make one channel of each column", "shape"
        )
    # An array that is read-only already is shared: a thousand channels, one time base.
    return array if not array.flags.writeable else read_only(array.copy())


def _real_numbers(data: ArrayLike) -> Array:
    """`data` as float64; TypeError for what is only convertible by losing something."""
    if type(data) is np.ndarray and data.dtype == np.float64:
        return data
    given = np.asanyarray(data)
    kind = given.dtype.kind
    if kind in "mM":
        days = given - np.datetime64(0, "D") if kind == "M" else given
        return np.where(np.isnat(days), np.nan, days / np.timedelta64(1, "s"))
    if kind not in "biuf" and given.size:
        raise TypeError(f"{given.dtype.name} instead of numbers")
    if isinstance(given, np.ma.MaskedArray):
        return np.ma.filled(given.astype(np.float64), np.nan)
    return np.asarray(given, dtype=np.float64)


def _flags(name: str, valid: ArrayLike) -> Mask:
    """`valid` as truth values; a masked one is not valid."""
    flags = np.asanyarray(valid)
    if flags.dtype.kind not in "biu":
        found = f"valid: {flags.dtype.name}"
        raise _channel_error(name, found, "truth values", "give True or False for each", "type")
    flags = flags.filled(False) if isinstance(flags, np.ma.MaskedArray) else flags
    return np.asarray(flags, dtype=bool)


def _blank_invalid(values: Array, valid: Mask) -> Array:
    if valid.shape != values.shape or valid.all():
        return values
    return read_only(np.where(valid, values, np.nan))


def _check_unit(name: str, unit: str) -> str:
    known = si_unit(unit) if isinstance(unit, str) else None
    if known == (unit, 1.0):
        return unit
    if known:
        remedy = f"multiply the values by {known[1]!r} and write {known[0]!r}"
    else:
        remedy = "convert the values"
    expected = "an SI unit: " + ", ".join(u for u in accepted_units() if si_unit(u) == (u, 1.0))
    raise _channel_error(name, f"unit {unit!r}", expected, remedy, "unit")


def _check_noise(name: str, noise: float | None) -> float | None:
    if noise is None:
        return None
    if not is_noise(noise):
        expected = "a standard deviation >= 0 in the unit of the channel, or None"
        raise _channel_error(name, f"noise {noise!r}", expected, "leave it out if unknown", "noise")
    return float(noise)


def is_noise(value: object) -> bool:
    """Whether this can be the standard deviation of a noise [unit].

    >>> [is_noise(value) for value in (1e-5, 0, -1.0, 1e160, float("nan"), "1", True)]
    [True, True, False, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    sigma = float(value)
    return 0.0 <= sigma <= ABSURD and (sigma == 0.0 or sigma >= FAINTEST)


def _channel_error(name: str, value: str, expected: str, remedy: str, kind: str) -> TelemetryError:
    place = f"channel {name!r}"
    fault = Fault(place, value, expected, remedy, f"channel.{kind}")
    return TelemetryError(f"{place} is not usable", [fault])
