"""Wheels of a URDF: declared by their joint's role, nothing copied."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import flatten
from freefloat.dynamics.equations import inverse_dynamics
from freefloat.errors import ModelError
from freefloat.model import load_model
from freefloat.model.urdf import read_urdf
from freefloat.notes import codes_of

URDF = """<robot name="w">
<link name="bus"><inertial><origin xyz="0.1 0 0"/><mass value="50"/>
  <inertia ixx="5" ixy="0.1" ixz="0" iyy="6" iyz="0" izz="7"/></inertial></link>
<link name="disc"><inertial><origin xyz="0 0 0.02"/><mass value="4"/>
  <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.05"/></inertial></link>
<joint name="rw" type="continuous"><origin xyz="0.2 -0.1 0.3" rpy="0.4 0.5 0.6"/>
  <parent link="bus"/><child link="disc"/><axis xyz="0 0 1"/>
  <limit velocity="600" effort="0.2"/></joint></robot>"""
TOML = 'format = 1\nname = "w"\nurdf = "w.urdf"\n[[joint]]\nname = "rw"\nrole = "wheel"\n'


@pytest.fixture
def load(tmp_path):
    def write(urdf: str = URDF, toml: str = TOML):
        (tmp_path / "w.urdf").write_text(urdf, encoding="utf-8")
        (tmp_path / "w.toml").write_text(toml, encoding="utf-8")
        return load_model(tmp_path / "w.toml")

    return write


def test_a_declared_wheel_moves_as_its_joint_does(load):
    model, plain = load(), read_urdf(URDF)
    (wheel,) = model.wheels
    assert (wheel.name, wheel.body, wheel.inertia) == ("rw", "bus", 0.05)
    assert (wheel.max_speed, wheel.max_torque) == (600.0, 0.2)
    assert [body.name for body in model.bodies] == ["bus"] and not model.joints
    assert "joint.wheel" in codes_of(model.notes)
    rng = np.random.default_rng(1)
    rate, acceleration = rng.normal(size=(1, 3)), rng.normal(size=(1, 6))
    spin = np.array([[[0.7, 30.0, 5.0]]])
    ours = inverse_dynamics(flatten(model), rate, acceleration, spin)
    theirs = inverse_dynamics(flatten(plain), rate, acceleration, spin)
    # two ways to add up the same numbers
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('iyy="0.03"', 'iyy="0.04"'),  # not round
        ('xyz="0 0 0.02"', 'xyz="0.01 0 0.02"'),  # not balanced
        ('type="continuous"', 'type="prismatic"'),
        ("</robot>", '<link name="t"/><joint name="x" type="fixed"><parent link="disc"/>'
         '<child link="t"/></joint></robot>'),
    ],
)  # fmt: skip
def test_what_is_no_wheel_is_refused_with_the_line_of_the_role(load, old, new):
    assert old in URDF
    with refused(ModelError, "model.wheel") as caught:
        load(URDF.replace(old, new))
    assert "(line 6)" in caught.value.faults[0].place


def test_sensors_may_sit_on_it(load):
    sensor = '[[sensor]]\nkind = "wheel_speed"\non = "rw"\nrate = 10.0\n'
    assert load(toml=TOML + sensor).sensors[0].on == "rw"
