"""`freefloat simulate` flies, writes, and says what happened."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.cli.output_files import require_writable
from freefloat.errors import FreefloatError
from freefloat.excitation import Moves, Plan, Pulses

SHORT = ("--duration", "4")


def test_the_file_is_the_library_s_flight_to_the_last_bit(command, tmp_path):
    ended = command("simulate", "cepheus", *SHORT, "--seed", "3", "--out", "flight.parquet")
    assert ended.code == 0
    read = ff.read_telemetry(tmp_path / "flight.parquet", truth=True)
    model = ff.load_model("cepheus")
    flown = ff.simulate(model, ff.default_plan(model, duration=4.0, seed=3), seed=3)
    assert read.names == flown.names
    assert all(read[name] == flown[name] for name in flown.names)
    assert read.truth is not None and read.truth.names == flown.truth.names


def test_what_happened_is_told_within_eighty_columns(command):
    ended = command("simulate", "servicer", *SHORT, "--out", "flight.csv")
    for part in ("base turned", "deflections", "momentum drift", "limits", "none exceeded"):
        assert part in ended.out
    assert "flight.truth.csv" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_the_same_for_machines(command, tmp_path):
    ended = command("simulate", "servicer-wings", *SHORT, "--out", "flight.csv", "--json")
    told = ended.json
    assert told["ok"] and told["duration"] == 4.0 and told["seed"] == 0
    assert told["momentum"]["linear_drift"] < 1e-10  # the integrator's error, about 1e-13 [N s]
    assert set(told["deflections"]) == {"hinge_l1", "hinge_l2", "hinge_r1", "hinge_r2"}
    assert told["limits_exceeded"] == []
    for path in told["files"].values():
        assert (tmp_path / path).exists()
    assert {channel["name"] for channel in told["channels"]} >= {"base.rate.x"}


def test_a_saved_plan_flies_again(command):
    first = command(
        "simulate", "cepheus", *SHORT, "--out", "a.csv", "--save-plan", "p.toml", "--json"
    )
    again = command("simulate", "cepheus", "--plan", "p.toml", "--out", "b.csv", "--json")
    assert again.code == 0
    assert first.json["base"] == again.json["base"]


def test_both_methods_agree(command):
    told = [
        command("simulate", "cepheus", *SHORT, "--out", "a.csv", "--method", method, "--json").json
        for method in ("rk4", "dop853")
    ]
    assert told[0]["base"]["turn"] == pytest.approx(told[1]["base"]["turn"], rel=1e-8)  # RK4's


def test_limits_that_were_passed_are_named(command, tmp_path):
    model = ff.load_model("cepheus")
    plan = Plan(2.0, motions={"arm_1": Moves((0.0, 2.0), (0.0, 2.0))})
    plan = replace(plan, thrusts={"thr_1": Pulses(((0.5, 0.5, 0.9),))}, name="too far")
    plan.check(model)
    plan.save(tmp_path / "far.toml")
    ended = command("simulate", "cepheus", "--plan", "far.toml", "--out", "f.csv", "--json")
    assert ended.code == 0
    found = {(e["part"], e["quantity"]) for e in ended.json["limits_exceeded"]}
    assert found >= {("arm_1", "highest position"), ("arm_1", "velocity"), ("thr_1", "force")}
    assert ended.json["momentum"] is None and ended.json["pushed_by"] == ["thrusters"]
    shown = command("simulate", "cepheus", "--plan", "far.toml", "--out", "f.csv").out
    assert re.search(rf"limits +{len(ended.json['limits_exceeded'])} ", shown)


def test_without_a_file_nothing_is_written_and_that_is_said(command, tmp_path):
    ended = command("simulate", "cepheus", *SHORT)
    assert ended.code == 0 and not list(tmp_path.iterdir())
    assert "--out" in ended.out
    planned = command("simulate", "cepheus", *SHORT, "--save-plan", "plan.toml", "--json")
    assert planned.json["files"] == {"plan": "plan.toml"}


def test_a_picture_is_drawn(command, tmp_path):
    ended = command("simulate", "servicer", *SHORT, "--out", "f.csv", "--plot", "f.png")
    assert ended.code == 0
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_nothing_is_flown(command, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ended = command("simulate", "cepheus", *SHORT, "--out", "f.csv", "--plot", "f.png", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["package.missing"]
    assert "freefloat[plot]" in ended.err
    assert not list(tmp_path.iterdir())


def test_a_cold_cache_is_announced(command, monkeypatch):
    monkeypatch.setattr("freefloat.cli.waiting.is_compiled", lambda *_: False)
    ended = command("simulate", "cepheus", *SHORT, "--out", "f.csv", "--json")
    assert "compiling" in ended.err
    assert ended.json["seconds"] is None  # it would be the compiler's time


def test_trying_a_path_changes_nothing(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("old")
    require_writable(path)
    require_writable(tmp_path / "new.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["old.csv"] and path.read_text() == "old"
    with refused(FreefloatError, "file.unwritable"):
        require_writable(tmp_path / "no" / "new.csv")


def test_the_seed_changes_noise_and_motion(command):
    turns = {
        command("simulate", "cepheus", *SHORT, "--seed", s, "--out", "f.csv", "--json").json[
            "base"
        ]["turn"]
        for s in (0, 1)
    }
    assert len(turns) == 2 and np.all(np.isfinite(list(turns)))
