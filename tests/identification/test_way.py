"""The way of the root with switching thrust, against the simulated position."""

from __future__ import annotations

import numpy as np
import pytest
from live_flights import clean_flight

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.identification.linear.way import running_integral, way_of_root
from freefloat.identification.reading import samples_of


@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture"])
def test_kinks_of_thrust_are_not_blurred(name):
    system, flight = flatten(ff.load_model(name)), clean_flight(name)
    samples = samples_of(system, flight, ("attitude", "rate", "velocity", "q", "dq"))
    where = np.column_stack([flight[f"base.position.{axis}"].values for axis in "xyz"])
    steps = np.diff(where - where[0], axis=0)
    assert samples.velocity is not None
    switched = np.flatnonzero(np.any(np.diff(samples.thrust, axis=0) != 0.0, axis=1))
    near = np.unique([switched, switched + 1])

    def missed(way: np.ndarray) -> float:
        return float(np.sqrt(np.mean(np.square(np.diff(way, axis=0) - steps)[near])))

    spline = missed(running_integral(samples.time, samples.velocity))
    exact = missed(way_of_root(system, samples))
    # what is left is what a spline misses anywhere, where joints start and stop
    assert exact < 0.2 * spline
