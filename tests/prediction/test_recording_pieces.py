"""Recordings with long gaps: cut where a joint's motion is not known, and fitted all the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

import freefloat as ff
from freefloat.notes import codes_of
from freefloat.prediction.recording_pieces import cut_at_gaps
from freefloat.telemetry.telemetry import Telemetry


@cache
def flight() -> Telemetry:
    model = ff.load_model("planar-capture")
    return ff.simulate(model, ff.default_plan(model, duration=40.0), seed=2)


def silent(telemetry: Telemetry, names: str, first: float, last: float) -> Telemetry:
    """The recording without the samples of some channels between two instants [s]."""
    changed = []
    for channel in telemetry.select(names).channels.values():
        kept = (channel.time < first) | (channel.time > last)
        changed.append(
            type(channel)(
                channel.name, channel.unit, channel.time[kept], channel.values[kept],
                channel.valid[kept], channel.noise,
            )
        )  # fmt: skip
    return telemetry.with_channels(*changed)


def spans(pieces: Sequence[Telemetry]) -> list[float]:
    """Where they begin and end [s], one after the other."""
    return [instant for piece in pieces for instant in (piece.start, piece.end)]


def test_a_recording_without_long_gaps_is_left_alone():
    model = ff.load_model("planar-capture")
    short = silent(flight(), "*", 10.05, 11.05)  # ten steps, which smoothing bridges
    assert cut_at_gaps(model, [flight(), short]) == ((flight(), short), ())


def test_pieces_are_where_every_joint_is_known():
    model = ff.load_model("planar-capture")
    recorded = silent(silent(flight(), "arm_1.*", 10.05, 15.05), "arm_2.*", 14.05, 20.05)
    pieces, notes = cut_at_gaps(model, [recorded, flight()])
    assert spans(pieces[:2]) == pytest.approx([0.0, 10.0, 20.1, 40.0])
    assert pieces[2] is flight() and codes_of(notes) == ("recording.pieces",)
    assert notes[0].startswith("recording 1: ")


def test_a_rate_that_goes_on_bridges_an_encoder_that_does_not():
    model = ff.load_model("planar-capture")
    recorded = silent(flight(), "arm_1.position", 10.05, 15.05)
    assert "arm_1.velocity" in recorded
    assert cut_at_gaps(model, [recorded]) == ((recorded,), ())


def test_what_is_too_short_to_tell_its_own_start_is_dropped():
    model = ff.load_model("planar-capture")
    recorded = silent(silent(flight(), "*", 10.05, 14.05), "*", 15.05, 20.05)
    pieces, _ = cut_at_gaps(model, [recorded])
    assert spans(pieces) == pytest.approx([0.0, 10.0, 20.1, 40.0])


@pytest.mark.parametrize("method", ["auto", "output_error", "momentum"])
def test_the_pieces_are_identified_and_graded_together(method):
    model = ff.load_model("planar-capture")
    recorded = silent(flight(), "*", 15.05, 25.05)
    wanted = ff.Parameters(model).free("target.mass", "target.izz")
    fit = ff.identify(model, wanted, recorded, method=method, raw=True)
    assert fit.assessment is not None and fit.assessment.grade == "trusted"
    assert "recording.pieces" in codes_of(fit.notes)
    for name, true in (("target.mass", 250.0), ("target.izz", 28.535)):
        # the model is the one that flew: five standard deviations of one flight
        assert abs(fit[name].value - true) < 5.0 * fit[name].std
    again = ff.assess_fit(fit, recorded, raw=True)
    assert again.assessment is not None and again.assessment.grade == "trusted"


def test_a_plan_bridges_any_gap():
    model = ff.load_model("planar-capture")
    plan = ff.default_plan(model, duration=40.0)
    recorded = silent(flight(), "*", 15.05, 25.05)
    wanted = ff.Parameters(model).free("target.mass")
    fit = ff.identify(model, wanted, recorded, method="output_error", plan=plan, raw=True)
    assert "recording.pieces" not in codes_of(fit.notes)
    assert np.isfinite(fit["target.mass"].total_std)
