"""A URDF written like the one it was read from: what did not change stays word for word."""

from __future__ import annotations

from dataclasses import replace
from difflib import ndiff

import pytest
from fault_codes import refused
from model_samples import URDF

from freefloat.errors import ModelError
from freefloat.model import Frame, Model, load_model

SOURCE = URDF.replace('<link name="tool"/>', '<!-- the tool: 0.0 kg -->\n  <link name="tool"/>')


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def changed_lines(text: str) -> list[str]:
    return [line for line in ndiff(SOURCE.splitlines(), text.splitlines()) if line[0] in "+-"]


def write(model: Model, robot) -> str:
    out = robot.with_name("new.urdf")
    model.save(out, like=robot)
    assert load_model(out).bodies == model.bodies
    assert load_model(out).joints == model.joints
    return out.read_text(encoding="utf-8")


def test_nothing_new_is_the_same_file(robot):
    assert write(load_model(robot), robot) == SOURCE


def test_only_the_inertial_of_a_body_and_the_friction_of_a_joint_change(robot):
    model = load_model(robot)
    heavier = replace(model.body("link_1"), mass=7.25)
    text = write(model.with_body(heavier).with_joint("arm_1", damping=0.5), robot)
    kept = [line for line in SOURCE.splitlines() if "<!--" in line or "transmission" in line]
    assert all(line in text for line in kept) and "hull &amp; panels" in text
    old = [line[2:].strip() for line in changed_lines(text) if line[0] == "-"]
    assert old == [
        '<origin xyz="0 0 0.2"/>', '<mass value="6"/>',
        '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.25" iyz="0" izz="0.1"/>',
        '<dynamics damping="0.1" friction="0.02"/>',
    ]  # fmt: skip


def test_what_was_not_there_is_added_and_a_moved_joint_is_written_whole(robot):
    model = load_model(robot)
    tool = replace(model.body("tool"), mass=0.5, inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    text = write(model.with_body(tool).with_joint("arm_2", damping=0.25), robot)
    assert '<dynamics damping="0.25" friction="0.0"/>' in text
    moved = replace(model.joint("mount"), placement=replace(model.joint("arm_1").placement))
    joints = tuple(moved if j.name == "mount" else j for j in model.joints)
    write(replace(model, joints=joints), robot)


def test_names_that_were_replaced_are_written_as_they_are_read(robot):
    robot.write_text(SOURCE.replace('"link_1"', '"link.1"'), encoding="utf-8")
    model = load_model(robot)
    write(model.with_body(replace(model.body("link_1"), mass=7.0)), robot)


def test_what_urdf_cannot_say_is_named_at_the_end(robot):
    model = load_model(robot)
    camera = replace(model, frames=(Frame("camera", "bus"),))
    out = robot.with_name("new.urdf")
    camera.save(out, like=robot)
    assert changed_lines(out.read_text()) == [
        "+   <!-- Not in this file, because URDF cannot say it: that camera are targets or frames"
        " and not bodies of the robot. -->"]  # fmt: skip


def test_other_parts_other_folders_and_unphysical_bodies_are_refused(robot, tmp_path):
    model = load_model(robot)
    fewer = replace(model, bodies=model.bodies[:-1], joints=model.joints[:-1])
    with refused(ModelError, "urdf.parts", "urdf.parts"):
        fewer.save(robot.with_name("new.urdf"), like=robot)
    bad = replace(model.bodies[0], inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 5.0))
    with refused(ModelError, "model.inertia"):
        model.with_body(bad).save(robot.with_name("new.urdf"), like=robot)
    (tmp_path / "there").mkdir()
    with refused(ModelError, "urdf.source"):
        model.save(tmp_path / "there" / "new.urdf", like=robot)
    with refused(ModelError, "file.suffix"):
        model.save(robot.with_name("new.xml"), like=robot)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["robot.urdf", "there"]
