"""What carries the scale: shares that add up to one, and none for what did nothing."""

from dataclasses import replace

import pytest

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.identification.assessment import ScaleCarrier
from freefloat.identification.trust.scale_carriers import scale_note


@pytest.mark.parametrize("name", ["planar-capture", "cepheus"])
def test_shares_add_up_to_one(name):
    # Euler's theorem on homogeneous functions: every column and every step to it must be right
    model = ff.load_model(name)
    flight = ff.simulate(model, ff.default_plan(model, duration=30.0), seed=1)
    fit = ff.identify(model, ff.Parameters(model).free("bus.mass", "bus.izz"), flight)
    assert fit.assessment is not None
    assert sum(c.share for c in fit.assessment.carriers) == pytest.approx(1.0, abs=0.02)
    assert fit.status_code.startswith("seen")


def test_an_accelerometer_carries_no_scale():
    # it reads the same where all forces and masses are larger: Euler's sum is one without it
    model = ff.load_model("ets7")
    flight = ff.simulate(model, ff.default_plan(model, duration=20.0), seed=1)
    fit = ff.identify(model, ff.Parameters(model).free("bus.mass", "bus.izz"), flight)
    assert fit.assessment is not None
    assert not any("acceleration" in n for c in fit.assessment.carriers for n in c.names)
    assert sum(c.share for c in fit.assessment.carriers) == pytest.approx(1.0, abs=0.02)
    # that its gain may be off counts all the same
    assert any("gain.base.acceleration" in d.name for d in fit.assessment.doubts)


def test_thrust_shares_the_scale_with_known_bodies_and_an_idle_wheel_has_none():
    model = ff.load_model("planar-capture")
    thrusts = {"thr_1": Pulses(((1.0, 5.0, 5.0),))}
    plan = replace(ff.default_plan(model), thrusts=thrusts)
    flight = ff.simulate(model, plan, seed=1)
    fit = ff.identify(model, ff.Parameters(model).free("bus.mass", "target.mass"), flight)
    assert fit.assessment is not None
    carriers = {c.names[0].rpartition(".")[2]: c for c in fit.assessment.carriers}
    assert carriers["gain"].names == ("thr_1.gain",) and carriers["gain"].deviation == 0.02
    assert sum(c.share for c in fit.assessment.carriers) == pytest.approx(1.0, abs=0.02)
    assert not any("rw" in n for c in fit.assessment.carriers for n in c.names)
    assert all(n in fit.scale for n in ("thr_1.gain",))


def test_the_sentence_says_what_a_per_cent_does_and_stays_short():
    carriers = [
        ScaleCarrier(("bus.scale", "arm.scale"), 11.956, 0.01, True, False),
        ScaleCarrier(("hinge.stiffness",), -6.798, 0.01, False, True),
        *(ScaleCarrier((f"rw_{k}.inertia",), 0.1, 0.005, True, True) for k in range(6)),
    ]
    note = scale_note(carriers)
    assert note.startswith(
        "1 % more of bus.scale, arm.scale (known to 1 %, stated) makes the estimated masses and"
        " inertias 12 % larger on the average; 1 % more of hinge.stiffness (known to 1 %, assumed)"
        " 6.8 % smaller;"
    )
    assert note.endswith("; 4 more that do less") and "rw_1" in note and "rw_2" not in note


def capture(uncertainty: float | None) -> ff.Model:
    model = ff.load_model("planar-capture")
    bodies = tuple(replace(body, uncertainty=uncertainty) for body in model.bodies)
    return replace(model, bodies=bodies)


@pytest.mark.parametrize(("uncertainty", "grade"), [(0.01, "trusted"), (None, "with reservations")])
def test_a_scale_that_nobody_vouches_for_is_a_reservation(uncertainty, grade):
    # nothing pushes: all kilograms come from the bodies that are known, and no datum checks them
    model = capture(uncertainty)
    flight = ff.simulate(model, ff.default_plan(model), seed=1)
    fit = ff.identify(model, ff.Parameters(model).free("target.mass"), flight)
    assert fit.assessment is not None and fit.assessment.grade == grade
    codes = [reason.code for reason in fit.assessment.reasons]
    assert ("scale.assumed" in codes) == (uncertainty is None)
    assert not any(carrier.is_checked for carrier in fit.assessment.carriers)
    assert fit["target.mass"].total_std == pytest.approx(
        ff.identify(capture(0.01), ff.Parameters(capture(0.01)).free("target.mass"), flight)[
            "target.mass"
        ].total_std
    )
