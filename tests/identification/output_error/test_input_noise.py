"""Noise of encoders through a smoother that is decided once, against one decided for every draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.arrays import Array
from freefloat.identification.output_error import input_noise
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import Recording, recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.prediction.fresh_inputs import fresh_inputs
from freefloat.prediction.joint_motion import smooth_channel, smooth_motion, smooth_together

MODEL = ff.load_model("planar-capture")
DRAWS = 40


def noisy_flight() -> ff.Telemetry:
    sensors = tuple(replace(s, noise=1e-3) if s.kind == "encoder" else s for s in MODEL.sensors)
    plan = ff.default_plan(MODEL, duration=20.0, seed=1)
    return ff.simulate(MODEL, plan, seed=1, step=1e-2, sensors=sensors)


def problem_of(flight: ff.Telemetry) -> tuple[OutputErrorProblem, Array]:
    wanted = ff.Parameters(MODEL).free("target.mass", "target.izz", "bus.izz")
    recording = recording_of(MODEL, flight, step=1e-2)
    options = SearchOptions(input_noise_draws=DRAWS)
    unknowns = unknowns_of(wanted, [recording], is_start_known=False, options=options)
    theta = unknowns.start
    return OutputErrorProblem((recording,), unknowns, stated_noise([recording]), None, theta), theta


def anew(recording: Recording, n: int, seed: int) -> list[Recording]:
    """Twins that decide anew how much to smooth: what every draw did before."""
    return [
        replace(recording, source=source)
        for k in range(n)
        for source in fresh_inputs(
            recording.source, recording.telemetry, 1, seed=seed + 97 * k, is_alike=False
        )
    ]


def test_estimates_scatter_as_with_smoothing_decided_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, theta = problem_of(noisy_flight())
    linear = input_noise.input_shifts(problem, theta, seed=1)
    monkeypatch.setattr(input_noise, "_twins", anew)
    oracle = input_noise.input_shifts(problem, theta, seed=2)
    shown = [k for k, u in enumerate(problem.unknowns.items) if u.is_reported]
    ratio = np.std(linear[shown], axis=1) / np.std(oracle[shown], axis=1)
    # each of two deviations of 40 draws is known to 1 / sqrt(80) = 11 %: four times both together
    assert np.all(np.abs(np.log(ratio)) < 4.0 * np.sqrt(2.0 / (2.0 * DRAWS)))


def test_draws_are_those_of_the_seed() -> None:
    problem, theta = problem_of(noisy_flight())
    first, again, other = (input_noise.input_shifts(problem, theta, seed=s) for s in (3, 3, 4))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_encoders_smoothed_together_are_smoothed_as_each_alone() -> None:
    flight = noisy_flight()
    names = [
        (f"{j.name}.position", f"{j.name}.velocity") for j in MODEL.joints if j.role == "motion"
    ]
    smooth_together(flight, names)
    for position, velocity in names:
        both, alone = smooth_motion(flight, position, velocity), smooth_channel(flight[position])
        inside = flight[position].time[5:-5]
        for one, other in zip(both.all(inside), alone.all(inside), strict=True):
            # rounding of a banded solve, in units of the motion
            assert np.max(np.abs(one - other)) < 1e-9 * np.max(np.abs(other))
        assert both.curves[0].cutoff == pytest.approx(alone.curves[0].cutoff, rel=1e-9)
