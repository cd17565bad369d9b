"""Designs: better than chance, within every limit, the same for a seed, stopped at any time."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.design import design
from freefloat.design.criteria import flights_and_criterion
from freefloat.design.excitation import Effort, finish_design, scenarios_of, start_search
from freefloat.design.motion_criteria import band_share, bands_of
from freefloat.design.motion_search import Search
from freefloat.design.variables import variables_of
from freefloat.dynamics import flatten
from freefloat.errors import ExcitationError
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import limits_of
from freefloat.prediction.flight_summary import summarise_flight
from freefloat.prediction.limit_monitors import limit_monitors

QUICK = Effort(random=6, starts=1, rounds=4)


@pytest.fixture(scope="module")
def cepheus() -> ff.Model:
    return ff.load_model("cepheus")


def wanted(model: ff.Model, *globs: str) -> ff.Parameters:
    return ff.Parameters.of(model).free(*globs)


def worst_limit(model: ff.Model, plan: ff.Plan) -> tuple:
    """Limits that a flight of the plan exceeds, by the simulator's own account at 1 ms."""
    return summarise_flight(model, plan, ff.simulate(model, plan)).violations


def test_a_design_is_better_than_the_default_and_within_the_limits(cepheus):
    found = design(
        cepheus, wanted(cepheus, "bus.izz", "link_2.mx", "link_2.izz"), duration=5.0, effort=QUICK
    )
    for name, before, after in found.comparison():
        assert after < 0.3 * before, name
    assert found.usage[0].share <= 1.0
    assert not worst_limit(cepheus, found.plan)


def test_the_same_seed_gives_the_same_plan(cepheus):
    free = wanted(cepheus, "link_2.mx")
    plans = [
        ff.design_excitation(cepheus, free, duration=5.0, seed=3, effort=QUICK) for _ in range(2)
    ]
    assert plans[0] == plans[1]
    other = ff.design_excitation(cepheus, free, duration=5.0, seed=4, effort=QUICK)
    assert other.motions != plans[0].motions


@pytest.mark.parametrize("shape", ["spline", "multisine", "moves", "bangs", "sinusoid"])
def test_every_family_of_motions_can_be_designed_with(cepheus, shape):
    found = design(
        cepheus, wanted(cepheus, "link_2.izz"), duration=6.0, shape=shape, harmonics=4, effort=QUICK
    )
    assert not worst_limit(cepheus, found.plan)
    assert {motion.kind for motion in found.plan.motions.values()} == {shape}


@pytest.mark.parametrize("criterion", ["d_optimal", "e_optimal", "condition", "link_2.izz"])
def test_a_criterion_improves_what_it_asks_for(cepheus, criterion):
    free = wanted(cepheus, "bus.izz", "link_2.mx", "link_2.izz")
    none = Effort(random=6, starts=1, rounds=0)  # the best of six random motions
    chance, found = (
        design(cepheus, free, duration=5.0, criterion=criterion, effort=effort)
        for effort in (none, QUICK)
    )
    assert found.value < 0.9 * chance.value


def test_wheels_and_thrusters_are_moved_where_asked(cepheus):
    found = design(
        cepheus, wanted(cepheus, "bus.mass", "bus.izz"), duration=10.0, wheels=("rw_z",),
        thrusters=("thr_1", "thr_2"), effort=QUICK,
    )  # fmt: skip
    assert found.plan.motions["rw_z"].kind == "speeds" and found.plan.thrusts
    assert found.after is not None and found.after["bus.mass"].status == "seen"
    assert not worst_limit(cepheus, found.plan)


def test_given_limits_bind(cepheus):
    limits = {"base.attitude": 0.02, "arm_*.velocity": 0.3, "arm_*.jerk": 1.0}
    found = design(
        cepheus, wanted(cepheus, "link_2.izz"), duration=6.0, limits=limits, effort=QUICK
    )
    shares = {one.limit.name: one.share for one in found.usage}
    assert max(shares.values()) <= 1.0 and shares["base.attitude"] > 0.8


def test_limits_that_leave_no_room_are_named(cepheus):
    home_outside = {"arm_1.lower": 0.2, "arm_1.upper": 0.4}
    with pytest.raises(ExcitationError) as caught:
        design(cepheus, wanted(cepheus, "link_2.izz"), limits=home_outside)
    (fault,) = caught.value.faults
    assert (fault.place, fault.code) == ("arm_1.lower", "limit.home") and "0.2" in fault.value
    with refused(ExcitationError, "limit.no_room", "limit.no_room"):
        design(cepheus, wanted(cepheus, "link_2.izz"), limits={"arm_*.velocity": 0.0})


def test_limits_that_block_at_rest_are_named():
    """Wheels at 100 rad/s have momentum before anything moves."""
    model = ff.load_model("servicer")
    with pytest.raises(ExcitationError) as caught:
        design(model, wanted(model, "target.mass"), limits={"rw_1.speed": 80.0}, wheels=("rw_1",))
    (fault,) = caught.value.faults
    assert fault.place == "rw_1.speed" and "25 %" in fault.value


