"""What a map says is done, and everything wrong with one is told at once, with its place."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import TelemetryError
from freefloat.model.rotations import (
    matrix_from_quaternion,
    quaternion_from_rotation_vector,
    quaternions_from_matrices,
)
from freefloat.telemetry.recordings.import_telemetry import import_recording, import_telemetry
from freefloat.telemetry.recordings.recording_map import read_map_text
from freefloat.telemetry.thrust_levels import HOLD, MEAN, THRUST

CLOSE = 1e-12  # a few roundings of numbers of size one


@pytest.fixture
def mapped(tmp_path):
    """The telemetry of columns by a map."""

    def carry_out(columns: dict[str, list], text: str, *, time: str = 'clock = "t"'):
        np.savez(tmp_path / "log.npz", **{k: np.asarray(v) for k, v in columns.items()})
        whole = f"format = 1\n[time]\n{time}\n{text}"
        return import_telemetry(tmp_path / "log.npz", read_map_text(whole, file="map.toml"))

    return carry_out


T = [0.0, 1.0, 2.0]


def entry(to: str, source: str, **keys: str) -> str:
    lines = [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(["[[channel]]", f'to = "{to}"', f"from = {source}", *lines, ""])


def test_scale_offset_and_unit(mapped):
    text = entry("wheel.speed", '"n"', unit='"rpm"', scale="-2.0", offset="10.0", noise="3.0")
    channel = mapped({"t": T, "n": [0, 5, 30]}, text)["wheel.speed"]
    rpm = np.pi / 30.0
    assert channel.values == pytest.approx(np.array([10.0, 0.0, -50.0]) * rpm, abs=CLOSE)
    assert channel.noise == pytest.approx(3.0 * rpm) and channel.unit == "rad/s"


def test_axes_and_the_mounting_of_a_sensor(mapped):
    columns = {"t": T, "w": np.eye(3)}
    flight = mapped(columns, entry("base.rate", '"w"', axes='["-y", "x", "z"]'))
    found = np.column_stack([flight[f"base.rate.{axis}"].values for axis in "xyz"])
    assert np.array_equal(found, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    turn = '{ rpy = [0.0, 0.0, 90.0], unit = "deg" }'  # the sensor's x is the body's y
    flight = mapped(columns, entry("base.rate", '"w"', rotation=turn))
    again = np.column_stack([flight[f"base.rate.{axis}"].values for axis in "xyz"])
    assert again == pytest.approx(found, abs=CLOSE)


def attitudes(flight) -> np.ndarray:
    return np.column_stack([flight[f"base.attitude.{axis}"].values for axis in "xyzw"])


Q = np.array([quaternion_from_rotation_vector([0.1 * n, 0.2, -0.3]) for n in range(6)])
T6 = np.arange(6.0)


def test_quaternions_in_any_order_and_direction(mapped):
    columns = {"t": T6, "q": Q, "p": Q[:, [3, 0, 1, 2]], "r": Q * [-1, -1, -1, 1]}
    assert np.array_equal(attitudes(mapped(columns, entry("base.attitude", '"q"'))), Q)
    text = entry("base.attitude", '"p"', order='"wxyz"')
    assert np.array_equal(attitudes(mapped(columns, text)), Q)
    text = entry("base.attitude", '"r"', direction='"world_to_body"')
    assert np.array_equal(attitudes(mapped(columns, text)), Q)


def test_the_mounting_of_an_attitude_sensor_and_another_world(mapped):
    """q_sensor = world^T q_body mount: both are undone."""
    mount = matrix_from_quaternion(quaternion_from_rotation_vector([0.3, -0.2, 0.9]))
    world = matrix_from_quaternion(quaternion_from_rotation_vector([-0.4, 0.5, 0.1]))
    body = np.array([matrix_from_quaternion(q) for q in Q])
    seen = quaternions_from_matrices(world.T @ body @ mount)
    turns = {"rotation": mount, "world": world}
    keys = {key: f"{{ matrix = {turn.tolist()} }}" for key, turn in turns.items()}
    found = attitudes(mapped({"t": T6, "q": seen}, entry("base.attitude", '"q"', **keys)))
    again = np.array([matrix_from_quaternion(q) for q in found])
    assert again == pytest.approx(body, abs=1e-9)  # the product of three roundings, squared in R


@pytest.mark.parametrize(("to", "frame"), [("base.velocity", "body"), ("base.rate", "world")])
def test_vectors_in_other_axes_are_turned_by_the_attitude(mapped, to, frame):
    v = np.random.default_rng(1).normal(size=(6, 3))
    text = entry("base.attitude", '"q"') + entry(to, '"v"', frame=f'"{frame}"')
    flight = mapped({"t": T6, "q": Q, "v": v}, text)
    found = np.column_stack([flight[f"{to}.{axis}"].values for axis in "xyz"])
    R = np.array([matrix_from_quaternion(q) for q in Q])
    turns = R if frame == "body" else np.swapaxes(R, 1, 2)
    assert found == pytest.approx(np.einsum("nij,nj->ni", turns, v), abs=CLOSE)


def test_a_planar_velocity_is_turned_by_the_angle(mapped):
    text = entry("base.angle", '"yaw"', unit='"deg"')
    text += entry("base.velocity", '["vx", "vy"]', frame='"body"')
    flight = mapped({"t": T, "yaw": [0, 90, 180], "vx": [1, 1, 1], "vy": [0, 0, 0]}, text)
    found = [flight[f"base.velocity.{axis}"].values for axis in "xy"]
    assert np.array(found) == pytest.approx(np.array([[1, 0, -1], [0, 1, 0]]), abs=CLOSE)


def test_valves_that_are_on_or_off_become_forces(mapped):
    text = '[[channel]]\nto = ["a.force", "b.force"]\nfrom = "valves"\nforce = [0.5, 2.0]\n'
    flight = mapped({"t": T, "valves": [[1, 0], [0, 1], [1, 1]]}, text)
    assert flight["a.force"].values.tolist() == [0.5, 0.0, 0.5]
    assert flight["b.force"].values.tolist() == [0.0, 2.0, 2.0]
    assert flight.metadata[THRUST] == MEAN


def test_on_times_become_mean_forces(mapped):
    text = entry("jet.force", '"ms"', force="4.0", valve='"on_time"', unit='"ms"')
    flight = mapped({"t": [0.0, 0.1, 0.3], "ms": [50, 50, 0]}, text)
    assert flight["jet.force"].values == pytest.approx([2.0, 1.0, 0.0])


def test_numbers_that_are_no_valve_are_refused(mapped):
    with refused(TelemetryError, "map.valve"):
        mapped({"t": T, "n": [0, 1, 7]}, entry("jet.force", '"n"', force="4.0"))


def test_an_angle_that_jumps_by_whole_turns_is_made_continuous(mapped):
    text = entry("tip.angle", '"yaw"', unit='"deg"', unwrap="true", hold="true")
    flight = mapped({"t": T, "yaw": [170.0, -170.0, -150.0]}, text)
    assert np.degrees(flight["tip.angle"].values) == pytest.approx([170.0, 190.0, 210.0])
    assert flight.metadata[HOLD] == "tip.angle"


def test_clocks_units_delays_and_origins(mapped):
    columns = {"t": [5_000_000, 5_001_000, 5_002_000], "late": [7.0, 8.0, 9.0], "a": T}
    text = entry("a.angle", '"a"') + entry("b.angle", '"a"', clock='"late"', delay="0.5")
    flight = mapped(columns, text, time='clock = "t"\nunit = "us"')
    assert flight["a.angle"].time == pytest.approx([5.0, 5.001, 5.002])
    assert flight["b.angle"].time.tolist() == [6.5, 7.5, 8.5]
    flight = mapped(columns, text, time='clock = "t"\nunit = "us"\norigin = "first"')
    assert flight["a.angle"].time == pytest.approx([0.0, 1e-3, 2e-3], abs=1e-12)
    assert flight["b.angle"].time == pytest.approx([1.5, 2.5, 3.5])
    flight = mapped(columns, text, time='clock = "t"\nunit = "us"\norigin = 4.0')
    assert flight["a.angle"].time == pytest.approx([1.0, 1.001, 1.002])


def test_a_date_begins_at_zero_and_keeps_its_nanoseconds(mapped):
    stamps = 1_700_000_000_000_000_000 + np.array([0, 1, 1_000_000_001])
    flight = mapped({"t": stamps, "a": T}, entry("a.angle", '"a"'), time='clock = "t"\nunit = "ns"')
    assert flight["a.angle"].time.tolist() == [0.0, 1e-9, 1.000000001]
    assert flight.metadata["time origin"] == "1700000000.0 s"


def test_a_star_maps_many_and_names_can_be_changed(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,pos_panda1,pos_panda2,note\n0,1,2,x\n1,3,4,y\n")
    text = 'format = 1\n[rename]\npanda1 = "arm_1"\n' + entry("*.position", '"pos_*"')
    found = import_recording(path, read_map_text(text))
    assert found.telemetry.names == ("arm_1.position", "panda2.position")
    assert found.unmapped == ("note",)


def test_cells_that_are_empty_are_no_samples_and_nan_is_an_invalid_one(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t;a;flag;list\n0,5;1;True;[1, 0]\n1;;False;[0, 1]\n2;nan;True;\n")
    text = 'format = 1\n[source]\ndecimal = ","\n' + entry("a.angle", '"a"')
    text += entry("b.angle", '"flag"') + entry("c.angle", '"list[1]"')
    flight = import_telemetry(path, read_map_text(text))
    assert flight["a.angle"].time.tolist() == [0.5, 2.0]
    assert flight["a.angle"].valid.tolist() == [True, False]
    assert flight["b.angle"].values.tolist() == [1.0, 0.0, 1.0]
    assert flight["c.angle"].values.tolist() == [0.0, 1.0]


def test_what_is_ignored_on_purpose_is_not_listed(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,a,target_x,target_y,b\n0,1,2,3,4\n1,1,2,3,4\n")
    text = 'format = 1\nignore = ["target_*"]\n' + entry("a.angle", '"a"')
    found = import_recording(path, read_map_text(text))
    assert found.unmapped == ("b",) and found.telemetry.metadata["not mapped"] == "b"


# -- faults ----------------------------------------------------------------------------------------

FAULTS = {
    "unit of another quantity": (entry("base.rate", '"w"', unit='"mm"'), "channel.unit"),
    "unknown unit": (entry("base.rate", '"w"', unit='"furlong"'), "channel.unit"),
    "unknown key": (entry("base.rate", '"w"', sacle="2.0"), "key.unknown"),
    "no from": ('[[channel]]\nto = "base.rate"\n', "key.missing"),
    "name": (entry("a[0]", '"w"'), "name.form"),
    "axes of a scalar": (entry("a.angle", '"w"', axes='["x"]'), "value.conflict"),
    "no axis": (entry("base.rate", '"w"', axes='["x", "q", "z"]'), "value.choice"),
    "order of a rate": (entry("base.rate", '"w"', order='"wxyz"'), "value.conflict"),
    "two ways to turn": (
        entry("base.rate", '"w"', rotation="{ rpy = [0, 0, 1], quaternion = [0, 0, 0, 1] }"),
        "value.conflict",
    ),
    "no rotation": (
        entry("base.rate", '"w"', rotation="{ matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }"),
        "value.norm",
    ),
    "noise": (entry("a.angle", '"w"', noise="-1.0"), "channel.noise"),
    "clock in metres": (entry("a.angle", '"w"', clock='"t"', clock_unit='"m"'), "channel.unit"),
    "on-times without a force": (entry("j.force", '"w"', valve='"on_time"'), "value.conflict"),
    "force in another unit": (entry("j.force", '"w"', force="1.0", unit='"kN"'), "value.conflict"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_a_map_are_told_with_their_line(name):
    text, code = FAULTS[name]
    with refused(TelemetryError, code, naming="map.toml") as caught:
        read_map_text(f"format = 1\n{text}", file="map.toml")
    fault = caught.value.faults[0]
    assert fault.line is not None and fault.line >= 2 and fault.remedy


def test_all_faults_of_a_map_are_told_at_once():
    text = "format = 1\n" + "".join(text for text, _ in FAULTS.values())
    with pytest.raises(TelemetryError) as caught:
        read_map_text(text, file="map.toml")
    assert set(caught.value.codes) >= {code for _, code in FAULTS.values()}


AGAINST = {
    "unknown field": (entry("a.angle", '"yww"'), "map.field"),
    "four numbers for a rate": (entry("base.rate", '["a", "a", "a", "a"]'), "map.columns"),
    "three for a quaternion": (entry("base.attitude", '"w"'), "map.columns"),
    "two scales for three": (entry("base.rate", '"w"', scale="[1.0, 2.0]"), "value.count"),
    "another length": (entry("a.angle", '"short"'), "map.length"),
    "unknown clock": (entry("a.angle", '"a"', clock='"tick"'), "map.clock"),
    "a star that fits nothing": (entry("*.position", '"joint_*"'), "map.field"),
    "one star": (entry("*.position", '"a"'), "map.glob"),
    "a channel twice": (entry("a.angle", '"a"') * 2, "name.duplicate"),
    "no attitude to turn by": (entry("base.rate", '"w"', frame='"world"'), "map.frame"),
    "no quaternion": (entry("base.attitude", '["a", "a", "a", "b"]'), "map.norm"),
    "text": (entry("a.angle", '"words"'), "map.kind"),
}


@pytest.mark.parametrize("name", AGAINST)
def test_a_map_that_does_not_fit_its_recording_is_refused(mapped, name):
    text, code = AGAINST[name]
    columns = {"t": T, "w": np.eye(3), "a": [1, 2, 3], "b": [9, 9, 9], "short": [1, 2]}
    columns["words"] = ["x", "y", "z"]
    with refused(TelemetryError, code, naming="map.toml") as caught:
        mapped(columns, text)
    assert caught.value.faults[0].remedy
