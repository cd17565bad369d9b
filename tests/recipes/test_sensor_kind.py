"""Recipe: a sensor kind is one entry of SENSOR_MODELS. Here: range_finder.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from estimator import identify
from recipes.range_finder import RANGE

import freefloat as ff
from freefloat.model import Sensor
from freefloat.prediction.sensor_models import SENSOR_MODELS


@pytest.fixture
def model(monkeypatch):
    """A planar capture whose base has a range finder instead of anything that measures velocity."""
    monkeypatch.setitem(SENSOR_MODELS, "range", RANGE)
    model = ff.load_model("planar-capture")
    kept = [s for s in model.sensors if s.kind not in ("velocity", "position")]
    finder = Sensor("range", "bus", 10.0, noise=1e-4)  # type: ignore[arg-type]
    return replace(model, sensors=(*kept, finder))


def test_it_is_simulated_with_its_unit_and_noise(model):
    start = ff.Start(position=(3.0, 4.0, 0.0))
    flight = ff.simulate(model, replace(ff.default_plan(model, duration=5.0), start=start), seed=1)
    channel = flight["base.range"]
    assert channel.unit == "m" and channel.noise == 1e-4
    assert channel.values[0] == pytest.approx(5.0, abs=5e-4)  # five standard deviations


def test_output_error_and_the_cramer_rao_bound_use_it(model):
    wanted = ff.Parameters(model).free("target.mass")
    plan = replace(ff.default_plan(model, duration=10.0), start=ff.Start(position=(3.0, 4.0, 0.0)))
    bound = ff.cramer_rao(model, wanted, plan, sensors="range", known_start=True)["target.mass"]
    flight = ff.simulate(model, plan, seed=1).select("base.range")
    how = {"method": "output_error", "plan": plan, "known_start": True}
    mass = identify(model, wanted, flight, **how)["target.mass"]
    assert mass.std == pytest.approx(bound, rel=0.05)  # the estimate is a little off the truth
    assert abs(mass.value - wanted["target.mass"].value) < 4.0 * mass.std
