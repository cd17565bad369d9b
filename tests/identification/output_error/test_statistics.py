"""Output error against theory: it reaches the Cramer-Rao bound, and its intervals cover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from scipy.signal import lfilter

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.excitation.plan import Plan
from freefloat.model.parts import Coloured
from freefloat.telemetry.channel import Channel

DURATION = 20.0
CASES = {
    "planar-capture": ("bus.mass", "bus.mx", "bus.my", "bus.izz", "target.mass"),
    "ets7": ("bus.*",),
    "cbk-arm-geared": ("arm_1.drive.stiffness", "arm_1.drive.damping"),
    "servicer-slosh": ("bus.mass", "bus.ixx", "tank_1.stiffness", "tank_2.stiffness"),
}


def flight_plan(name: str) -> Plan:
    plan = ff.default_plan(name, duration=DURATION)
    if name == "planar-capture":
        plan = replace(plan, thrusts={"thr_1": Pulses(((1.0, 5.0, 5.0),))})
    return plan


def errors_of(
    name: str, runs: int, change: Callable[[ff.Model, ff.Telemetry, int], ff.Telemetry]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors and standard deviations (runs, parameters) of many noisy flights, and the bound."""
    model, plan = ff.load_model(name), flight_plan(name)
    wanted = ff.Parameters(model).free(*CASES[name])
    truth = np.array([p.value for p in wanted.free_ones])
    errors, stds = [], []
    for seed in range(runs):
        flight = change(model, ff.simulate(model, plan, seed=seed, step=1e-2), seed)
        fit = identify(model, wanted, flight, method="output_error", plan=plan)
        # a bias that the recording shows is estimated as well
        own = [fit[p.name] for p in wanted.free_ones]
        errors.append(np.array([e.value for e in own]) - truth)
        stds.append([e.std for e in own])
    return np.array(errors), np.array(stds), ff.cramer_rao(model, wanted, plan).std


def unchanged(model: ff.Model, flight: ff.Telemetry, seed: int) -> ff.Telemetry:
    return flight


def unequal(model: ff.Model, flight: ff.Telemetry, seed: int) -> ff.Telemetry:
    """Channels of very different noise, and none of it stated."""
    return type(flight).of([c.with_noise(None) for c in flight.channels.values()])


def driven_noise(seed: int, n: int, lags: list[float]) -> np.ndarray:
    """Autoregressive noise of unit size."""
    news = np.random.default_rng([seed, 77]).normal(size=n + 500)
    noise = np.asarray(lfilter([1.0], [1.0, *(-np.array(lags))], news))[500:]
    long = np.asarray(lfilter([1.0], [1.0, *(-np.array(lags))], np.r_[1.0, np.zeros(5000)]))
    return noise / np.sqrt(np.sum(long**2))


def coloured_by(lags: list[float]) -> Callable[[ff.Model, ff.Telemetry, int], ff.Telemetry]:
    """Noise of the stated size that goes on as it begins, on every channel of the base."""

    def change(model: ff.Model, flight: ff.Telemetry, seed: int) -> ff.Telemetry:
        truth = flight.truth
        assert truth is not None
        new = []
        for k, c in enumerate(flight.channels.values()):
            if not c.name.startswith("base.") or c.noise is None:
                continue
            clean = np.interp(c.time, truth[c.name].time, truth[c.name].values)
            noise = c.noise * driven_noise(1000 * seed + k, c.n_samples, lags)
            new.append(Channel(c.name, c.unit, c.time, clean + noise, noise=c.noise))
        return flight.without([c.name for c in new]).with_channels(*new)

    return change


# a resonance at 0.23 Hz, damped to 5 %, sampled at 10 Hz: what an unmodelled wing looks like
MODE = [2.0 * np.exp(-0.05 * 0.1445) * np.cos(0.1445), -np.exp(-0.1 * 0.1445)]
NOISES = {
    "white": unchanged,
    "estimated": unequal,
    "AR(1), 0.9": coloured_by([0.9]),
    "a mode": coloured_by(MODE),
}


