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
