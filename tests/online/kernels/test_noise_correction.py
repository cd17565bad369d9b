"""Which part of the information is noise in the columns, against dense linear algebra."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.online.kernels.noise_correction import (
    factor_clear_part,
    least_eigenvalue,
    set_noise_part,
    solve_corrected,
    wide_cholesky,
)

Memory = namedtuple("Memory", "clear_factor worst x")


@kernel
def clear(limits, T, bias, n_rows, m, A, W, g):
    share, wrong = factor_clear_part(limits, T, bias, n_rows, m, A, W)
    solve_corrected(T, bias, m.clear_factor, m.x, g)
    return share, wrong


@kernel
def parts(T, bias, A, W, K, e):
    set_noise_part(T, bias, A, W)
    pivot = wide_cholesky(K)
    least = 0.0
    for _ in range(60):
        least = least_eigenvalue(K, e)
    return pivot, least


def fours(N: int) -> tuple[int, int]:
    return N, -4 * (-N // 4)


def problem(N: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """R and z; B and c, with B a `share` of R^T R in one direction."""
    rng = np.random.default_rng(N)
    T = np.triu(rng.normal(size=(N, N + 1)) + 3.0 * np.eye(N, N + 1))
    q, _ = np.linalg.qr(rng.normal(size=(N, N)))
    A = q @ np.diag(np.linspace(0.0, share, N)) @ q.T
    return T, np.column_stack([T[:, :N].T @ A @ T[:, :N], 0.1 * rng.normal(size=N)])


@pytest.mark.parametrize("N", [1, 3, 4, 7, 8])
def test_parts_are_those_of_numpy(N):
    T, bias = problem(N, 0.5)
    A, W, K = np.zeros(fours(N)), np.zeros(fours(N)), np.zeros(fours(N))
    half = np.random.default_rng(N).normal(size=(N, N))
    K[:, :N] = half @ half.T + np.eye(N)
    dense = K[:, :N].copy()
    pivot, least = parts(T, bias, A, W, K, np.ones(N))
    R = T[:, :N]
    expected = np.linalg.solve(R.T, np.linalg.solve(R.T, bias[:, :N]).T)
    np.testing.assert_allclose(np.triu(A[:, :N]), np.triu(expected), rtol=1e-9, atol=1e-11)
    factor = np.linalg.cholesky(dense).T
    np.testing.assert_allclose(np.triu(K[:, :N]), factor, rtol=1e-10, atol=1e-11)
    assert pivot == pytest.approx(np.min(np.diag(factor)) ** 2)
    # inverse iteration converges by the ratio of the two smallest eigenvalues a turn
    assert least == pytest.approx(np.min(np.linalg.eigvalsh(dense)), rel=1e-4)


@pytest.mark.parametrize("N", [2, 5, 8])
def test_a_clear_estimate_is_the_corrected_least_squares_solution(N):
    T, bias = problem(N, 0.5)
    m = Memory(np.eye(N), np.ones(N), np.zeros(N))
    args = (np.zeros(fours(N)), np.zeros(fours(N)), np.zeros(N + 1))
    share, wrong = clear(KernelLimits(), T, bias, 1e4, m, *args)
    R = T[:, :N]
    expected = np.linalg.solve(R.T @ R - bias[:, :N], R.T @ T[:, N] - bias[:, N])
    assert share == 1.0 and wrong == pytest.approx(np.sqrt(2.0 / 1e4))
    np.testing.assert_allclose(m.x, expected, rtol=1e-9, atol=1e-11)
    A = np.linalg.solve(R.T, np.linalg.solve(R.T, bias[:, :N]).T)
    np.testing.assert_allclose(
        m.clear_factor.T @ m.clear_factor, np.eye(N) - A, rtol=1e-9, atol=1e-11
    )


def test_where_a_direction_may_be_all_noise_less_is_taken_off():
    N, n_rows, limits = 5, 1e4, KernelLimits()
    T, bias = problem(N, 0.99)  # chance may carry a share 5 sqrt(2/n) = 0.07 further
    m = Memory(np.eye(N), np.ones(N), np.zeros(N))
    args = (np.zeros(fours(N)), np.zeros(fours(N)), np.zeros(N + 1))
    share, wrong = clear(limits, T, bias, n_rows, m, *args)
    doubt = limits.doubt * np.sqrt(2.0 / n_rows)
    assert share == pytest.approx(1.0 - doubt) and wrong == pytest.approx(limits.misled * doubt)
    R = T[:, :N]
    expected = np.linalg.solve(R.T @ R - share * bias[:, :N], R.T @ T[:, N] - bias[:, N])
    np.testing.assert_allclose(m.x, expected, rtol=1e-8, atol=1e-10)


def test_where_all_is_noise_nothing_is_taken_off():
    N = 4
    T, bias = problem(N, 1.5)
    m = Memory(np.zeros((N, N)), np.ones(N), np.zeros(N))
    args = (np.zeros(fours(N)), np.zeros(fours(N)), np.zeros(N + 1))
    share, wrong = clear(KernelLimits(), T, bias, 1e4, m, *args)
    assert share == 0.0 and wrong == KernelLimits().misled
    np.testing.assert_array_equal(np.triu(m.clear_factor), np.eye(N))