@pytest.mark.promise("I7")
@pytest.mark.parametrize(
    ("name", "runs"),
    [("planar-capture", 12), ("ets7", 5), ("cbk-arm-geared", 5), ("servicer-slosh", 2)],
)
def test_the_cramer_rao_bound_is_reached(
    name: str, runs: int, figure: Callable[[str, str], None]
) -> None:
    errors, stds, bound = errors_of(name, runs, unchanged)
    ratio = float(np.sqrt(np.mean((errors / bound) ** 2)))
    figure("I7", f"{name}, {runs} runs: RMS error {ratio:.3f} of the bound")
    # 1.1 and the scatter of few runs of some correlated parameters, three standard deviations
    assert ratio < 1.1 + 3.0 * np.sqrt(0.5 / runs / 2.0)
    assert np.allclose(np.mean(stds, axis=0), bound, rtol=0.02)  # linearised about the estimate


@pytest.mark.full
@pytest.mark.promise("I7")
@pytest.mark.parametrize("name", list(CASES))
def test_the_cramer_rao_bound_is_reached_by_every_paper(
    name: str, figure: Callable[[str, str], None]
) -> None:
    runs = 200
    errors, _, bound = errors_of(name, runs, unchanged)
    ratios = np.sqrt(np.mean((errors / bound) ** 2, axis=0))
    figure("I7", f"{name}, {runs} runs: RMS error at most {ratios.max():.3f} of the bound")
    assert np.sqrt(np.mean(ratios**2)) <= 1.1


@pytest.mark.promise("I3")
@pytest.mark.parametrize("noise", list(NOISES))
def test_intervals_cover(noise: str, figure: Callable[[str, str], None]) -> None:
    runs = 8
    errors, stds, _ = errors_of("planar-capture", runs, NOISES[noise])
    inside = np.abs(errors) < 1.96 * stds
    figure("I3", f"output error, {noise} noise, {runs} runs: {np.mean(inside):.3f}")
    # five correlated parameters count as two and a half runs each; three standard deviations
    assert np.mean(inside) > 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / (2.5 * runs))


@pytest.mark.full
@pytest.mark.promise("I3")
@pytest.mark.parametrize("noise", list(NOISES))
def test_intervals_cover_in_a_thousand_runs(noise: str, figure: Callable[[str, str], None]) -> None:
    errors, stds, _ = errors_of("planar-capture", 1000, NOISES[noise])
    inside = np.mean(np.abs(errors) < 1.96 * stds, axis=0)
    figure("I3", f"output error, {noise} noise: {inside.min():.3f} to {inside.max():.3f}")
    # 95 +- 2 %, and the scatter of 1000 runs
    assert np.all(np.abs(inside - 0.95) < 0.02 + 3.0 * np.sqrt(0.95 * 0.05 / 1000))


def test_noise_of_encoders_that_drive_the_joints_is_counted() -> None:
    model, runs = ff.load_model("planar-capture"), 8
    plan = flight_plan("planar-capture")
    sensors = tuple(replace(s, noise=2e-4) if s.kind == "encoder" else s for s in model.sensors)
    wanted = ff.Parameters(model).free(*CASES["planar-capture"])
    truth = np.array([p.value for p in wanted.free_ones])
    inside, widths = [], []
    for seed in range(runs):
        flight = ff.simulate(model, plan, seed=seed, step=1e-2, sensors=sensors)
        fit = identify(model, wanted, flight, method="output_error")
        error = np.array([e.value for e in fit.estimates]) - truth
        std = np.array([e.std for e in fit.estimates])
        inside.append(np.abs(error) < 1.96 * std)
        widths.append(std)
    bound = ff.cramer_rao(model, wanted, plan).std  # for joints that are known exactly
    assert np.all(np.mean(widths, axis=0) > 1.5 * bound)
    assert np.mean(inside) > 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / (2.5 * runs))


def test_gauss_markov_noise_of_a_sensor_is_found_out() -> None:
    model, plan = ff.load_model("planar-capture"), flight_plan("planar-capture")
    sensors = tuple(
        replace(s, noise=0.0, coloured=Coloured(1e-5, 0.95)) if s.kind == "gyro" else s
        for s in model.sensors
    )
    flight = ff.simulate(model, plan, seed=0, step=1e-2, sensors=sensors)
    wanted = ff.Parameters(model).free(*CASES["planar-capture"])
    fit = identify(model, wanted, flight, method="output_error", plan=plan)
    (note,) = [n for n in fit.notes if getattr(n, "code", "") == "residuals.autocorrelated"]
    assert "base.rate.z" in note
