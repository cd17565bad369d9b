"""The triangle's reflections and solutions, for every remainder of columns, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.square_root_information import ROOM, solve_triangle, turn_in


@kernel
def take(T, rows, turned, right, x):
    """Rows into the triangle, and the solution; the chi-square left."""
    chi2 = turn_in(T, rows, turned)
    for i in range(x.shape[0]):
        right[i] = T[i, x.shape[0]]
    solve_triangle(T, right, x)
    return chi2


@pytest.mark.parametrize("N", range(1, 14))
@pytest.mark.parametrize("n", [3, 6])
def test_rows_turned_in_are_those_of_one_dense_problem(N, n):
    rng = np.random.default_rng(100 * n + N)
    T, x, turned = np.eye(N, N + 1), np.zeros(N), rng.normal(size=ROOM)
    everything, chi2 = [T.copy()], 0.0
    for _ in range(5):
        rows = rng.normal(size=(n, N + 1)) * rng.uniform(0.1, 10.0, N + 1)
        rows[:, rng.integers(N)] = 0.0  # a column that says nothing
        everything.append(rows)
        chi2 += take(T, rows, turned, np.zeros(N), x)
    A = np.vstack(everything)
    expected, left, _, _ = np.linalg.lstsq(A[:, :-1], A[:, -1])
    assert np.all(np.diag(T) > 0.0)
    np.testing.assert_array_equal(np.tril(T[:, :N], -1), 0.0)
    # rounding only: the problems are well conditioned
    np.testing.assert_allclose(
        T[:, :N].T @ T[:, :N], A[:, :-1].T @ A[:, :-1], rtol=1e-11, atol=1e-9
    )
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)
    assert chi2 == pytest.approx(left[0], rel=1e-9)
