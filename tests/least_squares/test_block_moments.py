"""Amplitudes of blocks: orthonormal, white noise stays white, and what is smooth is kept."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.least_squares.block_moments import BlockMoments


@pytest.mark.parametrize(("n", "length"), [(100, 16), (96, 32), (35, 32), (20, 1), (3, 16)])
def test_amplitudes_are_projections(n: int, length: int) -> None:
    blocks = BlockMoments(n, length)
    P = blocks.amplitudes(np.eye(n))
    assert P.shape == (blocks.size, n)
    # rounding of a few dozen products
    assert np.allclose(P @ P.T, np.eye(blocks.size), atol=1e-12)
    rows = np.random.default_rng(1).standard_normal((n, 2, 3))
    series = blocks.series(blocks.amplitudes(rows))
    assert np.allclose(series, np.tensordot(P.T @ P, rows, axes=1), atol=1e-12)


def test_smooth_samples_are_kept() -> None:
    t = np.linspace(0.0, 10.0, 1000)
    slow, fast = np.cos(2.0 * t), np.cos(300.0 * t)
    blocks = BlockMoments(1000, 32)  # the slow one turns by 0.64 over a block
    left = slow - blocks.series(blocks.amplitudes(slow))
    assert np.sqrt(np.mean(left**2)) < 1e-4  # theory: a^4 / 8 / 4! / sqrt(2) of its derivatives
    gone = blocks.series(blocks.amplitudes(fast))
    assert np.mean(gone**2) < 0.2 * np.mean(fast**2)


def test_rows_have_the_times_of_their_blocks() -> None:
    blocks, t = BlockMoments(10, 8), np.arange(10.0)
    assert blocks.times(t).tolist() == [3.5] * 4 + [8.5] * 2
