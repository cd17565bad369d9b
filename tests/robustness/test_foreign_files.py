"""Damaged and hostile recordings of others: read, or refused with a FreefloatError that helps."""

from __future__ import annotations

import io
import os
import random
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from fault_codes import refused
from foreign_recordings import FORMATS, TABLE_MAP, write_recording
from mutated_bytes import csv_mutant, parquet_mutant

from freefloat.errors import FreefloatError, TelemetryError
from freefloat.telemetry.recordings.import_telemetry import import_recording, open_recording
from freefloat.telemetry.recordings.source_recording import SourceOptions

SHORT, LONG = 200, 10_000  # mutants a format
LIMIT = 2.0  # [s] of computing for one file; the slowest took a tenth of it
TEXT = ("csv", "tsv", "blanks")
FILES = [name for name in FORMATS if name != "ros2"]  # a folder; its file is there as db3


def read_mutants(name: str, folder: Path, count: int) -> None:
    path, map_path = write_recording(name, folder)
    whole = path.read_bytes()
    outcomes = {"read": 0, "refused": 0}
    for seed in range(count):
        chance = random.Random(seed)
        spoil = csv_mutant if name in TEXT or seed % 2 else parquet_mutant
        path.write_bytes(spoil(whole, chance))
        start = time.process_time()
        try:
            flight = import_recording(path, map_path).telemetry
        except FreefloatError as error:
            assert error.codes and path.name in str(error), f"mutant {seed}: {error}"
            outcomes["refused"] += 1
        else:
            for channel in flight.channels.values():
                assert np.isfinite(channel.time).all()
            outcomes["read"] += 1
        assert time.process_time() - start < LIMIT
    assert min(outcomes.values()) > 0  # otherwise the mutants are too tame or too wild


@pytest.mark.promise("R3")
@pytest.mark.parametrize("name", FILES)
def test_mutants_are_read_or_refused(tmp_path, name):
    read_mutants(name, tmp_path, SHORT)


@pytest.mark.full
@pytest.mark.parametrize("name", FILES)
def test_very_many_mutants_are_read_or_refused(tmp_path, name):
    read_mutants(name, tmp_path, LONG)


# -- bombs: small on disk, refused by what they declare --------------------------------------------

SMALL = 2**20  # [B] allowed
BIG = np.zeros(2**20)  # eight times that, and next to nothing when packed


def npz_bomb(path: Path) -> None:
    np.savez_compressed(path, big=BIG)


def mat_bomb(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {"big": BIG}, do_compression=True)


def cell_bomb(path: Path) -> None:
    """A cell array that says it has 2^40 cells, and has none."""
    flags = struct.pack("<IIII", 6, 8, 1, 0)
    dims = struct.pack("<IIii", 5, 8, 2**20, 2**20)
    body = flags + dims + struct.pack("<HHI", 1, 4, 0)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\x01IM"
    packed = zlib.compress(struct.pack("<II", 14, len(body)) + body)
    path.write_bytes(head + struct.pack("<II", 15, len(packed)) + packed)


def hdf5_bomb(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("big", data=BIG, compression="gzip")


def parquet_bomb(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"big": np.arange(len(BIG)) * 1.0})
    pyarrow.parquet.write_table(table, path, use_dictionary=False, compression="zstd")


def mcap_bomb(path: Path) -> None:
    from mcap.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file, chunk_size=2**26)
        writer.start()
        channel = writer.register_channel("/big", "json", 0)
        writer.add_message(channel, 0, b'{"big": "' + bytes([48]) * 8 * 2**20 + b'"}', 0)
        writer.finish()


def bag_bomb(path: Path) -> None:
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    writer = Writer(path)
    writer.set_compression(Writer.CompressionFormat.BZ2)
    with writer:
        topic = writer.add_connection("/big", "std_msgs/msg/String", typestore=store)
        text = store.types["std_msgs/msg/String"](" " * 8 * 2**20)
        writer.write(topic, 0, store.serialize_ros1(text, "std_msgs/msg/String"))


BOMBS = {
    "big.npz": npz_bomb, "big.mat": mat_bomb, "cells.mat": cell_bomb, "big.h5": hdf5_bomb,
    "big.parquet": parquet_bomb, "big.mcap": mcap_bomb, "big.bag": bag_bomb,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_packed_file_is_refused_by_what_it_declares(tmp_path, name):
    path = tmp_path / name
    BOMBS[name](path)
    with refused(TelemetryError, "file.size", naming="--max-bytes"):
        open_recording(path, SourceOptions(max_bytes=SMALL))


@pytest.mark.parametrize("name", ["big.mcap", "big.bag"])
def test_a_chunk_that_declares_less_than_it_holds_is_refused(tmp_path, name):
    path = tmp_path / name
    BOMBS[name](path)
    data = path.read_bytes()
    mark = b"size=" if name == "big.bag" else b"zstd"
    at = data.index(mark)
    at, size = (at + 5, 4) if name == "big.bag" else (at - 16, 8)
    declared = int.from_bytes(data[at : at + size], "little")
    assert declared > 8 * 2**20  # the right place in the file
    path.write_bytes(data[:at] + (1000).to_bytes(size, "little") + data[at + size :])
    with refused(TelemetryError, "file.damaged"):
        open_recording(path, SourceOptions(max_bytes=SMALL if name != "big.bag" else 2**30))


def test_columns_that_would_fill_the_memory_are_refused(tmp_path):
    path, map_path = tmp_path / "long.csv", tmp_path / "map.toml"
    rows = "\n".join(f"{n},1,2,3,4,5" for n in range(2000))
    path.write_text(f"t,wx,wy,wz,q1,q2\n{rows}\n")
    map_path.write_text(TABLE_MAP)
    with refused(TelemetryError, "file.size", naming="--max-bytes"):
        import_recording(path, map_path, max_bytes=10_000)


def test_a_link_out_of_an_hdf5_file_is_not_followed(tmp_path):
    import h5py

    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["key"] = BIG[:5]
    with h5py.File(tmp_path / "log.h5", "w") as file:
        file["t"] = BIG[:5]
        file["key"] = h5py.ExternalLink(str(secret), "key")
        file["loop"] = h5py.SoftLink("/")
    fields = open_recording(tmp_path / "log.h5").streams[0].fields
    assert {one.name: one.what for one in fields} == {"t": "", "key": "a link", "loop": "a link"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path):
    for name in ("pipe.bag", "pipe.csv", "pipe.h5"):
        os.mkfifo(tmp_path / name)
        with refused(TelemetryError, "file.unreadable"):
            open_recording(tmp_path / name)
    with refused(TelemetryError, "file.unreadable"):
        open_recording(os.devnull)


def test_an_array_of_python_objects_is_never_unpickled(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, t=BIG[:5], bad=np.array([{}, io.StringIO], dtype=object))
    fields = open_recording(path).streams[0].fields
    assert {one.name: one.what for one in fields} == {"t": "", "bad": "Python objects"}


def test_a_bag_that_was_cut_off_gives_what_is_whole(tmp_path):
    path, map_path = write_recording("ros1", tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 200])
    found = import_recording(path, map_path)
    assert [note.code for note in found.notes] == ["recording.cut"]
    assert found.telemetry["base.rate.x"].n_samples == 40
