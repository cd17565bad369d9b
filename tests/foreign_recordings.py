"""Recordings in every format that others use, written by the reference writer of each.

All hold the same: times, three rates and two joint angles, of random bits.
"""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

N = 40
START = 1_700_000_000_000_000_000  # [ns], a date, as recorders write it
STEP = 10_000_003  # [ns]: not a whole number of microseconds

_rng = np.random.default_rng(18)
STAMPS = START + STEP * np.arange(N)
TIMES = (STAMPS - START).astype(float) * 1e-9
RATES = _rng.normal(size=(N, 3))
ANGLES = _rng.normal(size=(N, 2))

TABLE_MAP = """format = 1
[time]
clock = "t"
[[channel]]
to = "base.rate"
from = ["wx", "wy", "wz"]
[[channel]]
to = ["arm_1.position", "arm_2.position"]
from = ["q1", "q2"]
"""
ARRAY_MAP = """format = 1
[time]
clock = "log.t"
[[channel]]
to = "base.rate"
from = "log.w"
[[channel]]
to = ["arm_1.position", "arm_2.position"]
from = "log.joints.q"
"""
FLAT_MAP = ARRAY_MAP.replace("log.joints.", "").replace("log.", "")
TOPIC_MAP = """format = 1
[[channel]]
to = "base.rate"
from = "/imu.angular_velocity"
[[channel]]
to = "*.position"
from = "/joint_states.position[*]"
"""
ULOG_MAP = """format = 1
[[channel]]
to = "base.rate"
from = "gyro.xyz"
[[channel]]
to = ["arm_1.position", "arm_2.position"]
from = "gyro.q"
"""


def columns() -> dict[str, np.ndarray]:
    """The columns of a plain table."""
    names = ("t", "wx", "wy", "wz", "q1", "q2")
    return dict(zip(names, np.column_stack([TIMES, RATES, ANGLES]).T, strict=True))


def _write_text(path: Path, delimiter: str, *, has_header: bool = True) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        made = columns()
        if has_header:
            writer.writerow(made)
        writer.writerows(zip(*(map(repr, map(float, c)) for c in made.values()), strict=True))


def write_csv(path: Path) -> None:
    _write_text(path, ",")


def write_tsv(path: Path) -> None:
    _write_text(path, "\t")


def write_blanks(path: Path) -> None:
    np.savetxt(path, np.column_stack(list(columns().values())), fmt="%25.17e")


def write_npz(path: Path) -> None:
    np.savez_compressed(path, t=TIMES, w=RATES, q=ANGLES)


def write_mat(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {"log": {"t": TIMES, "w": RATES, "joints": {"q": ANGLES}}}, do_compression=True)


def write_hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("log/t", data=TIMES)
        file.create_dataset("log/w", data=RATES, compression="gzip")
        file.create_dataset("log/joints/q", data=ANGLES, chunks=(8, 2), compression="gzip")


