"""What a perfect sensor of each kind reads of a motion, and how that changes with the parameters.

**A new kind of sensor is one entry in `SENSOR_MODELS`**: the last word of its channels, how many
numbers it reads, the reading and its Jacobian. Simulation, output error, the Cramér-Rao bound,
validation and the live filters take it from there.

Jacobians end the chain rule: `FlightSegment.sensitivity` says how the motion changes with every
parameter, an entry of the table how the reading changes with the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import coordinates_of
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.joint_efforts import joint_terms
from freefloat.dynamics.kernels.spatial import P, V
from freefloat.dynamics.sensitivity import cross
from freefloat.dynamics.state import D_POSITION, D_RATE, D_VELOCITY, positions, rates
from freefloat.dynamics.tree import System
from freefloat.model.checks import JOINT_SENSORS, MOTOR_SENSORS, sensor_targets
from freefloat.model.parts import Sensor
from freefloat.model.rotations import quaternions_from_matrices
from freefloat.prediction.flight import FlightSegment

# format: units of a prismatic joint's channels, by their last word
SLIDING = {"position": "m", "velocity": "m/s", "torque": "N"}
# rows of the tangent that a sensor at the root's origin reads
ROOT_ROWS = {"position": D_POSITION, "velocity": D_VELOCITY, "gyro": D_RATE}


Reader = Callable[[System, str, FlightSegment], Array]


@dataclass(frozen=True)
class SensorModel:
    """A kind of sensor on a target.

    quantity: the last word of its channels, as in `base.rate`. width: numbers in a reading: 1, 3
    (x, y, z) or 4 (a quaternion). read(system, target, segment): readings (N,) or (N, width).
    jacobian(system, target, segment): their derivative (N, r, parameters); r is the width, but 3
    for a quaternion: the small rotation in sensor axes.

    needs_forces: reads accelerations or forces rather than the state. is_input: only repeats what
    drives a simulation. coordinate(target): the coordinate it reads, whose motion may be
    prescribed and is then no news. planar_axes: what a planar root leaves of three axes. unit:
    need only be given where it does not follow from the channel's name.
    """

    quantity: str
    width: int
    read: Reader
    jacobian: Reader
    needs_forces: bool = False
    is_input: bool = False
    coordinate: Callable[[str], str] | None = None
    planar_axes: tuple[int, ...] = (0, 1, 2)
    unit: str | None = None


@dataclass(frozen=True)
class PlanarAngle(Sensor):
    """An attitude sensor on a planar robot that writes one angle, as vision does, no quaternion."""

    @classmethod
    def like(cls, sensor: Sensor) -> PlanarAngle:
        """The same sensor, writing an angle."""
        return cls(**{field.name: getattr(sensor, field.name) for field in fields(sensor)})


def sensor_model(system: System, sensor: Sensor, target: str) -> SensorModel:
    """The entry of `SENSOR_MODELS` for a sensor; the attitude of a planar root is one angle."""
    is_angle = isinstance(sensor, PlanarAngle) or _is_planar_root(system, target)
    if sensor.kind == "attitude" and is_angle:
        return PLANAR_ANGLE
    return SENSOR_MODELS[sensor.kind]


def sensor_reading(system: System, sensor: Sensor, target: str, at: FlightSegment) -> Array:
    """What a perfect sensor reads of one of its targets: (N,), (N, 3) or quaternions (N, 4)."""
    return sensor_model(system, sensor, target).read(system, target, at)


def sensor_jacobian(system: System, sensor: Sensor, target: str, at: FlightSegment) -> Array:
    """d reading / d parameter (N, r, parameters) of one sensor on one target.

    The parameters are those of `at.sensitivity`.
    """
    return sensor_model(system, sensor, target).jacobian(system, target, at)


def sensor_readings(system: System, sensor: Sensor, at: FlightSegment) -> dict[str, Array]:
    """Noise-free channels of a sensor: vectors (N, 3), attitudes (N, 4), scalars (N,).

    Keys end where the axis letter would come: `base.rate`, `arm_1.position`.
    """
    return {
        channel_group(system, sensor, target): sensor_reading(system, sensor, target, at)
        for target in sensor_targets(system.model, sensor)
    }


def channel_group(system: System, sensor: Sensor, target: str) -> str:
    """What a sensor's channels have in common, such as `base.rate`: `base` is the root body."""
    first = "base" if target == system.model.root.body else target
    return f"{sensor.channel or first}.{sensor_model(system, sensor, target).quantity}"


