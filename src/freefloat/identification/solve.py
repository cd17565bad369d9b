"""Weighted least squares by QR, with scaled columns, and an honest account of what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array


@dataclass(frozen=True)
class Solution:
    """Values with covariance, and the directions the rows do not see.

    covariance is NaN for unknowns that take part in an unseen direction; `unseen` (unknowns, k)
    spans those directions; chi2 and n_rows judge the fit when the noise is known.
    """

    values: Array
    covariance: Array
    unseen: Array
    chi2: float
    n_rows: int

    @property
    def rank(self) -> int:
        """How many combinations are seen."""
        return len(self.values) - self.unseen.shape[1]

    @property
    def std(self) -> Array:
        """Standard deviations; NaN where an unknown is not seen on its own."""
        return np.sqrt(np.diag(self.covariance))


def least_squares(Y: Array, y: Array, *, tolerance: float = 1e-10) -> Solution:
    """Solve Y x = y + unit noise. Unseen directions are left at zero and reported.

    Columns are scaled to length one first: kilograms and kg m^2 are not comparable. QR and then
    the singular values of the small triangle, never normal equations.

    >>> found = least_squares(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([3.0, 6.0]))
    >>> found.rank, bool(np.isnan(found.std).all())
    (1, True)
    """
    size = np.linalg.norm(Y, axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    Q, T = np.linalg.qr(Y / scale)
    U, s, Vt = np.linalg.svd(T)
    is_seen = s > tolerance * s[0] if len(s) and s[0] > 0.0 else np.zeros(len(s), dtype=bool)
    V = Vt[: len(s)][is_seen].T
    projected = U[:, : len(s)][:, is_seen].T @ (Q.T @ y)
    x = V @ (projected / s[is_seen]) / scale
    unseen = np.delete(Vt, np.flatnonzero(is_seen), axis=0).T / scale[:, None]
    spread = (V / s[is_seen]) / scale[:, None]
    covariance = spread @ spread.T
    if unseen.shape[1]:
        blurred = np.linalg.norm(unseen * scale[:, None], axis=1) > 1e-6
        covariance[blurred] = covariance[:, blurred] = np.nan
    residual = y - Y @ x
    return Solution(x, covariance, unseen, float(residual @ residual), len(y))
