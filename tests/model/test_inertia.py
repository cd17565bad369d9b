"""Inertial parameters: three ways to write them, moves, derivatives and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from systems import random_body

from freefloat.model import inertia as inertial
from freefloat.model.rotations import matrix_from_rpy, skew

seeds = st.integers(0, 2**31)


def random_phi(seed: int) -> np.ndarray:
    return random_body(np.random.default_rng(seed), "b").phi


def points(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 2.0, 7), rng.normal(size=(7, 3))


def phi_of_points(masses: np.ndarray, places: np.ndarray) -> np.ndarray:
    """phi by its definition, as sums over points."""
    tensor = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True)
    )
    return np.concatenate([[masses.sum()], masses @ places, inertial.six(tensor)])


@given(seeds)
def test_ways_of_writing_the_same_body_agree(seed):
    phi = random_phi(seed)
    # each way and back: rounding of sums of numbers near one
    np.testing.assert_allclose(
        inertial.phi_from_com(*inertial.com_from_phi(phi)), phi, rtol=1e-12, atol=1e-12
    )
    J = inertial.pseudo_inertia(phi)
    np.testing.assert_allclose(inertial.phi_from_pseudo_inertia(J), phi, rtol=1e-12, atol=1e-13)
    theta = inertial.log_cholesky_from_phi(phi)
    again = inertial.phi_from_log_cholesky(theta)
    np.testing.assert_allclose(again, phi, rtol=1e-11, atol=1e-11)  # a factorisation and a square
    assert np.linalg.eigvalsh(J)[0] > 0


@given(st.lists(st.floats(-2, 2), min_size=10, max_size=10))
def test_every_log_cholesky_vector_is_a_physical_body(theta):
    phi = inertial.phi_from_log_cholesky(theta)
    assert inertial.inconsistency(phi) is None
    back = inertial.log_cholesky_from_phi(phi)
    # the factorisation loses digits where exp(d) is small beside the off-diagonal entries
    np.testing.assert_allclose(back, theta, atol=1e-8)


@given(seeds)
def test_pseudo_inertia_is_the_second_moment(seed):
    masses, places = points(seed)
    homogeneous = np.column_stack([places, np.ones(7)])
    J = (homogeneous * masses[:, None]).T @ homogeneous
    phi = phi_of_points(masses, places)
    np.testing.assert_allclose(inertial.pseudo_inertia(phi), J, rtol=1e-12, atol=1e-12)


@given(seeds)
def test_log_cholesky_jacobian(seed):
    theta = np.random.default_rng(seed).normal(size=10) * 0.5
    J, h = inertial.log_cholesky_jacobian(theta), 1e-6
    differences = np.column_stack(
        [
            (
                inertial.phi_from_log_cholesky(theta + h * unit)
                - inertial.phi_from_log_cholesky(theta - h * unit)
            )
            / (2 * h)
            for unit in np.eye(10)
        ]
    )
    # central differences: h^2 and 1e-16 / h, both near 1e-10 of values up to 100
    np.testing.assert_allclose(J, differences, rtol=1e-7, atol=1e-7)
    assert abs(np.linalg.det(J)) > 0


@given(seeds)
def test_moved_is_the_body_seen_from_elsewhere(seed):
    masses, places = points(seed)
    rng = np.random.default_rng(seed + 1)
    R, p = matrix_from_rpy(rng.normal(size=3)), rng.normal(size=3)
    there = phi_of_points(masses, places @ R.T + p)
    X = inertial.phi_transform(R, p)
    np.testing.assert_allclose(X @ phi_of_points(masses, places), there, rtol=1e-11, atol=1e-11)
    back = inertial.phi_transform(R.T, -R.T @ p)
    np.testing.assert_allclose(back @ X, np.eye(10), atol=1e-11)


@given(seeds)
def test_spatial_inertia_gives_the_kinetic_energy(seed):
    masses, places = points(seed)
    rng = np.random.default_rng(seed + 2)
    w, v = rng.normal(size=3), rng.normal(size=3)
    speeds = v + np.cross(w, places)
    energy = 0.5 * np.sum(masses * np.sum(speeds**2, axis=1))
    twist = np.concatenate([w, v])
    M = inertial.spatial_inertia(phi_of_points(masses, places))
    assert 0.5 * twist @ M @ twist == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(M[:3, 3:], skew(masses @ places), atol=1e-12)


def test_divergence_is_zero_only_at_the_prior():
    prior, other = random_phi(1), random_phi(2)
    assert inertial.divergence(prior, prior) == pytest.approx(0.0, abs=1e-10)
    assert inertial.divergence(other, prior) > 0.1
    assert inertial.divergence(-other, prior) == np.inf  # four negative eigenvalues: det > 0


@given(seeds)
def test_divergence_by_its_formula(seed):
    phi, prior = random_phi(seed), random_phi(seed + 1)
    ratio = np.linalg.solve(inertial.pseudo_inertia(prior), inertial.pseudo_inertia(phi))
    expected = np.trace(ratio) - np.log(np.linalg.det(ratio)) - 4.0
    assert inertial.divergence(phi, prior) == pytest.approx(expected, rel=1e-9)


def body(mass: float, *inertia: float, com=(0.0, 0.0, 0.0)) -> np.ndarray:
    return inertial.phi_from_com(mass, com, inertia)


@pytest.mark.parametrize(
    "phi",
    [
        body(1, 1, 0, 0, 1, 0, 1),
        body(1, 0, 0, 0, 0, 0, 0),  # a point mass
        body(1, 0, 0, 0, 0, 0, 0, com=(3, 2, 1)),
        body(2, 1, 0, 0, 1, 0, 0),  # a rod
        body(2, 0.5, 0, 0, 0.5, 0, 1),  # a plate
        body(0, 0, 0, 0, 0, 0, 0),  # massless
        body(1e-9, 1e-15, 0, 0, 1e-15, 0, 1e-15),
        body(1e9, 1e15, 0, 0, 1e15, 0, 1e15),
    ],
)
def test_real_bodies_are_consistent(phi):
    assert inertial.inconsistency(phi) is None


@pytest.mark.parametrize(
    ("phi", "reason"),
    [
        (body(-1, 1, 0, 0, 1, 0, 1), "a negative mass, -1 kg"),
        (body(1, -1, 0, 0, 1, 0, 1), "a negative principal inertia"),
        (body(1, 1, 2, 0, 1, 0, 1), "a negative principal"),  # products too large
        (body(1, 1, 0, 0, 1, 0, 3), "triangle inequality"),
        (body(0, 1, 0, 0, 1, 0, 1), "a moment of inertia but no mass"),
        (np.array([0, 1, 0, 0, 0, 0, 0, 0, 0, 0.0]), "a first moment but no mass"),
        (np.full(10, np.nan), "not finite"),
        (np.full(10, np.inf), "not finite"),
    ],
)
def test_impossible_bodies_are_told(phi, reason):
    assert reason in (inertial.inconsistency(phi) or "")


def test_log_cholesky_refuses_what_is_not_physical():
    with pytest.raises(ValueError, match="positive definite"):
        inertial.log_cholesky_from_phi(body(1, 1, 0, 0, 1, 0, 3))
