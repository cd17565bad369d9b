"""Impulses of thrusters and of a commanded wrench on a moving root, against fine quadrature."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from freefloat.model.rotations import matrix_from_quaternion, quaternion_from_rotation_vector
from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.external_impulses import (
    MILNE,
    add_angular_impulse,
    add_impulse,
    add_wrench_impulse,
    add_wrench_lever,
    correct_impulse,
    cubic_moment,
)
from freefloat.online.kernels.input_moments import add_level, lagrange

Memory = namedtuple("Memory", "rate velocity")
Scratch = namedtuple(
    "Scratch",
    "sample axes velocities positions coefficients gain other_impulse impulse_variance lag"
    " small_turn",
)
TIMES = np.array([-0.2, -0.1, 0.0, 0.1])  # [s]: the interval is the last one
RATE = np.array([0.3, -0.2, 0.5])  # [rad/s]
START, DRIFT, CURVE = np.array([[0.1, 0.2, -0.1], [0.4, -0.3, 0.2], [0.2, 0.1, -0.3]])


def axes_at(t: float) -> np.ndarray:
    """A root that turns at a constant rate (the same in root and world axes)."""
    return matrix_from_quaternion(quaternion_from_rotation_vector(RATE * t))


def position_at(t: float) -> np.ndarray:
    """Where the root is, from the interval's start on."""
    return DRIFT * t + CURVE * t**2


def moving() -> tuple[Memory, Scratch]:
    sample = np.zeros(14)
    sample[:3] = RATE
    axes = np.array([axes_at(t).ravel() for t in TIMES])
    velocities = np.array([DRIFT + 2.0 * CURVE * t for t in TIMES])
    k = Scratch(
        sample, axes, velocities, np.array([position_at(t) for t in TIMES]), np.zeros((4, 4)),
        np.zeros(12), np.zeros(6), np.zeros(6), np.zeros(3), np.zeros(3),
    )  # fmt: skip
    k.gain[:3] = position_at(0.1)
    return Memory(RATE.copy(), velocities[2].copy()), k


@kernel
def thrust(thruster, moments, m, k, times, level, a, b):
    add_level(moments, level, a, b)
    lagrange(times, 0, 0.0, k.coefficients)
    add_impulse(thruster, moments, m, k, 0, 0.1)
    add_angular_impulse(thruster, moments, m, k, 0, 0.1)


@kernel
def correct(k):
    for axis in range(6):
        correct_impulse(k, axis)


@kernel
def wrench(moments, k):
    add_wrench_impulse(moments, k)
    add_wrench_lever(moments, k, 0.1)


@kernel
def moment(moments, power, h, a, da, b, db):
    return cubic_moment(moments, power, h, a, da, b, db)


def integral(function, a: float, b: float) -> np.ndarray:
    """Gauss-Legendre with twenty nodes: exact to rounding for what is smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    points = 0.5 * (b - a) * nodes + 0.5 * (a + b)
    return 0.5 * (b - a) * sum(w * function(t) for w, t in zip(weights, points, strict=True))


def test_a_cubic_moment_is_exact_for_a_cubic():
    rng, h = np.random.default_rng(0), 0.4
    cubic, level = Polynomial(rng.normal(size=4)), Polynomial(rng.normal(size=3))
    moments = np.array([
        (level * Polynomial([0.0] * i + [1.0])).integ()(h) for i in range(5)
    ])  # fmt: skip
    slope = cubic.deriv()
    for power in range(2):
        whole = (level * cubic * Polynomial([0.0] * power + [1.0])).integ()(h)
        found = moment(moments, power, h, cubic(0.0), slope(0.0), cubic(h), slope(h))
        assert found == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.1), (0.03, 0.08)])
def test_a_thruster_on_a_moving_root(a, b):
    thruster, (m, k) = np.array([0.4, -0.1, 0.2, 1.0, -2.0, 0.5]), moving()
    thrust(thruster, np.zeros(5), m, k, TIMES, 3.0, a, b)

    def force(t: float) -> np.ndarray:
        return 3.0 * axes_at(t) @ thruster[3:]

    def torque(t: float) -> np.ndarray:
        return 3.0 * axes_at(t) @ thruster[:3] + np.cross(position_at(t), force(t))

    impulse, turn = integral(force, a, b), integral(torque, a, b)
    # a cubic with the slopes of both ends is off by h^4 / 384 of the fourth derivative: at most
    # 0.9 N/s4 of the force and 14 N m/s4 of the torque here, for 0.1 s
    np.testing.assert_allclose(k.gain[3:6], impulse, rtol=0.0, atol=2.4e-8)
    np.testing.assert_allclose(k.gain[6:9], turn, rtol=0.0, atol=3.7e-7)
    # the rule through the last four samples has 19 times the error of the other
    np.testing.assert_allclose(k.other_impulse[:3], impulse, rtol=0.0, atol=19 * 2.4e-8)
    np.testing.assert_allclose(k.other_impulse[3:], turn, rtol=0.0, atol=19 * 3.7e-7)
    np.testing.assert_allclose(k.lag, integral(lambda t: t * force(t), a, b), rtol=0.0, atol=2.4e-9)


def test_the_difference_of_two_rules_is_taken_off_and_counted():
    _, k = moving()
    k.gain[3:9], k.other_impulse[:] = np.arange(6.0), np.arange(6.0) + 0.2
    correct(k)
    np.testing.assert_allclose(k.gain[3:9], np.arange(6.0) + 0.2 * MILNE)
    np.testing.assert_allclose(k.impulse_variance, (0.2 * MILNE) ** 2)


def test_a_commanded_force_acts_where_the_root_is():
    rng, (_, k) = np.random.default_rng(1), moving()
    force = [Polynomial(rng.normal(size=3)) for _ in range(3)]
    moments = np.zeros((6, 4))
    for axis in range(3):
        for power in range(4):
            whole = (force[axis] * Polynomial([0.0] * power + [1.0])).integ()
            moments[3 + axis, power] = whole(0.1)
    wrench(moments, k)

    def at(t: float) -> np.ndarray:
        return np.array([f(t) for f in force])

    np.testing.assert_allclose(k.gain[3:6], integral(at, 0.0, 0.1), rtol=1e-12)
    np.testing.assert_allclose(k.lag, integral(lambda t: t * at(t), 0.0, 0.1), rtol=1e-12)
    # the root's way is quadratic here, which the cubic with the velocities of both ends has exactly
    expected = integral(lambda t: np.cross(position_at(t), at(t)), 0.0, 0.1)
    np.testing.assert_allclose(k.gain[6:9], expected, rtol=1e-9, atol=1e-13)
