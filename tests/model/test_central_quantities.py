"""Quantities about the centre of mass: values by construction, derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.model import inertia as inertial
from freefloat.model.central_quantities import QUANTITIES, central_quantities, inputs_of
from freefloat.model.rotations import matrix_from_rpy

MOMENTS = np.array([1.0, 2.0, 2.5])


def phi_of(rpy):
    R = matrix_from_rpy(rpy)
    six = inertial.six(R @ np.diag(MOMENTS) @ R.T)
    return inertial.phi_from_com(5.0, [0.1, 0.2, -0.3], six)


@pytest.mark.parametrize("rpy", [(0, 0, 0), (0.3, -0.2, 0.5), (1e-8, 0, 0), (2.0, 1.0, 0.4)])
def test_derivatives_are_those_of_differences(rpy):
    phi, step = phi_of(rpy), 1e-6
    found = central_quantities(phi)
    ends = [
        [central_quantities(phi + s * e).values for s in (step, -step)] for e in np.eye(10)
    ]  # fmt: skip
    slopes = np.array([(up - down) / (2.0 * step) for up, down in ends]).T
    # rounding of 1e-16 over a step of 1e-6, and its square times third derivatives of about 100
    assert np.allclose(found.jacobian, slopes, atol=1e-8)


def test_an_axis_is_named_by_the_closest_of_the_body_and_tilted_from_it():
    found = dict(zip(QUANTITIES, central_quantities(phi_of((0.0, 0.0, 0.2))).values, strict=True))
    assert [found[f"moment.{axis}"] for axis in "xyz"] == pytest.approx(MOMENTS, rel=1e-12)
    assert found["tilt.x.z"] == pytest.approx(0.2, abs=1e-12)  # the rotation it was made with
    assert found["tilt.y.z"] == pytest.approx(0.2, abs=1e-12)
    for name in ("tilt.x.y", "tilt.y.x", "tilt.z.x", "tilt.z.y"):
        assert abs(found[name]) < 1e-12  # rounding


def test_inputs_are_all_that_a_quantity_changes_with():
    found = central_quantities(phi_of((0.3, -0.2, 0.5)))
    for name, row in zip(QUANTITIES, found.jacobian, strict=True):
        changing = {n for n, slope in zip(inertial.NAMES, row, strict=True) if slope != 0.0}
        assert changing <= inputs_of(name)
        # of a body without any symmetry every input counts
        assert changing == inputs_of(name) or name == "mass"


def test_equal_moments_have_no_derivative_of_their_axes():
    phi = inertial.phi_from_com(5.0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0, 1.5])
    found = dict(zip(QUANTITIES, central_quantities(phi).jacobian, strict=True))
    assert np.isnan(found["tilt.x.z"]).any()
    assert np.isfinite(found["moment.x"]).all()
