"""Estimates made physical: always realisable, and moved no further than that takes."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import flatten
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.errors import IdentificationError
from freefloat.identification.linear.angular_regressor import (
    angular_rows,
    pair_form,
    pair_parameters,
)
from freefloat.identification.physical.consistent_fit import (
    ConsistencyOptions,
    closest_physical,
    fit_realisable,
)
from freefloat.identification.physical.convex_solver import (
    ConvexProblem,
    barrier,
    divergence,
    minimise,
    minimise_with_clarabel,
)
from freefloat.identification.physical.realisable import conditions_of
from freefloat.model import Body, Model, load_model
from freefloat.model import inertia as inertial
from freefloat.model.checks import structure_faults
from freefloat.notes import codes_of
from freefloat.observability.minimal_set import generic_states, minimal_set
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import upright_bodies, with_parameters

FREED = {
    "planar-capture": ("bus.*", "target.*"),
    "spatial-capture": ("bus.*", "target.*"),
    "cepheus": ("bus.*", "link_?.*", "rw_z.inertia"),
    "ets7": ("bus.*", "link_6.*", "rw_x.inertia"),
    "servicer": ("bus.*", "target.*", "rw_?.inertia", "tank.mass"),
    "dual-arm": ("bus.*", "target.*", "rw_z.inertia"),
}
FLAT = ("*.mz", "*.ixx", "*.ix[yz]", "*.iy[yz]")


def freed(name: str) -> Parameters:
    parameters = Parameters.of(load_model(name)).free(*FREED[name])
    return parameters.fix(*FLAT) if parameters.model.root.type == "planar" else parameters


def prior_of(parameters: Parameters) -> np.ndarray:
    return np.array([p.value for p in parameters.free_ones])


def sizes_of(parameters: Parameters) -> np.ndarray:
    """How large a parameter of a body is at the prior, also where it happens to be zero."""
    c = conditions_of(parameters, parameters.names)
    return c.scale


def realisable_margin(model: Model) -> float:
    """The smallest eigenvalue of the bodies' conditions, each scaled to a unit diagonal."""
    worst, upright = np.inf, upright_bodies(model)
    for body in (*model.bodies, *(target.body for target in model.targets)):
        phi = inertial.phi_from_com(body.mass, (0.0, 0.0, 0.0), body.inertia)
        J = inertial.pseudo_inertia(phi)
        if body.name in upright:  # only turning about z means anything; plates will do
            J = np.diag([body.mass, body.inertia[5]])
        size = np.sqrt(np.diag(J)) if np.all(np.diag(J) > 0.0) else np.ones(len(J))
        worst = min(worst, float(np.linalg.eigvalsh(J / np.outer(size, size))[0]))
    return worst


@pytest.mark.parametrize("name", FREED)
def test_gradient_and_hessian_are_those_of_the_divergence(name: str) -> None:
    parameters = freed(name)
    c = conditions_of(parameters, parameters.names)
    rng = np.random.default_rng(1)
    u = 0.05 * rng.normal(size=len(c.prior))
    here = barrier(c, u)
    assert here is not None
    h = 1e-5
    for i, unit in enumerate(np.eye(len(u))):
        slope = (divergence(c, u + h * unit) - divergence(c, u - h * unit)) / (2.0 * h)
        assert slope == pytest.approx(here.gradient[i], abs=1e-8)  # h^2 and rounding / h
        low, high = barrier(c, u - h * unit), barrier(c, u + h * unit)
        assert low is not None and high is not None
        curve = (high.gradient - low.gradient) / (2.0 * h)
        assert curve == pytest.approx(here.hessian[i], abs=1e-7)


def test_the_divergence_is_that_of_the_inertias() -> None:
    parameters = freed("spatial-capture")
    c = conditions_of(parameters, parameters.names)
    u = 0.1 * np.random.default_rng(0).normal(size=len(c.prior))
    values = c.prior + c.scale * u
    pairs = zip(values.reshape(2, 10), c.prior.reshape(2, 10), strict=True)
    expected = sum(inertial.divergence(phi, prior) for phi, prior in pairs)
    assert divergence(c, u) == pytest.approx(expected, rel=1e-5)  # the margin of 1e-7 apart


@pytest.mark.parametrize("name", FREED)
def test_physical_estimates_do_not_move(name: str) -> None:
    parameters = freed(name)
    rng = np.random.default_rng(0)
    sizes, p = sizes_of(parameters), len(parameters.names)
    for sigma in (1e-4, 1e-2, 1.0):  # of the prior's size
        target = prior_of(parameters) + 0.05 * sizes * rng.normal(size=p)
        rows = rng.normal(size=(2 * p, p)) / sizes / sigma
        found = closest_physical(parameters, parameters.names, target, rows.T @ rows)
        assert found.moved_sigmas < 1e-3 and not found.is_moved
        assert np.max(np.abs(found.values - target) / sizes) < 1e-6
        assert not structure_faults(found.model)


