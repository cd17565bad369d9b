"""How much memory a flight from a bag of several gigabytes takes: cameras beside gyro and joints.

    python benchmarks/large_bag.py [--gigabytes 5] [--storage sqlite3|mcap] [--folder FOLDER]

A ROS 2 bag is written by rosbags, read by `freefloat import` in a process of its own, and deleted.
The largest resident memory of that process is printed beside that of a bag with the same flight and
hardly any pictures, and beside that of the command doing nothing; so is its processor time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SECONDS, IMU_RATE, JOINT_RATE = 600.0, 200, 100  # of the flight, in every bag
PICTURE = (1080, 1920)  # pixels, 8 bits of three colours
MAP = """format = 1
[[channel]]
to = "base.rate"
from = "/imu.angular_velocity"
[[channel]]
to = "*.position"
from = "/joint_states.position[*]"
"""


def write_bag(path: Path, n_pictures: int, storage: str) -> None:
    """A bag of ten minutes with so many pictures among the samples, in the order of time."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    time, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    kinds = {"/imu": "sensor_msgs/msg/Imu", "/joint_states": "sensor_msgs/msg/JointState",
             "/camera": "sensor_msgs/msg/Image"}  # fmt: skip
    events = [(t, "/imu") for t in np.arange(0.0, SECONDS, 1.0 / IMU_RATE)]
    events += [(t, "/joint_states") for t in np.arange(0.0, SECONDS, 1.0 / JOINT_RATE)]
    events += [(t, "/camera") for t in np.linspace(0.0, SECONDS, n_pictures, endpoint=False)]
    rng, nothing = np.random.default_rng(0), np.zeros(9)
    height, width = PICTURE
    picture = rng.integers(0, 255, height * width * 3, dtype=np.uint8)
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    names = [f"arm_{k}" for k in range(7)]
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        topics = {name: writer.add_connection(name, kind, typestore=store)
                  for name, kind in kinds.items()}  # fmt: skip
        for t, topic in sorted(events):
            stamp = int(t * 1e9)
            head = header(time(stamp // 10**9, stamp % 10**9), "body")
            if topic == "/imu":
                rate = vector(*(0.1 * np.sin([t, 2 * t, 3 * t])))
                message = types[kinds[topic]](head, quaternion(0.0, 0.0, 0.0, 1.0), nothing, rate,
                                              nothing, vector(0.0, 0.0, 0.0), nothing)  # fmt: skip
            elif topic == "/joint_states":
                angles = np.sin(t + np.arange(7.0))
                message = types[kinds[topic]](head, names, angles, np.zeros(0), np.zeros(0))
            else:
                message = types[kinds[topic]](head, height, width, "rgb8", 0, width * 3, picture)
            writer.write(topics[topic], stamp, store.serialize_cdr(message, kinds[topic]))


def run_command(*arguments: str) -> tuple[float, float]:
    """Largest resident memory [MB] and processor time [s] of the command."""
    process = subprocess.Popen([sys.executable, "-m", "freefloat", *arguments],
                               stdout=subprocess.DEVNULL)  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"freefloat {' '.join(arguments)} ended with {status}")
    return used.ru_maxrss / 1024.0, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--storage", choices=("sqlite3", "mcap"), default="sqlite3")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="large_bag", dir=given.folder))
    try:
        (work / "map.toml").write_text(MAP, encoding="utf-8")
        print(f"the command alone: {run_command('models')[0]:.0f} MB")
        each = PICTURE[0] * PICTURE[1] * 3
        for n in (10, int(given.gigabytes * 1e9 / each)):
            bag, out = work / f"bag_{n}", work / f"flight_{n}.parquet"
            write_bag(bag, n, given.storage)
            size = sum(file.stat().st_size for file in bag.iterdir()) / 1e9
            wanted = ("--map", str(work / "map.toml"), "--out", str(out))
            memory, seconds = run_command("import", str(bag), *wanted)
            shutil.rmtree(bag)
            print(f"{given.storage}, {size:.2f} GB: {memory:.0f} MB, {seconds:.1f} s of processor",
                  flush=True)  # fmt: skip
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
