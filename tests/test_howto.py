"""Every command of the how-to page ends well, in the order in which it stands there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from documents import ROOT, blocks, commands, file_name
from scipy.spatial.transform import Rotation

import freefloat as ff
from freefloat.cli.run import run

PAGE = ROOT / "docs" / "howto.md"


def test_the_page_can_be_followed(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rosbags", reason="extra `bags` is not installed: no bag to read")
    monkeypatch.chdir(tmp_path)
    write_bag(tmp_path / "flight.bag")
    for block in blocks(PAGE, "toml"):
        name = file_name(block)
        assert name
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    asked = list(commands(PAGE))
    assert len(asked) >= 16
    for arguments in asked:
        assert run(arguments) == 0, arguments
    told = capsys.readouterr().out
    assert "springs that agree" in told and "can be trusted" in told
    assert "# guessed: the twist is taken in the child frame" in told
    assert (tmp_path / "estimates.ndjson").stat().st_size > 1000


def write_bag(path: Path) -> None:
    """A capture as a ROS 1 bag: joint states, odometry with its twist in the body, thrusters."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    model = ff.load_model("spatial-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=20.0, seed=1), seed=1)
    time = flight["base.rate.x"].time
    joints = [f"arm_{k}" for k in range(1, 7)]

    def columns(*names: str) -> np.ndarray:
        return np.column_stack([flight[name].values for name in names])

    turn = columns(*(f"base.attitude.{axis}" for axis in "xyzw"))
    velocity = columns(*(f"base.velocity.{axis}" for axis in "xyz"))
    velocity = Rotation.from_quat(turn).inv().apply(velocity)
    rate = columns(*(f"base.rate.{axis}" for axis in "xyz"))
    place = columns(*(f"base.position.{axis}" for axis in "xyz"))
    angles = columns(*(f"{joint}.position" for joint in joints))
    rates = columns(*(f"{joint}.velocity" for joint in joints))
    forces = columns(*(f"thr_{k}.force" for k in range(1, 13)))

    store = get_typestore(Stores.ROS1_NOETIC)
    types = store.types
    point, vector = types["geometry_msgs/msg/Point"], types["geometry_msgs/msg/Vector3"]
    pose, twist = types["geometry_msgs/msg/Pose"], types["geometry_msgs/msg/Twist"]
    covered = types["geometry_msgs/msg/PoseWithCovariance"]
    moving = types["geometry_msgs/msg/TwistWithCovariance"]
    quaternion = types["geometry_msgs/msg/Quaternion"]
    unknown = np.zeros(36)
    topics = {}
    with Writer(path) as writer:
        for k, instant in enumerate(time):
            stamp = int(1.7e18) + round(float(instant) * 1e9)
            at = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            head = types["std_msgs/msg/Header"](k, at, "bus")
            where = covered(pose(point(*place[k]), quaternion(*turn[k])), unknown)
            how = moving(twist(vector(*velocity[k]), vector(*rate[k])), unknown)
            layout = types["std_msgs/msg/MultiArrayLayout"]([], 0)
            for topic, message in {
                "/joint_states": types["sensor_msgs/msg/JointState"](
                    head, joints, angles[k], rates[k], np.zeros(0)
                ),
                "/odom": types["nav_msgs/msg/Odometry"](head, "bus", where, how),
                "/thrusters": types["std_msgs/msg/Float64MultiArray"](layout, forces[k]),
            }.items():
                kind = message.__msgtype__
                if topic not in topics:
                    text, digest = store.generate_msgdef(kind, ros_version=1)
                    topics[topic] = writer.add_connection(topic, kind, msgdef=text, md5sum=digest)
                writer.write(topics[topic], stamp, store.serialize_ros1(message, kind))