def channel_units(system: System, sensor: Sensor) -> dict[str, str]:
    """Units of channels that do not follow from their names: by the group of the channel."""
    model = SENSOR_MODELS[sensor.kind]
    targets = sensor_targets(system.model, sensor)
    if model.unit is not None:
        return {channel_group(system, sensor, target): model.unit for target in targets}
    if sensor.kind not in (*JOINT_SENSORS, *MOTOR_SENSORS):
        return {}
    sliding = {joint.name for joint in system.model.joints if joint.type == "prismatic"}
    unit = SLIDING[model.quantity.removeprefix("motor_")]
    return {channel_group(system, sensor, target): unit for target in targets if target in sliding}


def _is_planar_root(system: System, target: str) -> bool:
    return system.model.root.type == "planar" and system.body_link.get(target) == 0


def _itself(target: str) -> str:
    return target


def _its_motor(target: str) -> str:
    return f"{target}.motor"


# --- coordinates: encoders, rates, torques ---


def _position(of: Callable[[str], str]) -> Reader:
    return lambda system, name, at: positions(at.states)[:, system.coordinates.index(of(name))]


def _rate(of: Callable[[str], str]) -> Reader:
    return lambda system, name, at: rates(at.states)[:, system.coordinates.index(of(name))]


def _position_jacobian(of: Callable[[str], str]) -> Reader:
    return lambda system, name, at: at.tangent.of_position(of(name))[:, None]


def _rate_jacobian(of: Callable[[str], str]) -> Reader:
    return lambda system, name, at: at.tangent.of_rate(of(name))[:, None]


def _joint_force(system: System, name: str, at: FlightSegment) -> Array:
    return at.motion.forces[:, system.coordinates.index(name)]


def _joint_force_jacobian(system: System, name: str, at: FlightSegment) -> Array:
    return _force_change(system, name, at)[:, None]


def _force_change(system: System, coordinate: str, at: FlightSegment) -> Array:
    place = 6 + system.n_coordinates + system.coordinates.index(coordinate)
    return at.tangent.efforts[:, place]


def _motor_torque(system: System, joint: str, at: FlightSegment) -> Array:
    """What the motor applies: what its coordinate feels, and what is inside of the joint."""
    c = motor_place(system, joint)
    torque = at.motion.forces[:, c].copy()
    for term in joint_terms(system, _coordinates(at), of=c):
        torque += dict(term.ends)[c] * term.effort
    return torque


def _motor_torque_jacobian(system: System, joint: str, at: FlightSegment) -> Array:
    """The same for every parameter: by the parameters inside of the joint, and by the motion."""
    c, tangent = motor_place(system, joint), at.tangent
    change = tangent.efforts[:, 6 + system.n_coordinates + c].copy()
    for term in joint_terms(system, _coordinates(at), of=c):
        own = dict(term.ends)[c]
        for field, column in term.columns.items():
            if (name := f"{term.owner}.{field}") in tangent.names:
                change[:, tangent.names.index(name)] += own * column
        for end, sign in term.ends:
            name = system.coordinates[end]
            moved = tangent.of_position(name), tangent.of_rate(name), tangent.efforts[:, 6 + end]
            for slope, motion in zip(term.slopes, moved, strict=True):
                change += own * sign * slope[:, None] * motion
    return change[:, None]


def motor_place(system: System, joint: str) -> int:
    """The coordinate that the motor of a joint drives: its own behind a drive, else the joint."""
    motor = f"{joint}.motor"
    return system.coordinates.index(motor if motor in system.coordinates else joint)


