"""The way of the root with switching thrust, against the simulated position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from exciting_plans import exciting_plan
from live_flights import clean_flight, truth, wanted

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.excitation.commands import Pulses
from freefloat.identification.linear.momentum import root_displacement, running_integral
from freefloat.identification.linear.sample_reader import samples_of


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
    exact = missed(root_displacement(system, samples))
    # what is left is what a spline misses anywhere, where joints start and stop
    assert exact < 0.2 * spline


def test_valves_that_switch_between_samples_of_a_turning_base_do_not_mislead():
    """Means have the size of an impulse; its direction needs the instant of the switch."""
    name = "spatial-capture"
    model, plan = ff.load_model(name), exciting_plan(ff.load_model(name))
    late = {
        valve: Pulses(tuple((begin + 0.05, *rest) for begin, *rest in commanded.pulses))
        for valve, commanded in plan.thrusts.items()
        if isinstance(commanded, Pulses)
    }
    flight = ff.simulate(model, replace(plan, thrusts=late), seed=0)
    fit = identify(model, wanted(name), flight, method="momentum", physical=False)
    values = np.array([fit[p.name].value for p in wanted(name).free_ones])
    std = np.array([fit[p.name].std for p in wanted(name).free_ones])
    # 20 correlated errors of one flight; with means turned as a whole it was 7
    assert np.sqrt(np.mean(((values - truth(name)) / std) ** 2)) < 2.0
