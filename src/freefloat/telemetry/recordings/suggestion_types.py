"""What follows from the type of a message: the entries that its topic becomes in a draft."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from freefloat.records.toml_text import value_text
from freefloat.telemetry.recordings.source_recording import RecordedStream


@dataclass
class Draft:
    """One entry of the map that is being drafted; `guess` is why it may be wrong."""

    to: str | list[str]
    source: str | list[str]
    guess: str = ""
    keys: dict[str, object] = field(default_factory=dict)
    noise: str = ""  # an estimate, as a comment: whoever knows the sensor knows better
    is_offered: bool = False  # a second source of a channel: a comment until somebody wants it

    def lines(self) -> Iterator[str]:
        """The entry as TOML."""
        mark = "# " if self.is_offered else ""
        yield f"{mark}[[channel]]" + (f"  # guessed: {self.guess}" if self.guess else "")
        for key, value in ({"to": self.to, "from": self.source} | self.keys).items():
            yield f"{mark}{key} = {'true' if value is True else value_text(value)}"
        if self.noise:
            yield self.noise
        yield ""


def type_rule(kind: str) -> Callable[[RecordedStream], list[Draft]] | None:
    """How a message of some type becomes entries; None where nothing is known of it."""
    return _RULES.get(kind.rpartition("/")[2].rpartition(".")[2])


def number_fields(stream: RecordedStream) -> dict[str, str]:
    """The fields of a stream that are numbers, with how a map calls them."""
    return {one.name: stream.reference(one.name) for one in stream.fields if not one.what}


def _group(stream: RecordedStream, path: str, to: str, **keys: object) -> list[Draft]:
    has_axes = f"{path}.x" in number_fields(stream)
    return [Draft(to, stream.reference(path), keys=dict(keys))] if has_axes else []


def topic_word(name: str) -> str:
    """A name for a place from that of a topic."""
    words = [word for word in re.split(r"\W+", name.partition(".")[0]) if word]
    return "_".join(words) or "sensor"


EFFORT = "motor_torque"
EFFORT_GUESS = "effort is that of the motor; of a sensor behind the gear it is *.torque"


def _joint_state(stream: RecordedStream) -> list[Draft]:
    found = []
    for list_name in ("position", "velocity", "effort"):
        if any(name.startswith(f"{list_name}[") for name in number_fields(stream)):
            found.append(_of_joints(list_name, stream.reference(f"{list_name}[*]")))
    return found


def _of_joints(kind: str, source: str) -> Draft:
    """Position, velocity or effort of every joint."""
    if kind == "effort":
        return Draft(f"*.{EFFORT}", source, EFFORT_GUESS)
    return Draft(f"*.{kind}", source)


def _dynamic_joint_state(stream: RecordedStream) -> list[Draft]:
    pattern = re.compile(r"interface_values\[([^\]]+)\]\.values\[(position|velocity|effort)\]")
    matches = map(pattern.fullmatch, number_fields(stream))
    kinds = dict.fromkeys(found[2] for found in matches if found)
    return [
        _of_joints(kind, stream.reference(f"interface_values[*].values[{kind}]")) for kind in kinds
    ]


def _imu(stream: RecordedStream) -> list[Draft]:
    guess = "the sensor's axes are taken for those of the body; rotation = { rpy = ... } turns them"
    found = []
    for path, to in (("angular_velocity", "base.rate"),
                     ("linear_acceleration", "base.acceleration")):  # fmt: skip
        if not is_not_measured(stream, path):
            found += _group(stream, path, to, **_noise(stream, path))
    norm = [_example(stream, f"orientation.{axis}") or 0.0 for axis in "xyzw"]
    is_rotation = abs(np.linalg.norm(norm) - 1.0) < 0.1
    if is_rotation and not is_not_measured(stream, "orientation"):
        found += _group(stream, "orientation", "base.attitude")
    for draft in found:
        draft.guess = guess
    return found


def is_not_measured(stream: RecordedStream, path: str) -> bool:
    """Whether the message says that it has no such measurement: a covariance that begins with -1.

    Drivers then leave zeros in its place.
    """
    return _example(stream, f"{path}_covariance[0]") == -1.0


def _noise(stream: RecordedStream, of: str) -> dict[str, float]:
    """A standard deviation where the message states a variance."""
    variance = _example(stream, f"{of}_covariance[0]")
    return {"noise": round(variance**0.5, 12)} if variance and variance > 0.0 else {}


def _example(stream: RecordedStream, name: str) -> float | None:
    return next((one.example for one in stream.fields if one.name == name), None)


def _pose(path: str) -> Callable[[RecordedStream], list[Draft]]:
    def rule(stream: RecordedStream) -> list[Draft]:
        return [
            *_group(stream, f"{path}.position", "base.position"),
            *_group(stream, f"{path}.orientation", "base.attitude"),
        ]

    return rule


def _transform(stream: RecordedStream) -> list[Draft]:
    return [
        *_group(stream, "transform.translation", "base.position"),
        *_group(stream, "transform.rotation", "base.attitude"),
    ]


def _twist(path: str, frame: str, guess: str) -> Callable[[RecordedStream], list[Draft]]:
    def rule(stream: RecordedStream) -> list[Draft]:
        found = _group(stream, f"{path}.linear", "base.velocity", frame=frame)
        found += _group(stream, f"{path}.angular", "base.rate", frame=frame)
        for draft in found:
            draft.guess = guess
        return found

    return rule


def _odometry(stream: RecordedStream) -> list[Draft]:
    twist = _twist("twist.twist", "body", "the twist is taken in the child frame, as REP 105 says")
    return [*_pose("pose.pose")(stream), *twist(stream)]


def _wrench(path: str) -> Callable[[RecordedStream], list[Draft]]:
    def rule(stream: RecordedStream) -> list[Draft]:
        place = topic_word(stream.name)
        found = _group(stream, f"{path}.force", f"{place}.force")
        return found + _group(stream, f"{path}.torque", f"{place}.torque")

    return rule


def _vector(path: str, to: str) -> Callable[[RecordedStream], list[Draft]]:
    def rule(stream: RecordedStream) -> list[Draft]:
        found = _group(stream, path, to)
        for draft in found:
            draft.guess = "what this vector is, by its type alone"
        return found

    return rule


def _ulog_attitude(stream: RecordedStream) -> list[Draft]:
    if "q[0]" not in number_fields(stream):
        return []
    guess = "PX4 attitudes are w first, of axes FRD in NED"
    return [Draft("base.attitude", stream.reference("q"), guess, {"order": "wxyz"})]


def _numbered_vector(path: str, to: str) -> Callable[[RecordedStream], list[Draft]]:
    def rule(stream: RecordedStream) -> list[Draft]:
        has = f"{path}[2]" in number_fields(stream)
        return [Draft(to, stream.reference(path), "PX4 axes: FRD and NED")] if has else []

    return rule


def _local_position(stream: RecordedStream) -> list[Draft]:
    names = number_fields(stream)
    found = []
    for axes, to in ((("x", "y", "z"), "base.position"), (("vx", "vy", "vz"), "base.velocity")):
        if all(axis in names for axis in axes):
            found.append(Draft(to, [names[axis] for axis in axes], "PX4 world axes: NED"))
    return found


_TWIST_GUESS = "the frame; TwistStamped is in the axes its frame_id names"
_RULES: Mapping[str, Callable[[RecordedStream], list[Draft]]] = {
    "JointState": _joint_state,
    "DynamicJointState": _dynamic_joint_state,
    "Imu": _imu,
    "Pose": _pose(""),
    "PoseStamped": _pose("pose"),
    "PoseWithCovarianceStamped": _pose("pose.pose"),
    "TransformStamped": _transform,
    "Twist": _twist("", "world", _TWIST_GUESS),
    "TwistStamped": _twist("twist", "world", _TWIST_GUESS),
    "TwistWithCovarianceStamped": _twist("twist.twist", "world", _TWIST_GUESS),
    "Odometry": _odometry,
    "WrenchStamped": _wrench("wrench"),
    "AccelStamped": _vector("accel.linear", "base.acceleration"),
    "PointStamped": _vector("point", "base.position"),
    "Vector3Stamped": _vector("vector", "base.rate"),
    "vehicle_attitude": _ulog_attitude,
    "vehicle_angular_velocity": _numbered_vector("xyz", "base.rate"),
    "vehicle_acceleration": _numbered_vector("xyz", "base.acceleration"),
    "vehicle_local_position": _local_position,
}
