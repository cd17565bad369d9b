"""Channels that nobody measured are found by what else moves, and rightly constant ones are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.model.parts import Body, Joint, Root
from freefloat.telemetry.doctor import examine, repair
from freefloat.telemetry.telemetry import Telemetry

TIME = np.arange(1000) * 0.02
NOISE = 1e-4
CODE = "recording.constant"


def odometry(**changes: np.ndarray) -> Telemetry:
    """A base that moves along x and y, in a plane, and a joint; each with its own rate."""
    rng = np.random.default_rng(0)
    values = {}
    for name, rate, size in (
        ("base.position.x", "base.velocity.x", 0.5),
        ("base.position.y", "base.velocity.y", 0.3),
        ("arm.position", "arm.velocity", 1.0),
    ):
        values[name] = size * np.sin(0.8 * TIME) + NOISE * rng.normal(size=TIME.size)
        values[rate] = 0.8 * size * np.cos(0.8 * TIME) + NOISE * rng.normal(size=TIME.size)
    still = np.zeros_like(TIME)
    values |= {"base.position.z": still, "base.velocity.z": NOISE * rng.normal(size=TIME.size)}
    values |= {"thr.force": still, "rw.speed": still, "lock.position": still + 0.3}
    values |= {"lock.velocity": still, "arm.torque": still}
    return Telemetry.from_arrays(TIME, values | changes)


def constants(flight: Telemetry, model: ff.Model | None = None) -> list:
    return [f for f in examine(flight, model).findings if f.code == CODE]


def test_what_is_constant_by_right_stays():
    assert constants(odometry()) == []


@pytest.mark.parametrize("moving", ["position", "velocity"])
def test_a_stream_nobody_measured_is_masked_with_the_reason(moving):
    blank = "velocity" if moving == "position" else "position"
    zeros = {f"base.{blank}.{axis}": np.zeros_like(TIME) for axis in "xyz"}
    flight = odometry(**zeros)
    diagnosis = examine(flight)
    found = [f for f in diagnosis.findings if f.code == CODE]
    assert {n for f in found for n in f.channels} == {f"base.{blank}.x", f"base.{blank}.y"}
    assert diagnosis.codes == (CODE,) * len(found)  # and no gain that is off by -100 %
    text = str(found[0])
    assert f"although base.{moving}.x says it moves by" in text
    assert f"--without 'base.{blank}*'" in text
    repaired = repair(flight, diagnosis)
    assert not repaired[f"base.{blank}.x"].valid.any()
    assert repaired[f"base.{blank}.z"].valid.all()
    assert CODE in repaired.metadata["repair"]


def test_an_attitude_nobody_measured_is_masked_whole():
    still = np.zeros_like(TIME)
    rng = np.random.default_rng(1)
    rate = 0.2 * np.sin(0.7 * TIME) + NOISE * rng.normal(size=TIME.size)
    rates = {f"base.rate.{a}": NOISE * rng.normal(size=TIME.size) for a in "yz"}
    attitude = {f"base.attitude.{a}": still + (a == "w") for a in "xyzw"}
    flight = odometry(**attitude, **rates, **{"base.rate.x": rate})
    (found,) = constants(flight)
    assert found.channels == tuple(f"base.attitude.{a}" for a in "xyzw")


def test_a_drift_that_the_noise_of_a_rate_hides_is_no_motion():
    rng = np.random.default_rng(2)
    drift = 0.5 * NOISE * np.sin(0.3 * TIME) + NOISE * rng.normal(size=TIME.size)
    flight = odometry(**{"lock.velocity": drift + 3e-3})  # and a bias
    assert constants(flight) == []


def test_no_torque_in_a_joint_that_the_model_moves():
    bodies = (Body("bus", 10.0, inertia=(1.0, 1.0, 1.0)), Body("link", 1.0, inertia=(0.1,) * 3))
    joint = Joint("arm", "revolute", "bus", "link")
    model = ff.Model("one", Root("bus", "floating"), bodies, (joint,))
    assert [f.channels for f in constants(odometry(), model)] == [("arm.torque",)]
    for free in (replace(joint, role="passive"), replace(joint, role="torque")):
        assert constants(odometry(), replace(model, joints=(free,))) == []
