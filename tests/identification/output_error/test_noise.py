"""Whitening of autoregressive noise: exact, also where samples are missing."""

import numpy as np
import pytest

from freefloat.identification.output_error.noise import autocovariance, fit_noise

LAGS, NEWS, STEP = np.array([1.2, -0.25]), 0.1, 0.02


def noise_of(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.zeros(n + 500)
    for k in range(2, len(values)):
        values[k] = LAGS @ values[k - 2 : k][::-1] + NEWS * rng.normal()
    return values[500:]


def whitened_covariance(is_kept: np.ndarray, *, seed: int) -> np.ndarray:
    """Of whitened noise whose covariance is that of the model fitted to it."""
    values, times = noise_of(len(is_kept), seed), STEP * np.arange(len(is_kept))
    found = fit_noise(values, float(np.std(values)), times=times[is_kept])
    assert found.lags is not None
    numbers = np.flatnonzero(is_kept)
    own = autocovariance(found.lags, found.news**2, len(is_kept))
    C = own[np.abs(np.subtract.outer(numbers, numbers))]
    W = found.size * found.whiten(np.eye(len(numbers)))
    return W @ C @ W.T


@pytest.mark.parametrize("gap", [1, 6, 200])
def test_samples_after_a_gap_follow_from_those_before(gap):
    is_kept = np.ones(600, dtype=bool)
    is_kept[300 : 300 + gap] = False
    found = whitened_covariance(is_kept, seed=1)
    assert found == pytest.approx(np.eye(len(found)), abs=1e-9)


def test_samples_lost_here_and_there_stay_nearly_independent():
    # where the samples before one are themselves scattered, those further back say a little more
    is_kept = np.random.default_rng(2).random(600) > 0.1
    is_kept[0] = True
    found = whitened_covariance(is_kept, seed=3)
    assert np.diag(found) == pytest.approx(np.ones(len(found)), abs=1e-9)
    assert np.abs(found - np.eye(len(found))).max() < 0.1


def test_a_step_that_is_longer_but_not_by_a_sample_loses_none():
    values, times = noise_of(600, 2), STEP * np.arange(600)
    times[200:] -= 0.2 * STEP
    times[300:] += 0.6 * STEP  # to the nearest sample of the grid they are where they were
    found = fit_noise(values, float(np.std(values)), times=times)
    assert found.lags is not None and found.bridges is None
