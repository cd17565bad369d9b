"""Total deviations and the grade of a live estimate: by trials of the flight it kept."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from live_flights import noisy, wanted

import freefloat as ff
from freefloat.online.kept_flight import MOST_SAMPLES, RESTART, SAMPLE
from freefloat.online.live_assessment import judge_flight
from freefloat.online.live_estimate import LiveEstimate
from freefloat.online.momentum_filter import MomentumFilter

PLANE = "planar-capture"


@cache
def flown() -> tuple[ff.OnlineEstimator, LiveEstimate]:
    flight = noisy(PLANE, 1)
    tracker = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=flight)
    return tracker, tracker.run(flight)


def test_a_right_flight_is_trusted_and_says_what_its_scale_rests_on():
    _, e = flown()
    assert e.grade == "trusted" and e.health.is_fine
    assert np.all(e.total_std > e.std)
    shares = {d.name: d for d in e.assessment.doubts}
    assert "thrusters.gain" in shares and shares["thrusters.gain"].is_stated
    told = e.as_dict()
    assert told["grade"] == "trusted" and told["reasons"] == []
    assert told["parameters"]["bus.mass"]["total_std"] == e.total_std[e.names.index("bus.mass")]


def test_all_masses_inherit_the_doubt_of_thrust():
    tracker, e = flown()
    thrust = 0.02  # of every thruster, and of all together, by DOUBTS
    relative = e.total_std[e.names.index("bus.mass")] / e["bus.mass"][0]
    assert 0.9 * thrust < relative < 3.0 * thrust
    model = tracker.model
    exact = replace(model, thrusters=tuple(replace(t, uncertainty=1e-6) for t in model.thrusters))
    flight = noisy(PLANE, 1)
    sure = ff.OnlineEstimator(exact, wanted(PLANE), like=flight).run(flight)
    np.testing.assert_allclose(sure.values, e.values)
    assert np.all(sure.total_std < e.total_std)
    assert sure.total_std[sure.names.index("bus.mass")] < 0.5 * relative * e["bus.mass"][0]


def test_a_wrong_arm_is_covered_by_its_stated_uncertainty_or_noticed():
    model, flight = ff.load_model(PLANE), noisy(PLANE, 1)
    heavy = model.with_body(replace(model.body("link_2"), mass=1.3 * model.body("link_2").mass))
    e = ff.OnlineEstimator(heavy, wanted(PLANE), like=flight).run(flight)
    true = np.array([{p.name: p.value for p in ff.Parameters(model)}[n] for n in e.names])
    is_wrong = np.any(np.abs(e.values - true) > 4.0 * e.total_std)
    assert e.grade != "trusted" or not is_wrong


def test_a_change_is_a_reservation_and_what_to_do_is_said():
    """Another target from half of the flight on; a mere step of the velocity is another segment."""
    flight, other = noisy(PLANE, 1), noisy("planar-capture-large", 1)
    tracker = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=flight)
    for part in (flight.between(0.0, 30.0), other.between(30.0, 60.0)):
        for sample in tracker.samples_of(part):
            tracker.update(sample)
    e = tracker.finish()
    assert e.grade != "trusted" and "change" in {event.kind for event in tracker.events}
    assert all(reason.remedy for reason in e.assessment.reasons)


def test_a_long_flight_is_thinned_out_and_kept_as_a_whole():
    tracker, _ = flown()
    own = tracker.filter
    assert isinstance(own, MomentumFilter)
    table = own.kept.table()
    samples = table.time[(table.flags & SAMPLE) > 0]
    assert len(samples) == own.kept.n_samples <= MOST_SAMPLES
    assert samples[0] == 0.0 and samples[-1] > 59.0
    assert own.kept.stride == 2 and not (table.flags & RESTART).any()


def test_a_saved_state_is_judged_alike(tmp_path):
    tracker, e = flown()
    tracker.save(tmp_path / "state")
    other = ff.OnlineEstimator(tracker.model, tracker.parameters, like=noisy(PLANE, 1))
    other.restore(tmp_path / "state")
    np.testing.assert_array_equal(other.estimate.total_std, e.total_std)


@pytest.mark.parametrize("name", ["bodies.scale", "arm_1.zero", "gravity.x", "drag.angular"])
def test_what_the_model_takes_as_exact_is_tried(name):
    tracker, e = flown()
    own = tracker.filter
    assert isinstance(own, MomentumFilter) and e.judgement is not None
    trust = judge_flight(own, e.std, own.options.trust)
    assert trust is not None
    names = [a.name for a in trust.considered.assumptions]
    k = names.index(name)
    assert np.any(trust.considered.moves[:, k] != 0.0)
