"""The two steps of the square-root Kalman filter: P = S S^T is never formed, so it stays positive.

The momentum filter keeps the inverse, R^T R = P^-1, instead (`kernels/square_root_information.py`):
it starts without a prior, which a covariance cannot.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from freefloat.arrays import Array


def propagate_root(S: Array, F: Array, W: Array) -> Array:
    """The factor of F S S^T F^T + W W^T, lower triangular."""
    return np.asarray(np.linalg.qr(np.hstack([F @ S, W]).T, mode="r")).T


def update_root(S: Array, C: Array, innovation: Array) -> tuple[Array, Array, Array]:
    """Factor, correction and whitened innovation after rows `C` with unit noise said `innovation`.

    One orthogonal turn of [[1, C S], [0, S]] to lower triangular form gives the factor of the
    innovation, the gain in its units and the new factor.
    """
    m, n = C.shape
    before = np.zeros((m + n, m + n))
    before[:m, :m] = np.eye(m)
    before[:m, m:] = C @ S
    before[m:, m:] = S
    after = np.asarray(np.linalg.qr(before.T, mode="r")).T
    white = solve_triangular(after[:m, :m], innovation, lower=True, check_finite=False)
    return np.ascontiguousarray(after[m:, m:]), after[m:, :m] @ white, white


def nis_of(B: Array, innovation: Array) -> float:
    """NIS on their own of rows with unit noise; B = C S."""
    if len(B) == 1:
        return float(innovation[0] ** 2 / (1.0 + B[0] @ B[0]))
    return float(innovation @ np.linalg.solve(np.eye(len(B)) + B @ B.T, innovation))
