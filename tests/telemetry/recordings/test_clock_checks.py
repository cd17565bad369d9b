"""Clocks of a map that are none, and clocks that have nothing to do with one another."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import TelemetryError
from freefloat.notes import codes_of
from freefloat.telemetry.recordings.import_telemetry import (
    Imported,
    import_recording,
    open_recording,
)
from freefloat.telemetry.recordings.map_suggestion import suggest_map

N = 200
TIME = np.arange(N) * 0.01
RATE = '[[channel]]\nto = "base.rate"\nfrom = ["wx", "wy", "wz"]\n'


def imported(folder: Path, text: str, **columns: np.ndarray) -> Imported:
    """A table of a gyro with these columns instead or besides, by a map of this text."""
    angles = {name: np.sin(k * TIME) for k, name in enumerate(("wx", "wy", "wz"), start=1)}
    table = {"time": TIME, **angles} | columns
    rows = [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    (folder / "log.csv").write_text("\n".join([",".join(table), *rows, ""]), encoding="utf-8")
    (folder / "map.toml").write_text("format = 1\n" + text, encoding="utf-8")
    return import_recording(folder / "log.csv", folder / "map.toml")


def test_a_sound_clock_has_no_note(tmp_path):
    assert imported(tmp_path, RATE).notes == ()


@pytest.mark.parametrize("clock", [np.zeros(N), np.sin(9.0 * TIME)])
def test_what_does_not_go_on_is_no_clock(tmp_path, clock):
    with refused(TelemetryError, "time.order"):
        imported(tmp_path, RATE, time=clock)


def test_stamps_that_repeat_or_go_back_are_counted(tmp_path):
    time = TIME.copy()
    time[50:60] = time[50]
    time[100:] -= 0.5
    (note,) = imported(tmp_path, RATE, time=time).notes
    assert note.code == "recording.stamps" and "9 repeat" in note and "1 go back" in note


def test_clocks_without_an_instant_in_common_are_noted(tmp_path):
    speed = '[[channel]]\nto = "rw.speed"\nfrom = "wx"\nclock = "{}"\n'
    other = imported(tmp_path, RATE + speed.format("t2"), t2=TIME + 1.7e9)
    assert codes_of(other.notes) == ("recording.clocks_apart",)
    assert imported(tmp_path, RATE + speed.format("t2"), t2=TIME + 0.5).notes == ()


def test_a_scale_of_zero_and_a_component_twice_are_refused(tmp_path):
    with refused(TelemetryError, "value.range"):
        imported(tmp_path, RATE + "scale = 0\n")
    with refused(TelemetryError, "value.choice"):
        imported(tmp_path, RATE + 'axes = ["x", "x", "z"]\n')


def test_left_handed_axes_are_noted(tmp_path):
    left = imported(tmp_path, RATE + 'axes = ["x", "y", "-z"]\n')
    assert codes_of(left.notes) == ("recording.left_handed",)
    assert imported(tmp_path, RATE + 'axes = ["-y", "x", "z"]\n').notes == ()


def test_a_name_of_many_thousand_letters_is_kept_short(tmp_path):
    told = imported(tmp_path, RATE, **{"x" * 20_000: TIME}).telemetry.metadata["not mapped"]
    assert len(told) < 300


@pytest.mark.parametrize(("unit", "per_second"), [("ns", 10**9), ("us", 10**6), ("ms", 1000)])
def test_dates_taken_in_another_unit_are_refused(tmp_path, unit, per_second):
    stamps = 1_780_000_000 * per_second + 10 * per_second // 1000 * np.arange(N)
    clock = '[time]\nclock = "when"\n{}'
    with refused(TelemetryError, "time.unit", naming=f'unit = "{unit}"'):
        imported(tmp_path, clock.format("") + RATE, when=stamps)
    made = imported(tmp_path, clock.format(f'unit = "{unit}"\n') + RATE, when=stamps)
    assert made.telemetry.duration == pytest.approx(TIME[-1]) and made.notes == ()
    named = f'[time]\nclock = "stamp_{unit}"\n'  # the name says it
    made = imported(tmp_path, named + RATE, **{f"stamp_{unit}": stamps})
    assert made.telemetry.duration == pytest.approx(TIME[-1])


def test_a_clock_whose_steps_no_recording_has_is_noted(tmp_path):
    made = imported(tmp_path, '[time]\nclock = "ticks"\n' + RATE, ticks=1e7 * np.arange(N))
    assert codes_of(made.notes) == ("recording.clock_rate",)


@pytest.mark.parametrize("name", ["header.stamp_ns", "ticks"])
def test_a_draft_states_the_unit_of_dates(tmp_path, name):
    stamps = 1_780_000_000 * 10**9 + 10**7 * np.arange(5)
    rows = [f"{stamp},{0.1 * n}" for n, stamp in enumerate(stamps.tolist())]
    (tmp_path / "log.csv").write_text("\n".join([f"{name},x", *rows, ""]), encoding="utf-8")
    draft = suggest_map(open_recording(tmp_path / "log.csv"), max_bytes=2**20)
    assert tomllib.loads(draft)["time"] == {"clock": name, "unit": "ns"}
