"""`freefloat import`, and the same map given to the verbs that read flights."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from foreign_recordings import FORMATS, RATES, TOPIC_MAP, N, write_recording

from freefloat.telemetry import read_telemetry
from freefloat.telemetry.recordings.map_suggestion import suggest_map
from freefloat.telemetry.recordings.source_recording import (
    RecordedField,
    RecordedStream,
    SourceRecording,
)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".mcap", ".mat"])
def test_a_recording_becomes_telemetry(command, tmp_path, suffix):
    path, map_path = write_recording("mcap_json", tmp_path)
    out = tmp_path / f"out{suffix}"
    ended = command("import", path, "--map", map_path, "--out", out, "--json")
    assert ended.code == 0 and ended.json["files"] == {"telemetry": str(out)}
    assert ended.json["unmapped"] == ["/joint_states.name"]
    flight = read_telemetry(out)
    assert flight["base.rate.y"].values.tobytes() == RATES[:, 1].tobytes()
    assert flight.metadata["not mapped"] == "/joint_states.name"


def test_without_a_map_the_fields_are_listed(command, tmp_path):
    path, _ = write_recording("ros1", tmp_path)
    ended = command("import", path, "--json")
    streams = {one["name"]: one for one in ended.json["streams"]}
    assert streams["/imu"]["type"] == "sensor_msgs/Imu"
    fields = {one["name"]: one for one in streams["/imu"]["fields"]}
    assert fields["/imu.angular_velocity.x"]["samples"] == N
    shown = command("import", path)
    assert shown.code == 0 and "angular_velocity.x|y|z" in shown.out
    assert "/imu.orientation" in shown.out  # how a map calls it
    assert max(map(len, shown.out.splitlines())) <= 80 and len(shown.out.splitlines()) < 40
    assert "--suggest" in shown.out


def test_what_a_message_calls_not_measured_is_not_drafted():
    """ROS says so by a covariance that begins with -1; the vector itself is zeros."""
    fields = [RecordedField(f"linear_acceleration.{axis}", 9, example=0.0) for axis in "xyz"]
    fields += [RecordedField(f"angular_velocity.{axis}", 9, example=0.0) for axis in "xyz"]
    fields += [RecordedField("linear_acceleration_covariance[0]", 9, example=-1.0)]
    stream = RecordedStream("/imu", tuple(fields), "sensor_msgs/Imu")
    recording = SourceRecording(Path("bag"), "ROS 1 bag", (stream,), lambda wanted: iter(()))
    text = suggest_map(recording, max_bytes=2**20)
    assert 'to = "base.rate"' in text and 'to = "base.acceleration"' not in text
    assert "# not mapped: /imu.linear_acceleration (not measured" in text


def test_a_second_source_of_a_channel_is_offered_as_a_comment():
    streams = tuple(
        RecordedStream(name, tuple(RecordedField(f"{path}.{axis}", 9) for axis in "xyz"), kind)
        for name, path, kind in (("/imu", "angular_velocity", "sensor_msgs/Imu"),
                                 ("/second", "angular_velocity", "sensor_msgs/Imu"))
    )  # fmt: skip
    recording = SourceRecording(Path("bag"), "ROS 1 bag", streams, lambda wanted: iter(()))
    text = suggest_map(recording, max_bytes=2**20)
    assert '\nto = "base.rate"' in text and '\n# to = "second.rate"' in text
    assert len(tomllib.loads(text)["channel"]) == 1


def test_the_effort_of_a_joint_is_drafted_as_that_of_its_motor():
    """With friction in the joint, a torque behind it would be another one."""
    fields = tuple(RecordedField(f"{what}[arm]", 9) for what in ("position", "effort"))
    stream = RecordedStream("/joint_states", fields, "sensor_msgs/msg/JointState")
    recording = SourceRecording(Path("bag"), "ROS 2 bag", (stream,), lambda wanted: iter(()))
    text = suggest_map(recording, max_bytes=2**20)
    (effort,) = (part for part in text.split("[[channel]]") if "effort[*]" in part)
    assert 'to = "*.motor_torque"' in effort and "# guessed: effort" in effort


def test_a_draft_is_written_to_a_file_of_its_own(command, tmp_path):
    path, _ = write_recording("ros2", tmp_path)
    draft = tmp_path / "draft.toml"
    ended = command("import", path, "--suggest", "--out", draft)
    assert ended.code == 0 and "draft.toml" in ended.out
    assert draft.read_text().rstrip() == command("import", path, "--suggest").out.rstrip()
    ended = command("import", path, "--suggest", "--out", tmp_path / "draft.csv", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.suffix"]
    assert ended.error_places == ["--out"] and not (tmp_path / "draft.csv").exists()


@pytest.mark.parametrize("name", ["ros1", "ros2", "mcap_ros2", "csv", "npz", "mat", "ulog"])
def test_a_draft_is_a_map_as_it_stands(command, tmp_path, name):
    path, _ = write_recording(name, tmp_path)
    drafted = command("import", path, "--suggest")
    assert drafted.code == 0
    draft = tmp_path / "draft.toml"
    draft.write_text(drafted.out)
    ended = command("import", path, "--map", draft, "--json")
    assert ended.code == 0, ended.err
    names = {channel["name"] for channel in ended.json["channels"]}
    if name in ("ros1", "ros2", "mcap_ros2"):
        assert {"base.rate.x", "arm_1.position", "arm_2.position"} <= names
        assert 'from = "/joint_states.position[*]"' in drafted.out
        assert "# guessed" in drafted.out
    else:
        assert names


def test_sizes_tell_degrees_from_radians_in_a_draft(command, tmp_path):
    path = tmp_path / "log.csv"
    rows = "\n".join(f"{0.1 * n:.1f},{100 + n},{n},{0.01 * n}" for n in range(20))
    path.write_text(f"time,yaw,gyro_x,gyro_y\n{rows}\n")
    drafted = command("import", path, "--suggest").out
    assert 'unit = "deg"' in drafted and 'unit = "deg/s"' in drafted
    assert 'clock = "time"' in drafted


def test_a_recording_of_any_kind_is_judged_directly(command, tmp_path):
    path, map_path = write_recording("hdf5", tmp_path)
    ended = command("telemetry", path, "--map", map_path, "--json")
    assert {one["name"] for one in ended.json["channels"]} >= {"base.rate.x", "arm_2.position"}
    ended = command("telemetry", path, "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.suffix"]
    assert "--suggest" in ended.json["error"]["faults"][0]["remedy"]


def test_identify_takes_a_folder_with_a_map(command, tmp_path, monkeypatch):
    """The folder of a ROS 2 bag goes as far as any flight: here it lacks what the method needs."""
    path, map_path = write_recording("ros2", tmp_path)
    ended = command("identify", "spatial-capture", path, "--map", map_path, "--json")
    assert ended.code == 2  # two joints of random numbers are no flight of that robot
    assert ended.json["error"]["kind"] == "IdentificationError"


BAD = {
    "a field that is not there": (TOPIC_MAP.replace("/imu.", "/gyro."), "map.field"),
    "no map": ("format = 1\n", "key.missing"),
    "no TOML": ("format = 1\nto = base.rate\n", "file.syntax"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_map_ends_with_exit_code_2_and_no_file(command, tmp_path, name):
    path, map_path = write_recording("mcap_json", tmp_path)
    text, code = BAD[name]
    map_path.write_text(text)
    before = sorted(tmp_path.iterdir())
    ended = command("import", path, "--map", map_path, "--out", tmp_path / "o.parquet", "--json")
    assert ended.code == 2 and code in ended.error_codes
    assert sorted(tmp_path.iterdir()) == before
    fault = ended.json["error"]["faults"][0]
    assert "map.toml" in fault["place"] and fault["remedy"]


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("ros2", "ulog")])
def test_a_recording_of_half_its_bytes_never_ends_in_a_traceback(command, tmp_path, name):
    path, map_path = write_recording(name, tmp_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    out = tmp_path / "o.parquet"
    ended = command("import", path, "--map", map_path, "--out", out, "--json")
    assert ended.code in (0, 2) and out.exists() == (ended.code == 0)


def test_options_that_contradict_each_other_are_refused(command, tmp_path):
    path, map_path = write_recording("npz", tmp_path)
    ended = command("import", path, "--out", tmp_path / "o.csv", "--json")
    assert ended.code == 2 and ended.error_places == ["--out"]
    ended = command("import", path, "--map", map_path, "--suggest", "--json")
    assert ended.code == 2 and ended.error_places == ["--suggest"]
    ended = command("import", path, "--map", map_path, "--out", path.with_suffix(".xyz"), "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.suffix"]
    ended = command("import", tmp_path / "nothing.bag", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.missing"]


def test_a_package_that_is_not_there_is_named_with_its_extra(command, tmp_path, monkeypatch):
    path, _ = write_recording("hdf5", tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    ended = command("import", path, "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["package.missing"]
    assert "freefloat[bags]" in ended.json["error"]["faults"][0]["remedy"]


def test_the_output_may_not_be_the_recording(command, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,a\n0,1\n1,2\n")
    map_path = tmp_path / "map.toml"
    map_path.write_text('format = 1\n[[channel]]\nto = "a.angle"\nfrom = "a"\n')
    ended = command("import", path, "--map", map_path, "--out", path, "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["file.conflict"]
    assert np.loadtxt(path, delimiter=",", skiprows=1).shape == (2, 2)


def test_names_with_units_words_and_numbers_are_placed_in_a_draft(command, tmp_path):
    names = [f"imu_{axis}_dps" for axis in "xyz"] + [f"nav_vel_{axis}_mmps" for axis in "xyz"]
    names += [f"str_q{n}" for n in range(4)] + ["J1_ang_deg", "J1_rate_dps", "J1_trq_Nm"]
    names += [f"acc_{axis}_g" for axis in "xyz"] + ["rw2_rpm"]
    noise = 0.01 * np.random.default_rng(0).normal(size=(200, len(names)))
    still = [float(name == "str_q0") for name in names]
    rows = np.column_stack([1_780_000_000 * 10**9 + 10**7 * np.arange(200), noise + still])
    head = ",".join(["stamp_ns", *names])
    path, draft = tmp_path / "log.csv", tmp_path / "map.toml"
    lines = [",".join([f"{row[0]:.0f}", *map(repr, row[1:].tolist())]) for row in rows]
    path.write_text("\n".join([head, *lines, ""]))
    text = command("import", path, "--suggest").out
    draft.write_text(text)
    entries = {one["to"]: one for one in tomllib.loads(text)["channel"]}
    units = {to: entry.get("unit") for to, entry in entries.items()}
    assert units == {
        "base.rate": "deg/s", "base.velocity": "mm/s", "base.attitude": None,
        "base.acceleration": "g", "joint_1.position": "deg", "joint_1.velocity": "deg/s",
        "joint_1.torque": "N m", "wheel_2.speed": "rpm",
    }  # fmt: skip
    assert entries["base.attitude"]["order"] == "wxyz" and "scalar first" in text
    assert "not mapped" not in text and "# noise = 0.01" in text
    assert command("import", path, "--map", draft, "--json").code == 0


def test_numbered_joints_get_the_names_of_a_model_in_order(command, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,J1_ang_deg,J2_ang_deg\n0,1,2\n1,2,3\n")
    text = command("import", path, "--suggest", "--model", "spatial-capture").out
    names = [one["to"] for one in tomllib.loads(text)["channel"]]
    assert names == ["arm_1.position", "arm_2.position"]
    assert command("import", path, "--model", "spatial-capture", "--json").code == 2


def test_a_robot_given_for_a_map_is_told_what_a_map_is(command, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,yaw\n0,1\n")
    ended = command("import", path, "--map", tmp_path / "robot.urdf")
    assert ended.code == 2 and "--map robot.urdf: not a map" in ended.err
