"""Criteria: their derivatives against differences, and what they are for simple matrices."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.design.criteria import Information, information, observable_part
from freefloat.design.motion_criteria import BaseAcceleration, BaseExcursion, ModalEnergy
from freefloat.design.motion_search import smooth_worst

KINDS = ("a", "d", "e", "cond", "worst", "named")


def criterion(kind: str, rows: np.ndarray) -> Information:
    sizes = np.array([2.0, 0.5, 1.0, 3.0])
    prior = np.array([np.nan, 0.1, np.nan, np.nan])
    return information(kind, sizes, rows, prior_std=prior, chosen=(0, 2))  # type: ignore[arg-type]


def slope_error(judge, rows: np.ndarray) -> float:
    rng = np.random.default_rng(3)
    _, slope = judge.value(rows)
    step = rng.normal(size=rows.shape)
    h = 1e-6
    ahead, behind = (judge.value(rows + side * h * step)[0] for side in (1.0, -1.0))
    return abs((ahead - behind) / (2.0 * h) - np.vdot(slope, step)) / np.linalg.norm(slope)


@pytest.mark.parametrize("kind", KINDS)
def test_information_criteria_have_the_right_derivative(kind):
    rows = np.random.default_rng(0).normal(size=(30, 6))  # four wanted, two nuisance columns
    assert slope_error(criterion(kind, rows), rows) < 1e-7  # error of central differences


def test_criteria_of_a_diagonal_information():
    rows = np.vstack([np.diag([10.0, 100.0, 1000.0]), np.zeros((2, 3))])
    std = np.array([0.1, 0.01, 0.001])
    plain = {k: Information(k, 3, np.ones(3), np.zeros(3), (0, 1)) for k in KINDS}  # type: ignore[arg-type]
    found = {kind: judge.describe(judge.value(rows)[0])[1] for kind, judge in plain.items()}
    assert found["a"] == pytest.approx(100.0 * np.sqrt(np.mean(std**2)))
    assert found["d"] == pytest.approx(1.0)
    assert found["e"] == pytest.approx(10.0)  # the norm is a maximum where one value dominates
    assert found["worst"] == pytest.approx(10.0)
    assert found["cond"] == pytest.approx(100.0)
    assert found["named"] == pytest.approx(100.0 * np.sqrt(np.mean(std[:2] ** 2)))


def test_what_nuisance_explains_does_not_count():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 5))
    rows[:, 4] = rows[:, 0]  # the last column, a nuisance, does what the first does
    judge = information("a", np.ones(4), rows, prior_std=np.full(4, np.nan))
    variances = np.diag(judge.covariance(rows))
    assert variances[0] == pytest.approx(1.0, rel=1e-3)  # as before: its natural size
    assert np.all(variances[1:4] < 0.1)


@pytest.mark.parametrize("kind", ["a", "d", "e", "cond"])
def test_what_no_motion_shows_has_no_part(kind):
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(30, 6))
    rows[:, 1] = 0.0  # of four wanted ones the second, with a prior, is never seen
    judge = observable_part(criterion(kind, rows), rows)
    assert judge.seen is not None and judge.seen.shape == (3, 4)
    assert slope_error(judge, rows) < 1e-6  # of central differences
    sizes, prior = np.array([2.0, 1.0, 3.0]), np.full(3, np.nan)
    alone = information(kind, sizes, np.delete(rows, 1, axis=1), prior_std=prior)
    assert judge.value(rows)[0] == pytest.approx(alone.value(np.delete(rows, 1, axis=1))[0])


def test_base_criteria_have_the_right_derivative():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(20, 6))
    for balance in ("literal", "corrected", "none"):
        assert slope_error(BaseExcursion(balance), rows) < 1e-7
    for is_signed in (True, False):
        assert slope_error(BaseAcceleration((1.0, 0.0, 0.0), is_signed), rows[:, :1]) < 1e-7
    energy = ModalEnergy.__new__(ModalEnergy)  # its value looks at rows alone
    assert slope_error(energy, rows[:, 0]) < 1e-7


def test_eq_26_as_printed_is_no_balance():
    """-y1^2 + y2^2 + 3 y3^2 - y4^2 + y5^2 + 3 y6^2, and another one with the axes renamed."""
    peaks = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    value, _ = BaseExcursion("literal").value(peaks[None])
    assert -value == pytest.approx(np.array([-1, 1, 3, -1, 1, 3]) @ peaks**2)
    other, _ = BaseExcursion("literal", (2, 1, 0)).value(peaks[None])
    assert other != pytest.approx(value)
    fair = [BaseExcursion("corrected", order).value(peaks[None])[0]
            for order in ((0, 1, 2), (2, 1, 0))]  # fmt: skip
    assert fair[0] == pytest.approx(fair[1])


def test_the_worst_of_scenarios_is_nearly_the_largest():
    worst, weights = smooth_worst(np.array([1.0, 3.0, 2.0]))
    assert 3.0 <= worst < 3.1 and weights.sum() == pytest.approx(1.0) and weights.argmax() == 1
