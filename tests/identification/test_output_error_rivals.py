"""Other minima that explain the data as well are found and told of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import freefloat as ff
from freefloat.arrays import Array
from freefloat.identification.output_error.levenberg import descend
from freefloat.identification.output_error.problem import Block, Evaluation, Problem
from freefloat.identification.output_error.rivals import looked_around, moved_springs, spread_of
from freefloat.identification.output_error.unknowns import unknowns_of

SPRING = 200.0


@dataclass(frozen=True)
class TwoWells(Problem):
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
    found, rivals = looked_around(problem, descend(problem, np.array([start * SPRING])))
    assert len(rivals) == 1
    assert abs(rivals[0].theta[0] - found.at.theta[0]) == pytest.approx(0.3 * SPRING, rel=1e-2)
    std = np.sqrt(spread_of(rivals, found.at.theta)[0, 0])
    assert std == pytest.approx(0.3 * SPRING / np.sqrt(2.0), rel=1e-2)  # either is as likely
    assert moved_springs(problem, found.at, rivals[0])[0].startswith("hinge_l1.stiffness = 2")


def test_a_lower_minimum_is_moved_to_and_the_other_told_of() -> None:
    problem = wells(1.5)  # the second is about one higher than the first
    first = descend(problem, np.array([1.35 * SPRING]))
    assert first.at.theta[0] > 1.2 * SPRING
    found, rivals = looked_around(problem, first)
    assert found.at.theta[0] == pytest.approx(SPRING, rel=1e-3)
    assert [rival.rise for rival in rivals] == pytest.approx([first.at.cost], rel=0.1)


@pytest.mark.full
def test_wings_that_hardly_swing_are_not_told_of_with_confidence() -> None:
    model = ff.load_model("servicer")
    flight = ff.simulate(model, ff.default_plan(model, duration=40.0), seed=1)
    wanted = ff.Parameters(model).free("bus.*", "target.*", "*.stiffness")
    fit = ff.identify(model, wanted, flight, method="output_error")
    assert not fit.is_trustworthy
    assert "hinge_l2.stiffness" in fit.status
    truth = {p.name: p.value for p in ff.Parameters(model)}
    left = [e for e in fit.estimates if e.name.startswith("hinge_l")]
    assert all(abs(e.value - truth[e.name]) < 1.96 * e.std for e in left)
