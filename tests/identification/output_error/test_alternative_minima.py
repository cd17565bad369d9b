"""Other minima that explain the data as well are found and told of; intervals cover even so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from estimator import identify

import freefloat as ff
from freefloat.arrays import Array
from freefloat.identification.output_error import search
from freefloat.identification.output_error.alternative_minima import (
    AlternativeMinimum,
    _leads_back,
    find_alternatives,
    spring_changes,
    widen,
)
from freefloat.identification.output_error.cost import Block, Evaluation, OutputErrorProblem
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.prediction.inputs import inputs_from_plan

SPRING = 200.0


@dataclass(frozen=True)
class TwoWells(OutputErrorProblem):
    """A spring that the data know to be the model's or 1.3 times it; `floor`: of the second."""

    floor: float = 0.0

    def evaluate(self, theta: Array) -> Evaluation:
        x = theta[0] / SPRING
        left = np.array([100.0 * (x - 1.0) * (x - 1.3), self.floor * (x - 1.0) / 0.3])
        slopes = np.array([100.0 * (2.0 * x - 2.3), self.floor / 0.3]) / SPRING
        block = Block([], [0], np.column_stack([slopes, left]))
        cost = 0.5 * float(left @ left)
        return Evaluation(theta, cost, (block,), np.zeros((0, 1)), np.zeros(0), (), 2, 0)


def wells(floor: float) -> TwoWells:
    wanted = ff.Parameters(ff.load_model("servicer-wings")).free("hinge_l1.stiffness")
    unknowns = unknowns_of(wanted, [], is_start_known=True)
    return TwoWells((), unknowns, (), floor=floor)


@pytest.mark.parametrize("start", [0.97, 1.35])
def test_a_minimum_as_low_is_found_and_widens_the_interval(start: float) -> None:
    problem = wells(0.0)
    found, every = find_alternatives(problem, descend(problem, np.array([start * SPRING])))
    alternatives = [other for other in every if other.is_minimum]
    assert len(alternatives) == 1
    assert abs(alternatives[0].theta[0] - found.at.theta[0]) == pytest.approx(
        0.3 * SPRING, rel=1e-2
    )
    std = np.sqrt(widen(np.array([[1e-6]]), alternatives, found.at.theta)[0, 0])
    assert std == pytest.approx(0.3 * SPRING / np.sqrt(2.0), rel=1e-2)  # either is as likely
    assert spring_changes(problem, found.at, alternatives[0])[0].startswith(
        "hinge_l1.stiffness = 2"
    )


def test_a_lower_minimum_is_moved_to_and_the_other_told_of() -> None:
    problem = wells(1.5)  # the second is about one higher than the first
    first = descend(problem, np.array([1.35 * SPRING]))
    assert first.at.theta[0] > 1.2 * SPRING
    found, alternatives = find_alternatives(problem, first)
    assert found.at.theta[0] == pytest.approx(SPRING, rel=1e-3)
    rises = [other.rise for other in alternatives if other.is_minimum]
    assert rises == pytest.approx([first.at.cost], rel=0.1)


