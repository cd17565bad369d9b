"""Tables of many rows and few columns: made small by QR, or split into what columns explain."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array

# measured: benchmarks/verbs.py: rows of a block that stay in the processor's first cache
AT_ONCE = 64
# theory: the squares of numbers within it are far from the ends of what a float can hold
EXTREME = 1e100


def triangle_of(rows: Array, triangle: Array | None = None) -> Array:
    """The upper triangular factor R (n, n) of a QR: R^T R = rows^T rows, rows (N, n).

    Given that of earlier rows, these are added to it; so N rows take no more memory than n.
    """
    from freefloat.least_squares.kernels.row_reduction import absorb

    n = rows.shape[1]
    found = np.zeros((n, n)) if triangle is None else triangle.copy()
    if rows.size:
        table = np.ascontiguousarray(rows, dtype=np.float64)
        if (sizes := _extreme_sizes(np.vstack([_spans(table), _spans(found)]))) is not None:
            return triangle_of(table / sizes, found / sizes) * sizes
        absorb(table, np.zeros((AT_ONCE, n)), np.zeros(n), found)
    return found


def _spans(table: Array) -> Array:
    """The largest and the smallest number of every column (2, n); no copy of the table is made."""
    return np.vstack([table.max(axis=0), table.min(axis=0)])


def _extreme_sizes(spans: Array) -> Array | None:
    """Powers of two that bring columns to about one, where squares of some are no numbers."""
    largest = np.max(np.abs(spans), axis=0)
    is_extreme = (largest > 0.0) & ((largest < 1.0 / EXTREME) | (largest > EXTREME))
    if not np.any(is_extreme & np.isfinite(largest)):
        return None
    exponents = np.where(is_extreme & np.isfinite(largest), np.frexp(largest)[1], 0)
    return np.ldexp(1.0, np.clip(exponents, -1022, 1022))


def eliminate(Y: Array, n_parameters: int) -> Array:
    """Rows for the first n_parameters unknowns with the others (nuisance) projected out."""
    nuisance, wanted = Y[:, n_parameters:], Y[:, :n_parameters]
    if not nuisance.shape[1]:
        return wanted
    R = triangle_of(np.column_stack([nuisance, wanted]))
    return R[nuisance.shape[1] :, nuisance.shape[1] :]


def orthonormal_basis(A: Array, *, least: float) -> Array:
    """Orthonormal columns (rows, rank) that span those of A, each taken at length one.

    least: directions whose singular value is no larger a part of the largest are left out.

    theory: A V / s is orthonormal but for rounding over s / s_max; made so once more, it is to
    rounding itself ("twice is enough", Giraud et al., Numerische Mathematik 101, 2005).
    """
    length = np.linalg.norm(A, axis=0)
    acting = length > 0.0
    scales = np.where(acting, 1.0 / np.where(acting, length, 1.0), 0.0)
    _, s, Vt = np.linalg.svd(triangle_of(A * scales))
    kept = s > least * s[0] if len(s) else s > 0.0
    turn = scales[:, None] * Vt[kept].T / s[kept]
    return _orthonormal_again(A @ turn)


def _orthonormal_again(B: Array) -> Array:
    """Columns that are nearly orthonormal, made so."""
    from scipy.linalg import solve_triangular

    if not B.shape[1]:
        return B
    return B @ solve_triangular(triangle_of(B), np.eye(B.shape[1]))
