"""`identify`: the method chosen, honest intervals, and plain words where there are none."""

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Plan, Pulses
from freefloat.model import Model
from freefloat.notes import codes_of
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry import Channel, Telemetry

IN_PLANE = ("mass", "mx", "my", "izz")


def wanted(model: Model) -> ff.Parameters:
    """Bus and target, in the plane only what a plane shows."""
    if model.root.type == "planar":
        return ff.Parameters(model).free(*(f"{b}.{f}" for b in ("bus", "target") for f in IN_PLANE))
    return ff.Parameters(model).free("bus.*", "target.*")


def pushed(model: Model, *, duration: float = 60.0) -> Plan:
    """The default motion with two thruster pulses, which fix the scale."""
    plan = ff.default_plan(model, duration=duration)
    first, third = model.thrusters[0].name, model.thrusters[2].name
    pulses = {
        first: Pulses(((0.08 * duration, 0.16 * duration, 5.0),)),
        third: Pulses(((0.33 * duration, 0.16 * duration, 5.0),)),
    }
    return replace(plan, thrusts=pulses)


@pytest.fixture(scope="module")
def capture() -> tuple[Model, Telemetry]:
    model = ff.load_model("planar-capture")
    return model, ff.simulate(model, pushed(model), seed=3)


def with_values(c: Channel, values: np.ndarray | float) -> Channel:
    return Channel(c.name, c.unit, c.time, np.broadcast_to(values, c.time.shape), noise=c.noise)


def massless_arm(model: Model) -> Model:
    """The model with nothing but bus and target: no known mass."""
    for body in model.bodies[1:]:
        empty = replace(body, mass=0.0, com=(0.0, 0.0, 0.0), inertia=(0.0,) * 6)
        model = model.with_body(empty)
    return model


