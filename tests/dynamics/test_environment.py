"""What the surroundings give accounts for every change of momentum."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.dynamics.system_inertia import environment_wrench, momentum_change
from freefloat.prediction.flight_summary import true_states


def flight_of(model: ff.Model, **start):
    plan = replace(ff.default_plan(model, duration=20.0), start=ff.Start(**start))
    system = flatten(model)
    return system, *true_states(system, ff.simulate(model, plan))


@pytest.mark.parametrize("name", ["servicer", "ets7-load", "servicer-wings", "cepheus"])
def test_momentum_is_accounted_for(name):
    system, times, states = flight_of(ff.load_model(name))
    found = momentum_change(system, times, states)
    # RK4 at 1 ms, and the cubic spline through forces sampled at 10 Hz or more.
    assert found.linear_drift < 1e-9 and found.angular_drift < 1e-9
    if system.model.orbit is not None:
        assert found.linear > 1e-3 and found.angular > 1e-3  # there is something to account for


def test_drag_and_gravity_are_accounted_for():
    model = ff.load_model("dual-arm")
    root = replace(model.root, linear_drag=2.0, angular_drag=0.7)
    model = replace(model, root=root, gravity=(0.01, -0.02, 0.005))
    system, times, states = flight_of(model, velocity=(0.1, 0.0, 0.2), rate=(0.02, 0.01, -0.03))
    found = momentum_change(system, times, states)
    assert found.linear > 1.0 and found.angular > 1.0
    assert found.linear_drift < 1e-9 * found.linear  # the spline's error, forces at 50 Hz
    assert found.angular_drift < 1e-9 * found.angular


def test_a_planar_root_counts_in_its_plane_only():
    model = replace(ff.load_model("cepheus"), gravity=(0.0, 0.0, -9.81))
    system, times, states = flight_of(model)
    found = momentum_change(system, times, states)
    assert found.linear < 1e-12 and found.linear_drift < 1e-12  # the table carries the weight


def test_nothing_around_gives_nothing():
    system, times, states = flight_of(ff.load_model("dual-arm"))
    force, torque = environment_wrench(system, times, states)
    assert not force.any() and not torque.any()
