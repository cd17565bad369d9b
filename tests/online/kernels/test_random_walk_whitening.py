"""Whitened rows of unknowns that wander, against one dense least-squares problem."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.codes import ROWS_HERE
from freefloat.online.kernels.interval import decorrelate, set_factors
from freefloat.online.kernels.random_walk_whitening import (
    add_product,
    add_walk,
    carry_walk,
    copy_table,
    has_walked,
    remove_walk,
    solve_upper_rows,
)
from freefloat.online.kernels.square_root_information import ROOM, add_process_noise, add_rows

Memory = namedtuple(
    "Memory", "counts noise_factor rows walk_rows walk_covariance information_root x"
)
SQUARE = (
    "covariance", "cross_covariance", "carried", "noise_factor", "walk_factor", "walk_gain",
    "walk_cross", "innovation_covariance",
)  # fmt: skip
TABLES = ("rows", "probe_rows", "plain_rows", "walk_before")
VECTORS = ("reflected", "walk_moves", "gradient", "direction", "along")
Scratch = namedtuple("Scratch", (*SQUARE, *TABLES, *VECTORS))
N, ROWS, STEPS = 4, 3, 15


def new():
    m = Memory(
        counts=np.zeros(8, dtype=np.int64), noise_factor=np.zeros((ROWS, ROWS)),
        rows=np.zeros((ROWS, N + 1)), walk_rows=np.zeros((ROWS, N + 1)),
        walk_covariance=np.zeros((ROWS, ROWS)), information_root=np.eye(N, N + 1), x=np.zeros(N),
    )  # fmt: skip
    square = {name: np.zeros((ROWS, ROWS)) for name in SQUARE}
    tables = {name: np.zeros((ROWS, N + 1)) for name in TABLES}
    sizes = zip(VECTORS, (ROOM, ROWS, N + 1, N, N), strict=True)
    return m, Scratch(**square, **tables, **{name: np.zeros(n) for name, n in sizes})


@kernel
def take(m, k, bias, row, variance):
    """One sample, as `take_rows` does it."""
    is_sound = set_factors(m, k)
    decorrelate(k, m.rows, k.rows)
    copy_table(k.rows, k.plain_rows)
    last = k.direction.shape[0] - 1
    if m.counts[ROWS_HERE] > 0:
        add_walk(m, k, last, variance)
        add_process_noise(
            m.information_root, bias, m.x, k.direction, last, variance, row, k.gradient, k.along
        )
    if has_walked(m):
        is_sound = is_sound and remove_walk(m, k)
        carry_walk(m, k)
    add_rows(m.information_root, k.rows, k.reflected)
    return is_sound


def filtered(A, y, C, X, D, variances):
    """R and z after all rows, the unknowns stepping along D[k] before each."""
    m, k = new()
    row, bias = np.zeros(N + 1), np.zeros((N, N + 1))
    for n in range(STEPS):
        k.covariance[:], k.cross_covariance[:], k.direction[:] = C[n], X[n], D[n]
        k.rows[:, :N], k.rows[:, N] = A[n], y[n]
        assert take(m, k, bias, row, variances[n])
        m.rows[:], m.noise_factor[:] = k.plain_rows, k.noise_factor
        m.counts[ROWS_HERE] += 1
    return m.information_root


def dense(A, y, C, X, D, variances):
    """Mean and covariance of the last unknowns, from everything at once."""
    V = np.zeros((ROWS * STEPS, ROWS * STEPS))
    rows = np.zeros((ROWS * STEPS, N + STEPS))
    for n in range(STEPS):
        here = slice(ROWS * n, ROWS * (n + 1))
        V[here, here] = C[n]
        if n:
            before = slice(ROWS * (n - 1), ROWS * n)
            V[before, here], V[here, before] = X[n], X[n].T
        rows[here, :N] = A[n]
        for j in range(1, n + 1):
            rows[here, N + j] = A[n] @ D[j]
    prior = np.diag(1.0 / np.concatenate([np.ones(N), [1.0], variances[1:]]))
    P = np.linalg.inv(rows.T @ np.linalg.solve(V, rows) + prior)
    mean = P @ rows.T @ np.linalg.solve(V, y.ravel())
    last = np.hstack([np.eye(N), np.zeros((N, 1)), np.array(D[1:]).T])
    return last @ mean, last @ P @ last.T


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_filter_equals_dense_least_squares(seed, size):
    rng = np.random.default_rng(seed)
    A, y, D = (rng.normal(size=(STEPS, *s)) for s in ((ROWS, N), (ROWS,), (N,)))
    ends = rng.normal(size=(STEPS, ROWS, 8))
    starts = 0.1 * rng.normal(size=ends.shape) - np.roll(ends, 1, axis=0)  # a long memory
    own = ends @ ends.transpose(0, 2, 1)
    C = own + starts @ starts.transpose(0, 2, 1)
    C[0] = own[0]
    X = np.array([np.zeros((ROWS, ROWS)), *(ends[n - 1] @ starts[n].T for n in range(1, STEPS))])
    variances = size * rng.uniform(0.5, 2.0, size=STEPS)
    R = filtered(A, y, C, X, D, variances)
    mean, P = dense(A, y, C, X, D, variances)
    found = np.linalg.inv(R[:, :N])
    # rounding: condition of a few hundred
    np.testing.assert_allclose(found @ R[:, N], mean, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found @ found.T, P, rtol=1e-9, atol=1e-10)


@kernel
def multiply(out, sign, F, table, end):
    add_product(out, sign, F, table, end)


@kernel
def solve_rows(U, rows):
    solve_upper_rows(U, rows)


@pytest.mark.parametrize("width", [3, 4, 8, 10])
@pytest.mark.parametrize("n", [3, 6])
def test_products_and_solutions_of_rows_are_those_of_numpy(n, width):
    rng = np.random.default_rng(width)
    out, table = rng.normal(size=(2, n, width + 1))
    F = rng.normal(size=(n, n))
    expected = out.copy()
    expected[:, :width] -= F @ table[:, :width]  # the last column is left alone
    multiply(out, -1.0, F, table, width)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-13)
    U = np.triu(F) + 3.0 * np.eye(n)
    expected = np.linalg.solve(U.T, table)
    solve_rows(U, table)
    np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-13)
