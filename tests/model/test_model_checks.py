"""What a Model built in code must be: every fault at once, and nothing sound refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_samples import TOML, URDF
from systems import random_model

from freefloat.errors import ModelError
from freefloat.model import (
    Body,
    Drive,
    Frame,
    Joint,
    JointLimits,
    Model,
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
from freefloat.model.assembly import placement_from, rigid
from freefloat.model.checks import sensor_targets, structure_faults
from freefloat.model.model_file import read_model_text
from freefloat.model.urdf import read_urdf

SOUND = read_model_text(TOML)


def told(model: Model) -> list[str]:
    return [str(fault) for fault in structure_faults(model)]


@pytest.mark.parametrize("seed", range(20))
def test_sound_models_have_no_faults(seed):
    assert told(random_model(seed)) == []


def test_the_samples_have_no_faults():
    assert told(SOUND) == []
    assert told(read_urdf(URDF)) == []


BODY = SOUND.bodies[0]
JOINT = SOUND.joints[0]
NAN = float("nan")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": ""}, "name: got 0 characters"),
        ({"name": "a\nb"}, r"name: got 'a\\nb'"),
        ({"bodies": (*SOUND.bodies, BODY)}, "body 'bus': got 2 parts of that name"),
        ({"bodies": (*SOUND.bodies, Body("loose", 1.0))}, "body 'loose': got not connected"),
        ({"bodies": (*SOUND.bodies[:2], Body("link_2", NAN))}, "body 'link_2'.mass: got nan"),
        ({"bodies": (replace(BODY, com=(1e60, 0, 0)), *SOUND.bodies[1:])}, "'bus'.com: got 1e+60"),
        ({"root": Root("link_1")}, "root.body: got link_1; expected a body that no joint carries"),
        ({"root": Root("bus", linear_drag=NAN)}, "root.linear_drag: got nan"),
        ({"gravity": (0, 0, float("inf"))}, "gravity: got inf"),
        ({"joints": (replace(JOINT, friction_speed=0), SOUND.joints[1])}, "friction_speed: got 0"),
        ({"joints": (replace(JOINT, placement=Placement((NAN, 0, 0))), SOUND.joints[1])},
         "joint 'arm_1'.xyz: got nan"),
        ({"joints": (replace(JOINT, limits=JointLimits(velocity=-1)), SOUND.joints[1])},
         "joint 'arm_1'.limits.velocity: got -1"),
        ({"joints": (replace(JOINT, drive=Drive(0.0, 1.0)), SOUND.joints[1])},
         "joint 'arm_1'.drive.inertia: got 0"),
        ({"joints": (JOINT, replace(SOUND.joints[1], type="fixed", drive=Drive(1, 1)))},
         "none on a fixed joint"),
        ({"tanks": (Tank("bus", "bus", 1, 1),)}, "body 'bus': got 2 parts"),
        ({"tanks": (Tank("t", "gone", 1, 1),)}, "tank 't'.body: got 'gone'"),
        ({"tanks": (Tank("t", "bus", 1, 1, direction=(0, 0, 0)),)}, "tank 't'.direction"),
        ({"tanks": (Tank("t", "bus", 1, 1, damping=(0, -1)),)}, "tank 't'.damping: got -1"),
        ({"tanks": (Tank("t", "bus", 1, 1), Tank("t_1", "bus", 1, 1)),
          "bodies": (*SOUND.bodies, Body("t_link"))}, "one is made for a tank"),
        ({"wheels": (Wheel("w", "bus", (1, 0, 0), -1),)}, "wheel 'w'.inertia: got -1"),
        ({"thrusters": (Thruster("t", "bus", (1, 1, 0)),)}, "thruster 't'.direction"),
        ({"targets": (Target(Body("t", 1), "nowhere"),)}, "target 't'.on: got 'nowhere'"),
        ({"frames": (Frame("bus", "bus"), Frame("gripper", "link_2"))}, "body 'bus': got 2 parts"),
        ({"sensors": (SOUND.sensors[0], SOUND.sensors[0])}, "the same channel as sensor[0]"),
        ({"sensors": (Sensor("encoder", "*", 1, channel="x"),)}, "one channel for many"),
        ({"sensors": (Sensor("gyro", "link_*", 1),)}, "expected one body or frame"),
        ({"sensors": (Sensor("gyro", "bus", 1, bias=(1, 2)),)}, "3 numbers"),
        ({"sensors": (Sensor("gyro", "bus", 1, dropout=1.0),)}, "0 <= dropout < 1"),
        ({"orbit": Orbit(1e7, radial=(1, 0, 0), normal=(1, 0, 0))}, "square to radial"),
    ],
)  # fmt: skip
def test_each_fault_is_found(changes, fault):
    faults = told(replace(SOUND, **changes))
    assert any(fault.replace("\\\\", "\\") in text for text in faults), faults
    with pytest.raises(ModelError):
        _ = replace(SOUND, **changes).assembly


def test_a_floating_robot_needs_mass():
    assert "no body has mass" in told(Model("m", Root("a"), (Body("a"),)))[0]
    assert told(Model("m", Root("a", "fixed"), (Body("a"),))) == []


def test_what_hangs_on_a_missing_body_is_one_fault():
    chain = [Body(name, 1.0) for name in "abcd"]
    joints = [Joint(f"j{p}{c}", "fixed", p, c) for p, c in (("a", "b"), ("x", "c"), ("c", "d"))]
    faults = told(Model("m", Root("a"), tuple(chain), tuple(joints)))
    assert len(faults) == 1
    assert "joint 'jxc'.parent: got 'x'" in faults[0]


def test_a_rod_on_a_wheel_axis_does_not_refuse_a_fitting_wheel():
    body = Body("a", 1.0, inertia=(0.5, 0.0, 0.0, 0.5, 0.0, 1.0))
    model = Model("m", Root("a"), (body,), wheels=(Wheel("w", "a", (0, 0, 1), 1.0),))
    assert told(model) == []


def test_sensors_find_their_parts():
    find = {s.kind: sensor_targets(SOUND, s) for s in SOUND.sensors}
    assert find == {"gyro": ["bus"], "encoder": ["arm_1"]}
    assert sensor_targets(SOUND, Sensor("encoder", "tank_?", 1.0)) == ["tank_1", "tank_2"]
    assert sensor_targets(SOUND, Sensor("motor_rate", "*", 1.0)) == ["arm_1"]
    assert sensor_targets(SOUND, Sensor("thruster", "j[ae]t", 1.0)) == ["jet"]
    assert sensor_targets(SOUND, Sensor("gyro", "gripper", 1.0)) == ["gripper"]


def test_assembly_puts_parents_first_and_keeps_the_order_of_the_file():
    names = ["d", "c", "b", "a"]
    bodies = tuple(Body(name, 1.0) for name in names)
    pairs = [("b", "c"), ("a", "d"), ("a", "b")]
    joints = tuple(Joint(f"{p}{c}", "revolute", p, c) for p, c in pairs)
    assembly = Model("m", Root("a"), bodies, joints).assembly
    assert [joint.name for joint in assembly.joints] == ["ad", "ab", "bc"]
    assert [body.name for body in assembly.bodies] == ["a", "d", "b", "c"]


def test_assembly_spells_out_tanks_targets_drives_and_wheels():
    assembly = SOUND.assembly
    names = [coordinate.name for coordinate in assembly.coordinates]
    assert names == ["arm_1", "slide", "tank_1", "tank_2", "wheel_x", "arm_1.motor"]
    assert assembly.index("tank_2") == 3
    with pytest.raises(ModelError, match="known: arm_1"):
        assembly.index("arm_9")
    assert sum(body.mass for body in assembly.bodies) == pytest.approx(SOUND.mass)
    fuel = next(body for body in assembly.bodies if body.name == "tank")
    assert fuel.com == (0.0, 0.0, -0.4)


def test_rigid_freezes_what_is_soft():
    frozen = rigid(SOUND)
    assert told(replace(frozen, sensors=())) == []
    assert frozen.tanks == ()
    assert frozen.mass == pytest.approx(SOUND.mass)
    assert all(joint.drive is None and joint.role != "passive" for joint in frozen.joints)


def test_placement_from_gives_back_the_rotation():
    place = Placement((1.0, 2.0, 3.0), (0.3, -0.4, 2.5))
    again = placement_from(place.rotation, place.position)
    np.testing.assert_allclose(again.rpy, place.rpy, atol=1e-14)
    assert again.xyz == place.xyz


def test_an_attitude_does_not_clip() -> None:
    """A saturation there would be silently ignored otherwise."""
    model = load_model("cbk-arm")
    clipped = replace(model, sensors=(Sensor("attitude", "bus", 10.0, saturation=1e-3),))
    assert any("saturation" in fault.place for fault in structure_faults(clipped))
