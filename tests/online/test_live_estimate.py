"""What an estimate says of itself: what is observable, and how sure it is of noise-free samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from live_flights import EIGHT, clean_flight, noisy, steady_flight, truth, wanted

import freefloat as ff
from freefloat.excitation.commands import Pulses
from freefloat.notes import codes_of

PLANE, SPACE = "planar-capture", "spatial-capture"


@pytest.fixture(scope="module")
def unpushed() -> ff.Telemetry:
    """A flight without thrust."""
    model = ff.load_model(PLANE)
    return ff.simulate(model, ff.default_plan(model), seed=1)


def tracked(flight: ff.Telemetry, *, fixed: tuple[str, ...] = ()) -> ff.OnlineEstimator:
    model = ff.load_model(PLANE)
    parameters = ff.Parameters(model).free(*EIGHT)
    if fixed:
        parameters = parameters.fix(*fixed)
    tracker = ff.OnlineEstimator(model, parameters, like=flight)
    tracker.run(flight)
    return tracker


def test_without_a_scale_it_says_that_nothing_is_seen_and_what_would_show_it(unpushed):
    tracker = tracked(unpushed)
    e = tracker.estimate
    assert set(e.statuses) == {"not seen"}
    assert e.status.code == e.as_dict()["status_code"] == "observable.none.scale"
    assert e.health.codes == tracker.health.codes == ("observable.none.scale",)
    assert e.as_dict()["health_codes"] == ["observable.none.scale"]
    assert "thr_1.force" in e.status and "target.mass" in e.status
    # and the remedies are true
    assert set(tracked(unpushed, fixed=("target.mass",)).estimate.statuses) <= {"seen", "weak"}
    pushed = tracked(noisy(PLANE, 1)).estimate
    assert pushed.health.is_fine and pushed.status.code == "observable.all"


def test_what_is_not_seen_is_named():
    flight, model = noisy(PLANE, 0), ff.load_model(PLANE)
    free = ff.Parameters(model).free(*EIGHT, "bus.mz")  # nothing in the plane depends on it
    e = ff.OnlineEstimator(model, free, like=flight).run(flight)
    assert e.status.code == "observable.some" and e.status.endswith(" bus.mz")
    assert e.health.is_fine


def test_a_role_that_is_none_is_refused():
    model = ff.load_model(PLANE)
    odd = replace(model, joints=(replace(model.joints[0], role="mode"), *model.joints[1:]))
    with refused(ff.FreefloatError, "option.choice", naming="mode"):
        ff.OnlineEstimator(odd, ff.Parameters(odd).free("bus.mass"))


def pulsed_flight(name: str, seed: int, rate: float) -> ff.Telemetry:
    """Another motion than the studies have, with pulses of any size; exact, at `rate` [Hz]."""
    model, rng = ff.load_model(name), np.random.default_rng(seed)
    plan = ff.default_plan(model, seed=seed)
    starts = np.arange(rng.uniform(0.0, 3.0), plan.duration - 2.0, 4.0)
    thrusts = {
        t.name: Pulses(tuple((float(round(s, 1)), 1.3, rng.uniform(1.0, 8.0)) for s in starts))
        for t in model.thrusters
    }
    start = ff.Start(velocity=(0.1, 0.2, 0.0), rate=(0.0, 0.0, rng.uniform(-0.2, 0.2)))
    exact = tuple(replace(sensor, noise=0.0, rate=rate) for sensor in model.sensors)
    return ff.simulate(model, replace(plan, thrusts=thrusts, start=start), sensors=exact)


def exact_estimate(name: str, flight: ff.Telemetry) -> tuple[ff.OnlineEstimator, np.ndarray, float]:
    """The estimator after a flight without noise, errors in deviations, largest relative error."""
    tracker = ff.OnlineEstimator(
        ff.load_model(name), wanted(name), like=flight, noise=dict.fromkeys(flight.names, 0.0)
    )
    e = tracker.run(flight)
    error = np.abs(e.values - truth(name))
    return tracker, error / e.std, float(np.max(error / e.unknowns.sizes[-len(error) :]))


@pytest.mark.parametrize("name", [PLANE, SPACE])
@pytest.mark.parametrize("kind", [steady_flight, clean_flight])
def test_sensors_without_noise_do_not_make_it_too_sure(name, kind):
    tracker, z, relative = exact_estimate(name, kind(name))
    # the error of integration is no noise: its estimate is on the safe side, so z is below one
    assert tracker.health.is_fine and np.max(z) < 2.0
    assert relative < 1e-6  # of the natural sizes, at 10 Hz
    assert "channel.noise_free" in codes_of(tracker.notes)


@pytest.mark.parametrize("rate", [5.0, 10.0, 25.0])
@pytest.mark.parametrize("name", [PLANE, SPACE])
def test_nor_on_motions_that_nobody_prepared(name, rate):
    squares = []
    for seed in (10, 11):
        tracker, z, relative = exact_estimate(name, pulsed_flight(name, seed, rate))
        assert tracker.health.is_fine and relative < 1e-4
        squares.append(np.mean(z**2))
    assert np.mean(squares) < 1.5**2  # errors of integration repeat: z need not scatter like noise


def test_residuals_that_are_too_large_widen_the_intervals():
    """And end trust where nothing else is in doubt: thrusters in doubt by 2 % would hide them."""
    flight = noisy(PLANE, 2)
    model = replace(ff.load_model(PLANE), uncertainty={"*": 0.0})
    told = {n: 0.3 * c.noise for n, c in flight.channels.items() if c.noise}
    e = ff.OnlineEstimator(model, wanted(PLANE), noise=told, gate=0.0).run(flight)
    honest = ff.OnlineEstimator(model, wanted(PLANE), like=flight).run(flight)
    assert "innovations.too_large" in e.health.codes and e.grade == "not trusted"
    assert honest.grade == "trusted"
    assert np.all(e.std > 0.7 * honest.std)  # not 0.3 of it
