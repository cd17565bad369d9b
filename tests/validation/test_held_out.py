"""A flight is held out if no sample of it took part in the fit, whatever was saved of it."""

from __future__ import annotations

import numpy as np
import pytest
from validation_flights import heavier, planar, planar_fit, planar_flight

import freefloat as ff
from freefloat.telemetry.sample_codes import sample_codes, shares_samples

PARTS = {
    "a part": lambda whole: whole.between(20.0, 50.0),
    "its end": lambda whole: whole.between(52.0, 60.0),
    "fewer channels": lambda whole: whole.without("base.velocity.*"),
    "joints alone": lambda whole: whole.select("arm_*.position"),
    "another clock": lambda whole: whole.shift("*", 1234.5),
}


@pytest.mark.parametrize("which", PARTS)
def test_a_part_of_a_flight_is_known_again(which):
    whole = planar_flight(1, 60.0)
    assert shares_samples(PARTS[which](whole), sample_codes(whole))


def test_other_flights_are_others():
    codes = sample_codes(planar_flight(1, 60.0))
    assert not any(shares_samples(planar_flight(seed), codes) for seed in (2, 3, 4))
    plan = ff.default_plan(planar(), duration=30.0, seed=1)
    one, two = (ff.simulate(planar(), plan, seed=seed) for seed in (1, 2))
    assert not shares_samples(two, sample_codes(one))  # the same commands, flown twice


def test_what_follows_in_the_same_recording_is_another_part():
    whole = planar_flight(1, 60.0)
    codes = sample_codes(whole.between(0.0, 30.0))
    assert not shares_samples(whole.between(30.5, 60.0), codes)


def test_channels_that_hardly_change_say_nothing():
    time = np.arange(200) * 0.1
    still = ff.Telemetry.from_arrays(time, {"thr_1.force": np.zeros(200)})
    assert not shares_samples(still, sample_codes(still))


def test_an_overlap_in_time_is_not_held_out():
    """The velocity was left out and the clock set, so that no digest agrees."""
    later = planar_flight(1, 60.0).between(40.0, 60.0).without("base.velocity.*").shift("*", 7.0)
    verdict = ff.validate(planar_fit(), later)
    assert verdict["held out"].code == "held_out.used" and verdict.status_code == "unproven"


def test_improvement_is_over_the_original_model():
    """Also where the fit went on from a first fit to the likelihood of all channels."""
    flight = planar_flight(1, 60.0)
    prior = heavier(planar())
    fit = ff.assess_fit(planar_fit(), flight, improve=True)
    assert fit.prior_model == prior
    verdict, plain = (ff.validate(source, planar_flight(2)) for source in (fit, prior))
    before = {s.channel: s.rmse_before for s in verdict.scores}
    for score in plain.scores:
        assert before[score.channel] == pytest.approx(score.rmse, rel=1e-6)
    assert verdict["improvement"].code == "improvement.better"
