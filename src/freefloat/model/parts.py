"""The parts a Model is made of: bodies, joints, drives, tanks, wheels, thrusters, sensors, orbit.

Every part is a frozen record of exactly what a model file says, in SI units and radians; nothing
derived is stored, so writing a model and reading it back gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.model import inertia as inertial
from freefloat.model.rotations import matrix_from_rpy
from freefloat.records.values import NotNegative, Positive

Vector = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]
Role = Literal["motion", "torque", "passive", "locked"]
JointType = Literal["revolute", "prismatic", "fixed"]
RootType = Literal["floating", "planar", "fixed"]

ZERO: Vector = (0.0, 0.0, 0.0)  # format: what a file that leaves a vector out means


@dataclass(frozen=True)
class Placement:
    """Where a frame sits in its parent: position [m] and fixed-axis roll, pitch, yaw [rad]."""

    xyz: Vector = ZERO
    rpy: Vector = ZERO

    @property
    def rotation(self) -> Array:
        """R_PF: components in the frame -> components in the parent."""
        return matrix_from_rpy(self.rpy)

    @property
    def position(self) -> Array:
        """The frame's origin in the parent [m]."""
        return np.array(self.xyz)


@dataclass(frozen=True)
class Body:
    """A rigid body: mass [kg], centre of mass [m], inertia about it [kg m^2], all in body axes.

    inertia is xx, xy, xz, yy, yz, zz. `extras` keeps what a URDF said beyond that (visuals, ...).
    uncertainty: relative standard deviation of all of them together, where it is known.
    """

    name: str
    mass: float = 0.0
    com: Vector = ZERO
    inertia: Six = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    extras: tuple[str, ...] = ()
    uncertainty: NotNegative | None = None

    @property
    def phi(self) -> Array:
        """The ten parameters [m, m c, I about the origin]."""
        return inertial.phi_from_com(self.mass, self.com, self.inertia)


@dataclass(frozen=True)
class JointLimits:
    """What a joint may do; None where nothing is said. Radians (metres for prismatic), seconds."""

    lower: float | None = None
    upper: float | None = None
    velocity: NotNegative | None = None
    acceleration: NotNegative | None = None
    jerk: NotNegative | None = None
    effort: NotNegative | None = None


