"""Joints of which nothing was recorded are locked, and it is said."""

from __future__ import annotations

import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.notes import codes_of
from freefloat.prediction.inputs import lock_unrecorded


@pytest.fixture(scope="module")
def flight():
    """Two joints, of which the second is locked in truth."""
    model = ff.load_model("planar-capture").with_joint("arm_2", role="locked")
    return ff.simulate(model, ff.default_plan(model, duration=20.0), seed=1)


def without(flight, *joints):
    kept = [c for n, c in flight.channels.items() if n.partition(".")[0] not in joints]
    return ff.Telemetry.of(kept, metadata=flight.metadata)


@pytest.mark.parametrize("method", ["auto", "momentum"])
def test_a_joint_without_channels_is_locked_and_noted(flight, method):
    model = ff.load_model("planar-capture")
    recorded = without(flight, "arm_2")
    wanted = ff.Parameters(model).free("target.mass")
    fit = ff.identify(model, wanted, recorded, method=method, assess=False)
    assert "inputs.joints_locked" in codes_of(fit.notes)
    estimate = fit["target.mass"]
    assert abs(estimate.value - model.body("target").mass) < 4.0 * estimate.std  # it is the truth
    assert fit.model.joint("arm_2").role == "locked"


def test_where_no_joint_is_recorded_nothing_is_locked(flight):
    model = ff.load_model("planar-capture")
    recorded = without(flight, *(joint.name for joint in model.joints))
    assert lock_unrecorded(model, [recorded]) == (model, ())
    wanted = ff.Parameters(model).free("target.mass")
    with refused(IdentificationError, "channel.missing", naming="arm_1.position"):
        ff.identify(model, wanted, recorded, method="output_error")


def test_all_recorded_joints_stay_as_they_are(flight):
    model = ff.load_model("planar-capture")
    assert lock_unrecorded(model, [flight])[0] is model
