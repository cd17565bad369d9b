"""The designed motions of the papers: every row holds, and the findings are found again."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.design import Effort
from freefloat.dynamics.state import positions
from freefloat.model import load_model
from freefloat.papers.paper_000 import studies as design_000
from freefloat.papers.paper_002 import studies as design_002
from freefloat.papers.paper_003.model import Emulator, instants
from freefloat.papers.paper_003.studies import bench_rows, joint_motion


def test_rows_are_in_units_of_their_noise():
    """A row's noise: by differences here, by chance there."""
    bench = Emulator.of()
    q, dq = np.array([[0.3, -0.4]]), np.array([[0.5, 0.2]])
    momentum = -bench.wheel_inertia * bench.wheel_speed
    rate = bench.base_rate(q, dq, momentum)
    rng = np.random.default_rng(0)
    n = 20_000
    noisy = bench.rows(
        rate + 1e-3 * rng.normal(size=n), q + 1e-4 * rng.normal(size=(n, 2)),
        dq + 1e-3 * rng.normal(size=(n, 2)),
    )  # fmt: skip
    spread = float(np.std(noisy @ bench.pi))
    from freefloat.papers.paper_003.tables import NOISE

    whitened = bench_rows(bench, q, dq, NOISE)[0]
    raw = bench_rows(bench, q, dq, None)[0] * bench.pi
    assert raw[4] / whitened[4] == pytest.approx(spread, rel=0.03)  # chance: 1 / sqrt(2 n)


def test_every_hinge_keeps_its_limit_after_the_motion_too():
    bench = design_000.WingBench.of(load_model("servicer-wings"), design_000.DEFLECTION)
    rng = np.random.default_rng(0)
    plan = bench.shrink(5.0 * rng.normal(size=bench.variables.n))
    at = bench.flights.replay(plan)
    hinges = [k for k, name in enumerate(bench.flights.system.coordinates) if "hinge" in name]
    bent = np.abs(positions(at.states)[:, hinges])
    resting = at.times > 20.0
    for motion in plan.motions.values():
        assert np.abs(motion.at(at.times[resting])[1]).max() < 1e-9
    assert bent.max() < 1.02 * design_000.BENT  # the search's grid is ten times coarser
    assert bent[resting].max() > 0.1  # and it is the wings that go on


def test_eq_10_tells_nothing_of_rigid_wings():
    blind = design_000.Blind.of(
        load_model("servicer-wings"), n=1, seed=0, effort=Effort(random=1, starts=1, rounds=1)
    )
    assert blind.signed < 1e-4  # of the sum of sizes: a sum for an integral, kinks in the jerk


def test_000_comes_near_what_hinges_hold_and_says_why_no_more(quick_rows):
    rows = quick_rows("000", "design_rows")
    (short,) = [row for row in rows if row.status == "out of reach"]
    assert short.quantity == "designed over sizes, wings unknown" and short.ours > 1.0
    (left,) = [row for row in rows if row.quantity == "energy left, designed for it"]
    one, most = (row for row in rows if row.quantity.startswith("most that"))
    assert 0.9 * one.ours < left.ours < most.ours < 2.5 * one.ours


def test_an_aim_is_only_out_of_reach_where_the_bound_forbids_it():
    row = design_000.ratio_row
    assert row(24.0, 9.3, most=43.0).status == "out of reach"  # 100 times 9.3 J is more than 43 J
    assert row(24.0, 0.31, most=43.0).status == "missed"  # 31 J would have been possible
    assert row(50.0, 9.3, most=43.0).status == "missed"  # a motion that refutes the bound
    assert row(40.0, 0.31, most=43.0).status == "met"


def test_no_swing_within_the_limit_has_more_than_the_bound():
    """Random swings of all modes, as large as the hinges allow over all of the time."""
    A, Q = design_000._swing(load_model("servicer-wings"))
    rows = design_000._deflections(A, Q, duration=10.0)
    swings = np.random.default_rng(0).normal(size=(20_000, rows.shape[1]))
    energy = np.sum(swings**2, axis=1) * (0.3 / np.abs(swings @ rows.T).max(axis=1)) ** 2
    most = design_000.most_energy(load_model("servicer-wings"), 0.3, duration=10.0)
    assert 0.4 * most < energy.max() < most  # one mode alone reaches half of the bound


def test_the_papers_own_swing_breaks_its_own_limits():
    bench = design_002.swings()
    q = np.array(design_002.PUBLISHED["motion"])
    reach = max(abs(q[k]) + abs(q[k + 1]) for k in (0, 2, 4))
    assert reach - np.pi / 2 == pytest.approx(0.93, abs=0.005)  # [rad], as printed digits allow
    start = np.full(6, -1.1)
    best = bench.best(bench.judge, start, seed=0)
    assert bench.log_det(best) > bench.log_det(q) + 3.0
    assert np.max(np.abs(moved_most(bench, best))) <= np.pi / 2 + 2e-3  # what a replay takes off


def moved_most(bench: design_002.Swings, x: np.ndarray) -> np.ndarray:
    plan, t = bench.variables.plan(x), np.linspace(0.0, 90.0, 2001)
    return np.array([plan.motions[name].at(t)[0] for name in design_002.JOINTS])


def test_the_bench_moves_as_the_plan_says():
    from freefloat.excitation.plan import Plan
    from freefloat.papers.paper_003.model import motions, table_2

    plan = Plan(5.0, motions=motions())
    for mine, theirs in zip(joint_motion(plan, instants()), table_2(instants()), strict=True):
        np.testing.assert_array_equal(mine, theirs)
