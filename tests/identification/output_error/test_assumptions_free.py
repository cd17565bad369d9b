"""Wrong assumptions are found when they are freed, and written where a model has a place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from doubtful_flights import chaser, flight, shake
from estimator import identify

import freefloat as ff
from freefloat.identification.fit import Fit
from freefloat.model import Model
from freefloat.model.rotations import matrix_from_rotation_vector
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.telemetry import Telemetry


def fly(model: Model) -> Telemetry:
    return ff.simulate(model, shake(), seed=2, step=5e-3)


def alter(telemetry: Telemetry, **changes) -> Telemetry:
    """The recording with channels (dots for double underscores) of other times and values."""
    new = []
    for word, change in changes.items():
        old = telemetry[word.replace("__", ".")]
        new.append(Channel(old.name, old.unit, *change(old), noise=old.noise))
    return telemetry.with_channels(*new)


def found(model: Model, telemetry: Telemetry, truth: dict[str, float]) -> Fit:
    """A fit of the bus and what is wrong; every estimate within its interval, and known."""
    wanted = ff.Parameters(model).free("bus.mass", "bus.izz", *truth)
    fit = identify(model, wanted, telemetry, method="output_error")
    truth = {**truth, "bus.mass": 90.0}
    for name, value in truth.items():
        estimate = fit[name]
        assert estimate.status in ("seen", "weak"), (name, estimate)
        # 13 intervals of three standard deviations: one test in thirty would fail, this seed not
        assert abs(estimate.value - value) <= 3.0 * estimate.std, (name, estimate, value)
    return fit


def test_wrong_inputs_are_found():
    truth = {
        "jet_1.gain": 1.05, "jet_2.delay": 0.05, "elbow.zero": 0.02, "shoulder.delay": 0.05,
        "mast.torque.gain": 0.9,
    }  # fmt: skip
    recording = alter(
        flight(seed=2),
        jet_1__force=lambda c: (c.time, c.values / 1.05),
        jet_2__force=lambda c: (c.time - 0.05, c.values),
        elbow__position=lambda c: (c.time, c.values + 0.02),
        shoulder__position=lambda c: (c.time + 0.05, c.values),
        mast__torque=lambda c: (c.time, c.values / 0.9),
    )
    fit = found(chaser(), recording, truth)
    assert "parameters.no_place" in [getattr(note, "code", "") for note in fit.notes]


def test_wrong_geometry_and_surroundings_are_found_and_written():
    truth = {
        "jet_1.tilt.z": 0.03, "elbow.offset.x": 0.01, "gravity.y": 1e-3, "drag.linear": 0.3,
        "lower.scale": 1.05,
    }  # fmt: skip
    fit = found(chaser(), fly(with_parameters(chaser(), truth)), truth)
    model = fit.model
    assert model.gravity[1] == fit["gravity.y"].value
    assert model.root.linear_drag == fit["drag.linear"].value
    assert model.joint("elbow").placement.xyz[0] == pytest.approx(0.6 + fit["elbow.offset.x"].value)
    assert model.body("lower").mass == pytest.approx(6.0 * fit["lower.scale"].value)
    assert model.thrusters[0].direction[1] == pytest.approx(np.sin(fit["jet_1.tilt.z"].value))


def test_wrong_sensors_are_found():
    truth = {
        "tilt.imu.acceleration.y": 0.02, "offset.tip.position.x": 0.02, "drift.base.rate.x": 2e-5,
        "delay.base.attitude": 0.05, "gain.imu.rate.z": 1.02,
    }  # fmt: skip
    world = chaser()
    tip = world.frames[1]
    R = tip.placement.rotation
    moved = replace(tip.placement, xyz=tuple(np.array(tip.placement.xyz) + R @ [0.02, 0.0, 0.0]))
    late = (replace(s, delay=0.05) if s.kind == "attitude" else s for s in world.sensors)
    world = replace(
        world, frames=(world.frames[0], replace(tip, placement=moved)), sensors=tuple(late)
    )
    recording = fly(world)
    R = matrix_from_rotation_vector([0.0, 0.02, 0.0])
    names = [f"imu.acceleration.{axis}" for axis in "xyz"]
    felt = np.column_stack([recording[name].values for name in names]) @ R
    recording = recording.with_channels(
        *(
            Channel(n, "m/s^2", recording[n].time, felt[:, k], noise=recording[n].noise)
            for k, n in enumerate(names)
        )
    )
    recording = alter(
        recording,
        base__rate__x=lambda c: (c.time, c.values + 2e-5 * c.time),
        imu__rate__z=lambda c: (c.time, 1.02 * c.values),
    )
    fit = found(chaser(), recording, truth)
    tracker = next(s for s in fit.model.sensors if s.kind == "attitude")
    assert tracker.delay == fit["delay.base.attitude"].value


def test_damping_that_starts_at_nothing_is_seen():
    guess = chaser().with_joint("hinge", damping=0.0)
    recording = flight(seed=2)
    wanted = ff.Parameters(guess).free("bus.mass", "hinge.damping", "hinge.friction")
    fit = identify(guess, wanted, recording, method="output_error")
    assert fit["hinge.damping"].status == "seen"
    assert abs(fit["hinge.damping"].value - 0.5) <= 3.0 * fit["hinge.damping"].std
