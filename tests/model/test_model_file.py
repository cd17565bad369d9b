"""The model-file reader: every section, the URDF beside it, and where faults are found."""

from __future__ import annotations

import subprocess
import sys

import pytest
from fault_codes import refused
from model_samples import TOML, URDF

from freefloat.errors import ModelError
from freefloat.model import (
    Body,
    Drive,
    Frame,
    Joint,
    JointLimits,
    Limits,
    Orbit,
    Placement,
    Root,
    Sensor,
    Tank,
    Target,
    Thruster,
    Wheel,
    load_model,
)
from freefloat.model.model_file import read_model_text
from freefloat.model.parts import Capsule, Coloured
from freefloat.notes import codes_of

HEAD = 'format = 1\nname = "m"\n'
BODY = '[[body]]\nname = "a"\nmass = 2\ninertia = [1, 1, 1]\n'


def test_reads_every_section():
    model = read_model_text(TOML)
    assert (model.name, model.description) == ("sample", "Everything once.")
    assert model.gravity == (0.0, 0.1, 0.0)
    assert model.root == Root("bus", "floating", 0.1, 0.2)
    assert model.bodies[0] == Body("bus", 600.0, (0.1, 0, 0), (150, 0.5, 0, 140, 0, 130))
    assert model.bodies[1] == Body("link_1", 8.5, inertia=(0.4, 0, 0, 0.4, 0, 0.04))
    assert model.bodies[2] == Body("link_2")
    assert model.joints[0] == Joint(
        *("arm_1", "revolute", "bus", "link_1", Placement((1, 0, 0.5), (0, 0.1, 0)), (0, 1, 0)),
        role="passive",
        home=0.3,
        damping=0.5,
        friction=0.1,
        limits=JointLimits(-2, 2, velocity=1, effort=50),
        drive=Drive(1e-4, 1e4, ratio=100, form="geared", role="torque"),
    )
    assert model.joints[1].role == "locked"
    assert model.tanks == (
        Tank("tank", "bus", 100.0, 0.4, (0, 0, 0.2), stiffness=(5, 5), damping=(0.1, 0.2)),
    )
    assert model.wheels == (Wheel("wheel_x", "bus", (1, 0, 0), 0.05, speed=100, max_torque=0.2),)
    assert model.thrusters == (Thruster("jet", "bus", (0, 0, 1), (0.5, 0, 0), 10),)
    assert model.frames == (Frame("gripper", "link_2", Placement((0, 0, 0.1))),)
    held = Body("debris", 80, (0, 0, 0.3), (10, 0, 0, 12, 0, 8))
    assert model.targets == (Target(held, "link_2", Placement((0, 0, 0.1))),)
    assert model.sensors == (
        Sensor("gyro", "bus", 100, noise=1e-4, bias=(1e-5, 0, 0), coloured=Coloured(1e-5, 100)),
        Sensor("encoder", "arm_*", 50, quantisation=1e-4, delay=0.01, dropout=0.02),
    )
    assert model.capsules == (Capsule("link_1", (0, 0, 0), (0, 0, 0.5), 0.1),)
    assert model.orbit == Orbit(6.9e6)
    assert model.limits == Limits(0.2, 0.05)


def test_every_number_becomes_a_float():
    model = read_model_text(TOML)
    assert all(type(value) is float for value in model.bodies[0].inertia)
    assert type(model.sensors[1].rate) is float


def test_the_least_model_file():
    model = read_model_text(HEAD + BODY)
    assert model.root == Root("a", "floating")
    assert model.notes == ()


def test_one_inertia_of_a_flat_body():
    model = read_model_text(HEAD + '[root]\ntype = "planar"\n' + BODY.replace("[1, 1, 1]", "0.3"))
    assert model.bodies[0].inertia == (0.15, 0.0, 0.0, 0.15, 0.0, 0.3)


