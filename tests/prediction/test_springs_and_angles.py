"""Springs that are known so well, fuel on a prismatic joint, angles of frames in the plane."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.model.parts import Body, Joint, Placement, Sensor
from freefloat.prediction.assumptions import list_assumptions
from freefloat.prediction.predictor import predictor_of
from freefloat.telemetry.channel import Channel


def sloshing() -> ff.Model:
    """The planar robot with 12 kg of fuel that slides along x, as docs/formats.md has it."""
    model = ff.load_model("planar-capture")
    fuel = Body("fuel", 12.0)
    slosh = Joint(
        "slosh", "prismatic", "bus", "fuel", Placement((0.1, 0.2, 0.0)), (1.0, 0.0, 0.0),
        role="passive", stiffness=6.0, damping=0.2, stiffness_uncertainty=0.05,
    )  # fmt: skip
    return replace(model, bodies=(*model.bodies, fuel), joints=(*model.joints, slosh))


@pytest.fixture(scope="module")
def flight() -> ff.Telemetry:
    return ff.simulate(sloshing(), ff.default_plan(sloshing(), duration=40.0), seed=1)


def test_a_stated_spring_is_kept_and_counts(tmp_path, flight):
    model = sloshing()
    model.save(tmp_path / "slosh.toml")
    assert ff.load_model(tmp_path / "slosh.toml") == model
    found = {a.name: a for a in list_assumptions(model, flight)}
    spring, damper = found["slosh.stiffness"], found["slosh.damping"]
    assert spring.is_stated and spring.std == pytest.approx(0.05 * 6.0) and spring.unit == "N/m"
    assert not damper.is_stated and damper.std == pytest.approx(0.1 * 0.2)
    tank = ff.load_model("servicer-slosh")
    stated = replace(tank.tanks[0], uncertainty=0.03, damping_uncertainty=0.5)
    tank = replace(tank, tanks=(stated, *tank.tanks[1:]))
    short = ff.simulate(tank, ff.default_plan(tank, duration=4.0), seed=1)
    by_name = {a.name: a for a in list_assumptions(tank, short)}
    assert by_name[f"{stated.name}.mass"].std == pytest.approx(0.03 * stated.mass)
    assert by_name[f"{stated.name}_1.damping"].std == pytest.approx(0.5 * stated.damping[0])
    drive = ff.load_model("cbk-arm-geared")
    joint = next(j for j in drive.joints if j.drive)
    loose = replace(joint.drive, stiffness_uncertainty=0.2)
    drive = drive.with_joint(joint.name, drive=loose)
    short = ff.simulate(drive, ff.default_plan(drive, duration=4.0), seed=1)
    by_name = {a.name: a for a in list_assumptions(drive, short)}
    assert by_name[f"{joint.name}.drive.stiffness"].std == pytest.approx(0.2 * loose.stiffness)


def test_a_spring_that_is_known_badly_widens_total_deviations(flight):
    def widened(uncertainty: float) -> float:
        model = sloshing().with_joint("slosh", stiffness_uncertainty=uncertainty)
        # so that no other doubt outweighs that of the spring
        bodies = tuple(replace(body, uncertainty=1e-4) for body in model.bodies)
        targets = tuple(replace(t, body=replace(t.body, uncertainty=1e-4)) for t in model.targets)
        model = replace(model, bodies=bodies, targets=targets)
        fit = ff.identify(model, ff.Parameters(model).free("fuel.mass"), flight)
        assert fit.assessment is not None and fit.assessment.grade == "trusted"
        return float(fit["fuel.mass"].total_std / fit["fuel.mass"].std)

    assert widened(0.2) > 1.3 * widened(1e-4)


def test_fuel_on_a_prismatic_joint_is_identified(flight):
    model = sloshing().with_joint("slosh", stiffness=7.0, damping=0.15)
    free = ff.Parameters(model).free("bus.mass", "fuel.mass", "slosh.stiffness", "slosh.damping")
    fit = ff.identify(model, free, flight)
    assert fit.method == "output_error" and fit.is_trustworthy
    truth = {"fuel.mass": 12.0, "slosh.stiffness": 6.0, "slosh.damping": 0.2}
    for name, value in truth.items():
        assert abs(fit[name].value - value) < 4.0 * fit[name].std, name
    assert fit["slosh.stiffness"].std < 0.02 * 6.0 and fit["slosh.stiffness"].unit == "N/m"


def with_angles(flight: ff.Telemetry, *places: str) -> ff.Telemetry:
    """The recording with angles between -pi and pi where it had quaternions."""
    for place in places:
        parts = [flight[f"{place}.attitude.{axis}"] for axis in "xyzw"]
        angle = 2.0 * np.arctan2(parts[2].values, parts[3].values)
        angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
        new = Channel(f"{place}.angle", "rad", parts[0].time, angle, noise=2e-4)
        flight = flight.without([part.name for part in parts]).with_channels(new)
    return flight


def test_angles_of_frames_in_the_plane_are_read_with_their_delays():
    model = ff.load_model("planar-capture")
    late = (
        Sensor("attitude", "hand", 20.0, noise=2e-4, delay=0.05),
        Sensor("attitude", "target", 20.0, noise=2e-4, delay=0.03),
        Sensor("position", "hand", 20.0, noise=2e-4, delay=0.05),
    )
    plan = ff.default_plan(model, duration=30.0)
    flight = ff.simulate(replace(model, sensors=(*model.sensors, *late)), plan, seed=2)
    flight = with_angles(flight, "hand", "target")
    groups = [m.group for m in predictor_of(model, flight, step=1e-2).measurements]
    assert {"hand.angle", "target.angle", "hand.position", "base.angle"} <= set(groups)
    wanted = ff.Parameters(model).free("target.mass", "delay.hand.angle", "delay.target.angle")
    wanted = wanted.tie("delay.hand.position", to="delay.hand.angle")
    fit = ff.identify(model, wanted, flight, method="output_error", raw=True, assess=False)
    for name, true in {"delay.hand.angle": 0.05, "delay.target.angle": 0.03}.items():
        assert abs(fit[name].value - true) < 4.0 * fit[name].std and fit[name].std < 2e-3
