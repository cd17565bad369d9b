"""Rows of an interval, their noise and their whitening, against NumPy."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from freefloat.dynamics.kernels.spatial import C
from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.codes import ROWS_HERE
from freefloat.online.kernels.interval import (
    FLOOR,
    decorrelate,
    linearise_displacement,
    set_covariances,
    set_end_errors,
    set_factors,
    set_moment_errors,
    set_rows,
)

Work = namedtuple("Work", "L")
Problem = namedtuple("Problem", "rows sigma n_nuisance n_unknowns momentum_size")
Memory = namedtuple(
    "Memory",
    "counts velocity_noise momentum momentum_errors moment_errors end_errors noise_factor weight_x",
)
Scratch = namedtuple(
    "Scratch",
    "work end_errors start_errors row_covariance row_cross_covariance covariance"
    " cross_covariance carried noise_factor impulse_variance rows displacement_slopes gain",
)
MASS, HALF, JOINTS, N_UNKNOWNS = 20.0, 0.05, 2, 3
SOURCES = 9 + 2 * JOINTS
SPACE, PLANE = np.arange(6), np.array([0, 1, 5])


def cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def random_case(rows: np.ndarray, seed: int) -> tuple[Problem, Memory, Scratch]:
    rng, n = np.random.default_rng(seed), len(rows)
    nn = 2 if n == 3 else 3
    L = np.zeros((1, C + 10))
    L[0, C] = MASS
    problem = Problem(rows, rng.uniform(0.1, 1.0, SOURCES), nn, N_UNKNOWNS, 7.0)
    m = Memory(
        np.zeros(8, dtype=np.int64), rng.uniform(0.1, 1.0, 3), rng.normal(size=3),
        rng.normal(size=(SOURCES, 6)), rng.normal(size=(SOURCES, 3)), rng.normal(size=(SOURCES, 6)),
        np.zeros((n, n)), rng.normal(size=N_UNKNOWNS),
    )  # fmt: skip
    square = (n, n)
    k = Scratch(
        Work(L), rng.normal(size=(SOURCES, 6)), np.zeros((SOURCES, 6)), np.zeros((6, 6)),
        np.zeros((6, 6)), np.zeros(square), np.zeros(square), np.zeros(square), np.zeros(square),
        rng.uniform(size=6), np.zeros((n, nn + N_UNKNOWNS + 1)), rng.normal(size=(3, N_UNKNOWNS)),
        rng.normal(size=12),
    )  # fmt: skip
    return problem, m, k


@kernel
def covariances(problem, m, k, half, is_lost):
    set_covariances(problem, m, k, half, is_lost)


@kernel
def ends(k, noise, half, side, p, slopes, moments, out):
    set_end_errors(k, noise, half, side, p[0], p[1], p[2], slopes, moments, out)


@kernel
def moments_of(sigma, slopes, out):
    set_moment_errors(sigma, slopes, out)


@kernel
def rows_of(problem, now, before, d, J, gain, is_probe, out):
    set_rows(problem, now, before, d[0], d[1], d[2], J, gain, is_probe, out)


@kernel
def linearise(problem, m, k):
    linearise_displacement(problem, m, k)


@kernel
def white(m, k, before, rows):
    is_sound = set_factors(m, k)
    decorrelate(k, before, rows)
    return is_sound


def end_errors(noise, slopes, moments, momentum, side) -> np.ndarray:
    """Slopes, plus what the errors of the displacement make of dr x P."""
    out = slopes.copy()
    for n in range(SOURCES):
        way = (HALF * slopes[n, :3] - side * moments[n]) / MASS
        if 6 <= n < 9:
            way = HALF * noise[n - 6] * np.eye(3)[n - 6]
        out[n, 3:] += np.cross(way, momentum)
    return out


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_errors_at_an_end_move_the_displacement_too(side):
    _, m, k = random_case(SPACE, 0)
    out = np.zeros((SOURCES, 6))
    ends(k, m.velocity_noise, HALF, side, m.momentum, m.momentum_errors, m.moment_errors, out)
    expected = end_errors(m.velocity_noise, m.momentum_errors, m.moment_errors, m.momentum, side)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_first_moments_move_with_positions_as_momenta_with_rates():
    problem, m, _ = random_case(SPACE, 1)
    out = np.zeros((SOURCES, 3))
    moments_of(problem.sigma, m.momentum_errors, out)
    sigma, slopes = problem.sigma, m.momentum_errors
    pairs = {3: 0, 4: 1, 5: 2, 9: 9 + JOINTS, 10: 10 + JOINTS}  # position: rate
    for place, rate in pairs.items():
        np.testing.assert_allclose(out[place], sigma[place] / sigma[rate] * slopes[rate, :3])
    np.testing.assert_array_equal(np.delete(out, list(pairs), axis=0), 0.0)


def test_an_error_of_the_start_is_as_large_as_it_was_then():
    """The first of two samples counts with its own noise, however noisy the second is."""
    problem, m, k = random_case(SPACE, 8)
    covariances(problem, m, k, HALF, False)
    first = k.cross_covariance.copy()
    problem.sigma[:] *= 5.0
    covariances(problem, m, k, HALF, False)
    np.testing.assert_array_equal(k.cross_covariance, first)


@pytest.mark.parametrize("rows", [SPACE, PLANE])
def test_covariances_are_sums_over_the_sources(rows):
    problem, m, k = random_case(rows, 2)
    covariances(problem, m, k, HALF, False)
    start = end_errors(m.velocity_noise, m.momentum_errors, m.moment_errors, m.momentum, -1.0)
    start[:, 3:] -= 2.0 * m.momentum_errors[:, 3:]
    start[:, :3] = 0.0  # linear rows know nothing of where the interval starts
    own = k.end_errors.T @ k.end_errors + start.T @ start + np.diag(k.impulse_variance)
    shared = m.end_errors.T @ start
    expected = own[np.ix_(rows, rows)]
    for kind in (rows < 3, rows >= 3):
        places = np.flatnonzero(kind)
        most = np.max(np.diag(expected)[places])
        expected[places, places] += FLOOR * most
    np.testing.assert_allclose(k.covariance, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(k.cross_covariance, shared[np.ix_(rows, rows)], rtol=1e-12)
    before = k.covariance.copy()
    covariances(problem, m, k, HALF, True)  # over a gap angular rows say nothing
    is_angular = rows >= 3
    ratio = np.diag(k.covariance) / np.diag(before)
    assert np.all(ratio[is_angular] > 1e9) and np.allclose(ratio[~is_angular], 1.0)


@pytest.mark.parametrize("rows", [SPACE, PLANE])
@pytest.mark.parametrize("is_probe", [False, True])
def test_rows_are_the_momentum_equations(rows, is_probe):
    problem, _, _ = random_case(rows, 3)
    rng, nn = np.random.default_rng(4), problem.n_nuisance
    now, before = rng.normal(size=(2, 6, N_UNKNOWNS + 1))
    d, J, gain = rng.normal(size=3), rng.normal(size=3), rng.normal(size=12)
    out = np.full((len(rows), nn + N_UNKNOWNS + 1), np.nan)
    rows_of(problem, now, before, d, J, gain, is_probe, out)
    nuisance = np.zeros((6, 3))
    nuisance[:3] = 0.0 if is_probe else -problem.momentum_size * np.eye(3)
    nuisance[3:] = problem.momentum_size * cross(d)
    columns = np.vstack([now[:3], now[3:] - before[3:]])
    right = -columns[:, -1]
    right[:3] += 0.0 if is_probe else J
    right[3:] += -np.cross(d, J) + (0.0 if is_probe else gain[6:9])
    expected = np.column_stack([nuisance[:, :nn], columns[:, :-1], right])[rows]
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-14)


def test_a_displacement_that_depends_on_the_unknowns_enters_the_angular_rows():
    problem, m, k = random_case(SPACE, 5)
    linearise(problem, m, k)
    change = np.cross(k.displacement_slopes.T, k.gain[9:12]).T  # (3, unknowns)
    nn = problem.n_nuisance
    np.testing.assert_allclose(k.rows[3:, nn:-1], change, rtol=1e-12)
    np.testing.assert_allclose(k.rows[3:, -1], change @ m.weight_x, rtol=1e-12)
    np.testing.assert_array_equal(k.rows[:3], 0.0)


def test_a_chain_of_rows_is_whitened_as_its_whole_covariance_is():
    rng, n, steps, width = np.random.default_rng(6), 3, 6, 5
    _, m, k = random_case(PLANE, 6)
    ends_, starts = rng.normal(size=(2, steps, n, 8))
    V = np.zeros((n * steps, n * steps))
    table = rng.normal(size=(steps, n, width))
    before, found = np.zeros((n, width)), []
    for i in range(steps):
        here = slice(n * i, n * (i + 1))
        k.covariance[:] = ends_[i] @ ends_[i].T + starts[i] @ starts[i].T
        k.cross_covariance[:] = 0.4 * ends_[i - 1] @ starts[i].T if i else 0.0
        V[here, here] = k.covariance
        if i:
            last = slice(n * (i - 1), n * i)
            V[last, here], V[here, last] = k.cross_covariance, k.cross_covariance.T
        rows = table[i].copy()
        assert white(m, k, before, rows)
        m.noise_factor[:] = k.noise_factor
        m.counts[ROWS_HERE] += 1
        before = rows
        found.append(rows)
    expected = np.linalg.solve(np.linalg.cholesky(V), table.reshape(-1, width))
    np.testing.assert_allclose(np.vstack(found), expected, rtol=1e-8, atol=1e-10)
