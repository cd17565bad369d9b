"""What a model says about the sensors behind channels: delay, bias, saturation, noise."""

from __future__ import annotations

import math

import numpy as np

from freefloat.arrays import Array
from freefloat.model.checks import sensor_targets
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.telemetry.names import XYZ, ChannelName

# format: the last word of a channel, by kind of sensor
QUANTITY = {
    "encoder": "position", "joint_rate": "velocity", "joint_torque": "torque",
    "motor_encoder": "motor_position", "motor_rate": "motor_velocity",
    "motor_torque": "motor_torque", "gyro": "rate", "attitude": "attitude", "position": "position",
    "velocity": "velocity", "accelerometer": "acceleration", "wheel_speed": "speed",
    "wheel_torque": "torque", "thruster": "force",
}  # fmt: skip


class KnownSensors:
    """Sensors of a model by the group of their channels, such as `base.rate`; none without one."""

    def __init__(self, model: Model | None) -> None:
        self.by_group: dict[str, tuple[Sensor, str]] = {}
        self._largest: dict[str, float] = {}
        self.moved_joints: tuple[str, ...] = ()  # with a torque whenever they accelerate
        if model is None:
            return
        # the torque of a joint that is commanded by it is an input: zero is a command, too
        self.moved_joints = tuple(
            joint.name
            for joint in model.joints
            if joint.role == "motion"
            or (joint.role == "passive" and (joint.stiffness or joint.damping or joint.friction))
        )
        self._largest = {f"{t.name}.force": t.max_force or 0.0 for t in model.thrusters}
        for sensor in model.sensors:
            for target in sensor_targets(model, sensor):
                first = "base" if target == model.root.body else target
                place = sensor.channel or first
                names = [QUANTITY.get(sensor.kind, sensor.kind)]
                names += ["angle"] if sensor.kind == "attitude" else []
                for quantity in names:
                    self.by_group[f"{place}.{quantity}"] = (sensor, target)

    def of(self, name: str) -> Sensor | None:
        """The sensor behind a channel or a group of channels."""
        found = self.by_group.get(ChannelName.parse(name).group) or self.by_group.get(name)
        return found[0] if found else None

    def delay(self, name: str) -> float:
        """The delay that the model knows of [s]."""
        sensor = self.of(name)
        return sensor.delay if sensor else 0.0

    def bias(self, group: str, n: int) -> Array:
        """The bias that the model knows of, n numbers [unit]."""
        sensor = self.of(group)
        known = np.array(sensor.bias if sensor and sensor.bias else 0.0, dtype=float)
        axis = ChannelName.parse(group).axis
        if n == 1 and known.size == 3 and axis in XYZ:
            known = known[XYZ.index(axis)]
        return np.broadcast_to(known, (n,)) if known.size in (1, n) else np.zeros(n)

    def noise(self, name: str) -> float | None:
        """The noise of a sample that the model states [unit], rounding and coloured included."""
        sensor = self.of(name)
        if sensor is None:
            return None
        coloured = sensor.coloured.sigma if sensor.coloured else 0.0
        return math.hypot(sensor.noise, coloured, sensor.quantisation / math.sqrt(12.0)) or None

    def saturation(self, name: str) -> float | None:
        """What the sensor cannot exceed [unit]."""
        sensor = self.of(name)
        return sensor.saturation if sensor else None

    def largest(self, name: str) -> float | None:
        """What the actuator behind a channel can reach [unit]; None where nothing is said."""
        return self._largest.get(name) or None

    def share_axes(self, group: str, other: str) -> bool:
        """Whether two groups are read in the same axes, as far as the model tells."""
        a, b = self.by_group.get(group), self.by_group.get(other)
        return a is None or b is None or a[1] == b[1]


def known_noise(stated: float | None, sensors: KnownSensors, name: str) -> float | None:
    """The noise of a channel: what the file states, else what the model does, else None."""
    return stated if stated is not None else sensors.noise(name)
