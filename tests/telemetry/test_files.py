"""Telemetry files: what is written is read back to the last bit, and what others write is read."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from fault_codes import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import freefloat
from freefloat.errors import FreefloatError, TelemetryError
from freefloat.telemetry import Channel, Telemetry, read_telemetry, write_telemetry
from freefloat.telemetry.readers import suffixes, truth_path


@pytest.fixture(scope="module", autouse=True)
def no_waiting_for_the_disk():
    """What these tests look at does not depend on it, and some disks take a long time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


SUFFIXES = (".csv", ".tsv", ".parquet", ".pq")


def random_bits(rng: np.random.Generator, n: int) -> np.ndarray:
    """Doubles of any kind: subnormal, huge, infinite, NaN with odd payloads, negative zero."""
    values = rng.integers(0, 2**64, n, dtype=np.uint64).view(np.float64).copy()
    values[: min(5, n)] = [-0.0, 5e-324, np.finfo(float).max, np.inf, np.nan][: min(5, n)]
    return values


def strange_flight(seed: int = 0) -> Telemetry:
    """A recording with everything that could get lost on the way to a file and back."""
    rng = np.random.default_rng(seed)
    fast = np.cumsum(rng.exponential(0.01, 200)) - 1.0
    restarted = np.concatenate([fast[:50], fast[20:60], fast[59:60]])  # backward, repeated
    channels = [
        Channel("base.rate.x", "rad/s", fast, random_bits(rng, 200), noise=1e-5 / 3),
        Channel("base.rate.y", "rad/s", fast, random_bits(rng, 200), rng.random(200) < 0.5),
        Channel("arm 1/é.position", "m", restarted, random_bits(rng, restarted.size)),
        Channel("odd.quantity", "kg m^2", fast[::7], random_bits(rng, fast[::7].size), noise=0.0),
        Channel("never.sampled", "1", [], []),
    ]
    metadata = {"model": "cepheus", "seed": "7", "empty": "", "text": ' "two\nlines", µ;# '}
    truth = Telemetry.of([channels[0].with_name("base.rate.x")], {"kind": "truth"})
    return Telemetry.of(channels, metadata, truth=truth)


@pytest.mark.promise("F5")
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("seed", range(3))
def test_f5_written_and_read_back_is_bit_identical(tmp_path, suffix, seed):
    flight, path = strange_flight(seed), tmp_path / f"flight{suffix}"
    flight.save(path)
    assert read_telemetry(path, truth=True) == flight
    again = tmp_path / f"again{suffix}"
    read_telemetry(path, truth=True).save(again)
    assert again.read_bytes() == path.read_bytes()


texts = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), max_size=8)
doubles = st.floats(allow_nan=True, allow_infinity=True)
instants = st.floats(min_value=-1e12, max_value=1e12)


@st.composite
def recordings(draw: st.DrawFn) -> Telemetry:
    channels = []
    for n in range(draw(st.integers(1, 4))):
        rows = draw(st.lists(st.tuples(instants, doubles), min_size=n == 0, max_size=8))
        time, values = zip(*rows, strict=True) if rows else ((), ())
        channels.append(Channel(f"c{n}.angle", "rad", time, values))
    keys = st.sampled_from(["model", "seed", "a key", "# odd", "time", "notes"])
    return Telemetry.of(channels, draw(st.dictionaries(keys, texts, max_size=3)))


@pytest.mark.promise("F5")
@settings(max_examples=50)
@given(flight=recordings())
def test_f5_any_recording_survives(tmp_path_factory, flight):
    for suffix in (".csv", ".parquet"):
        path = tmp_path_factory.getbasetemp() / f"any{suffix}"
        flight.save(path)
        assert read_telemetry(path) == flight


@settings(max_examples=60)
@given(name=names)
def test_a_name_is_refused_or_survives(tmp_path_factory, name):
    try:
        flight = Telemetry.of([Channel(name, "rad", [0.0], [1.0])])
    except TelemetryError:
        return
    for suffix in (".csv", ".parquet"):
        path = tmp_path_factory.getbasetemp() / f"name{suffix}"
        flight.save(path)
        assert read_telemetry(path) == flight


class TestTruth:
    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_truth_goes_to_its_own_file_and_is_read_only_when_asked_for(self, tmp_path, suffix):
        path = tmp_path / f"flight{suffix}"
        strange_flight().save(path)
        assert truth_path(path).exists()
        assert read_telemetry(path).truth is None
        assert read_telemetry(path, truth=True).truth == strange_flight().truth
        truth_path(path).unlink()
        assert read_telemetry(path, truth=True).truth is None

    def test_no_truth_no_file(self, tmp_path):
        strange_flight().with_truth(None).save(tmp_path / "flight.csv")
        assert [file.name for file in tmp_path.iterdir()] == ["flight.csv"]

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_a_truth_left_over_from_another_recording_is_not_taken(self, tmp_path, suffix):
        path = tmp_path / f"flight{suffix}"
        strange_flight(0).save(path)
        strange_flight(1).with_truth(None).save(path)
        assert read_telemetry(path, truth=True).truth is None
        strange_flight(0).save(path)
        strange_flight(1).save(tmp_path / f"other{suffix}")
        os.replace(truth_path(tmp_path / f"other{suffix}"), truth_path(path))
        with refused(TelemetryError, "truth.mismatch"):
            read_telemetry(path, truth=True)

    def test_a_foreign_file_may_have_a_truth_beside_it(self, tmp_path):
        (tmp_path / "bed.csv").write_text("time [s],base.angle [deg]\n0,1\n")
        (tmp_path / "bed.truth.csv").write_text("time [s],base.angle [rad]\n0,2\n")
        truth = read_telemetry(tmp_path / "bed.csv", truth=True).truth
        assert truth is not None and truth["base.angle"].values.tolist() == [2.0]


