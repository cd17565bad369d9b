"""Every fault says where it is, what was found, what was expected and what to do (F2, F3)."""

from __future__ import annotations

import re
from functools import partial

import pytest
from damaged_texts import Case, check_told_at_once, error_of
from model_samples import TOML, URDF

from freefloat.errors import Fault, ModelError
from freefloat.model import load_model

# what has one safe reading is a fault only so; tests/model/test_urdf_substitutes.py has the rest
read_strictly = partial(load_model, strict=True)

MASS = '<mass value="120.5"/>'
INERTIA = '<inertia ixx="22.0" ixy="0.8" ixz="-0.5" iyy="25.0" iyz="0.6" izz="19.0"/>'
AXIS = '<axis xyz="0 0 1"/>'

URDF_CASES = {
    "word for a number": Case(
        MASS, '<mass value="heavy"/>', ":7: link 'bus' <mass> value", "'heavy'", "value.type"),
    "decimal comma": Case(
        MASS, '<mass value="1,5"/>', ":7: link 'bus' <mass>", "'1,5'", "value.type"),
    "nan": Case(MASS, '<mass value="nan"/>', ":7: link 'bus'", "'nan'", "value.type"),
    "infinity": Case(MASS, '<mass value="-inf"/>', ":7: link 'bus'", "'-inf'", "value.type"),
    "overflow": Case(
        MASS, '<mass value="1e400"/>', ":7: link 'bus'", "'1e400'", "value.range"),
    "empty number": Case(
        MASS, '<mass value=""/>', ":7: link 'bus' <mass>", 'value=""', "key.missing"),
    "hexadecimal": Case(MASS, '<mass value="0x10"/>', ":7: ", "'0x10'", "value.type"),
    "underscore": Case(MASS, '<mass value="1_000"/>', ":7: ", "'1_000'", "value.type"),
    "foreign digits": Case(MASS, '<mass value="١٢"/>', ":7: ", "'١٢'", "value.type"),
    "misspelt attribute": Case(
        '<origin xyz="0 0 0.2"/>', '<origin xyx="0 0 0.2"/>', ":15: link 'link_1' <origin>",
        "'xyx'", "key.unknown"),
    "no mass": Case(
        MASS, "", ":5: link 'bus' <inertial>", "no <mass>", "key.missing"),
    "no inertia": Case(INERTIA, "", ":5: link 'bus'", "no <inertia>", "key.missing"),
    "half an inertia": Case(
        ' iyy="25.0"', "", ":8: link 'bus' <inertia>", "no iyy", "key.missing"),
    "misspelt element": Case(
        "<inertia ixx=\"22.0\"", "<inertia ixx=\"22.0\" ixX=\"1\"", ":8: link 'bus' <inertia>",
        "'ixX'", "key.unknown"),
    "two masses": Case(
        MASS, MASS + MASS, ":7: link 'bus' <mass>", "a second <mass>", "key.duplicate"),
    "negative mass": Case(
        MASS, '<mass value="-3"/>', ":7: body 'bus'.mass", "a negative mass, -3 kg",
        "model.inertia"),
    "negative inertia": Case(
        'ixx="22.0"', 'ixx="-22.0"', ":8: body 'bus'.inertia", "a negative", "model.inertia"),
    "triangle": Case(
        'izz="0.1"', 'izz="9.0"', ":17: body 'link_1'.inertia", "triangle inequality",
        "model.inertia"),
    "two numbers": Case(
        'xyz="0.6 0.1 0.5"', 'xyz="0.6 0.1"', ":28: joint 'arm_1' <origin> xyz", "'0.6 0.1'",
        "value.count"),
    "commas between": Case(
        'xyz="0.6 0.1 0.5"', 'xyz="0.6,0.1,0.5"', ":28: ", "'0.6,0.1,0.5'", "value.count"),
    "axis too long": Case(
        AXIS, '<axis xyz="0 0 2"/>', ":31: joint 'arm_1'.axis", "[0.0, 0.0, 2.0]",
        "value.norm"),
    "no axis at all": Case(
        AXIS, '<axis xyz="0 0 0"/>', ":31: joint 'arm_1'.axis", "[0.0, 0.0, 0.0]",
        "value.norm"),
    "unknown parent": Case(
        '<parent link="bus"/>', '<parent link="bux"/>', ":29: joint 'arm_1'.parent", "'bux'",
        "name.unknown"),
    "no parent": Case(
        '<parent link="bus"/>', "", ":27: joint 'arm_1' <joint>", "no <parent>",
        "key.missing"),
    "wrong type": Case(
        'type="continuous"', 'type="planar"', ":36: joint 'arm_2' type", "'planar'",
        "value.choice"),
    "floating arm": Case(
        'type="continuous"', 'type="floating"', ":36: joint 'arm_2' type", "'floating'",
        "urdf.floating"),
    "no type": Case(
        ' type="fixed"', "", ":43: joint 'mount' <joint>", "no type", "key.missing"),
    "mimic": Case(
        AXIS, AXIS + '<mimic joint="arm_2"/>', ":31: joint 'arm_1' <mimic>", "arm_2",
        "urdf.mimic"),
    "limits swapped": Case(
        'lower="-2.6"', 'lower="3"', ":32: joint 'arm_1'.limits", "3 .. 2.6", "value.order"),
    "negative damping": Case(
        'damping="0.1"', 'damping="-0.1"', ":33: joint 'arm_1'.damping", "-0.1", "value.range"),
    "same link twice": Case(
        '<link name="tool"/>', '<link name="tool"/><link name="tool"/>', ":26: link 'tool'",
        "a second link of that name (the first is on line 26)", "name.duplicate"),
    "two carriers": Case(
        "<transmission", '<joint name="x" type="fixed"><parent link="bus"/><child link="tool"/>'
        "</joint><transmission", ":47: joint 'x'.child", "tool",
        "model.loop"),
    "bad name": Case(
        '<robot name="sample"', '<robot name=""', ":2: <robot>", 'name=""', "key.missing"),
    "stray text": Case(
        "<link name=\"tool\"/>", "<link name=\"tool\">5 kg</link>", ":26: link 'tool' <link>",
        "'5 kg'", "urdf.text"),
    "xacro": Case(
        '<link name="tool"/>', '<link name="tool"/><xacro:arm/>', ":26: robot 'sample'",
        "a xacro macro", "urdf.xacro"),
    "misspelt link": Case(
        '<link name="tool"/>', '<link name="tool"/><lnk/>', ":26: robot 'sample' <lnk>", "<lnk>",
        "key.unknown"),
    "not closed": Case(
        "</robot>", "", ":49, column 1", "no element found", "file.syntax"),
    "doctype": Case(
        "<robot", "<!DOCTYPE robot>\n<robot", ":2", "<!DOCTYPE robot>", "urdf.doctype"),
    "not a urdf": Case(
        URDF, "<mujoco/>", ":1", "<mujoco>", "file.format"),
}  # fmt: skip

