"""Slow attitudes beside fast gyros and thrust: live, right flights are trusted, wrong ones not."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from exciting_plans import exciting_plan
from live_flights import truth, wanted

import freefloat as ff
from freefloat.excitation.commands import Pulses
from freefloat.online.trials import Trials

# [Hz]; those of the last share hardly an instant, and stand for the others in the short run
RATES = [
    pytest.param((25.0, 50.0), marks=pytest.mark.full),
    pytest.param((10.0, 100.0), marks=pytest.mark.full),
    (30.0, 50.0),
]
SLOW = ("position", "attitude")


@lru_cache(maxsize=8)
def flight(name: str, slow: float, fast: float, seed: int) -> ff.Telemetry:
    """Thrusters pulse at any instants, so that some switch within every frame's reach."""
    model, rng = ff.load_model(name), np.random.default_rng(seed)
    thrusts = {}
    for thruster in model.thrusters:
        starts = np.cumsum(rng.uniform(1.6, 7.5, 30)) - 1.5
        pulses = [(float(t), float(rng.uniform(0.3, 1.5)), 5.0) for t in starts if t < 57.0]
        thrusts[thruster.name] = Pulses(tuple(pulses))
    sensors = tuple(replace(s, rate=slow if s.kind in SLOW else fast) for s in model.sensors)
    plan = replace(exciting_plan(model), thrusts=thrusts)
    return ff.simulate(model, plan, sensors=sensors, seed=seed)


def tracked(name: str, seen: ff.Telemetry, **options: object) -> ff.OnlineEstimator:
    found = ff.OnlineEstimator(ff.load_model(name), wanted(name), like=seen, **options)  # type: ignore[arg-type]
    found.run(seen)
    return found


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize(("name", "seeds"), [("planar-capture", 3), ("spatial-capture", 1)])
def test_a_right_flight_is_trusted(name, seeds, rates):
    errors = []
    for seed in range(seeds):
        found = tracked(name, flight(name, *rates, seed)).estimate
        assert found.grade == "trusted", [e.code for e in found.assessment.reasons]
        errors.append((found.values - truth(name)) / found.std)
    # twenty or so strongly correlated errors: their rms stays within a factor of two of one
    assert float(np.sqrt(np.mean(np.square(errors)))) < 2.0


@pytest.mark.full
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture"])
def test_right_flights_are_trusted_over_many_seeds(name, rates):
    errors, grades = [], []
    for seed in range(10, 30):
        found = tracked(name, flight(name, *rates, seed)).estimate
        grades.append(found.grade)
        errors.append((found.values - truth(name)) / found.std)
    assert grades.count("trusted") >= 19  # of 20: one in fifty may fail by chance
    # of 20 flights: correlated within a flight, so the mean square is known to some 20 %
    assert 0.8 < float(np.sqrt(np.mean(np.square(errors)))) < 1.3


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("wrong", ["base.rate.z", "base.velocity.x"])
def test_a_wrong_flight_is_not(wrong, rates):
    """A sensor that reads 3 % too much, which momentum of the right robot cannot have."""
    seen = flight("planar-capture", *rates, 0)
    channel = seen[wrong]
    scaled = seen.with_channels(replace(channel, values=1.03 * channel.values))
    assert tracked("planar-capture", scaled).estimate.grade != "trusted"


@pytest.mark.parametrize("walk", [{}, {"bus.mass": 1e-3}])
def test_trials_read_innovations_and_not_what_walks_leave_in_their_place(walk):
    """Of parameters, and of the momentum where an impulse is not known for sure."""
    found = tracked("planar-capture", flight("planar-capture", 10.0, 100.0, 0), random_walk=walk)
    own = found.filter
    trial = Trials(own, own.kept.table()).begin()  # type: ignore[attr-defined,arg-type]
    power = np.mean(np.square(trial.innovations[trial.clear :]), axis=0)
    # of 280 samples each row's power is one within 8 % as a deviation; bounds make some smaller
    assert np.all(power > 0.3) and np.all(power < 1.5)
