"""`freefloat export`: what a fit, a verdict and a flight become."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from fit_samples import sample_fit
from validation_flights import planar, planar_flight

import freefloat as ff
from freefloat.model.urdf_write import write_urdf
from freefloat.telemetry import Telemetry, read_telemetry


@pytest.fixture
def fit(tmp_path):
    sample_fit().save(tmp_path / "fit.json")
    return tmp_path / "fit.json"


def test_a_fit_becomes_a_table_of_all_digits(command, fit):
    estimates = ff.load_fit(fit).estimates
    rows = list(csv.DictReader(io.StringIO(command("export", fit, "--to", "csv").out)))
    assert [row["name"] for row in rows] == [one.name for one in estimates]
    assert [float(row["value"]) for row in rows] == [one.value for one in estimates]
    found = json.loads(command("export", fit, "--to", "json").out)["parameters"]
    assert [row["value"] for row in found] == [one.value for one in estimates]
    assert all(row["std"] is None or row["std"] >= 0.0 for row in found)


def test_a_fit_becomes_a_table_of_latex(command, fit, tmp_path):
    out = tmp_path / "table.tex"
    assert command("export", fit, "--to", "latex", "--out", out).code == 0
    text = out.read_text()
    rows = [line for line in text.splitlines() if line.count("&") == 4]
    assert len(rows) == 1 + len(ff.load_fit(fit).estimates)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_a_fit_becomes_a_table_of_mass_properties(command, fit, tmp_path):
    found = ff.load_fit(fit).mass_properties
    arguments = ("export", fit, "--table", "mass-properties", "--to")
    rows = list(csv.DictReader(io.StringIO(command(*arguments, "csv").out)))
    assert {row["of"] for row in rows} == {one.of for one in found}
    wanted = [(one.of, q.name, q.value) for one in found for q in one.quantities]
    given = [(row["of"], row["quantity"], row["value"]) for row in rows]
    assert [(of, name) for of, name, _ in given] == [(of, name) for of, name, _ in wanted]
    for (*_, text), (*_, value) in zip(given, wanted, strict=True):
        assert text in ("", "nan") if np.isnan(value) else float(text) == value
    text = command(*arguments, "latex").out
    assert text.count(r"\begin{tabular}") == 1
    everything = json.loads(command("export", fit, "--to", "json").out)
    assert {"parameters", "mass_properties"} <= everything.keys()


def test_a_fit_becomes_a_robot_like_the_one_it_came_from(command, fit, tmp_path):
    model = ff.load_fit(fit).model
    (tmp_path / "robot.urdf").write_text(
        write_urdf(model).replace("<link ", "<!-- ours -->\n  <link ", 1), encoding="utf-8"
    )
    body = model.bodies[0]
    out = tmp_path / "new.urdf"
    like = ("--like", tmp_path / "robot.urdf")
    assert command("export", fit, "--to", "urdf", "--out", out, *like).code == 0
    again = ff.load_model(str(out)).body(body.name)
    assert "<!-- ours -->" in out.read_text()
    assert (again.mass, again.com, again.inertia) == (body.mass, body.com, body.inertia)
    ended = command("export", fit, "--to", "toml", "--out", tmp_path / "m.toml", *like, "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["option.conflict"]
    ended = command("export", fit, "--to", "urdf", "--out", out, "--like", "none.urdf", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.missing"]


def test_a_fit_becomes_mjcf_with_its_dynamics(command, fit, tmp_path):
    pytest.importorskip("mujoco")
    from robot_comparison import mujoco_difference

    out = tmp_path / "robot.xml"
    assert command("export", fit, "--to", "mjcf", "--out", out).code == 0
    # sums in another order
    assert mujoco_difference(out, ff.load_fit(fit).model) < 1e-12


@pytest.mark.parametrize("form", ["urdf", "toml"])
def test_a_fit_becomes_a_robot(command, fit, tmp_path, form):
    out = tmp_path / f"robot.{form}"
    assert command("export", fit, "--to", form, "--out", out).code == 0
    fitted = ff.load_fit(fit).model
    for body in fitted.bodies:
        # a URDF has decimals of every number, so that masses come back as they were
        assert ff.load_model(str(out)).body(body.name).mass == body.mass


@pytest.mark.parametrize("form", ["mcap", "csv", "mat", "parquet"])
def test_a_verdict_becomes_curves(command, tmp_path, form):
    ff.validate(planar(), planar_flight(3)).save(tmp_path / "verdict.json")
    out = tmp_path / f"curves.{form}"
    assert command("export", tmp_path / "verdict.json", "--to", form, "--out", out).code == 0
    curves = read_telemetry(out)
    measured = [name for name in curves.names if f"residual.{name}" in curves]
    assert measured
    for name in measured:
        left = curves[name].values - curves[f"predicted.{name}"].values
        assert np.array_equal(left, curves[f"residual.{name}"].values, equal_nan=True)


@pytest.mark.parametrize("form", ["mcap", "mat", "csv"])
def test_a_flight_becomes_another_file_to_the_last_bit(command, tmp_path, form):
    rng = np.random.default_rng(0)
    values = {f"base.rate.{axis}": rng.normal(size=9) for axis in "xyz"}
    values["base.rate.y"][3] = np.nan
    flight = Telemetry.from_arrays(np.arange(9) - 2.5, values, noise={"base.rate.x": 1e-3})
    late = Telemetry.from_arrays([0.1, 0.3], {"a b-c.position": [1.0, 2.0]})
    flight = flight.with_channels(*late.channels.values()).with_metadata(remark="two\nlines")
    flight.save(tmp_path / "flight.parquet")
    out = tmp_path / f"flight.{form}"
    assert command("export", tmp_path / "flight.parquet", "--to", form, "--out", out).code == 0
    assert read_telemetry(out) == flight or form == "csv"
    assert all(read_telemetry(out)[name] == flight[name] for name in flight.names)


def test_mcap_is_what_other_programs_expect(tmp_path):
    """Read by the library that its makers keep: JSON with a schema, in the order of time."""
    from mcap.reader import make_reader

    path = tmp_path / "flight.mcap"
    values = {"base.rate.x": [1.0, np.nan], "a.angle": [3.0, 4.0]}
    Telemetry.from_arrays([0.0, 0.5], values).save(path)
    with path.open("rb") as file:
        found = list(make_reader(file).iter_messages())
    assert {channel.topic for _, channel, _ in found} == {"/base/rate", "/a/angle"}
    assert {(schema.encoding, channel.message_encoding) for schema, channel, _ in found} == {
        ("jsonschema", "json")
    }
    stamps = [message.log_time for _, _, message in found]
    assert stamps == sorted(stamps) == [0, 0, 500_000_000, 500_000_000]
    rates = [json.loads(m.data) for _, channel, m in found if channel.topic == "/base/rate"]
    assert rates == [{"t": 0.0, "x": 1.0}, {"t": 0.5, "x": None}]


BAD = {
    "format of another thing": (("--to", "mcap", "--out", "f.mcap"), ["value.choice"]),
    "no file": (("--to", "urdf"), ["key.missing"]),
    "another suffix": (("--to", "urdf", "--out", "f.toml"), ["file.suffix"]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_written_is_refused(command, fit, tmp_path, name):
    arguments, codes = BAD[name]
    before = sorted(tmp_path.iterdir())
    ended = command("export", fit, *arguments, "--json")
    assert ended.code == 2 and ended.error_codes[1:] == codes
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_of_others_asks_for_a_map(command, tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "theirs.mat", {"x": 1.0})
    ended = command("telemetry", tmp_path / "theirs.mat", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.foreign"]
    assert "--suggest" in ended.json["error"]["faults"][0]["remedy"]
