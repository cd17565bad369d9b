"""Ways for a coordinate to move: each gives position, rate and acceleration at any time.

All are twice continuously differentiable inside the plan, as RK4 needs to keep its order. Outside
their own span they stay where they ended. Radians and seconds (metres for prismatic joints).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.records.values import Bounds

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

Three = tuple[Array, Array, Array]
# theory: [s] whose sixth powers, of bases and their derivatives, are still ordinary numbers
SHORTEST, LONGEST = 1e-6, 1e9
Duration = Annotated[
    float, Bounds(least=SHORTEST, most=LONGEST, unit="s", remedy="give a time in seconds")
]


class Motion(Protocol):
    """Anything that moves a coordinate."""

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        ...


def smooth_step(s: Array) -> Three:
    """The quintic from 0 to 1 for s from 0 to 1, with its two derivatives; flat outside."""
    s = np.clip(s, 0.0, 1.0)
    value = s**3 * (10.0 + s * (-15.0 + 6.0 * s))
    slope = 30.0 * s**2 * (1.0 - s) ** 2
    curve = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    return value, slope, curve


@dataclass(frozen=True)
class Hold:
    """Stay at `value` [rad]."""

    value: float
    kind: Literal["hold"] = "hold"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        zero = np.zeros_like(t)
        return zero + self.value, zero, zero.copy()


@dataclass(frozen=True)
class Fourier:
    """A truncated Fourier series plus the quintic that fixes both ends (paper 003, eq. 12).

    q = sum_l a_l / (w l) sin(w l t) - b_l / (w l) cos(w l t) + quintic, w = 2 pi / duration; the
    quintic makes q = first and last, at rest, at the ends. a and b are in rad/s.
    """

    duration: Duration
    a: tuple[float, ...]
    b: tuple[float, ...]
    first: float = 0.0
    last: float = 0.0
    kind: Literal["fourier"] = "fourier"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        t = np.clip(t, 0.0, self.duration)
        q, dq, ddq = self._series(t)
        for power, c in enumerate(self._quintic):
            q = q + c * t**power
            if power >= 1:
                dq = dq + power * c * t ** (power - 1)
            if power >= 2:
                ddq = ddq + power * (power - 1) * c * t ** (power - 2)
        return q, dq, ddq

    def _series(self, t: Array) -> Three:
        w = 2.0 * np.pi / self.duration * np.arange(1, 1 + len(self.a))
        angle = np.multiply.outer(t, w)
        s, c, a, b = np.sin(angle), np.cos(angle), np.array(self.a), np.array(self.b)
        return (s * a - c * b) @ (1.0 / w), c @ a + s @ b, (c * b - s * a) @ w

    @cached_property
    def _quintic(self) -> Array:
        ends = np.array([0.0, self.duration])
        rows, wanted = [], []
        for order, (series, goal) in enumerate(
            zip(self._series(ends), ((self.first, self.last), (0, 0), (0, 0)), strict=True)
        ):
            for k in range(2):
                powers = np.arange(6)
                factor = [np.prod(p - np.arange(order)) if p >= order else 0.0 for p in powers]
                rows.append(factor * ends[k] ** np.maximum(powers - order, 0))
                wanted.append(goal[k] - series[k])
        return np.linalg.solve(np.array(rows), np.array(wanted))


@dataclass(frozen=True)
class Sinusoid:
    """A cosine about `center` with a smooth entry from `first` and exit to it (paper 002, eq. 27).

    q = first + s(t) (center - first + amplitude cos(2 pi t / period + phase)), s rising over
    `ramp` [s] and falling over the last `ramp` of `duration`.
    """

    duration: Duration
    center: float
    amplitude: float
    period: Duration
    ramp: Duration
    first: float = 0.0
    phase: float = 0.0
    kind: Literal["sinusoid"] = "sinusoid"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        w = 2.0 * np.pi / self.period
        c, s = np.cos(w * t + self.phase), np.sin(w * t + self.phase)
        wave = self.center - self.first + self.amplitude * c
        slope, curve = -self.amplitude * w * s, -self.amplitude * w * w * c
        return _swing_in(t, (wave, slope, curve), self.first, self.ramp, self.duration)


def _swing_in(t: Array, wave: Three, first: float, ramp: float, duration: float) -> Three:
    """first + s(t) wave(t), s rising over `ramp` and falling over the last of it."""
    up, dup, ddup = smooth_step(t / ramp)
    down, ddown, dddown = smooth_step((duration - t) / ramp)
    g = up * down
    dg = (dup * down - up * ddown) / ramp
    ddg = (ddup * down - 2.0 * dup * ddown + up * dddown) / ramp**2
    q, dq, ddq = wave
    return first + g * q, dg * q + g * dq, ddg * q + 2.0 * dg * dq + g * ddq


@dataclass(frozen=True)
class Multisine:
    """Sines and cosines about `center` with a smooth entry from `first` and exit to it.

    q = first + s(t) (center - first + sum_l cosines_l cos(w l t) + sines_l sin(w l t)), w = 2 pi /
    duration, with s of `Sinusoid`. Unlike `Fourier` nothing is at another frequency than asked for
    while s is one.
    """

    duration: Duration
    center: float
    cosines: tuple[float, ...]
    sines: tuple[float, ...]
    ramp: Duration
    first: float = 0.0
    kind: Literal["multisine"] = "multisine"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        w = 2.0 * np.pi / self.duration * np.arange(1, 1 + len(self.cosines))
        angle = np.multiply.outer(t, w)
        c, s, a, b = np.cos(angle), np.sin(angle), np.array(self.cosines), np.array(self.sines)
        wave = self.center - self.first + c @ a + s @ b
        slope, curve = c @ (w * b) - s @ (w * a), -(c @ (w * w * a) + s @ (w * w * b))
        return _swing_in(t, (wave, slope, curve), self.first, self.ramp, self.duration)


@dataclass(frozen=True)
class Moves:
    """Quintic moves from value to value, at rest at each of the times [s]."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    kind: Literal["moves"] = "moves"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        q, dq, ddq = Hold(self.values[0]).at(t)
        for k in range(len(self.times) - 1):
            span = self.times[k + 1] - self.times[k]
            value, slope, curve = smooth_step((t - self.times[k]) / span)
            rise = self.values[k + 1] - self.values[k]
            q, dq, ddq = q + rise * value, dq + rise * slope / span, ddq + rise * curve / span**2
        return q, dq, ddq


