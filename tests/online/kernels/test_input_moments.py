"""Moments of known forces over time, against NumPy's polynomials and dense linear algebra."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from freefloat.model.rotations import matrix_from_quaternion, quaternion_from_rotation_vector
from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.codes import HISTORY, INPUT_TIME, STEP, Count, Number
from freefloat.online.kernels.input_moments import (
    add_level,
    add_wrench,
    integrate_inputs,
    lagrange,
    root_acceleration,
    switch_thrusters,
)

Tree = namedtuple("Tree", "thrusters")
Problem = namedtuple("Problem", "tree n_nuisance thrust_noise")
Memory = namedtuple(
    "Memory",
    "counts numbers times velocities positions axes inertia switch_displacement"
    " switch_acceleration impulse_variance wrench_error levels level_moments wrench wrench_moments",
)


@kernel
def coefficients(times, first, origin, c):
    lagrange(times, first, origin, c)


@kernel
def held(moments, level, a, b):
    add_level(moments, level, a, b)


@kernel
def wrench_between(history, first, moments, slip, origin, a, b):
    add_wrench(history, first, moments, slip, origin, a, b)


@kernel
def accelerate(inertia, is_planar, wrench):
    return root_acceleration(inertia, is_planar, wrench[0], wrench[1], wrench[2], wrench[3],
                             wrench[4], wrench[5])  # fmt: skip


@kernel
def inputs(problem, m, t, levels, wrench, has_wrench):
    integrate_inputs(problem, m, t, levels, wrench, has_wrench)
    switch_thrusters(problem, m, t, levels)


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_polynomials_are_one_at_their_sample_and_zero_at_the_others(first):
    times, c = np.array([0.3, 0.75, 1.1, 1.6]), np.full((4, 4), np.nan)
    coefficients(times, first, 1.1, c)
    for j in range(first, 4):
        own = Polynomial(c[j])(times[first:] - 1.1)
        np.testing.assert_allclose(own, np.eye(4)[j, first:], atol=1e-12)
        np.testing.assert_array_equal(c[j, 4 - first :], 0.0)  # no higher degree than samples


def test_a_held_level_has_the_moments_of_a_constant():
    moments = np.ones(5)
    held(moments, 2.5, 0.2, 0.9)
    expected = [1.0 + 2.5 * (0.9 ** (i + 1) - 0.2 ** (i + 1)) / (i + 1) for i in range(5)]
    np.testing.assert_allclose(moments, expected, rtol=1e-14)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_wrench_runs_as_the_polynomial_through_its_last_samples(first):
    rng, origin, a, b = np.random.default_rng(first), 5.0, 0.1, 0.6
    history = np.column_stack([[3.5, 4.2, 5.1, 5.6], rng.normal(size=(4, 6))])
    moments, slip = np.zeros((6, 4)), np.zeros(6)
    wrench_between(history, first, moments, slip, origin, a, b)
    for axis in range(6):
        through = Polynomial.fit(history[first:, 0] - origin, history[first:, 1 + axis],
                                 3 - first).convert()  # fmt: skip
        for power in range(4):
            whole = (through * Polynomial([0.0] * power + [1.0])).integ()
            assert moments[axis, power] == pytest.approx(whole(b) - whole(a), abs=1e-10)
        # the error: what leaving out the oldest sample would change
        less = Polynomial.fit(history[first + 1 :, 0] - origin, history[first + 1 :, 1 + axis],
                              2 - first).convert().integ()  # fmt: skip
        expected = moments[axis, 0] - (less(b) - less(a))
        assert slip[axis] == pytest.approx(abs(expected), abs=1e-10)


def spatial_inertia(phi: np.ndarray) -> np.ndarray:
    """6 x 6 about the origin: angular first."""
    m, s = phi[0], phi[1:4]
    cross = np.array([[0.0, -s[2], s[1]], [s[2], 0.0, -s[0]], [-s[1], s[0], 0.0]])
    xx, xy, xz, yy, yz, zz = phi[4:]
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[inertia, cross], [-cross, m * np.eye(3)]])


PHI = np.array([7.0, 0.8, -0.5, 0.3, 4.0, 0.2, -0.1, 5.0, 0.3, 6.0])


@pytest.mark.parametrize("is_planar", [False, True])
def test_the_root_accelerates_as_the_spatial_inertia_says(is_planar):
    wrench = np.random.default_rng(0).normal(size=6)
    phi = PHI.copy()
    if is_planar:  # it turns about z only, and nothing pushes out of the plane
        phi[[3, 5, 6, 8]], wrench[[0, 1, 5]] = 0.0, 0.0
    expected = np.linalg.solve(spatial_inertia(phi), wrench)[3:]
    np.testing.assert_allclose(accelerate(phi, is_planar, wrench), expected, rtol=1e-12, atol=1e-14)


def begun(k: int) -> tuple[Problem, Memory]:
    rng = np.random.default_rng(k)
    thrusters = rng.normal(size=(k, 6))
    axes = matrix_from_quaternion(quaternion_from_rotation_vector(np.array([0.3, -0.2, 0.9])))
    m = Memory(
        np.zeros(len(Count), dtype=np.int64), np.zeros(len(Number)), np.array([0.7, 0.8, 0.9, 1.0]),
        rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), np.tile(axes.ravel(), (4, 1)),
        PHI.copy(), np.zeros(3), np.zeros(3), np.zeros(6), np.zeros(6),
        rng.normal(size=k), np.zeros((k, 5)), np.zeros((4, 7)), np.zeros((6, 4)),
    )  # fmt: skip
    m.counts[HISTORY], m.numbers[INPUT_TIME], m.numbers[STEP] = 4, 1.0, 0.1
    return Problem(Tree(thrusters), 3, np.zeros(k)), m


def test_levels_hold_until_they_are_told_anew_and_a_switch_is_taken_out_of_the_past():
    problem, m = begun(3)
    old, new, wrench = m.levels.copy(), np.array([1.0, 0.0, -2.0]), np.zeros(6)
    velocities, positions = m.velocities.copy(), m.positions.copy()
    inputs(problem, m, 1.05, new, wrench, False)
    inputs(problem, m, 1.1, new, wrench, False)
    powers = np.arange(5)
    expected = old[:, None] * 0.05 ** (powers + 1) / (powers + 1)
    expected += new[:, None] * (0.1 ** (powers + 1) - 0.05 ** (powers + 1)) / (powers + 1)
    np.testing.assert_allclose(m.level_moments, expected, rtol=1e-12)
    assert not m.impulse_variance.any()  # told in time
    R = m.axes[3].reshape(3, 3)
    push = problem.tree.thrusters.T @ (new - old)
    kink = R @ np.linalg.solve(spatial_inertia(PHI), push)[3:]
    np.testing.assert_allclose(m.switch_acceleration, kink, rtol=1e-12)
    ago = m.times - 1.05
    np.testing.assert_allclose(m.velocities, velocities + np.outer(ago, kink), rtol=1e-12)
    far = 0.5 * np.outer(ago**2 - 0.05**2, kink)
    np.testing.assert_allclose(m.positions, positions + far, rtol=1e-12)
    np.testing.assert_allclose(m.switch_displacement, 0.5 * kink * 0.05**2, rtol=1e-12)


def test_after_a_gap_a_switch_may_have_been_at_any_time():
    problem, m = begun(2)
    old, new = m.levels.copy(), np.array([3.0, m.levels[1]])
    R = m.axes[3].reshape(3, 3)
    inputs(problem, m, 1.5, new, np.zeros(6), False)
    # the mean of a switch anywhere in the gap, and the variance of a uniform distribution
    np.testing.assert_allclose(m.level_moments[:, 0], 0.25 * (old + new), rtol=1e-12)
    variance = (new[0] - old[0]) ** 2 * 0.5**2 / 12.0
    thruster = problem.tree.thrusters[0]
    expected = variance * np.concatenate([R @ thruster[3:], R @ thruster[:3]]) ** 2
    np.testing.assert_allclose(m.impulse_variance, expected, rtol=1e-12)


def test_noise_of_an_open_valve_is_in_the_impulse():
    problem, m = begun(2)
    problem = problem._replace(thrust_noise=np.array([0.02, 0.03]))
    m.levels[1] = 0.0  # a closed one pushes nobody
    R = m.axes[3].reshape(3, 3)
    inputs(problem, m, 1.1, m.levels.copy(), np.zeros(6), False)
    thruster = problem.tree.thrusters[0]
    expected = (0.02 * 0.1) ** 2 * np.concatenate([R @ thruster[3:], R @ thruster[:3]]) ** 2
    np.testing.assert_allclose(m.impulse_variance, expected, rtol=1e-9)
