"""Where noisy encoders drive the model, the fit says what that costs and what to do instead."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from estimator import identify

import freefloat as ff
from freefloat.cli.run import run
from freefloat.excitation import Pulses

MODEL = ff.load_model("planar-capture")
PLAN = replace(ff.default_plan(MODEL, duration=20.0), thrusts={"thr_1": Pulses(((1.0, 5.0, 5.0),))})
FREE = ("bus.mass", "bus.mx", "bus.my", "bus.izz", "target.mass")
CODE = "inputs.encoder_noise"


def flown(noise: float) -> ff.Telemetry:
    """A flight of 10 Hz with encoders of some noise [rad]; joint rates are as good as ever."""
    sensors = tuple(replace(s, noise=noise) if s.kind == "encoder" else s for s in MODEL.sensors)
    return ff.simulate(MODEL, PLAN, seed=1, step=1e-2, sensors=sensors)


def encoder_notes(fit: ff.Fit) -> list[str]:
    return [note for note in fit.notes if getattr(note, "code", "") == CODE]


def test_noisy_encoders_are_told_of_with_a_remedy_that_helps() -> None:
    flight, wanted = flown(5e-3), ff.Parameters(MODEL).free(*FREE)
    fit = identify(MODEL, wanted, flight, method="output_error")
    (note,) = encoder_notes(fit)
    assert "--plan" in note and "--method momentum" in note
    (name,) = [name for name in FREE if f" {name} to " in note]
    other = identify(MODEL, wanted, flight, method="momentum")
    assert other[name].std < 0.5 * fit[name].std
    planned = identify(MODEL, wanted, flight, method="output_error", plan=PLAN)
    assert not encoder_notes(planned)
    assert planned[name].std < 0.5 * fit[name].std


def test_good_encoders_are_nothing_to_talk_about() -> None:
    wanted = ff.Parameters(MODEL).free(*FREE)
    assert not encoder_notes(identify(MODEL, wanted, flown(1e-5), method="output_error"))


def test_the_command_says_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    flown(5e-3).save("flight.parquet")
    asked = ["identify", "planar-capture", "flight.parquet", "--method", "output_error"]
    asked += [word for name in FREE for word in ("--free", name)]
    run(asked)
    assert "--method momentum" in " ".join(capsys.readouterr().out.split())
    run([*asked, "--json"])
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any(note["code"] == CODE for note in notes)
