"""`freefloat spectrum` shows what swings, beside the model's modes."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff

TIME = np.arange(0.0, 40.0, 0.02)


@pytest.fixture
def swinging(tmp_path):
    decay = np.exp(-0.02 * TIME)
    swing = decay * np.sin(2 * np.pi * 0.23 * TIME) + 0.1 * decay**2 * np.sin(
        2 * np.pi * 0.46 * TIME
    )
    noise = np.random.default_rng(0).normal(scale=0.02, size=TIME.size)
    flight = ff.Telemetry.from_arrays(
        TIME, {"base.rate.x": 0.1 * (swing + noise)}, noise={"base.rate.x": 2e-3}
    )
    flight.save(tmp_path / "swing.parquet")
    return "swing.parquet"


def test_modes_and_harmonics_are_told_apart(command, swinging, tmp_path):
    ended = command(
        "spectrum", swinging, "--model", "servicer-wings", "--plot", "s.svg",
        "--save-model", "scaled.toml",
    )  # fmt: skip
    assert ended.code == 0
    for part in ("0.2300", "harmonic 2 x 0.23 Hz", "not seen", "1 mode", "s.svg"):
        assert part in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert (tmp_path / "s.svg").stat().st_size > 1000
    assert ff.load_model(tmp_path / "scaled.toml").joints


def test_the_same_for_machines(command, swinging):
    told = command("spectrum", swinging, "--json").json
    assert told["ok"] and [round(mode["frequency"], 3) for mode in told["modes"]] == [0.23]
    assert [mode["of"] for mode in told["others"]] == ["2 x 0.23 Hz"]
    assert told["peaks"][0]["frequency"] == pytest.approx(0.23, abs=0.003)


def test_nothing_that_swings_is_a_negative_verdict(command, tmp_path):
    noise = np.random.default_rng(1).normal(size=TIME.size)
    ff.Telemetry.from_arrays(TIME, {"base.rate.x": noise}).save(tmp_path / "still.csv")
    ended = command("spectrum", "still.csv", "--json")
    assert ended.code == 1 and ended.json["ok"] is False and ended.json["modes"] == []
    assert command("spectrum", "still.csv").code == 1


@pytest.mark.parametrize(("push", "kind"), [(0.0, "growing"), (1.0, "driven")])
def test_no_spring_is_saved_for_what_no_free_swing_does(command, tmp_path, push, kind):
    swing = np.exp(0.02 * TIME) * np.sin(2 * np.pi * 0.23 * TIME)
    noise = np.random.default_rng(0).normal(scale=0.02, size=TIME.size)
    channels = {"base.rate.x": 0.1 * (swing + noise), "base.force.x": push * (TIME > 30.0)}
    ff.Telemetry.from_arrays(TIME, channels).save(tmp_path / "swing.parquet")
    ended = command(
        "spectrum", "swing.parquet", "--model", "servicer-wings", "--between", "1", "39",
        "--save-model", "m.toml", "--json",
    )  # fmt: skip
    told = ended.json
    assert ended.code == 1 and not (tmp_path / "m.toml").exists() and told["files"] == {}
    assert told["modes"] == [] and kind in {mode["kind"] for mode in told["others"]}
    assert told["stiffness_factors"] == {} and not any(m["seen"] for m in told["model"])
    plain = command("spectrum", "swing.parquet", "--between", "1", "39", "--plot", "s.svg")
    assert plain.code == 1 and kind in plain.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--save-model", "m.toml"), "--model"),
        (("--bandwidth", "-1"), "bandwidth"),
        (("--channels", "nobody.*"), "nobody"),
        (("--between", "50", "60"), "between"),
        (("--plot", "picture.txt"), "--plot"),
    ],
)
def test_bad_requests_are_refused(command, swinging, tmp_path, arguments, words):
    ended = command("spectrum", swinging, *arguments)
    assert ended.code == 2 and words in ended.err
    assert not (tmp_path / "m.toml").exists()