@dataclass(frozen=True)
class Bangs:
    """Accelerations [rad/s^2] held one after the other, as near to bang-bang as `ramp` [s] allows.

    Between `levels`, and from and to zero at the ends, the acceleration goes along the quintic step
    in `ramp` seconds; a jump by one has a jerk of 1.875 / ramp. Levels that add up to nothing end
    at rest, as they must.
    """

    duration: Duration
    levels: tuple[float, ...]
    ramp: Duration
    first: float = 0.0
    kind: Literal["bangs"] = "bangs"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        t = np.clip(t, 0.0, self.duration)
        q, dq, ddq = Hold(self.first).at(t)
        span = (self.duration - self.ramp) / len(self.levels)
        for k, jump in enumerate(np.diff([0.0, *self.levels, 0.0]).tolist()):
            begun = t - k * span
            s = np.clip(begun / self.ramp, 0.0, 1.0)
            after = np.maximum(begun - self.ramp, 0.0)
            once, twice = _step_integrals(s)
            ddq = ddq + jump * smooth_step(s)[0]
            dq = dq + jump * (self.ramp * once + after)
            q = q + jump * (self.ramp**2 * twice + after * (0.5 * self.ramp + 0.5 * after))
        return q, dq, ddq


def _step_integrals(s: Array) -> tuple[Array, Array]:
    """The quintic step, integrated from 0 to s once and twice; s from 0 to 1."""
    return s**4 * (2.5 + s * (-3.0 + s)), s**5 * (0.5 + s * (-0.5 + s / 7.0))


@dataclass(frozen=True)
class Speeds:
    """Smooth changes from speed to speed [rad/s] at the given times [s]; for wheels."""

    times: tuple[float, ...]
    speeds: tuple[float, ...]
    first: float = 0.0
    kind: Literal["speeds"] = "speeds"

    def at(self, t: Array) -> Three:
        """Angle, speed and acceleration at times t [s]."""
        dq, ddq, _ = Moves(self.times, self.speeds).at(t)
        q = self.first + self.speeds[0] * t
        for k in range(len(self.times) - 1):
            span = self.times[k + 1] - self.times[k]
            s = np.clip((t - self.times[k]) / span, 0.0, 1.0)
            after = np.maximum(t - self.times[k + 1], 0.0)
            ramp = span * _step_integrals(s)[0]
            q = q + (self.speeds[k + 1] - self.speeds[k]) * (ramp + after)
        return q, dq, ddq


@dataclass(frozen=True)
class Accelerate:
    """Constant acceleration [rad/s^2] from `first` with rate `rate` (paper 004)."""

    acceleration: float
    first: float = 0.0
    rate: float = 0.0
    kind: Literal["accelerate"] = "accelerate"

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        a = self.acceleration
        return self.first + t * (self.rate + 0.5 * a * t), self.rate + a * t, np.full_like(t, a)


@dataclass(frozen=True)
class Spline:
    """A quintic B-spline with equally spaced knots; at rest at both ends (paper 000).

    `control` are its control points [rad]; the first and last three are repeated so that rate and
    acceleration vanish at the ends.
    """

    duration: Duration
    control: tuple[float, ...]
    kind: Literal["spline"] = "spline"

    @cached_property
    def _spline(self) -> BSpline:
        from scipy.interpolate import BSpline

        c = np.array([self.control[0]] * 2 + list(self.control) + [self.control[-1]] * 2)
        inner = np.linspace(0.0, self.duration, len(c) - 4)
        knots = np.concatenate([[0.0] * 5, inner, [self.duration] * 5])
        return BSpline(knots, c, 5)

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        inside = np.clip(t, 0.0, self.duration)
        return self._spline(inside), self._spline(inside, 1), self._spline(inside, 2)


@dataclass(frozen=True)
class Table:
    """Given positions at given times, joined by a quintic spline; for recorded motions.

    Fewer than six points are joined by the one polynomial through them.
    """

    times: tuple[float, ...]
    values: tuple[float, ...]
    kind: Literal["table"] = "table"

    @cached_property
    def _spline(self) -> BSpline:
        from scipy.interpolate import make_interp_spline

        return make_interp_spline(self.times, self.values, k=min(5, len(self.times) - 1))

    def at(self, t: Array) -> Three:
        """Position, rate and acceleration at times t [s]."""
        inside = np.clip(t, self.times[0], self.times[-1])
        outside = (t < self.times[0]) | (t > self.times[-1])
        rate, acceleration = (np.where(outside, 0.0, self._spline(inside, n)) for n in (1, 2))
        return self._spline(inside), rate, acceleration


AnyMotion = (
    Hold | Fourier | Sinusoid | Multisine | Moves | Bangs | Speeds | Accelerate | Spline | Table
)
