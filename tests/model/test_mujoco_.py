"""MJCF in and out: MuJoCo's own compiler reads it, its inverse dynamics are ours.

Robots are those that `gymnasium` ships; FREEFLOAT_MJCF names folders with more, to try by hand.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest
from fault_codes import refused
from robot_comparison import both_inverse_dynamics

from freefloat.errors import ModelError
from freefloat.model import Model, load_model
from freefloat.model.mujoco_ import compile_mjcf, read_mjcf
from freefloat.notes import codes_of

mujoco = pytest.importorskip("mujoco")

ROBOT = """<mujoco model="arm">
  <!-- ours -->
  <compiler angle="degree"/>
  <option gravity="0 0 0"/>
  <default><joint damping="0.5" frictionloss="0.1" armature="0.02"/><geom density="800"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="bus" pos="0 0 1">
      <freejoint/>
      <inertial pos="0.1 0 0" mass="20" diaginertia="2 3 4"/>
      <geom type="box" size=".2 .2 .2"/>
      <body name="l.1" pos="0.3 0 0" euler="10 20 90">
        <joint name="a" axis="0 0 1" pos="0.1 0 0.2" ref="30" range="-90 90"/>
        <joint name="b" type="slide" axis="0 1 0" stiffness="5" springref="0.2"/>
        <geom type="capsule" size=".04" fromto="0 0 0 0.5 0 0"/>
        <body name="l2" pos="0.5 0 0"><joint name="c" axis="1 0 0"/>
          <geom type="capsule" size=".03" fromto="0 0 0 0 0.4 0"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="a"/><motor joint="c"/></actuator>
