"""Errors that many rows share: noise of a thrust reading moves all that follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.excitation.commands import Pulses
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.options import USUAL
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.identification.trust.noise_draws import common_errors
from freefloat.identification.trust.trust_options import USUAL_TRUST
from freefloat.model.parts import Body, Root, Sensor, Thruster
from freefloat.observability.cramer_rao import cramer_rao
from freefloat.prediction.fresh_inputs import pulse_errors

NOISE, LEVEL, RATE = 0.4, 8.0, 20.0  # [N], [N], [Hz]


def tug() -> ff.Model:
    jets = tuple(
        # through the centre of mass: the gyro tells nothing of the impulse
        Thruster(f"jet_{k}", "bus", direction, max_force=LEVEL)
        for k, direction in enumerate([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], start=1)
    )
    sensors = (
        Sensor("gyro", "bus", RATE, noise=1e-4),
        Sensor("velocity", "bus", RATE, noise=1e-3),
        Sensor("thruster", "jet_*", RATE, noise=NOISE),
    )
    bus = Body("bus", 80.0, inertia=(8.0, 0.0, 0.0, 9.0, 0.0, 7.0))
    return ff.Model("tug", Root("bus"), (bus,), thrusters=jets, sensors=sensors)


def plan() -> ff.Plan:
    pulses = {"jet_1": Pulses(((2.0, 2.0, LEVEL), (7.0, 1.0, LEVEL))),
              "jet_2": Pulses(((4.0, 2.0, LEVEL),))}  # fmt: skip
    return replace(ff.default_plan(tug(), duration=10.0), thrusts=pulses)


@pytest.fixture(scope="module")
def problem() -> OutputErrorProblem:
    flight = ff.simulate(tug(), plan(), seed=1)
    recordings = [recording_of(tug(), flight, step=USUAL.step)]
    free = ff.Parameters(tug()).free("bus.mass", "bus.m?")
    unknowns = unknowns_of(free, recordings, is_start_known=False, options=USUAL)
    return OutputErrorProblem(tuple(recordings), unknowns, stated_noise(recordings))


def test_every_pulse_has_an_error_of_its_own_and_mixtures_have_their_covariance(problem):
    recording = problem.recordings[0]
    source, flight = recording.source, recording.telemetry
    times = np.linspace(0.0, 9.9, 100)
    steps = np.column_stack([times, times + 0.05, times + 0.1])
    exact = source.tabulate(steps).push
    apart = pulse_errors(source, flight, most=32, seed=0)
    assert len(apart) == 3
    changes = np.array([s.tabulate(steps).push - exact for s in apart])
    # one standard deviation of the mean of 40 and of 20 readings
    long, short = NOISE / np.sqrt(2.0 * RATE), NOISE / np.sqrt(1.0 * RATE)
    assert sorted(np.max(np.abs(changes), axis=(1, 2, 3))) == pytest.approx(
        [long, long, short], rel=1e-6
    )
    mixed = [pulse_errors(source, flight, most=2, seed=seed) for seed in range(300)]
    squares = np.mean(
        [sum((s.tabulate(steps).push - exact) ** 2 for s in both) for both in mixed], axis=0
    )
    # a variance by 600 numbers is known to 6 %
    inside = squares > 0.0
    assert squares[inside] == pytest.approx(np.sum(changes**2, axis=0)[inside], rel=0.25)


def test_rows_without_common_errors_are_white(problem):
    theta = problem.unknowns.start
    common = common_errors(problem, theta, options=USUAL_TRUST, seed=0)
    apart = problem.whiten(0, [table[..., 0] for table in common[0]])
    E = np.column_stack(
        [problem.whiten(0, [table[..., k] for table in common[0]]) for k in range(3)]
    )
    both = replace(problem, common=common)
    n = len(apart)
    root = both.decorrelate(0, np.eye(n))
    np.testing.assert_allclose(root @ (np.eye(n) + E @ E.T) @ root.T, np.eye(n), atol=1e-8)
    assert np.linalg.norm(apart) > 1.0  # else there was nothing to take out


def test_a_mass_is_known_no_better_than_the_thrust_that_tells_it():
    free = ff.Parameters(tug()).free("bus.mass")
    fit = ff.identify(tug(), free, ff.simulate(tug(), plan(), seed=2))
    by_sensors = cramer_rao(tug(), free, plan())["bus.mass"]
    by_thrust = 80.0 * NOISE / LEVEL / np.sqrt(5.0 * RATE)  # 5 s of readings
    assert by_thrust > 3.0 * by_sensors
    # margins and edges cost readings; the weights of pulses are not quite those of their length
    assert fit["bus.mass"].std == pytest.approx(np.hypot(by_sensors, by_thrust), rel=0.15)
    assert abs(fit["bus.mass"].value - 80.0) < 4.0 * fit["bus.mass"].std