def write_mat73(path: Path) -> None:
    """As MATLAB lays it out: structs are groups, arrays are transposed, 512 bytes of text first."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("log")
        group.attrs["MATLAB_class"] = np.bytes_("struct")
        inner = group.create_group("joints")
        for where, name, data in ((group, "t", TIMES[:, None]), (group, "w", RATES),
                                  (inner, "q", ANGLES)):  # fmt: skip
            where.create_dataset(name, data=data.T).attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\x02IM")


def write_parquet(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    made = columns()
    stamp = pa.array(STAMPS, pa.timestamp("ns"))
    pyarrow.parquet.write_table(
        pa.table({"t": stamp, **{k: pa.array(v) for k, v in made.items() if k != "t"}}), path
    )


def _messages(store, ros1: bool):
    """Imu and JointState at every instant, as rosbags makes them."""
    types = store.types
    time, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    imu, joints = types["sensor_msgs/msg/Imu"], types["sensor_msgs/msg/JointState"]
    nothing = np.zeros(9)
    for n in range(N):
        stamp = time(int(STAMPS[n] // 10**9), int(STAMPS[n] % 10**9))
        head = header(n, stamp, "body") if ros1 else header(stamp, "body")
        yield n, imu(head, quaternion(0.0, 0.0, 0.0, 1.0), nothing, vector(*RATES[n]), nothing,
                     vector(0.0, 0.0, 0.0), nothing)  # fmt: skip
        # the order of joints changes from message to message, as it may
        order = [0, 1] if n % 2 else [1, 0]
        names = [f"arm_{k + 1}" for k in order]
        yield n, joints(head, names, ANGLES[n, order], np.zeros(0), np.zeros(0))


def write_ros1(path: Path, *, digest: str | None = None) -> None:
    """A bag as rosbags writes it; with another hash of its definitions where one is given."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    writer = Writer(path)
    writer.set_compression(Writer.CompressionFormat.BZ2)
    with writer:
        topics = {}
        for n, message in _messages(store, True):
            kind = message.__msgtype__
            name = "/imu" if kind.endswith("Imu") else "/joint_states"
            if name not in topics:
                text, own = store.generate_msgdef(kind, ros_version=1)
                about = {"msgdef": text, "md5sum": digest or own}
                topics[name] = writer.add_connection(name, kind, **about)
            writer.write(topics[name], int(STAMPS[n]) + 5, store.serialize_ros1(message, kind))


