"""The account of a flight: excursions, deflections, momentum, and limits passed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.dynamics.state import positions, rates
from freefloat.errors import TelemetryError
from freefloat.excitation import Hold, Moves, Plan, Pulses, Speeds
from freefloat.model.parts import Limits
from freefloat.prediction.flight_summary import deflection, summarise_flight, true_states


def flown(name: str, plan: Plan | None = None, **changes):
    model = replace(ff.load_model(name), **changes)
    plan = plan or ff.default_plan(model, duration=5.0)
    return model, plan, ff.simulate(model, plan)


@pytest.mark.parametrize("name", ["cepheus", "cbk-arm", "servicer"])
def test_the_truth_holds_every_state(name):
    model, plan, flight = flown(name)
    system = flatten(model)
    times, states = true_states(system, flight)
    for i in system.tree.given:
        coordinate = system.coordinates[i]
        q, dq, _ = plan.motion_of(coordinate, model).at(times)
        # The angle of a wheel is not kept; everything else is copied, not computed.
        if coordinate not in [wheel.name for wheel in model.wheels]:
            np.testing.assert_allclose(positions(states)[:, i], q, atol=1e-14)
        np.testing.assert_allclose(rates(states)[:, i], dq, atol=1e-14)
    assert np.linalg.norm(states[:, 3:7], axis=1) == pytest.approx(1.0)


def test_a_recording_has_no_truth_to_account_for():
    model, plan, flight = flown("cepheus")
    with refused(TelemetryError, "truth.missing"):
        summarise_flight(model, plan, flight.with_truth(None))


def test_a_held_robot_goes_nowhere():
    model, plan, flight = flown("dual-arm", Plan(2.0))
    found = summarise_flight(model, plan, flight)
    assert (found.turn, found.rate, found.displacement) == (0.0, 0.0, 0.0)
    assert found.violations == () and found.pushes == ()


def test_a_drive_deflects_by_its_wind_up():
    model, _, flight = flown("cbk-arm")
    system = flatten(model)
    _, states = true_states(system, flight)
    truth = flight.truth
    wound = truth["arm_1.position"].values - truth["arm_1.motor_position"].values
    np.testing.assert_array_equal(deflection(system, states)["arm_1"], wound)


def test_limits_are_passed_where_the_plan_passes_them():
    plan = Plan(
        4.0,
        motions={
            "arm_1": Moves((0.0, 1.0), (0.0, -1.0)),
            "rw_z": Speeds((0.0, 2.0), (0.0, 400.0)),
        },
        thrusts={"thr_1": Pulses(((1.0, 0.001, 0.7),))},
    )
    limits = Limits(base_attitude=1e-3, base_rate=1e-3, wheel_momentum=0.1, thruster_impulse=1e-4)
    model, plan, flight = flown("cepheus", plan, limits=limits)
    found = {(e.part, e.quantity): e for e in summarise_flight(model, plan, flight).violations}
    assert set(found) == {
        ("base", "attitude"),
        ("base", "rate"),
        ("arm_1", "velocity"),
        ("arm_1", "acceleration"),
        ("rw_z", "torque"),
        ("rw_z", "speed"),
        ("rw_z", "momentum"),
        ("thr_1", "force"),
        ("thrusters", "impulse"),
    }
    speed = found["rw_z", "speed"]
    assert speed.value == pytest.approx(400.0) and speed.limit == 300.0 and 0 < speed.time < 2
    assert found["thrusters", "impulse"].value == pytest.approx(7e-4, rel=1e-9)  # 0.7 N, 1 ms
    assert "limit 300" in str(speed)


def test_reaching_a_limit_is_allowed():
    plan = Plan(1.0, motions={"arm_1": Hold(1.5708)})
    model, plan, flight = flown("cepheus", plan)
    assert model.joint("arm_1").limits.upper == 1.5708
    assert summarise_flight(model, plan, flight).violations == ()


def test_the_lower_limit_is_one_too():
    plan = Plan(1.0, motions={"arm_1": Hold(-1.6)})
    model, plan, flight = flown("cepheus", plan)
    (excess,) = summarise_flight(model, plan, flight).violations
    assert (excess.quantity, excess.value, excess.time) == ("lowest position", -1.6, 0.0)


def test_pushes_are_named_and_leave_momentum_out():
    plan = Plan(1.0, thrusts={"thr_1": Pulses(((0.0, 0.5, 0.1),))})
    model, plan, flight = flown("cepheus", plan)
    found = summarise_flight(model, plan, flight)
    assert found.momentum is None and found.pushes == ("thrusters",)