def test_capsules_keep_their_distance():
    model = ff.load_model("servicer")
    limits = {"capsules.clearance": 0.1}
    found = design(
        model, wanted(model, "target.mass"), duration=10.0, harmonics=2, limits=limits,
        effort=Effort(random=3, starts=1, rounds=2), sensors="gyro",
    )  # fmt: skip
    near = [one for one in found.usage if one.limit.quantity == "clearance"]
    assert near and max(one.share for one in near) <= 1.0


def test_an_interrupt_keeps_the_best_so_far(cepheus, monkeypatch):
    calls = 0

    def interrupted(self, here):
        nonlocal calls
        calls += 1
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "_local_model", interrupted)
    heard = []
    found = design(
        cepheus, wanted(cepheus, "link_2.izz"), duration=5.0, effort=QUICK,
        on_interrupt=lambda: heard.append(True),
    )  # fmt: skip
    assert calls == 1 and heard == [True] and found.is_interrupted
    assert not worst_limit(cepheus, found.plan)


def test_no_time_is_time_enough_for_a_random_motion(cepheus):
    found = design(
        cepheus, wanted(cepheus, "link_2.izz"), duration=5.0, effort=Effort(seconds=1e-3)
    )
    assert found.usage[0].share <= 1.0


def test_the_worst_of_scenarios_is_designed_for(cepheus):
    unsure = wanted(cepheus, "link_2.izz").prior("link_2.izz", relative=0.3)
    others = scenarios_of(cepheus, unsure, n=2)
    found = design(cepheus, unsure, duration=5.0, scenarios=others, effort=QUICK)
    for model in others:
        assert not worst_limit(model, found.plan)


def test_a_motion_stays_out_of_the_modes():
    model = ff.load_model("servicer-wings")
    bands = bands_of(flatten(model))
    found = design(
        model, wanted(model, "bus.mass", "bus.izz"), duration=30.0, harmonics=5, avoid=bands,
        effort=Effort(random=3, starts=1, rounds=2), limits={"hinge_*.deflection": 0.1},
    )  # fmt: skip
    t = np.linspace(0.0, 30.0, 3001)
    moved = np.column_stack([motion.at(t)[2] for motion in found.plan.motions.values()])
    assert band_share(moved, 0.01, bands) < 0.01


def test_the_model_of_the_search_predicts_flights(cepheus):
    """Rows near a motion: linear to second order in the step, from any number of unknowns."""
    system, allowed = flatten(cepheus), limits_of(cepheus)
    variables = variables_of(system, allowed, basis=Basis("fourier", 5.0, 2))
    flights, judge = flights_and_criterion(
        system, wanted(cepheus, "link_2.izz", "bus.izz"), variables,
        limit_monitors(system, allowed),
        cepheus.sensors, "a_optimal",
    )  # fmt: skip
    search = start_search(cepheus, variables, allowed, [flights], [judge])
    here = search.evaluate(0.3 * search.random(np.random.default_rng(0)))
    model = search._local_model(here)
    step = np.random.default_rng(1).normal(size=variables.n)
    errors = []
    for size in (0.1, 0.05):
        there = search.evaluate(here.x + size * step)
        errors.append(abs(model.value(size * step)[0] - there.value))
    assert errors[0] < 0.1 and errors[1] < 0.35 * errors[0]  # a quarter, to second order
    assert finish_design(search, variables, allowed, "a_optimal").value > 0.0


def test_bang_like_moves_push_as_hard_as_allowed(cepheus):
    """Acceleration limits alone: the levels go to them, mostly, as bang-bang does."""
    limits = {"arm_*.acceleration": 0.3, "arm_*.velocity": 5.0, "base.*": 10.0,
              "arm_*.jerk": 100.0, "arm_*.effort": 100.0}  # fmt: skip
    found = design(
        cepheus, wanted(cepheus, "link_2.izz"), duration=6.0, shape="bangs", harmonics=4,
        limits=limits, effort=Effort(random=6, starts=1, rounds=8),
    )  # fmt: skip
    levels = np.array([motion.levels for motion in found.plan.motions.values()])
    assert levels.shape == (2, 6) and np.max(np.abs(levels)) > 0.299
    assert np.mean(np.abs(levels) > 0.25) > 0.5


def test_an_invisible_parameter_does_not_spoil_the_others(cepheus):
    plain = wanted(cepheus, "link_2.mx", "link_2.izz")
    both = wanted(cepheus, "link_2.mx", "link_2.mz", "link_2.izz")  # mz: the table is level
    found = [design(cepheus, free, duration=5.0, effort=QUICK) for free in (plain, both)]
    assert found[1].value == pytest.approx(found[0].value, rel=0.1)
    # the measure tells that it is about something else
    assert found[1].measure != found[0].measure
