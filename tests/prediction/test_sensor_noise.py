"""What a sensor makes of the truth: each disturbance has the size and colour that is asked for.

Seeds are fixed, so no test fails by chance; bounds are those that chance would pass in all but
one of ten thousand runs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, kstest, norm

from freefloat.model import Coloured, Sensor
from freefloat.model.rotations import (
    conjugate,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.prediction.sensor_noise import random_stream, report, sample_times
from freefloat.prediction.time_grid import common_grid

N = 20_000
RARE = 1e-4
GYRO = Sensor("gyro", "bus", 100.0)
TIMES = np.arange(N) / 100.0
TRUTH = 0.01 * np.sin(np.outer(TIMES, [0.1, 0.2, 0.3]))


def read(sensor: Sensor, truth: np.ndarray = TRUTH, *, seed: int = 1, name: str = "base.rate"):
    """Times (N,) and readings (N, axes) of a sensor."""
    channels = report(sensor, name, TIMES[: len(truth)], truth, seed=seed)
    return channels[0].time, np.column_stack([channel.values for channel in channels])


def assert_level(errors: np.ndarray, sigma: float) -> None:
    """Every column is white and Gaussian with that standard deviation and no mean."""
    n = len(errors)
    low, high = chi2.ppf([RARE / 2, 1 - RARE / 2], n - 1)
    for column in errors.T:
        assert low < np.sum((column - column.mean()) ** 2) / sigma**2 < high
        assert abs(column.mean()) < norm.ppf(1 - RARE / 2) * sigma / np.sqrt(n)
        assert kstest(column / sigma, "norm").pvalue > RARE
        neighbours = column[1:] @ column[:-1] / (column @ column)
        assert abs(neighbours) < norm.ppf(1 - RARE / 2) / np.sqrt(n)


def test_a_perfect_sensor_reads_the_truth():
    times, values = read(GYRO)
    np.testing.assert_array_equal(values, TRUTH)
    np.testing.assert_array_equal(times, TIMES)


def test_white_noise_has_its_level():
    _, values = read(replace(GYRO, noise=3e-4))
    assert_level(values - TRUTH, 3e-4)
    crossed = np.corrcoef((values - TRUTH).T)  # axes know nothing of each other
    assert np.abs(crossed[np.triu_indices(3, 1)]).max() < norm.ppf(1 - RARE / 2) / np.sqrt(N)


def test_the_channels_say_how_noisy_they_are():
    def noted(sensor):
        return report(sensor, "base.rate", TIMES, TRUTH, seed=0)[0].noise

    assert noted(replace(GYRO, noise=3e-4)) == 3e-4
    assert noted(replace(GYRO, coloured=Coloured(2e-3, 10.0))) == 2e-3
    all_three = replace(GYRO, noise=3e-4, quantisation=1e-3, coloured=Coloured(2e-3, 10.0))
    assert noted(all_three) == pytest.approx(np.sqrt(9e-8 + 1e-6 / 12.0 + 4e-6))
    assert noted(replace(GYRO, quantisation=1e-3)) == pytest.approx(1e-3 / np.sqrt(12.0))
    both = replace(GYRO, noise=3e-4, quantisation=1e-3)
    assert noted(both) == pytest.approx(np.hypot(3e-4, 1e-3 / np.sqrt(12.0)))
    assert noted(GYRO) is None
    both = replace(both, noise=1e-3)  # of a step: then rounding is as good as white
    assert np.std(read(both)[1] - TRUTH) == pytest.approx(noted(both), rel=0.01)


@pytest.mark.parametrize("bias", [(2e-3,), (1e-3, -2e-3, 5e-4)])
def test_a_bias_is_added(bias):
    _, values = read(replace(GYRO, bias=bias))
    np.testing.assert_allclose(values - TRUTH, np.broadcast_to(bias, (N, 3)), atol=1e-17)
    _, noisy = read(replace(GYRO, bias=bias, noise=1e-4))
    assert_level(noisy - TRUTH - np.array(bias), 1e-4)


def test_readings_are_whole_steps():
    step = 1e-3
    _, values = read(replace(GYRO, quantisation=step, noise=5e-3))
    whole = values / step
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-9)
    _, values = read(replace(GYRO, quantisation=step))
    errors = (values - TRUTH)[:, 2]
    assert np.abs(errors).max() <= step / 2 * (1 + 1e-9)
    assert np.std(errors) == pytest.approx(step / np.sqrt(12.0), rel=0.05)


def test_samples_drop_out_as_often_as_asked():
    times, values = read(replace(GYRO, dropout=0.2, noise=1e-4))
    n_lost = N - len(times)
    assert abs(n_lost - 0.2 * N) < norm.ppf(1 - RARE / 2) * np.sqrt(0.16 * N)
    lost = ~np.isin(TIMES, times)
    pairs = np.sum(lost[1:] & lost[:-1])  # losses come one by one, not in bursts
    assert abs(pairs - 0.04 * N) < norm.ppf(1 - RARE / 2) * np.sqrt(0.06 * N)
    whole_times, whole = read(replace(GYRO, noise=1e-4))
    np.testing.assert_array_equal(values, whole[np.isin(whole_times, times)])  # same noise


def test_all_axes_lose_a_sample_together():
    channels = report(replace(GYRO, dropout=0.5), "base.rate", TIMES, TRUTH, seed=1)
    assert all(np.array_equal(channel.time, channels[0].time) for channel in channels)


def test_saturation_clips():
    _, values = read(replace(GYRO, saturation=5e-3, noise=1e-4))
    assert values.max() == 5e-3 and values.min() == -5e-3
    inside = np.abs(TRUTH) < 4e-3
    assert np.all(np.abs(values[inside]) < 5e-3)


def test_coloured_noise_has_its_size_and_memory():
    sigma, tau = 2e-3, 0.5
    sensor = replace(GYRO, coloured=Coloured(sigma, tau))
    errors = np.hstack([read(sensor, seed=seed)[1] - TRUTH for seed in range(10)])
    n_free = errors.size * (0.01 / tau)  # about two independent numbers per correlation time
    spread = norm.ppf(1 - RARE / 2) / np.sqrt(n_free)
    assert np.mean(errors**2) == pytest.approx(sigma**2, rel=spread)
    for lag in (1, 10, 50, 150):
        found = np.mean(errors[lag:] * errors[:-lag]) / sigma**2
        assert found == pytest.approx(np.exp(-lag * 0.01 / tau), abs=spread)
    white = np.diff(errors, axis=0)  # what is new in each step is white
    assert np.std(white) == pytest.approx(sigma * np.sqrt(2 * (1 - np.exp(-0.01 / tau))), rel=0.02)


def test_coloured_noise_is_stationary_from_the_first_sample():
    sensor = replace(GYRO, coloured=Coloured(2e-3, 100.0))
    firsts = [read(sensor, TRUTH[:2], seed=seed)[1][0] for seed in range(1000)]
    squares = np.sum((np.array(firsts) / 2e-3) ** 2)
    low, high = chi2.ppf([RARE / 2, 1 - RARE / 2], 3000)
    assert low < squares < high


# ---- Attitude ------------------------------------------------------------------------------------

TRACKER = Sensor("attitude", "bus", 100.0)
TURNS = np.outer(TIMES, [0.03, -0.05, 0.02])  # several times round in the course of 200 s
ATTITUDES = quaternion_product(
    quaternion_from_rotation_vector(TURNS), quaternion_from_rotation_vector([0.3, 0.1, -0.2])
)


def misread(sensor: Sensor, *, seed: int = 1) -> np.ndarray:
    """Rotation vectors from truth to reading, in sensor axes."""
    _, values = read(sensor, ATTITUDES, seed=seed, name="base.attitude")
    np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-12)
    assert np.all(np.sum(values[1:] * values[:-1], axis=1) > 0.9)  # no sign flips on the way
    return rotation_vector_from_quaternion(quaternion_product(conjugate(ATTITUDES), values))


def test_attitude_noise_is_a_small_rotation_about_every_axis():
    assert_level(misread(replace(TRACKER, noise=1.745e-3)), 1.745e-3)


def test_attitude_bias_is_a_misalignment():
    errors = misread(replace(TRACKER, bias=(1e-3, -2e-3, 3e-3)))
    np.testing.assert_allclose(errors, np.broadcast_to([1e-3, -2e-3, 3e-3], (N, 3)), atol=1e-12)


def test_attitude_is_rounded_as_coarsely_as_asked():
    errors = misread(replace(TRACKER, quantisation=1e-3))
    assert np.abs(errors).max() < 1e-3
    # the same size about every axis, whatever the attitude
    np.testing.assert_allclose(errors.std(axis=0), 1e-3 / np.sqrt(12.0), rtol=0.03)


def test_attitude_may_wander():
    errors = misread(replace(TRACKER, coloured=Coloured(1e-3, 0.2)))
    assert np.mean(errors**2) == pytest.approx(1e-6, rel=0.1)
    assert np.mean(errors[1:] * errors[:-1]) == pytest.approx(1e-6 * np.exp(-0.05), rel=0.1)


# ---- Streams, times, units -----------------------------------------------------------------------


def test_every_channel_has_a_stream_of_its_own():
    sensor = replace(GYRO, noise=1e-3)
    first, again = read(sensor)[1], read(sensor)[1]
    np.testing.assert_array_equal(first, again)
    others = [
        read(sensor, seed=2)[1],
        read(sensor, name="arm.rate")[1],
        read(replace(sensor, kind="velocity"))[1],
    ]
    for other in others:
        alike = np.corrcoef((first - TRUTH).ravel(), (other - TRUTH).ravel())[0, 1]
        assert abs(alike) < norm.ppf(1 - RARE / 2) / np.sqrt(3 * N)
    assert random_stream(1, "a").random() != random_stream(1, "b").random()


def test_samples_begin_at_zero_and_end_with_the_flight():
    np.testing.assert_array_equal(sample_times(replace(GYRO, rate=30.0), 1.0), np.arange(31) / 30)
    assert len(sample_times(replace(GYRO, rate=10.0), 0.3)) == 4  # 0.3 * 10 is not quite 3
    assert len(sample_times(replace(GYRO, rate=0.3), 10.0)) == 4


def test_the_unit_follows_from_the_name_unless_given():
    encoder = Sensor("encoder", "slide", 10.0)
    (turning,) = report(encoder, "slide.position", TIMES, TRUTH[:, 0], seed=0)
    (sliding,) = report(encoder, "slide.position", TIMES, TRUTH[:, 0], seed=0, unit="m")
    assert (turning.unit, sliding.unit) == ("rad", "m")


@pytest.mark.parametrize(
    ("rates", "grid", "every"),
    [
        ((50.0, 5.0), 50.0, 20),
        ((30.0, 100.0), 300.0, 4),
        ((1.0, 0.1), 1.0, 1000),
        ((0.3,), 0.3, 3334),
        ((10.0 / 3.0, 5.0), 10.0, 100),
        ((2.5e-4,), 2.5e-4, 4_000_000),
        ((29.97,), 29.97, 34),
        ((4000.0,), 4000.0, 1),
    ],
)
def test_the_grid_holds_every_sample(rates, grid, every):
    suite = tuple(replace(GYRO, rate=rate) for rate in rates)
    found, step, n = common_grid(suite, 1e-3)
    assert found == pytest.approx(grid, rel=1e-12)
    assert n == every and step <= 1e-3
    assert step * n == pytest.approx(1.0 / grid, rel=1e-12)