@pytest.fixture
def beside_urdf(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF, encoding="utf-8")

    def read(text: str):
        path = tmp_path / "m.toml"
        path.write_text(HEAD + 'urdf = "arm.urdf"\n' + text, encoding="utf-8")
        return load_model(path)

    return read


def test_a_urdf_beside_gives_bodies_joints_and_root(beside_urdf):
    model = beside_urdf("")
    assert model.name == "m"
    assert model.root == Root("bus", "floating")
    assert len(model.bodies) == 4
    assert "urdf.kept" in codes_of(model.notes)
    assert model.extras[0].startswith("version=")


def test_entries_add_to_the_urdf(beside_urdf):
    model = beside_urdf(
        '[root]\ntype = "fixed"\n[[body]]\nname = "link_1"\nmass = 7\n'
        '[[body]]\nname = "wing"\nmass = 3\n'
        '[[joint]]\nname = "arm_1"\nrole = "torque"\nhome = 0.2\nlimits = { acceleration = 5 }\n'
        '[[joint]]\nname = "arm_2"\ndrive = { inertia = 0.1, stiffness = 100 }\n'
        '[[joint]]\nname = "hinge"\ntype = "revolute"\nparent = "bus"\nchild = "wing"\n'
    )
    assert model.root.type == "fixed"
    changed = model.body("link_1")
    assert (changed.mass, changed.com) == (7.0, (0.0, 0.0, 0.2))  # what is not said stays
    assert [body.name for body in model.bodies][-1] == "wing"
    first = model.joint("arm_1")
    assert (first.role, first.home, first.damping) == ("torque", 0.2, 0.1)
    assert first.limits == JointLimits(-2.6, 2.6, 0.6, 5.0, effort=80.0)
    assert model.joint("arm_2").role == "passive"
    assert model.joint("hinge").child == "wing"


def test_a_urdf_joint_is_not_moved(beside_urdf):
    with refused(ModelError, "value.conflict"):
        beside_urdf('[[joint]]\nname = "arm_1"\naxis = [0, 1, 0]\n')


def test_a_joint_of_no_urdf_needs_its_ends(beside_urdf):
    with refused(ModelError, *["key.missing"] * 3):
        beside_urdf('[[joint]]\nname = "arm_11"\nrole = "torque"\n')


def test_faults_of_the_joined_model_name_the_right_file(beside_urdf, tmp_path):
    with pytest.raises(ModelError) as caught:
        beside_urdf('[[body]]\nname = "tool"\ncom = [1, 0, 0]\n')
    assert caught.value.faults[0].place == 'm.toml: body[0] "tool".com (line 6)'
    broken = URDF.replace('xyz="0 0 1"', 'xyz="0 0 2"')
    (tmp_path / "arm.urdf").write_text(broken, encoding="utf-8")
    assert beside_urdf('[[joint]]\nname = "arm_1"\nhome = 1\n').joints[0].axis == (0, 0, 1)
    with pytest.raises(ModelError) as caught:
        load_model(tmp_path / "m.toml", strict=True)
    assert caught.value.faults[0].place == "arm.urdf:31: joint 'arm_1'.axis"


def test_a_text_without_a_folder_may_name_no_urdf():
    with refused(ModelError, "file.outside"):
        read_model_text(HEAD + 'urdf = "a.urdf"\n' + BODY)


def test_pydantic_is_loaded_only_for_model_files():
    code = "import sys, freefloat.model; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize(
    "text",
    ["", "body = 3", "body = [1]", "body = [[]]", "body = {}", "root = 1", "joint = [{}]",
     "name = 1", "urdf = 1", "urdf = ''", "limits = []", "sensor = [[1], {}]",
     "format = 1979-05-27", "gravity = 0x" + "f" * 5000, "name = 0x" + "f" * 5000, "extras = [1]",
     "orbit = 'x'"],
)  # fmt: skip
def test_odd_shapes_are_told_as_faults(text):
    with pytest.raises(ModelError) as caught:
        read_model_text(text)
    assert caught.value.faults
