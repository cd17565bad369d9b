"""What a Model built in code must be: every fault at once, and nothing sound refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fault_codes import refused
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
from freefloat.model.assembly import rigid
from freefloat.model.checks import sensor_targets, structure_faults
from freefloat.model.model_file import read_model_text
from freefloat.model.urdf import read_urdf

SOUND = read_model_text(TOML)


def faults_of(model: Model) -> list[tuple[str, str]]:
    return [(fault.place, fault.code) for fault in structure_faults(model)]


@pytest.mark.parametrize("seed", range(20))
def test_sound_models_have_no_faults(seed):
    assert faults_of(random_model(seed)) == []


def test_the_samples_have_no_faults():
    assert faults_of(SOUND) == []
    assert faults_of(read_urdf(URDF)) == []


BODY = SOUND.bodies[0]
JOINT = SOUND.joints[0]
NAN = float("nan")


@pytest.mark.parametrize(
    ("changes", "place", "code"),
    [
        ({"name": ""}, "name", "name.form"),
        ({"name": "a\nb"}, "name", "name.form"),
        ({"bodies": (*SOUND.bodies, BODY)}, "body 'bus'", "name.duplicate"),
        ({"bodies": (*SOUND.bodies, Body("loose", 1.0))}, "body 'loose'", "model.unconnected"),
        ({"bodies": (*SOUND.bodies[:2], Body("link_2", NAN))}, "body 'link_2'.mass", "value.range"),
        (
            {"bodies": (replace(BODY, com=(1e60, 0, 0)), *SOUND.bodies[1:])},
            "body 'bus'.com",
            "value.range",
        ),
        ({"root": Root("link_1")}, "root.body", "model.loop"),
        ({"root": Root("bus", linear_drag=NAN)}, "root.linear_drag", "value.range"),
        ({"gravity": (0, 0, float("inf"))}, "gravity", "value.range"),
        (
            {"joints": (replace(JOINT, friction_speed=0), SOUND.joints[1])},
            "joint 'arm_1'.friction_speed",
            "value.range",
        ),
        (
            {"joints": (replace(JOINT, placement=Placement((NAN, 0, 0))), SOUND.joints[1])},
            "joint 'arm_1'.xyz",
            "value.range",
        ),
        (
            {"joints": (replace(JOINT, limits=JointLimits(velocity=-1)), SOUND.joints[1])},
            "joint 'arm_1'.limits.velocity",
            "value.range",
        ),
        (
            {"joints": (replace(JOINT, drive=Drive(0.0, 1.0)), SOUND.joints[1])},
            "joint 'arm_1'.drive.inertia",
            "value.range",
        ),
        (
            {"joints": (JOINT, replace(SOUND.joints[1], type="fixed", drive=Drive(1, 1)))},
            "joint 'slide'.drive",
            "value.conflict",
        ),
        ({"tanks": (Tank("bus", "bus", 1, 1),)}, "body 'bus'", "name.duplicate"),
        ({"tanks": (Tank("t", "gone", 1, 1),)}, "tank 't'.body", "name.unknown"),
        (
            {"tanks": (Tank("t", "bus", 1, 1, direction=(0, 0, 0)),)},
            "tank 't'.direction",
            "value.norm",
        ),
        ({"tanks": (Tank("t", "bus", 1, 1, damping=(0, -1)),)}, "tank 't'.damping", "value.range"),
        (
            {
                "tanks": (Tank("t", "bus", 1, 1), Tank("t_1", "bus", 1, 1)),
                "bodies": (*SOUND.bodies, Body("t_link")),
            },
            "body 't_link'",
            "name.duplicate",
        ),
        ({"wheels": (Wheel("w", "bus", (1, 0, 0), -1),)}, "wheel 'w'.inertia", "value.range"),
        ({"thrusters": (Thruster("t", "bus", (1, 1, 0)),)}, "thruster 't'.direction", "value.norm"),
        ({"targets": (Target(Body("t", 1), "nowhere"),)}, "target 't'.on", "name.unknown"),
        (
            {"frames": (Frame("bus", "bus"), Frame("gripper", "link_2"))},
            "body 'bus'",
            "name.duplicate",
        ),
        ({"sensors": (SOUND.sensors[0], SOUND.sensors[0])}, "sensor[1] (gyro)", "name.duplicate"),
        (
            {"sensors": (Sensor("encoder", "*", 1, channel="x"),)},
            "sensor[0] (encoder)",
            "name.duplicate",
        ),
        ({"sensors": (Sensor("gyro", "link_*", 1),)}, "sensor[0] (gyro).on", "value.count"),
        (
            {"sensors": (Sensor("gyro", "bus", 1, bias=(1, 2)),)},
            "sensor[0] (gyro).bias",
            "value.count",
        ),
        (
            {"sensors": (Sensor("gyro", "bus", 1, dropout=1.0),)},
            "sensor[0] (gyro).dropout",
            "value.range",
        ),
        (
            {"orbit": Orbit(1e7, radial=(1, 0, 0), normal=(1, 0, 0))},
            "orbit.normal",
            "value.conflict",
        ),
    ],
)
def test_each_fault_is_found(changes, place, code):
    found = faults_of(replace(SOUND, **changes))
    assert (place, code) in found, found
    with pytest.raises(ModelError):
        _ = replace(SOUND, **changes).assembly


def test_a_floating_robot_needs_mass():
    assert faults_of(Model("m", Root("a"), (Body("a"),))) == [("root.type", "model.massless")]
    assert faults_of(Model("m", Root("a", "fixed"), (Body("a"),))) == []


def test_what_hangs_on_a_missing_body_is_one_fault():
    chain = [Body(name, 1.0) for name in "abcd"]
    joints = [Joint(f"j{p}{c}", "fixed", p, c) for p, c in (("a", "b"), ("x", "c"), ("c", "d"))]
    faults = faults_of(Model("m", Root("a"), tuple(chain), tuple(joints)))
    assert faults == [("joint 'jxc'.parent", "name.unknown")]


def test_a_rod_on_a_wheel_axis_does_not_refuse_a_fitting_wheel():
    body = Body("a", 1.0, inertia=(0.5, 0.0, 0.0, 0.5, 0.0, 1.0))
    model = Model("m", Root("a"), (body,), wheels=(Wheel("w", "a", (0, 0, 1), 1.0),))
    assert faults_of(model) == []


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
    with refused(ModelError, "name.unknown") as caught:
        assembly.index("arm_9")
    assert "arm_1" in caught.value.faults[0].expected
    assert sum(body.mass for body in assembly.bodies) == pytest.approx(SOUND.mass)
    fuel = next(body for body in assembly.bodies if body.name == "tank")
    assert fuel.com == (0.0, 0.0, -0.4)


def test_rigid_freezes_what_is_soft():
    frozen = rigid(SOUND)
    assert faults_of(replace(frozen, sensors=())) == []
    assert frozen.tanks == ()
    assert frozen.mass == pytest.approx(SOUND.mass)
    assert all(joint.drive is None and joint.role != "passive" for joint in frozen.joints)


def test_an_attitude_does_not_clip() -> None:
    """A saturation there would be silently ignored otherwise."""
    model = load_model("cbk-arm")
    clipped = replace(model, sensors=(Sensor("attitude", "bus", 10.0, saturation=1e-3),))
    assert any("saturation" in fault.place for fault in structure_faults(clipped))