</mujoco>
"""


def robot_files() -> list[Path]:
    try:
        found = [Path(str(file.locate())) for file in files("gymnasium") or ()]
    except PackageNotFoundError:
        found = []
    for folder in filter(None, os.environ.get("FREEFLOAT_MJCF", "").split(":")):
        found += Path(folder).rglob("*.xml")
    return sorted(path for path in found if path.suffix == ".xml" and _is_robot(path))


def _is_robot(path: Path) -> bool:
    """Whether MuJoCo reads it and something moves; worlds of props and fragments are none."""
    try:
        compiled = compile_mjcf(path)
    except ModelError:
        return False
    return compiled.njnt > 0 and not np.any(compiled.jnt_type == mujoco.mjtJoint.mjJNT_BALL)


ROBOTS = robot_files()


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ROBOT, encoding="utf-8")
    return path


@pytest.mark.skipif(not ROBOTS, reason="needs gymnasium")
@pytest.mark.promise("mjcf-as-it-is")
def test_mujoco_computes_the_same(figure):
    errors = {}
    for path in ROBOTS:
        ours, theirs = both_inverse_dynamics(path, load_model(path))
        errors[path.name] = np.abs(ours - theirs).max() / np.abs(theirs).max()
    # the promise; differences are those of sums in another order
    assert max(errors.values()) < 1e-9, errors
    worst = max(errors.values())
    figure("mjcf-as-it-is", f"{len(ROBOTS)} MJCF files, largest difference {worst:.1g}")


def test_anchors_references_and_several_joints_in_a_body(arm):
    model = read_mjcf(arm)
    ours, theirs = both_inverse_dynamics(arm, model)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)  # rounding of forces near ten
    assert (model.name, model.root.body, model.root.type) == ("arm", "bus", "floating")
    assert model.joint("a").home == pytest.approx(np.radians(30.0))  # one conversion
    assert (model.joint("a").damping, model.joint("a").friction) == (0.5, 0.1)
    assert (model.joint("b").stiffness, model.joint("b").rest) == (5.0, 0.2)
    assert [joint.role for joint in model.joints if joint.type != "fixed"] == [
        "motion", "passive", "motion"]  # fmt: skip
    assert {"substituted.part_name", "mjcf.contact", "mjcf.passive"} <= set(codes_of(model.notes))


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("<actuator>", '<equality><joint joint1="a" joint2="c"/></equality><actuator>', "equality"),
        ("<freejoint/>", '<joint type="free" damping="0" armature=".1"/>', "armature"),
        ("<freejoint/>", '<freejoint/><geom type="sphere" size=".1"/>', ""),
    ],
)
def test_what_is_not_used_is_noted_and_strictly_refused(arm, old, new, word):
    arm.write_text(ROBOT.replace("l.1", "l1").replace(old, new), encoding="utf-8")
    notes = [note for note in read_mjcf(arm).notes if note.code == "substituted.not_modelled"]
    assert len(notes) == bool(word) and all(word in note for note in notes)
    if word:
        with refused(ModelError, "mjcf.unused", naming=word):
            load_model(arm, strict=True)
    else:
        load_model(arm, strict=True)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('mass="20"', 'mass="1,5"', "mjcf.compile"),
        ('type="slide"', 'type="ball"', "mjcf.ball"),
        ("</worldbody>", "", "mjcf.compile"),
    ],
)
def test_what_cannot_be_read_is_one_fault(arm, old, new, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm.write_text(ROBOT.replace(old, new), encoding="utf-8")
    with refused(ModelError, code):
        load_model(arm)
    assert [path.name for path in tmp_path.iterdir()] == ["arm.xml"]  # MuJoCo leaves no log


def test_without_mujoco_it_is_said_what_to_install(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with refused(ModelError, "file.package", naming="freefloat[engines]"):
        load_model(arm)


def test_a_urdf_called_xml_is_read_as_urdf_and_a_model_file_may_name_mjcf(arm, tmp_path):
    body = '<link name="a"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1"'
    urdf = f'<robot name="r">{body} iyz="0" izz="1"/></inertial></link></robot>'
    (tmp_path / "r.xml").write_text(urdf, encoding="utf-8")
    assert load_model(tmp_path / "r.xml").mass == 2.0
    text = 'format = 1\nname = "m"\nurdf = "arm.xml"\n[[joint]]\nname = "c"\nrole = "locked"\n'
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    assert load_model(tmp_path / "m.toml").joint("c").role == "locked"


def heavier(model: Model) -> Model:
    body = model.body("l2")
    moved = type(body)("l2", 1.5 * body.mass, (0.01, 0.2, 0.03), (0.02, 0.001, 0, 0.01, 0, 0.02))
    return model.with_body(moved).with_joint("c", damping=0.7, armature=0.03)


def test_written_back_only_what_is_new_changes(arm):
    model = heavier(load_model(arm))
    out = arm.with_name("new.xml")
    model.save(out, like=arm)
    text = out.read_text(encoding="utf-8")
    old, new = ROBOT.splitlines(), text.splitlines()
    changed = [k for k, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert changed == [16] and "<!-- ours -->" in text
    again = load_model(out)
    for body in model.bodies:  # MuJoCo keeps principal axes: one decomposition of small numbers
        np.testing.assert_allclose(again.body(body.name).phi, body.phi, rtol=1e-9, atol=1e-12)
    assert (again.joint("c").damping, again.joint("c").armature) == (0.7, 0.03)


def test_bodies_of_included_files_are_written_by_mujoco(arm):
    start, end = ROBOT.index("<worldbody>"), ROBOT.index("<actuator>")
    part = f"<mujocoinclude>{ROBOT[start:end]}</mujocoinclude>"
    arm.with_name("part.xml").write_text(part, encoding="utf-8")
    whole = ROBOT[:start] + '<include file="part.xml"/>' + ROBOT[end:]
    arm.write_text(whole, encoding="utf-8")
    model = heavier(load_model(arm))
    model.save(arm.with_name("new.xml"), like=arm)
    again = load_model(arm.with_name("new.xml"))
    for body in model.bodies:  # likewise; MuJoCo writes fewer digits
        np.testing.assert_allclose(again.body(body.name).phi, body.phi, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("forced", ['inertiafromgeom="true"', 'settotalmass="30"'])
def test_settings_that_would_undo_the_masses_are_taken_back(arm, forced):
    arm.write_text(ROBOT.replace("<compiler", f"<compiler {forced}"), encoding="utf-8")
    model = heavier(load_model(arm))
    model.save(arm.with_name("new.xml"), like=arm)
    # MuJoCo writes fewer digits where it writes the file itself
    assert load_model(arm.with_name("new.xml")).mass == pytest.approx(model.mass, rel=1e-5)


def test_unphysical_bodies_and_other_folders_are_refused(arm, tmp_path):
    model = load_model(arm)
    bad = model.with_body(type(model.bodies[0])("l2", 1.0, inertia=(1, 0, 0, 1, 0, 5)))
    for name in ("bad.xml", "bad.urdf", "bad.toml"):
        with refused(ModelError, "model.inertia"):
            bad.save(arm.with_name(name), like=arm if name == "bad.xml" else None)
        with refused(ModelError, "model.inertia"):
            bad.save(arm.with_name(name))
        assert not arm.with_name(name).exists()
    (tmp_path / "there").mkdir()
    with refused(ModelError, "mjcf.source"):
        model.save(tmp_path / "there" / "new.xml", like=arm)
