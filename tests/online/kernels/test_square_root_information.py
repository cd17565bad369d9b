"""Square-root information: reflections and solutions, any number of columns, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.square_root_information import (
    ROOM,
    add_process_noise,
    add_rows,
    add_squares,
    cholesky,
    dot,
    fade,
    solve_table,
    solve_table_transposed,
    solve_transposed,
    solve_upper,
)


@kernel
def take(T, rows, reflected, right, x):
    """Rows into R and z, and the solution; the chi-square left."""
    chi2 = add_rows(T, rows, reflected)
    for i in range(x.shape[0]):
        right[i] = T[i, x.shape[0]]
    solve_upper(T, right, x)
    return chi2


@pytest.mark.parametrize("N", range(1, 14))
@pytest.mark.parametrize("n", [3, 6])
def test_rows_turned_in_are_those_of_one_dense_problem(N, n):
    rng = np.random.default_rng(100 * n + N)
    T, x, reflected = np.eye(N, N + 1), np.zeros(N), rng.normal(size=ROOM)
    everything, chi2 = [T.copy()], 0.0
    for _ in range(5):
        rows = rng.normal(size=(n, N + 1)) * rng.uniform(0.1, 10.0, N + 1)
        rows[:, rng.integers(N)] = 0.0  # a column that says nothing
        everything.append(rows)
        chi2 += take(T, rows, reflected, np.zeros(N), x)
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


@kernel
def walk(T, bias, x, d, last, variance, row, g, along):
    add_process_noise(T, bias, x, d, last, variance, row, g, along)


@kernel
def products(T, table, v, w, x, K, squares, rows, bias):
    """Every solution and product, each in place; the smallest pivot and a dot product."""
    solve_transposed(T, v)
    solve_upper(T, w, x)
    solve_table_transposed(T, table[0])
    solve_table(T, table[1])
    add_squares(squares, rows)
    least = cholesky(K)
    total = dot(v, x, 1, v.shape[0])
    fade(T, bias, 0.9)
    return least, total


def random_factor(rng: np.random.Generator, N: int) -> np.ndarray:
    """R and z of a well-conditioned problem."""
    return np.triu(rng.normal(size=(N, N + 1)) + 3.0 * np.eye(N, N + 1))


@pytest.mark.parametrize("N", [1, 2, 5, 9])
@pytest.mark.parametrize("variance", [1e-3, 10.0])
def test_a_random_step_adds_its_variance_and_leaves_the_corrected_solution(N, variance):
    rng = np.random.default_rng(N)
    T, last = random_factor(rng, N), N // 2
    half = 0.3 * rng.normal(size=(N, N))
    bias = np.column_stack([half @ half.T / N, 0.1 * rng.normal(size=N)])
    d = np.where(np.arange(N) <= last, rng.normal(size=N), 0.0)
    R, z = T[:, :N].copy(), T[:, N].copy()
    x = np.linalg.solve(R.T @ R - bias[:, :N], R.T @ z - bias[:, N])
    walk(T, bias, x, d, last, variance, np.zeros(N + 1), np.zeros(N + 1), np.zeros(N))
    P = np.linalg.inv(R.T @ R)
    after = np.linalg.inv(T[:, :N].T @ T[:, :N])
    # rounding only, condition below 1e4
    np.testing.assert_allclose(after, P + variance * np.outer(d, d), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        np.linalg.solve(T[:, :N], T[:, N]), np.linalg.solve(R, z), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_array_equal(np.tril(T[:, :N], -1), 0.0)
    A = T[:, :N].T @ T[:, :N] - bias[:, :N]
    corrected = np.linalg.solve(A, T[:, :N].T @ T[:, N] - bias[:, N])
    np.testing.assert_allclose(corrected, x, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("N", range(1, 11))
def test_solutions_and_products_are_those_of_numpy(N):
    rng = np.random.default_rng(N)
    T, bias = random_factor(rng, N), rng.normal(size=(N, N + 1))
    R, table = T[:, :N].copy(), rng.normal(size=(2, N, 8))
    v, w, rows = rng.normal(size=N), rng.normal(size=N), rng.normal(size=(3, N + 1))
    squares = rng.normal(size=(N, N + 1))
    half = rng.normal(size=(N, N))
    K = half @ half.T + np.eye(N)
    before = {"T": T.copy(), "bias": bias.copy(), "table": table.copy(), "v": v.copy()}
    before |= {"squares": squares.copy(), "K": K.copy()}
    x = np.zeros(N)
    least, total = products(T, table, v, w, x, K, squares, rows, bias)
    close = {"rtol": 1e-10, "atol": 1e-11}  # rounding only
    np.testing.assert_allclose(v, np.linalg.solve(R.T, before["v"]), **close)
    np.testing.assert_allclose(x, np.linalg.solve(R, w), **close)
    np.testing.assert_allclose(table[0], np.linalg.solve(R.T, before["table"][0]), **close)
    np.testing.assert_allclose(table[1], np.linalg.solve(R, before["table"][1]), **close)
    np.testing.assert_allclose(squares, before["squares"] + rows[:, :N].T @ rows, **close)
    np.testing.assert_allclose(np.triu(K), np.linalg.cholesky(before["K"]).T, **close)
    assert least == pytest.approx(np.min(np.diag(np.linalg.cholesky(before["K"]))) ** 2)
    assert total == pytest.approx(v[1:] @ x[1:], abs=1e-12)
    np.testing.assert_allclose(T, np.sqrt(0.9) * before["T"], rtol=1e-15)
    np.testing.assert_allclose(bias, 0.9 * before["bias"], rtol=1e-15)


def test_a_matrix_that_is_not_positive_has_no_factor():
    K = np.diag([1.0, -2.0, 3.0])
    zeros = np.zeros(3)
    args = (np.zeros((2, 3, 8)), zeros.copy(), zeros.copy(), zeros.copy(), K)
    least, _ = products(np.eye(3, 4), *args, np.zeros((3, 4)), np.zeros((1, 4)), np.zeros((3, 4)))
    assert least == -2.0
