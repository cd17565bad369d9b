"""Displacement and impulses of an interval, against the momentum of simulated flights."""

from __future__ import annotations

import numpy as np
import pytest
from live_flights import clean_flight, steady_flight, wanted

import freefloat as ff
from freefloat.dynamics.equations import balance
from freefloat.dynamics.kernels.spatial import C
from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.codes import SETTLED
from freefloat.online.kernels.input_moments import integrate_inputs
from freefloat.online.kernels.interval import integrate_interval
from freefloat.online.kernels.momentum_columns import measure_sample
from freefloat.online.kernels.update import renew_weights

NAMES = ["planar-capture", "spatial-capture"]


@kernel
def inputs(problem, m, t, levels, wrench):
    integrate_inputs(problem, m, t, levels, wrench, False)


@kernel
def measure(problem, m, k, s):
    measure_sample(problem, m, k, s)


@kernel
def interval(problem, m, k, t):
    integrate_interval(problem, m, k, t, k.sample)


@kernel
def weigh(problem, m):
    renew_weights(problem, m, problem.n_nuisance)


class Flight:
    """A filter that has taken the first samples of a flight without noise, and the next sample."""

    def __init__(self, name: str, flight: ff.Telemetry, n: int) -> None:
        tracker = ff.OnlineEstimator(ff.load_model(name), wanted(name), like=flight,
                                     noise=dict.fromkeys(flight.names, 1e-6))  # fmt: skip
        samples = list(tracker.samples_of(flight))
        for sample in samples[:n]:
            tracker.update(sample)
        own = tracker.filter
        self.problem, self.m, self.k = own.problem, own.memory, own.scratch  # type: ignore[attr-defined]
        self.system, vector = own.system, own.vector  # type: ignore[attr-defined]
        self.m.x[:] = 0.0  # weights of the model, which is the one that flew
        weigh(self.problem, self.m)
        self.m.numbers[SETTLED] = 1.0
        self.before = self.m.last.copy()
        vector.read(samples[n].values)
        self.now, self.t = vector.vector.copy(), samples[n].time
        inputs(self.problem, self.m, self.t, vector.levels, vector.wrench)

    def gain(self) -> np.ndarray:
        """Displacement, impulse, angular impulse of the interval by the kernels."""
        measure(self.problem, self.m, self.k, self.before)
        self.m.inertia[:] = self.k.work.L[0, C : C + 10]
        measure(self.problem, self.m, self.k, self.now)
        interval(self.problem, self.m, self.k, self.t)
        return self.k.gain[:9].copy()

    def momentum(self, s: np.ndarray) -> np.ndarray:
        """Linear and angular momentum about the root in the segment's frame; NumPy's own."""
        c = self.system.n_coordinates
        x = np.concatenate([np.zeros(3), s[3:7], s[7:10] - self.m.frame_velocity, s[:3], s[10:]])
        assert x.size == 13 + 2 * c
        found = balance(self.system, x[None])
        return np.concatenate([found.linear_momentum[0], found.angular_momentum[0]])


def flight_of(name: str, kind: str) -> ff.Telemetry:
    return steady_flight(name) if kind == "thrust" else clean_flight(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["thrust", "switching"])
def test_impulses_are_the_change_of_momentum(name, kind):
    flight = Flight(name, flight_of(name, kind), 30)
    gain = flight.gain()
    before, now = flight.momentum(flight.before), flight.momentum(flight.now)
    size = np.linalg.norm(now[:3])
    # of the interval, whose polynomials have errors of the fourth order: 1e-6 at 10 Hz
    np.testing.assert_allclose(gain[3:6], now[:3] - before[:3], atol=2e-6 * size)
    about_before = now[3:] - before[3:] + np.cross(gain[:3], now[:3])
    np.testing.assert_allclose(gain[6:9], about_before, atol=2e-6 * max(size, np.abs(now).max()))


@pytest.mark.parametrize("name", NAMES)
def test_displacement_is_that_of_the_simulation(name):
    recording = steady_flight(name)
    flight = Flight(name, recording, 30)
    gain, m = flight.gain(), flight.m
    assert recording.truth is not None
    went = []
    for axis in "xyz"[: 2 if name == NAMES[0] else 3]:
        truth = recording.truth[f"base.position.{axis}"]
        ends = [
            float(truth.values[np.argmin(np.abs(truth.time - t))]) for t in (m.times[3], flight.t)
        ]
        went.append(ends[1] - ends[0])
    h = flight.t - m.times[3]
    expected = np.array(went) - m.frame_velocity[: len(went)] * h
    np.testing.assert_allclose(gain[: len(went)], expected, atol=1e-7)  # [m]; it went millimetres


@pytest.mark.parametrize("name", NAMES)
def test_slopes_of_the_displacement_are_those_of_finite_differences(name):
    flight = Flight(name, steady_flight(name), 30)
    problem, m, k = flight.problem, flight.m, flight.k
    flight.gain()
    slopes, step = k.displacement_slopes.copy(), 1e-4
    assert np.max(np.abs(slopes)) > 1e-6  # [m] far above what is tolerated below
    for p in range(problem.n_unknowns):
        ends = []
        for sign in (1.0, -1.0):
            m.x[:] = 0.0
            m.x[problem.n_nuisance + p] = sign * step
            weigh(problem, m)
            ends.append(flight.gain()[:3])
        found = (ends[0] - ends[1]) / (2.0 * step)
        # central differences of a quotient, and the impulse's lag stays as it is
        np.testing.assert_allclose(slopes[:, p], found, rtol=1e-4, atol=1e-9)
