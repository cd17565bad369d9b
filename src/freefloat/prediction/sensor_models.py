"""What perfect sensors would read: the truth behind every channel of a flight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion
from freefloat.dynamics.frames import FrameMotion, frame_motion
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import positions, rates
from freefloat.dynamics.tree import System
from freefloat.model.checks import JOINT_SENSORS, MOTOR_SENSORS, sensor_targets
from freefloat.model.parts import Sensor
from freefloat.model.rotations import quaternions_from_matrices

SLIDING = {"position": "m", "velocity": "m/s", "torque": "N"}


@dataclass(frozen=True)
class FlightSegment:
    """A stretch of a flight: states, motion and inputs at the same times [s]."""

    times: Array
    states: Array
    motion: SystemMotion
    inputs: Inputs

    @cached_property
    def _frames(self) -> dict[str, FrameMotion]:
        return {}

    def frame(self, system: System, target: str) -> FrameMotion:
        """How the frame or body `target` of the system moves; sensors on it share the work."""
        if target not in self._frames:
            self._frames[target] = frame_motion(system, target, self.states, motion=self.motion)
        return self._frames[target]


def prefix_of(system: System, sensor: Sensor, target: str) -> str:
    """The first word of a sensor's channel names: `base` for the root body."""
    if sensor.channel:
        return sensor.channel
    return "base" if target == system.model.root.body else target


def readings(system: System, sensor: Sensor, at: FlightSegment) -> dict[str, Array]:
    """Noise-free channels of a sensor: vectors (N, 3), attitudes (N, 4), scalars (N,).

    Keys end where the axis letter would come: `base.rate`, `arm_1.position`.
    """
    found = {}
    for target in sensor_targets(system.model, sensor):
        field = _reader(system, sensor, target)[0]
        name = f"{prefix_of(system, sensor, target)}.{field}"
        found[name] = reading(system, sensor, target, at)
    return found


def reading(system: System, sensor: Sensor, target: str, at: FlightSegment) -> Array:
    """What a sensor reads of one of its targets: like one of `readings`."""
    return _reader(system, sensor, target)[1](system, target, at)


def _reader(
    system: System, sensor: Sensor, target: str
) -> tuple[str, Callable[[System, str, FlightSegment], Array]]:
    """The last word of the channels, and what reads them."""
    if sensor.kind == "attitude" and _is_planar_root(system, target):
        return "angle", _angle
    return READERS[sensor.kind]


def units(system: System, sensor: Sensor) -> dict[str, str]:
    """Units of the channels of sliding joints; those of all others follow from their names."""
    if sensor.kind not in (*JOINT_SENSORS, *MOTOR_SENSORS):
        return {}
    sliding = {joint.name for joint in system.model.joints if joint.type == "prismatic"}
    field = READERS[sensor.kind][0]
    return {
        f"{prefix_of(system, sensor, target)}.{field}": SLIDING[field.removeprefix("motor_")]
        for target in sensor_targets(system.model, sensor)
        if target in sliding
    }


def _is_planar_root(system: System, target: str) -> bool:
    return system.model.root.type == "planar" and system.body_link.get(target) == 0


def _attitude(system: System, target: str, at: FlightSegment) -> Array:
    return quaternions_from_matrices(at.frame(system, target).rotation)


def _angle(system: System, target: str, at: FlightSegment) -> Array:
    R = at.frame(system, target).rotation
    return np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))


def _specific_force(system: System, target: str, at: FlightSegment) -> Array:
    """Acceleration minus gravity at the sensor, in its axes: what an accelerometer feels."""
    frame = at.frame(system, target)
    assert frame.acceleration is not None
    field = gravity(system, frame.position, at.times)
    return frame.acceleration - np.einsum("nji,nj->ni", frame.rotation, field)


def gravity(system: System, position: Array, times: Array) -> Array:
    """Gravity and its gradient (N, 3) [m/s^2] at world positions and times, in world axes."""
    T = system.tree.field
    angle = T[10] * times
    r = np.cos(angle)[:, None] * T[4:7] + np.sin(angle)[:, None] * T[7:10]
    along = 3.0 * np.sum(r * position, axis=1, keepdims=True)
    return T[:3] + T[3] * (along * r - position)


def _coordinate(pick: Callable[[Array], Array]) -> Callable[[System, str, FlightSegment], Array]:
    return lambda system, name, at: pick(at.states)[:, system.coordinates.index(name)]


def _motor(pick: Callable[[Array], Array]) -> Callable[[System, str, FlightSegment], Array]:
    return lambda system, name, at: pick(at.states)[:, system.coordinates.index(f"{name}.motor")]


def _joint_force(system: System, name: str, at: FlightSegment) -> Array:
    return at.motion.forces[:, system.coordinates.index(name)]


def _motor_torque(system: System, name: str, at: FlightSegment) -> Array:
    """What the motor applies: the rotor's own inertia plus the spring it winds up."""
    a, b = system.coordinates.index(name), system.coordinates.index(f"{name}.motor")
    stiffness, damping, rest, friction, speed = drive_spring(system, name)
    q, dq = positions(at.states), rates(at.states)
    slip = dq[:, a] - dq[:, b]
    link = -stiffness * (q[:, a] - q[:, b] - rest) - damping * slip
    return at.motion.forces[:, b] + link - friction * np.tanh(slip / speed)


def drive_spring(system: System, joint: str) -> tuple[float, float, float, float, float]:
    """Stiffness, damping, rest, friction and friction speed of a joint's drive, as they are now."""
    springs = system.model.assembly.springs
    s = [spring.owner for spring in springs].index(f"{joint}.drive")
    stiffness, damping, rest, friction = map(float, system.parameters.spring[s])
    return stiffness, damping, rest, friction, springs[s].friction_speed


def _thrust(system: System, name: str, at: FlightSegment) -> Array:
    index = [thruster.name for thruster in system.model.thrusters].index(name)
    return np.broadcast_to(at.inputs.push[:, 0, index], at.times.shape).copy()


READERS: dict[str, tuple[str, Callable[[System, str, FlightSegment], Array]]] = {
    "encoder": ("position", _coordinate(positions)),
    "joint_rate": ("velocity", _coordinate(rates)),
    "joint_torque": ("torque", _joint_force),
    "motor_encoder": ("motor_position", _motor(positions)),
    "motor_rate": ("motor_velocity", _motor(rates)),
    "motor_torque": ("motor_torque", _motor_torque),
    "wheel_speed": ("speed", _coordinate(rates)),
    "wheel_torque": ("torque", _joint_force),
    "thruster": ("force", _thrust),
    "gyro": ("rate", lambda system, name, at: at.frame(system, name).rate),
    "attitude": ("attitude", _attitude),
    "position": ("position", lambda system, name, at: at.frame(system, name).position),
    "velocity": ("velocity", lambda system, name, at: at.frame(system, name).velocity),
    "accelerometer": ("acceleration", _specific_force),
}
