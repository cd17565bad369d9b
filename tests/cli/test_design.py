"""`freefloat design` designs, writes what was asked for, and names what blocks."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from estimator import identify

import freefloat as ff
from freefloat.prediction.flight_summary import summarise_flight

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
        "--out", "plan.json", "--json",
    )  # fmt: skip
    assert done.code == 2
    assert set(done.error_places) == {"--duration", "--harmonics", "--limit", "--out"}
    assert set(done.error_codes[1:]) == {"value.range", "option.form", "file.suffix"}
    wrong = command("design", "cepheus", *QUICK, "--criterion", "best")
    assert wrong.code == 2 and "a_optimal" in wrong.err


def test_a_fit_says_where_to_go_on(command, tmp_path):
    model = ff.load_model("cepheus")
    free = ff.Parameters.of(model).free("link_2.mx", "link_2.izz")
    plan = ff.default_plan(model, duration=5.0)
    fit = identify(model, free, [ff.simulate(model, plan, seed=1)])
    fit.save("fit.json")
    done = command("design", "cepheus", "--fit", "fit.json", *QUICK, "--json")
    assert done.code == 0, done.err
    assert [p["name"] for p in done.json["parameters"]] == ["link_2.mx", "link_2.izz"]
    stds = {estimate.name: estimate.std for estimate in fit.estimates}
    for parameter in done.json["parameters"]:
        assert parameter["std"] < stds[parameter["name"]]
    other = command("design", "ets7", "--fit", "fit.json", *QUICK)
    assert other.code == 2 and "--fit" in other.err


def test_wheels_and_thrusters_are_designed_played_and_drawn(command):
    pytest.importorskip("matplotlib")
    done = command(
        "design", "servicer", "--free", "bus.mass", "--joints", "arm_1", "--wheels", "rw_1",
        "--thrusters", "thr_1", "--thrusters", "thr_2", "--duration", 10, "--harmonics", 1,
        "--starts", 1, "--rounds", 1, "--sensors", "gyro accelerometer", "--out", "plan.toml",
        "--table", "plan.csv", "--rate", 50, "--plot", "plan.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    plan = ff.load_plan("plan.toml", ff.load_model("servicer"))
    assert plan.motions["rw_1"].kind == "speeds" and set(plan.motions) == {"arm_1", "rw_1"}
    rows = list(csv.reader(Path("plan.csv").read_text().splitlines()))
    for name, thrust in plan.thrusts.items():
        column = rows[0].index(f"{name}.force [N]")
        played = sum(float(row[column]) for row in rows[1:]) / 50.0
        assert played == pytest.approx(sum(long * level for _, long, level in thrust.pulses))
    assert plan.thrusts and "rw_1.velocity [rad/s]" in rows[0]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for others there")
def test_ctrl_c_keeps_the_best_motion_so_far(tmp_path):
    arguments = ["design", "cepheus", "--free", "link_2.*", "--duration", 20, "--harmonics", 8,
                 "--starts", 1000, "--rounds", 1000, "--out", "plan.toml", "--json"]  # fmt: skip
    for wait in (6.0, 20.0, 60.0):  # [s]: a busy machine may need longer for a first motion
        running = subprocess.Popen(
            [sys.executable, "-m", "freefloat", *map(str, arguments)],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
        if running.returncode != 130:  # there was nothing to keep yet
            break
    assert running.returncode == 0, err
    told = json.loads(out)
    assert told["is_interrupted"] and max(limit["share"] for limit in told["limits"]) <= 1.0
    model = ff.load_model("cepheus")
    plan = ff.load_plan(tmp_path / "plan.toml", model)
    assert summarise_flight(model, plan, ff.simulate(model, plan)).violations == ()


def test_a_plan_can_be_tried_before_it_is_flown(command):
    done = command(
        "design", "cepheus", "--free", "bus.izz", "--prior", "bus.izz=5%", *QUICK, "--campaign", 2,
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    trial = json.loads(done.out)["trial"]
    assert trial["done"] == 4 and len(trial["cells"]) == 2
    assert {one["name"] for one in trial["parameters"]} == {"bus.izz"}
