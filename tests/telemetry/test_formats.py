"""A telemetry format is one file: put into the folder, or registered by a program."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import TelemetryError
from freefloat.telemetry import Telemetry, read_telemetry, readers
from freefloat.telemetry.readers import formats, register_format, suffixes, write_telemetry
from freefloat.telemetry.readers.tables import FileContent, TelemetryFormat

# The whole of a new format: a header "FFB1", the number of rows, then time and gyro as float64.
NEW_FORMAT = """
import struct
import numpy as np
from freefloat.telemetry.readers.tables import FileContent, TelemetryFormat, contents
from freefloat.telemetry.telemetry import Telemetry

def read(path, *, max_bytes):
    data = contents(path, max_bytes=max_bytes)
    (n,) = struct.unpack("<I", data[4:8])
    rows = np.frombuffer(data[8:], dtype="<f8").reshape(n, 2)
    return FileContent(Telemetry.from_arrays(rows[:, 0], {"base.rate.x": rows[:, 1]}))

FORMAT = TelemetryFormat("bench binary", (".ffb",), read, begins=(b"FFB1",))
"""


def recording(path: Path) -> Path:
    rows = np.column_stack([np.arange(5) * 0.1, np.arange(5) * 1e-3])
    path.write_bytes(b"FFB1" + struct.pack("<I", len(rows)) + rows.astype("<f8").tobytes())
    return path


@pytest.fixture
def folder_with_it(tmp_path, monkeypatch):
    """The folder of readers with one more file in it."""
    (tmp_path / "bench_.py").write_text(NEW_FORMAT)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    readers._formats_here.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    readers._formats_here.cache_clear()
    sys.modules.pop(f"{readers.__name__}.bench_", None)


@pytest.mark.parametrize("name", ["flight.ffb", "flight.FFB", "flight.bin", "flight"])
def test_one_file_adds_a_format(folder_with_it, tmp_path, name):
    read = read_telemetry(recording(tmp_path / name))
    assert read["base.rate.x"].values.tolist() == [0.0, 1e-3, 2e-3, 3e-3, 4e-3]
    assert ".ffb" in suffixes() and ".ffb" not in suffixes(can_write=True)


def test_a_format_that_is_only_read_is_not_written(folder_with_it, tmp_path):
    with pytest.raises(TelemetryError) as caught:
        write_telemetry(Telemetry.from_arrays([0.0], {"a.angle": [0.0]}), tmp_path / "a.ffb")
    assert caught.value.codes == ("file.suffix",) and ".ffb" not in caught.value.faults[0].expected


def test_without_the_file_it_is_refused(tmp_path):
    for name in ("flight.ffb", "flight"):
        with refused(TelemetryError, "file.suffix"):
            read_telemetry(recording(tmp_path / name))


def test_a_parquet_file_is_known_by_its_content(tmp_path):
    flight = Telemetry.from_arrays([0.0, 0.1], {"base.rate.x": [1.0, 2.0]})
    flight.save(tmp_path / "flight.parquet")
    (tmp_path / "flight.parquet").rename(tmp_path / "flight.backup")
    assert read_telemetry(tmp_path / "flight.backup") == flight


def test_a_suffix_that_contradicts_the_content_is_a_fault(tmp_path):
    flight = Telemetry.from_arrays([0.0, 0.1], {"base.rate.x": [1.0, 2.0]})
    flight.save(tmp_path / "flight.parquet")
    (tmp_path / "flight.parquet").rename(tmp_path / "flight.csv")
    with refused(TelemetryError, "file.format"):
        read_telemetry(tmp_path / "flight.csv")


def test_a_program_may_register_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_registered", [])

    def read(path, *, max_bytes):
        return FileContent(Telemetry.from_arrays([0.0], {"base.angle": [0.5]}))

    register_format(TelemetryFormat("mine", (".mine",), read))
    (tmp_path / "a.mine").touch()
    assert read_telemetry(tmp_path / "a.mine")["base.angle"].values.tolist() == [0.5]
    assert formats()[0].name == "mine"