def test_momentum_is_chosen_and_every_parameter_found(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    fit = identify(model, wanted(model), flight)
    assert fit.method == "momentum" and fit.reason.code == "choice.momentum_measured"
    assert fit.is_trustworthy and fit.status_code == "seen.some"  # one of eight is weak
    assert fit.scale.code == "scale.fixed" and "thrust" in fit.scale
    for estimate in fit.estimates:
        assert estimate.interval95 is not None and estimate.status in ("seen", "weak")
        assert abs(estimate.value - estimate.prior) < 4.0 * estimate.std
    assert all(0.9 < r.rms < 1.1 for r in fit.residuals)


def test_wrong_priors_do_not_matter(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    truth = {p.name: p.value for p in wanted(model).free_ones}
    wrong = with_parameters(model, {name: 1.4 * value for name, value in truth.items()})
    fit = identify(wrong, wanted(wrong), flight)
    right = identify(model, wanted(model), flight)
    for a, b in zip(fit.estimates, right.estimates, strict=True):
        assert a.prior == pytest.approx(1.4 * truth[a.name], rel=1e-12)  # it did begin there
        assert abs(a.value - b.value) < 0.05 * b.std, a.name
    # what was found is in the new model, and the one before is as it was given
    assert {p.name: p.value for p in wanted(fit.model).free_ones} == pytest.approx(fit.values)
    assert fit.prior_model == wrong != fit.model


@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture"])
def test_a_homogeneous_problem_gives_ratios_and_says_so(name: str) -> None:
    model = massless_arm(ff.load_model(name))
    flight = ff.simulate(model, ff.default_plan(model, duration=30.0), seed=1)
    fit = identify(model, wanted(model), flight)
    assert not fit.is_trustworthy
    assert fit.status_code == fit.scale.code == "scale.not_fixed"
    assert all(np.isnan(e.std) for e in fit.estimates if abs(e.prior) > 0.0)
    ratio = fit["target.mass"].value / fit["bus.mass"].value
    truth = fit["target.mass"].prior / fit["bus.mass"].prior
    assert abs(ratio / truth - 1.0) < 0.02


def test_a_wrong_scale_stays_where_the_prior_has_it_but_ratios_are_found() -> None:
    model = massless_arm(ff.load_model("planar-capture"))
    flight = ff.simulate(model, ff.default_plan(model, duration=30.0), seed=1)
    heavier = {p.name: 2.0 * p.value for p in wanted(model).free_ones if p.name.startswith("bus.")}
    changed = with_parameters(model, heavier)
    fit = identify(changed, wanted(changed), flight)
    truth = {p.name: p.value for p in wanted(model).free_ones}
    ratio = fit["target.mass"].value / fit["bus.mass"].value
    assert abs(ratio / (truth["target.mass"] / truth["bus.mass"]) - 1.0) < 0.02
    assert fit.status_code == "scale.not_fixed" and not fit.is_trustworthy


def test_several_recordings_tell_more_than_one(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    other = ff.simulate(model, pushed(model), seed=4)
    one = identify(model, wanted(model), flight)
    two = identify(model, wanted(model), [flight, other])
    for a, b in zip(one.estimates, two.estimates, strict=True):
        assert b.std < 0.85 * a.std


def test_an_error_names_the_recording(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    with refused(IdentificationError, "channel.missing", naming="recording 2: "):
        identify(model, wanted(model), [flight, flight.without("arm_2.position")])


def test_outliers_are_given_no_say(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    channel = flight["base.velocity.x"]
    values = channel.values.copy()
    values[::50] += 0.5
    spoilt = flight.with_channels(with_values(channel, values))
    plain = identify(model, wanted(model), spoilt, raw=True)
    tough = identify(model, wanted(model), spoilt, robust="tukey", raw=True)
    truth = plain["bus.mass"].prior
    assert not plain.is_trustworthy
    assert abs(tough["bus.mass"].value - truth) < 0.2 * abs(plain["bus.mass"].value - truth)
    assert "rows.outliers" in codes_of(tough.notes)


def test_outliers_are_masked_first_and_noted(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    channel = flight["base.velocity.x"]
    values = channel.values.copy()
    values[::50] += 0.5
    spoilt = flight.with_channels(with_values(channel, values))
    clean, fit = (identify(model, wanted(model), f) for f in (flight, spoilt))
    assert codes_of(clean.notes) == codes_of(fit.notes[1:])
    assert codes_of(fit.notes[:1]) == ("recording.outliers",)
    # a fiftieth of one channel's samples is lost, nothing else
    assert abs(fit["bus.mass"].value - clean["bus.mass"].value) < fit["bus.mass"].std


def test_a_prior_counts_in_units_of_information(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    alone = identify(model, wanted(model), flight)["target.izz"]
    both = identify(model, wanted(model).prior("target.izz", std=alone.std), flight)
    assert abs(both["target.izz"].std / alone.std - np.sqrt(0.5)) < 0.05
    place = list(both.values).index("target.izz")
    assert abs(both.covariance[place, place] ** 0.5 / both["target.izz"].std - 1.0) < 0.05


def test_what_only_a_prior_tells_is_not_seen(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    fit = identify(model, wanted(model).prior("target.izz", std=0.1), flight)
    assert fit["target.izz"].status == "only in combination"
    assert abs(fit["target.izz"].value - fit["target.izz"].prior) < 0.3


def test_fixed_values_and_ties_are_those_that_count(capture: tuple[Model, Telemetry]) -> None:
    """Held at another value than the model's, or tied, a parameter acts with that value."""
    model, flight = capture
    wrong = with_parameters(model, {"target.izz": 42.0, "target.mass": 375.0})
    held = wanted(wrong).fix("target.izz", value=28.535)
    tied = wanted(wrong).tie("target.mass", to="bus.mass", factor=0.5)
    truth = {p.name: p.value for p in wanted(model).free_ones}
    for parameters in (held, tied):
        fit = identify(wrong, parameters, flight)
        for e in fit.estimates:
            assert abs(e.value - truth[e.name]) < 4.0 * e.std, e.name


@pytest.mark.parametrize("change", [{"angular_drag": 1.0}, {"linear_drag": 1.0}])
def test_drag_of_the_model_is_taken_in(change: dict) -> None:
    model = ff.load_model("planar-capture")
    model = replace(model, root=replace(model.root, **change))
    fit = identify(model, wanted(model), ff.simulate(model, pushed(model), seed=1))
    assert fit.method == "weak"
    assert all(abs(e.value - e.prior) < 4.0 * e.std for e in fit.estimates)


def test_missing_rates_and_gaps_keep_the_impulses(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    slow = flight.without([n for n in flight.names if n[:3] == "arm" and n.endswith("velocity")])
    fit = identify(model, wanted(model), slow, method="momentum")
    assert all(abs(e.value - e.prior) < 4.0 * e.std for e in fit.estimates)


def test_coloured_residuals_widen_intervals_and_are_noted(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    late = flight.shift("arm_*", 0.01)
    fit = identify(model, wanted(model), late)
    assert {"residuals.autocorrelated", "residuals.large"} <= set(codes_of(fit.notes))
    assert all(abs(e.value - e.prior) < 4.0 * e.std for e in fit.estimates)


def test_a_known_mass_fixes_the_scale_of_its_own_body() -> None:
    model = massless_arm(ff.load_model("planar-capture"))
    flight = ff.simulate(model, ff.default_plan(model, duration=30.0), seed=1)
    fit = identify(model, ff.Parameters(model).free("target.mass", "bus.izz"), flight)
    assert fit.scale.code == "scale.fixed" and "bodies" in fit.scale
    assert abs(fit["target.mass"].value - fit["target.mass"].prior) < 4.0 * fit["target.mass"].std


def test_the_angular_method_takes_no_rotor_for_unknown() -> None:
    model = ff.load_model("cepheus")
    flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    with refused(IdentificationError, "method.rotors"):
        identify(model, ff.Parameters(model).free("rw_z.inertia"), flight, method="angular")


def test_weakly_seen_values_are_not_called_known() -> None:
    """The mass of the bus hardly acts on angular momentum, and not linearly."""
    model = ff.load_model("cepheus")
    flight = ff.simulate(model, ff.default_plan(model), seed=0)
    fit = identify(model, ff.Parameters(model).free("bus.*"), flight)
    mass = fit["bus.mass"]
    assert mass.status == "weak" and abs(mass.value - mass.prior) < 4.0 * mass.std


def test_ties_are_followed(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    tied = wanted(model).tie("target.my", to="target.mx", factor=0.4)  # true: 25 = 0.4 * 62.5
    fit = identify(model, tied, flight)
    loose = identify(model, wanted(model), flight)
    assert "target.my" not in fit.values
    assert fit["target.mx"].std < loose["target.mx"].std
    assert abs(fit["target.mx"].value - 62.5) < 4.0 * fit["target.mx"].std


def test_bounds_hold_and_are_reported(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    fit = identify(model, wanted(model).bound("bus.mass", upper=450.0), flight)
    assert fit["bus.mass"].value == 450.0 and fit["bus.mass"].status == "at bound"
    assert fit["target.mass"].status == "seen" and "bus.mass" in fit.status


def test_noise_nobody_stated_is_estimated(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    silent = flight.with_channels(*(flight[n].with_noise(None) for n in flight.names))
    unknown = replace(model, sensors=())
    fit = identify(unknown, wanted(unknown), silent)
    stated = identify(model, wanted(model), flight)
    assert "noise.estimated" in codes_of(fit.notes)
    for a, b in zip(fit.estimates, stated.estimates, strict=True):
        assert 0.5 < a.std / b.std < 2.0
        assert abs(a.value - a.prior) < 4.0 * a.std


def test_noise_that_only_the_model_states_counts(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    silent = flight.with_channels(*(flight[n].with_noise(None) for n in flight.names))
    fit, stated = (identify(model, wanted(model), f) for f in (silent, flight))
    assert "noise.estimated" not in codes_of(fit.notes)
    assert fit.values == stated.values and np.array_equal(fit.covariance, stated.covariance)


BAD = {
    "no gyro": (
        "channel.missing",
        lambda flight: flight.without(["base.rate.*", "arm_*.position"]),
    ),
    "no joint": ("channel.missing", lambda flight: flight.without("arm_2.position")),
    "three samples": ("samples.few", lambda flight: flight.between(0.0, 0.2)),
    "all NaN": (
        "samples.few",
        lambda flight: flight.with_channels(with_values(flight["base.velocity.x"], np.nan)),
    ),
}


@pytest.mark.parametrize(("code", "damage"), BAD.values(), ids=BAD)
def test_bad_recordings_end_in_one_clear_error(
    capture: tuple[Model, Telemetry], code: str, damage
) -> None:
    model, flight = capture
    with refused(IdentificationError, code):
        identify(model, wanted(model), damage(flight), method="momentum")


def test_nan_bursts_cost_instants_not_the_answer(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    channel = flight["base.rate.z"]
    values = channel.values.copy()
    values[100:140] = np.nan
    fit = identify(model, wanted(model), flight.with_channels(with_values(channel, values)))
    assert all(abs(e.value - e.prior) < 4.0 * e.std for e in fit.estimates)


def test_constant_data_show_nothing(capture: tuple[Model, Telemetry]) -> None:
    model, flight = capture
    channels = [
        with_values(c, c.values[0])
        for c in flight.channels.values()
        if not c.name.endswith(".force")
    ]
    still = Telemetry.of(channels)
    fit = identify(model, wanted(model), still)
    assert not fit.is_trustworthy
    assert not any(e.status == "seen" for e in fit.estimates)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: p, "parameters.none"),
        (lambda p: p.free("bus.mass").per_recording("bus.mass"), "method.per_recording"),
        (lambda p: p.free("start.rate.z"), "method.nonlinear"),
    ],
)
def test_questions_without_sense_are_refused(
    capture: tuple[Model, Telemetry], change, code: str
) -> None:
    model, flight = capture
    with refused(IdentificationError, code):
        identify(model, change(ff.Parameters(model)), flight, method="momentum")


def test_valves_that_switch_between_samples() -> None:
    model = ff.load_model("planar-capture")
    short = tuple((1.03 + 0.7 * k, 0.29, 5.0) for k in range(20))  # on for three samples each
    plan = replace(ff.default_plan(model), thrusts={"thr_1": Pulses(short)})
    wanted = ff.Parameters(model).free("bus.mass", "target.mass")
    means = ff.simulate(model, plan, seed=1)  # how long each valve was open
    fit = identify(model, wanted, means)
    assert fit.is_trustworthy
    for e in fit.estimates:
        assert abs(e.value - wanted[e.name].value) < 4.0 * e.std
    valve = means["thr_1.force"]
    levels = means.with_channels(replace(valve, values=np.where(valve.values > 2.5, 5.0, 0.0)))
    doubted = identify(model, wanted, levels.with_metadata(thrust="level at the instant"))
    assert not doubted.is_trustworthy
    assert doubted.status_code == "not_trusted.thrust_timing"
