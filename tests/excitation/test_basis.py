"""Families of motions: linear in their coefficients, at rest at both ends, smooth."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from freefloat.excitation.basis import Basis, Shape

SHAPES = get_args(Shape)


def family(shape: str) -> Basis:
    return Basis(shape, 12.0, 4, 5.0 if shape == "sinusoid" else None)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_motions_are_sums_of_the_columns(shape):
    basis, t = family(shape), np.linspace(0.0, 12.0, 61)
    c = np.random.default_rng(0).normal(size=basis.n)
    motion = basis.motion(c, home=0.3, speed=2.0)
    still = basis.motion(np.zeros(basis.n), home=0.3, speed=2.0)
    for order, (moved, rest) in enumerate(zip(motion.at(t), still.at(t), strict=True)):
        # rounding of a quintic's coefficients, some of which are large
        np.testing.assert_allclose(moved - rest, basis.columns(t)[order] @ c, atol=1e-10)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "speeds"])
def test_motions_start_and_end_at_home_and_at_rest(shape):
    basis = family(shape)
    motion = basis.motion(np.random.default_rng(1).normal(size=basis.n), home=-0.4)
    q, dq, ddq = motion.at(np.array([0.0, 12.0]))
    np.testing.assert_allclose(q, -0.4, atol=1e-12)
    np.testing.assert_allclose([dq, ddq], 0.0, atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_are_derivatives(shape):
    basis, t, h = family(shape), np.linspace(0.5, 11.5, 45), 1e-5
    before, here, after = (basis.columns(t + d) for d in (-h, 0.0, h))
    for order in range(2):  # central differences: their error is h^2 times a third derivative
        slope = (after[order] - before[order]) / (2.0 * h)
        np.testing.assert_allclose(here[order + 1], slope, atol=1e-6 * np.abs(here[1:3]).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_our_coefficients_are_well_conditioned_where_the_raw_ones_are_not(shape):
    basis, t = family(shape), np.linspace(0.0, 12.0, 400)
    mix = basis.orthonormal(reach=0.5, rate=0.2)
    order = 1 if shape == "speeds" else 0
    curves = basis.columns(t)[order : order + 2]
    own = np.vstack([curves[0] / 0.5, curves[1] / 0.2])
    assert np.linalg.cond(own @ mix) < 1.1  # another grid than the one it was made on
    if shape == "fourier":
        assert np.linalg.cond(own) > 10.0
