"""Residuals against draws of noise: right models pass as often as promised, wrong ones do not."""

import numpy as np
import pytest
from identification.trust.linear_rows import linear_rows
from scipy.stats import kstest

from freefloat.identification.trust.misfit import band_tests, block_tests, excess
from freefloat.identification.trust.trust_options import TrustOptions

OPTIONS = TrustOptions()


def least(rows, side: str = "chance") -> float:
    tests = band_tests(rows, OPTIONS)
    return min(getattr(test, side) for test in tests) * len(tests)


def test_chances_of_a_right_model_are_uniform():
    chances = [
        test.too_large
        for seed in range(60)
        for test in band_tests(linear_rows(np.random.default_rng(seed)), OPTIONS)
        if test.low > 0.1  # the slowest band has lost what the unknowns explain, in draws alike
    ]
    assert kstest(chances, "uniform").pvalue > 1e-3


def test_right_models_are_not_called_wrong():
    alarms = sum(
        least(linear_rows(np.random.default_rng(seed))) < OPTIONS.significance
        for seed in range(200)
    )
    assert alarms <= 1  # 0.2 expected


@pytest.mark.parametrize("hertz", [0.05, 0.3, 2.0])
def test_a_wave_of_0_4_of_the_noise_is_seen(hertz):
    times = np.linspace(0.0, 60.0, 600)
    wave = 0.4 * np.sqrt(2.0) * np.cos(2.0 * np.pi * hertz * times + 1.0)
    seen = [
        least(linear_rows(np.random.default_rng(seed), signal=np.tile(wave, 3)))
        for seed in range(10)
    ]
    assert max(seen) < OPTIONS.significance


def test_noise_overstated_by_a_third_is_seen():
    assert least(linear_rows(np.random.default_rng(1), noise=0.75), "too_small") < 1e-6


def test_excess_counts_energy_and_the_components_it_lies_in():
    times = np.linspace(0.0, 60.0, 600)
    wave = np.zeros(1800)
    wave[:600] = 3.0 * np.cos(2.0 * np.pi * 0.5 * times)
    found = excess(linear_rows(np.random.default_rng(0), signal=wave))
    assert found.energy == pytest.approx(np.sum(wave**2), rel=0.05)
    assert found.modes < 8.0  # one component, and its neighbours in the mean


def test_stretches_that_pull_apart_are_seen():
    rng = np.random.default_rng(3)
    calm = linear_rows(rng)
    places = list(range(4))
    chances = [test.chance for test in block_tests(calm, places, OPTIONS)]
    assert min(chances) * len(places) > OPTIONS.significance
    # the first unknown is another one in the second half of the flight
    half = np.tile(np.linspace(0.0, 60.0, 600) > 30.0, 3)
    step = 0.8 * calm.jacobian[:, 0] * half
    torn = linear_rows(np.random.default_rng(3), signal=step)
    tests = block_tests(torn, places, OPTIONS)
    assert min(test.chance for test in tests) * len(places) < OPTIONS.significance


def test_chances_of_stretches_are_fair():
    chances = [
        test.chance
        for seed in range(100)
        for test in block_tests(linear_rows(np.random.default_rng(seed)), [0, 1], OPTIONS)
    ]
    # theory: effective degrees of freedom are an approximation; the tail is what counts
    assert np.mean(np.array(chances) < 0.01) < 0.04
