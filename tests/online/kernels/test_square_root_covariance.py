"""The turned square roots against covariances, gains and whitened innovations formed in full."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.online.kernels.square_root_covariance import take_rows, triangularise


def propagate_root(FS: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The factor of F S S^T F^T + W W^T."""
    table = np.ascontiguousarray(np.vstack([FS.T, W.T]))
    triangularise(table, np.empty(len(FS)))
    return table[: len(FS)].T


def update_root(S, B, innovation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factor, correction and whitened innovation after rows B = C S with unit noise."""
    m, n = B.shape
    table, white, step = S.T.copy(), np.empty(m), np.empty(n)
    take_rows(table, B.copy(), innovation, np.empty((m, m + n)), white, step)
    return table.T, step, white


def covariance_root(n: int, rng: np.random.Generator) -> np.ndarray:
    wide = rng.normal(size=(n, 3 * n))
    return np.linalg.cholesky(wide @ wide.T / n)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (12, 4), (41, 19)])
def test_readings_are_taken_in_as_the_equations_say(n, m):
    rng = np.random.default_rng(n)
    S, C, left = covariance_root(n, rng), rng.normal(size=(m, n)), rng.normal(size=m)
    C[:, : n // 3] = 0.0  # readings tell of a part
    root, step, white = update_root(S, C @ S, left)
    P = S @ S.T
    R = np.eye(m) + C @ P @ C.T
    gain = np.linalg.solve(R, C @ P).T
    np.testing.assert_allclose(root @ root.T, P - gain @ C @ P, atol=1e-11)  # rounding of 1
    np.testing.assert_allclose(step, gain @ left, atol=1e-11)
    np.testing.assert_allclose(white @ white, left @ np.linalg.solve(R, left), rtol=1e-11)
    assert not np.triu(root, 1).any()


@pytest.mark.parametrize(("n", "extra"), [(1, 0), (7, 2), (40, 11)])
def test_a_root_is_carried_on_and_widened(n, extra):
    rng = np.random.default_rng(n)
    S, F, W = covariance_root(n, rng), rng.normal(size=(n, n)), rng.normal(size=(n, extra))
    root = propagate_root(F @ S, W)
    whole = F @ S @ S.T @ F.T + W @ W.T
    np.testing.assert_allclose(root @ root.T, whole, atol=1e-11 * np.abs(whole).max())
    assert not np.triu(root, 1).any()
    assert np.all(np.diag(root) >= 0.0)


def test_what_is_known_exactly_stays_so():
    S = np.zeros((4, 4))
    S[1, 1] = 2.0
    root, step, _ = update_root(S, np.array([[1.0, 0.0, 0.0, 0.0]]) @ S, np.ones(1))
    np.testing.assert_array_equal(root, S)
    assert not step.any()
    np.testing.assert_array_equal(propagate_root(S, np.zeros((4, 0))), S)