def write_ros2(path: Path, *, plugin: str = "sqlite3") -> None:
    """The folder of a bag as rosbags writes it."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    chosen = StoragePlugin.SQLITE3 if plugin == "sqlite3" else StoragePlugin.MCAP
    with Writer(path, version=9, storage_plugin=chosen) as writer:
        topics = {}
        for n, message in _messages(store, False):
            kind = message.__msgtype__
            name = "/imu" if kind.endswith("Imu") else "/joint_states"
            if name not in topics:
                topics[name] = writer.add_connection(name, kind, typestore=store)
            writer.write(topics[name], int(STAMPS[n]) + 5, store.serialize_cdr(message, kind))


def write_db3(path: Path) -> None:
    """The file of a ROS 2 bag by itself."""
    folder = path.with_suffix("")
    write_ros2(folder)
    next(folder.glob("*.db3")).rename(path)


def write_mcap_ros2(path: Path) -> None:
    folder = path.with_suffix("")
    write_ros2(folder, plugin="mcap")
    next(folder.glob("*.mcap")).rename(path)


def _objects():
    for n in range(N):
        stamp = {"sec": int(STAMPS[n] // 10**9), "nsec": int(STAMPS[n] % 10**9)}
        rate = dict(zip("xyz", map(float, RATES[n]), strict=True))
        yield n, "/imu", {"header": {"stamp": stamp}, "angular_velocity": rate}
        joints = {"name": ["arm_1", "arm_2"], "position": list(map(float, ANGLES[n]))}
        yield n, "/joint_states", {"header": {"stamp": stamp}, **joints}


def write_mcap_json(path: Path) -> None:
    from mcap.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("anything", "jsonschema", b'{"type": "object"}')
        topics = ("/imu", "/joint_states")
        channels = {topic: writer.register_channel(topic, "json", schema) for topic in topics}
        for n, topic, content in _objects():
            data = json.dumps(content).encode()
            writer.add_message(channels[topic], int(STAMPS[n]) + 5, data, int(STAMPS[n]) + 2)
        writer.finish()


def write_mcap_protobuf(path: Path) -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from mcap_protobuf.writer import Writer

    proto = descriptor_pb2.FileDescriptorProto(name="robot.proto", package="robot", syntax="proto3")
    fields = {
        "Stamp": (("seconds", 3, 1), ("nanos", 5, 1)),
        "Header": (("stamp", "Stamp", 1),),
        "Vector": (("x", 1, 1), ("y", 1, 1), ("z", 1, 1)),
        "Imu": (("header", "Header", 1), ("angular_velocity", "Vector", 1)),
        "Joints": (("header", "Header", 1), ("name", 9, 3), ("position", 1, 3)),
    }
    for name, parts in fields.items():
        made = proto.message_type.add(name=name)
        for number, (field, kind, label) in enumerate(parts, start=1):
            one = made.field.add(name=field, number=number, label=label)
            one.type = 11 if isinstance(kind, str) else kind
            if isinstance(kind, str):
                one.type_name = f".robot.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    classes = message_factory.GetMessageClassesForFiles(["robot.proto"], pool)
    with path.open("wb") as file, Writer(file) as writer:
        for n, topic, content in _objects():
            kind = "robot.Imu" if topic == "/imu" else "robot.Joints"
            stamp = content["header"]["stamp"]
            content["header"]["stamp"] = {"seconds": stamp["sec"], "nanos": stamp["nsec"]}
            writer.write_message(topic, classes[kind](**content), int(STAMPS[n]) + 5)


def write_ulog(path: Path) -> None:
    """A log of one topic, by the description of the format; pyulog cannot make one from nothing."""
    out = io.BytesIO()
    out.write(b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0))

    def message(kind: bytes, body: bytes) -> None:
        out.write(struct.pack("<HB", len(body), kind[0]) + body)

    message(b"B", bytes(40))
    message(b"F", b"gyro:uint64_t timestamp;double[3] xyz;double[2] q;")
    message(b"A", struct.pack("<BH", 0, 0) + b"gyro")
    for n in range(N):
        stamp = int(STAMPS[n] - START) // 1000
        message(b"D", struct.pack("<HQ5d", 0, stamp, *RATES[n], *ANGLES[n]))
    path.write_bytes(out.getvalue())


# name: (file, writer, map, the largest error of times [s])
FORMATS: dict[str, tuple[str, Callable[[Path], None], str, float]] = {
    "csv": ("flight.csv", write_csv, TABLE_MAP, 0.0),
    "tsv": ("flight.tsv", write_tsv, TABLE_MAP, 0.0),
    "blanks": ("flight.txt", write_blanks, TABLE_MAP, 0.0),
    "npz": ("flight.npz", write_npz, FLAT_MAP, 0.0),
    "mat": ("flight.mat", write_mat, ARRAY_MAP, 0.0),
    "mat73": ("flight.mat", write_mat73, ARRAY_MAP, 0.0),
    "hdf5": ("flight.h5", write_hdf5, ARRAY_MAP, 0.0),
    "parquet": ("flight.parquet", write_parquet, TABLE_MAP, 0.0),
    "ros1": ("flight.bag", write_ros1, TOPIC_MAP, 0.0),
    "ros2": ("flight", write_ros2, TOPIC_MAP, 0.0),
    "db3": ("flight.db3", write_db3, TOPIC_MAP, 0.0),
    "mcap_ros2": ("flight.mcap", write_mcap_ros2, TOPIC_MAP, 0.0),
    "mcap_json": ("flight.mcap", write_mcap_json, TOPIC_MAP, 0.0),
    "mcap_protobuf": ("flight.mcap", write_mcap_protobuf, TOPIC_MAP, 0.0),
    "ulog": ("flight.ulg", write_ulog, ULOG_MAP, 1e-6),  # its clock counts microseconds
}


def write_recording(name: str, folder: Path) -> tuple[Path, Path]:
    """A recording in one of the formats, and its map."""
    file, write, text, _ = FORMATS[name]
    if name == "blanks":  # no header: columns are counted
        for n, column in enumerate(columns(), start=1):
            text = text.replace(f'"{column}"', f'"c{n}"')
    path, map_path = folder / file, folder / "map.toml"
    write(path)
    map_path.write_text(text)
    return path, map_path
