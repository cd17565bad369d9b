"""Least squares for rows whose columns are measured, too, and an honest account of what is seen.

Noise in the columns pulls plain least squares towards zero: with whitened rows Y = Y0 + E, the
expectation of Y^T Y is Y0^T Y0 + B with B = E[E^T E], and theta^T B theta is as large as the
number of rows. Without a force that fixes the scale the answer is zero. So B is found by adding
fresh noise of the same size to the samples (and the opposite noise: what is linear in it drops
out), and taken off again:  (Y^T Y - B) theta = Y^T y - c.

QR throughout, no normal equations: B enters only through a correction to the QR solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.least_squares.tall_tables import triangle_of

# theory: columns have length one, so a dependent one leaves rounding (1e-16) times their number
NUMERIC = 1e-10
# theory: standard deviations by which information must exceed what noise alone would show; noise
# does so once in 1.7 million directions
CLEAR = 5.0


@dataclass(frozen=True)
class Bias:
    """What noise in the columns adds: B (unknowns, unknowns) to Y^T Y, c (unknowns,) to Y^T y."""

    B: Array
    c: Array


@dataclass(frozen=True)
class LeastSquaresSolution:
    """Values with covariance, and the directions the rows do not see.

    covariance is NaN for unknowns that take part in such a direction; `unseen` (unknowns, k) are
    those that no row depends on, `buried` those hidden by noise; `root`
    (r, unknowns): a square root of the information, root^T root; chi2 and n_rows judge the fit.
    """

    values: Array
    covariance: Array
    unseen: Array
    buried: Array
    root: Array
    chi2: float
    n_rows: int

    @property
    def rank(self) -> int:
        """How many combinations are seen."""
        return len(self.values) - self.unseen.shape[1] - self.buried.shape[1]

    @property
    def std(self) -> Array:
        """Standard deviations; NaN where an unknown is not determined."""
        return np.sqrt(np.diag(self.covariance))


def least_squares(Y: Array, y: Array, *, bias: Bias | None = None) -> LeastSquaresSolution:
    """Solve Y x = y + unit noise. Unseen directions are left at zero and reported.

    Columns are scaled to length one first: kilograms and kg m^2 are not comparable.

    >>> found = least_squares(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([3.0, 6.0]))
    >>> found.rank, bool(np.isnan(found.std).all())
    (1, True)
    """
    n = Y.shape[1]
    size = np.linalg.norm(Y, axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    triangle = triangle_of(np.column_stack([Y / scale, y]))
    found = _solve_scaled(triangle[:n, :n], triangle[:n, n], scale, bias, len(y))
    residual = y - Y @ found.values
    return replace(found, chi2=float(residual @ residual))


def solve_triangle(
    T: Array, right: Array, *, bias: Bias | None, n_rows: int, chi2: float
) -> LeastSquaresSolution:
    """Like `least_squares` for rows already reduced to a triangular factor, T x = right.

    >>> found = solve_triangle(np.eye(2), np.ones(2), bias=None, n_rows=5, chi2=3.0)
    >>> found.values.tolist(), found.chi2
    ([1.0, 1.0], 3.0)
    """
    size = np.linalg.norm(T, axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    return replace(_solve_scaled(T / scale, right, scale, bias, n_rows), chi2=chi2)


def _solve_scaled(
    T: Array, right: Array, scale: Array, bias: Bias | None, n_rows: int
) -> LeastSquaresSolution:
    """The solution of T x = right in scaled unknowns; chi2 is left to the caller."""
    U, s, Vt = np.linalg.svd(T)
    is_seen = s > NUMERIC * s[0] if len(s) and s[0] > 0.0 else np.zeros(len(s), dtype=bool)
    # scaled x = V z, z = root x: measured in standard deviations of plain least squares
    V, root = Vt[: len(s)][is_seen].T / s[is_seen], s[is_seen][:, None] * Vt[: len(s)][is_seen]
    z = U[:, : len(s)][:, is_seen].T @ right
    unseen = np.delete(Vt, np.flatnonzero(is_seen), axis=0).T
    buried = np.zeros((len(scale), 0))
    if bias is not None and len(z):
        V, root, z, buried = _subtract_bias(V, root, z, bias, scale, n_rows=n_rows)
    x = V @ z / scale
    covariance = _covariance(root * scale, np.column_stack([unseen, buried]), scale)
    return LeastSquaresSolution(
        x, covariance, unseen / scale[:, None], buried / scale[:, None], root * scale, np.nan,
        n_rows,
    )  # fmt: skip


def _covariance(root: Array, lost: Array, scale: Array) -> Array:
    """The inverse of the information; NaN where an unknown takes part in what is lost."""
    spread = np.linalg.pinv(root / scale) / scale[:, None]
    covariance = spread @ spread.T
    if lost.shape[1]:
        blurred = np.linalg.norm(np.linalg.qr(lost)[0], axis=1) > 1e-6
        covariance[blurred] = covariance[:, blurred] = np.nan
    return covariance


def _subtract_bias(
    V: Array, root: Array, z: Array, bias: Bias, scale: Array, *, n_rows: int
) -> tuple[Array, Array, Array, Array]:
    """Basis, root, coordinates with the noise of the columns taken off, and what it buried.

    In coordinates z the information of plain least squares is the unit matrix, and B becomes A:
    the part of it that is noise. A direction in which that part is not clearly below one tells
    nothing (chance moves it by sqrt(2 / rows)), unless the rows clearly ask for a shift along it.
    Deviations grow from 1 to 1 / (1 - part): the noise stays, the signal is less than it seemed.
    """
    B = bias.B / np.outer(scale, scale)
    A, c = V.T @ B @ V, V.T @ (bias.c / scale)
    part, E = np.linalg.eigh(0.5 * (A + A.T))
    chance = np.sqrt(2.0 / n_rows) * np.maximum(part, 0.0)
    shift, left = E.T @ (z - c), 1.0 - part
    is_clear = (left > CLEAR * chance) | ((left > chance) & (np.abs(shift) > CLEAR))
    shift, left, chance = shift[is_clear], left[is_clear], chance[is_clear]
    clear = E[:, is_clear]
    # the deviation of shift / left: one for the shift, `chance` for what is left
    spread = np.sqrt(1.0 + (shift / left * chance) ** 2) / left
    return V @ clear, (clear.T @ root) / spread[:, None], shift / left, V @ E[:, ~is_clear]


def robust_weights(residual: Array, loss: str) -> Array:
    """Weights of rows by their whitened residuals: `huber` (1.345) or `tukey` (4.685).

    >>> robust_weights(np.array([0.5, 13.45]), "huber").round(2).tolist()
    [1.0, 0.1]
    """
    size = np.abs(residual)
    if loss == "huber":
        return np.minimum(1.0, 1.345 / np.maximum(size, 1e-300))
    return np.where(size < 4.685, (1.0 - (size / 4.685) ** 2) ** 2, 0.0)


def instrumental(Z: Array, Y: Array, y: Array) -> LeastSquaresSolution:
    """Solve Z^T Y x = Z^T y for instruments Z that share Y's signal but not its noise."""
    scale = np.where((size := np.linalg.norm(Y, axis=0)) > 0.0, size, 1.0)
    Q = np.linalg.qr(Z / scale)[0]
    projected = Q.T @ (Y / scale)
    U, s, Vt = np.linalg.svd(projected)
    is_seen = s > NUMERIC * max(s[0], 1e-300)
    V, root = Vt[: len(s)][is_seen].T / s[is_seen], s[is_seen][:, None] * Vt[: len(s)][is_seen]
    x = V @ (U[:, : len(s)][:, is_seen].T @ (Q.T @ y)) / scale
    unseen = np.delete(Vt, np.flatnonzero(is_seen), axis=0).T
    covariance = _covariance(root * scale, unseen, scale)
    residual = y - Y @ x
    return LeastSquaresSolution(
        x, covariance, unseen / scale[:, None], np.zeros((len(x), 0)), root * scale,
        float(residual @ residual), len(y),
    )  # fmt: skip
