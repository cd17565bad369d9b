"""Paper 002 rebuilt: its model, its motions, and checks that can fail."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.model import load_model
from freefloat.papers.paper_002.model import eq_26
from freefloat.papers.paper_002.published import PUBLISHED, SLOW, SLOW_MOTION
from freefloat.papers.paper_002.studies import _modelled_row, _omitted_row, _smaller
from freefloat.papers.paper_002.tables import ORIENTATIONS, motion, start_plan
from freefloat.papers.paper_rows import Row


def test_every_check_of_an_effect_can_fail():
    for slow in (False, True):
        assert _omitted_row("", "mass", "kg", 0.09, slow=slow).status == "missed"
        assert _omitted_row("", "izz", "kg m^2", -0.9, slow=slow).status == "missed"
    assert _modelled_row("", "mass", "kg", -0.011).status == "missed"
    large = Row("", "mass", "%", None, 1.0, "not published")
    assert _smaller(large, 0.42**-1.0, power=2).status == "missed"
    assert _smaller(large, 0.42**-2.0, power=2).status == "not published"


def test_nothing_is_better_than_a_number_nobody_printed(quick_rows):
    rows = quick_rows("002", "noise_rows")
    assert all(row.paper is not None for row in rows if row.status == "better")


def test_the_model_has_the_paper_s_base():
    bus = load_model("ets7").body("bus")
    assert bus.com == PUBLISHED["com"] and bus.inertia == PUBLISHED["inertia"]


def test_the_slow_motion_is_within_three_degrees_a_second():
    t = np.linspace(0.0, SLOW[0], 5000)
    plan = motion(SLOW_MOTION, SLOW)
    for own in plan.motions.values():
        assert np.rad2deg(np.abs(own.at(t)[1]).max()) <= 3.0
        assert np.abs(own.at(t)[0]).max() <= PUBLISHED["joint_limit"]


def test_a_satellite_that_turns_with_the_orbit_keeps_its_sides():
    ets7, plan = load_model("ets7"), motion(SLOW_MOTION, SLOW)
    assert ets7.orbit is not None
    n = np.sqrt(ets7.orbit.mu / ets7.orbit.radius**3)
    for name in ORIENTATIONS:
        start = start_plan(plan, ets7, name, turns=True).start
        left = [side in ("left", "right") for side in name.split(", ")]
        # all of the rate is about the axis along the orbit's normal
        assert np.abs(start.rate) == pytest.approx(n * np.array(left), abs=1e-15)
        assert start_plan(plan, ets7, name, turns=False).start.rate == (0.0, 0.0, 0.0)


def test_eq_26_prefers_the_third_axis():
    assert eq_26(np.array([0, 0, 1.0, 0, 0, 0])) == 3.0
    assert eq_26(np.array([1.0, 0, 0, 0, 0, 0])) == -1.0
