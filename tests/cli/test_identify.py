"""`freefloat identify` asks the library, shows and writes its fit, and says what is amiss."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from fit_samples import sample_fit

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Fit
from freefloat.notes import as_note

ROWS = "time [s],base.rate.z [rad/s]\n0.0,0.1\n0.5,0.2\n1.0,0.1\n"


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What the library was asked for; it answers with `asked.fit`, or by raising `asked.error`."""
    for name in ("flight.csv", "other.csv"):
        (tmp_path / name).write_text(ROWS)
    told = SimpleNamespace(fit=sample_fit(), error=None, calls=0)

    def identify(
        model,
        parameters,
        flights,
        *,
        method,
        solver,
        robust,
        physical,
        momentum,
        drag,
        clock,
        **flying,
    ) -> Fit:
        told.calls += 1
        told.model, told.parameters, told.flights = model, parameters, flights
        told.momentum, told.drag, told.clock = momentum, drag, clock
        told.choices = {
            "method": method, "solver": solver, "robust": robust, "physical": physical,
        }  # fmt: skip
        if told.error is not None:
            raise told.error
        return told.fit

    module = SimpleNamespace(identify=identify)
    monkeypatch.setitem(sys.modules, "freefloat.identification.identify", module)
    return told


def test_the_root_and_what_is_grasped_unless_said(command, asked):
    ended = command("identify", "servicer", "flight.csv")
    assert ended.code == 0
    assert {name.partition(".")[0] for name in asked.parameters.names} == {"bus", "target"}
    assert len(asked.parameters.names) == 20
    assert "bus.*, target.*" in ended.out and "--free GLOB" in ended.out
    assert "20 parameters, 1 flight" in ended.err
    assert asked.choices == {
        "method": "auto",
        "solver": "corrected",
        "robust": None,
        "physical": True,
    }
    command("identify", "cepheus", "flight.csv")
    assert {name.partition(".")[0] for name in asked.parameters.names} == {"bus"}


