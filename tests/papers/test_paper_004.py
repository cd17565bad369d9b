"""Paper 004 rebuilt: the held-motor finding, what q1 allows, and rows that follow the model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freefloat.model import load_model
from freefloat.papers.paper_004.model import Bench, HeldMotor, model_rows
from freefloat.papers.paper_004.studies import NOISE, Slopes
from freefloat.papers.paper_004.tables import by_least_squares, disc_runs


def test_the_held_motor_in_closed_form():
    held = HeldMotor.of(Bench.of().model)
    assert held.stiffness_ratio == pytest.approx(2.368, abs=5e-4)
    assert held.equivalent_inertia == pytest.approx(7.55, abs=5e-3)
    # The disc of that inertia must take no part in the mode: M12 = -M11.
    m = held.equivalent_inertia
    assert held.L - held.C**2 / (held.B + m) == pytest.approx(held.C * m / (held.B + m))


def test_what_q1_alone_allows_is_what_the_joint_fit_reaches():
    bench = Bench.of()
    slopes = Slopes.of(bench, knows_torque=False)
    fit = by_least_squares(bench, disc_runs(bench, seed=1))
    # slopes at the truth and at the estimate, noise taken from 1000 residuals
    assert fit.std[0] == pytest.approx(slopes.std(), rel=0.1)
    # 0.010 N m/rad is not to be had of q1 alone with this vision, known torque or not
    assert Slopes.of(bench, knows_torque=True).std(noise=NOISE)[1] > 0.0125
    assert slopes.std(with_rate=True)[1] > slopes.std()[1]


def test_another_model_gives_other_rows():
    model = load_model("cbk-arm")
    heavy = model.with_body(replace(model.body("link_3"), mass=9.0))
    assert "missed" in {row.status for row in model_rows(model=heavy)}
