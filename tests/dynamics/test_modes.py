"""Modes beside closed forms and beside an eigenproblem that keeps the root's motion."""

from __future__ import annotations

import numpy as np
import pytest
from systems import damped, frequencies, spacecraft

from freefloat.dynamics import flatten
from freefloat.dynamics.modes import modes
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Body, Root, Tank


@pytest.mark.parametrize("kind", ["flexible", "slosh"])
def test_modes_of_spacecraft(kind):
    """Eliminating the root gives what the whole, singular eigenproblem gives."""
    for seed in range(5):
        model = spacecraft(kind, seed)
        found = [mode.frequency for mode in modes(model)]
        assert found == pytest.approx(frequencies(flatten(model)), rel=1e-10)


def test_slosh_on_a_free_base():
    """With the pivot at the CoM: w^2 = k (1 / I + 1 / mu l^2) about either axis."""
    tank = Tank("fuel", "bus", 60.0, 0.4, stiffness=(25.0, 16.0), damping=(0.5, 0.4))
    bus = Body("bus", 300.0, (0.0, 0.0, 0.0), (150.0, 0.0, 0.0, 110.0, 0.0, 90.0))
    found = modes(Model("tanked", Root("bus"), (bus,), tanks=(tank,)))
    reduced = 60.0 * 300.0 / 360.0 * 0.4**2
    for k, d, inertia in ((16.0, 0.4, 110.0), (25.0, 0.5, 150.0)):
        w = np.sqrt(k * (1.0 / inertia + 1.0 / reduced))
        mode = min(found, key=lambda m, w=w: abs(m.frequency - w / (2.0 * np.pi)))
        assert mode.frequency == pytest.approx(w / (2.0 * np.pi), rel=1e-12)
        assert mode.damping == pytest.approx(d / (2.0 * k) * w, rel=1e-9)


def test_damping_ratio_of_proportional_damping():
    """D = s K gives every mode the ratio s w / 2."""
    model = spacecraft("flexible", 2)
    share = 2.0 * 0.02 / (2.0 * np.pi * 0.5)  # as `damped` does it
    for mode, hertz in zip(modes(damped(model)), frequencies(flatten(model)), strict=True):
        assert mode.damping == pytest.approx(0.5 * share * 2.0 * np.pi * hertz, rel=1e-6)


def test_wings_of_the_servicer():
    found = modes(load_model("servicer-wings"))
    assert [round(mode.frequency, 2) for mode in found] == [0.14, 0.23, 0.66, 0.68]