def test_one_delay_for_all_sensors_of_a_clock(command, asked):
    ended = command(
        "identify", "planar-capture", "flight.csv", "--free", "target.mass",
        "--free", "delay.base.angle", "--tie", "delay.base.*=delay.base.angle",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    free = [p.name for p in asked.parameters.free_ones]
    assert free == ["target.mass", "delay.base.angle"]
    assert asked.parameters["delay.base.rate"].tied_to == ("delay.base.angle", 1.0)


def test_every_choice_reaches_the_library(command, asked):
    ended = command(
        "identify", "servicer", "flight.csv", "other.csv",
        "--free", "target.*", "--free", "bus.mass", "--fix", "target.m?", "--fix=target.ixy=-0.5",
        "--prior", "bus.mass=25", "--prior", "target.i??=10%",
        "--method", "angular", "--solver", "iv", "--robust", "tukey", "--no-physical",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    wanted = asked.parameters
    assert "bus.mass" in wanted.names and "target.mass" in wanted.names
    assert not {"target.mx", "target.my", "target.mz", "target.ixy"} & set(wanted.names)
    assert wanted["target.ixy"].value == -0.5
    assert wanted["bus.mass"].prior == (wanted["bus.mass"].value, 25.0)
    ixx = wanted["target.ixx"]
    assert ixx.prior == (ixx.value, pytest.approx(0.1 * ixx.value))
    assert wanted["target.mass"].prior is None
    choices = {"method": "angular", "solver": "iv", "robust": "tukey", "physical": False}
    assert asked.choices == choices and len(asked.flights) == 2
    assert "(the default" not in ended.out and re.search("prior: .*bus.mass", ended.out)


def test_bounds_starts_and_parameters_of_each_flight_reach_the_library(command, asked):
    ended = command(
        "identify", "servicer", "flight.csv", "other.csv", "--free", "target.*",
        "--bound", "target.mass=100..300", "--bound", "target.i??=0.5..", "--start",
        "target.mass=150", "--prior", "target.mass=20", "--per-recording", "target.m[xy]",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    mass, model = asked.parameters["target.mass"], ff.load_model("servicer").body("target").mass
    assert (mass.lower, mass.upper, mass.value) == (100.0, 300.0, 150.0)
    assert mass.status == "free" and mass.prior == (model, 20.0)  # which is about the model's
    ixx = asked.parameters["target.ixx"]
    assert (ixx.lower, ixx.upper) == (0.5, float("inf"))
    own = [p.name for p in asked.parameters if not p.is_shared]
    assert own == ["target.mx", "target.my"]


def test_channels_and_their_noise_are_chosen(command, asked, tmp_path):
    head, *rows = ROWS.splitlines()
    more = [f"{head},base.angle [rad],arm_1.position [rad]", *(f"{row},0,0" for row in rows)]
    (tmp_path / "flight.csv").write_text("\n".join(more) + "\n")
    both = ("identify", "planar-capture", "flight.csv", "other.csv")
    command(*both, "--channels", "base.*", "--without", "*.angle", "--noise", "base.*=1e-3")
    assert [flight.names for flight in asked.flights] == [("base.rate.z",)] * 2
    assert asked.flights[0]["base.rate.z"].noise == 1e-3
    command(*both, "--without", "arm_*")  # which only one of them has
    assert [len(flight.names) for flight in asked.flights] == [2, 1]
    ended = command(*both, "--channels", "arm_*", "--json")
    assert ended.error_codes[1:] == ["channel.none"] and ended.error_places == ["--channels"]
    assert "other.csv" in ended.json["error"]["faults"][0]["value"]


def test_the_library_is_quoted_in_words_of_the_command(command, asked):
    asked.error = IdentificationError("no torques; give plan=, or use method='output_error'")
    ended = command("identify", "cepheus", "flight.csv")
    assert "give --plan, or use --method output_error" in " ".join(ended.err.split())


def test_the_screen_shows_the_fit_within_eighty_columns(command, asked):
    ended = command("identify", "cepheus", "flight.csv")
    assert all(str(asked.fit).splitlines()[row] in ended.out for row in (0, 6))
    assert "--out fit.json" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_mass_properties_are_shown_if_asked_for(command, asked):
    plain = command("identify", "cepheus", "flight.csv").out
    ended = command("identify", "cepheus", "flight.csv", "--mass-properties")
    assert "Mass properties of" not in plain
    for one in asked.fit.mass_properties:
        assert f"Mass properties of {one.of}" in ended.out
    assert "com.x" in ended.out and "moment.x" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_the_same_for_machines(command, asked):
    told = command("identify", "cepheus", "flight.csv", "--json").json
    assert told["ok"] is True and told["method"] == "angular momentum"
    assert told["status"] == asked.fit.status and told["notes"] == [
        as_note(note).as_dict() for note in asked.fit.notes
    ]
    by_name = {entry["name"]: entry for entry in told["parameters"]}
    mass = by_name["bus.mass"]
    assert (mass["value"], mass["std"], mass["interval95"]) == (902.3456789, 2.14, [898.1, 906.6])
    assert (mass["unit"], mass["status"]) == ("kg", "seen")
    assert by_name["bus.ixx"]["std"] is None and by_name["bus.ixx"]["interval95"] is None
    assert told["combinations"][0]["words"] == "bus.izz + 2 arm_1.mass"
    assert told["flights"] == ["flight.csv"] and told["free"] == ["bus.*"]


def test_a_fit_names_its_options_and_its_map(command, asked, tmp_path):
    head = ROWS.partition("\n")[0].split(",")
    channels = [name.partition(" ")[0] for name in head if not name.startswith("time")]
    entries = "".join(f'[[channel]]\nto = "{name}"\nfrom = "{name}"\n' for name in channels)
    (tmp_path / "map.toml").write_text(f"format = 1\n{entries}", encoding="utf-8")
    given = ("--map", "map.toml", "--channels", "*", "--bound", "bus.mass=1..", "--start",
             "bus.mass=9", "--noise", f"{channels[0]}=0.5", "--method", "momentum")  # fmt: skip
    ended = command("identify", "cepheus", "flight.csv", "--out", "fit.json", *given)
    assert ended.code == 0, ended.err
    record = ff.load_fit(tmp_path / "fit.json").provenance
    words = shlex.split(record["options"])
    pairs = set(zip(words[::2], words[1::2], strict=True))
    assert pairs == set(zip(given[::2], given[1::2], strict=True))
    assert record["map"] == "map.toml" and len(record["map_sha256"]) == 64


def test_fit_and_model_are_written(command, asked, tmp_path):
    ended = command(
        "identify", "cepheus", "flight.csv", "--out", "fit.json", "--save-model", "new.toml"
    )
    assert ended.code == 0 and "fit.json" in ended.out and "not written" not in ended.out
    fit = ff.load_fit(tmp_path / "fit.json")
    assert repr(fit.estimates) == repr(asked.fit.estimates)
    digest = hashlib.sha256(ROWS.encode()).hexdigest()
    assert fit.provenance["flight_1_sha256"] == digest and fit.provenance["model"] == "cepheus"
    assert fit.provenance["seed"] == "3"
    assert "options" not in fit.provenance
    written = ff.load_model(tmp_path / "new.toml")
    assert "flight.csv" in written.description
    assert replace(written, description=asked.fit.model.description) == asked.fit.model
    urdf = command("identify", "cepheus", "flight.csv", "--save-model", "new.urdf", "--json")
    assert urdf.json["files"] == {"model": "new.urdf"} and (tmp_path / "new.urdf").exists()


def test_a_fit_that_cannot_be_trusted_is_a_negative_verdict(command, asked, tmp_path):
    asked.fit = sample_fit(is_trustworthy=False, status="The residuals are 9 times the noise.")
    ended = command("identify", "cepheus", "flight.csv", "--out", "fit.json")
    assert ended.code == 1 and str(asked.fit).splitlines()[0] in ended.out
    assert "9 times" in ended.out
    assert not ff.load_fit(tmp_path / "fit.json").is_trustworthy
    told = command("identify", "cepheus", "flight.csv", "--json")
    assert told.code == 1 and told.json["ok"] is False


def test_a_fit_that_was_not_assessed_is_called_so(command, asked):
    ended = command("identify", "cepheus", "flight.csv", "--no-assess")
    assert (
        ended.code == 0
        and "not assessed" in ended.out
        and "can be trusted" not in (ended.out.splitlines()[0])
    )
    told = command("identify", "cepheus", "flight.csv", "--no-assess", "--json").json
    assert told["grade"] == "not assessed" and told["adjusted"] == asked.fit.adjusted
    assert "± std" in told["deviations"] and "± total" not in told["deviations"]


def test_an_identification_that_cannot_be_is_bad_input(command, asked, tmp_path):
    asked.error = IdentificationError("the base rate is not measured; add a gyro")
    ended = command("identify", "cepheus", "flight.csv", "--out", "fit.json")
    assert ended.code == 2 and "add a gyro" in ended.err
    assert not (tmp_path / "fit.json").exists()


def test_a_bug_is_a_bug(command, asked):
    asked.error = ZeroDivisionError("oops")
    ended = command("identify", "cepheus", "flight.csv")
    assert ended.code == 3 and "report" in ended.err and "Traceback" not in ended.err


BAD_INPUT = {
    "no flight": ((), "key.missing"),
    "no such flight": (("nowhere.csv",), "file.missing"),
    "a flight of another kind": (("flight.xlsx",), "file.suffix"),
    "a flight twice": (("flight.csv", "./flight.csv"), "name.duplicate"),
    "free of nothing": (("flight.csv", "--free", "buss.mass"), "name.unknown"),
    "free and a hint": (("flight.csv", "--free", "buss.mass"), "name.unknown"),
    "a flag after --free": (("flight.csv", "--free"), "key.missing"),
    "fix of nothing": (("flight.csv", "--fix", "bux.*=3"), "name.unknown"),
    "fix at a word": (("flight.csv", "--fix", "bus.mass=heavy"), "option.form"),
    "fix at a comma": (("flight.csv", "--fix", "bus.mass=1,5"), "option.form"),
    "fix at nan": (("flight.csv", "--fix", "bus.mass=nan"), "option.form"),
    "fix at nothing": (("flight.csv", "--fix", "bus.mass="), "option.form"),
    "fix in many units": (("flight.csv", "--fix", "bus.*=3"), "value.conflict"),
    "everything fixed": (("flight.csv", "--fix", "*"), "value.count"),
    "a tie of nothing": (("flight.csv", "--tie", "bux.mass=bus.mass"), "name.unknown"),
    "a tie to nothing": (("flight.csv", "--tie", "bus.mass"), "option.form"),
    "a tie to a glob": (("flight.csv", "--tie", "bus.mass=bus.m?"), "option.form"),
    "a tie to a fixed one": (("flight.csv", "--tie", "bus.mass=link_1.mass"), "value.conflict"),
    "a prior of nothing": (("flight.csv", "--prior", "bux.mass=3"), "name.unknown"),
    "a prior without spread": (("flight.csv", "--prior", "bus.mass"), "option.form"),
    "a prior of a word": (("flight.csv", "--prior", "bus.mass=some"), "option.form"),
    "a prior of zero": (("flight.csv", "--prior", "bus.mass=0"), "option.form"),
    "a prior below zero": (("flight.csv", "--prior", "bus.mass=-5%"), "option.form"),
    "a prior of inf": (("flight.csv", "--prior", "bus.mass=inf"), "option.form"),
    "a percentage of nothing": (("flight.csv", "--prior", "bus.mz=10%"), "value.range"),
    "a prior on a fixed one": (("flight.csv", "--prior", "link_1.mass=3"), "value.conflict"),
    "a bound of nothing": (("flight.csv", "--bound", "bux.mass=0..1"), "name.unknown"),
    "a bound without a range": (("flight.csv", "--bound", "bus.mass=3"), "option.form"),
    "a bound of a word": (("flight.csv", "--bound", "bus.mass=a..3"), "option.form"),
    "a bound of neither side": (("flight.csv", "--bound", "bus.mass=.."), "option.form"),
    "a bound upside down": (("flight.csv", "--bound", "bus.mass=3..1"), "option.order"),
    "a bound in many units": (("flight.csv", "--bound", "bus.*=0..1"), "value.conflict"),
    "a bound of a fixed one": (("flight.csv", "--bound", "link_1.mass=0..1"), "value.conflict"),
    "a start of nothing": (("flight.csv", "--start", "bux.mass=3"), "name.unknown"),
    "a start at a word": (("flight.csv", "--start", "bus.mass=heavy"), "option.form"),
    "a start in many units": (("flight.csv", "--start", "bus.*=3"), "value.conflict"),
    "a start of a fixed one": (("flight.csv", "--start", "link_1.mass=3"), "value.conflict"),
    "each flight's nothing": (("flight.csv", "--per-recording", "bux.*"), "name.unknown"),
    "each flight's fixed one": (("flight.csv", "--per-recording", "link_1.mass"), "value.conflict"),
    "each flight's by linear equations": (
        ("flight.csv", "--per-recording", "bus.mass", "--method", "momentum"),
        "option.conflict",
    ),
    "no such channel": (("flight.csv", "--channels", "base.rat.z"), "channel.unknown"),
    "without no such channel": (("flight.csv", "--without", "bas.*"), "channel.unknown"),
    "noise of no such channel": (("flight.csv", "--noise", "bas.*=1"), "channel.unknown"),
    "noise of a word": (("flight.csv", "--noise", "base.*=low"), "option.form"),
    "noise below zero": (("flight.csv", "--noise", "base.*=-1"), "option.form"),
    "nothing is left": (("flight.csv", "--without", "*"), "channel.none"),
    "no such method": (("flight.csv", "--method", "magic"), "value.type"),
    "no such solver": (("flight.csv", "--solver", "magic"), "value.type"),
    "a fit of another kind": (("flight.csv", "--out", "fit.toml"), "file.suffix"),
    "a model of another kind": (("flight.csv", "--save-model", "m.json"), "file.suffix"),
    "no folder for the fit": (("flight.csv", "--out", "no/fit.json"), "file.unwritable"),
    "no folder for the model": (("flight.csv", "--save-model", "no/m.toml"), "file.unwritable"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_names_its_option_and_remedy_and_nothing_is_done(case, command, asked, tmp_path):
    arguments, code = BAD_INPUT[case]
    before = set(tmp_path.rglob("*"))
    ended = command("identify", "cepheus", *arguments)
    assert ended.code == 2 and not ended.out and asked.calls == 0
    assert ended.err.count("error: ") == 1 and "Traceback" not in ended.err
    assert set(tmp_path.rglob("*")) == before
    told = command("identify", "cepheus", *arguments, "--json")
    assert told.code == 2 and code in told.error_codes
    if code not in ("key.missing", "value.type") and arguments[1:] and "--" in arguments[1]:
        assert told.error_places[0] in (arguments[1], arguments[2])  # the option, or the file


def test_every_fault_of_the_parameters_is_told_at_once(command, asked):
    told = command(
        "identify", "cepheus", "flight.csv", "--json",
        "--free", "bux.*", "--fix", "bus.mass=heavy", "--prior", "bus.mass=0",
        "--prior", "bus.mx=1",
    )  # fmt: skip
    places = [fault["place"] for fault in told.json["error"]["faults"]]
    assert places == ["--free", "--fix", "--prior"]


def test_the_model_it_started_from_is_not_replaced(command, asked, tmp_path):
    command("models", "copy", "cepheus", "mine.toml")
    before = (tmp_path / "mine.toml").read_bytes()
    ended = command("identify", "mine.toml", "flight.csv", "--save-model", "./mine.toml", "--json")
    assert ended.code == 2 and "file.conflict" in ended.error_codes
    assert ended.error_places == ["--save-model"]
    assert (tmp_path / "mine.toml").read_bytes() == before


def test_help_has_two_examples_within_eighty_columns(command):
    shown = command("identify", "--help")
    assert shown.code == 0
    assert shown.out.partition("For example:")[2].count("freefloat identify") == 2
    assert max(map(len, shown.out.splitlines())) <= 80
    assert "identify" in command("--help").out


def test_a_cold_cache_is_announced(command, asked, monkeypatch):
    monkeypatch.setattr("freefloat.cli.waiting.is_compiled", lambda *_: False)
    ended = command("identify", "cepheus", "flight.csv", "--json")
    assert "compiling" in ended.err and ended.json["ok"]


def test_a_known_momentum_and_drag_are_passed_on(command, asked):
    words = ("--momentum", "0", "0", "0.3", "--drag", "--clock", "base")
    command("identify", "cepheus", "flight.csv", *words)
    assert tuple(asked.momentum) == (0.0, 0.0, 0.3) and asked.drag and asked.clock == "base"
    command("identify", "cepheus", "flight.csv")
    assert asked.momentum is None and not asked.drag


def test_assumptions_are_freed_by_name(command, asked):
    command("identify", "cepheus", "flight.csv", "--free", "thr_1.gain", "--free", "drag.*")
    assert asked.parameters.names == ("thr_1.gain", "drag.linear", "drag.angular")
