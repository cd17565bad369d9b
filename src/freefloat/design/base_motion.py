"""Criteria that look at how the base moves instead of at what is learned (papers 002 and 000).

Published, and here to be compared with: they know nothing of sensors or parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import CandidateFlight
from freefloat.model.rotations import conjugate, quaternion_product

Balance = Literal["literal", "corrected", "none"]


@dataclass(frozen=True)
class BaseExcursion:
    """Paper 002, eq. 26: how far the base moves along each axis, less what tells axes apart.

    With y1 ... y6 the largest displacements [m] and rotations [rad]: V = |y|^2 - sum over pairs of
    axes of (yi^2 - yj^2), i < j. `literal` has the differences as printed, with their signs, which
    makes -y1^2 + y2^2 + 3 y3^2 of the first three: no balance, and another one when axes get other
    names. `corrected` takes their sizes; `none` leaves them out. order: the axes' names.
    """

    balance: Balance = "literal"
    order: tuple[int, ...] = (0, 1, 2)
    size: float = 1.0

    def rows(self, flown: CandidateFlight) -> Array:
        """Displacement and small rotation of the base from its start (N, 6)."""
        states = flown.at.states
        turn = quaternion_product(conjugate(states[:1, 3:7]), states[:, 3:7])
        moved = states[:, :3] - states[0, :3]
        return np.hstack([moved, 2.0 * np.sign(turn[:, 3:]) * turn[:, :3]])

    def value(self, rows: Array) -> tuple[float, Array]:
        """-V in units of `size`, and its derivative."""
        places = np.argmax(np.abs(rows), axis=0)
        peaks = rows[places, np.arange(6)]
        weights = self._weights(peaks**2)
        slopes = np.zeros_like(rows)
        slopes[places, np.arange(6)] = -2.0 * weights * peaks / self.size
        return float(-weights @ peaks**2 / self.size), slopes

    def _weights(self, squares: Array) -> Array:
        """How often each squared peak counts."""
        weights = np.ones(6)
        for first in (0, 3):
            axes = [first + k for k in self.order]
            for a, b in combinations(axes, 2):
                sign = 1.0
                if self.balance == "corrected" and squares[a] < squares[b]:
                    sign = -1.0
                if self.balance != "none":
                    weights[a] -= sign
                    weights[b] += sign
        return weights

    def told(self, value: float) -> tuple[str, float]:
        """V itself."""
        return "excursion of the base, eq. 26", -value * self.size


@dataclass(frozen=True)
class BaseAcceleration:
    """Paper 000, eq. 10: angular acceleration of the base along an axis, summed up.

    As printed the sum is signed, and zero for every motion from rest to rest; `is_signed=False`
    sums sizes. axis: in root axes.
    """

    axis: tuple[float, float, float]
    is_signed: bool = False

    def rows(self, flown: CandidateFlight) -> Array:
        """Angular acceleration along the axis (N, 1) [rad/s^2]."""
        return flown.at.motion.accelerations[:, :3] @ np.array(self.axis)[:, None]

    def value(self, rows: Array) -> tuple[float, Array]:
        """The logarithm of eq. 10, one over the sum, and its derivative."""
        signs = np.ones_like(rows) if self.is_signed else np.sign(rows)
        total = float(np.sum(signs * rows))
        size = max(abs(total), 1e-12)
        return -float(np.log(size)), -np.sign(total) * signs / size

    def told(self, value: float) -> tuple[str, float]:
        """The sum."""
        return "summed angular acceleration of the base [rad/s^2]", float(np.exp(-value))
