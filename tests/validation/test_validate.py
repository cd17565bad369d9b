"""A right model is believed, a wrong one is not, and the reasons are the right ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from fault_codes import refused
from systems import random_model
from validation_flights import heavier, planar, planar_fit, planar_flight

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Plan, Wave
from freefloat.model import Sensor, Wheel
from freefloat.notes import codes_of
from freefloat.validation.acceptance import AcceptanceLimits
from freefloat.validation.flight_prediction import predict_flight
from freefloat.validation.residual_tests import whiteness


def quiet(model: ff.Model) -> ff.Model:
    """The model with perfect sensors."""
    sensors = (
        replace(s, noise=0.0, bias=(), quantisation=0.0, dropout=0.0, coloured=None)
        for s in model.sensors
    )
    return replace(model, sensors=tuple(sensors))


def names(verdict: ff.Verdict, is_met: bool | None) -> set[str]:
    return {criterion.name for criterion in verdict.criteria if criterion.is_met is is_met}


@pytest.mark.parametrize("name", ["cepheus", "planar-capture", "ets7", "dual-arm"])
def test_perfect_sensors_are_predicted_perfectly(name):
    model = quiet(ff.load_model(name))
    flight = ff.simulate(model, ff.default_plan(model, duration=20.0, seed=3))
    for sensor in predict_flight(model, flight).sensors:
        if sensor.measurement.sensor.kind in ("gyro", "attitude", "velocity", "position"):
            # encoders at 10 to 100 Hz, joined by a spline: 1e-4 of what is measured is their limit
            size = np.max(np.abs(sensor.curve)) + 1e-3
            assert np.max(np.abs(sensor.residual)) < 1e-4 * size, sensor.names


@pytest.mark.parametrize(("root", "seed"), [("floating", 1), ("floating", 6), ("planar", 3)])
def test_random_trees_are_predicted(root, seed):
    """Branches, sliding joints, rotated placements, a root that tumbles: nothing is convenient."""
    model = random_model(seed, root=root, roles=("motion",), massless=False)
    sensors = [Sensor(kind, "bus", 50.0) for kind in ("gyro", "attitude", "velocity", "position")]
    model = replace(model, sensors=(*sensors, Sensor("encoder", "*", 100.0)))
    spin = (0.0, 0.0, 0.1) if root == "planar" else (0.05, -0.1, 0.1)
    start = ff.Start(rate=spin, velocity=(0.02, -0.01, 0.0))
    plan = replace(ff.default_plan(model, duration=10.0, seed=seed), start=start)
    flight = ff.simulate(model, plan)
    predicted = predict_flight(model, flight)
    assert len(predicted.sensors) == 4
    for sensor in predicted.sensors:
        # splines through encoders at 100 Hz are exact to 1e-5 of what is measured
        size = np.max(np.abs(sensor.curve)) + 1e-3
        assert np.max(np.abs(sensor.residual)) < 1e-4 * size, sensor.names


def test_a_right_model_is_believed_with_reasons():
    verdict = ff.validate(planar_fit(), planar_flight(2))
    assert verdict.is_positive and verdict.has_run
    assert names(verdict, True) == {
        "start", "prediction", "residuals", "deviations", "momentum", "physical", "improvement",
        "held out",
    }  # fmt: skip
    # made by hand: nobody assessed it, so nobody says whether it was to be trusted
    assert names(verdict, None) == {"fit"} and verdict["fit"].code == "fit.not_assessed"
    assert verdict["improvement"].value < 0.7
    assert verdict.status_code == "predicts"
    assert verdict["residuals"].code == "residuals.noise"
    assert (
        verdict["start"].code == "start.found" and verdict["deviations"].code == "deviations.kept"
    )


def test_a_wrong_mass_is_seen_in_every_way_there_is():
    verdict = ff.validate(heavier(planar()), planar_flight(2))
    assert not verdict.is_positive and verdict.has_run
    assert {"deviations", "momentum"} <= names(verdict, False)
    assert verdict["start"].is_met  # it is the model that is wrong, not where the flight begins
    assert verdict["prediction"].value > 0.01
    assert verdict.status_code == "rejected"  # it ran all the same: that is no success
    assert verdict["deviations"].code == "deviations.assumption"
    assert "target.scale" in verdict["deviations"].reason
    assert verdict["momentum"].code == "momentum.unbalanced"


def test_a_model_that_was_right_before_is_not_held_against_the_fit():
    """No estimate predicts as well as the truth; its stated deviations explain the difference."""
    wanted = ff.Parameters(planar()).free("bus.mass", "bus.m[xy]", "bus.izz", "target.*")
    verdict = ff.validate(identify(planar(), wanted, planar_flight(1, 60.0)), planar_flight(2))
    assert verdict["improvement"].is_met and verdict.is_positive, str(verdict)


def test_a_fit_that_made_it_worse_is_found_out():
    worse = replace(planar_fit(), model=heavier(planar()), prior_model=planar())
    verdict = ff.validate(worse, planar_flight(2))
    assert verdict["improvement"].is_met is False and verdict["improvement"].value > 1.5


def test_the_error_allowed_decides():
    strict = ff.validate(heavier(planar()), planar_flight(2), limits=AcceptanceLimits(error=0.01))
    assert strict["prediction"].is_met is False
    assert "base.angle" in strict["prediction"].reason


def test_the_flight_of_the_fit_itself_proves_nothing():
    verdict = ff.validate(planar_fit(), planar_flight(1, 60.0))
    assert names(verdict, False) == {"held out"} and not verdict.is_positive
    assert verdict.status_code == "unproven"


def test_expected_errors_are_those_that_happen():
    """Over many flights error / expected is one: the stated deviations explain what is seen."""
    ratios = []
    for seed in range(2, 5):
        verdict = ff.validate(planar_fit(), planar_flight(seed))
        ratios += [s.ratio for s in verdict.scores if s.channel in ("base.angle", "base.rate.z")]
    # one fit, three flights: its own error is the same in all of them, so the scatter is that of
    # a single draw of the parameters, within a factor of two of one
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 2.0


def test_a_model_that_does_not_run_is_a_verdict_and_no_crash():
    model = ff.load_model("servicer-wings")
    flight = ff.simulate(model, ff.default_plan(model, duration=5.0), seed=1)
    hinge = next(joint.name for joint in model.joints if joint.role == "passive")
    # at 1e6 rad/s no step down to 0.1 ms is stable
    verdict = ff.validate(model.with_joint(hinge, stiffness=1e13), flight)
    assert not verdict.is_positive and not verdict.has_run
    assert verdict.status_code == "no_prediction" and not verdict.scores
    assert verdict["prediction"].code == "prediction.failed" and str(verdict)


def test_wings_and_fuel_are_predicted_from_rest_and_their_start_can_be_fitted():
    model = ff.load_model("servicer")
    plan = ff.default_plan(model, duration=20.0, seed=4)
    verdict = ff.validate(model, ff.simulate(model, plan, seed=1))
    assert verdict.is_positive, str(verdict)
    # of a thousand samples the rms is known to 3 %; the noise of joints, from one draw, to 30 %
    assert all(0.75 < s.ratio < 1.3 for s in verdict.scores if s.n > 1000), str(verdict)
    hinge = next(joint.name for joint in model.joints if joint.role == "passive")
    start = replace(plan.start, coordinates={**plan.start.coordinates, hinge: 0.05})
    swinging = ff.simulate(model, replace(plan, start=start), seed=1)
    at_rest = ff.validate(model, swinging, start="rest")
    assert at_rest.status_code == "start_unknown"
    assert at_rest["start"].code == "start.contradicted" and hinge in at_rest["start"].reason
    fitted = ff.validate(model, swinging)
    assert fitted.is_positive, str(fitted)


def test_wheels_are_followed():
    model = replace(
        ff.load_model("cepheus"),
        sensors=(
            Sensor("gyro", "bus", 50.0, noise=1e-5),
            Sensor("encoder", "*", 50.0, noise=1e-6),
            Sensor("wheel_speed", "*", 50.0, noise=1e-3),
        ),
    )
    if not model.wheels:
        model = replace(model, wheels=(Wheel("rw", "bus", (0.0, 0.0, 1.0), 0.002),))
    flight = ff.simulate(model, ff.default_plan(model, duration=10.0, seed=2), seed=1)
    verdict = ff.validate(model, flight)
    assert verdict["prediction"].is_met, str(verdict)
    assert any(trace.channel.endswith(".speed") for trace in verdict.traces)


def test_a_recording_without_an_encoder_is_bad_input():
    with refused(IdentificationError, "channel.missing", naming="arm_1.position"):
        ff.validate(planar(), planar_flight(2).without("arm_1.position"))


def test_a_recording_with_nothing_to_compare_is_bad_input():
    flight = planar_flight(2).select("*.position")
    with refused(IdentificationError, "channel.none"):
        ff.validate(planar(), flight)


def test_a_long_gap_leaves_the_longest_stretch():
    flight = planar_flight(2)
    encoder = flight["arm_1.position"]
    kept = encoder.select((encoder.time < 8.0) | (encoder.time > 12.0))
    gappy = replace(flight, channels={**flight.channels, "arm_1.position": kept}, truth=None)
    times = predict_flight(planar(), gappy).segment.times
    # the encoder is there again from the first of its 10 Hz samples after 12 s; the motion is
    # known well some samples from either end of it
    assert 12.1 <= times[0] < 13.0 and 29.0 < times[-1] <= 30.0
    verdict = ff.validate(planar(), gappy)
    assert "prediction.stretch" in codes_of(verdict.notes)
    assert verdict.is_positive


def test_a_clock_that_does_not_start_at_zero_changes_nothing():
    flight = planar_flight(2)
    later = ff.validate(planar(), flight.shift("*", 1000.0))
    now = ff.validate(planar(), flight)
    ours = {s.channel: s.rmse for s in now.scores}
    for score in later.scores:
        assert score.rmse == pytest.approx(ours[score.channel], rel=1e-6), score.channel


def test_estimated_noise_is_said_to_be_so():
    flight = planar_flight(2)
    bare = {name: channel.with_noise(None) for name, channel in flight.channels.items()}
    silent = replace(planar(), sensors=tuple(replace(s, noise=0.0) for s in planar().sensors))
    verdict = ff.validate(silent, replace(flight, channels=bare, truth=None))
    assert "noise.not_stated" in codes_of(verdict.notes) and verdict.is_positive
    assert not any(score.is_noise_known for score in verdict.scores)
    for score in verdict.scores:
        if score.channel == "base.rate.z":
            assert 0.3 < score.noise / flight["base.rate.z"].noise < 5.0


def test_the_tip_is_judged_where_a_limit_is_given():
    flight = planar_flight(2)
    loose = ff.validate(planar(), flight, limits=AcceptanceLimits(tip=0.1))
    tight = ff.validate(planar(), flight, limits=AcceptanceLimits(tip=1e-6))
    assert loose["end-effector"].is_met and tight["end-effector"].is_met is False
    truth = [e for e in loose.end_effectors if e.reference == "truth"]
    assert truth and truth[0].mean < 1e-3  # the right model, noisy encoders


def test_whiteness_knows_noise_from_memory():
    rng = np.random.default_rng(0)
    white = rng.normal(size=3000)
    slow = np.convolve(rng.normal(size=3000), np.ones(20) / 20.0, mode="same")
    assert whiteness("a", white, 0.1).outside < 0.1 < whiteness("b", slow, 0.1).outside
    assert whiteness("b", slow, 0.1).largest > 0.9


def test_joints_that_were_moved_by_torques_are_followed_by_their_encoders():
    model = ff.load_model("cepheus").with_joint("arm_1", role="torque")
    plan = Plan(8.0, torques={"arm_1": Wave(0.05, 4.0)})
    flight = ff.simulate(model, plan, seed=1)
    assert ff.validate(model, flight)["prediction"].is_met