def read_text(folder: Path, text: str | bytes, name: str = "flight.csv") -> Telemetry:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_telemetry(path)


class TestCsvOfOthers:
    def test_empty_and_nan_cells_differ(self, tmp_path):
        text = "time [s],base.rate.x [rad/s],base.rate.y [rad/s]\n0,1,\n1,nan,\n2,inf,3\n3,,4\n"
        flight = read_text(tmp_path, text)
        x, y = flight["base.rate.x"], flight["base.rate.y"]
        assert x.time.tolist() == [0, 1, 2] and x.valid.tolist() == [True, False, False]
        assert np.isnan(x.values[1:]).all()
        assert y.time.tolist() == [2, 3] and y.values.tolist() == [3.0, 4.0]

    @pytest.mark.parametrize(
        "text",
        [
            "time [s],base.angle [rad]\n0,1\n1,2\n",
            "time [s];base.angle [rad]\n0;1\n1;2\n",
            "time [s]\tbase.angle [rad]\n0\t1\n1\t2\n",
            "time [s],base.angle [rad]\r\n0,1\r\n1,2\r\n",
            "time [s],base.angle [rad]\r0,1\r1,2\r",
            "\ufefftime [s],base.angle [rad]\n0,1\n1,2",
            '"time [s]","base.angle [rad]"\n"0","1"\n1,"2"\n',
            "# time [s],base.angle [rad]\n0,1\n1,2\n",
            "\n\n# a remark\n\ntime [s] , base.angle [ rad ]\n\n 0 , 1 \n\n+1.0,2e0\n\n",
            "base.angle [rad],time [s]\n1,0\n2,1\n",
            "Time [ms],base.angle [mrad]\n0,1000\n1000,2000\n",
        ],
    )
    def test_spellings(self, tmp_path, text):
        flight = read_text(tmp_path, text)
        assert flight["base.angle"].time.tolist() == [0.0, 1.0]
        assert flight["base.angle"].values.tolist() == [1.0, 2.0]

    def test_units_become_si_noise_included(self, tmp_path):
        text = "# noise: rw.speed 60\ntime [s],rw.speed [rpm],imu.acceleration.x [mg]\n0,60,1\n"
        flight = read_text(tmp_path, text)
        assert flight["rw.speed"].unit == "rad/s"
        assert flight["rw.speed"].values[0] == pytest.approx(2 * np.pi)
        assert flight["rw.speed"].noise == pytest.approx(2 * np.pi)
        assert flight["imu.acceleration.x"].values[0] == pytest.approx(9.80665e-3)

    def test_a_missing_unit_is_assumed_and_noted(self, tmp_path):
        flight = read_text(tmp_path, "# notes: hot day\ntime,base.rate.x\n0,1\n")
        assert flight["base.rate.x"].unit == "rad/s"
        said, time, rate = flight.metadata["notes"].split("; ")
        assert said == "hot day" and "'time'" in time and time.endswith(" s")
        assert "'base.rate.x'" in rate and rate.endswith(" rad/s")

    def test_clocks_that_repeat_or_run_backward_are_for_the_quality_report(self, tmp_path):
        flight = read_text(tmp_path, "time [s],base.angle [rad]\n0,1\n2,2\n1,3\n1,4\n")
        assert flight["base.angle"].time.tolist() == [0, 2, 1, 1]

    def test_the_careful_reader_agrees_with_the_quick_one(self, tmp_path):
        flight = strange_flight(4).with_truth(None)
        flight.save(tmp_path / "flight.csv")
        text = (tmp_path / "flight.csv").read_text()
        # A cell of spaces is empty too, but only the careful reader knows.
        odd = text.replace(",,", ", ,")
        assert odd != text and read_text(tmp_path, odd) == flight

    def test_a_fault_in_a_large_file_is_found_by_its_row(self, tmp_path):
        rows = [b"0.000000000000000000000000,1.0000000000000000000000"] * 300_000
        rows[200_000] = b"0.0,x"
        text = b"time [s],base.angle [rad]\n" + b"\n".join(rows)  # several pieces of 4 MiB
        with refused(TelemetryError, "cell.number") as caught:
            read_text(tmp_path, text)
        assert caught.value.faults[0].line == 200_002


