"""Paper 000 rebuilt: its motions, its way to judge, and (long) its searches from many starts."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.model import load_model
from freefloat.papers.paper_000.published import EXCITATION, REFERENCE
from freefloat.papers.paper_000.tables import (
    count_converged,
    hand_path,
    path_errors,
    splines,
    wrong_model,
)


def test_motions_keep_to_the_limits():
    model = load_model("servicer-wings")
    for shape in (EXCITATION, REFERENCE):
        plan = splines(model, **shape)
        t = np.linspace(0.0, plan.duration, 4000)
        for name, own in plan.motions.items():
            q, dq, ddq = own.at(t)
            limits = model.joint(name).limits
            assert limits is not None
            assert np.abs(q).max() <= limits.upper and np.abs(dq).max() <= limits.velocity
            assert np.abs(ddq).max() <= limits.acceleration


def test_path_errors_are_distances_and_turns():
    model = load_model("servicer-slosh")
    path = hand_path(model, splines(model, **{**REFERENCE, "duration": 2.0}))
    moved = path[0] + [0.0, 3e-3, 4e-3], path[1]
    mean, largest, turn, _ = path_errors(path, moved)
    assert mean == pytest.approx(5e-3) and largest == pytest.approx(5e-3) and turn < 1e-7


def test_wrong_models_are_wrong_as_said():
    believed = wrong_model(load_model("servicer-wings"))
    assert believed.body("bus").mass == pytest.approx(450.0)
    assert believed.joint("hinge_l1").stiffness == pytest.approx(280.0)


@pytest.mark.full
def test_ninety_five_of_a_hundred_random_starts_find_home():
    """Every spring up to 40 % and every mass up to 25 % off: the hand within 0.1 mm."""
    assert count_converged(load_model("servicer-wings"), n=100, seed=1) >= 95
