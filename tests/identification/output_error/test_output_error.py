"""Output error does what it says: finds, refuses, and says what it did not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from fault_codes import refused
from plan_samples import shaking

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Pulses
from freefloat.excitation.commands import Wave
from freefloat.excitation.plan import Plan
from freefloat.identification.fit_assembly import TrustLimits
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.levenberg import damped_step
from freefloat.identification.output_error.noise import autocovariance, fit_noise
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.model import inertia
from freefloat.notes import codes_of
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry.channel import Channel

ETS7 = ff.load_model("ets7")
FLOWN = ff.default_plan(ETS7, duration=20.0)
FLIGHT = ff.simulate(ETS7, FLOWN, seed=1, step=1e-2)
BUS = ff.Parameters(ETS7).free("bus.*")


def by_output_error(parameters: ff.Parameters, flight, **options) -> ff.Fit:
    options.setdefault("plan", FLOWN)
    return identify(parameters.model, parameters, flight, method="output_error", **options)


def quiet(model: ff.Model, noise: float = 1e-9) -> ff.Model:
    return replace(model, sensors=tuple(replace(s, noise=noise) for s in model.sensors))


def sigmas(fit: ff.Fit, truth: ff.Model) -> np.ndarray:
    value = {p.name: p.value for p in ff.Parameters(truth)}
    return np.array([(e.value - value[e.name]) / e.std for e in fit.estimates])


def problem_of(parameters: ff.Parameters, plan: Plan, *, flights: int = 1) -> OutputErrorProblem:
    recordings = [
        recording_of(
            parameters.model, ff.simulate(parameters.model, plan, seed=k, step=1e-2), plan=plan,
            step=1e-2, has_delays=any(n.startswith("delay.") for n in parameters.names),
        )
        for k in range(flights)
    ]  # fmt: skip
    unknowns = unknowns_of(parameters, recordings, is_start_known=False)
    return OutputErrorProblem(
        tuple(recordings), unknowns, stated_noise(recordings), None, unknowns.start
    )


SLOPES = {
    "cbk-arm": ("arm_1.drive.*", "bias.base.angle", "gain.base.position.x"),
    "servicer-slosh": ("tank.mass", "tank.length", "tank_*.stiffness", "tank_*.damping", "bus.my"),
    "ets7": ("bus.ixx", "rw_x.inertia", "bias.base.rate.x", "gain.base.acceleration.y",
             "delay.base.rate"),
    "servicer": ("hinge_l1.*", "target.mass", "delay.base.velocity"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SLOPES))
def test_slopes_are_those_of_differences(name: str) -> None:
    model = ff.load_model(name)
    plan = ff.default_plan(model, duration=2.0)
    if name == "cbk-arm":
        plan = replace(plan, torques={"arm_1.motor": Wave(0.3, 6.0)})
    problem = problem_of(ff.Parameters(model).free(*SLOPES[name]), plan)
    theta, sizes = problem.unknowns.start.copy(), problem.unknowns.sizes
    rng = np.random.default_rng(0)
    moved = [u.name.startswith(("start.", "bias.", "delay.")) for u in problem.unknowns.items]
    theta += 0.1 * sizes * rng.normal(size=len(theta)) * np.array(moved)
    theta = np.maximum(theta, problem.unknowns.lower)
    for k, u in enumerate(problem.unknowns.items):
        if u.name.endswith(".friction"):
            theta[k] = 0.1 * sizes[k]
    J, places = problem.physical_rows(0, theta)

    def left(at: np.ndarray) -> np.ndarray:
        readings = problem._prediction(0, at)
        assert readings is not None
        return problem.whiten_prediction(0, readings[0])[1]

    for column, k in enumerate(places):
        h = np.zeros(len(theta))
        h[k] = 1e-5 * sizes[k]
        slope = (left(theta + h) - left(theta - h)) / (2.0 * h[k])
        # rounding of differences of readings that are up to 1e6 times their noise
        rounding = 1e-9 * np.max(np.abs(left(theta))) / h[k]
        worst = np.max(np.abs(J[:, column] - slope))
        label = problem.unknowns.items[k].label
        assert worst <= 2e-5 * np.max(np.abs(slope)) + rounding, label


@pytest.mark.parametrize(
    ("name", "free"),
    [
        ("ets7", ("bus.*",)),
        ("servicer-slosh", ("bus.*", "tank_*.stiffness", "tank_*.damping", "tank.length")),
        ("cbk-arm-geared", ("arm_1.drive.stiffness", "arm_1.drive.damping", "start.arm_1.*")),
    ],
)
def test_noise_free_flights_give_the_truth_back(name: str, free: tuple[str, ...]) -> None:
    model = quiet(ff.load_model(name))
    plan = ff.default_plan(model, duration=20.0)
    flight = ff.simulate(model, plan, seed=0, step=1e-2)
    truth = {p.name: p.value for p in ff.Parameters(model)}
    wanted = ff.Parameters(model).free(*free)
    changed = {n: 1.1 * truth[n] for n in wanted.names if not n.startswith("start.")}
    start = with_parameters(model, changed)
    fit = by_output_error(ff.Parameters(start).free(*free), flight, plan=plan)
    sizes = np.array([max(abs(truth[e.name]), 1e-2) for e in fit.estimates])
    errors = np.array([abs(e.value - truth[e.name]) for e in fit.estimates]) / sizes
    spread = np.array([e.std for e in fit.estimates]) / sizes
    # noise is 1e-9 of a unit and some directions are weak
    assert spread.max() < 1e-4 and np.all(errors < np.maximum(1e-6, 3.0 * spread))


def test_false_minima_are_passed_by_from_far_away() -> None:
    model = ff.load_model("servicer-wings")
    plan = shaking(model, 20.0)
    flight = ff.simulate(model, plan, seed=1, step=1e-2)
    value = {p.name: p.value for p in ff.Parameters(model)}
    far = {n: 1.4 * v for n, v in value.items() if n.startswith("hinge") and n.endswith("ness")}
    far |= {f"bus.{field}": 0.75 * value[f"bus.{field}"] for field in inertia.NAMES}
    start = with_parameters(model, far)
    wanted = ff.Parameters(start).free("bus.*", "hinge_*.stiffness", "hinge_*.damping")
    fit = by_output_error(wanted, flight, plan=plan)
    assert fit.is_trustworthy
    assert np.max(np.abs(sigmas(fit, model))) < 4.0


def test_all_effects_at_once_from_one_recording() -> None:
    model = ff.load_model("servicer")
    plan = replace(
        shaking(model, 24.0),
        thrusts={"thr_1": Pulses(((2.0, 2.0, 5.0),)), "thr_7": Pulses(((8.0, 2.0, 5.0),))},
    )
    flight = ff.simulate(model, plan, seed=1, step=5e-3)
    free = ("bus.*", "target.*", "hinge_*.stiffness", "tank_*.stiffness", "tank.mass")
    value = {p.name: p.value for p in ff.Parameters(model)}
    names = ff.Parameters(model).free(*free).names
    off = {n: (1.15 if n.endswith("stiffness") else 0.9) * value[n] for n in names}
    start = with_parameters(model, off)
    fit = identify(start, ff.Parameters(start).free(*free), flight, plan=plan)
    assert fit.method == "output_error" and fit.is_trustworthy
    z = np.abs(sigmas(fit, model))
    assert np.mean(z < 1.96) > 0.8 and z.max() < 4.5  # 27 parameters of one run, correlated


def test_recordings_share_parameters_and_keep_their_own() -> None:
    flights = [ff.simulate(ETS7, FLOWN, seed=seed, step=1e-2) for seed in (1, 2)]
    wanted = BUS.free("bias.base.rate.*").per_recording("bias.base.rate.*")
    fit = identify(ETS7, wanted, flights, plan=FLOWN)
    assert fit.method == "output_error" and fit.reason.code == "choice.sensor_parameter"
    assert fit["bias.base.rate.z[2]"].name.endswith("[2]")
    alone = by_output_error(BUS, flights[0])
    both = by_output_error(BUS, flights)
    ratio = both["bus.mass"].std / alone["bus.mass"].std
    assert ratio == pytest.approx(np.sqrt(0.5), rel=0.05)  # the same flight twice


def test_eliminating_recordings_is_solving_all_at_once() -> None:
    problem = problem_of(BUS, ff.default_plan(ETS7, duration=5.0), flights=3)
    at = problem.evaluate(problem.unknowns.start)
    assert at is not None
    n = len(at.theta)
    lengths = np.ones(n)
    rows, left = [at.prior_rows, np.diag(lengths)], [at.prior_left, np.zeros(n)]
    for block in at.blocks:
        part = np.zeros((len(block.factor), n))
        part[:, [*block.own, *block.shared]] = block.factor[:, :-1]
        rows.append(part)
        left.append(block.factor[:, -1])
    whole = np.linalg.lstsq(np.vstack(rows), -np.concatenate(left), rcond=None)[0]
    step = damped_step(at, lengths, np.zeros(n, dtype=bool))
    assert np.allclose(step, whole, rtol=1e-6, atol=1e-9 * np.abs(whole).max())


def test_bounds_priors_and_ties_are_kept() -> None:
    bounded = by_output_error(BUS.bound("bus.mass", lower=2700.0), FLIGHT)
    assert bounded["bus.mass"].status == "at bound" and "bus.mass" in bounded.status
    assert bounded["bus.mass"].value == 2700.0
    free = by_output_error(BUS, FLIGHT)
    told = by_output_error(BUS.prior("bus.mass", std=free["bus.mass"].std), FLIGHT)
    narrower = told["bus.mass"].std / free["bus.mass"].std
    assert narrower == pytest.approx(np.sqrt(0.5), rel=0.02)
    ratio = BUS["bus.iyy"].value / BUS["bus.ixx"].value
    tied = ff.Parameters(ETS7).free("bus.ixx").tie("bus.iyy", to="bus.ixx", factor=ratio)
    fit = by_output_error(tied, FLIGHT)
    phi = fit.model.body("bus").phi
    assert phi[7] / phi[4] == pytest.approx(ratio, rel=1e-12)


def test_outliers_are_weighed_down() -> None:
    channel = FLIGHT["base.rate.x"]
    values = channel.values.copy()
    values[::29] += 2e-3
    bad = Channel(channel.name, channel.unit, channel.time, values, noise=channel.noise)
    spiked = FLIGHT.without(["base.rate.x"]).with_channels(bad)
    assert not by_output_error(BUS, spiked, raw=True).is_trustworthy
    for loss in ("huber", "tukey"):
        fit = by_output_error(BUS, spiked, robust=loss, raw=True)
        assert fit.is_trustworthy, fit.status
        assert np.max(np.abs(sigmas(fit, ETS7))) < 4.0


def test_what_the_data_do_not_touch_is_named() -> None:
    fit = by_output_error(BUS.free("arm_3.stiffness"), FLIGHT)
    assert fit["arm_3.stiffness"].status == "invisible"
    (note,) = [n for n in fit.notes if getattr(n, "code", "") == "parameters.invisible"]
    assert "arm_3.stiffness" in note


def test_profile_intervals_agree_where_the_problem_is_linear_and_stop_at_bounds() -> None:
    fit = by_output_error(BUS, FLIGHT, search=SearchOptions(profile=("bus.mass",)))
    mass = fit["bus.mass"]
    assert mass.interval95 is not None and "profile" in mass.note
    by_std = (mass.value - 1.96 * mass.std, mass.value + 1.96 * mass.std)
    assert np.allclose(mass.interval95, by_std, atol=0.1 * mass.std)
    top = mass.value + 0.5 * mass.std
    held = BUS.bound("bus.mass", upper=top)
    stopped = by_output_error(held, FLIGHT, search=SearchOptions(profile=("bus.mass",)))
    assert stopped["bus.mass"].interval95 is not None
    assert stopped["bus.mass"].interval95[1] == top
    with refused(IdentificationError, "name.unknown"):
        by_output_error(BUS, FLIGHT, search=SearchOptions(profile=("bus.volume",)))


def test_options_of_the_search_reach_the_descent() -> None:
    fit = by_output_error(BUS, FLIGHT, search=SearchOptions(simulations=1))
    assert fit.status_code == "not_trusted.not_converged"


def test_limits_of_trust_reach_output_error() -> None:
    strict = TrustLimits(useless=0.5)  # right residuals have a mean square of one
    fit = by_output_error(BUS, FLIGHT, search=SearchOptions(trust=strict))
    assert fit.status_code == "not_trusted.residuals"


def test_the_bound_before_flight_is_the_deviation_after_it() -> None:
    fit = by_output_error(BUS, FLIGHT)
    bound = ff.cramer_rao(ETS7, BUS, FLOWN)
    # the bound is taken at the truth, the deviations at estimates that are off by up to 2 %
    assert np.allclose([e.std for e in fit.estimates], bound.std, rtol=0.1)
    lost = ff.cramer_rao(ETS7, BUS.free("arm_1.stiffness"), FLOWN)
    assert np.isnan(lost["arm_1.stiffness"]) and np.isfinite(lost["bus.mass"])


def test_several_starts_find_at_least_as_low_a_minimum() -> None:
    one = by_output_error(BUS, FLIGHT)
    three = by_output_error(BUS, FLIGHT, search=SearchOptions(starts=3), seed=5)
    assert np.allclose(list(one.values.values()), list(three.values.values()), rtol=1e-3, atol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_physical_however_bad_the_data(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = [
        Channel(c.name, c.unit, c.time, c.values + 50.0 * np.std(c.values) * rng.normal(
            size=c.n_samples), noise=c.noise)
        if c.name.startswith("base.") else c
        for c in FLIGHT.channels.values()
    ]  # fmt: skip
    fit = by_output_error(BUS, type(FLIGHT).of(noise))
    assert inertia.inconsistency(fit.model.body("bus").phi) is None
    assert not fit.is_trustworthy


def test_single_entries_of_a_body_end_where_it_is_real() -> None:
    model = ff.load_model("servicer-wings")
    plan = ff.default_plan(model, duration=6.0)
    flight = ff.simulate(model, plan, seed=0, step=1e-2)
    fit = by_output_error(ff.Parameters(model).free("panel_l1.ixx", "panel_l1.my"), flight)
    assert inertia.inconsistency(fit.model.body("panel_l1").phi) is None


def faulty() -> dict[str, tuple[ff.Telemetry, str]]:
    base = [n for n in FLIGHT.names if n.startswith("base.")]
    # too little is left on either side of the gap to be a recording of its own
    gap = [
        c.select((c.time < 0.95) | (c.time > FLIGHT.end - 0.95))
        if c.name == "arm_2.position"
        else c
        for c in FLIGHT.channels.values()
    ]
    return {
        "no encoder": (FLIGHT.without(["arm_?.position"]), "channel.missing"),
        "nothing to compare": (FLIGHT.without(base), "channel.none"),
        "three samples": (FLIGHT.between(0.0, 0.2), "samples.few"),
        "a gap": (type(FLIGHT).of(gap), "samples.gaps"),
    }


@pytest.mark.parametrize("what", list(faulty()))
def test_recordings_that_cannot_be_flown_are_refused(what: str) -> None:
    flight, code = faulty()[what]
    with refused(IdentificationError, code):
        by_output_error(BUS, flight, plan=None)


def test_a_joint_that_moves_unrecorded_is_locked_and_not_believed() -> None:
    fit = ff.identify(ETS7, BUS, FLIGHT.without(["arm_2.*"]))
    assert "inputs.joints_locked" in codes_of(fit.notes)
    assert fit.assessment is not None and fit.assessment.grade == "not trusted"


def test_lost_samples_are_missed_but_not_fatal() -> None:
    rng = np.random.default_rng(0)
    lossy = []
    for c in FLIGHT.channels.values():
        keep = rng.random(c.n_samples) > 0.2
        lossy.append(c.select(keep) if c.name.startswith("base.") else c)
    fit = by_output_error(BUS, type(FLIGHT).of(lossy))
    assert fit.is_trustworthy and np.max(np.abs(sigmas(fit, ETS7))) < 4.0


def test_the_method_is_chosen_where_only_it_can_and_says_why() -> None:
    wings = ff.load_model("servicer-wings")
    plan = ff.default_plan(wings, duration=6.0)
    flight = ff.simulate(wings, plan, seed=0, step=1e-2)
    fit = identify(wings, ff.Parameters(wings).free("bus.mass"), flight)
    assert fit.method == "output_error" and fit.reason.code == "choice.unrecorded_motion"
    equations = identify(ETS7, BUS.fix("*").free("bus.mass"), FLIGHT)
    assert equations.method != "output_error"
    buried = identify(ETS7, BUS, FLIGHT)
    assert buried.method == "output_error" and buried.reason.code == "choice.buried_in_noise"
    with refused(IdentificationError, "option.conflict"):
        identify(ETS7, BUS, FLIGHT, method="force", plan=FLOWN)


def test_sensor_parameters_are_known_by_channel() -> None:
    named = ff.Parameters(ETS7).free("bias.base.rate.*", "delay.base.acceleration")
    assert named.names[:1] == ("bias.base.rate.x",) and len(named.names) == 4
    assert named["delay.base.acceleration"].unit == "s"
    with refused(IdentificationError, "name.unknown"):
        ff.Parameters(ETS7).free("bias.base.colour")


def test_whitening_makes_coloured_noise_white() -> None:
    rng = np.random.default_rng(0)
    lags = np.array([1.6, -0.8])
    noise = np.zeros(6000)
    for n in range(2, 6000):
        noise[n] = lags @ noise[[n - 1, n - 2]] + rng.normal()
    found = fit_noise(noise, float(np.std(noise)))
    assert found.lags is not None and np.allclose(found.lags[:2], lags, atol=0.1)
    white = found.whiten(noise)
    assert np.std(white) == pytest.approx(1.0, abs=0.03)
    assert abs(white[1:] @ white[:-1]) / (white @ white) < 0.05
    assert fit_noise(rng.normal(size=2000), 1.0).is_white
    known = autocovariance(np.array([0.9]), 1.0, 4)
    assert np.allclose(known, 0.9 ** np.arange(4) / (1.0 - 0.81))
