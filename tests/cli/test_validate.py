"""`freefloat validate` judges a fit by another flight, shows why, and writes what was asked for."""

from __future__ import annotations

import pytest
from validation_flights import heavier, planar, planar_fit, planar_flight

import freefloat as ff


@pytest.fixture
def files(tmp_path):
    planar_fit().save(tmp_path / "fit.json")
    planar_flight(2).save(tmp_path / "second.parquet")
    heavier(planar()).save(tmp_path / "wrong.toml")


def test_a_fit_that_predicts(command, files, tmp_path):
    ended = command(
        "validate", "fit.json", "second.parquet", "--out", "v.json", "--report", "v.html"
    )
    assert ended.code == 0, ended.err
    verdict = ff.load_verdict(tmp_path / "v.json")
    assert verdict.is_positive and ended.out.startswith(str(verdict).splitlines()[0])
    assert max(map(len, ended.out.splitlines())) <= 80
    page = (tmp_path / "v.html").read_text(encoding="utf-8")
    assert 'id="parameters"' in page and 'id="criteria"' in page  # a fit shows its parameters, too


def test_a_wrong_model_is_exit_code_one_and_says_why(command, files):
    ended = command("validate", "wrong.toml", "second.parquet", "--error", "1", "--json")
    assert ended.code == 1 and ended.json["status_code"] == "rejected"
    unmet = {c["name"] for c in ended.json["criteria"] if c["is_met"] is False}
    assert "prediction" in unmet and "base.angle" in ended.json["status"]


def test_the_same_for_machines(command, files):
    ended = command("validate", "fit.json", "second.parquet", "--json")
    told = ended.json
    assert ended.code == 0 and told["ok"] and told["has_run"]
    assert {c["name"] for c in told["criteria"]} >= {"prediction", "residuals", "held out"}
    assert all(score["ratio"] > 0.0 for score in told["scores"])


def test_all_bad_arguments_at_once_and_nothing_is_written(command, files, tmp_path):
    before = set(tmp_path.iterdir())
    ended = command(
        "validate", "fit.json", "second.parquet", "--error", "-1", "--tip", "0",
        "--out", "v.txt", "--report", "v.pdf",
    )  # fmt: skip
    assert ended.code == 2
    assert all(name in ended.err for name in ("--error", "--tip", "--out", "--report"))
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("absent.json", "second.parquet"), "absent.json"),
        (("fit.json", "absent.parquet"), "absent.parquet"),
        (("no-such-model", "second.parquet"), "no-such-model"),
    ],
)
def test_files_that_are_not_there(command, files, words, told):
    ended = command("validate", *words)
    assert ended.code == 2 and told in ended.err


def test_a_flight_of_another_robot_is_bad_input(command, files):
    ended = command("validate", "cepheus", "second.parquet")
    assert ended.code in (1, 2) and "Traceback" not in ended.err


def test_help_has_two_examples_within_eighty_columns(command):
    shown = command("validate", "--help")
    assert shown.code == 0
    assert shown.out.partition("For example:")[2].count("freefloat validate") == 2
    assert max(map(len, shown.out.splitlines())) <= 80


def test_the_start_of_the_plan_needs_the_plan(command, files):
    ended = command("validate", "fit.json", "second.parquet", "--start", "plan")
    assert ended.code == 2 and "--start" in ended.err


def test_a_plan_drives_the_prediction(command, tmp_path):
    model = planar()
    plan = ff.default_plan(model, duration=20.0, seed=5)
    plan.save(tmp_path / "plan.toml")
    ff.simulate(model, plan, seed=5).save(tmp_path / "flown.parquet")
    told = command(
        "validate", "planar-capture", "flown.parquet", "--plan", "plan.toml", "--start", "plan",
        "--raw", "--json",
    )  # fmt: skip
    codes = {criterion["name"]: criterion["code"] for criterion in told.json["criteria"]}
    assert told.code == 0 and codes["start"] == "start.known", told.json["status"]


def test_channels_and_noise_are_chosen(command, files):
    asked = ("validate", "fit.json", "second.parquet")
    told = command(*asked, "--without", "base.position.*", "--json").json
    channels = {residual["channel"] for residual in told["residuals"]}
    assert channels and not any(name.startswith("base.position") for name in channels)
    ended = command(*asked, "--noise", "base.angel=1", "--without", "bas.*", "--json")
    assert ended.code == 2 and set(ended.error_places) == {"--noise", "--without"}
    # a gyro that is said to be a thousand times better than it is does not predict its noise
    gyro = planar_flight(2)["base.rate.z"]
    wrong = command(*asked, "--noise", f"base.rate.z={gyro.noise / 1000.0}", "--json")
    assert wrong.code == 1


def test_a_verdict_names_its_options_and_its_flight(command, files, tmp_path):
    asked = ("validate", "fit.json", "second.parquet", "--without", "base.position.*")
    record = command(*asked, "--json").json["provenance"]
    assert record["options"] == "--without 'base.position.*'"
    assert record["flight_1"] == "second.parquet" and len(record["flight_1_sha256"]) == 64
