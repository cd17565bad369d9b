"""The URDF reader: what it takes from a file, what it keeps, and that Pinocchio agrees."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused
from model_samples import URDF

from freefloat.errors import ModelError
from freefloat.model import Body, JointLimits, Placement, Root, load_model
from freefloat.model import inertia as inertial
from freefloat.model.urdf import read_urdf
from freefloat.model.urdf_write import write_urdf
from freefloat.notes import codes_of

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)


def robot(content: str) -> str:
    return f'<robot name="r"><link name="a">{INERTIAL}</link>{content}</robot>'


def joint(kind: str, content: str = "") -> str:
    ends = '<parent link="a"/><child link="b"/>'
    return f'<link name="b"/><joint name="j" type="{kind}">{ends}{content}</joint>'


def test_reads_bodies_and_joints():
    model = read_urdf(URDF)
    assert model.name == "sample"
    assert model.root == Root("bus", "floating")
    assert [body.name for body in model.bodies] == ["bus", "link_1", "link_2", "tool"]
    assert model.body("link_1") == Body("link_1", 6.0, (0, 0, 0.2), (0.2, 0, 0, 0.25, 0, 0.1))
    first, second, mount = model.joints
    assert first.placement == Placement((0.6, 0.1, 0.5), (0.0, 0.0, 1.5))
    assert first.limits == JointLimits(-2.6, 2.6, velocity=0.6, effort=80.0)
    assert (first.damping, first.friction, first.role) == (0.1, 0.02, "motion")
    assert (second.type, second.axis) == ("revolute", (0.0, 1.0, 0.0))
    assert second.limits == JointLimits(velocity=0.6, effort=80.0)
    assert (mount.type, mount.parent, mount.child) == ("fixed", "link_2", "tool")


def test_notes_say_what_is_kept_but_not_used():
    notes = read_urdf(URDF).notes
    assert codes_of(notes) == ("urdf.kept", "urdf.massless")
    kept, massless = notes
    for what in ("1 <visual>", "1 <collision>", "1 <transmission>", "1 <material>", "version"):
        assert what in kept
    assert massless.endswith("tool")


def test_inertia_is_turned_into_body_axes():
    body = read_urdf(URDF).body("bus")
    R = Placement(rpy=(0.1, 0.2, -0.3)).rotation
    given = inertial.tensor([22.0, 0.8, -0.5, 25.0, 0.6, 19.0])
    # one rotation of numbers near 20: a few units in the last place
    np.testing.assert_allclose(inertial.tensor(body.inertia), R @ given @ R.T, rtol=1e-14)
    assert body.com == (0.1, -0.02, 0.3)


def test_pinocchio_reads_the_same_robot():
    pin = pytest.importorskip("pinocchio")
    mine, other = read_urdf(URDF), pin.buildModelFromXML(URDF, pin.JointModelFreeFlyer())
    for name, at in (("bus", "root_joint"), ("link_1", "arm_1"), ("link_2", "arm_2")):
        theirs = other.inertias[other.getJointId(at)]
        mass, com, six = inertial.com_from_phi(mine.body(name).phi)
        assert mass == theirs.mass
        # moved to the origin and back again
        np.testing.assert_allclose(com, theirs.lever, atol=1e-12)
        np.testing.assert_allclose(inertial.tensor(six), theirs.inertia, atol=1e-12)
    for name in ("arm_1", "arm_2"):
        placement = other.jointPlacements[other.getJointId(name)]
        np.testing.assert_allclose(mine.joint(name).placement.rotation, placement.rotation)
        np.testing.assert_allclose(mine.joint(name).placement.position, placement.translation)


def test_the_default_axis_is_that_of_urdf():
    assert read_urdf(robot(joint("revolute"))).joint("j").axis == (1.0, 0.0, 0.0)
    assert read_urdf(robot(joint("fixed"))).joint("j").axis == (0.0, 0.0, 1.0)


def test_huge_limits_mean_none():
    model = read_urdf(robot(joint("revolute", '<limit lower="-1e300" upper="2" effort="1e99"/>')))
    assert model.joint("j").limits == JointLimits(upper=2.0)


def test_missing_position_limits_are_noted():
    model = read_urdf(robot(joint("revolute", '<limit effort="1" velocity="2"/>')))
    assert model.joint("j").limits.lower is None
    assert "urdf.unlimited" in codes_of(model.notes)


def test_position_limits_of_a_continuous_joint_are_noted():
    model = read_urdf(robot(joint("continuous", '<limit lower="0" upper="1"/>')))
    assert model.joint("j").limits == JointLimits()
    assert "urdf.limits_ignored" in codes_of(model.notes)


def test_a_floating_joint_from_a_massless_world_is_the_root():
    text = robot(
        '<link name="world"/><joint name="free" type="floating"><origin xyz="0 0 9"/>'
        '<parent link="world"/><child link="a"/></joint>'
    )
    model = read_urdf(text)
    assert [body.name for body in model.bodies] == ["a"]
    assert (model.root, model.joints) == (Root("a", "floating"), ())
    assert "urdf.world" in codes_of(model.notes)


def test_a_robot_welded_to_the_world_is_noted():
    world = '<link name="world"/><joint name="w" type="fixed"><parent link="world"/>'
    model = read_urdf(robot(world + '<child link="a"/></joint>'))
    assert model.root.body == "world"
    assert "urdf.weld" in codes_of(model.notes)


@pytest.mark.parametrize(
    "content",
    [
        '<link name="b"/>',
        '<link name="b"/><joint name="j" type="fixed"><parent link="b"/><child link="b"/></joint>',
        '<link name="b"/><link name="c"/>'
        '<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint>'
        '<joint name="k" type="fixed"><parent link="c"/><child link="b"/></joint>',
    ],
)
def test_loose_bodies_and_loops_are_faults_with_lines(content):
    with pytest.raises(ModelError) as caught:
        read_urdf(robot(content))
    faults = {fault.place: (fault.code, fault.line) for fault in caught.value.faults}
    assert faults["URDF text:1: body 'b'"] == ("model.unconnected", 1)


def test_a_loop_without_a_root_is_one_fault():
    text = robot(joint("fixed")).replace(
        "</robot>",
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
    )
    with refused(ModelError, "model.loop"):
        read_urdf(text)


def test_a_robot_without_bodies_is_refused():
    with refused(ModelError, "key.missing"):
        read_urdf('<robot name="r"/>')


def test_somebody_elses_extensions_are_noted_not_refused():
    text = robot(joint("revolute", '<axis xyz="0 0 1" drake:gear="2"/>'))
    assert any("drake:gear" in note for note in read_urdf(text).notes)


def test_the_file_may_be_bytes_with_a_mark_or_another_declared_encoding(tmp_path):
    path = tmp_path / "é.urdf"
    path.write_bytes(b"\xef\xbb\xbf" + robot(joint("fixed")).replace('"r"', '"Ré"').encode())
    assert load_model(path).name == "Ré"
    path.write_bytes(robot("").replace('"r"', '"Ré"').encode("latin-1"))
    with refused(ModelError, "file.encoding") as caught:
        load_model(path)
    assert "é.urdf:1" in caught.value.faults[0].place


def test_windows_line_ends_are_counted_once(tmp_path):
    path = tmp_path / "a.urdf"
    path.write_bytes(URDF.replace('value="6"', 'value="six"').replace("\n", "\r\n").encode())
    with refused(ModelError, "value.type") as caught:
        load_model(path)
    assert caught.value.faults[0].line == 16


def test_extras_survive_windows_line_ends():
    text = robot("<gazebo>\r\n  <x/>\r\n</gazebo>")
    model = read_urdf(text)
    assert model.extras == ("<gazebo>\r\n  <x/>\r\n</gazebo>",)
    assert read_urdf(write_urdf(model)).extras == model.extras