TOML_CASES = {
    "syntax": Case(
        "mass = 600.0", "mass = 600,0", ":@, column 11", "'mass = 600,0'", "file.syntax"),
    "unquoted unit": Case(
        "mass = 600.0", "mass = 600.0 kg", ":@, column 14", "'mass = 600.0 kg'", "file.syntax"),
    "unquoted text": Case(
        'name = "bus"', "name = bus", ":@, column 8", "'name = bus'", "file.syntax"),
    "key twice": Case(
        "mass = 600.0", "mass = 1\nmass = 2", ":@+1", "'mass = 2'", "file.syntax"),
    "format": Case("format = 1", "format = 2", ": format (line @)", "2", "file.version"),
    "no format": Case("format = 1\n", "", ": format", "nothing", "key.missing"),
    "quoted number": Case(
        "mass = 600.0", 'mass = "600"', ': body[0] "bus".mass (line @)', "'600'", "value.type"),
    "truth for a number": Case(
        "mass = 600.0", "mass = true", ': body[0] "bus".mass (line @)', "True", "value.type"),
    "nan": Case("mass = 600.0", "mass = nan", ".mass (line @)", "nan", "value.range"),
    "infinity": Case("mass = 600.0", "mass = -inf", ".mass (line @)", "-inf", "value.range"),
    "overflow": Case("mass = 600.0", "mass = 1e400", ".mass (line @)", "inf", "value.range"),
    "unknown key": Case(
        "damping = 0.5", "dampping = 0.5", ': joint[0] "arm_1".dampping (line @)', "'dampping'",
        "key.unknown"),
    "unknown section": Case(
        "[[wheel]]", "[[wheels]]", ": wheels (line @)", "'wheels'", "key.unknown"),
    "single brackets": Case(
        "[[tank]]", "[tank]", ": tank (line @)", "{'name': 'tank'", "value.type"),
    "no name": Case(
        'name = "jet"\n', "", ": thruster[0].name (line @-1)", "nothing", "key.missing"),
    "two numbers": Case(
        "xyz = [1.0, 0.0, 0.5]", "xyz = [1.0, 0.0]", '"arm_1".xyz (line @)', "[1.0, 0.0]",
        "value.count"),
    "text in a vector": Case(
        "xyz = [1.0, 0.0, 0.5]", 'xyz = [1.0, "a", 0]', '"arm_1".xyz (line @)', "'a'",
        "value.type"),
    "wrong role": Case(
        'role = "locked"', 'role = "lock"', ': joint[1] "slide".role (line @)', "'lock'",
        "value.choice"),
    "wrong drive": Case(
        'form = "geared"', 'form = "harmonic"', ".drive.form (line @)", "'harmonic'",
        "value.choice"),
    "drive without inertia": Case(
        "inertia = 1e-4, ", "", ".drive.inertia (line @)", "nothing", "key.missing"),
    "role beside a drive": Case(
        "home = 0.3", 'role = "motion"', '"arm_1".role (line @)', "motion", "value.conflict"),
    "unknown parent": Case(
        'parent = "link_1"', 'parent = "link1"', ': joint[1] "slide".parent (line @)', "'link1'",
        "name.unknown"),
    "no parent": Case(
        'parent = "link_1"\n', "", ': joint[1] "slide".parent (line @-3)', "nothing",
        "key.missing"),
    "axis too long": Case(
        "axis = [0, 1, 0]", "axis = [0, 1, 1]", '"arm_1".axis (line @)', "[0.0, 1.0, 1.0]",
        "value.norm"),
    "negative mass": Case(
        "mass = 8.5", "mass = -8.5", ': body[1] "link_1".mass (line @)', "mass, -8.5 kg",
        "model.inertia"),
    "triangle": Case(
        "[0.4, 0.4, 0.04]", "[0.4, 0.4, 4]", '"link_1".inertia (line @)', "triangle",
        "model.inertia"),
    "target triangle": Case(
        "inertia = [10, 12, 8]", "inertia = [10, 12, 80]", ': target[0] "debris".inertia (line @)',
        "triangle", "model.inertia"),
    "one inertia": Case(
        "[0.4, 0.4, 0.04]", "0.4", '"link_1".inertia (line @)', "0.4", "value.count"),
    "massless centre": Case(
        'name = "link_2"\n', 'name = "link_2"\ncom = [1, 0, 0]\n', '"link_2".com (line @+1)',
        "[1.0, 0.0, 0.0]", "model.massless"),
    "same name": Case(
        'name = "slide"', 'name = "arm_1"', ': joint[1] "arm_1" (line @-1)',
        "2 parts of that name", "name.duplicate"),
    "dotted name": Case(
        'name = "jet"', 'name = "jet.1"', ': thruster[0] "jet.1".name (line @)', "'.'",
        "name.form"),
    "placed twice": Case(
        'on = "gripper"', 'on = "gripper"\nxyz = [0, 0, 1]', '"debris".xyz (line @+1)', "xyz on",
        "value.conflict"),
    "unknown seat": Case(
        'on = "bus"', 'on = "buss"', ": sensor[0].on (line @)", "'buss'", "name.unknown"),
    "wrong sensor": Case(
        'kind = "gyro"', 'kind = "gyros"', ": sensor[0].kind (line @)", "'gyros'", "value.choice"),
    "rate zero": Case(
        "rate = 100.0", "rate = 0", ": sensor[0].rate (line @)", "0", "value.range"),
    "coloured": Case(
        "time = 100.0", "time = 0", ": sensor[0].coloured.time (line @)", "0", "value.range"),
    "empty tank": Case(
        "mass = 100.0", "mass = 0", ': tank[0] "tank".mass (line @)', "0", "value.range"),
    "tank axes": Case(
        "length = 0.4", "length = 0.4\naxes = [[1, 0, 0], [1, 0, 0]]",
        ': tank[0] "tank".axes (line @+1)', "[1.0, 0.0, 0.0]", "value.conflict"),
    "heavy wheel": Case(
        "inertia = 0.05", "inertia = 500", ': wheel[0] "wheel_x".inertia (line @)', "500",
        "model.inertia"),
    "wheel axis": Case(
        "axis = [1, 0, 0]", "axis = [2, 0, 0]", ': wheel[0] "wheel_x".axis (line @)',
        "[2.0, 0.0, 0.0]", "value.norm"),
    "negative drag": Case(
        "linear_drag = 0.1", "linear_drag = -1", ": root.linear_drag (line @)", "-1",
        "value.range"),
    "no such root": Case(
        'body = "bus"\nlinear', 'body = "buss"\nlinear', ": root.body (line @)", "'buss'",
        "name.unknown"),
    "flat orbit": Case(
        'type = "floating"', 'type = "planar"', ": orbit (line @+100)", "a planar root",
        "value.conflict"),
    "orbit radius": Case(
        "radius = 6.9e6", "radius = -1", ": orbit.radius (line @)", "-1", "value.range"),
    "capsule": Case(
        "radius = 0.1", "radius = 0", ": capsule[0].radius (line @)", "0", "value.range"),
    "no such urdf": Case(
        "gravity", 'urdf = "arm.urdf"\ngravity', "arm.urdf", "No such file", "file.unreadable"),
    "climbing urdf": Case(
        "gravity", 'urdf = "../arm.urdf"\ngravity', ": urdf (line @)", "climbs with ..",
        "file.outside"),
    "bad extra": Case(
        'name = "link_2"\n', 'name = "link_2"\nextras = ["<visual>"]\n',
        '"link_2".extras (line @+1)', "<visual>", "urdf.extra"),
}  # fmt: skip

