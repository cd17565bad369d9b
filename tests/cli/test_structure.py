"""`freefloat structure` tells which parts a recording calls for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from exciting_plans import splines_then_rest

import freefloat as ff


@pytest.fixture
def flown(tmp_path):
    """A short flight of the sloshing servicer, and its plan."""
    model = ff.load_model("servicer-slosh")
    plan = splines_then_rest(model, duration=8.0, rest=4.0, points=6)
    plan.save(tmp_path / "plan.toml")
    ff.simulate(model, plan, seed=2).save(tmp_path / "flight.parquet")
    return "flight.parquet"


def test_what_is_called_for_is_told_and_written(command, flown, tmp_path):
    told = command(
        "structure", "servicer-slosh", flown, "--plan", "plan.toml", "--known-start",
        "--free", "bus.mass", "--free", "bus.i*", "--save-model", "called.toml", "--json",
    ).json  # fmt: skip
    assert told["called_for"] == ["slosh"] and told["present"] == ["tank"]
    tank = told["parts"][0]
    assert tank["code"] == "part.present" and tank["chance"] < 1e-3 and tank["visible_at"] < 1
    assert told["grade"] == "trusted"
    assert ff.load_model(tmp_path / "called.toml").tanks


def test_parts_are_listed_for_people(command, flown):
    ended = command("structure", "servicer-slosh", flown, "--free", "bus.mass")
    assert ended.code == 0
    for word in ("tank", "present", "visible at", "trusted", "called for: tank"):
        assert word in ended.out


def test_bounds_and_channels_count(command, flown):
    bus = ff.load_model("servicer-slosh").body("bus").mass
    told = command(
        "structure", "servicer-slosh", flown, "--plan", "plan.toml", "--known-start", "--free",
        "bus.mass", "--bound", f"bus.mass={1.01 * bus}..", "--without", "*.torque", "--json",
    ).json  # fmt: skip
    assert told["values"]["bus.mass"]["value"] >= 1.01 * bus


def test_a_payload_is_estimated_beside_the_root_unless_said(command, tmp_path):
    # a target that is heavier than believed would otherwise spoil every verdict
    model = ff.load_model("planar-capture")
    body = model.body("target")
    heavy = replace(body, mass=1.2 * body.mass, inertia=tuple(1.2 * i for i in body.inertia))
    plan = ff.default_plan(model, duration=20.0)
    ff.simulate(model.with_body(heavy), plan, seed=1).save(tmp_path / "heavy.parquet")
    ended = command("structure", "planar-capture", "heavy.parquet", "--json")
    assert ended.code == 0 and ended.json["grade"] != "not trusted"
    mass = ended.json["values"]["target.mass"]
    # five total standard deviations: the flight is simulated by another mass
    assert abs(mass["value"] - heavy.mass) < 5.0 * mass["total_std"]
    shown = command("structure", "planar-capture", "heavy.parquet")
    assert f"grade               {ended.json['grade']}" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--effects", "wind"), "no effect called"),
        (("--effects", "wheels"), "has no wheels"),
        (("--known-start",), "--plan"),
        (("--bound", "bus.mass=2..1"), "--bound"),
        (("--tie", "bus.mass"), "--tie"),
        (("--start", "bus.mass=heavy"), "--start"),
        (("--per-recording", "bux.*"), "--per-recording"),
        (("--without", "bas.*"), "--without"),
        (("--noise", "base.*=low"), "--noise"),
    ],
)
def test_bad_requests_are_refused(command, flown, arguments, words):
    ended = command("structure", "servicer-slosh", flown, *arguments)
    assert ended.code == 2 and words in ended.err
