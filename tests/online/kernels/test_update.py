"""The small steps of an update against plain Python, and a whole update against dense algebra."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from live_flights import noisy, wanted

import freefloat as ff
from freefloat.numba_.compilation import kernel
from freefloat.online.filter_problem import change_of
from freefloat.online.kernels.codes import (
    HISTORY,
    LEVEL,
    N_WRENCH,
    ROWS_HERE,
    STEP,
    Count,
    Number,
)
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.online.kernels.update import (
    age_information,
    is_gap,
    is_usable,
    note_level,
    note_step,
    renew_weights,
    watch_readings,
)

Numbers = namedtuple("Numbers", "numbers")
Readings = namedtuple("Readings", "repeats rest last")
Stream = namedtuple("Stream", "counts numbers times levels")
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
def gap(problem, m, t, levels):
    return is_gap(problem, m, t, levels)


@kernel
def age(problem, m, k, seconds):
    return age_information(problem, m, k, seconds)


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


def test_a_gap_is_long_and_a_force_may_have_acted_in_it():
    problem = Watched(np.zeros(9), KernelLimits())
    none, some = np.zeros(2), np.array([0.0, 1.0])

    def stream() -> Stream:
        m = Stream(
            np.zeros(len(Count), dtype=np.int64), np.zeros(len(Number)), np.zeros(4), np.zeros(2)
        )
        m.counts[HISTORY], m.numbers[STEP], m.times[3] = 4, 0.1, 5.0
        return m

    late, soon = (
        5.0 + 0.1 * (problem.limits.long_gap + 1),
        5.0 + 0.1 * (problem.limits.long_gap - 1),
    )
    m = stream()
    assert gap(problem, m, late, some) and not gap(problem, m, soon, some)
    assert not gap(problem, m, late, none)  # momentum is kept
    m.levels[0] = 1.0  # pushed until then
    assert gap(problem, m, late, none)
    m = stream()
    m.counts[N_WRENCH] = 1
    assert gap(problem, m, late, none)
    m.counts[HISTORY] = 0  # nothing has come yet
    assert not gap(problem, m, late, some)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_process_noise_adds_its_covariance_and_forgetting_fades_the_rest(forgetting):
    """A mass that comes takes its momentum along: it walks along its column, not alone."""
    name = "planar-capture"
    walk = {"bus.mass": 0.3, "target.mass": 0.1}
    model, params = ff.load_model(name), ff.Parameters(ff.load_model(name)).free(*walk, "bus.izz")
    own = ff.OnlineEstimator(model, params, random_walk=walk, forgetting=forgetting).filter
    problem, m, k = own.problem, own.memory, own.scratch  # type: ignore[attr-defined]
    N, nn, rng = len(m.x), problem.n_nuisance, np.random.default_rng(1)
    m.information_root[:] = np.triu(rng.normal(size=(N, N + 1))) + 3.0 * np.eye(N, N + 1)
    m.columns[:] = rng.normal(size=m.columns.shape)
    k.row_covariance[:] = np.eye(6)
    k.impulse_variance[0] = 0.04  # [N2 s2] of an impulse, which stays in the momentum
    R, z = m.information_root[:, :N].copy(), m.information_root[:, N].copy()
    P = np.linalg.inv(forgetting * R.T @ R)
    expected = P + np.diag([0.04 / problem.momentum_size**2, *np.zeros(N - 1)])
    for i in np.flatnonzero(problem.walk):
        along = np.eye(N)[i]
        along[:nn] = m.columns[:nn, i - nn] / problem.momentum_size
        expected += 0.5 * problem.walk[i] * np.outer(along, along)
    assert age(problem, m, k, 0.5)
    T = m.information_root
    np.testing.assert_allclose(np.linalg.inv(T[:, :N].T @ T[:, :N]), expected, rtol=1e-9)
    np.testing.assert_allclose(np.tril(T[:, :N], -1), 0.0, atol=1e-12)
    # noise without a mean moves no estimate
    np.testing.assert_allclose(np.linalg.solve(T[:, :N], T[:, N]), np.linalg.solve(R, z), rtol=1e-9)
    assert m.counts[ROWS_HERE] == 0
