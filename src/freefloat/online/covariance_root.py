"""The two steps of the square-root Kalman filter: P = S S^T is never formed, so it stays positive.

The momentum filter keeps the inverse, R^T R = P^-1, instead (`kernels/square_root_information.py`):
it starts without a prior, which a covariance cannot.
"""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array


def propagate_root(FS: Array, W: Array) -> Array:
    """The factor of F S S^T F^T + W W^T, lower triangular, of F S and W."""
    from freefloat.online.kernels.square_root_covariance import triangularise

    n = len(FS)
    table = np.empty((n + W.shape[1], n))
    table[:n], table[n:] = FS.T, W.T
    triangularise(table, np.empty(n))
    return table[:n].T


def update_root(S: Array, B: Array, innovation: Array) -> tuple[Array, Array, Array]:
    """Factor, correction and whitened innovation after rows C with unit noise said `innovation`.

    B = C S, of the lower triangular S. One orthogonal turn of [[1, B], [0, S]] to lower triangular
    form gives the factor of the innovation, the gain in its units and the new factor.
    """
    from freefloat.online.kernels.square_root_covariance import take_rows

    m, n = B.shape
    table, white, step = S.T.copy(), np.empty(m), np.empty(n)
    take_rows(table, B.copy(), innovation, np.empty((m, m + n)), white, step)
    return table.T, step, white
