"""The numbers of a mechanism and its answers to its joints, as the kernels of the Kalman filter."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.dynamics.parameter_map import ParameterMap
from freefloat.numba_.compilation import kernel
from freefloat.online.kalman_arrays import parameter_table
from freefloat.online.kernels.joint_responses import set_parameters


@kernel
def fill(table, values):
    set_parameters(table, values)


@pytest.mark.parametrize("names", [("bus.mass", "tank.length"), ("tank.mass", "bus.iyy")])
def test_numbers_of_a_mechanism_are_those_of_the_map(names):
    system = flatten(ff.load_model("servicer-slosh"))
    start = np.array([3.0, 0.4])
    shares = np.array([[1.0, 0.0], [0.5, 2.0]])
    found = ParameterMap(system, names, start)
    table = parameter_table(found, shares)
    for values in (start, np.array([310.0, 0.5])):
        fill(table, values)
        expected = found.system(shares @ values).parameters
        whole = np.concatenate([array.ravel() for array in expected])
        np.testing.assert_allclose(table.flat, whole, rtol=1e-13, atol=1e-12 * np.abs(whole).max())
