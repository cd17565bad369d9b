"""Smooth signals from noisy samples: values, rates and accelerations, with their own error bars.

Nothing has to be chosen: the samples themselves, or their noise if it is known, decide how much
smoothing is right. See `penalised_spline` for the method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from freefloat.errors import TelemetryError
from freefloat.telemetry.attitude import continuous, rate_and_acceleration, unit
from freefloat.telemetry.channel import Array, Mask
from freefloat.telemetry.names import misuse
from freefloat.telemetry.rate_samples import RateSamples

if TYPE_CHECKING:
    from freefloat.telemetry.penalised_spline import Curve

# Penalties tried for each degree of the splines: a low order for motion with kinks, a high one
# for motion that is smooth throughout.
_PENALTIES = {3: (2, 3), 5: (3, 5)}
# measured: tests/telemetry/test_smoothing.py: across more knots without a sample than this the
# penalised equations lose too many digits, so the knots are set wider
_BRIDGED_KNOTS = 60.0
MAX_GAP_STEPS = 20.0  # theory: a convention; motion over more steps than that is anybody's guess


@dataclass(frozen=True)
class SmoothSignal:
    """A smooth curve through the samples of one or several channels, ready to be differentiated.

    It is NaN outside the samples and in gaps too long to bridge. What describes it has one entry
    per channel. Derivatives are several times less certain at the very ends than the figures say,
    which hold away from them.
    """

    curves: tuple[Curve, ...]  # one per channel
    is_single: bool  # whether values come as a vector, as the samples did

    def value(self, t: ArrayLike) -> Array:
        """Return the values [unit] at instants `t` [s], one column per channel."""
        return self._derivative(t, 0)

    def rate(self, t: ArrayLike) -> Array:
        """Return the first derivatives [unit/s] at instants `t` [s]."""
        return self._derivative(t, 1)

    def acceleration(self, t: ArrayLike) -> Array:
        """Return the second derivatives [unit/s^2] at instants `t` [s]."""
        return self._derivative(t, 2)

    def all(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return values, rates and accelerations at instants `t` [s]."""
        return self.value(t), self.rate(t), self.acceleration(t)

    @property
    def noise(self) -> Array:
        """The standard deviation of the samples about the curve [unit]."""
        return np.array([curve.noise[0] for curve in self.curves])

    @property
    def value_noise(self) -> Array:
        """The standard deviation of the curve [unit]."""
        return np.array([curve.deviations[0, 0] for curve in self.curves])

    @property
    def rate_noise(self) -> Array:
        """The standard deviation of its first derivative [unit/s]."""
        return np.array([curve.deviations[1, 0] for curve in self.curves])

    @property
    def acceleration_noise(self) -> Array:
        """The standard deviation of its second derivative [unit/s^2]."""
        return np.array([curve.deviations[2, 0] for curve in self.curves])

    @property
    def cutoff(self) -> Array:
        """The frequency [Hz] above which components were taken for noise."""
        return np.array([curve.cutoff for curve in self.curves]) / (2.0 * np.pi)

    def _derivative(self, t: ArrayLike, derivative: int) -> Array:
        instants = np.asarray(t, dtype=np.float64)
        flat = np.atleast_1d(instants).ravel()
        columns = [_evaluate(curve, flat, derivative)[:, 0] for curve in self.curves]
        shape = instants.shape if self.is_single else (*instants.shape, len(columns))
        return np.column_stack(columns).reshape(shape)


