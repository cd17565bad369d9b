"""Where searches begin: springs far off are tuned to the modes that a free swing shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify

import freefloat as ff
from freefloat.excitation import Moves
from freefloat.excitation.commands import Wave
from freefloat.identification.output_error import search
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.starting_values import modal_start
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.parameters.write_back import with_parameters

WINGS = ff.load_model("servicer-wings")
HINGES = ("hinge_l1", "hinge_l2", "hinge_r1", "hinge_r2")
KICK = {
    "arm_1": Moves((0.0, 0.75, 2.5), (0.0, 0.2, 0.0)),
    "arm_2": Moves((0.0, 1.5, 3.0), (0.6, 0.7, 0.6)),
    "arm_4": Moves((0.0, 1.5, 3.0), (-1.2, -1.1, -1.2)),
    "arm_6": Moves((0.0, 0.75, 1.5), (0.6, 0.5, 0.6)),
}
KICKED = ff.Plan(30.0, motions=KICK)
FLIGHT = ff.simulate(WINGS, KICKED, seed=1, step=1e-2)
VALUE = {p.name: p.value for p in ff.Parameters(WINGS)}


def off_by(factor: float) -> ff.Parameters:
    """Springs so many times too stiff, and inertias of the bus, all to be found."""
    start = with_parameters(WINGS, {f"{h}.stiffness": factor * VALUE[f"{h}.stiffness"]
                                    for h in HINGES})  # fmt: skip
    free = ("bus.ixx", "bus.iyy", "bus.izz", "hinge_*.stiffness", "hinge_*.damping")
    return ff.Parameters(start).free(*free)


def found_from(factor: float) -> ff.Fit:
    wanted = off_by(factor)
    return identify(wanted.model, wanted, FLIGHT, method="output_error", plan=KICKED)


def worst(fit: ff.Fit) -> float:
    """The largest error, in standard deviations."""
    return max(abs(e.value - VALUE[e.name]) / e.std for e in fit.estimates)


def problem_of(wanted: ff.Parameters, flight: ff.Telemetry, plan: ff.Plan) -> OutputErrorProblem:
    recording = recording_of(wanted.model, flight, plan=plan, step=1e-2)
    unknowns = unknowns_of(wanted, [recording], is_start_known=False)
    return OutputErrorProblem(
        (recording,), unknowns, stated_noise([recording]), None, unknowns.start
    )


@pytest.mark.parametrize("factor", [0.1, 0.2, 3.0, 5.0, 16.0])
def test_the_swing_tells_where_springs_far_off_should_begin(factor: float) -> None:
    problem = problem_of(off_by(factor), FLIGHT, KICKED)
    start = modal_start(problem, problem.unknowns.start)
    assert start is not None
    names = [u.name for u in problem.unknowns.items]
    for h in HINGES:
        # two of four modes are seen: the others go along
        assert start[names.index(f"{h}.stiffness")] == pytest.approx(
            VALUE[f"{h}.stiffness"], rel=0.05
        )
        assert start[names.index(f"{h}.damping")] == pytest.approx(VALUE[f"{h}.damping"], rel=0.2)


def test_springs_five_times_too_stiff_are_found() -> None:
    fit = found_from(5.0)
    assert fit.is_trustworthy and worst(fit) < 4.0


@pytest.mark.full
@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_without_the_modes_the_search_ends_elsewhere(
    factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worst(found_from(factor)) < 4.0
    monkeypatch.setattr(search, "modal_start", lambda problem, theta: None)
    lost = found_from(factor)
    assert not lost.is_trustworthy and worst(lost) > 50.0


def test_no_start_is_made_of_nothing() -> None:
    near = problem_of(off_by(1.05), FLIGHT, KICKED)
    assert modal_start(near, near.unknowns.start) is None
    rigid = problem_of(ff.Parameters(WINGS).free("bus.ixx"), FLIGHT, KICKED)
    assert modal_start(rigid, rigid.unknowns.start) is None
    busy = ff.default_plan(WINGS, duration=6.0)  # joints never rest
    moving = problem_of(off_by(2.0), ff.simulate(WINGS, busy, seed=0, step=1e-2), busy)
    assert modal_start(moving, moving.unknowns.start) is None


def test_bounds_hold_for_starts_too() -> None:
    top = 3.0 * VALUE["hinge_l1.stiffness"]
    wanted = off_by(5.0).bound("hinge_l1.stiffness", lower=top)
    problem = problem_of(wanted, FLIGHT, KICKED)
    start = modal_start(problem, problem.unknowns.start)
    assert start is not None and np.all(start >= problem.unknowns.lower)


@pytest.mark.parametrize("start", [0.0, 0.003, 0.01, 0.3])
def test_friction_is_found_from_next_to_nothing_and_from_far_too_much(start: float) -> None:
    arm = with_parameters(ff.load_model("cbk-arm"), {"arm_1.drive.friction": 0.1})
    plan = replace(ff.default_plan(arm, duration=20.0), torques={"arm_1.motor": Wave(0.3, 6.0)})
    flight = ff.simulate(arm, plan, seed=1, step=5e-3)
    off = with_parameters(arm, {"arm_1.drive.friction": start})
    wanted = ff.Parameters(off).free("arm_1.drive.*")
    fit = identify(off, wanted, flight, method="output_error", plan=plan)
    truth = {p.name: p.value for p in ff.Parameters(arm)}
    assert fit.is_trustworthy, fit.status
    assert max(abs(e.value - truth[e.name]) / e.std for e in fit.estimates) < 4.0
    assert fit["arm_1.drive.friction"].status == "seen"
    # a model file has no place for the rest of a drive; everything else is written into it
    (note,) = [n for n in fit.notes if getattr(n, "code", "") == "parameters.no_place"]
    assert "arm_1.drive.rest" in note
    drive = fit.model.joint("arm_1").drive
    assert drive is not None and drive.friction == fit["arm_1.drive.friction"].value