def _coordinates(at: FlightSegment) -> Array:
    return coordinates_of(at.states, at.motion.accelerations)


def _thrust(system: System, name: str, at: FlightSegment) -> Array:
    index = [thruster.name for thruster in system.model.thrusters].index(name)
    return np.broadcast_to(at.inputs.push[:, 0, index], at.times.shape).copy()


def _thrust_jacobian(system: System, name: str, at: FlightSegment) -> Array:
    index = [thruster.name for thruster in system.model.thrusters].index(name)
    found = at.tangent.pushes.get(index)
    return np.zeros((len(at.times), 1, len(at.tangent.names))) if found is None else found[:, None]


# --- frames on bodies: gyros, trackers, accelerometers ---


class _Mount:
    """A sensor frame on its link: where it is in root axes (N, ...), and how the link changes."""

    def __init__(
        self, system: System, target: str, at: FlightSegment, *, with_acceleration: bool = False
    ) -> None:
        link, R_LF, self.p_LF = system.frame_pose(target)
        self.change = at.change(system, target, with_acceleration=with_acceleration)
        self.rows = at.motion.links[:, link]
        self.R_BL = self.rows[:, :9].reshape(-1, 3, 3)
        self.to_frame = np.swapaxes(self.R_BL @ R_LF, 1, 2)

    @cached_property
    def p(self) -> Array:
        """The frame's origin [m]."""
        return self.rows[:, P : P + 3] + self.R_BL @ self.p_LF

    @property
    def w(self) -> Array:
        """The link's rate [rad/s]."""
        return self.rows[:, V : V + 3]

    @cached_property
    def v(self) -> Array:
        """The velocity of the frame's origin, less that of the root's origin [m/s]."""
        return self.rows[:, V + 3 : V + 6] + np.cross(self.w, self.p)


def _of_root(kind: str, system: System, target: str, at: FlightSegment) -> Array | None:
    """At the root's own origin the state itself is read; most base sensors are there."""
    link, R_LF, p_LF = system.frame_pose(target)
    body = system.body_of(target)
    is_moved = any(move.body == body for _, move in at.tangent.moves)
    if link != 0 or kind not in ROOT_ROWS or p_LF.any() or is_moved:
        return None
    change = at.tangent.tangents[:, ROOT_ROWS[kind]]
    is_turned = kind == "gyro" and not np.array_equal(R_LF, np.eye(3))
    return R_LF.T @ change if is_turned else change


def _gyro_jacobian(system: System, target: str, at: FlightSegment) -> Array:
    known = _of_root("gyro", system, target, at)
    if known is not None:
        return known
    mount = _Mount(system, target, at)
    return mount.to_frame @ mount.change.motion[:, :3]


def _attitude(system: System, target: str, at: FlightSegment) -> Array:
    return quaternions_from_matrices(at.frame(system, target).rotation)


def _attitude_jacobian(system: System, target: str, at: FlightSegment) -> Array:
    mount = _Mount(system, target, at)
    return mount.to_frame @ mount.change.turn


def _angle(system: System, target: str, at: FlightSegment) -> Array:
    R = at.frame(system, target).rotation
    return np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))


def _angle_jacobian(system: System, target: str, at: FlightSegment) -> Array:
    return _attitude_jacobian(system, target, at)[:, 2:]


def _location_jacobian(system: System, target: str, at: FlightSegment) -> Array:
    known = _of_root("position", system, target, at)
    return _displacement(_Mount(system, target, at), at) if known is None else known


def _displacement(mount: _Mount, at: FlightSegment) -> Array:
    """How the frame's origin moves with the parameters, in world axes (N, 3, parameters)."""
    change = mount.change
    shift = change.shift + cross(change.turn, mount.p)
    return at.tangent.tangents[:, D_POSITION] + rotations(at.states) @ shift