CASES = {("urdf", name): case for name, case in URDF_CASES.items()}
CASES |= {("toml", name): case for name, case in TOML_CASES.items()}


def faults_of(text: str, path) -> tuple[tuple[Fault, ...], str]:
    error = error_of(read_strictly, text, path)
    assert isinstance(error, ModelError)
    return error.faults, str(error)


def with_line(place: str, line: int) -> str:
    """`place` with "@" replaced by the line of the change, "@-1" by the line before, and so on."""
    return re.sub(r"@([+-]\d+)?", lambda found: str(line + int(found.group(1) or 0)), place)


@pytest.mark.promise("F2")
@pytest.mark.parametrize(("suffix", "name"), CASES)
def test_a_fault_says_place_value_expectation_and_remedy(suffix, name, tmp_path):
    case = CASES[suffix, name]
    text = URDF if suffix == "urdf" else TOML
    faults, message = faults_of(case.applied_to(text), tmp_path / f"probe.{suffix}")
    assert len(faults) == 1, message
    assert message.startswith(f"probe.{suffix}: ")
    (fault,) = faults
    place = with_line(case.place, text[: text.index(case.old)].count("\n") + 1)
    assert place in fault.place and case.is_told_by(fault), message
    assert fault.expected and fault.remedy
    file = "arm.urdf" if name == "no such urdf" else f"probe.{suffix}"
    assert fault.place.startswith(file)
    # What a person reads holds it all as well, on one line.
    line = message.splitlines()[1]
    assert all(part in line for part in (place, fault.expected, fault.remedy)), line