@pytest.mark.parametrize("is_planned", [True, False])
def test_the_remedy_is_one_that_is_left(is_planned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def as_good(
        problem: OutputErrorProblem, descent: Descent
    ) -> tuple[Descent, tuple[AlternativeMinimum, ...]]:
        return descent, (AlternativeMinimum(1.3 * descent.at.theta, 1.0),)

    monkeypatch.setattr(search, "find_alternatives", as_good)
    arm = ff.load_model("cbk-arm-geared")
    plan = ff.default_plan(arm, duration=10.0)
    flight = ff.simulate(arm, plan, seed=1, step=1e-2)
    wanted = ff.Parameters(arm).free("arm_1.drive.stiffness")
    known = plan if is_planned else None
    fit = identify(arm, wanted, flight, method="output_error", plan=known)
    assert not fit.is_trustworthy
    assert fit.status_code == "not_trusted.alternative_minima"
    assert ("plan" in fit.status) is not is_planned


SERVICER = ff.load_model("servicer")
DRIVEN = ff.default_plan(SERVICER, duration=40.0)


def flown_by_encoders(seed: int) -> ff.Fit:
    """All effects at once from one flight of wings that hardly swing, driven by its encoders."""
    flight = ff.simulate(SERVICER, DRIVEN, seed=seed)
    free = ("bus.*", "target.*", "hinge_*.stiffness", "tank_*.stiffness")
    wanted = ff.Parameters(SERVICER).free(*free)
    return identify(SERVICER, wanted, flight, method="output_error")


@pytest.mark.full
def test_wings_that_hardly_swing_are_not_told_of_with_confidence() -> None:
    fit = flown_by_encoders(1)
    assert not fit.is_trustworthy
    assert "hinge_l2.stiffness" in fit.status


@pytest.mark.full
@pytest.mark.promise("I3")
def test_intervals_cover_where_encoders_drive_the_wings(
    figure: Callable[[str, str], None],
) -> None:
    truth = {p.name: p.value for p in ff.Parameters(SERVICER)}
    runs, inside, squares, trusted = 10, [], [], []
    for seed in range(1, 1 + runs):
        fit = flown_by_encoders(seed)
        error = np.array([e.value - truth[e.name] for e in fit.estimates])
        std = np.sqrt(np.diag(fit.covariance))
        inside.append(np.abs(error) < 1.96 * std)
        trusted.append(fit.is_trustworthy)
        squares.append(error @ np.linalg.solve(fit.covariance, error) / len(error))
    covered, nees = float(np.mean(inside)), float(np.mean(squares))
    figure("I3", f"servicer driven by encoders, {runs} runs: {covered:.3f}, NEES {nees:.2f} of 1")
    # 26 parameters a run count as ten: wings trade off against each other, and so do bodies
    assert covered > 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / (10 * runs))
    # where wings hardly swing the errors of springs are not Gaussian, and the fit says so
    assert not any(
        is_trusted and square > 2.0 for is_trusted, square in zip(trusted, squares, strict=True)
    )


def test_smoothed_motion_is_flown_without_its_ends() -> None:
    plan = ff.default_plan(SERVICER, duration=10.0)
    flight = ff.simulate(SERVICER, plan, seed=0)
    inside = recording_of(SERVICER, flight, step=1e-2)
    # a fortieth at most, to the next sample
    assert 0.1 <= inside.grid.first <= 0.27 and 9.71 <= inside.times[-1] <= 9.88
    assert all(stream.times[0] >= inside.grid.first for stream in inside.measurements)
    whole = recording_of(SERVICER, flight, step=1e-2, trims=(False, False))
    planned = recording_of(SERVICER, flight, plan=plan, step=1e-2)
    for one in (whole, planned):
        assert one.grid.first == 0.0 and one.times[-1] > 9.9
    exact = inputs_from_plan(inside.model, plan).tabulate

    def wrong(times: Array) -> Array:
        """Worst error of a joint's acceleration at each of some times."""
        at = np.repeat(times[:, None], 3, axis=1)
        apart = inside.source.tabulate(at).given - exact(at).given
        return np.max(np.abs(apart[:, 0, :7, 2]), axis=1)

    # what is left out is by far the worst of it
    ends = np.concatenate([np.linspace(0.0, 0.1, 20), np.linspace(9.88, 9.98, 20)])
    within = np.linspace(inside.grid.first, inside.times[-1], 200)
    assert np.max(wrong(ends)) > 3.0 * np.max(wrong(within))


@dataclass(frozen=True)
class OneWell(TwoWells):
    """The same spring where the data know of one place only: a parabola."""

    def evaluate(self, theta: Array) -> Evaluation:
        left = np.array([100.0 * (theta[0] / SPRING - 1.0)])
        block = Block([], [0], np.array([[100.0 / SPRING, left[0]]]))
        cost = 0.5 * float(left @ left)
        return Evaluation(theta, cost, (block,), np.zeros((0, 1)), np.zeros(0), (), 1, 0)


def test_a_point_on_the_slope_of_a_minimum_needs_no_descent() -> None:
    two = wells(0.0)
    one = OneWell(two.recordings, two.unknowns, two.noise)
    first, aside, beyond = (np.array([x * SPRING]) for x in (1.0, 1.06, 1.27))
    assert _leads_back(one, one.evaluate(aside), one.evaluate(first))
    # a well of its own is no such point, though it is as far aside as a parabola may be
    assert not _leads_back(two, two.evaluate(beyond), two.evaluate(first))
