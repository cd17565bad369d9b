"""Globs of sensors' parameters mean the channels that were recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.notes import codes_of
from freefloat.parameters.recorded_parameters import fix_unrecorded
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.measurements import sensor_channels


@pytest.fixture(scope="module")
def capture():
    model = ff.load_model("planar-capture")
    return model, ff.simulate(model, ff.default_plan(model, duration=20.0), seed=1)


def test_only_what_is_recorded_and_moves_in_the_plane_is_free(capture):
    model, flight = capture
    wanted = ff.Parameters(model).free("target.mass", "bias.*", "tilt.base.*")
    found, notes = fix_unrecorded(wanted, [flight], is_planned=False)
    places = [f"base.{what}.{axis}" for what in ("position", "velocity") for axis in "xy"]
    biases = {f"bias.{channel}" for channel in (*places, "base.angle", "base.rate.z")}
    assert {name for name in found.names if name.startswith("bias.")} == biases
    assert "tilt.base.velocity.z" in found.names and "target.mass" in found.names
    assert not any(name.startswith("tilt.base.acceleration") for name in found.names)
    assert codes_of(notes) == ("parameters.not_recorded",)


def test_what_others_follow_stays_free(capture):
    model, flight = capture
    wanted = ff.Parameters(model).free("delay.hand.angle")
    wanted = wanted.tie("delay.base.*", to="delay.hand.angle")
    assert fix_unrecorded(wanted, [flight], is_planned=False) == (wanted, ())


def test_nothing_recorded_is_refused(capture):
    model, flight = capture
    wanted = ff.Parameters(model).free("bias.hand.*")
    with refused(IdentificationError, "parameters.none"):
        ff.identify(model, wanted, flight)


def test_a_fit_says_what_it_did_not_look_for(capture):
    model, flight = capture
    wanted = ff.Parameters(model).free("target.mass", "bias.*")
    fit = ff.identify(model, wanted, flight, raw=True)
    assert "parameters.not_recorded" in codes_of(fit.notes)
    assert {"bias.base.rate.z", "bias.base.angle"} <= set(fit.values)
    assert not any("hand" in name for name in fit.values)


def test_the_bias_of_an_angle_in_the_plane_is_one_number(capture):
    model, flight = capture
    turned = with_parameters(model, {"bias.base.angle": 0.01})
    assert sensor_channels(turned)["base.angle"].bias == 0.01
    again = ff.simulate(turned, ff.default_plan(model, duration=20.0), seed=1)
    off = again["base.angle"].values - flight["base.angle"].values
    assert off == pytest.approx(0.01, abs=1e-12)  # rounding
    # as a model file may say it: about all three axes, of which the plane has one
    sensors = tuple(
        replace(s, bias=(0.0, 0.0, 0.01)) if s.kind == "attitude" else s for s in model.sensors
    )
    same = ff.simulate(
        replace(model, sensors=sensors), ff.default_plan(model, duration=20.0), seed=1
    )
    assert np.array_equal(same["base.angle"].values, again["base.angle"].values)
