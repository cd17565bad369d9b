"""Recipe: a live filter is one LiveFilter in a file of its own. Here: wheel_filter.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recipes.wheel_filter import WheelFilter

import freefloat as ff
from freefloat.excitation import Accelerate


def test_the_estimator_drives_it_and_keeps_its_state(tmp_path):
    model = ff.load_model("cepheus")
    truth = ff.Parameters(model)["bus.izz"].value
    plan = ff.Plan(10.0, motions={model.wheels[0].name: Accelerate(5.0)})
    flight = ff.simulate(model, plan, seed=1)
    bus, *rest = model.bodies
    wrong = replace(
        model, bodies=(replace(bus, inertia=tuple(2.0 * i for i in bus.inertia)), *rest)
    )
    first, second = (
        ff.OnlineEstimator(wrong, ff.Parameters(wrong).free("bus.izz"), filter=WheelFilter)
        for _ in range(2)
    )
    assert first.run(flight).values[0] == pytest.approx(truth, rel=1e-3)  # the gyro has noise
    assert first.counts["taken"] == 1001 and first.estimate.statuses == ("no band",)
    first.save(tmp_path / "wheel.state")
    second.restore(tmp_path / "wheel.state")
    assert second.values == first.values
