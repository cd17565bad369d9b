"""Innovations of a right world raise no alarm however often one looks; others do."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.numba_.compilation import kernel
from freefloat.online.innovations import InnovationSums, innovation_evidence, octaves_of
from freefloat.online.kalman_memory import innovation_arrays
from freefloat.online.kernels.innovation_tests import OCTAVES, note_rows, note_window

ROWS = 3


@cache
def options() -> TrustOptions:
    return TrustOptions()


class Sums(NamedTuple):
    row_counts: np.ndarray
    octave_half: np.ndarray
    octave_power: np.ndarray
    window_half: np.ndarray
    window_worst: np.ndarray


@kernel
def note(m, rows, white):
    note_rows(m, rows, white, len(rows))


def sums_of(values: np.ndarray) -> InnovationSums:
    """The sums of innovations (samples, rows)."""
    m, rows = Sums(*innovation_arrays(values.shape[1])), np.arange(values.shape[1])
    for white in values:
        note(m, rows, white)
    labels = tuple("xyz"[: len(rows)])
    return InnovationSums(m.row_counts[:-1], m.octave_power, m.window_worst, labels, 0.1)


def codes(values: np.ndarray) -> set[str]:
    return {e.code for e in innovation_evidence(sums_of(values), 1.0, options())}


def test_octaves_hold_all_the_power():
    values = np.random.default_rng(0).normal(size=(64, ROWS))
    sums = sums_of(values)
    # the mean of all is left waiting, everything else is in the differences
    whole = np.sum(values**2, axis=0) - np.sum(values, axis=0) ** 2 / 64
    np.testing.assert_allclose(np.sum(sums.power, axis=0), whole, rtol=1e-12)
    assert sums.numbers[:, 0].tolist() == [32, 16, 8, 4, 2, 1] + [0] * (OCTAVES - 6)


def test_noise_raises_no_alarm_at_any_time():
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = rng.normal(size=(512, ROWS))
        assert not any(codes(values[:n]) for n in (16, 64, 100, 256, 400, 512))


@pytest.mark.parametrize("n", [256, 1024])
def test_a_variance_is_told_from_one_the_sooner_the_more_samples_there_are(n):
    values = np.random.default_rng(2).normal(size=(n, ROWS))
    assert ("innovations.too_large" in codes(1.15 * values)) == (n == 1024)


def test_slow_innovations_are_seen_though_they_are_no_larger():
    rng = np.random.default_rng(3)
    values = np.zeros((600, ROWS))
    for k in range(1, 600):
        values[k] = 0.6 * values[k - 1] + 0.8 * rng.normal(size=ROWS)
    assert abs(np.mean(values**2) - 1.0) < 0.2
    assert "innovations.too_large" in codes(values)
    slowest = max(octaves_of(sums_of(values)), key=lambda o: o.likely)
    assert slowest.samples >= 8


def test_a_burst_in_a_long_flight_is_seen():
    values = np.random.default_rng(4).normal(size=(4000, ROWS))
    values[2000:2016] *= 2.5
    assert "innovations.burst" in codes(values)


@kernel
def window(worst, x, freedom, j):
    note_window(worst, 0, x, freedom, j)


def test_the_kernel_bounds_a_window_as_the_other_filter_does():
    worst = np.zeros((1, 2))
    window(worst, 40.0, 12.0, 3)
    expected = 14.0 - 6.0 * np.log(40.0 / 12.0) - np.log(12.0)
    np.testing.assert_allclose(worst[0], [expected, 40.0 / 12.0])