REMEDIES = {
    ("urdf", "decimal comma"): "'1.5'",
    ("urdf", "misspelt attribute"): "'xyz'",
    ("urdf", "axis too long"): "[0.0, 0.0, 1.0]",
    ("urdf", "misspelt link"): "'link'",
    ("urdf", "xacro"): "xacro robot.xacro > robot.urdf",
    ("toml", "unknown key"): "'damping'",
    ("toml", "unknown section"): "'wheel'",
    ("toml", "single brackets"): "[[tank]]",
    ("toml", "wrong role"): "'locked'",
    ("toml", "unknown parent"): "'link_1'",
    ("toml", "wrong sensor"): "'gyro'",
    ("toml", "axis too long"): "0.707106781186547",
}


@pytest.mark.parametrize(("suffix", "name"), REMEDIES)
def test_a_remedy_says_what_to_write(suffix, name, tmp_path):
    case, text = CASES[suffix, name], URDF if suffix == "urdf" else TOML
    faults, _ = faults_of(case.applied_to(text), tmp_path / f"probe.{suffix}")
    assert REMEDIES[suffix, name] in faults[0].remedy


@pytest.mark.promise("F2")
def test_there_are_enough_hand_written_faults(figure):
    figure("F2", f"{len(URDF_CASES)} faults in URDF, {len(TOML_CASES)} in model files")
    assert len(CASES) >= 60