def _velocity_jacobian(system: System, target: str, at: FlightSegment) -> Array:
    known = _of_root("velocity", system, target, at)
    if known is not None:
        return known
    mount = _Mount(system, target, at)
    motion, turn = mount.change.motion, mount.change.turn
    dv = motion[:, 3:] + cross(motion[:, :3], mount.p) + cross(turn, mount.v)
    return at.tangent.tangents[:, D_VELOCITY] + rotations(at.states) @ dv


def _specific_force(system: System, target: str, at: FlightSegment) -> Array:
    """Acceleration minus gravity at the sensor, in its axes: what an accelerometer feels."""
    frame = at.frame(system, target)
    assert frame.acceleration is not None
    field = system.environment.gravity_at(frame.position, at.times)
    return frame.acceleration - np.einsum("nji,nj->ni", frame.rotation, field)


def _specific_force_jacobian(system: System, target: str, at: FlightSegment) -> Array:
    mount = _Mount(system, target, at, with_acceleration=True)
    change, p = mount.change, mount.p
    dw = change.motion[:, :3]
    dv = change.motion[:, 3:] + cross(dw, p)
    # from spatial to classical acceleration: the point moves with the link
    da = change.acceleration[:, 3:] + cross(change.acceleration[:, :3], p)
    da = da + cross(dw, mount.v) - cross(dv, mount.w)
    frame, environment = at.frame(system, target), system.environment
    R_FW = np.swapaxes(frame.rotation, 1, 2)
    pull = np.einsum("nij,nj->ni", R_FW, environment.gravity_at(frame.position, at.times))
    turned = mount.to_frame @ change.turn
    gradient = R_FW @ environment.gravity_change(_displacement(mount, at), at.times)
    if at.tangent.gravity is not None:
        gradient = gradient + R_FW @ at.tangent.gravity
    return mount.to_frame @ da - gradient + cross(turned, pull)


PLANAR_ANGLE = SensorModel("angle", 1, _angle, _angle_jacobian)

SENSOR_MODELS: dict[str, SensorModel] = {
    "encoder": SensorModel(
        "position", 1, _position(_itself), _position_jacobian(_itself), coordinate=_itself
    ),
    "joint_rate": SensorModel(
        "velocity", 1, _rate(_itself), _rate_jacobian(_itself), coordinate=_itself
    ),
    "joint_torque": SensorModel(
        "torque", 1, _joint_force, _joint_force_jacobian, needs_forces=True
    ),
    "motor_encoder": SensorModel(
        "motor_position", 1, _position(_its_motor), _position_jacobian(_its_motor),
        coordinate=_its_motor,
    ),
    "motor_rate": SensorModel(
        "motor_velocity", 1, _rate(_its_motor), _rate_jacobian(_its_motor), coordinate=_its_motor
    ),
    "motor_torque": SensorModel(
        "motor_torque", 1, _motor_torque, _motor_torque_jacobian, needs_forces=True
    ),
    "wheel_speed": SensorModel(
        "speed", 1, _rate(_itself), _rate_jacobian(_itself), is_input=True
    ),
    "wheel_torque": SensorModel(
        "torque", 1, _joint_force, _joint_force_jacobian, needs_forces=True
    ),
    "thruster": SensorModel("force", 1, _thrust, _thrust_jacobian, is_input=True),
    "gyro": SensorModel(
        "rate", 3, lambda system, name, at: at.frame(system, name).rate, _gyro_jacobian,
        planar_axes=(2,),
    ),
    "attitude": SensorModel("attitude", 4, _attitude, _attitude_jacobian),
    "position": SensorModel(
        "position", 3, lambda system, name, at: at.frame(system, name).position,
        _location_jacobian, planar_axes=(0, 1),
    ),
    "velocity": SensorModel(
        "velocity", 3, lambda system, name, at: at.frame(system, name).velocity,
        _velocity_jacobian, planar_axes=(0, 1),
    ),
    "accelerometer": SensorModel(
        "acceleration", 3, _specific_force, _specific_force_jacobian, needs_forces=True,
        planar_axes=(0, 1),
    ),
}  # fmt: skip
