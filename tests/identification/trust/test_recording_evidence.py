"""Streams that cannot be what they are called are the first reason against a fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freefloat as ff
from freefloat.telemetry.doctor import prepare_recording

MODEL = ff.load_model("planar-capture")
FLIGHT = ff.simulate(MODEL, ff.default_plan(MODEL, duration=20.0), seed=1)


@pytest.fixture(scope="module")
def turned() -> ff.Telemetry:
    """A joint whose rate has the other sign than its angle."""
    name = next(n for n in FLIGHT.channels if n.endswith(".velocity") and "base" not in n)
    channel = FLIGHT[name]
    return FLIGHT.with_channels(replace(channel, values=-channel.values))


def test_sound_recordings_contradict_nothing():
    assert prepare_recording(FLIGHT, MODEL).contradictions == ()


def test_a_contradiction_is_the_first_reason(turned):
    parameters = ff.Parameters(MODEL).free("target.mass")
    fit = ff.identify(MODEL, parameters, turned)
    first = fit.assessment.reasons[0]
    assert (fit.grade, first.code) == ("not trusted", "recording.axes")
    assert first.remedy and not fit.is_trustworthy
    again = ff.assess_fit(ff.identify(MODEL, parameters, turned, assess=False), turned)
    assert again.assessment.reasons[0].code == "recording.axes"


def test_a_joint_that_turns_the_other_way_is_named():
    joint = next(j.name for j in MODEL.joints if f"{j.name}.position" in FLIGHT)
    own = [c for n, c in FLIGHT.channels.items() if n.rpartition(".")[0] == joint]
    away = FLIGHT.with_channels(*(replace(c, values=-c.values) for c in own))
    fit = ff.identify(MODEL, ff.Parameters(MODEL).free("target.mass"), away)
    first = fit.assessment.reasons[0]
    assert (fit.grade, first.code) == ("not trusted", "joint.reversed")
    assert first.text.startswith(joint) and f"reverse the axis of {joint}" in first.remedy
    assert first.statistic < 2.0 < first.limit  # noise alone once it is turned back


def test_another_misfit_is_no_reversed_joint():
    channel = FLIGHT["base.rate.z"]
    wrong = FLIGHT.with_channels(replace(channel, values=1.3 * channel.values))
    fit = ff.identify(MODEL, ff.Parameters(MODEL).free("target.mass"), wrong)
    assert fit.grade == "not trusted"
    assert "joint.reversed" not in [e.code for e in fit.assessment.evidence]
