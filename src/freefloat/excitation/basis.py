"""Motions that are sums: home plus coefficients times fixed curves, at rest at both ends.

A design looks for the coefficients. Everything a motion does (position, rate, acceleration, jerk)
is linear in them, so limits on it are linear too. The raw curves of a family are nearly dependent
(a quintic undoes most of a slow sine), hence `orthonormal`: coefficients that mean something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.excitation.motions import (
    AnyMotion,
    Bangs,
    Fourier,
    Moves,
    Multisine,
    Sinusoid,
    Speeds,
    Spline,
)
from freefloat.records.values import Bounds

Shape = Literal["fourier", "spline", "sinusoid", "multisine", "moves", "bangs", "speeds"]
Harmonics = Annotated[int, Bounds(least=1, most=30, remedy="choose fewer or more")]
# theory: half of what jerk is a central difference over, of the duration: the difference of two
# accelerations, known to 1e-15 of their size, is then known to 1e-8
APART = 1e-7


@dataclass(frozen=True)
class Basis:
    """A family of motions over `duration` [s].

    size: harmonics of "fourier" and "multisine", free points of "spline", "moves" and "speeds"
    (speeds are for wheels: it is the speed that is added to), levels of "bangs" beyond the two that
    bring it home and to rest; "sinusoid" has one frequency and needs `period` [s].
    ramp: how long "sinusoid" and "multisine" take to swing in and out, of the duration; change: how
    long "bangs" take from level to level, of the time of one level.
    """

    shape: Shape
    duration: float
    size: int = 5
    period: float | None = None
    ramp: float = 0.15
    change: float = 0.3

    @property
    def n(self) -> int:
        """How many coefficients there are."""
        per = {"fourier": 2 * self.size, "multisine": 1 + 2 * self.size, "sinusoid": 3}
        return per.get(self.shape, self.size)

    @property
    def fastest(self) -> float:
        """The highest frequency [Hz] these motions are made of, about."""
        per_duration = {
            "fourier": self.size,
            "multisine": max(self.size, 1.0 / self.ramp),
            "sinusoid": max(self.duration / self._period, 1.0 / self.ramp),
            "spline": 0.75 * (self.size + 1),  # more than half: accelerations are what is seen
            "moves": self.size + 1,  # the acceleration of a move is a cycle
            "bangs": self.size + 2,  # twice that of the levels, for the changes between them
            "speeds": 0.5 * (self.size + 1),
        }
        return per_duration[self.shape] / self.duration

    def motion(
        self, coefficients: Sequence[float] | Array, *, home: float = 0.0, speed: float = 0.0
    ) -> AnyMotion:
        """The motion with these coefficients, from home and back; a wheel keeps its speed.

        Args:
            coefficients: As many as the basis has; in the unit of the coordinate [rad or m].
            home: Where the motion starts and ends [rad or m].
            speed: Of a wheel, which its motion is added to [rad/s].

        Returns:
            The motion, for `Plan.motions`.

        >>> Basis("fourier", 10.0, 1).motion([0.1, 0.0], home=0.5).first
        0.5
        """
        c = [float(x) for x in coefficients]
        times = tuple(np.linspace(0.0, self.duration, self.size + 2).tolist())
        if self.shape == "fourier":
            a, b = tuple(c[: self.size]), tuple(c[self.size :])
            return Fourier(self.duration, a, b, home, home)
        if self.shape == "spline":
            return Spline(self.duration, (home, *(home + x for x in c), home))
        if self.shape == "moves":
            return Moves(times, (home, *(home + x for x in c), home))
        if self.shape == "bangs":
            levels = tuple((self._rest_to_rest @ c).tolist())
            return Bangs(self.duration, levels, self._change_time, home)
        if self.shape == "speeds":
            return Speeds(times, (speed, *(speed + x for x in c), speed), home)
        ramp = self.ramp * self.duration
        if self.shape == "multisine":
            cosines, sines = tuple(c[1 : 1 + self.size]), tuple(c[1 + self.size :])
            return Multisine(self.duration, home + c[0], cosines, sines, ramp, home)
        size, phase = float(np.hypot(c[1], c[2])), float(np.arctan2(c[2], c[1]))
        return Sinusoid(self.duration, home + c[0], size, self._period, ramp, home, phase)

    def columns(self, t: Array) -> Array:
        """What one unit of each coefficient adds: (4, times, n) position, rate, ... jerk.

        >>> Basis("spline", 10.0, 3).columns(np.array([0.0, 5.0])).shape
        (4, 2, 3)
        """
        apart = APART * self.duration
        before, after = np.maximum(t - apart, 0.0), np.minimum(t + apart, self.duration)
        found = np.empty((4, len(t), self.n))
        for k, unit in enumerate(np.eye(self.n)):
            motion = self.motion(unit)
            found[:3, :, k] = motion.at(t)
            found[3, :, k] = (motion.at(after)[2] - motion.at(before)[2]) / (after - before)
        return found

    @property
    def jolts(self) -> Array:
        """Instants [s] on both sides of where jerk jumps, or peaks more sharply than the motion.

        A grid of times misses them, and a difference across a jump averages it away.

        >>> Basis("moves", 10.0, 1).jolts.round(3)
        array([5., 5.])
        """
        at = np.zeros(0)
        if self.shape in ("moves", "speeds"):
            at = np.linspace(0.0, self.duration, self.size + 2)[1:-1]
        elif self.shape in ("multisine", "sinusoid"):
            at = self.duration * np.array([self.ramp, 1.0 - self.ramp])
        elif self.shape == "bangs":  # in the middle of every change
            begins = np.linspace(0.0, self.duration - self._change_time, self.size + 3)
            at = begins + 0.5 * self._change_time
        aside = 2.0 * APART * self.duration
        return np.concatenate([at - aside, at + aside])

    def orthonormal(self, *, reach: float, rate: float) -> Array:
        """A matrix (n, n): coefficients from ones whose curves are orthonormal.

        Lengths are root mean squares of position in units of `reach` and rate in units of `rate`
        together (of a wheel: rate and acceleration).

        >>> basis = Basis("fourier", 10.0, 2)
        >>> t = np.linspace(0.0, 10.0, 1001)
        >>> q, dq, _, _ = basis.columns(t) @ basis.orthonormal(reach=0.5, rate=0.1)
        >>> both = np.vstack([q / 0.5, dq / 0.1]) / np.sqrt(len(t))
        >>> bool(np.allclose(both.T @ both, np.eye(4), atol=1e-2))
        True
        """
        t = np.linspace(0.0, self.duration, 40 * self.size + 41)
        order = 1 if self.shape == "speeds" else 0
        curves = self.columns(t)[order : order + 2] / np.sqrt(len(t))
        _, s, Vt = np.linalg.svd(np.vstack([curves[0] / reach, curves[1] / rate]))
        return Vt.T / s

    @property
    def _change_time(self) -> float:
        """How long a bang-like motion takes from level to level [s]."""
        return self.change * self.duration / (self.size + 2)

    @property
    def _rest_to_rest(self) -> Array:
        """Levels (size + 2, size) that end at home and at rest: sum and first moment vanish."""
        n = self.size + 2
        ends = np.column_stack([np.ones(n), np.arange(n)])
        return np.linalg.qr(ends, mode="complete")[0][:, 2:]

    @property
    def _period(self) -> float:
        return self.duration / 3.0 if self.period is None else self.period
