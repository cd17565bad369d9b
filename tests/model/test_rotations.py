"""Rotations: every way there has its way back, and they agree with SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from freefloat.model import rotations

angles = st.floats(-10, 10)
vectors = st.tuples(angles, angles, angles)
TOLERANCE = 1e-12  # a handful of sines, cosines and products of numbers up to one


@given(vectors)
@example((0.0, np.pi / 2, 0.3))
@example((0.4, -np.pi / 2, 0.3))
@example((0.4, np.pi / 2 - 1e-9, 0.3))
def test_roll_pitch_yaw(rpy):
    R = rotations.matrix_from_rpy(rpy)
    expected = Rotation.from_euler("xyz", rpy).as_matrix()
    np.testing.assert_allclose(R, expected, atol=TOLERANCE)
    again = rotations.matrix_from_rpy(rotations.rpy_from_matrix(R))
    np.testing.assert_allclose(again, R, atol=TOLERANCE)


@given(vectors)
@example((np.pi, 0.0, 0.0))
@example((0.0, np.pi, 0.0))
def test_quaternions(rpy):
    R = rotations.matrix_from_rpy(rpy)
    q = rotations.quaternion_from_matrix(R)
    assert q[3] >= 0
    np.testing.assert_allclose(rotations.matrix_from_quaternion(q), R, atol=TOLERANCE)
    np.testing.assert_allclose(rotations.matrix_from_quaternion(-3 * q), R, atol=TOLERANCE)
    expected = Rotation.from_matrix(R).as_quat()
    assert min(np.abs(q - expected).max(), np.abs(q + expected).max()) < 1e-9  # an eigenvector


@given(vectors, vectors)
def test_products_and_inverses(a, b):
    p, q = (rotations.quaternion_from_matrix(rotations.matrix_from_rpy(v)) for v in (a, b))
    product = rotations.matrix_from_quaternion(rotations.quaternion_product(p, q))
    both = rotations.matrix_from_rpy(a) @ rotations.matrix_from_rpy(b)
    np.testing.assert_allclose(product, both, atol=TOLERANCE)
    unit = rotations.quaternion_product(p, rotations.conjugate(p))
    np.testing.assert_allclose(unit, [0, 0, 0, 1], atol=TOLERANCE)


@given(st.tuples(*[st.floats(-1.8, 1.8)] * 3))
@example((0.0, 0.0, 0.0))
@example((1e-13, 0.0, 0.0))
@example((1e-7, -1e-7, 0.0))
def test_rotation_vectors(theta):
    q = rotations.quaternion_from_rotation_vector(theta)
    expected = Rotation.from_rotvec(theta).as_matrix()
    np.testing.assert_allclose(rotations.matrix_from_quaternion(q), expected, atol=TOLERANCE)
    np.testing.assert_allclose(rotations.rotation_vector_from_quaternion(q), theta, atol=1e-9)


def test_rows_are_allowed():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(5, 3))
    q = rotations.quaternion_from_rotation_vector(theta)
    np.testing.assert_allclose(rotations.rotation_vector_from_quaternion(-q), theta, atol=1e-12)
    one = rotations.quaternion_product(q, rotations.conjugate(q))
    np.testing.assert_allclose(one, np.tile([0, 0, 0, 1], (5, 1)), atol=TOLERANCE)


@given(vectors)
@example((0.0, 0.0, 1.0))
@example((0.0, 0.0, -1.0))
@example((1e-9, 0.0, 1.0))
@example((1e-7, 1e-7, 1.0))
def test_frame_with_z(axis):
    if np.linalg.norm(axis) < 1e-6:
        axis = (0.0, 0.0, 1.0)
    R = rotations.frame_with_z(axis)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=TOLERANCE)
    assert np.linalg.det(R) == pytest.approx(1.0)
    unit = np.asarray(axis) / np.linalg.norm(axis)
    np.testing.assert_allclose(R[:, 2], unit, atol=1e-15)  # to the last digit, however near z


def test_frame_with_z_is_the_identity_for_z():
    assert rotations.frame_with_z([0.0, 0.0, 2.0]).tolist() == np.eye(3).tolist()


def test_skew():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([-0.5, 4.0, 0.1])
    np.testing.assert_allclose(rotations.skew(a) @ b, np.cross(a, b))
