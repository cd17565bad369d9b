"""By how much things that are taken as exact are usually off, and why: a visible table."""

from __future__ import annotations

from typing import NamedTuple


class Doubt(NamedTuple):
    """By how much an assumption may be off (standard deviation) where nobody says, and why."""

    std: float
    reason: str


CLOCK = "clock.rate"
# theory: no column is known to more digits, so that a smaller doubt changes no deviation
EXACT = 1e-12
# theory: what data sheets and workshops promise, to the order of magnitude; a model file that knows
# better says so. Relative where the unit is 1, else in the unit of the parameter.
DOUBTS: dict[str, Doubt] = {
    "thruster.gain": Doubt(0.02, "thrust of a calibrated thruster at its feed pressure"),
    "thruster.fade": Doubt(5e-3, "over the recording: feed pressure falls as gas is used"),
    "thruster.bias": Doubt(1e-4, "of full thrust: a valve that shuts"),
    "thruster.delay": Doubt(5e-3, "opening and closing of a small valve"),
    "thruster.tilt": Doubt(0.01, "a nozzle's axis against its flange"),
    "thruster.offset": Doubt(2e-3, "a nozzle's place on a drawing"),
    "wrench.gain": Doubt(0.02, "a commanded wrench is made by thrusters"),
    "wrench.delay": Doubt(5e-3, "valves and their driver"),
    "torque.gain": Doubt(0.01, "calibration of a torque sensor or of a motor's current"),
    "torque.bias": Doubt(0.01, "of the root mean square torque: offset of an amplifier"),
    "torque.delay": Doubt(1e-3, "a cycle of a joint controller"),
    "joint.zero": Doubt(1e-3, "setting of an encoder's zero"),
    "joint.gear": Doubt(1e-4, "teeth are counted; eccentricity of an encoder's disc"),
    "joint.delay": Doubt(1e-3, "a cycle of a joint controller"),
    "joint.offset": Doubt(5e-4, "machining and assembly of a link"),
    "joint.tilt": Doubt(1e-3, "machining and assembly of a joint"),
    "wheel.delay": Doubt(1e-3, "a cycle of a wheel's controller"),
    "wheel.tilt": Doubt(1e-3, "mounting of a wheel"),
    "wheel.inertia": Doubt(0.005, "spin inertia of a wheel, from its acceptance test"),
    "body.scale": Doubt(0.01, "a body known from its drawing or from a scale"),
    "body.com": Doubt(0.01, "of its radius of gyration: mass is not spread quite as drawn"),
    "body.moment": Doubt(0.01, "of mass times radius of gyration: mass is not spread as drawn"),
    "body.inertia": Doubt(0.01, "of its mean inertia: mass is not spread quite as drawn"),
    "tank.mass": Doubt(0.01, "fuel gauging"),
    "tank.length": Doubt(0.02, "a pendulum fitted to a tank's first mode"),
    "spring.stiffness": Doubt(0.01, "a hinge or gear tested by itself"),
    "spring.damping": Doubt(0.1, "damping depends on temperature and amplitude"),
    "spring.friction": Doubt(0.1, "friction depends on temperature and load"),
    "spring.armature": Doubt(0.05, "a rotor from its data sheet, times its ratio squared"),
    "spring.rest": Doubt(1e-3, "a hinge's free position"),
    "gravity.ground": Doubt(1e-3, "slope of a levelled floor, 0.1 mrad"),
    "gravity.space": Doubt(1e-6, "air drag in a low orbit"),
    "drag.ground": Doubt(0.1, "of the drag stated, or of a stop in 1000 s: air and cables"),
    "drag.space": Doubt(1e-6, "of a stop in 100 s: there is nothing to brake"),
    "bias": Doubt(1.0, "of the noise of a sample: sensors are calibrated about that well"),
    "drift": Doubt(1.0, "of the noise of a sample, over the recording"),
    "delay": Doubt(1e-3, "time stamps are made by software"),
    "gain.gyro": Doubt(1e-3, "scale factor of a gyro"),
    "gain.accelerometer": Doubt(5e-3, "scale factor of an accelerometer"),
    "gain.torque": Doubt(0.01, "calibration of a torque sensor"),
    "gain.other": Doubt(1e-3, "scale factor of a calibrated sensor"),
    "friction": Doubt(1e-3, "of the root mean square torque: bearings beside a torque sensor"),
    "skew": Doubt(5e-4, "axes of a sensor that are square to half a milliradian"),
    CLOCK: Doubt(1e-4, "a quartz clock, or a sample rate that somebody measured"),
    "tilt": Doubt(2e-3, "an aligned sensor, 0.1 deg"),
    "offset": Doubt(1e-3, "a sensor's or marker's place on a drawing"),
}


def is_exact(std: float, size: float) -> bool:
    """Whether a doubt is stated as none, or as less of a natural size than anybody computes.

    >>> is_exact(0.0, 0.1), is_exact(1e-200, 0.1), is_exact(1e-6, 0.1)
    (True, True, False)
    """
    return std <= EXACT * size
