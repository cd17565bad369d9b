"""What is stated of doubts, however large or small, ends in deviations that make sense."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

import freefloat as ff
from freefloat.identification.fit import Fit
from freefloat.model.uncertainty import with_uncertainty
from freefloat.telemetry.telemetry import Telemetry


@pytest.fixture(scope="module")
def flight() -> Telemetry:
    model = ff.load_model("planar-capture")
    return ff.simulate(model, ff.default_plan(model), seed=1)


def fit_with(flight: Telemetry, **stated: float) -> Fit:
    table = {glob.replace("_", "."): std for glob, std in stated.items()}
    model = with_uncertainty(ff.load_model("planar-capture"), table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ff.identify(model, ff.Parameters(model).free("target.mass"), flight)


def codes_of(fit: Fit) -> list[str]:
    assert fit.assessment is not None
    return [reason.code for reason in fit.assessment.reasons]


def test_what_doubts_leave_unknown_is_weak_and_a_reservation(flight):
    fit = fit_with(flight, bus_scale=1e6)
    assert fit.assessment is not None and fit.assessment.grade == "with reservations"
    assert "total.too_large" in codes_of(fit)
    assert {e.status for e in fit.estimates} == {"weak"} and fit.status_code == "seen.weak"
    # stated anew, the same fit is as good as its doubts
    models = {
        key: with_uncertainty(getattr(fit, key), {"bus.scale": 0.01})
        for key in ("model", "prior_model")
    }
    again = ff.assess_fit(replace(fit, **models), flight)
    assert {e.status for e in again.estimates} == {"seen"} and again.status_code == "seen.all"
    assert not codes_of(again)


def test_total_deviations_never_fall_where_a_doubt_grows(flight):
    before = 0.0
    for std in (1e-3, 1.0, 1e3, 1e6, 1e12):
        total = fit_with(flight, **{"*.zero": std})["target.mass"].total_std
        assert total >= before * (1.0 - 1e-6)  # rounding of columns that are 1e15 times as long
        before = total


@pytest.mark.parametrize("std", [1e-320, 1e-200, 1e-30])
def test_a_doubt_below_rounding_is_none(flight, std):
    stated, exact = fit_with(flight, **{"*": std}), fit_with(flight, **{"*": 0.0})
    for e in stated.estimates:
        assert e.total_std == e.std == exact[e.name].std
    assert stated.assessment is not None and not stated.assessment.doubts
