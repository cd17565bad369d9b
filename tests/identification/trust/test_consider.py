"""Consider covariance and score tests, against least squares done in full."""

from dataclasses import replace

import numpy as np
import pytest
from identification.trust.linear_rows import assumptions, linear_rows

import freefloat as ff
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.identification.trust.assumption_columns import AssumptionColumns
from freefloat.identification.trust.assumption_scores import score
from freefloat.identification.trust.causes import Reported, explain, if_stretches_agree
from freefloat.identification.trust.consider import (
    adjusted_noise,
    consider,
    doubt_shares,
    most_probable_turn,
    posterior_root,
    total_deviations,
)
from freefloat.identification.trust.joint_point import JointPoint, approach_straight
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.prediction.assumptions import list_assumptions


def problem(seed: int = 0, *, wrong: tuple[int, float] | None = None):
    """Rows and five assumptions; the last two are alike."""
    rng = np.random.default_rng([seed, 7])
    calm = linear_rows(np.random.default_rng(seed))
    waves = np.array(
        [np.sin((k + 2.3) * np.tile(np.linspace(0.0, 60.0, 600), 3) * 0.2) for k in range(4)]
    )
    columns = 0.2 * (waves.T @ rng.standard_normal((4, 4)))
    columns = np.column_stack([columns, columns[:, 3] * 1.01])
    signal = None if wrong is None else columns[:, wrong[0]] * wrong[1]
    rows = linear_rows(np.random.default_rng(seed), signal=signal)
    assert calm.jacobian.shape == rows.jacobian.shape
    return rows, assumptions(columns, "a.zero", "b.zero", "thr.gain", "d.zero", "e.zero")


def test_moves_are_those_of_least_squares():
    rows, taken = problem()
    found = consider(rows, taken)
    J = rows.jacobian
    for c in range(5):
        moved = np.linalg.lstsq(J, -taken.columns[:, c], rcond=None)[0]
        np.testing.assert_allclose(found.moves[:, c], moved, rtol=1e-9, atol=1e-12)


def test_noise_of_adjusted_assumptions_is_that_of_least_squares_with_all_of_them():
    rows, taken = problem()
    found, J = consider(rows, taken), rows.jacobian
    priors = np.hstack([np.zeros((5, 4)), np.eye(5)])
    joint = np.linalg.pinv(np.vstack([np.hstack([J, taken.columns]), priors]))[:4, : len(J)]
    alone = np.linalg.inv(J.T @ J)
    added = adjusted_noise(found, list(range(4)), np.ones(4))
    np.testing.assert_allclose(alone + added, joint @ joint.T, rtol=1e-8, atol=1e-12)


def test_total_deviations_cover_assumptions_that_are_off():
    rows, taken = problem()
    found = consider(rows, taken)
    places, sizes = list(range(4)), np.ones(4)
    std = np.sqrt(np.diag(np.linalg.inv(rows.jacobian.T @ rows.jacobian)))
    total = total_deviations(found, places, std, sizes)
    rng = np.random.default_rng(5)
    inverse = np.linalg.pinv(rows.jacobian)
    # only what carries the scale is drawn in full; the rest as far as the data leave room
    room = np.linalg.cholesky(found.room + 1e-12 * np.eye(5))
    errors = np.array(
        [
            inverse @ (rng.standard_normal(len(rows.residual))
                       - taken.columns @ (room @ rng.standard_normal(5)))
            for _ in range(800)
        ]
    )  # fmt: skip
    np.testing.assert_allclose(np.std(errors, axis=0), total, rtol=0.12)
    doubts = doubt_shares(found, places, ["p", "q", "r", "s"], total, sizes)
    assert doubts[0].name == "thr.gain" and 0.0 < doubts[0].share < 1.0


