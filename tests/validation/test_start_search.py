"""Where a flight begins is found, or said not to be known; that is told from a wrong model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from verdict_trials import bearing, ring_down

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Plan
from freefloat.identification.output_error.recording import recording_of
from freefloat.validation.start_search import find_start


def test_a_deflection_that_nobody_measured_is_found():
    model = bearing("all")
    plan = Plan(20.0, start=ff.Start(rate=(0.0, 0.0, 0.3), coordinates={"hinge": 0.3}))
    flight = ff.simulate(model, plan, seed=1)
    found = find_start(recording_of(model, flight, step=1e-2, trims=(False, False)))
    assert found.is_found and found.misfit == pytest.approx(1.0, abs=0.1)
    # 1000 samples of 0.5 mrad/s know a swing of 0.3 rad to about 1e-4
    assert found.values["start.hinge.position"] == pytest.approx(0.3, abs=1e-3)


def test_held_coordinates_stay_where_they_are():
    model = bearing("all")
    recording = recording_of(model, ring_down(model, 1, duration=5.0), step=1e-2)
    assert "start.hinge.position" not in find_start(recording, held=["hinge"]).values
    known = find_start(recording, held=None)
    assert not known.values and known.is_found


def fast_spin() -> tuple[ff.Model, Plan, ff.Telemetry]:
    """Six turns in the first two seconds, seen by the position of a point near the middle."""
    model = bearing("positions")
    plan = Plan(10.0, start=ff.Start(rate=(0.0, 0.0, 20.0)))
    return model, plan, ff.simulate(model, plan, seed=1)


def test_a_start_that_is_not_found_is_not_held_against_the_model():
    model, _, flight = fast_spin()
    verdict = ff.validate(model, flight)
    assert verdict.status_code == "start_unknown" and not verdict.is_positive
    assert verdict["start"].code == "start.not_found"
    assert verdict["residuals"].is_met is None


def test_a_plan_says_how_the_flight_begins():
    model, plan, flight = fast_spin()
    verdict = ff.validate(model, flight, plan=plan, start="plan")
    assert verdict.is_positive and verdict["start"].code == "start.known", str(verdict)


def test_a_plan_that_says_it_wrongly_is_told_from_a_wrong_model():
    model, plan, flight = fast_spin()
    slower = replace(plan, start=ff.Start(rate=(0.0, 0.0, 19.9)))
    verdict = ff.validate(model, flight, plan=slower, start="plan")
    assert verdict.status_code == "start_unknown"
    assert verdict["start"].code == "start.contradicted" and "rate.z" in verdict["start"].reason
    wrong = model.with_body(replace(model.body("panel"), mass=3.0))
    verdict = ff.validate(wrong, flight, plan=plan, start="plan")
    assert verdict.status_code == "rejected" and verdict["start"].code == "start.known"


def test_a_wrong_model_with_a_start_that_is_sure_is_rejected():
    model = bearing("all").with_joint("hinge", stiffness=66.0)
    verdict = ff.validate(model, ring_down(bearing("all"), 3))
    assert verdict.status_code == "rejected" and verdict["start"].is_met
    assert verdict["deviations"].code == "deviations.several"  # gross: no cause is nearly linear


def test_the_start_of_a_plan_needs_the_plan():
    model, _, flight = fast_spin()
    with refused(IdentificationError, "option.conflict"):
        ff.validate(model, flight, start="plan")


def test_the_search_is_the_same_every_time():
    model, _, flight = fast_spin()
    one, two = (find_start(recording_of(model, flight, step=1e-2)) for _ in range(2))
    assert np.array_equal(one.theta, two.theta) and one.n_tried == two.n_tried
