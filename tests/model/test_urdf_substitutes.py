"""What a URDF says in no usable way: the one safe reading is taken and noted, or it is a fault."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused
from model_samples import URDF

from freefloat.errors import ModelError
from freefloat.model import inertia as inertial
from freefloat.model.urdf import read_urdf
from freefloat.model.urdf_write import write_urdf
from freefloat.notes import codes_of

AXIS = '<axis xyz="0 0 1"/>'
TOOL = '<link name="tool"/>'
SIX = '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.25" iyz="0" izz="0.1"/>'


def spoil(old: str, new: str) -> str:
    assert URDF.count(old) >= 1
    return URDF.replace(old, new)


# what is wrong, what is noted, the place it names, and the code it is refused by when strict
CASES = {
    "mimic": (AXIS, AXIS + '<mimic joint="arm_2" offset="0.5"/>', "mimic",
              "joint 'arm_1' <mimic> (line 31)", "urdf.mimic"),
    "unknown attribute": (AXIS, '<axis xyz="0 0 1" colour="red"/>', "unknown_part",
                          "joint 'arm_1' <axis> colour (line 31)", "key.unknown"),
    "unknown element": (AXIS, '<axis xyz="0 0 1"><gear/></axis>', "unknown_part",
                        "joint 'arm_1' <gear> (line 31)", "key.unknown"),
    "stray text": (TOOL, '<link name="tool">5 kg</link>', "text",
                   "link 'tool' <link> (line 26)", "urdf.text"),
    "triangle": ('izz="0.1"', 'izz="0.46"', "inertia",
                 "link 'link_1' (line 17) by 1", "model.inertia"),
    "long axis": (AXIS, '<axis xyz="0 0 2"/>', "axis",
                  "joint 'arm_1' (line 31) of 2", "value.norm"),
    "friction that drives": (
        'damping="0.1" friction="0.02"', 'damping="-0.5" friction="-0.25"', "friction",
        "joint 'arm_1' (line 33) damping -0.5, friction -0.25", "value.range"),
    "negative limit": ('upper="2.6" effort="80"', 'upper="2.6" effort="-1"', "limit",
                       "joint 'arm_1' (line 32) effort -1", "value.range"),
    "swapped limits": ('lower="-2.6"', 'lower="5"', "limit",
                       "joint 'arm_1' (line 32) 5 .. 2.6", "value.order"),
    "axis of a fixed joint": ('<child link="tool"/>', '<child link="tool"/><axis xzy="0 1 0"/>',
                              "unknown_part", "joint 'mount' <axis> (line 45)",
                              "key.unknown key.missing"),
    "no robot name": ('name="sample"', "", "name", "line 2", "key.missing"),
    "inertia without mass": (
        TOOL, f'<link name="tool"><inertial><mass value="0"/>{SIX}</inertial></link>', "no_mass",
        "link 'tool' (line 26)", "model.inertia"),
    "com without mass": (
        TOOL, '<link name="tool"><inertial><origin xyz="0 0 1"/><mass value="0"/>'
        + SIX.replace("0.25", "0").replace("0.2", "0").replace("0.1", "0")
        + "</inertial></link>", "no_mass", "link 'tool' (line 26)", "model.massless"),
    "late declaration": ('<?xml version="1.0"?>', '<!-- ours -->\n<?xml version="1.0"?>',
                         "declaration", "line 2", "file.syntax"),
    "dotted names": ('"arm_1"', '"arm.1"', "part_name",
                     "joint 'arm.1' (line 27) is 'arm_1'", "name.form"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_safe_reading_is_noted_with_its_place_and_strictly_refused(case):
    old, new, code, place, strict_code = case
    text = spoil(old, new)
    model = read_urdf(text)
    (note,) = [note for note in model.notes if note.code == f"substituted.{code}"]
    assert place in note
    with pytest.raises(ModelError) as caught:
        read_urdf(text, strict=True)
    assert set(caught.value.codes) == set(strict_code.split())
    again = read_urdf(write_urdf(model))  # what was substituted holds together
    assert (again.bodies, [j.axis for j in again.joints]) == (
        model.bodies, [j.axis for j in model.joints])  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('value="6"', 'value="1,5"', "value.type"),  # numbers are numbers for ever
        (AXIS, '<axis xyz="0 0 1,5"/>', "value.type"),
        ('value="6"', 'value="-6"', "model.inertia"),
        (AXIS, '<axis xyz="0 0 0"/>', "value.norm"),
        (AXIS, '<axis xxyz="0 0 1"/>', "key.unknown"),  # misspelt: two readings are possible
        ('ixx="0.2"', 'ixx="0.2" Ixx="0.3"', "key.unknown"),
        ('"arm_1"', '"arm_2"', "name.duplicate"),
        (AXIS, AXIS + '<mimic joint="arm_2" offset="half"/>', "value.type"),
    ],
)
def test_what_has_no_safe_reading_is_refused(old, new, code):
    with pytest.raises(ModelError) as caught:
        read_urdf(spoil(old, new))
    assert code in caught.value.codes


def test_an_inertia_that_is_wrong_through_and_through_is_refused():
    spoilt = SIX.replace('"0.2', '"-0.2').replace('"0.1"', '"-0.1"')
    body = f'<link name="tool"><inertial><mass value="2"/>{spoilt}</inertial></link>'
    with refused(ModelError, "model.inertia"):
        read_urdf(spoil(TOOL, body))


def test_the_closest_inertia_is_the_closest():
    rng = np.random.default_rng(4)
    for _ in range(50):
        given = rng.normal(size=6)
        six, distance = inertial.closest_inertia(given)
        found = inertial.tensor(six)
        assert not inertial.inconsistency(inertial.phi_from_com(1.0, (0, 0, 0), six))
        gap = np.linalg.norm(found - inertial.tensor(given))
        # both are the same norm of numbers near one
        assert distance * np.linalg.norm(inertial.tensor(given)) == pytest.approx(gap, abs=1e-12)
        for _ in range(20):  # no body near it is closer
            points = rng.normal(size=(3, 4)) * 0.1
            near = found + np.trace(points @ points.T) * np.eye(3) - points @ points.T
            # the projection is exact to rounding
            assert np.linalg.norm(near - inertial.tensor(given)) >= gap - 1e-12


def test_a_physical_inertia_keeps_its_bits():
    assert read_urdf(URDF) == read_urdf(URDF, strict=True)
    assert not any(code.startswith("substituted.") for code in codes_of(read_urdf(URDF).notes))


def test_names_are_replaced_wherever_they_stand_but_numbers_and_files_never():
    text = spoil('"arm_1"', '"arm.1"').replace('<link name="tool"/>', '<link name="tool"><visual>'
        '<geometry><mesh filename="arm.1"/></geometry></visual></link>')  # fmt: skip
    text = text.replace("<type>simple</type>", '<joint name="arm.1"/>')
    model = read_urdf(text)
    assert model.joint("arm_1").child == "link_1"
    assert '<joint name="arm_1"/>' in str(model.extras)
    assert 'filename="arm.1"' in model.body("tool").extras[0]
    with refused(ModelError, "name.form"):
        read_urdf(spoil('"tool"', '"6.0"'))  # it might be a value elsewhere


def test_a_mimicking_joint_is_locked_where_the_other_one_at_zero_puts_it():
    joint = read_urdf(spoil(AXIS, AXIS + '<mimic joint="arm_2" offset="0.5"/>')).joint("arm_1")
    assert (joint.role, joint.home) == ("locked", 0.5)
    assert '<mimic joint="arm_2" offset="0.5"/>' in joint.extras


BODY = '<inertial><mass value="{}"/>' + SIX + "</inertial>"
TREE = """<robot name="r"><link name="world"/><link name="a">{a}</link><link name="b">{b}</link>
<joint name="j" type="{j}"><parent link="world"/><child link="a"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/></joint></robot>"""


def test_the_bus_is_the_first_body_with_mass():
    model = read_urdf(TREE.format(a=BODY.format(5), b=BODY.format(9), j="fixed"))
    assert (model.root.body, model.root.type, model.bus) == ("world", "floating", "a")


def test_a_massless_root_with_moving_joints_is_held():
    text = TREE.format(a=BODY.format(5), b=BODY.format(9), j="revolute")
    model = read_urdf(text)
    assert (model.root.type, model.bus) == ("fixed", "world")
    assert "substituted.root" in codes_of(model.notes)
    assert read_urdf(text, strict=True).root.type == "floating"


def test_a_robot_without_any_mass_says_what_to_do():
    with refused(ModelError, "model.massless") as caught:
        read_urdf(TREE.format(a="", b="", j="fixed"))
    assert "<inertial>" in caught.value.faults[0].remedy
