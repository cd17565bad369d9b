"""What every linear family returns, and how its rows are divided by their noise.

A family gives Equations: Y theta = y + e in k rows at each of R instants (or intervals, windows,
test functions), with the covariance of e within an instant and with the next one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array


@dataclass(frozen=True)
class Equations:
    """Y (R, k, unknowns) theta = y (R, k), in units of the physics.

    names: the unknowns, first n_parameters parameters, then nuisance such as an initial momentum;
    labels (k): what each row speaks of, with its unit; blocks (R, k, k): covariance of the rows of
    an instant, neighbours (R - 1, k, k): with those of the next one, or None. Blocks are empty when
    the equations were asked for without noise, to be whitened like others.
    """

    family: str
    names: tuple[str, ...]
    n_parameters: int
    Y: Array
    y: Array
    labels: tuple[str, ...]
    units: tuple[str, ...]
    blocks: Array
    neighbours: Array | None = None


@dataclass(frozen=True)
class WhitenedRows:
    """Y theta = y + noise, whitened: every row has noise of standard deviation one."""

    family: str
    names: tuple[str, ...]
    n_parameters: int
    Y: Array
    y: Array
    labels: tuple[str, ...]
    units: tuple[str, ...]


def covariance(slopes: Iterable[Array]) -> Array:
    """Covariance (R, k, k) of rows that move by slopes (R, k) with each independent error.

    Rows that no error moves get a ten-thousandth of the deviation of their like, so that nothing
    has infinite weight.
    """
    total: Array | None = None
    for slope in slopes:
        outer = slope[:, :, None] * slope[:, None, :]
        total = outer if total is None else total + outer
    assert total is not None
    return total + np.diag(floor_of(total))


def floor_of(blocks: Array) -> Array:
    """The least variance of each kind of row (k,)."""
    largest = np.max(np.einsum("rii->ri", blocks), axis=0, initial=0.0)
    return np.maximum(1e-8 * largest, 1e-8 * 1e-8 * np.max(largest, initial=0.0) + 1e-60)


def whitened(equations: Equations, like: Equations | None = None) -> WhitenedRows:
    """The rows divided by their noise, or by that of other equations of the same shape."""
    model = equations if like is None else like
    e = equations
    both = np.concatenate([e.Y, e.y[:, :, None]], axis=2)
    if model.neighbours is None:
        flat = np.linalg.solve(np.linalg.cholesky(model.blocks), both).reshape(e.y.size, -1)
    else:
        flat = _banded(both, model.blocks, model.neighbours)
    return WhitenedRows(
        e.family, e.names, e.n_parameters, flat[:, :-1], flat[:, -1], e.labels, e.units
    )


def _banded(both: Array, blocks: Array, neighbours: Array) -> Array:
    """Divide (R, k, columns) by the factor of a block tridiagonal covariance, in time ~ R."""
    from scipy.linalg import cholesky_banded, solve_banded

    n, k, _ = both.shape
    band = 2 * k - 1
    upper = np.zeros((band + 1, n * k))
    for i in range(k):
        for j in range(k):
            if j >= i:
                upper[band - (j - i), j::k] = blocks[:, i, j]
            upper[band - (k + j - i), k + j :: k] = neighbours[:, i, j]
    factor = cholesky_banded(upper)  # C = U^T U, U upper
    lower = np.zeros_like(factor)
    for d in range(min(band + 1, n * k)):  # U^T by diagonals
        lower[d, : n * k - d] = factor[band - d, d:]
    return solve_banded((band, 0), lower, both.reshape(n * k, -1))
