"""Thrust that switches between samples, and samples that are far apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exciting_plans import exciting_plan
from live_flights import truth, wanted

import freefloat as ff
from freefloat.excitation.commands import Pulses
from freefloat.telemetry.thrust_levels import with_switches

SPACE, PLANE = "spatial-capture", "planar-capture"


def flight(name: str, seed: int, *, late: float = 0.0, rate: float = 10.0) -> ff.Telemetry:
    """The noise study's flight with every pulse `late` [s], sampled at `rate` [Hz]."""
    model = ff.load_model(name)
    plan = exciting_plan(model)
    pulses = {
        thruster: Pulses(tuple((start + late, *rest) for start, *rest in p.pulses))  # type: ignore[union-attr]
        for thruster, p in plan.thrusts.items()
    }
    sensors = tuple(replace(s, rate=rate) for s in model.sensors)
    return ff.simulate(model, replace(plan, thrusts=pulses), sensors=sensors, seed=seed)


def nees(name: str, seen: ff.Telemetry) -> float:
    """Error of the live estimate by its own covariance, per parameter: one on average."""
    estimate = ff.OnlineEstimator(ff.load_model(name), wanted(name), like=seen).run(seen)
    assert estimate.health.is_fine
    error = estimate.values - truth(name)
    return float(error @ np.linalg.solve(estimate.covariance, error)) / len(error)


FULL = pytest.mark.full


@pytest.mark.parametrize(
    "late", [pytest.param(0.013, marks=FULL), 0.037, pytest.param(0.08, marks=FULL)]
)
def test_valves_that_switch_between_samples_mislead_nobody(late):
    # two flights of 20 parameters: chi-square of 40, per parameter, is below 1.6 in 99 of 100
    assert np.mean([nees(SPACE, flight(SPACE, seed, late=late)) for seed in range(2)]) < 1.6


@pytest.mark.parametrize(("name", "n"), [(PLANE, 6), (SPACE, 2)])
@pytest.mark.parametrize("rate", [5.0, pytest.param(20.0 / 3.0, marks=FULL)])
def test_deviations_are_honest_from_5_hertz_on(name, n, rate):
    # chi-square of 40 to 48, per parameter, is below 1.6 in 99 of 100
    assert np.mean([nees(name, flight(name, seed, rate=rate)) for seed in range(n)]) < 1.6


def test_samples_too_far_apart_are_not_called_fine():
    seen = flight(SPACE, 0, rate=4.0)
    tracker = ff.OnlineEstimator(ff.load_model(SPACE), wanted(SPACE), like=seen)
    assert "rate.too_slow" in tracker.run(seen).health.codes


def test_switches_told_while_the_first_samples_are_kept_are_kept_too():
    """The first samples are taken twice; what was told between them must be so too."""
    seen = flight(SPACE, 3, late=0.037)
    model, known = ff.load_model(SPACE), wanted(SPACE)
    names = [f"{t.name}.force" for t in model.thrusters]
    tracker = ff.OnlineEstimator(model, known, like=seen)
    told = with_switches(seen, names)
    for sample in told:
        tracker.update(sample)
        if tracker.filter.replay.snapshot is None or tracker.filter.replay.probation:
            break
        n_told = sum(entry[1] < 2.0 for entry in tracker.filter.replay.entries)
        assert n_told == tracker.counts["told"] + tracker.counts["spike"]
    assert tracker.counts["told"] > 0 and tracker.filter.replay.probation


def test_means_are_taken_apart_into_switches():
    """Their impulse stays, whatever the noise of the thruster's channel."""
    seen = flight(SPACE, 0, late=0.037)
    names = [name for name in seen.names if name.endswith(".force")]
    told = with_switches(seen, names)
    for name in names:
        (t, mean), (at, held) = seen[name].usable(), told[name].usable()
        assert np.sum(held[:-1] * np.diff(at)) == pytest.approx(np.sum(mean[:-1] * np.diff(t)))
        assert set(np.round(held, 9)) < set(np.round(mean, 9))  # no level but the valve's own


def test_lost_rows_do_not_make_false_switches():
    """A mean tells when a valve switched only if the sample that ends its step is there."""
    seen = flight(PLANE, 1, late=0.037)
    rng = np.random.default_rng(0)
    keep = rng.random(seen["base.rate.z"].n_samples) > 0.2
    lossy = seen.with_channels(
        *(c.select(keep) for c in seen.channels.values() if c.n_samples == len(keep))
    )
    # 20 % of the rows lost: chi-square of 8, per parameter, is below 2.5 in 99 of 100
    assert nees(PLANE, lossy) < 2.5


def test_told_out_of_order_is_late_and_spoils_nothing():
    seen = flight(PLANE, 1, late=0.037)
    tracker = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=seen)
    for sample in tracker.samples_of(seen):
        tracker.update(sample)
        if "base.rate.z" not in sample.values:  # an old one, told again with another value
            old = dict.fromkeys(sample.values, 3.0)
            assert tracker.update({"time": sample.time - 0.01, **old}).outcome == "late"
    estimate = tracker.estimate
    error = estimate.values - truth(PLANE)
    assert error @ np.linalg.solve(estimate.covariance, error) / len(error) < 2.5


def test_a_clock_set_back_is_followed():
    seen = flight(PLANE, 0)
    tracker = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=seen)
    for sample in seen:
        back = 20.0 if sample.time > 30.0 else 0.0
        tracker.update({"time": sample.time - back, **sample.values})
    assert any(event.kind == "clock jump" for event in tracker.events)
    assert tracker.counts["late"] < 40 and tracker.counts["taken"] > 500


def test_noise_of_thrust_readings_is_in_the_deviations():
    model = ff.load_model(PLANE)
    size = 0.05
    squares = []
    for seed in range(6):
        clean = flight(PLANE, seed)
        rng = np.random.default_rng(seed)
        read = []
        for name in (f"{t.name}.force" for t in model.thrusters):
            told = clean[name]
            noisy = told.values + size * rng.standard_normal(len(told.time))
            read.append(replace(told, values=noisy, noise=size))
        squares.append(nees(PLANE, clean.with_channels(*read)))
    # chi-square of 48, per parameter, is below 1.6 in 99 of 100
    assert np.mean(squares) < 1.6


def test_inputs_told_often_do_not_crowd_out_the_first_samples():
    """Levels told a hundred times a sample: the first samples are taken again all the same."""
    seen = flight(PLANE, 0)
    names = [name for name in seen.names if name.endswith(".force")]
    trackers = [ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=seen) for _ in "ab"]
    settled = [0.0, 0.0]
    for sample in seen:
        for k, tracker in enumerate(trackers):
            tracker.update(sample)
            is_waiting = (
                tracker.filter.replay.snapshot is not None and not tracker.filter.replay.probation
            )
            settled[k] = sample.time if is_waiting else settled[k]
        levels = {name: sample.values[name] for name in names}
        for n in range(1, 100):
            trackers[1].update({"time": sample.time + 1e-3 * n, **levels})
        if sample.time > 20.0:
            break
    assert settled[0] == settled[1] < 15.0
    plain, often = (tracker.estimate for tracker in trackers)
    assert trackers[1].counts["told"] > 5000
    # the same but for rounding, which the weights of a noisy start enlarge
    np.testing.assert_allclose(often.values, plain.values, atol=1e-6 * np.max(plain.std))
