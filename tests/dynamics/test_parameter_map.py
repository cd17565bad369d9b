"""What is made in advance for live filters equals what is made anew every time."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.dynamics import flatten
from freefloat.dynamics.equations import no_inputs, observe, observe_sets
from freefloat.dynamics.named_parameters import with_parameter_values
from freefloat.dynamics.parameter_map import ParameterMap
from freefloat.dynamics.tree import System
from freefloat.model import load_model

NAMES = {
    "servicer": ("bus.mass", "bus.ixy", "target.mx", "hinge_l1.stiffness", "tank.length"),
    "servicer-slosh": ("tank.mass", "tank.length", "bus.mass", "bus.iyy"),
    "cbk-arm": ("arm_1.drive.stiffness", "arm_1.drive.damping", "arm_1.drive.inertia"),
}


def values_near(system: System, names: tuple[str, ...], n: int) -> np.ndarray:
    """Sets of values about those of the model."""
    model = system.model
    known = {f"{b.name}.{f}": v for b in model.assembly.bodies
             for f, v in zip(("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
                             b.phi, strict=True)}  # fmt: skip
    known |= {f"{t.name}.{f}": getattr(t, f) for t in model.tanks for f in ("mass", "length")}
    known |= {f"{s.owner}.{f}": getattr(s, f) for s in model.assembly.springs
              for f in ("stiffness", "damping")}  # fmt: skip
    start = np.array([known.get(name, 1.0) for name in names])
    return start * np.random.default_rng(0).uniform(0.7, 1.3, size=(n, len(names)))


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_those_of_the_values(name):
    system, names = flatten(load_model(name)), NAMES[name]
    values = values_near(system, names, 4)
    found = ParameterMap(system, names, values[0])
    sets = found.arrays(values)
    for k, row in enumerate(values):
        expected = with_parameter_values(system, dict(zip(names, map(float, row), strict=True)))
        for many, one, own in zip(
            sets, expected.parameters, found.system(row).parameters, strict=True
        ):
            np.testing.assert_allclose(many[k], one, rtol=1e-12, atol=1e-10)  # sums of 1e3
            np.testing.assert_array_equal(many[k], own)


def test_sets_are_observed_as_one_by_one():
    system, names = flatten(load_model("servicer-slosh")), NAMES["servicer-slosh"]
    values = values_near(system, names, 3)
    found = ParameterMap(system, names, values[0])
    states = np.zeros((3, system.layout.width))
    states[:, 6] = 1.0
    states[:, 10:13] = np.random.default_rng(2).normal(size=(3, 3))
    inputs, times = no_inputs(system), np.arange(3.0)
    whole = observe_sets(system, found.arrays(values), states, inputs=inputs, times=times)
    for k, row in enumerate(values):
        own = observe(found.system(row), states[k], inputs=inputs, times=times[k : k + 1])
        np.testing.assert_array_equal(whole.accelerations[k], own.accelerations[0])
        np.testing.assert_array_equal(whole.forces[k], own.forces[0])
