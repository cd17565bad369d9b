"""MJCF of models that came from elsewhere: MuJoCo loads it and has the same dynamics."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest
from fault_codes import refused
from hypothesis import Phase, given, settings
from model_strategies import models
from robot_comparison import both_inverse_dynamics, mujoco_difference

from freefloat.errors import ModelError
from freefloat.model import (
    Body,
    Frame,
    Joint,
    JointLimits,
    Model,
    Placement,
    Root,
    Sensor,
    Tank,
    Thruster,
    Wheel,
    builtin_models,
    load_model,
)
from freefloat.model.mujoco_ import compile_mjcf
from freefloat.model.mujoco_render import render_mjcf

mujoco = pytest.importorskip("mujoco")


def robots() -> list[str]:
    try:
        found = [Path(str(file.locate())) for file in files("example-robot-data") or ()]
    except PackageNotFoundError:
        found = []
    urdfs = [str(path) for path in found if path.suffix == ".urdf" and path.name != "ur3.urdf"]
    return [*(one.name for one in builtin_models()), *sorted(urdfs)]


def stiff(model: Model) -> Model:
    """The model without what MJCF has no words for: motors behind springs."""
    joints = (
        replace(j, role=j.drive.role, drive=None) if j.drive is not None else j
        for j in model.joints
    )
    sensors = tuple(s for s in model.sensors if not s.kind.startswith("motor"))
    return replace(model, joints=tuple(joints), sensors=sensors)


@pytest.mark.promise("mjcf-anew")
def test_every_robot_as_mjcf_has_its_dynamics(tmp_path, figure):
    out, errors = tmp_path / "robot.xml", {}
    for name in robots():
        model = stiff(load_model(name))
        model.save(out)
        errors[name] = mujoco_difference(out, model)
    worst = max(errors.values())
    assert worst < 1e-9, {name: error for name, error in errors.items() if error > 1e-12}
    figure("mjcf-anew", f"{len(errors)} models written as MJCF, largest difference {worst:.1g}")


@settings(max_examples=15, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(models())
def test_any_model_can_be_written(model):
    model = stiff(model)
    try:
        text = render_mjcf(model)
    except ModelError as error:
        assert error.codes == ("mjcf.wheel",)
        return
    compiled = mujoco.MjModel.from_xml_string(text)
    used = np.sum(compiled.body_mass)
    expected = model.mass - (model.body(model.root.body).mass if model.root.body == "world" else 0)
    # bodies that must not be without mass have 1e-14 kg each
    assert used == pytest.approx(expected, rel=1e-9, abs=1e-12)


SAMPLE = Model(
    "sample",
    Root("bus"),
    (
        Body("bus", 20.0, (0.1, 0.0, 0.02), (2.0, 0.1, 0.0, 2.5, -0.1, 3.0)),
        Body("arm", 3.0, (0.3, 0.0, 0.0), (0.01, 0.0, 0.0, 0.2, 0.0, 0.2)),
        Body("slide", 1.0, (0.0, 0.1, 0.0), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)),
        Body("flap", 0.5, (0.0, 0.2, 0.0), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)),
    ),
    (
        Joint("elbow", "revolute", "bus", "arm", Placement((0.5, 0, 0), (0.1, 0.2, 0.3)),
              (0.0, 0.6, 0.8), home=0.4, damping=0.3, friction=0.1,
              limits=JointLimits(-1.0, 2.0, effort=7.0)),
        Joint("rail", "prismatic", "arm", "slide", Placement((0.6, 0, 0)), (1.0, 0.0, 0.0),
              role="passive", stiffness=50.0, rest=0.05, home=0.02),
        Joint("hinge", "revolute", "arm", "flap", role="locked", home=-0.3),
    ),
    tanks=(Tank("fuel", "bus", 2.0, 0.3, stiffness=(4.0, 5.0), damping=(0.1, 0.2)),),
    wheels=(Wheel("rw", "bus", (0.0, 0.6, 0.8), 0.05, max_torque=0.2),),
    thrusters=(Thruster("jet", "bus", (0.0, 1.0, 0.0), (0.3, 0.1, 0.2), max_force=2.0),),
    frames=(Frame("camera", "arm", Placement((0.2, 0, 0), (0, 0, 1.0))),),
    sensors=(
        Sensor("gyro", "bus", 100.0, noise=1e-4),
        Sensor("position", "camera", 10.0),
        Sensor("encoder", "elbow", 50.0),
        Sensor("wheel_speed", "rw", 50.0),
    ),
    gravity=(0.0, 0.5, -1.0),
)  # fmt: skip


def test_what_moves_is_in_it(tmp_path):
    out = tmp_path / "sample.xml"
    SAMPLE.save(out)
    ours, theirs = both_inverse_dynamics(out, SAMPLE)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)  # rounding of forces near ten
    again = load_model(out)
    elbow, rail, hinge = (again.joint(name) for name in ("elbow", "rail", "hinge"))
    before = SAMPLE.joint("elbow")
    assert (elbow.home, elbow.damping, elbow.friction) == (0.4, 0.3, 0.1)
    assert elbow.limits == before.limits and elbow.role == "motion"
    assert (rail.type, rail.stiffness, rail.rest, rail.role) == ("prismatic", 50.0, 0.05, "passive")
    assert (hinge.role, hinge.home) == ("locked", -0.3)
    np.testing.assert_allclose(elbow.placement.rotation, before.placement.rotation, atol=1e-15)
    assert (again.name, again.root, again.gravity) == ("sample", SAMPLE.root, SAMPLE.gravity)
    m = compile_mjcf(out)
    assert [m.sensor(k).name for k in range(m.nsensor)] == [
        "bus.gyro", "camera.position", "elbow.encoder", "rw.wheel_speed"]  # fmt: skip
    assert [m.actuator(k).name for k in range(m.nu)] == ["elbow", "rw", "jet"]
    assert {m.site(k).name for k in range(m.nsite)} >= {"camera", "jet"}


def test_a_thruster_pushes_where_and_how_much_it_should(tmp_path):
    out = tmp_path / "sample.xml"
    SAMPLE.save(out)
    m = compile_mjcf(out)
    data = mujoco.MjData(m)
    data.ctrl[m.actuator("jet").id] = 2.0
    mujoco.mj_forward(m, data)
    force = data.qfrc_actuator[:6]
    np.testing.assert_allclose(force, [0, 2, 0, *np.cross([0.3, 0.1, 0.2], [0, 2, 0])], atol=1e-12)


def test_a_comment_names_what_mjcf_cannot_say(tmp_path):
    model = replace(load_model("cbk-arm-geared"))
    text = render_mjcf(model)
    assert "<!-- Not in this file" in text and "drives" in text
    assert "<!--" not in render_mjcf(replace(SAMPLE, tanks=(), sensors=()))


def test_unphysical_bodies_are_refused(tmp_path):
    bad = replace(SAMPLE.bodies[1], inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 5.0))
    with refused(ModelError, "model.inertia"):
        SAMPLE.with_body(bad).save(tmp_path / "bad.xml")
    wheel = replace(SAMPLE.wheels[0], inertia=50.0)
    with pytest.raises(ModelError):
        replace(SAMPLE, wheels=(wheel,)).save(tmp_path / "bad.xml")
    assert not list(tmp_path.iterdir())
