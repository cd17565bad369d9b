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
