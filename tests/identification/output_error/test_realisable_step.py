"""Minima at the edge of what is real: an arm on the ground, whose bodies show in sums only."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

import ground_arm

from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.levenberg import cost_change, descend
from freefloat.identification.output_error.realisable_step import RealisableSet
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.model import inertia
from freefloat.parameters.parameters import Parameters


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    """All 91 parameters of the arm, from a model that is a third off."""
    true = ground_arm.arm(tmp_path_factory.mktemp("arm"))
    wrong = ground_arm.wrong(true, 1)
    free = Parameters(wrong).free(*ground_arm.FREE)
    recordings = (recording_of(wrong, ground_arm.flown(1, 4.0), plan=None, step=1e-2),)
    unknowns = unknowns_of(free, recordings, is_start_known=False)
    noise = stated_noise(recordings)
    return OutputErrorProblem(recordings, unknowns, noise, None, unknowns.start)


@pytest.fixture(scope="module")
def descent(problem):
    return descend(problem, problem.unknowns.start)


def test_the_search_ends_where_only_noise_is_left(problem, descent):
    assert descent.ending == "converged"
    assert descent.n_evaluations < problem.options.simulations / 2
    rows = descent.at.n_rows
    # theory: chi-square of so many rows, less than 62 of them fitted; four deviations of it
    assert abs(2.0 * descent.at.cost - rows) < 62 + 4.0 * np.sqrt(2.0 * rows)


def test_every_body_there_can_exist(problem, descent):
    names = [u.name for u in problem.unknowns.items]
    values = dict(zip(names, descent.at.theta, strict=True))
    for k in range(1, 8):
        phi = np.array([values[f"link_{k}.{field}"] for field in inertia.NAMES])
        assert np.linalg.eigvalsh(inertia.pseudo_inertia(phi))[0] > 0.0
    assert all(values[f"joint_{k}.friction"] >= 0.0 for k in range(1, 8))


def test_the_step_keeps_what_it_promises_and_nothing_is_left_to_gain(problem, descent):
    start = problem.evaluate(problem.unknowns.start)
    realisable = problem.unknowns.realisable
    assert isinstance(realisable, RealisableSet)
    rows = np.vstack([
        np.column_stack([start.prior_rows, start.prior_left]),
        *[block.factor[:, np.argsort([*block.own, *block.shared, len(start.theta)])]
          for block in start.blocks],
    ])  # fmt: skip
    found = realisable.step(start.theta, rows)
    assert found.change == pytest.approx(cost_change(start, found.step), rel=1e-9)
    # torques are linear in the parameters: slopes foretell everything
    there = problem.evaluate(start.theta + found.step)
    assert there.cost - start.cost == pytest.approx(found.change, rel=1e-6)
    assert there.cost == pytest.approx(descent.at.cost, abs=1e-2)


def test_where_no_body_is_sought_there_is_no_such_set(problem):
    model = problem.recordings[0].model
    free = Parameters(model).free("*.friction")
    names = [p.name for p in free.free_ones]
    assert RealisableSet.of(free, names, [True] * len(names)) is None


def test_a_motion_that_runs_away_is_none(problem, monkeypatch):
    n = len(problem.unknowns.columns(0)[1])

    def run_away(_problem, _r, _prediction):
        return np.full((3, n), 1e200), np.zeros(3)

    monkeypatch.setattr(OutputErrorProblem, "whiten_prediction", run_away)
    assert problem.evaluate(problem.unknowns.start) is None


def test_torques_of_a_joint_that_may_stick_are_left_out(problem):
    recording, flight = problem.recordings[0], ground_arm.flown(1, 4.0)
    left_out = 0
    for m in recording.measurements:
        joint, _, quantity = m.group.partition(".")
        if quantity != "motor_torque":
            continue
        time, rate = flight[f"{joint}.velocity"].time, flight[f"{joint}.velocity"].values
        inside = (time >= m.times[0]) & (time <= m.times[-1])
        gone = ~np.isin(np.round(time, 6), np.round(m.times, 6)) & inside
        # theory: tanh(3) leaves half a percent of friction unknown, far less than the noise here
        assert np.all(np.abs(rate[~gone & inside]) > 0.5e-3)
        slow = np.abs(rate) < 5e-3
        slow[1:] |= rate[1:] * rate[:-1] < 0.0
        near = np.convolve(slow, np.ones(5), mode="same") > 0.0
        assert not np.any(gone & ~near)
        left_out += int(gone.sum())
    assert left_out > 0
