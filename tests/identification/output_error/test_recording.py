"""Readings of forces near switches of thrust are left out; those during a pulse are not."""

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.identification.output_error.recording import between_switches, recording_of
from freefloat.model.parts import Sensor

PULSE = (5.0, 4.0, 5.0)  # begin [s], length [s], thrust [N]


def recording(ripple: float, stated: float | None):
    model = ff.load_model("planar-capture")
    model = replace(
        model, sensors=(*model.sensors, Sensor("accelerometer", "bus", 10.0, noise=1e-3))
    )
    plan = replace(ff.default_plan(model, duration=20.0), thrusts={"thr_1": Pulses((PULSE,))})
    flight = ff.simulate(model, plan, seed=1)
    channel = flight["thr_1.force"]
    rng = np.random.default_rng(4)
    values = channel.values + ripple * rng.normal(size=len(channel.values)) * (channel.values > 0)
    flight = flight.with_channels(replace(channel, values=values, noise=stated))
    return recording_of(model, flight, step=0.01)


@pytest.mark.parametrize(
    ("ripple", "stated"), [(0.0, None), (1e-12, None), (0.02, None), (0.02, 0.02)]
)
def test_noise_and_rounding_of_thrust_are_no_switches(ripple, stated):
    whole = recording(ripple, stated)
    left = between_switches(whole)
    (before,) = (m.times for m in whole.measurements if m.sensor.kind == "accelerometer")
    (after,) = (m.times for m in left.measurements if m.sensor.kind == "accelerometer")
    lost = np.setdiff1d(before, after)
    near = np.minimum(np.abs(lost - 5.0), np.abs(lost - 9.0))
    # six records to a sample between them: three on either side of a step that switches
    assert 2 <= len(lost) <= 20 and near.max() < 0.45
    assert np.sum((after > 5.5) & (after < 8.5)) >= 28