@dataclass(frozen=True)
class Drive:
    """A flexible drive: a rotor behind the gear, joined to the link by a spring and a damper.

    The rotor coordinate is measured at the joint side. `form` says where the rotor's inertia acts:

    - "disc": a slow disc on the previous link (paper 004): inertia [kg m^2] at the joint side,
      turning with the motor coordinate and carried by the previous link;
    - "geared": a rotor of `inertia` [kg m^2] spinning `ratio` times faster: N^2 J at the joint,
      N J in the coupling to the previous link, J carried by it.

    stiffness_uncertainty, damping_uncertainty: relative standard deviations, where they are known.
    """

    inertia: Positive
    stiffness: Positive
    damping: NotNegative = 0.0
    friction: NotNegative = 0.0
    ratio: Positive = 1.0
    form: Literal["disc", "geared"] = "disc"
    role: Role = "motion"
    stiffness_uncertainty: NotNegative | None = None
    damping_uncertainty: NotNegative | None = None


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies and how its coordinate is moved.

    role: "motion" (q, dq, ddq given), "torque" (actuated), "passive" (spring, damper, friction
    only) or "locked" (stays at `home`). stiffness [N m/rad], damping [N m s/rad], rest [rad] and
    Coulomb friction [N m] act on the coordinate; friction is smoothed over `friction_speed`
    [rad/s]. armature [kg m^2]: what the rotor of a motor behind a stiff gear adds to the inertia
    about the joint, N^2 J; it turns with the joint alone (for a flexible gear, or a small ratio,
    there is `drive`). Newtons, metres and kilograms for prismatic joints. stiffness_uncertainty,
    damping_uncertainty: relative standard deviations, where they are known.
    """

    name: str
    type: JointType
    parent: str
    child: str
    placement: Placement = Placement()
    axis: Vector = (0.0, 0.0, 1.0)
    role: Role = "motion"
    home: float = 0.0
    stiffness: NotNegative = 0.0
    damping: NotNegative = 0.0
    rest: float = 0.0
    friction: NotNegative = 0.0
    friction_speed: Positive = 1e-3
    armature: NotNegative = 0.0
    drive: Drive | None = None
    limits: JointLimits = JointLimits()
    extras: tuple[str, ...] = ()
    stiffness_uncertainty: NotNegative | None = None
    damping_uncertainty: NotNegative | None = None


@dataclass(frozen=True)
class Tank:
    """Sloshing fuel as a pendulum: a point mass on a massless rod, two springs and two dampers.

    The pivot sits at `pivot` [m] in `body`; the mass [kg] hangs `length` [m] along `direction`;
    the two joints turn about `axes` (in body axes), with stiffness [N m/rad] and damping
    [N m s/rad] each. uncertainty: relative standard deviation of its mass; the others of stiffness
    and damping.
    """

    name: str
    body: str
    mass: Positive
    length: Positive
    pivot: Vector = ZERO
    direction: Vector = (0.0, 0.0, -1.0)
    axes: tuple[Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    stiffness: tuple[NotNegative, NotNegative] = (0.0, 0.0)
    damping: tuple[NotNegative, NotNegative] = (0.0, 0.0)
    uncertainty: NotNegative | None = None
    stiffness_uncertainty: NotNegative | None = None
    damping_uncertainty: NotNegative | None = None


@dataclass(frozen=True)
class Wheel:
    """A reaction or momentum wheel: spin inertia [kg m^2] about `axis` in the axes of `body`.

    `speed` [rad/s] is the initial speed relative to the body. The body's own inertia is the locked
    one: it already includes the wheel. uncertainty: relative standard deviation of its inertia.
    """

    name: str
    body: str
    axis: Vector
    inertia: Positive
    role: Literal["motion", "torque"] = "motion"
    speed: float = 0.0
    max_speed: NotNegative | None = None
    max_torque: NotNegative | None = None
    uncertainty: NotNegative | None = None


@dataclass(frozen=True)
class Thruster:
    """A thruster: pushes `body` along `direction` at `position` [m], both in body axes.

    uncertainty: relative standard deviation of its force against what is recorded.
    """

    name: str
    body: str
    direction: Vector
    position: Vector = ZERO
    max_force: NotNegative | None = None
    uncertainty: NotNegative | None = None


@dataclass(frozen=True)
class Frame:
    """A named place on a body, such as the end-effector or a camera."""

    name: str
    body: str
    placement: Placement = Placement()


@dataclass(frozen=True)
class Capsule:
    """A keep-out shape: all points within `radius` [m] of a segment in body axes."""

    body: str
    start: Vector
    end: Vector
    radius: Positive


@dataclass(frozen=True)
class Root:
    """How the first body is held: floating (6), planar (x, y and turn about z) or fixed.

    linear_drag [N s/m] and angular_drag [N m s/rad] act at its origin (air bearings are not
    perfect).
    """

    body: str
    type: RootType = "floating"
    linear_drag: NotNegative = 0.0
    angular_drag: NotNegative = 0.0


@dataclass(frozen=True)
class Orbit:
    """A circular orbit that bends the gravity field: radius [m], mu [m^3/s^2].

    The world frame has inertial axes and its origin on the orbit. `radial` points from the Earth's
    centre to the origin at t = 0, `normal` along the orbital angular velocity.
    """

    radius: Positive
    mu: Positive = 3.986004418e14
    radial: Vector = (1.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)

    @property
    def rate(self) -> float:
        """The orbital rate n = sqrt(mu / R^3) [rad/s]."""
        return float(np.sqrt(self.mu / self.radius**3))


@dataclass(frozen=True)
class Coloured:
    """First-order Gauss-Markov noise: standard deviation (channel unit), correlation time [s]."""

    sigma: NotNegative
    time: Positive


SensorKind = Literal[
    "encoder", "joint_rate", "joint_torque", "motor_encoder", "motor_rate", "motor_torque",
    "gyro", "attitude", "position", "velocity", "accelerometer",
    "wheel_speed", "wheel_torque", "thruster",
]  # fmt: skip


@dataclass(frozen=True)
class Sensor:
    """A sensor: what it measures, where, how often and how badly.

    `on` names what it sits on: a body or frame (gyro, attitude, position, velocity,
    accelerometer), joints (encoder, joint_rate, joint_torque, motor_*), wheels or thrusters;
    globs such as "arm_*" give one channel each. Readings are in the sensor's own axes. noise and
    bias are in the channel's SI unit (attitude: rotation vector [rad]); quantisation is a step;
    delay [s] makes the reading old; dropout is the chance that a sample is missing; saturation
    clips; gain_uncertainty is the relative standard deviation of its scale factor.
    """

    kind: SensorKind
    on: str
    rate: Positive
    channel: str | None = None
    noise: NotNegative = 0.0
    bias: tuple[float, ...] = ()
    quantisation: NotNegative = 0.0
    delay: NotNegative = 0.0
    dropout: float = 0.0
    saturation: Positive | None = None
    coloured: Coloured | None = None
    gain_uncertainty: NotNegative | None = None


@dataclass(frozen=True)
class Limits:
    """What the whole spacecraft may do while it is shaken; None where nothing is said.

    base_attitude [rad] and base_rate [rad/s] are excursions from the start, wheel_momentum
    [N m s] per wheel, thruster_impulse [N s] in total.
    """

    base_attitude: NotNegative | None = None
    base_rate: NotNegative | None = None
    wheel_momentum: NotNegative | None = None
    thruster_impulse: NotNegative | None = None


@dataclass(frozen=True)
class Target:
    """A grasped object: a body held rigidly at `placement` on body `on`."""

    body: Body
    on: str
    placement: Placement = field(default_factory=Placement)

    @property
    def name(self) -> str:
        """The target's name."""
        return self.body.name
