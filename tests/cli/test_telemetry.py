"""`freefloat telemetry` shows a recording and judges it."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff

TIME = np.arange(1000) * 0.01


@pytest.fixture
def recording(tmp_path):
    """Save a flight with two gyro axes and an encoder that may be stuck; return its name."""

    def save(name: str, *, is_stuck: bool = False) -> str:
        noise = np.random.default_rng(0).normal(scale=1e-3, size=(TIME.size, 3))
        values = np.sin(TIME)[:, None] + noise
        if is_stuck:
            values[300:400, 2] = values[300, 2]
        names = ("base.rate.x", "base.rate.y", "elbow.position")
        flight = ff.Telemetry.from_arrays(
            TIME,
            dict(zip(names, values.T, strict=True)),
            noise={"base.rate.x": 1e-3, "base.rate.y": 1e-3},
            metadata={"robot": "my-robot [red]"},
        )
        flight.save(tmp_path / name)
        return name

    return save


@pytest.mark.parametrize("name", ["flight.csv", "flight.parquet"])
def test_a_sound_recording_is_shown(name, command, recording):
    ended = command("telemetry", recording(name))
    assert ended.code == 0 and not ended.err
    for part in ("base.rate.x|y", "rad/s", "100", "1000", "0.001", "my-robot [red]", "fit for use"):
        assert part in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_a_fault_is_a_negative_verdict(command, recording):
    ended = command("telemetry", recording("flight.csv", is_stuck=True))
    told = command("telemetry", "flight.csv", "--json")
    assert ended.code == told.code == 1 and told.json["ok"] is False
    (found,) = told.json["quality"]["findings"]
    assert (found["code"], found["place"]) == ("sensor.stuck", "elbow.position")
    assert "elbow.position" in ended.out and "0.99 s" in ended.out


def test_the_figures_for_machines_are_the_library_s(command, recording, tmp_path):
    told = command("telemetry", recording("flight.csv"), "--json").json
    flight = ff.read_telemetry(tmp_path / "flight.csv")
    assert told["ok"] and (told["start"], told["end"]) == (flight.start, flight.end)
    assert [channel["name"] for channel in told["channels"]] == list(flight.names)
    assert [channel["noise"] for channel in told["channels"]] == [1e-3, 1e-3, None]
    assert told["quality"] == ff.quality(flight).as_dict()


def test_a_threshold_can_be_set(command, recording):
    name = recording("flight.csv", is_stuck=True)
    assert command("telemetry", name, "--set", "shortest_stuck=200").code == 0


@pytest.mark.parametrize("name", ["flight.csv", "flight.parquet"])
def test_a_repair_is_written_and_logged(name, command, recording, tmp_path):
    ended = command("telemetry", recording(name, is_stuck=True), "--repair", f"better_{name}")
    told = command("telemetry", name, "--repair", f"again_{name}", "--json")
    assert ended.code == told.code == 0  # nothing is left to do
    (found,) = told.json["findings"]
    assert (found["code"], found["channels"]) == ("recording.stuck", ["elbow.position"])
    assert "stuck" in ended.out and f"better_{name}" in ended.out
    better = ff.read_telemetry(tmp_path / f"better_{name}")
    assert better["elbow.position"].n_invalid == 99
    assert "recording.stuck" in better.metadata["repair"]
    assert better == ff.read_telemetry(tmp_path / f"again_{name}")


def test_a_sound_recording_is_repaired_bit_for_bit(command, recording, tmp_path):
    ended = command("telemetry", recording("flight.csv"), "--repair", "same.csv")
    assert ended.code == 0
    assert (tmp_path / "same.csv").read_bytes() == (tmp_path / "flight.csv").read_bytes()


def test_what_cannot_be_repaired_is_said(command, tmp_path):
    rng = np.random.default_rng(0)
    values = {"arm.position": np.sin(TIME), "arm.velocity": -np.cos(TIME)}
    noisy = {name: v + 1e-4 * rng.normal(size=v.size) for name, v in values.items()}
    ff.Telemetry.from_arrays(TIME, noisy).save(tmp_path / "flight.csv")
    told = command("telemetry", "flight.csv", "--repair", "out.csv", "--json")
    assert told.code == 1 and "recording.axes" in {f["code"] for f in told.json["findings"]}


def test_a_repair_never_replaces_the_recording(command, recording, tmp_path):
    name = recording("flight.csv", is_stuck=True)
    before = (tmp_path / name).read_bytes()
    ended = command("telemetry", name, "--repair", name, "--json")
    assert ended.code == 2 and (tmp_path / name).read_bytes() == before
    assert [fault["code"] for fault in ended.json["error"]["faults"]] == ["file.conflict"]


def test_a_model_alone_is_refused(command, recording):
    ended = command("telemetry", recording("flight.csv"), "--model", "servicer", "--json")
    assert ended.code == 2
    assert [fault["code"] for fault in ended.json["error"]["faults"]] == ["option.conflict"]


def test_a_table_of_another_program_gives_one_fault_with_the_way_on(command, tmp_path):
    path = tmp_path / "rec.csv"
    names = [f"J{n}_ang_deg" for n in range(1, 20)]
    path.write_text("\n".join([",".join(["t", *names]), ",".join(["0"] * 20), ""]))
    ended = command("telemetry", path, "--json")
    (fault,) = ended.json["error"]["faults"]
    assert ended.code == 2 and fault["code"] == "channel.none"
    assert f"freefloat import {path} --suggest" in fault["remedy"]
    assert len(command("telemetry", path).err.splitlines()) <= 12
