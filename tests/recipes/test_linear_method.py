"""Recipe: a linear method is one Family in a file of its own. Here: linear_momentum.py."""

from __future__ import annotations

import pytest
from estimator import identify
from recipes.linear_momentum import LinearMomentum

import freefloat as ff
from freefloat.identification.linear import families


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(families, "FAMILIES", dict(families.FAMILIES))
    families.register(LinearMomentum())


def test_identify_uses_it_by_its_name():
    model = ff.load_model("spatial-capture")
    wanted = ff.Parameters(model).free("bus.mass")
    plan = ff.default_plan(model, duration=20.0)
    flight = ff.simulate(model, ff.Plan(plan.duration, motions=plan.motions), seed=1)  # no thrust
    fit = identify(model, wanted, flight, method="linear_momentum")
    mass = fit["bus.mass"]
    assert fit.method == "linear_momentum" and mass.status == "seen"
    assert abs(mass.value - wanted["bus.mass"].value) < 4.0 * mass.std
