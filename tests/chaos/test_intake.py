"""Attacks on what freefloat takes in: fill values, absurd numbers, packed files, wrong types.

FREEFLOAT_MUTANTS sets how many mutants of each kind of file the full run reads (2500 unless set).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from fault_codes import refused
from fit_samples import sample_fit
from model_samples import MJCF, TOML, URDF
from plan_samples import TOML as PLAN
from read_mutants import estimator
from recording_faults import flight
from validation_flights import planar, planar_flight

import freefloat as ff
from freefloat.cli.run import run
from freefloat.errors import FreefloatError, IdentificationError, ModelError, TelemetryError
from freefloat.telemetry import read_telemetry
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.doctor import examine, prepare_recording, repair
from freefloat.telemetry.fill_values import fill_levels, mask_fill_values
from freefloat.telemetry.known_sensors import KnownSensors
from freefloat.telemetry.readers.tables import MAX_COLUMNS
from freefloat.validation.verdict import read_verdict_text

LONG = int(os.environ.get("FREEFLOAT_MUTANTS", "2500"))
SHORT = 40  # of each kind: a few hundred in all
MOST_SECONDS = 5.0  # of processor time for one file
MOST_GROWTH = 300 * 2**20  # [B]; what the mutants declare is far below it
FILLS = (1e30, 1e200, 9.96921e36, -9999.0, 32767.0, -1e308)


def with_fill(
    telemetry: ff.Telemetry, name: str, value: float, places: slice | list
) -> ff.Telemetry:
    channel = telemetry[name]
    values = channel.values.copy()
    values[places] = value
    spoiled = Channel(name, channel.unit, channel.time, values, None, channel.noise)
    return telemetry.with_channels(spoiled)


# -- fill values -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound() -> ff.Telemetry:
    return flight("planar-capture", 1)


@pytest.mark.parametrize("value", FILLS)
@pytest.mark.parametrize("name", ["base.rate.z", "base.angle", "arm_1.position", "arm_1.torque"])
def test_fill_values_are_found_masked_and_named(sound, name, value):
    for places in ([50, 300, 301, 900], slice(100, 130), slice(0, 20), slice(None, None, 3)):
        spoiled = with_fill(sound, name, value, places)
        found, masked = mask_fill_values(spoiled, KnownSensors(None))
        (finding,) = found
        assert (finding.code, finding.channels) == ("recording.fill_value", (name,))
        assert finding.size == value
        is_filled = spoiled[name].values == value
        assert finding.instants == tuple(spoiled[name].time[is_filled])
        assert np.array_equal(masked[name].valid, ~is_filled)


def test_the_doctor_and_the_report_tell_of_them(sound):
    spoiled = with_fill(sound, "base.angle", 1e30, slice(0, 20))
    found = examine(spoiled)
    assert "recording.fill_value" in found.codes
    assert repair(spoiled, found)["base.angle"].n_invalid == 20
    assert ff.quality(spoiled).findings[0].code == "sensor.fill_value"


def test_blanks_between_a_moving_signal_are_no_measurements():
    time = np.arange(600) * 0.02
    values = 1.0 + np.sin(time) + 1e-3 * np.random.default_rng(1).normal(size=time.size)
    values[::3] = 0.0
    assert fill_levels("arm_1.velocity", values) == [0.0]


def test_an_attitude_of_four_noughts_is_a_blank():
    recorded = flight("dual-arm", 1)
    names = [f"base.attitude.{axis}" for axis in "xyzw"]
    for name in names:
        recorded = with_fill(recorded, name, 0.0, slice(100, 104))
    (finding,) = mask_fill_values(recorded, KnownSensors(None))[0]
    assert sorted(finding.channels) == sorted(names) and len(finding.instants) == 4


def test_thrust_is_held_to_what_the_thruster_can(sound):
    model = ff.load_model("planar-capture")
    model = replace(model, thrusters=tuple(replace(t, max_force=10.0) for t in model.thrusters))
    spoiled = with_fill(sound, "thr_1.force", 32767.0, slice(5, 9))
    (finding,) = mask_fill_values(spoiled, KnownSensors(model))[0]
    assert finding.channels == ("thr_1.force",)


SOUND_SIGNALS = {
    "a valve that opens once": ("t.force", [0.0] * 500 + [10.0] * 20 + [1e-5] + [0.0] * 100),
    "a joint that stands, moves and stands": (
        "j.position", [0.0] * 300 + list(np.linspace(0.0, 1.0, 50)) + [1.0] * 300,
    ),
    "a coarse encoder": ("j.position", list(np.round(np.sin(np.arange(900) / 50), 1))),
    "a saturated gyro": ("b.rate.x", list(np.clip(3 * np.sin(np.arange(900) / 50), -1, 1))),
    "a torque that is switched": ("j.torque", [0.0, 0.0, 5.0, 5.0, 5.0, -5.0, -5.0] * 90),
    "nothing at all": ("b.rate.x", [0.0] * 500),
    "an orbit": ("b.position.x", list(7e6 * np.cos(np.arange(900) / 900))),
}  # fmt: skip


@pytest.mark.parametrize("case", SOUND_SIGNALS)
def test_what_rests_or_switches_is_no_fill_value(case):
    name, values = SOUND_SIGNALS[case]
    assert fill_levels(name, np.array(values)) == []


def false_alarms(seeds: range) -> list[str]:
    found = []
    for seed in seeds:
        for entry in ff.builtin_models():
            model = ff.load_model(entry.name)
            own = ff.simulate(model, ff.default_plan(model, duration=15.0, seed=seed), seed=seed)
            assert own.truth is not None
            for one in (own, own.truth, flight(entry.name, seed, step=1e-3)):
                for known in (None, model):
                    found += map(str, mask_fill_values(one, KnownSensors(known))[0])
    return found


def test_sound_flights_of_every_model_have_no_fill_values():
    assert false_alarms(range(1)) == []


@pytest.mark.full
def test_no_sound_flight_has_fill_values():
    assert false_alarms(range(1, 6)) == []


# -- numbers no calculation holds ------------------------------------------------------------------


@pytest.fixture(scope="module")
def flown(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("flown") / "f.csv"
    planar_flight(1, 10.0).with_truth(None).save(path)
    return path


@pytest.mark.parametrize("cell", ["1e308", "-1e308", "5e-324", "-0.0", "1e30", "-9999"])
@pytest.mark.parametrize("raw", [[], ["--raw"]])
def test_no_number_in_a_cell_is_our_bug(flown, tmp_path, cell, raw):
    lines = flown.read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if not line.startswith("#")) + 1
    for row in range(first + 3, first + 60, 4):
        cells = lines[row].split(",")
        lines[row] = ",".join([cells[0], *([cell] * (len(cells) - 1))])
    path = tmp_path / "spoiled.csv"
    path.write_text("\n".join(lines) + "\n")
    assert run(["telemetry", str(path)]) in (0, 1, 2)
    assert run(["telemetry", str(path), "--repair", str(tmp_path / "b.csv")]) in (0, 1, 2)
    how = ["--free", "target.mass", "--method", "momentum", "--no-assess", *raw]
    assert run(["identify", "planar-capture", str(path), *how]) in (0, 1, 2)


@pytest.mark.parametrize("noise", ["1e160", "5e-324"])
def test_noise_that_has_no_square_is_refused(flown, tmp_path, noise):
    path = tmp_path / "noise.csv"
    path.write_text(f"# noise: base.rate.z {noise}\ntime [s],base.rate.z [rad/s]\n0,1\n1,2\n")
    with refused(TelemetryError, "channel.noise"):
        read_telemetry(path)


@pytest.mark.parametrize(
    ("unit", "per_second", "code"),
    [("ms", 1e3, "rate.milliseconds"), ("us", 1e6, "rate.microseconds"),
     ("ns", 1e9, "rate.nanoseconds")],
)  # fmt: skip
def test_times_in_another_unit_are_told_at_once(unit, per_second, code):
    recorded = planar_flight(1, 10.0)
    late = ff.Telemetry.of([c.with_time(per_second * c.time) for c in recorded.channels.values()])
    with refused(TelemetryError, "time.unit", naming=f"time [{unit}]"):
        prepare_recording(late)
    assert {f.code for f in ff.quality(late).findings} == {code}
    prepare_recording(recorded)


# -- memory ----------------------------------------------------------------------------------------


def test_parquet_is_refused_by_what_it_declares(tmp_path):
    path = tmp_path / "packed.parquet"
    n = 300_000
    table = pa.table({"time [s]": np.arange(n) * 0.1, "a.position [rad]": np.zeros(n)})
    pyarrow.parquet.write_table(table, path, compression="zstd")
    with refused(TelemetryError, "file.size", naming="--max-bytes"):
        read_telemetry(path, max_bytes=4_000_000)
    assert run(["telemetry", str(path), "--max-bytes", "4000000"]) == 2
    assert len(read_telemetry(path, max_bytes=5_000_000)) == n


def test_text_in_parquet_is_refused_unread(tmp_path, monkeypatch):
    from freefloat.telemetry.readers import parquet_

    path = tmp_path / "text.parquet"
    words = pa.array(["x" * 1000] * 50_000).dictionary_encode()
    table = pa.table({"time [s]": np.arange(50_000.0), "a.position [rad]": words})
    pyarrow.parquet.write_table(table, path)
    monkeypatch.setattr(parquet_, "_content", pytest.fail)
    with refused(TelemetryError, "column.type"):
        read_telemetry(path)


@pytest.fixture(scope="module")
def state(tmp_path_factory) -> Path:
    made = estimator()
    made.run(planar_flight(1, 5.0))
    path = tmp_path_factory.mktemp("state") / "state.npz"
    made.save(path)
    return path


def test_a_state_is_refused_by_what_it_declares(state, tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("filter.memory.npy", bytes(60_000_000))
    assert path.stat().st_size < 100_000
    with refused(IdentificationError, "file.size"):
        estimator().restore(path)
    estimator().restore(state)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_state_with_absurd_numbers_is_refused(state, tmp_path, value):
    with np.load(state) as file:
        arrays = {name: file[name] for name in file.files}
    name = next(n for n, a in arrays.items() if a.dtype.kind == "f" and a.size)
    arrays[name].flat[0] = value
    path = tmp_path / "absurd.npz"
    np.savez(path, **arrays)
    with refused(IdentificationError, "file.damaged", naming=name.removeprefix("filter.")):
        estimator().restore(path)


def test_an_array_whose_header_is_no_python_is_refused(state, tmp_path):
    with zipfile.ZipFile(state) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(iter(members))
    members[name] = members[name].replace(b"}", b"{", 1)
    path = tmp_path / "header.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    with refused(IdentificationError, "file.damaged"):
        estimator().restore(path)


PARTS = ("joint", "wheel", "thruster", "frame", "sensor", "capsule", "orbit", "limits", "root")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_with_the_mass_of_a_link_is_refused(tmp_path, part):
    path = tmp_path / "m.toml"
    table = f"[{part}]" if f"[{part}]\n" in TOML else f"[[{part}]]"
    text = TOML.replace(table, f"{table}\nmass = 1.0", 1)
    single = part in ("orbit", "limits", "root")
    path.write_text(text if text != TOML else f"{TOML}\n[{part}]\nmass = 1.0\n" if single
                    else f"{TOML}\n[[{part}]]\nmass = 1.0\n")  # fmt: skip
    with pytest.raises(FreefloatError, match="mass"):
        ff.load_model(path)


def test_names_of_mjcf_that_are_no_text_are_refused(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_bytes(MJCF.encode().replace(b"hinge", b"hi\x86nge"))
    with refused(ModelError, "mjcf.compile"):
        ff.load_model(path)


def test_ten_thousand_columns_are_looked_at_in_time(tmp_path):
    import time

    path, t = tmp_path / "wide.parquet", np.arange(60) * 0.02
    columns = {f"j{k}.position [rad]": np.sin(t + k) for k in range(9_999)}
    pyarrow.parquet.write_table(pa.table({"time [s]": t, **columns}), path)
    start = time.process_time()
    assert run(["telemetry", str(path)]) == 0
    assert time.process_time() - start < MOST_SECONDS


def wide_flight(n: int) -> ff.Telemetry:
    return ff.Telemetry.from_arrays([0.0, 0.1], {f"j{k}.position": [0.0, k] for k in range(n)})


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".mat"])
def test_what_a_reader_would_refuse_is_not_written(tmp_path, suffix):
    path, most = tmp_path / f"wide{suffix}", MAX_COLUMNS - 1  # one is the time
    wide_flight(most).save(path)
    assert len(read_telemetry(path).names) == most
    before = path.read_bytes()
    if suffix == ".mat":  # no table
        wide_flight(most + 1).save(path)
        assert len(read_telemetry(path).names) == most + 1
        return
    with refused(TelemetryError, "table.columns", naming=".mcap"):
        wide_flight(most + 1).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == [path.name]


# -- the API ---------------------------------------------------------------------------------------


def test_masked_arrays_are_respected_and_dates_converted():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    dates = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]")
    recorded = ff.Telemetry.from_arrays(dates, {"base.rate.x": masked})
    assert recorded["base.rate.x"].valid.tolist() == [True, False, True]
    assert np.diff(recorded["base.rate.x"].time).tolist() == [86_400.0, 86_400.0]


@pytest.mark.parametrize(
    "values", [np.array([1j]), np.array([1.0], dtype=object), ["1"], np.array([None]), [10**400]]
)
def test_what_is_no_real_number_is_refused(values):
    with refused(TelemetryError, "channel.type"):
        ff.Telemetry.from_arrays([0.0], {"base.rate.x": values})


WRONG = (3, "text", None, object(), [1], {"a": 1}, np.zeros(3), b"x", 1j)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_wrong_types_are_refused_by_the_name_of_the_argument(wrong, sound):
    model = planar()
    wanted, plan = ff.Parameters(model).free("bus.mass"), ff.default_plan(model)
    calls = {
        "model": [
            lambda: ff.simulate(wrong, plan), lambda: ff.Parameters(wrong),
            lambda: ff.identify(wrong, wanted, sound), lambda: ff.identifiability(wrong, wanted),
        ],
        "parameters": [
            lambda: ff.identify(model, wrong, sound), lambda: ff.identifiability(model, wrong),
            lambda: ff.design_excitation(model, wrong),
        ],
        "flights": [lambda: ff.identify(model, wanted, wrong)],
        "flight": [lambda: ff.validate(model, wrong)],
        "fit": [lambda: ff.validate(wrong, sound)],
        "telemetry": [lambda: ff.quality(wrong)],
    }  # fmt: skip
    if not isinstance(wrong, str):
        calls["path"] = [lambda: read_telemetry(wrong)]
        calls["name_or_path"] = [lambda: ff.load_model(wrong)]
    for argument, each in calls.items():
        for call in each:
            with pytest.raises(FreefloatError) as caught:
                call()
            assert caught.value.faults[0].place.startswith(argument)


@pytest.fixture(scope="module")
def verdict() -> ff.Verdict:
    return ff.validate(planar(), planar_flight(2, 20.0))


@pytest.mark.parametrize("spoiled", [[1.0], [0.0], ["inf"], "reversed"])
def test_a_verdict_with_false_frequencies_is_refused(verdict, spoiled):
    content = json.loads(verdict.to_json())
    frequency = content["spectra"][0]["frequency"]
    if spoiled == "reversed":
        frequency.reverse()
    elif spoiled == [1.0]:
        frequency.append(1e4)
    else:
        frequency[:1] = spoiled
    with pytest.raises(IdentificationError) as caught:
        read_verdict_text(json.dumps(content))
    assert "spectra[0]" in caught.value.faults[0].place
    assert read_verdict_text(verdict.to_json()) == verdict


def test_a_fit_without_finite_values_is_refused():
    content = json.loads(sample_fit().to_json())
    content["estimates"][0]["value"] = "inf"
    with refused(IdentificationError, "value.range", naming="bus.mass.value"):
        ff.Fit.from_json(json.dumps(content))


# -- mutants ---------------------------------------------------------------------------------------


def read_mutants(kind: str, path: Path, count: int) -> None:
    """All are read or refused, in time and within memory, in a process of its own."""
    command = [sys.executable, str(Path(__file__).parents[1] / "read_mutants.py"), kind]
    done = subprocess.run(
        [*command, str(count), str(path)], capture_output=True, text=True, check=False,
        timeout=60.0 + MOST_SECONDS * count,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["other"] == []
    assert found["refused"] > 0.1 * count  # else the mutants are too tame
    assert found["slowest"] < MOST_SECONDS
    assert found["grown"] < MOST_GROWTH + 2 * path.stat().st_size


@pytest.fixture(scope="module")
def samples(flown, state, verdict, tmp_path_factory) -> dict[str, Path]:
    """A sound file of each kind."""
    folder = tmp_path_factory.mktemp("samples")
    paths = {"csv": flown, "state": state}
    for kind, text in {"toml": TOML, "urdf": URDF, "plan": PLAN}.items():
        paths[kind] = folder / f"{kind}.{'toml' if kind == 'plan' else kind}"
        paths[kind].write_text(text)
    for kind, noun in {"fit": sample_fit(), "verdict": verdict}.items():
        paths[kind] = folder / f"{kind}.json"
        noun.save(paths[kind])
    paths["parquet"] = folder / "f.parquet"
    read_telemetry(flown).save(paths["parquet"])
    return paths


KINDS = ("csv", "parquet", "toml", "urdf", "plan", "fit", "verdict", "state")


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_are_read_or_refused(kind, samples, tmp_path):
    path = tmp_path / samples[kind].name
    path.write_bytes(samples[kind].read_bytes())
    read_mutants(kind, path, SHORT)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutants_are_read_or_refused(kind, samples, tmp_path):
    path = tmp_path / samples[kind].name
    path.write_bytes(samples[kind].read_bytes())
    read_mutants(kind, path, LONG)
