"""The system as a whole, by NumPy, is what the kernels and the mass properties say."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.dynamics import balance, flatten
from freefloat.dynamics.system_inertia import system_inertia
from freefloat.model import builtin_models, load_model
from freefloat.model.mass_properties import mass_properties

NAMES = [model.name for model in builtin_models()]


def random_states(system, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n, 13 + 2 * system.n_coordinates))
    states[:, 3:7] /= np.linalg.norm(states[:, 3:7], axis=1, keepdims=True)
    return states


@pytest.mark.parametrize("name", NAMES)
def test_momentum_and_com_are_the_kernels(name):
    system = flatten(load_model(name))
    states = random_states(system, 20, seed=1)
    found, expected = system_inertia(system, states), balance(system, states)
    assert found.mass == pytest.approx(expected.mass, rel=1e-14)  # another order of the same sum
    # A few hundred roundings of numbers of about this size.
    size = np.abs(expected.linear_momentum).max()
    np.testing.assert_allclose(found.com, expected.com, atol=1e-13, rtol=0)
    np.testing.assert_allclose(found.momentum, expected.linear_momentum, atol=1e-13 * size, rtol=0)
    spin = expected.angular_momentum_about_com
    size = np.abs(spin).max() + size
    np.testing.assert_allclose(found.spin, spin, atol=1e-12 * size, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_inertia_is_that_of_the_mass_properties(name):
    model = load_model(name)
    system = flatten(model)
    states = random_states(system, 3, seed=2)
    found = system_inertia(system, states)
    for row, inertia in zip(states, found.inertia, strict=True):
        q = dict(zip(system.coordinates, row[13 : 13 + system.n_coordinates], strict=True))
        expected = mass_properties(model, posture=q).principal
        np.testing.assert_allclose(np.linalg.eigvalsh(inertia), expected, rtol=1e-10)  # rounding