@pytest.mark.parametrize("c", range(5))
def test_a_larger_doubt_never_makes_an_estimate_better_known(c):
    rows, taken = problem()
    places, none, sizes = list(range(4)), np.zeros(4), np.ones(4)
    before = np.zeros(4)
    for power in range(-12, 31, 2):
        columns = taken.columns.copy()
        columns[:, c] *= 10.0**power
        found = consider(rows, replace(taken, columns=columns))
        total = total_deviations(found, places, none, sizes)
        # rounding of columns of which two are alike to a hundredth, squared
        assert np.all(total >= before * (1.0 - 1e-9))
        before = total


def test_the_posterior_is_the_inverse_and_what_nothing_holds_is_not_known():
    G = np.random.default_rng(3).standard_normal((40, 3))
    root = posterior_root(G, np.array([1.0, 0.0, 4.0]))
    found = root.T @ root
    np.testing.assert_allclose(found, np.linalg.inv(G.T @ G + np.diag([1.0, 0.0, 4.0])), rtol=1e-10)
    G[:, 1] = 0.0
    root = posterior_root(G, np.array([1.0, 0.0, 4.0]))
    assert np.sum(root[:, 1] ** 2) > 1e20
    # and nothing moves it
    turn = most_probable_turn(G, np.array([1.0, 0.0, 4.0]), G @ [1.0, 1.0, 1.0], np.ones(3))
    assert turn[1] == 0.0 and np.all(turn[[0, 2]] < 0.0)


@pytest.mark.parametrize("c", [0, 2])
def test_a_score_is_what_freeing_takes_off(c):
    rows, taken = problem(1, wrong=(c, 6.0))
    found = consider(rows, taken)
    scores = score(found, found.columns.T @ rows.remainder)
    G, r = found.columns, rows.remainder

    def cost(prior: np.ndarray) -> tuple[float, np.ndarray]:
        A = np.vstack([G, np.diag(np.sqrt(prior))])
        d = np.linalg.lstsq(A, np.concatenate([r, np.zeros(5)]), rcond=None)[0]
        left = np.concatenate([r, np.zeros(5)]) - A @ d
        return float(left @ left), d

    held, _ = cost(np.where(np.arange(5) == c, 1e18, 1.0))  # exact, the others within their doubt
    freed, d = cost(np.where(np.arange(5) == c, 0.0, 1.0))
    assert scores.chi_square[c] == pytest.approx(held - freed, rel=1e-5)
    assert scores.amplitude[c] == pytest.approx(d[c], rel=1e-6)


def straight_there(point: JointPoint) -> JointPoint:
    """The joint maximum of a linear problem, by least squares with a row a prior."""
    exact, held = point.exact_rows.residual, point.precision
    J, G = point.rows.jacobian, point.taken.columns
    A = np.block([[J, G], [np.zeros((len(held), J.shape[1])), np.diag(held)]])
    both = np.linalg.lstsq(A, -np.concatenate([exact, np.zeros(len(held))]), rcond=None)[0]
    off = both[J.shape[1] :]
    residual = exact + G @ off
    return replace(point, rows=replace(point.rows, residual=residual), deviations=off)


def named(rows, taken):
    std = np.sqrt(np.diag(np.linalg.inv(rows.jacobian.T @ rows.jacobian)))
    reported = Reported(tuple(range(4)), ("p", "q", "r", "s"), np.ones(4), std)
    return explain(rows, taken, reported, TrustOptions(), advance=approach_straight).causes


