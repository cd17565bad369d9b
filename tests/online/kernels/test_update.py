"""The small steps of an update against plain Python, and a whole update against dense algebra."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from live_flights import noisy, wanted

import freefloat as ff
from freefloat.numba_.compilation import kernel
from freefloat.online.filter_problem import change_of
from freefloat.online.kernels.codes import LEVEL, STEP, Number
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.online.kernels.update import (
    is_usable,
    note_level,
    note_step,
    renew_weights,
    watch_readings,
)

Numbers = namedtuple("Numbers", "numbers")
Readings = namedtuple("Readings", "repeats rest last")
Watched = namedtuple("Watched", "sigma limits")


@kernel
def usable(t, s):
    return is_usable(t, s)


@kernel
def notes(m, steps, ratios):
    for k in range(steps.shape[0]):
        note_step(m, steps[k])
        note_level(m, ratios[k])


@kernel
def watch(problem, m, s, h):
    watch_readings(problem, m, s, h)


@kernel
def weigh(problem, m, nn):
    renew_weights(problem, m, nn)


def test_what_is_not_finite_or_no_attitude_is_unusable():
    s = np.zeros(14)
    s[6] = 1.0
    assert usable(0.0, s)
    for place, value in ((0, np.nan), (9, np.inf), (13, 1e13), (6, 0.3), (3, 3.0)):
        odd = s.copy()
        odd[place] = value
        assert not usable(0.0, odd)
    assert not usable(np.nan, s)


def test_the_usual_step_and_the_level_follow_slowly():
    rng = np.random.default_rng(0)
    steps = rng.choice([0.1, 0.101, 0.3, 0.05], size=200, p=[0.6, 0.3, 0.08, 0.02])
    ratios = rng.chisquare(6, size=200) / 3.0
    m = Numbers(np.zeros(len(Number)))
    notes(m, steps, ratios)
    usual, level = 0.0, 1.0
    for h, ratio in zip(steps, ratios, strict=True):
        if usual == 0.0 or h < 0.6 * usual:
            usual = h
        elif h < 1.5 * usual:  # longer ones are gaps
            usual += 0.05 * (h - usual)
        level = max(1.0, level + 0.02 * (min(ratio, 1e3) - level))
    assert m.numbers[STEP] == pytest.approx(usual) and m.numbers[LEVEL] == pytest.approx(level)


def test_repeated_readings_and_joints_at_rest_are_counted():
    n, limits = 2, KernelLimits()
    sigma = np.full(9 + 2 * n, 1e-3)
    sigma[0] = 0.0  # without noise a reading may well repeat
    m = Readings(np.zeros(9 + 2 * n, dtype=np.int64), np.zeros((n, 2)), np.zeros(10 + 2 * n))
    s = np.arange(1.0, 11.0 + 2 * n)
    for _ in range(3):
        s[10 + n] = 0.9 * limits.rest * 1e-3  # the first joint rests, the second moves
        s[11 + n] += 1.0
        watch(Watched(sigma, limits), m, s, 0.1)
    assert m.repeats.tolist() == [0, *[2] * (7 + 2 * n), 0]
    np.testing.assert_allclose(m.rest, [[0.3, 0.9 * limits.rest * 1e-3], [0.0, s[11 + n]]])
    np.testing.assert_array_equal(m.last, s)


@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture"])
def test_weights_are_the_parameters_of_the_estimate(name):
    tracker = ff.OnlineEstimator(ff.load_model(name), wanted(name))
    own = tracker.filter
    problem, m, nn = own.problem, own.memory, own.problem.n_nuisance  # type: ignore[attr-defined]
    m.x[:] = 0.1 * np.random.default_rng(0).normal(size=len(m.x))
    weigh(problem, m, nn)
    system, sizes = own.system, own.unknowns.sizes[nn:]  # type: ignore[attr-defined]
    change = change_of(system, tracker.parameters) @ (sizes * m.x[nn:])
    links = system.n_links
    expected = system.parameters.phi + change[: 10 * links].reshape(links, 10)
    np.testing.assert_allclose(m.weight_phi, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(m.weight_rotor, system.parameters.rotor + change[10 * links :])
    np.testing.assert_array_equal(m.weight_x, m.x[nn:])


def test_every_row_that_was_taken_is_in_the_information():
    """The corrected solution is that of all rows and all probe rows in one dense problem."""
    name = "planar-capture"
    flight = noisy(name, 0)
    tracker = ff.OnlineEstimator(ff.load_model(name), wanted(name), like=flight)
    own = tracker.filter
    samples = list(flight)
    for sample in samples[:200]:
        tracker.update(sample)
    m = own.memory  # type: ignore[attr-defined]
    assert own.replay.snapshot is None  # type: ignore[attr-defined]
    A, B = m.information_root.T @ m.information_root, m.bias.copy()
    for sample in samples[200:260]:
        assert tracker.update(sample).outcome == "taken"
        A += m.rows.T @ m.rows
        B += m.probe_rows[:, :-1].T @ m.probe_rows
    N = len(m.x)
    # of sums whose parts differ by 1e10: rounding
    np.testing.assert_allclose(
        m.information_root[:, :N].T @ m.information_root, A[:N], rtol=1e-8, atol=1e-6
    )
    np.testing.assert_allclose(m.bias, B, rtol=1e-8, atol=1e-8)
    x = np.linalg.solve(A[:N, :N] - B[:, :N], A[:N, N] - B[:, N])
    std = np.sqrt(np.diag(np.linalg.inv(A[:N, :N])))
    assert np.max(np.abs(m.x - x) / std) < 0.05  # the noise part is found anew every fourth sample
