"""`freefloat design` designs, writes what was asked for, and names what blocks."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import freefloat as ff

QUICK = ("--duration", 5, "--harmonics", 2, "--starts", 1, "--rounds", 2)


def test_it_writes_plan_table_and_picture(command):
    pytest.importorskip("matplotlib")
    done = command(
        "design", "cepheus", "--free", "link_2.izz", *QUICK, "--out", "plan.toml",
        "--table", "plan.csv", "--rate", 10, "--plot", "plan.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "none exceeded" in done.out and "link_2.izz" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    model = ff.load_model("cepheus")
    plan = ff.load_plan("plan.toml", model)
    assert plan.duration == 5.0 and set(plan.motions) == {"arm_1", "arm_2"}
    rows = list(csv.reader(Path("plan.csv").read_text().splitlines()))
    assert rows[0][0] == "time [s]" and len(rows) == 52
    assert Path("plan.png").read_bytes()[:4] == b"\x89PNG"


def test_json_says_all_of_it(command):
    done = command("design", "cepheus", "--free", "link_2.izz", *QUICK, "--json")
    assert done.code == 0 and done.json["ok"]
    (parameter,) = done.json["parameters"]
    assert 0.0 < parameter["std"] < parameter["std_default"]
    assert max(limit["share"] for limit in done.json["limits"]) <= 1.0
    again = command("design", "cepheus", "--free", "link_2.izz", *QUICK, "--json")
    assert again.json["value"] == done.json["value"]


def test_limits_that_block_are_named(command):
    done = command(
        "design", "cepheus", "--free", "link_2.izz", *QUICK,
        "--limit", "arm_1.lower=0.2", "--out", "plan.toml",
    )  # fmt: skip
    assert done.code == 2 and "arm_1.lower" in done.err and "0.2 beyond" in done.err
    assert not Path("plan.toml").exists()


def test_all_wrong_arguments_are_told_at_once(command):
    done = command(
        "design", "cepheus", "--duration", -1, "--harmonics", 99, "--limit", "velocity",
        "--out", "plan.json",
    )  # fmt: skip
    assert done.code == 2
    for word in ("--duration", "--harmonics", "--limit", "--out"):
        assert word in done.err
    wrong = command("design", "cepheus", *QUICK, "--criterion", "best")
    assert wrong.code == 2 and "a_optimal" in wrong.err


def test_a_fit_says_where_to_go_on(command, tmp_path):
    model = ff.load_model("cepheus")
    free = ff.Parameters.of(model).free("link_2.mx", "link_2.izz")
    plan = ff.default_plan(model, duration=5.0)
    fit = ff.identify(model, free, [ff.simulate(model, plan, seed=1)])
    fit.save("fit.json")
    done = command("design", "cepheus", "--fit", "fit.json", *QUICK, "--json")
    assert done.code == 0, done.err
    assert [p["name"] for p in done.json["parameters"]] == ["link_2.mx", "link_2.izz"]
    stds = {estimate.name: estimate.std for estimate in fit.estimates}
    for parameter in done.json["parameters"]:
        assert parameter["std"] < stds[parameter["name"]]
    other = command("design", "ets7", "--fit", "fit.json", *QUICK)
    assert other.code == 2 and "--fit" in other.err