def test_the_joint_maximum_is_that_of_least_squares_with_priors():
    rows, taken = problem(6, wrong=(1, 3.0))
    for freed in ((), (1,)):
        point = JointPoint(rows, taken, np.zeros(5), freed)
        one, other = approach_straight(point), straight_there(point)
        np.testing.assert_allclose(one.deviations, other.deviations, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(one.rows.remainder, other.rows.remainder, atol=1e-9)


@pytest.mark.parametrize("c", range(3))
def test_the_wrong_assumption_is_named_first_and_heals(c):
    causes = named(*problem(2, wrong=(c, 12.0)))
    assert causes[0].names[0] == ("a.zero", "b.zero", "thr.gain")[c]
    assert causes[0].heals
    # predicted minus measured has it twelve times too much: it is that much less
    assert causes[0].amplitude == pytest.approx(-12.0, abs=4.0 * causes[0].std)


def test_assumptions_that_cannot_be_told_apart_are_one_cause():
    causes = named(*problem(3, wrong=(3, 12.0)))
    assert set(causes[0].names) == {"d.zero", "e.zero"}


def test_right_assumptions_are_not_named():
    assert sum(bool(named(*problem(seed))) for seed in range(60)) <= 1


def test_what_is_not_in_the_catalogue_does_not_heal():
    _, taken = problem(4)
    wave = 2.0 * np.cos(2.0 * np.pi * 1.7 * np.tile(np.linspace(0.0, 60.0, 600), 3))
    odd = linear_rows(np.random.default_rng(4), signal=wave)
    assert not any(cause.heals for cause in named(odd, taken))


@pytest.mark.parametrize("torn", [0.0, 0.8])
def test_nothing_heals_while_stretches_disagree(torn):
    rows, taken = problem(7, wrong=(1, 30.0))
    std = np.sqrt(np.diag(np.linalg.inv(rows.jacobian.T @ rows.jacobian)))
    reported = Reported(tuple(range(4)), ("p", "q", "r", "s"), np.ones(4), std)
    found = explain(rows, taken, reported, TrustOptions(), advance=approach_straight)
    assert found.is_noise and found.causes[0].heals
    # an unknown that is another one in the second half of the flight
    half = np.tile(np.linspace(0.0, 60.0, 600) > 30.0, 3)
    left = replace(found.rows, residual=found.rows.residual + torn * rows.jacobian[:, 0] * half)
    found = if_stretches_agree(replace(found, rows=left), reported, TrustOptions())
    assert found.is_noise is (torn == 0.0)
    assert any(cause.heals for cause in found.causes) is (torn == 0.0)


def test_a_body_past_the_edge_of_what_can_exist_by_more_than_its_doubt_is_no_explanation():
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=5.0), seed=1)
    wanted = ff.Parameters(model).free("target.mass")
    recording = recording_of(
        model, flight, plan=None, step=SearchOptions().step, trims=(True, True), place=""
    )
    unknowns = unknowns_of(wanted, [recording], is_start_known=False, options=SearchOptions())
    doubted = [a for a in list_assumptions(model, flight) if a.name.startswith("link_2.")]
    names = [a.name for a in doubted]
    none = np.zeros((0, len(doubted)))
    rows = linear_rows(np.random.default_rng(1))
    problem = OutputErrorProblem(
        (recording,), unknowns, stated_noise([recording]), None, np.zeros(len(unknowns.items))
    )
    point = JointPoint(
        replace(rows, problem=problem), AssumptionColumns(tuple(doubted), none),
        np.zeros(len(doubted)),
    )  # fmt: skip

    def is_possible(**off: float) -> bool:
        found = np.array([off.get(name.partition(".")[2], 0.0) for name in names])
        return replace(point, deviations=found).is_possible

    assert is_possible() and is_possible(scale=3.0) and is_possible(izz=1.0)
    # by their doubt of a per cent each, a mass of nought and an inertia below it
    assert not is_possible(scale=-101.0) and not is_possible(izz=-300.0)


def test_what_a_class_has_in_common_stays_with_its_members_behind_others():
    _, own = problem()
    shared = replace(own, members=(((1, 3), np.array([0.5, 2.0])),))
    both = shared.after(assumptions(own.columns[:, :2], "first", "second"))
    assert [a.name for a in both.assumptions[:3]] == ["first", "second", "a.zero"]
    np.testing.assert_array_equal(both.columns[:, 2:], own.columns)
    ((places, doubts),) = both.members
    assert [both.assumptions[k].name for k in places] == ["b.zero", "d.zero"]
    np.testing.assert_array_equal(doubts, [0.5, 2.0])
