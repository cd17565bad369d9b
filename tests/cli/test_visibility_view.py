"""`freefloat check` with a plan, sensors or parameters says what a flight would tell."""

from __future__ import annotations

import pytest

import freefloat as ff
from freefloat.observability.identifiability import identifiability
from freefloat.parameters.parameters import Parameters


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
    for words in ("bus.mass", "kg m^2", "expected std", "Seen together", "trades against"):
        assert words in ended.out
    flat = " ".join(ended.out.split())
    assert "of 10 seen, 10 directions" in flat and "Scale of masses and forces" in flat
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
    ("arguments", "words"),
    [
        (("--free", "bux.*"), "no parameter like 'bux.*'"),
        (("--sensors", "gyro laser"), "no sensor called 'laser'; it has gyro"),
        (("--plan", "missing.toml"), "missing.toml"),
        (("--sensors", "wheel_speed", "--free", "start.rate.x"), "no parameter is free"),
    ],
)
def test_bad_arguments_end_with_two_and_say_why(command, arguments, words):
    ended = command("check", "ets7", *arguments)
    assert ended.code == 2 and words in " ".join(ended.err.split())
    assert command("check", "ets7", *arguments, "--json").json["ok"] is False


def test_without_the_options_nothing_changes(command):
    assert "visibility" not in command("check", "ets7", "--json").json
