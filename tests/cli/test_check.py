"""`freefloat check` shows a model, and says when it cannot fly."""

from __future__ import annotations

import re

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics.modes import modes
from freefloat.model import Body, Joint, Model, Root, builtin_models, load_model
from freefloat.model.body_tree import branches
from freefloat.model.mass_properties import mass_properties
from freefloat.observability.identifiability import identifiability
from freefloat.parameters.parameters import Parameters

WEIGHTLESS = """\
format = 1
name = "weightless"
[[body]]
name = "bus"
mass = 5
inertia = [1, 1, 1]
[[body]]
name = "vane"
[[joint]]
name = "hinge"
type = "revolute"
parent = "bus"
child = "vane"
role = "{role}"
home = 2.0
limits = {{ upper = 1.0 }}
"""


@pytest.mark.parametrize("name", [model.name for model in builtin_models()])
def test_every_model_holds_together_within_eighty_columns(name, command):
    ended = command("check", name)
    assert ended.code == 0
    assert f"{name} holds together" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_the_servicer_is_described_whole(command):
    out = command("check", "servicer").out
    parts = ("└ target", "tank_1, tank_2", "total mass", "hinge_l1", "rw_1")
    for part in (*parts, "accelerometer", "base attitude", "pendulum", "damping ratio"):
        assert part in out


def test_the_figures_for_machines_are_the_library_s(command):
    ended = command("check", "servicer", "--json")
    told, model = ended.json, load_model("servicer")
    assert told["ok"] and not told["faults"]
    assert told["mass"] == mass_properties(model).mass
    np.testing.assert_array_equal(told["inertia"], mass_properties(model).inertia)
    assert [mode["frequency"] for mode in told["modes"]] == [m.frequency for m in modes(model)]
    assert len(told["structure"]) == len(model.bodies) + 2  # the fuel and the target
    assert told["limits"]["base_rate"] == model.limits.base_rate


@pytest.mark.parametrize("role", ["passive", "torque"])
def test_a_free_joint_without_inertia_is_a_negative_verdict(role, command, tmp_path):
    (tmp_path / "weightless.toml").write_text(WEIGHTLESS.format(role=role))
    ended = command("check", "weightless.toml")
    assert ended.code == 1
    assert "cannot fly" in ended.out and "hinge" in ended.out.partition("cannot fly")[2]
    told = command("check", "weightless.toml", "--json")
    assert told.code == 1 and told.json["ok"] is False
    (fault,) = told.json["faults"]
    assert fault["code"] == "model.no_inertia" and "hinge" in fault["text"]


def test_what_is_unusual_is_noted(command, tmp_path):
    (tmp_path / "weightless.toml").write_text(WEIGHTLESS.format(role="locked"))
    codes = {note["code"] for note in command("check", "weightless.toml", "--json").json["notes"]}
    assert codes == {"substituted.sensors", "model.no_actuators", "joint.home_outside_limits"}


DRIVEN = """\
format = 1
name = "driven"
[[body]]
name = "bus"
mass = 50
inertia = [5, 5, 5]
[[body]]
name = "link"
mass = 1
inertia = [1, 1, 1]
[[body]]
name = "ring"
[[joint]]
name = "arm_1"
type = "revolute"
parent = "bus"
child = "link"
drive = { inertia = 0.1, stiffness = 9, ratio = 50 }
[[joint]]
name = "weld"
type = "fixed"
parent = "link"
child = "ring"
[[wheel]]
name = "rw"
body = "bus"
axis = [0, 0, 1]
inertia = 0.01
speed = -500
max_speed = 400
[[frame]]
name = "hand"
body = "ring"
xyz = [0.1, 0, 0.25]
[[target]]
name = "box"
on = "hand"
mass = 2
inertia = [1, 1, 1]
[[tank]]
name = "fuel"
body = "bus"
mass = 3
length = 0.2
"""


def test_what_would_be_overlooked_is_said(command, tmp_path):
    (tmp_path / "driven.toml").write_text(DRIVEN)
    ended = command("check", "driven.toml")
    assert ended.code == 0
    out = " ".join(ended.out.split())
    notes = command("check", "driven.toml", "--json").json["notes"]
    codes = [note["code"] for note in notes]
    assert {"drive.ratio_without_effect", "wheel.start_beyond_limit"} <= set(codes)
    assert all(note["text"] in out for note in notes)
    assert "at the start rw -500 rad/s" in out
    assert "hand ring [0.1, 0, 0.25] [0, 0, 0]" in out
    assert "5 bodies (1 fuel, 1 grasped, 1 massless)" in out
    assert max(map(len, ended.out.splitlines())) <= 80
    geared = DRIVEN.replace("ratio = 50", 'ratio = 50, form = "geared"')
    (tmp_path / "geared.toml").write_text(geared)
    notes = command("check", "geared.toml", "--json").json["notes"]
    assert "drive.ratio_without_effect" not in [note["code"] for note in notes]


