"""Uniform B-splines on one or several segments of time, and the banded matrices they give.

A symmetric banded matrix A is kept as its lower diagonals, A[i + d, i] in row d, column i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from freefloat.telemetry.channel import Array, Mask

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class SplineBasis:
    """B-splines of `degree` k on segments of time, each segment with its own run of them.

    Over every interval between knots k + 1 splines differ from zero. Segments share no spline, so
    nothing is carried across a gap in the data.
    """

    degree: int
    spacing: float  # of the knots [s]
    starts: Array  # of the segments [s]
    ends: Array  # [s]

    @cached_property
    def n_intervals(self) -> Indices:
        """The number of intervals of each segment."""
        lengths = (self.ends - self.starts) / self.spacing
        return np.maximum(1, np.ceil(lengths - 1e-6)).astype(np.intp)

    @cached_property
    def firsts(self) -> Indices:
        """The number of the first spline of each segment, and behind them the number of all."""
        return np.concatenate([[0], np.cumsum(self.n_intervals + self.degree)])

    @property
    def size(self) -> int:
        """The number of splines."""
        return int(self.firsts[-1])

    def rows(self, time: Array) -> BasisRows:
        """Return the rows of the design matrix at instants [s], inside the segments or not."""
        segment = np.maximum(np.searchsorted(self.starts, time, side="right") - 1, 0)
        is_inside = (time >= self.starts[segment]) & (time <= self.ends[segment])
        place = np.where(is_inside, (time - self.starts[segment]) / self.spacing, 0.0)
        cell = np.minimum(place.astype(np.intp), self.n_intervals[segment] - 1)
        return BasisRows(self, self.firsts[segment] + cell, place - cell, is_inside)

    def penalty(self, order: int) -> Array:
        """Return D'D, banded, where D takes differences of `order` within each segment."""
        sizes = self.n_intervals + self.degree - order
        starts = [np.arange(n) + first for n, first in zip(sizes, self.firsts[:-1], strict=True)]
        firsts = np.concatenate(starts)
        return gram(np.tile(_difference(order), (firsts.size, 1)), firsts, shape=self._shape)

    def penalty_product(self, coefficients: Array, order: int) -> Array:
        """Return D'D a: as by `penalty`, but with fewer digits lost where a is smooth."""
        products = []
        for piece in np.split(coefficients, self.firsts[1:-1]):
            padded = np.pad(np.diff(piece, order, axis=0), ((order, order), (0, 0)))
            products.append((-1) ** order * np.diff(padded, order, axis=0))
        return np.concatenate(products)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.degree + 1, self.size


@dataclass(frozen=True)
class BasisRows:
    """Rows of the design matrix, one per instant: k + 1 numbers from column `first` on."""

    basis: SplineBasis
    first: Indices
    fraction: Array  # where between two knots the instant lies, in [0, 1]
    is_inside: Mask

    def splines(self, derivative: int = 0) -> Array:
        """Return the k + 1 splines, or their derivatives [1/s^derivative], at each instant."""
        # In units of the knots' spacing: far from t = 0, `design_matrix` on knots in seconds loses
        # digits (2e-12 after 60 000 knots), and it has no derivatives.
        polynomials = unit_polynomials(self.basis.degree, derivative)
        powers = np.ones((len(polynomials), len(self.fraction)))
        for n in range(1, len(powers)):
            np.multiply(powers[n - 1], self.fraction, out=powers[n])
        return ((polynomials / self.basis.spacing**derivative).T @ powers).T

    def curve(self, coefficients: Array, *, derivative: int = 0) -> Array:
        """Return the curve, one column per column of `coefficients`; NaN outside the segments."""
        curve = product(self.splines(derivative), self.first, coefficients)
        curve[~self.is_inside] = np.nan
        return curve


def product(rows: Array, firsts: Indices, coefficients: Array) -> Array:
    """Return B a, where row i of B is `rows[i]` from column `firsts[i]` on."""
    return sum(
        (rows[:, p, None] * coefficients[firsts + p] for p in range(rows.shape[1])),
        start=np.zeros((rows.shape[0], coefficients.shape[1])),
    )


def transposed_product(rows: Array, firsts: Indices, values: Array, *, size: int) -> Array:
    """Return B' y, one column per column of `values`."""
    total = np.zeros((size, values.shape[1]))
    for p in range(rows.shape[1]):
        for column in range(values.shape[1]):
            weights = rows[:, p] * values[:, column]
            total[:, column] += np.bincount(firsts + p, weights, minlength=size)
    return total


def gram(rows: Array, firsts: Indices, *, shape: tuple[int, int]) -> Array:
    """Return B'B, banded, with `shape` (diagonals, columns)."""
    banded = np.zeros(shape)
    width = rows.shape[1]
    for d in range(width):
        for p in range(width - d):
            weights = rows[:, p] * rows[:, p + d]
            banded[d] += np.bincount(firsts + p, weights, minlength=shape[1])
    return banded


@cache
def unit_splines(degree: int) -> BSpline:
    """Return the splines that differ from zero between the knots 0 and 1, in order.

    >>> unit_splines(3)(0.0).round(6).tolist()
    [0.166667, 0.666667, 0.166667, 0.0]
    """
    knots = np.arange(-degree, degree + 2, dtype=np.float64)
    return BSpline(knots, np.eye(degree + 1), degree)


@cache
def unit_polynomials(degree: int, derivative: int) -> Array:
    """Return the same splines, or derivatives, as polynomials (powers, splines) from 0 to 1.

    >>> unit_polynomials(1, 0).tolist()
    [[1.0, 0.0], [-1.0, 1.0]]
    """
    orders = range(derivative, degree + 1)
    taylor = [unit_splines(degree)(0.0, n) / factorial(n - derivative) for n in orders]
    return np.array(taylor) if taylor else np.zeros((1, degree + 1))


def _difference(order: int) -> Array:
    """The weights of a difference: (-1, 1) for order 1, (1, -2, 1) for order 2, ..."""
    weights = np.array([1.0])
    for _ in range(order):
        weights = np.convolve(weights, [-1.0, 1.0])
    return weights
