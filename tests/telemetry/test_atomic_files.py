"""A file is either wholly written or not touched at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import FreefloatError
from freefloat.files import atomic_path, atomic_write
from freefloat.telemetry import Telemetry, read_telemetry


def test_text_and_bytes(tmp_path):
    atomic_write(tmp_path / "a.txt", "µ\n")
    atomic_write(str(tmp_path / "b.bin"), b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == "µ\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "b.bin"]


def test_a_new_file_has_ordinary_permissions_and_an_old_one_keeps_its_own(tmp_path):
    (tmp_path / "plain").touch()
    atomic_write(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    atomic_write(tmp_path / "new", "again")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("accident", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_an_accident_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, accident):
    target = tmp_path / "flight.csv"
    target.write_text("old")
    with pytest.raises(accident), atomic_path(target) as temporary:
        temporary.write_text("half of the n")
        raise accident
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_says_what_to_do(tmp_path, monkeypatch, failing):
    target = tmp_path / "flight.csv"
    target.write_text("old")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with refused(FreefloatError, "file.unwritable") as caught:
        atomic_write(target, "new")
    monkeypatch.undo()
    fault = caught.value.faults[0]
    assert fault.place == str(target) and "space" in fault.remedy
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    "name", ["missing/flight.csv", "file/flight.csv", "folder", "x" * 300, "nul\0l"]
)
def test_places_that_cannot_be_written(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with refused(FreefloatError, "file.unwritable") as caught:
        atomic_write(tmp_path / name, "")
    assert caught.value.faults[0].remedy


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with refused(FreefloatError, "file.unwritable"):
        atomic_write(tmp_path / "flight.csv", "")
    tmp_path.chmod(0o700)


def test_threads_writing_the_same_file_do_not_mix(tmp_path):
    target = tmp_path / "shared"
    writers = [
        threading.Thread(target=atomic_write, args=(target, f"{n}" * 5000)) for n in range(5)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert target.read_text() in {f"{n}" * 5000 for n in range(5)}
    assert list(tmp_path.iterdir()) == [target]


WRITER = """
import sys, numpy as np
from freefloat.telemetry import Telemetry
n = 0
while True:
    n += 1
    values = {f"j{k}.position": np.full(2000, float(n)) for k in range(3)}
    Telemetry.from_arrays(np.arange(2000.0), values).save(sys.argv[1])
    print(n, flush=True)
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path, suffix: str):
    path = tmp_path / f"flight{suffix}"
    for delay in (0.003, 0.011, 0.017):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # the first file is there
            time.sleep(delay)
            writer.kill()
        flight = read_telemetry(path)
        assert len({channel.values[0] for channel in flight.channels.values()}) == 1
        assert all(np.ptp(channel.values) == 0.0 for channel in flight.channels.values())


def test_a_failed_save_keeps_the_old_recording(tmp_path, monkeypatch):
    path = tmp_path / "flight.csv"
    old = Telemetry.from_arrays([0.0], {"base.angle": [1.0]})
    old.save(path)

    def broken(*arguments: object, **options: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("pyarrow.csv.write_csv", broken)
    with refused(FreefloatError, "file.unwritable"):
        Telemetry.from_arrays([0.0], {"base.angle": [2.0]}).save(path)
    assert read_telemetry(path) == old and list(tmp_path.iterdir()) == [path]
