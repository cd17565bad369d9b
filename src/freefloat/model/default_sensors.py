"""The sensors a robot is taken to have where its file names none, as a URDF never does."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from freefloat.model.model import Model
from freefloat.model.parts import Joint, Sensor, SensorKind
from freefloat.notes import Note


class _Usual(NamedTuple):
    """Rate [Hz] and noise of a kind of sensor, its unit, and the same of a joint that slides."""

    rate: float
    noise: float
    unit: str
    sliding: tuple[float, str] | None = None


# format: what sensors of the better laboratory robots and small spacecraft read, per sample
USUAL: dict[SensorKind, _Usual] = {
    "gyro": _Usual(50.0, 1e-4, "rad/s"),
    "attitude": _Usual(10.0, 1e-4, "rad"),
    "encoder": _Usual(50.0, 1e-4, "rad", (1e-5, "m")),
    "joint_rate": _Usual(50.0, 1e-3, "rad/s", (1e-4, "m/s")),
    "motor_torque": _Usual(50.0, 0.05, "N m", (0.5, "N")),
    "wheel_speed": _Usual(50.0, 0.05, "rad/s"),
    "thruster": _Usual(50.0, 0.02, "N"),
}


def with_default_sensors(model: Model) -> Model:
    """The model with the usual sensors, and a note that says which, where it has none.

    Gyro and attitude on a root that is not fixed; angle and rate of every joint, the torque of
    its motor, as currents tell it; wheel speeds and thrust where there are such. Noise is white.

    >>> from freefloat.model.urdf import read_urdf
    >>> text = '<robot name="r"><link name="a"><inertial><mass value="2"/><inertia ixx="1" ixy="0"'
    >>> text += ' ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>'
    >>> [sensor.kind for sensor in with_default_sensors(read_urdf(text)).sensors]
    ['gyro', 'attitude']
    """
    if model.sensors:
        return model
    joints = [joint for joint in model.joints if joint.type != "fixed"]
    sensors: list[Sensor] = []
    for kind, usual in USUAL.items():
        if kind in ("gyro", "attitude"):
            places = [model.root.body] if model.root.type != "fixed" else []
        elif usual.sliding is not None:
            is_of_motor = kind == "motor_torque"
            moving = {j.name: j.type for j in joints if not is_of_motor or _is_driven(j)}
            places = ["*"] if set(moving.values()) == {"revolute"} else list(moving)
        else:
            places = ["*"] if (model.wheels if kind == "wheel_speed" else model.thrusters) else []
        for place in places:
            slides = any(j.name == place and j.type == "prismatic" for j in joints)
            noise = usual.sliding[0] if slides and usual.sliding else usual.noise
            sensors.append(Sensor(kind, place, usual.rate, noise=noise))
    if not sensors:  # nothing of it moves
        return model
    note = default_sensor_note(model)
    return replace(model, sensors=tuple(sensors), notes=(*model.notes, note))


def _is_driven(joint: Joint) -> bool:
    return joint.drive is not None or joint.role != "passive"


def default_sensor_note(model: Model) -> Note:
    """Which sensors are taken for a model without any, in a sentence."""
    skipped: set[str] = {"gyro", "attitude"} if model.root.type == "fixed" else set()
    skipped |= set() if model.wheels else {"wheel_speed"}
    skipped |= set() if model.thrusters else {"thruster"}
    if all(joint.type == "fixed" for joint in model.joints):
        skipped |= {kind for kind, usual in USUAL.items() if usual.sliding}
    words = [
        f"{kind} {usual.noise:g} {usual.unit}"
        + (f" ({usual.sliding[0]:g} {usual.sliding[1]} where a joint slides)"
           if usual.sliding and any(j.type == "prismatic" for j in model.joints) else "")
        + f" at {usual.rate:g} Hz"
        for kind, usual in USUAL.items() if kind not in skipped
    ]  # fmt: skip
    text = f"{model.name} has no sensors; the usual ones are taken: {', '.join(words)}"
    return Note("substituted.sensors", f"{text} ([[sensor]] in a model file says others)")