def spoilt(text: str, cases: dict[str, Case], names: list[str]) -> str:
    for name in names:  # on one line: others keep theirs
        text = cases[name]._replace(new=cases[name].new.replace("\n", "")).applied_to(text)
    return text


ARM = """\
format = 1
name = "arm"
[[body]]
name = "bus"
mass = 5
inertia = [1, 1, 1]
[[body]]
name = "link_1"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "arm_1"
type = "revolute"
parent = "bus"
child = "link_1"
drive = { inertia = 0.1, stiffness = 9 }
[[sensor]]
kind = "gyro"
on = "link_1"
rate = 10
[[sensor]]
kind = "encoder"
on = "arm_*"
rate = 10
[[sensor]]
kind = "motor_encoder"
on = "arm_*"
rate = 10
"""


@pytest.mark.promise("F3")
def test_all_faults_of_a_urdf_come_at_once(tmp_path, figure):
    names = ["word for a number", "misspelt attribute", "triangle", "two numbers", "unknown parent"]
    names += ["axis too long", "limits swapped", "negative damping", "wrong type"]
    names += ["same link twice"]
    error = error_of(read_strictly, spoilt(URDF, URDF_CASES, names), tmp_path / "many.urdf")
    check_told_at_once(error, URDF_CASES, names)
    figure("F3", f"{len(names)} faults put into a URDF, {len(names)} told in one run")


@pytest.mark.promise("F3")
def test_all_faults_of_a_model_file_come_at_once(tmp_path, figure):
    names = ["format", "quoted number", "unknown key", "two numbers", "wrong role", "axis too long"]
    names += ["unknown parent", "triangle", "target triangle", "dotted name", "rate zero"]
    names += ["unknown seat", "empty tank", "wheel axis", "negative drag", "orbit radius"]
    error = error_of(read_strictly, spoilt(TOML, TOML_CASES, names), tmp_path / "many.toml")
    check_told_at_once(error, TOML_CASES, names)
    figure("F3", f"{len(names)} faults put into a model file, {len(error.faults)} told in one run")


@pytest.mark.promise("F3")
def test_faults_of_both_files_come_at_once(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF.replace('value="6"', 'value="six"'), encoding="utf-8")
    text = 'format = 1\nname = "m"\nurdf = "arm.urdf"\n[[joint]]\nname = "arm_1"\nhome = "up"\n'
    text += '[[sensor]]\nkind = "encoder"\non = "leg_*"\nrate = 1\n'
    faults, message = faults_of(text, tmp_path / "m.toml")
    places = [fault.place for fault in faults]
    assert places == [
        "arm.urdf:16: link 'link_1' <mass> value",
        'm.toml: joint[0] "arm_1".home (line 6)',
        "m.toml: sensor[0].on (line 9)",
    ], message


# What is wrong in one table, and in how many other places that could be seen.
CASCADES = {
    "a kind": ('kind = "gyro"', 'kind = "gyroo"'),
    "the kind of a sensor on joints": ('kind = "encoder"', 'kind = "encodr"'),
    "the type of a joint with sensors": ('type = "revolute"', 'type = "revolut"'),
    "the name of a body": ('name = "link_1"', "name = 1"),
    "a drive": ("drive = {", "drive = 1 #{"),
}


@pytest.mark.parametrize("case", CASCADES)
def test_one_mistake_is_told_once(case, tmp_path):
    faults, message = faults_of(ARM.replace(*CASCADES[case], 1), tmp_path / "arm.toml")
    assert len(faults) == 1, message


def test_a_long_list_is_shortened_for_the_eye(tmp_path):
    text = '<robot name="r">' + "<link/>" * 900 + "</robot>"
    faults, message = faults_of(text, tmp_path / "r.urdf")
    assert len(faults) > 800
    assert len(message.splitlines()) == 22
