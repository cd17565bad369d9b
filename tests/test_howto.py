"""Every command of the how-to page ends well, in the order in which it stands there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from documents import ROOT, blocks, commands_of, file_name
from scipy.spatial.transform import Rotation

import freefloat as ff
from freefloat.cli.run import run

PAGE = ROOT / "docs" / "howto.md"


def test_the_page_can_be_followed(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rosbags", reason="extra `bags` is not installed: no bag to read")
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: no independent recording")
    monkeypatch.chdir(tmp_path)
    write_bag(tmp_path / "flight.bag")
    write_chaser(tmp_path)
    write_arm(tmp_path)
    for block in blocks(PAGE, "toml"):
        name = file_name(block)
        assert name
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    n_commands = 0
    for block in blocks(PAGE, "python", "console"):
        if block.language == "python":
            exec(compile(block.text, str(PAGE), "exec"), {})
        for arguments in commands_of(block):
            expected = 1 if arguments == ["telemetry", "faulty.parquet"] else 0
            assert run(arguments) == expected, arguments
            n_commands += 1
    assert n_commands >= 28
    told = capsys.readouterr().out
    assert "springs that agree" in told and "can be trusted" in told
    assert "# guessed: the twist is taken in the child frame" in told
    assert "3 isolated outliers" in told and "stuck for 2.9 s" in told
    assert (tmp_path / "estimates.ndjson").stat().st_size > 1000
    drafted = (tmp_path / "drafted.toml").read_text(encoding="utf-8")
    assert "# guessed" in drafted and "/joint_states.position[*]" in drafted
    from mujoco_chaser import TRUTH

    mass = ff.load_fit("chaser.json")["bus.mass"]
    assert abs(mass.value - TRUTH["mass"]) < 4.0 * mass.total_std < 0.2 * TRUTH["mass"]
    rub = ff.load_fit("arm.json")["joint_3.friction"]
    # theory: one number; four deviations come by chance once in 16 000 tests
    assert abs(rub.value - FRICTION) < 4.0 * rub.total_std < 0.2
    assert "the model predicts this flight" in told


FRICTION = 0.7  # [N m] of joint 3 of the arm


def write_chaser(folder: Path) -> None:
    """The URDF of docs/own_robot.md, and two bags of the real thing."""
    from chaser_bag import write_bag

    (urdf,) = blocks(ROOT / "docs" / "own_robot.md", "xml")
    (folder / "chaser.urdf").write_text(urdf.text, encoding="utf-8")
    write_bag(folder / "flight", seed=1, duration=24.0)
    write_bag(folder / "second", seed=2, duration=15.0)


def write_arm(folder: Path) -> None:
    """Three joints of the arm on the ground, its last link and friction a third off."""
    import ground_arm

    links = ground_arm.LINKS[:3]
    mass, com, size, place, axis, friction, damping, armature = links[2]
    assert friction == FRICTION
    off = (0.8 * mass, com, size, place, axis, 0.7 * friction, 1.3 * damping, armature)
    (folder / "arm.xml").write_text(ground_arm.arm_text((*links[:2], off)), encoding="utf-8")
    ground_arm.flown(3, 7.0, links).save(folder / "arm.parquet")
    ground_arm.flown(4, 5.0, links).save(folder / "other.parquet")


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
