"""The chaser of MuJoCo as a ROS 2 bag: joint states, an IMU and odometry, as drivers write them."""

from __future__ import annotations

from pathlib import Path

import mujoco_chaser
import numpy as np
from scipy.spatial.transform import Rotation

from freefloat.telemetry import read_telemetry
from freefloat.telemetry.telemetry import Telemetry

BEGIN = 1_700_000_000_000_000_000  # [ns], a date
DELAY = 400_000  # [ns] from the stamp of a message to its arrival


def write_bag(path: Path, *, seed: int, duration: float) -> None:
    """What a recorder keeps of a flight; the IMU says its noise, and that it knows no attitude."""
    source = path.with_suffix(".csv")
    mujoco_chaser.record(source, seed=seed, duration=duration, has_position=True)
    flight = read_telemetry(source)
    source.unlink()
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {}
        for topic, stamp, message in _messages(flight, store.types):
            kind = message.__msgtype__
            if topic not in topics:
                topics[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(topics[topic], stamp + DELAY, store.serialize_cdr(message, kind))


def _messages(flight: Telemetry, types):
    time = flight["base.rate.x"].time
    turn = _columns(flight, *(f"base.attitude.{axis}" for axis in "xyzw"))
    velocity = _columns(flight, *(f"base.velocity.{axis}" for axis in "xyz"))
    velocity = Rotation.from_quat(turn).inv().apply(velocity)
    rate = _columns(flight, *(f"base.rate.{axis}" for axis in "xyz"))
    joints = list(mujoco_chaser.JOINTS)
    angles = _columns(flight, *(f"{joint}.position" for joint in joints))
    rates = _columns(flight, *(f"{joint}.velocity" for joint in joints))
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    point, pose = types["geometry_msgs/msg/Point"], types["geometry_msgs/msg/Pose"]
    twist = types["geometry_msgs/msg/Twist"]
    placed = types["geometry_msgs/msg/PoseWithCovariance"]
    moving = types["geometry_msgs/msg/TwistWithCovariance"]
    place = _columns(flight, *(f"base.position.{axis}" for axis in "xyz"))
    none, unknown = np.zeros(36), np.full(9, -1.0)
    known = np.diag([np.deg2rad(mujoco_chaser.NOISE["base.rate"]) ** 2] * 3).ravel()
    for k, instant in enumerate(time):
        stamp = BEGIN + round(float(instant) * 1e9)
        at = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
        head = types["std_msgs/msg/Header"](at, "bus")
        still = vector(0.0, 0.0, 0.0)
        yield (
            "/joint_states",
            stamp,
            types["sensor_msgs/msg/JointState"](head, joints, angles[k], rates[k], np.zeros(0)),
        )
        yield (
            "/imu",
            stamp,
            types["sensor_msgs/msg/Imu"](
                head,
                quaternion(0.0, 0.0, 0.0, 1.0),
                unknown,
                vector(*rate[k]),
                known,
                still,
                unknown,
            ),
        )
        yield "/odom", stamp, types["nav_msgs/msg/Odometry"](
            head, "bus", placed(pose(point(*place[k]), quaternion(*turn[k])), none),
            moving(twist(vector(*velocity[k]), vector(*rate[k])), none),
        )  # fmt: skip


def _columns(flight: Telemetry, *names: str) -> np.ndarray:
    return np.column_stack([flight[name].values for name in names])