def test_a_sensor_shows_what_its_glob_matches(command):
    assert "arm_1 … arm_7 (7)" in command("check", "servicer").out
    told = command("check", "servicer", "--json").json
    (encoder,) = [s for s in told["sensors"] if s["kind"] == "encoder"]
    assert encoder["reads"] == [f"arm_{i}" for i in range(1, 8)]
    assert [frame["name"] for frame in told["frames"]] == ["hand", "camera"]


def test_a_planar_robot_has_one_inertia(command):
    shown = command("check", "cepheus").out
    assert "zz 0.1771 kg m^2" in shown and "xx" not in shown and "principal" not in shown


@pytest.mark.parametrize("name", [model.name for model in builtin_models()])
def test_bodies_are_counted_alike_everywhere(name, command):
    told = command("check", name, "--json").json
    listed = {m["name"]: m for m in command("models", "--json").json["models"]}
    assert listed[name]["bodies"] == len(told["structure"])
    assert re.search(rf"\b{len(told['structure'])} bodies", command("check", name).out)


def test_a_fast_mode_asks_for_shorter_steps(command, tmp_path):
    text = WEIGHTLESS.format(role='passive"\nstiffness = 1e6\n#"')
    text = text.replace('name = "vane"', 'name = "vane"\nmass = 1\ninertia = [1, 1, 1]')
    (tmp_path / "stiff.toml").write_text(text)
    told = command("check", "stiff.toml", "--json").json
    assert told["modes"][0]["frequency"] > 100.0
    assert "mode.fast_for_step" in [note["code"] for note in told["notes"]]


def test_text_from_files_is_never_markup(command, tmp_path):
    text = WEIGHTLESS.format(role="locked")
    text = text.replace('name = "weightless"', 'name = "[red]r[/red]"\ndescription = "\\u001b[2J"')
    (tmp_path / "odd.toml").write_text(text)
    out = command("check", "odd.toml").out
    assert "[red]r[/red]" in out and "\x1b[2J" not in out


def test_a_long_chain_is_drawn():
    n = 300
    links = tuple(Body(f"b{i}", 1.0, inertia=(1, 0, 0, 1, 0, 1)) for i in range(n))
    joints = tuple(Joint(f"j{i}", "revolute", f"b{i}", f"b{i + 1}") for i in range(n - 1))
    drawn = branches(Model("chain", Root("b0"), links, joints))
    assert [branch.body for branch in drawn] == [link.name for link in links]
    assert max(len(branch.lines) for branch in drawn) <= 30


# -- with a plan, sensors or parameters: what a flight would tell ----------------------------------


@pytest.fixture
def plan(tmp_path):
    ff.default_plan("ets7").save(tmp_path / "plan.toml")
    return "plan.toml"


def test_the_table_fits_eighty_columns_and_ends_in_the_verdicts(command, plan):
    ended = command(
        "check", "ets7", "--plan", plan, "--sensors", "gyro encoders", "--free", "bus.*"
    )
    assert ended.code == 0
    assert max(len(line.rstrip()) for line in ended.out.splitlines()) <= 80
    for words in ("bus.mass", "kg m^2", "expected std", "in combination", "trades", "Scale"):
        assert words in ended.out
    flat = " ".join(ended.out.split())
    assert re.search(r"\d of 10 parameters", flat) and "matrix 10." in flat
    assert "Structure" not in ended.out  # that is the plain check


def test_machines_get_the_library_s_figures(command, plan):
    told = command("check", "ets7", "--plan", plan, "--free", "bus.mass", "--free", "bus.i*",
                   "--json").json  # fmt: skip
    model = ff.load_model("ets7")
    found = identifiability(
        model, Parameters.of(model).free("bus.mass", "bus.i*"), plan=ff.load_plan(plan)
    )
    shown = told["visibility"]
    assert told["name"] == "ets7" and told["ok"]
    assert [p["name"] for p in shown["parameters"]] == [s.name for s in found.parameters]
    assert [p["std"] for p in shown["parameters"]] == [s.std for s in found.parameters]
    assert shown["scale"]["words"] == found.scale.words


def test_the_root_and_what_it_holds_are_asked_for_unless_said(command):
    names = [
        p["name"]
        for p in command("check", "planar-capture", "--sensors", "gyro velocity", "--json").json[
            "visibility"
        ]["parameters"]
    ]
    assert {name.partition(".")[0] for name in names} == {"bus", "target"} and len(names) == 20


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--free", "bux.*"), "bux.*"),
        (("--sensors", "gyro laser"), "laser"),
        (("--plan", "missing.toml"), "missing.toml"),
        (("--sensors", "wheel_speed", "--free", "start.rate.x"), "free"),
    ],
)
def test_bad_arguments_end_with_two_and_name_what_is_wrong(command, arguments, word):
    ended = command("check", "ets7", *arguments)
    assert ended.code == 2 and word in ended.err
    assert command("check", "ets7", *arguments, "--json").json["ok"] is False


def test_without_the_options_nothing_changes(command):
    assert "visibility" not in command("check", "ets7", "--json").json
