"""Which readings of forces are left out because a thruster switches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.excitation.commands import Pulses
from freefloat.identification.output_error.noise import RowNoise, fit_noise, transposed_whiten
from freefloat.identification.output_error.recording import between_switches, recording_of
from freefloat.model.parts import Body, Root, Sensor, Thruster
from freefloat.prediction.time_grid import TAPS


def tug(noise: float) -> ff.Model:
    sensors = (
        Sensor("gyro", "bus", 50.0, noise=1e-4),
        Sensor("accelerometer", "bus", 50.0, noise=1e-4),
        Sensor("thruster", "jet", 50.0, noise=noise),
    )
    jet = Thruster("jet", "bus", (1.0, 0.0, 0.0), (-0.5, 0.2, 0.0), max_force=8.0)
    bus = Body("bus", 80.0, inertia=(8.0, 0.0, 0.0, 9.0, 0.0, 7.0))
    return ff.Model("tug", Root("bus"), (bus,), thrusters=(jet,), sensors=sensors)


@pytest.mark.parametrize("noise, is_stated", [(0.0, True), (0.05, True), (0.05, False)])
def test_noise_of_a_thrust_reading_is_no_switch(noise, is_stated):
    plan = replace(
        ff.default_plan(tug(0.0), duration=10.0), thrusts={"jet": Pulses(((3.01, 4.0, 8.0),))}
    )
    flight = ff.simulate(tug(noise), plan, seed=1)
    if not is_stated:
        channel = flight["jet.force"]
        bare = type(channel)(channel.name, channel.unit, channel.time, channel.values)
        flight = flight.with_channels(bare)
    recording = between_switches(recording_of(tug(0.0), flight, step=1e-2))
    lengths = {m.group: len(m.times) for m in recording.measurements}
    # an edge within a step changes two differences, with three samples at their ends; as many as
    # a reading between records is made of go with them
    assert lengths["base.rate"] - lengths["base.acceleration"] == 2 * (3 + TAPS)


def test_whitening_transposed_is_the_transpose_of_whitening():
    rng = np.random.default_rng(0)
    errors = np.convolve(rng.standard_normal(4000), [1.0, 0.7, 0.4])[:4000]
    times = np.delete(np.arange(4000.0), [3, 30, 31, 32, 50])
    gaps = fit_noise(errors, 1.3, times=times[:60])
    assert gaps.bridges is not None
    for noise in (RowNoise(2.0), fit_noise(errors, 1.3), gaps):
        whole = noise.whiten(np.eye(60))
        rows = rng.standard_normal((3, 60))
        np.testing.assert_allclose(transposed_whiten(noise, rows), rows @ whole, atol=1e-12)
    assert not fit_noise(errors, 1.3).is_white