@dataclass(frozen=True)
class SmoothAttitude:
    """A smooth attitude history, with its body rate and angular acceleration.

    It is NaN outside the samples and in gaps too long to bridge.
    """

    curve: Curve

    def attitude(self, t: ArrayLike) -> Array:
        """Return unit quaternions x, y, z, w at instants `t` [s]."""
        return unit(self._derivative(t, 0))

    def rate(self, t: ArrayLike) -> Array:
        """Return angular rates in body axes [rad/s] at instants `t` [s]."""
        return self.all(t)[1]

    def acceleration(self, t: ArrayLike) -> Array:
        """Return angular accelerations in body axes [rad/s^2] at instants `t` [s]."""
        return self.all(t)[2]

    def all(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return quaternions, body rates and body angular accelerations at instants `t` [s]."""
        s, ds, dds = (self._derivative(t, n) for n in range(3))
        return unit(s), *rate_and_acceleration(s, ds, dds)

    @property
    def noise(self) -> float:
        """The standard deviation of the samples about the history [rad], per axis."""
        return _angle(self.curve.noise)

    @property
    def rate_noise(self) -> float:
        """The standard deviation of the rate [rad/s], per axis, away from the ends."""
        return _angle(self.curve.deviations[1])

    @property
    def acceleration_noise(self) -> float:
        """The standard deviation of the acceleration [rad/s^2], per axis, away from the ends."""
        return _angle(self.curve.deviations[2])

    def _derivative(self, t: ArrayLike, derivative: int) -> Array:
        instants = np.asarray(t, dtype=np.float64)
        rows = _evaluate(self.curve, np.atleast_1d(instants).ravel(), derivative)
        return rows.reshape(*instants.shape, 4)


def smooth(
    time: ArrayLike,
    values: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    valid: ArrayLike | None = None,
    order: int = 5,
    max_gap: float | None = None,
    max_gap_steps: float = MAX_GAP_STEPS,
    rates: RateSamples | None = None,
) -> SmoothSignal:
    """Return the smooth curve that samples at instants `time` [s] support.

    Args:
        time: The instants [s], in any order.
        values: One column per channel, or a vector. Samples that are NaN do not count.
        noise: Standard deviation of the white noise on the values, one number or one per channel;
            without it cross-validation finds it.
        valid: Which samples count.
        order: Degree of the splines: 5, for a second derivative that is itself smooth, or 3.
        max_gap: A longer gap [s] is not bridged; or, unless given,
        max_gap_steps: the same in median sampling steps. Asked to bridge more than sixty, the
            curve becomes coarser throughout.
        rates: Samples of the derivative of a single channel, where those of the values are missing.

    Returns:
        Value, rate and acceleration at any instant, and their standard deviations.

    Raises:
        TelemetryError: There are too few samples, or arguments of different lengths.

    >>> t = np.linspace(0.0, 10.0, 501)
    >>> noisy = np.sin(t) + 1e-3 * np.random.default_rng(0).normal(size=t.size)
    >>> signal = smooth(t, noisy)
    >>> bool(abs(signal.rate(5.0) - np.cos(5.0)) < 1e-3), round(float(signal.noise[0]), 4)
    (True, 0.001)
    """
    instants, columns = _samples(time, values, valid=valid, order=order)
    n_channels = columns.shape[1]
    sigmas = np.broadcast_to(np.asarray(0.0 if noise is None else noise, float), n_channels)
    curves: dict[int, Curve] = {}
    for channels in _alike(np.isfinite(columns)):
        fitted = _fit(
            instants,
            columns[:, channels],
            noise=sigmas[channels],
            order=order,
            longest=(max_gap, max_gap_steps),
            rates=rates,
        )
        curves |= dict(zip(channels, fitted, strict=True))
    return SmoothSignal(tuple(curves[n] for n in range(n_channels)), np.ndim(values) == 1)


def smooth_attitude(
    time: ArrayLike,
    quaternions: ArrayLike,
    *,
    noise: float | None = None,
    valid: ArrayLike | None = None,
    order: int = 5,
    max_gap: float | None = None,
    max_gap_steps: float = MAX_GAP_STEPS,
) -> SmoothAttitude:
    """Return the smooth attitude history that quaternions x, y, z, w at `time` [s] support.

    Args:
        time: The instants [s], in any order.
        quaternions: Four columns; signs may flip and norms may be off. Rows with NaN do not count.
        noise: Standard deviation of the attitude about each axis [rad]; without it
            cross-validation finds it.
        valid, order, max_gap, max_gap_steps: As for `smooth`.

    Returns:
        Attitude, body rate [rad/s] and angular acceleration [rad/s^2] at any instant.

    Raises:
        TelemetryError: There are too few samples, or arguments of different lengths.

    >>> t = np.linspace(0.0, 10.0, 501)
    >>> spin = np.column_stack([0 * t, 0 * t, np.sin(0.2 * t), np.cos(0.2 * t)])
    >>> smooth_attitude(t, spin).rate(5.0).round(9).tolist()
    [0.0, 0.0, 0.4]
    """
    instants, rows = _samples(time, quaternions, valid=valid, order=order)
    if rows.shape[1] != 4:
        value = f"{rows.shape[1]} columns"
        raise misuse("quaternions", value, "four: x, y, z, w", code="samples.shape")
    rows = unit(rows)
    is_good = np.isfinite(rows).all(axis=1)
    rows[is_good] = continuous(rows[is_good])
    # A turn by a small angle moves q by half of it, in three of its four dimensions.
    known = np.full(4, np.sqrt(0.75) * 0.5 * (noise or 0.0))
    longest = (max_gap, max_gap_steps)
    curves = _fit(instants, rows, noise=known, order=order, longest=longest, is_joint=True)
    return SmoothAttitude(curves[0])


def long_gaps(time: Array) -> list[tuple[float, float]]:
    """The gaps between samples [s] that `smooth` does not bridge unless told to.

    >>> long_gaps(np.array([0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2]))
    [(0.3, 9.0)]
    """
    steps = np.diff(time)
    if not np.any(steps > 0.0):
        return []
    breaks = _breaks(steps, float(np.median(steps[steps > 0.0])), (None, MAX_GAP_STEPS))
    return [(float(time[k]), float(time[k + 1])) for k in breaks]


def _breaks(steps: Array, step: float, longest: tuple[float | None, float]) -> NDArray[np.intp]:
    """The steps that are too long to bridge."""
    return np.flatnonzero(steps > (longest[1] * step if longest[0] is None else longest[0]))


def _samples(
    time: ArrayLike, values: ArrayLike, *, valid: ArrayLike | None, order: int
) -> tuple[Array, Array]:
    """The samples in time order, one column per channel, those not valid as NaN."""
    if order not in _PENALTIES:
        expected = f"one of {', '.join(map(str, _PENALTIES))}"
        raise misuse("order", repr(order), expected, code="option.choice")
    instants, columns = np.asarray(time, dtype=np.float64), np.array(values, dtype=np.float64)
    if instants.ndim != 1 or columns.ndim not in (1, 2) or len(columns) != len(instants):
        shapes = f"times of shape {instants.shape} and values of shape {columns.shape}"
        expected = "n times and n values, or n rows of values"
        raise misuse("samples", shapes, expected, code="samples.shape")
    if not np.isfinite(instants).all():
        value = "times that are not finite"
        raise misuse("samples", value, "finite times [s]", code="time.invalid")
    if valid is not None:
        columns[~np.broadcast_to(np.asarray(valid, dtype=bool).T, columns.T.shape).T] = np.nan
    columns[~np.isfinite(columns)] = np.nan
    sorting = np.argsort(instants, kind="stable")
    return instants[sorting], columns.reshape(len(columns), -1)[sorting]


def _alike(is_good: Mask) -> list[list[int]]:
    """The channels, those with the same good samples together: they share the heavy work."""
    groups: dict[bytes, list[int]] = {}
    for n, column in enumerate(is_good.T):
        groups.setdefault(column.tobytes(), []).append(n)
    return list(groups.values())


def _fit(
    time: Array,
    values: Array,
    *,
    noise: Array,
    order: int,
    longest: tuple[float | None, float],
    is_joint: bool = False,
    rates: RateSamples | None = None,
) -> list[Curve]:
    from freefloat.telemetry.penalised_spline import SplineProblem, fit_curves
    from freefloat.telemetry.spline_basis import SplineBasis

    is_good = np.isfinite(values).all(axis=1)
    time, values = time[is_good], values[is_good]
    told = time if rates is None else np.union1d(time, rates.time)
    step, segments = _segments(told, longest=longest, least=order + 3)
    bridged = max(np.diff(told[first : last + 1]).max() for first, last in segments)
    spacing = max(step, bridged / _BRIDGED_KNOTS)
    basis = SplineBasis(order, spacing, told[segments[:, 0]], told[segments[:, 1]])
    used = basis.rows(time).is_inside
    problem = SplineProblem(basis, time[used], values[used], 0, noise, is_joint, rates)
    fits = [fit_curves(replace(problem, order=penalty)) for penalty in _PENALTIES[order]]
    return [min(curves, key=lambda curve: curve.score) for curves in zip(*fits, strict=True)]


def _segments(
    time: Array, *, longest: tuple[float | None, float], least: int
) -> tuple[float, np.ndarray]:
    """The median step [s], and first and last sample of every run of samples without a long gap."""
    steps = np.diff(time)
    if not np.any(steps > 0.0):
        raise _too_few(np.unique(time).size, least)
    step = float(np.median(steps[steps > 0.0]))
    breaks = _breaks(steps, step, longest)
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, time.size - 1)
    # Instants, not samples: a repeated time tells nothing new about the course of the signal.
    counts = np.append(0, np.cumsum(steps > 0.0))
    n_instants = counts[lasts] - counts[firsts] + 1
    if n_instants.max() < least:
        raise _too_few(int(n_instants.max()), least)
    return step, np.column_stack([firsts, lasts])[n_instants >= least]


def _too_few(found: int, least: int) -> TelemetryError:
    value = f"at most {found} usable samples without a gap between them"
    remedy = "give more samples or a larger max_gap"
    return misuse("samples", value, f"at least {least}", remedy, code="samples.few")


def _evaluate(curve: Curve, time: Array, derivative: int) -> Array:
    return curve.basis.rows(time).curve(curve.coefficients, derivative=derivative)


def _angle(deviations: Array) -> float:
    """The deviation of an angle [rad, ...] from those of the four components of a quaternion."""
    return float(np.sqrt(4.0 / 3.0 * np.sum(deviations**2)))
