"""NIS of whitened rows against dense linear algebra, and spikes against a plain straight line."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from scipy.stats import chi2

from freefloat.numba_.compilation import kernel
from freefloat.online.filter_problem import gate_limits
from freefloat.online.kernels.codes import DOF, LEVEL, NIS, SETTLED, WRONG, Number
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.online.kernels.outlier_tests import (
    is_spike,
    nis_of_rows,
    passes_gate,
    reading_noise,
)

Memory = namedtuple("Memory", "information_root clear_factor bias x numbers")
Scratch = namedtuple(
    "Scratch", "rows uncertain misled solved lanes innovation_covariance innovation"
)
Problem = namedtuple("Problem", "sigma limits")
Gate = namedtuple("Gate", "rows gates limits")
Numbers = namedtuple("Numbers", "numbers")
Readings = namedtuple("Readings", "spike_state recent usual_miss")


@kernel
def nis(m, k):
    return nis_of_rows(m, k)


@kernel
def passes(problem, m, nis, is_lost):
    return passes_gate(problem, m, nis, is_lost)


@kernel
def spikes(problem, m, times, samples, out):
    for i in range(times.shape[0]):
        out[i] = is_spike(problem, m, times[i], samples[i])


@kernel
def noises(problem, out):
    for i in range(out.shape[0]):
        out[i] = reading_noise(problem, i)


@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.parametrize("N", [1, 4, 7])
def test_nis_is_that_of_dense_matrices(n, N):
    rng = np.random.default_rng(10 * n + N)
    T = np.triu(rng.normal(size=(N, N + 1)) + 3.0 * np.eye(N, N + 1))
    K = np.triu(0.2 * rng.normal(size=(N, N))) + np.eye(N)
    bias, x, rows = (rng.normal(size=s) for s in ((N, N + 1), (N,), (n, N + 1)))
    numbers = np.zeros(len(Number))
    numbers[WRONG] = 0.1
    m = Memory(T, K, bias, x, numbers)
    k = Scratch(
        rows, np.zeros((N, 8)), np.zeros((N, 8)), np.zeros((N, 8)), np.zeros(8),
        np.zeros((n, n)), np.zeros(n),
    )  # fmt: skip
    found = nis(m, k)
    R, Y = T[:, :N], rows[:, :N]
    U = np.linalg.solve(K.T @ K, np.linalg.solve(R.T, Y.T))
    V = 0.1 * bias[:, :N] @ np.linalg.solve(R, U)
    S = np.eye(n) + U.T @ U + V.T @ V
    innovation = rows[:, N] - Y @ x
    assert found == pytest.approx(innovation @ np.linalg.solve(S, innovation), rel=1e-9)


def test_every_reading_has_the_noise_of_its_source():
    sigma = np.arange(1.0, 14.0)  # rate, attitude, velocity, two of q, two of dq
    out = np.zeros(14)
    noises(Problem(sigma, KernelLimits()), out)
    expected = [1, 2, 3, 3, 3, 3, 3, 7, 8, 9, 10, 11, 12, 13]  # a quaternion: half of the largest
    np.testing.assert_array_equal(out, expected)


def run(values: np.ndarray, sigma: float) -> np.ndarray:
    """Which samples are spikes when reading 0 goes through `values`, ten a second."""
    n = len(values)
    samples = np.zeros((n, 11))
    samples[:, 0] = values
    m = Readings(np.zeros(4), np.zeros((2, 11)), np.zeros(11))
    out = np.zeros(n, dtype=np.bool_)
    problem = Problem(np.full(10, sigma), KernelLimits())
    spikes(problem, m, 0.1 * np.arange(n), samples, out)
    return out


def test_lone_wild_readings_are_spikes_and_steps_are_not():
    rng, limits, sigma = np.random.default_rng(0), KernelLimits(), 1e-3
    smooth = np.sin(0.2 * np.arange(60)) + sigma * rng.normal(size=60)
    assert not run(smooth, sigma).any()
    wild = smooth.copy()
    wild[40] += 10.0
    assert np.flatnonzero(run(wild, sigma)).tolist() == [40]
    moved = smooth.copy()
    moved[40:] += 10.0  # it really moved: believed when it has been seen often enough
    found = np.flatnonzero(run(moved, sigma))
    assert found.tolist() == [40, 41] and len(found) == limits.spikes_in_a_row - 1


def test_a_spike_is_a_miss_of_the_line_by_many_times_the_usual():
    limits, sigma = KernelLimits(), 1e-3
    line = 0.3 * np.arange(30.0)
    usual = limits.spike_noise * sigma  # nothing was missed yet, so noise is all there is
    for factor, is_one in ((0.99, False), (1.01, True)):
        values = line.copy()
        values[20] += factor * limits.spike * usual
        assert run(values, sigma)[20] == is_one


def gate_of(probability: float, n: int) -> tuple[Gate, Numbers]:
    gates = np.array([0.0, 0.0])
    if probability:
        gates[:] = gate_limits(probability, [n, 2 if n == 3 else 3])
    m = Numbers(np.zeros(len(Number)))
    m.numbers[SETTLED] = m.numbers[LEVEL] = 1.0
    return Gate(np.arange(n), gates, KernelLimits()), m


@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.parametrize("is_lost", [False, True])
def test_the_gate_loses_the_share_of_good_samples_that_was_asked_for(n, is_lost):
    problem, m = gate_of(0.02, n)
    rng, dof = np.random.default_rng(n), (2 if n == 3 else 3) if is_lost else n
    root = np.tril(rng.normal(size=(dof, dof)) + 2.0 * np.eye(dof))
    innovations = rng.normal(size=(20_000, dof)) @ root.T
    nis = np.sum(innovations * np.linalg.solve(root @ root.T, innovations.T).T, axis=1)
    lost = np.array([not passes(problem, m, float(one), is_lost) for one in nis])
    np.testing.assert_array_equal(lost, chi2.sf(nis, dof) < 0.02)
    assert abs(np.mean(lost) - 0.02) < 0.004  # four deviations of a share of 20 000
    assert m.numbers[NIS] == nis[-1] and m.numbers[DOF] == dof


def test_the_gate_grows_with_the_mean_nis_and_while_weights_are_the_models():
    problem, m = gate_of(1e-6, 6)
    limit = float(chi2.isf(1e-6, 6))
    assert passes(problem, m, 0.99 * limit, False) and not passes(problem, m, 1.01 * limit, False)
    m.numbers[LEVEL] = 4.0
    assert passes(problem, m, 3.99 * limit, False) and not passes(problem, m, 4.01 * limit, False)
    m.numbers[LEVEL], m.numbers[SETTLED] = 0.5, 0.0  # better than stated does not narrow the gate
    most = problem.limits.unsettled_gate * limit
    assert passes(problem, m, 0.99 * most, False) and not passes(problem, m, 1.01 * most, False)
    no_gate, _ = gate_of(0.0, 6)
    assert passes(no_gate, m, 1e200, False)
