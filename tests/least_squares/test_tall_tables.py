"""The block-by-block QR against LAPACK's, and bases of columns that nearly depend on each other."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.arrays import Array
from freefloat.least_squares.tall_tables import orthonormal_basis, triangle_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (64, 5), (65, 5), (1000, 34)])
def test_a_triangle_is_that_of_lapack_up_to_signs(shape: tuple[int, int]) -> None:
    rows = RNG.standard_normal(shape) * 10.0 ** RNG.uniform(-6.0, 6.0, shape[1])
    R, known = triangle_of(rows), np.linalg.qr(rows, mode="r")
    assert R.shape == (shape[1], shape[1]) and np.all(np.tril(R, -1) == 0.0)
    size = np.linalg.norm(rows, axis=0)
    n = len(known)
    # 1e-13: rounding of a thousand sums, in units of each column
    assert np.max(np.abs(np.abs(R[:n]) - np.abs(known)) / size) < 1e-13
    assert np.max(np.abs(R.T @ R - rows.T @ rows) / np.outer(size, size)) < 1e-13


def test_rows_can_come_in_parts_and_nothing_is_changed_in_place() -> None:
    rows = RNG.standard_normal((500, 8))
    kept, first = rows.copy(), triangle_of(rows[:300])
    before = first.copy()
    whole = triangle_of(rows[300:], first)
    assert np.array_equal(rows, kept) and np.array_equal(first, before)
    assert np.allclose(np.abs(whole), np.abs(triangle_of(rows)), rtol=0.0, atol=1e-12)


def test_a_triangle_keeps_what_squares_of_columns_would_lose() -> None:
    # the cosine of two columns is 1 - 5e-19: sums of squares know nothing of their difference
    a, b = RNG.standard_normal((2, 2000))
    R = triangle_of(np.column_stack([a, a + 1e-9 * b]))
    across = 1e-9 * np.linalg.norm(b - a * (a @ b) / (a @ a))
    assert abs(R[1, 1]) == pytest.approx(across, rel=1e-5)


def by_svd(A: Array, least: float) -> Array:
    """The basis as LAPACK has it, of the tall table itself."""
    U, s, _ = np.linalg.svd(A / np.linalg.norm(A, axis=0), full_matrices=False)
    return U[:, s > least * s[0]]


@pytest.mark.parametrize("apart", [1.0, 1e-4, 1e-7, 1e-12])
def test_a_basis_spans_what_a_singular_value_decomposition_says(apart: float) -> None:
    A = RNG.standard_normal((3000, 12))
    A[:, 5] = A[:, 3] + apart * A[:, 5]
    Q, known = orthonormal_basis(A, least=1e-9), by_svd(A, 1e-9)
    assert Q.shape == known.shape
    assert np.max(np.abs(Q.T @ Q - np.eye(Q.shape[1]))) < 1e-13
    # a direction of relative size `apart` is known to rounding over that
    off = np.linalg.norm(Q @ (Q.T @ known) - known)
    assert off < 1e-13 / max(apart, 1e-9)


def test_columns_of_zeros_and_no_columns_span_nothing() -> None:
    A = np.zeros((10, 2))
    assert orthonormal_basis(A, least=1e-9).shape == (10, 0)
    assert orthonormal_basis(A[:, :0], least=1e-9).shape == (10, 0)
    A[:, 1] = 3.0
    assert np.allclose(np.abs(orthonormal_basis(A, least=1e-9)), 1.0 / np.sqrt(10.0))
