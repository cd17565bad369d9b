"""A robot with one of every kind of part, and its flights, for what a model takes as exact."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import freefloat as ff
from freefloat.excitation import Plan, Pulses, Sinusoid, Wave
from freefloat.model import Model, Sensor
from freefloat.model.parts import Body, Frame, Joint, Orbit, Placement, Root, Thruster, Wheel
from freefloat.telemetry.telemetry import Telemetry

QUIET = {
    "gyro": 1e-5, "attitude": 2e-5, "accelerometer": 2e-5, "position": 1e-3, "velocity": 1e-4,
    "encoder": 1e-6, "joint_torque": 1e-3, "wheel_speed": 1e-2, "thruster": 0.0,
}  # fmt: skip


def chaser(*, rate: float = 20.0, orbit: bool = False) -> Model:
    """A bus with an arm of two driven joints, one driven by torque, a panel, a wheel, two jets."""
    bodies = (
        Body("bus", 90.0, (0.02, -0.01, 0.03), (9.0, 0.2, -0.1, 11.0, 0.3, 8.0)),
        Body("upper", 8.0, (0.3, 0.0, 0.02), (0.1, 0.0, 0.0, 0.5, 0.0, 0.5)),
        Body("lower", 6.0, (0.25, 0.03, 0.0), (0.05, 0.0, 0.0, 0.3, 0.0, 0.3)),
        Body("boom", 4.0, (0.0, 0.4, 0.0), (0.2, 0.0, 0.0, 0.02, 0.0, 0.2)),
        Body("panel", 5.0, (0.0, -0.5, 0.0), (0.4, 0.0, 0.0, 0.1, 0.0, 0.5)),
    )
    joints = (
        Joint("shoulder", "revolute", "bus", "upper", Placement((0.5, 0.1, 0.2), (0.2, 0.1, 0.0))),
        Joint("elbow", "revolute", "upper", "lower", Placement((0.6, 0.0, 0.0)), (0.0, 1.0, 0.0)),
        Joint("mast", "revolute", "bus", "boom", Placement((0.0, 0.4, 0.1)), (1.0, 0.0, 0.0),
              role="torque"),
        Joint("hinge", "revolute", "bus", "panel", Placement((0.0, -0.4, 0.0)), (1.0, 0.0, 0.0),
              role="passive", stiffness=20.0, damping=0.5),
    )  # fmt: skip
    suite = (
        *(Sensor(k, "bus", rate, noise=QUIET[k]) for k in ("gyro", "attitude", "velocity")),
        Sensor("accelerometer", "imu", rate, channel="imu", noise=QUIET["accelerometer"]),
        Sensor("gyro", "imu", rate, channel="imu", noise=QUIET["gyro"]),
        Sensor("position", "tip", rate, channel="tip", noise=QUIET["position"]),
        Sensor("position", "bus", rate, noise=QUIET["position"]),
        *(Sensor("encoder", j, rate, noise=QUIET["encoder"]) for j in ("shoulder", "elbow")),
        *(Sensor("joint_torque", j, rate, noise=QUIET["joint_torque"])
          for j in ("shoulder", "elbow", "mast")),
        Sensor("wheel_speed", "rw", rate, noise=QUIET["wheel_speed"]),
        Sensor("thruster", "jet_*", rate, noise=QUIET["thruster"]),
    )  # fmt: skip
    return Model(
        "chaser",
        Root("bus"),
        bodies,
        joints,
        wheels=(Wheel("rw", "bus", (0.0, 0.6, 0.8), 0.05),),
        thrusters=(
            Thruster("jet_1", "bus", (1.0, 0.0, 0.0), (-0.5, 0.2, 0.1)),
            Thruster("jet_2", "bus", (0.0, 0.8, 0.6), (0.3, -0.4, 0.2)),
        ),
        frames=(
            Frame("imu", "bus", Placement((0.2, 0.1, -0.3), (0.0, 0.3, 0.5))),
            Frame("tip", "lower", Placement((0.5, 0.0, 0.1), (0.4, 0.0, 0.0))),
        ),
        sensors=suite,
        orbit=Orbit(7.0e6) if orbit else None,
    )


def shake(duration: float = 12.0) -> Plan:
    """Everything moves, both jets fire, torque and wrench act; edges are on samples."""
    return Plan(
        duration,
        start=ff.Start(rate=(0.02, -0.01, 0.03), velocity=(0.01, 0.02, -0.01)),
        motions={
            "shoulder": Sinusoid(duration, 0.3, 0.6, 5.0, 1.0),
            "elbow": Sinusoid(duration, -0.2, 0.5, 4.0, 1.0, phase=1.0),
            "rw": Sinusoid(duration, 0.0, 60.0, 7.0, 1.0),
        },
        torques={"mast": Wave(0.1, 12.0)},  # slow: recorded torques are interpolated
        thrusts={
            "jet_1": Pulses(((2.0, 1.05, 4.0), (7.0, 0.5, 4.0))),
            "jet_2": Pulses(((4.0, 1.5, 3.0),)),
        },
        wrench={"torque.z": Pulses(((1.0, 1.0, 0.5),)), "force.y": Pulses(((3.0, 1.0, 2.0),))},
    )


@cache
def flight(*, seed: int = 1, duration: float = 12.0, orbit: bool = False) -> Telemetry:
    """What the chaser records of its shaking."""
    return ff.simulate(chaser(orbit=orbit), shake(duration), seed=seed, step=5e-3)


def without_noise(model: Model) -> Model:
    """The model with perfect sensors."""
    return replace(model, sensors=tuple(replace(s, noise=0.0) for s in model.sensors))
