"""`freefloat diagnose` and `identify --assess`: what is wrong has a name, what is right none."""

from __future__ import annotations

import pytest

import freefloat as ff


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A right flight, and the same with a gyro that reads 1 % too much."""
    folder = tmp_path_factory.mktemp("flights")
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=30.0), seed=1)
    flight.save(folder / "right.parquet")
    gyro = flight["base.rate.z"]
    values = gyro.values * 1.01
    wrong = type(gyro)(gyro.name, gyro.unit, gyro.time, values, gyro.valid, gyro.noise)
    flight.with_channels(wrong).save(folder / "wrong.parquet")
    return folder


def test_a_wrong_gain_is_named_with_its_size_and_healed(command, recorded):
    ended = command(
        "diagnose", "planar-capture", str(recorded / "wrong.parquet"), "--free", "target.mass",
        "--free", "target.izz", "--json", "--raw",
    )  # fmt: skip
    found = ended.json["assessment"]
    # the estimates allow for it
    assert ended.code == 0 and found["grade"] == "with reservations"
    cause = found["causes"][0]
    assert cause["names"][0] == "gain.base.rate.z" and cause["heals"]
    assert cause["amplitude"] == pytest.approx(0.01, rel=0.05)  # it reads 1 % too much


def test_a_saved_fit_is_graded_as_identify_graded_it(command, recorded):
    flight = str(recorded / "wrong.parquet")
    made = command(
        "identify", "planar-capture", flight, "--free", "target.mass", "--free", "target.izz",
        "--raw", "--out", "adjusted.json", "--json",
    )  # fmt: skip
    again = command(
        "diagnose", "planar-capture", flight, "--fit", "adjusted.json", "--raw", "--json"
    )
    assert again.code == made.code == 0
    first, second = made.json["assessment"], again.json["assessment"]
    assert first["grade"] == second["grade"] == "with reservations"
    assert [c["names"] for c in first["causes"]] == [c["names"] for c in second["causes"]]
    for a, b in zip(made.json["parameters"], again.json["parameters"], strict=True):
        assert a["value"] == b["value"]
        # both searches end within a fifth of a standard deviation of the maximum
        assert a["total_std"] == pytest.approx(b["total_std"], rel=0.05)


def test_a_right_flight_is_trusted_and_says_what_carries_the_scale(command, recorded):
    ended = command(
        "identify", "planar-capture", str(recorded / "right.parquet"), "--free", "target.mass",
        "--out", "fit.json", "--json",
    )  # fmt: skip
    found = ended.json["assessment"]
    assert ended.code == 0 and found["grade"] == "trusted" and found["causes"] == []
    (mass,) = ended.json["parameters"]
    assert mass["total_std"] > mass["std"] > 0.0
    doubts = {doubt["name"]: doubt for doubt in found["doubts"]}
    assert "bodies.scale" in doubts and doubts["bodies.scale"]["is_stated"]
    saved = ff.load_fit("fit.json")
    assert saved.assessment is not None and saved.assessment.grade == "trusted"
    again = command(
        "diagnose", "planar-capture", str(recorded / "right.parquet"), "--fit", "fit.json"
    )
    assert again.code == 0


def test_a_fit_of_another_model_is_refused(command, recorded, tmp_path):
    model = ff.load_model("cepheus")
    flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    ff.identify(model, ff.Parameters(model).free("bus.izz"), flight).save(tmp_path / "other.json")
    ended = command(
        "diagnose", "planar-capture", str(recorded / "right.parquet"), "--fit", "other.json",
        "--json",
    )  # fmt: skip
    assert ended.code == 2 and "fit.other_model" in ended.out + ended.err


def test_an_uncertainty_can_be_stated_for_once(command, recorded):
    told = ("--uncertainty", "*.scale=0.03", "--uncertainty", "link_1.scale=0")
    ended = command(
        "identify", "planar-capture", str(recorded / "right.parquet"), "--free", "target.mass",
        *told, "--out", "stated.json", "--json",
    )  # fmt: skip
    doubts = {doubt["name"]: doubt for doubt in ended.json["assessment"]["doubts"]}
    assert ended.code == 0 and doubts["bodies.scale"]["deviation"] == 0.03
    saved = ff.load_fit("stated.json")
    assert saved.prior_model.uncertainty == {"*.scale": 0.03, "link_1.scale": 0.0}
    # a fit that was saved may be doubted anew
    again = command(
        "diagnose", "planar-capture", str(recorded / "right.parquet"), "--fit", "stated.json",
        "--uncertainty", "*.scale=0.05", "--json",
    )  # fmt: skip
    doubts = {doubt["name"]: doubt for doubt in again.json["assessment"]["doubts"]}
    assert doubts["bodies.scale"]["deviation"] == 0.05


def test_uncertainties_of_nothing_are_refused(command, recorded):
    flight = str(recorded / "right.parquet")
    ended = command("identify", "planar-capture", flight, "--uncertainty", "arm_9.zero=1e-3")
    assert ended.code == 2 and "arm_1.zero" in ended.err
    ended = command("diagnose", "planar-capture", flight, "--uncertainty", "arm_1.zero=-1")
    assert ended.code == 2 and "--uncertainty" in ended.err