@pytest.mark.parametrize("name", FREED)
def test_unseen_directions_take_the_prior_and_seen_ones_stay(name: str) -> None:
    parameters = freed(name)
    rng = np.random.default_rng(2)
    sizes, p = sizes_of(parameters), len(parameters.names)
    rows = rng.normal(size=(p // 3, p)) / sizes / 1e-3
    truth = prior_of(parameters) + 0.1 * sizes * rng.normal(size=p)
    unseen = np.linalg.svd(rows * sizes)[2][p // 3 :].T
    # Far outside of anything physical, but only where the data see nothing.
    target = truth + sizes * (unseen @ rng.normal(size=unseen.shape[1])) * 30.0
    found = closest_physical(parameters, parameters.names, target, rows.T @ rows)
    assert np.linalg.norm(rows @ (found.values - target)) < 1e-3
    assert found.moved_sigmas < 1e-3
    assert realisable_margin(found.model) > 0.0


def test_without_information_the_prior_is_the_answer() -> None:
    parameters = freed("servicer")
    p = len(parameters.names)
    found = closest_physical(parameters, parameters.names, np.full(p, -7.0), np.zeros((p, p)))
    assert found.values == pytest.approx(prior_of(parameters), rel=1e-12)
    assert found.moved_sigmas == 0.0


def problem_of(name: str, seed: int, weight: float, *, away: float) -> ConvexProblem:
    """Rows on scaled parameters with a target `away` prior sizes from the prior."""
    parameters = freed(name)
    c = conditions_of(parameters, parameters.names)
    rng = np.random.default_rng(seed)
    p = len(c.prior)
    R = 10.0 * rng.normal(size=(p - 2 * (seed % 2), p))
    return ConvexProblem(c, R, R @ (away * rng.normal(size=p)), weight)


@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture", "ets7"])
@pytest.mark.parametrize(("seed", "weight", "away"), [(0, 1e-8, 0.1), (1, 1e-3, 0.1), (2, 1e-3, 0)])
def test_clarabel_finds_the_same(name: str, seed: int, weight: float, away: float) -> None:
    is_far = away == 0
    if is_far:  # as far as Clarabel itself is accurate
        seed, away = (2, 1.0) if name == "planar-capture" else (4, 0.5)
    problem = problem_of(name, seed, weight, away=away)
    ours, is_reached = minimise(problem)
    theirs = minimise_with_clarabel(problem)
    moved = np.linalg.norm(problem.R @ ours - problem.y)
    assert is_reached and (moved > 1.0) == is_far  # the conditions bite in the last case
    # Clarabel's own accuracy, in standard deviations
    assert np.linalg.norm(problem.R @ (ours - theirs)) < 1e-6 * max(1.0, moved)
    assert problem.value(ours) <= problem.value(theirs) * (1.0 + 1e-12) + 1e-14


def test_the_solver_may_be_chosen_and_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = freed("cepheus")
    target, names = 1.3 * prior_of(parameters), parameters.names
    information = np.diag(1e4 / sizes_of(parameters) ** 2)
    pair = [
        closest_physical(parameters, names, target, information, solver=solver).values
        for solver in ("newton", "clarabel")
    ]
    assert pair[0] == pytest.approx(pair[1], rel=1e-6)
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with refused(IdentificationError, "package.missing", naming="freefloat[sdp]"):
        closest_physical(parameters, names, target, information, solver="clarabel")


def garbage(rng: np.random.Generator, parameters: Parameters) -> tuple:
    """Names, a target 0.1 to 1e6 sigma away and information from 1e-12 to 1e12, of any rank."""
    names = [n for n in parameters.names if rng.random() < 0.9] or list(parameters.names[:1])
    p = len(names)
    rank = int(rng.integers(0, p + 1))
    V = np.linalg.qr(rng.normal(size=(p, p)))[0][:, :rank]
    same = np.full(rank, 10.0 ** rng.uniform(-12, 12))
    strength = 10.0 ** rng.uniform(-12, 12, rank) if rng.random() < 0.5 else same
    sigmas = rng.normal(size=rank) * 10.0 ** rng.uniform(-1, 6)
    prior = np.array([parameters[name].value for name in names])
    target = prior + V @ (sigmas / np.sqrt(strength)) + rng.normal(size=p) * (rng.random() < 0.3)
    return names, target, (V * strength) @ V.T


def worst_of_garbage(runs: int, seed: int) -> float:
    """The smallest scaled eigenvalue of any body, over that many runs."""
    wanted = [Parameters.of(load_model(name)).free(*FREED[name]) for name in FREED]
    rng = np.random.default_rng(seed)
    worst = np.inf
    for run in range(runs):
        parameters = wanted[run % len(wanted)]
        names, target, information = garbage(rng, parameters)
        found = closest_physical(parameters, names, target, information)
        assert np.all(np.isfinite(found.values)) and np.isfinite(found.moved_sigmas)
        if run % 10 == 0:  # with_parameters has looked already
            assert not structure_faults(found.model)
        worst = min(worst, realisable_margin(found.model))
    return worst


@pytest.mark.promise("I2")
def test_estimates_are_physical_however_bad_the_data(figure) -> None:
    worst = worst_of_garbage(1000, seed=0)
    figure("I2", f"1000 runs on {len(FREED)} models: smallest scaled eigenvalue {worst:.1e}")
    assert worst > 0.0


@pytest.mark.full
@pytest.mark.promise("I2")
def test_ten_thousand_estimates_are_physical(figure) -> None:
    worst = worst_of_garbage(10_000, seed=1)
    figure("I2", f"10 000 runs on {len(FREED)} models: smallest scaled eigenvalue {worst:.1e}")
    assert worst > 0.0


def test_a_wheel_stays_smaller_than_the_body_that_includes_it() -> None:
    parameters = Parameters.of(load_model("ets7")).free("rw_x.inertia", "bus.ixx")
    names = parameters.names
    target = np.array([1.0 if name == "rw_x.inertia" else -1.0 for name in names]) * 1e5
    found = closest_physical(parameters, names, target, np.eye(2))
    assert found.is_moved and not structure_faults(found.model)
    assert found.model.wheels[0].inertia < found.model.body("bus").inertia[0]


def test_a_planar_body_is_completed_and_stays_flat() -> None:
    model = load_model("planar-capture")
    parameters = Parameters.of(model).free("bus.*", "target.*")
    names = parameters.names
    target = np.array([0.8 * parameters[name].value for name in names])
    found = closest_physical(parameters, names, target, np.eye(len(names)) * 1e6)
    values = dict(zip(names, found.values, strict=True))
    assert values["target.mass"] == pytest.approx(200.0, abs=1e-6)
    assert values["target.izz"] == pytest.approx(0.8 * parameters["target.izz"].value, abs=1e-6)
    # A uniformly lighter plate: every other entry follows, though nobody saw it.
    assert found.model.body("target").phi == pytest.approx(0.8 * model.body("target").phi, abs=1e-6)
    assert values["target.ixx"] == found.model.body("target").phi[4]


def test_massless_bodies_need_a_prior() -> None:
    model = load_model("ets7")
    model = model.with_body(Body("link_6"))
    parameters = Parameters.of(model).free("link_6.*")
    with refused(IdentificationError, "prior.not_physical", naming="link_6"):
        closest_physical(parameters, parameters.names, np.ones(10), np.eye(10))


@pytest.mark.parametrize("inertia", [(0.0,) * 6, (0.0, 0.0, 0.0, 2.0, 0.0, 2.0)])
@pytest.mark.parametrize("glob", ["stone.*", "stone.mass"])
def test_point_masses_and_rods_are_made_a_little_thicker(inertia: tuple, glob: str) -> None:
    stone = Body("stone", 3.0, (0.1, 0.0, 0.2), inertia)
    model = load_model("ets7").grasp(stone, on="link_6")
    parameters = Parameters.of(model).free(glob)
    p = len(parameters.names)
    found = closest_physical(parameters, parameters.names, np.zeros(p), np.eye(p))
    assert realisable_margin(found.model) > 0.0
    assert "stone" in found.notes[0] and codes_of(found.notes) == ("physical.thickened",)
    at_rest = closest_physical(parameters, parameters.names, np.zeros(p), np.zeros((p, p)))
    assert at_rest.model.body("stone").phi == pytest.approx(stone.phi, abs=1e-5)


def test_tied_parameters_follow() -> None:
    parameters = Parameters.of(load_model("servicer-wings"))
    wings = ["hinge_l1.stiffness", "hinge_r1.stiffness"]
    parameters = parameters.free(wings[0]).tie(wings[1], to=wings[0], factor=2.0)
    found = closest_physical(parameters, wings[:1], np.array([123.0]), np.eye(1))
    assert [found.model.joint(w.partition(".")[0]).stiffness for w in wings] == [
        pytest.approx(123.0),
        pytest.approx(246.0),
    ]


def test_faulty_input_is_refused() -> None:
    parameters = freed("ets7")
    names, p = parameters.names, len(parameters.names)
    with refused(IdentificationError, "value.range"):
        closest_physical(parameters, names, np.full(p, np.nan), np.eye(p))
    with refused(IdentificationError, "value.count"):
        closest_physical(parameters, names, np.zeros(p), np.eye(p - 1))
    with refused(IdentificationError, "name.duplicate"):
        closest_physical(parameters, ["bus.mass"] * 2, np.zeros(2), np.eye(2))
    with refused(IdentificationError, "option.range"):
        closest_physical(
            parameters, names, np.zeros(p), np.eye(p), options=ConsistencyOptions(prior_weight=0.0)
        )


def test_written_parameters_are_read_back() -> None:
    for name in ("servicer", "cbk-arm-geared", "servicer-slosh", "planar-capture"):
        model = load_model(name)
        changed = {p.name: 1.01 * p.value for p in Parameters.of(model)}
        new = {p.name: p.value for p in Parameters.of(with_parameters(model, changed))}
        assert new == pytest.approx(changed, rel=1e-12, abs=1e-15)


def test_what_no_robot_has_is_not_written() -> None:
    values = {"bus.mass": -1.0, "rw_z.inertia": -2.0, "link_1.colour": 3.0}
    with pytest.raises(IdentificationError) as caught:
        with_parameters(load_model("cepheus"), values)
    assert {fault.place for fault in caught.value.faults} >= {
        "body 'bus'.mass",
        "wheel 'rw_z'.inertia",
        "link_1.colour",
    }


def pair_residual(parameters: Parameters, truth: np.ndarray, sigma: float):
    """The planar pair form at theta less `truth`, over sigma, with its Jacobian by differences."""
    system = flatten(parameters.model)
    Y = angular_rows(system, generic_states(system, 300))[:, 2]
    regroup = minimal_set(Y, pair_form(system).names).regroup
    entries, _ = parameter_directions(system, parameters.names)
    prior = prior_of(parameters)

    def pi(theta: np.ndarray) -> np.ndarray:
        phi = system.parameters.phi.copy()
        for (p, link), change in zip(entries.body, entries.body_change, strict=True):
            phi[link] += (theta[p] - prior[p]) * change
        return regroup @ pair_parameters(
            replace(system, parameters=system.parameters._replace(phi=phi))
        )

    def residual(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        steps = 1e-6 * np.diag(np.maximum(np.abs(theta), 1e-3))
        columns = [(pi(theta + h) - pi(theta - h)) / (2.0 * h.sum()) for h in steps]
        return (pi(theta) - truth) / sigma, np.column_stack(columns) / sigma

    return pi, residual


def perturbed_cepheus() -> Parameters:
    """A prior well off the truth in every body."""
    model = load_model("cepheus")
    for body, factor in zip(model.bodies, (1.3, 0.6, 1.5), strict=True):
        inertia = tuple(factor * x for x in body.inertia)
        com = tuple(0.9 * x + 0.01 for x in body.com[:2])
        model = model.with_body(
            replace(body, mass=factor * body.mass, com=(*com, 0.0), inertia=inertia)
        )
    return Parameters.of(model).free("bus.*", "link_?.*").fix(*FLAT)


def test_pair_form_round_trip() -> None:
    truth = Parameters.of(load_model("cepheus")).free("bus.*", "link_?.*").fix(*FLAT)
    exact = pair_residual(truth, np.zeros(1), 1.0)[0](prior_of(truth))
    parameters = perturbed_cepheus()
    pi, residual = pair_residual(parameters, exact, 1e-4)
    found = fit_realisable(parameters, parameters.names, residual)
    assert np.max(np.abs(pi(found.values) - exact)) < 1e-9
    assert not found.is_moved and not found.notes
    assert realisable_margin(found.model) > 0.0


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_impossible_pair_forms_still_give_real_bodies(seed: int) -> None:
    parameters = perturbed_cepheus()
    impossible = 0.01 * np.random.default_rng(seed).normal(size=9)  # J may even be negative
    _, residual = pair_residual(parameters, impossible, 1e-3)
    found = fit_realisable(parameters, parameters.names, residual)
    first, last = residual(prior_of(parameters))[0], residual(found.values)[0]
    assert found.is_moved and last @ last < first @ first
    assert not structure_faults(found.model) and realisable_margin(found.model) > 0.0