class TestParquetOfOthers:
    def write(self, folder: Path, columns: dict, metadata: dict | None = None) -> Path:
        table = pa.table(columns)
        if metadata:
            table = table.replace_schema_metadata(metadata)
        pyarrow.parquet.write_table(table, folder / "flight.parquet")
        return folder / "flight.parquet"

    def test_labels_with_units_and_other_number_types(self, tmp_path):
        path = self.write(
            tmp_path,
            {
                "time [ms]": pa.array([0, 500], pa.int64()),
                "base.rate.x [deg/s]": pa.array([180.0, None], pa.float32()),
                "valve.force [N]": pa.array([True, False]),
            },
        )
        flight = read_telemetry(path)
        assert flight["base.rate.x"].values.tolist() == pytest.approx([np.pi])
        assert flight["valve.force"].time.tolist() == [0.0, 0.5]
        assert flight["valve.force"].values.tolist() == [1.0, 0.0]

    def test_infinite_and_nan_are_invalid(self, tmp_path):
        path = self.write(tmp_path, {"time": [0.0, 1.0], "base.angle": [np.inf, np.nan]})
        assert read_telemetry(path)["base.angle"].valid.tolist() == [False, False]
        assert "base.angle" in read_telemetry(path).metadata["notes"]

    def test_a_flipped_bit_in_a_page_is_noticed(self, tmp_path):
        path = tmp_path / "flight.parquet"
        Telemetry.from_arrays(np.arange(1000.0), {"base.angle": np.zeros(1000)}).save(path)
        data = bytearray(path.read_bytes())
        data[len(data) // 4] ^= 1  # the pages come first
        path.write_bytes(data)
        with refused(TelemetryError, "file.damaged"):
            read_telemetry(path)


class TestLimitsAndSafety:
    def test_unknown_suffix(self, tmp_path):
        for name in ("flight.xlsx", "flight"):
            with refused(TelemetryError, "file.suffix") as caught:
                read_telemetry(tmp_path / name)
            assert all(suffix in caught.value.faults[0].expected for suffix in suffixes())
            with refused(TelemetryError, "file.suffix"):
                strange_flight().save(tmp_path / name)

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_size_is_capped(self, tmp_path, suffix):
        path = tmp_path / f"flight{suffix}"
        strange_flight().save(path)
        with refused(TelemetryError, "file.size"):
            read_telemetry(path, max_bytes=100)

    def test_a_packed_table_counts_unpacked(self, tmp_path):
        path = tmp_path / "bomb.parquet"
        zeros = pa.array(np.zeros(2_000_000))
        table = pa.table({"time": zeros, "base.angle": zeros})
        pyarrow.parquet.write_table(table, path, compression="zstd")
        assert path.stat().st_size < 100_000
        with refused(TelemetryError, "file.size"):
            read_telemetry(path, max_bytes=1_000_000)

    def test_pipes_and_folders_are_refused_at_once(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.csv")
        (tmp_path / "folder.csv").mkdir()
        for name in ("pipe.csv", "folder.csv"):
            with refused(TelemetryError, "file.unreadable"):
                read_telemetry(tmp_path / name)

    def test_nothing_to_write_is_refused(self, tmp_path):
        with refused(TelemetryError, "telemetry.empty"):
            write_telemetry(Telemetry({}), tmp_path / "flight.csv")

    def test_an_unwritable_place_is_a_freefloat_error(self, tmp_path):
        with refused(FreefloatError, "file.unwritable"):
            strange_flight().save(tmp_path / "missing" / "flight.csv")

    @pytest.mark.promise("F6")
    def test_f6_no_reader_can_unpickle(self):
        banned = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve"}
        banned |= {"marshal"}
        root = Path(freefloat.__file__).parent
        sources = [root / "files.py", *(root / "telemetry").rglob("*.py")]
        for source in sources:
            for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
                imported = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not banned & {name.partition(".")[0] for name in imported}, source
                if isinstance(node, ast.keyword):
                    assert node.arg != "allow_pickle", source
                if isinstance(node, ast.Name):
                    assert node.id not in ("eval", "exec"), source

    @pytest.mark.promise("F6")
    def test_f6_reading_never_calls_pickle(self, tmp_path):
        script = (
            "import pickle, sys\n"
            "def refuse(*a, **k): raise SystemExit('unpickled')\n"
            "pickle.load = pickle.loads = pickle.Unpickler = refuse\n"
            "from freefloat.telemetry import read_telemetry\n"
            "[read_telemetry(p, truth=True) for p in sys.argv[1:]]\n"
        )
        paths = [tmp_path / "flight.csv", tmp_path / "flight.parquet"]
        for path in paths:
            strange_flight().save(path)
        subprocess.run([sys.executable, "-c", script, *map(str, paths)], check=True, timeout=60)

    def test_reading_csv_and_starting_up_stay_light(self):
        script = (
            "import sys, freefloat.telemetry\n"
            "heavy = {'pyarrow', 'scipy', 'numba', 'pandas'} & set(sys.modules)\n"
            "sys.exit(str(heavy) if heavy else 0)\n"
        )
        subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
