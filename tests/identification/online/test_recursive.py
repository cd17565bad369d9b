"""The recursions of the literature behind the interface of the live filter."""

from __future__ import annotations

import numpy as np
import pytest
from live_flights import clean_flight

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.identification.online.recursive import METHODS, LiveEstimator, RecursiveEstimator
from freefloat.model import inertia as inertial


def started_elsewhere() -> ff.Model:
    model = ff.load_model("planar-capture")
    values = {f"target.{name}": v for name, v in zip(
        inertial.NAMES, 1.2 * np.asarray(model.body("target").phi), strict=True)}  # fmt: skip
    from freefloat.identification.write_back import with_parameters

    return with_parameters(model, {n: values[n] for n in ("target.mass", "target.izz")})


@pytest.mark.parametrize("method", METHODS)
def test_each_finds_the_masses_of_a_quiet_flight(method):
    rls: LiveEstimator = RecursiveEstimator(started_elsewhere(), method=method, prior=1e6)
    for sample in list(clean_flight("planar-capture"))[:200]:
        estimate = rls.update(sample)
    assert estimate.verdict == "taken"
    found = dict(zip(estimate.names, estimate.values, strict=True))
    # 1 %: thrust is held and the velocity integrated by the trapezoidal rule, at 10 Hz
    assert found["bus.mass"] == pytest.approx(500.0, rel=0.01)
    assert found["target.mass"] == pytest.approx(250.0, rel=0.01)


def test_modified_and_two_step_agree():
    one, two = (
        RecursiveEstimator(started_elsewhere(), method=method)
        for method in ("modified_rls", "two_step_rls")
    )
    for sample in list(clean_flight("planar-capture"))[:60]:
        a, b = one.update(sample), two.update(sample)
    assert np.allclose(a.values, b.values, rtol=1e-6)


def test_bad_samples_and_methods_are_told():
    rls = RecursiveEstimator(ff.load_model("planar-capture"))
    assert rls.update({"time": 1.0}).verdict == "incomplete"
    assert rls.update("nothing").verdict == "unreadable"  # type: ignore[arg-type]
    with pytest.raises(IdentificationError, match="expected one of"):
        RecursiveEstimator(ff.load_model("planar-capture"), method="kalman")  # type: ignore[arg-type]
