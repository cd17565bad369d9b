"""Slopes of readings at the root's origin: the short way and the one for any frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.excitation import Sinusoid
from freefloat.model.parts import Sensor
from freefloat.prediction import sensor_models
from freefloat.prediction.predictor import predictor_of

NAMES = ["bus.mass", "bus.mx", "bus.izz", "hinge_l1.stiffness", "start.rate.x", "start.velocity.y"]


@pytest.mark.parametrize("kind", sorted(sensor_models.ROOT_ROWS))
def test_root_sensors_read_what_any_frame_would(kind, monkeypatch):
    model = ff.load_model("servicer-wings")
    model = replace(model, sensors=(Sensor(kind, "bus", 50.0, noise=1e-4),))
    home = next(j for j in model.joints if j.name == "arm_1").home
    plan = ff.Plan(1.0, motions={"arm_1": Sinusoid(1.0, home, 0.3, 1.0, 0.2, first=home)})
    predictor = predictor_of(model, ff.simulate(model, plan, seed=0), plan=plan, step=1e-2)
    (short,) = predictor.at({"start.rate.x": 0.1}, NAMES).jacobian
    monkeypatch.setattr(sensor_models, "ROOT_ROWS", {})
    (long,) = predictor.at({"start.rate.x": 0.1}, NAMES).jacobian
    assert np.abs(short).max() > 0.0
    # the same products in another order: rounding only
    np.testing.assert_allclose(short, long, rtol=1e-12, atol=1e-14)
