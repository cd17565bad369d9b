"""Whitened rows of unknowns that wander, against one dense least-squares problem."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from freefloat.numba_.compilation import kernel
from freefloat.online.kernels import random_walk_whitening
from freefloat.online.kernels.interval import set_factors, whiten
from freefloat.online.kernels.square_root_information import ROOM, let_wander, turn_in

Memory = namedtuple("Memory", "counts factor rows echo unheard triangle x")
Scratch = namedtuple("Scratch", "C X G D E F H S rows probe_rows plain past turned left g d pushed")
N, ROWS, STEPS = 4, 3, 15


def new():
    square = {name: np.zeros((ROWS, ROWS)) for name in ("C", "X", "G", "D", "E", "F", "H", "S")}
    tables = {name: np.zeros((ROWS, N + 1)) for name in ("rows", "probe_rows", "plain", "past")}
    m = Memory(
        counts=np.zeros(8, dtype=np.int64), factor=np.zeros((ROWS, ROWS)),
        rows=np.zeros((ROWS, N + 1)), random_walk_whitening=np.zeros((ROWS, N + 1)),
        unheard=np.zeros((ROWS, ROWS)), triangle=np.eye(N, N + 1), x=np.zeros(N),
    )  # fmt: skip
    vectors = {
        "turned": np.zeros(ROOM),
        "left": np.zeros(ROWS),
        "g": np.zeros(N + 1),
        "d": np.zeros(N),
    }
    return m, Scratch(**square, **tables, **vectors, pushed=np.zeros(N))


@kernel
def take(m, k, bias, row, variance):
    """One sample, as `take_rows` does it."""
    is_sound = set_factors(m, k)
    whiten(k, m.rows, k.rows)
    random_walk_whitening.copy(k.rows, k.plain)
    if m.counts[1] > 0:
        random_walk_whitening.wander_echo(m, k, k.d.shape[0] - 1, variance)
        let_wander(m.triangle, bias, m.x, k.d, k.d.shape[0] - 1, variance, row, k.g, k.pushed)
    if random_walk_whitening.is_echoing(m):
        is_sound = is_sound and random_walk_whitening.hear(m, k)
        random_walk_whitening.pass_on(m, k)
    turn_in(m.triangle, k.rows, k.turned)
    return is_sound


def filtered(A, y, C, X, D, variances):
    """R and z after all rows, the unknowns stepping along D[k] before each."""
    m, k = new()
    row, bias = np.zeros(N + 1), np.zeros((N, N + 1))
    for n in range(STEPS):
        k.C[:], k.X[:], k.d[:] = C[n], X[n], D[n]
        k.rows[:, :N], k.rows[:, N] = A[n], y[n]
        assert take(m, k, bias, row, variances[n])
        m.rows[:], m.factor[:] = k.plain, k.D
        m.counts[1] += 1
    return m.triangle


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
