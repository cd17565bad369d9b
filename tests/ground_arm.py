"""A 7-joint arm on the ground, flown by MuJoCo: gravity, friction, dampers, rotors behind gears.

The truth is MuJoCo's: a controller with feedforward drives its motors along fast motions, and what
is recorded is the angle, the rate and the torque of every motor. `wrong` is the arm as an engineer
may know it before.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

import freefloat as ff
from freefloat.arrays import Array
from freefloat.excitation import Fourier
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.telemetry.telemetry import Telemetry

RATE, STEP = 100.0, 5e-4  # [Hz] of the recording, [s] of MuJoCo
FREE = ("link_*", "*.friction", "*.damping", "*.armature")
NOISE = {"encoder": 1e-5, "joint_rate": 2e-4, "motor_torque": 0.1}
QUANTITY = {"encoder": "position", "joint_rate": "velocity", "motor_torque": "motor_torque"}
MOST = (2.0, 2.0, 8.0)  # angle [rad], rate [rad/s] and acceleration [rad/s^2] of a motion
N_HARMONICS = 16
#       mass, com, size of the box, place in the parent, axis, friction, damping, armature
LINKS = (
    (4.5, (0.01, -0.03, -0.06), (0.06, 0.07, 0.10), (0.0, 0.0, 0.33), "0 0 1", 0.9, 0.8, 0.60),
    (4.0, (-0.01, -0.07, 0.03), (0.06, 0.10, 0.07), (0.0, 0.0, 0.0), "0 1 0", 1.2, 1.0, 0.60),
    (3.2, (0.03, 0.02, -0.07), (0.05, 0.06, 0.09), (0.0, 0.0, 0.32), "0 0 1", 0.7, 0.6, 0.45),
    (3.4, (-0.04, 0.03, 0.04), (0.06, 0.05, 0.06), (0.08, 0.0, 0.0), "0 -1 0", 0.8, 0.6, 0.45),
    (1.9, (-0.01, 0.04, -0.09), (0.04, 0.05, 0.11), (-0.08, 0.0, 0.38), "0 0 1", 0.4, 0.3, 0.20),
    (1.6, (0.05, -0.01, -0.02), (0.05, 0.04, 0.04), (0.0, 0.0, 0.0), "0 -1 0", 0.4, 0.3, 0.20),
    (0.9, (0.01, 0.01, 0.08), (0.03, 0.04, 0.05), (0.09, 0.0, 0.0), "0.6 0 -0.8", 0.3, 0.2, 0.12),
)


def arm_text(links: tuple = LINKS) -> str:
    """The arm as MJCF; friction is dry, MuJoCo softens it over 20 ms unless told."""
    text = ""
    for k, (mass, com, size, place, axis, friction, damping, armature) in enumerate(links, start=1):
        a, b, c = (x * x for x in size)
        inertia = " ".join(f"{mass / 3.0 * x:.9f}" for x in (b + c, a + c, a + b))
        text += f"""
    <body name="link_{k}" pos="{_text(place)}">
      <joint name="joint_{k}" axis="{axis}" frictionloss="{friction}" damping="{damping}"
             armature="{armature}" solreffriction="0.001 1"/>
      <inertial pos="{_text(com)}" euler="0.1 -0.2 0.3" mass="{mass}" diaginertia="{inertia}"/>"""
    motors = "".join(f'<motor joint="joint_{k}"/>' for k in range(1, len(links) + 1))
    return f"""<mujoco model="ground_arm">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81" timestep="{STEP}" integrator="implicitfast"/>
  <worldbody>{text}{"</body>" * len(links)}
  </worldbody>
  <actuator>{motors}</actuator>
</mujoco>
"""


def _text(numbers: tuple[float, ...]) -> str:
    return " ".join(map(str, numbers))


def arm(folder: Path) -> Model:
    """The true arm as freefloat reads it, with its sensors."""
    path = folder / "ground_arm.xml"
    path.write_text(arm_text(), encoding="utf-8")
    sensors = tuple(Sensor(kind, "*", RATE, noise=noise) for kind, noise in NOISE.items())
    return replace(ff.load_model(path), sensors=sensors)


def wrong(model: Model, seed: int) -> Model:
    """The model with masses, friction, damping and rotors that are off by a third."""
    rng = np.random.default_rng([seed, 3])
    bodies, joints = [], []
    for body in model.bodies:
        factor = float(np.exp(0.3 * rng.normal()))
        inertia = tuple(factor * x for x in body.inertia)
        bodies.append(replace(body, mass=factor * body.mass, inertia=inertia))
    for joint in model.joints:
        a, b, c = np.exp(0.3 * rng.normal(size=3)).tolist()
        inside = {"friction": a * joint.friction, "damping": b * joint.damping}
        joints.append(replace(joint, armature=c * joint.armature, **inside))
    return replace(model, bodies=tuple(bodies), joints=tuple(joints))


def flown(seed: int, duration: float = 20.0, links: tuple = LINKS) -> Telemetry:
    """What the sensors read while MuJoCo follows fast random motions, with noise."""
    robot = mujoco.MjModel.from_xml_string(arm_text(links))
    data, inverse = mujoco.MjData(robot), mujoco.MjData(robot)
    wanted = motion(seed, duration, len(links))
    data.qpos[:], data.qvel[:] = wanted[0, :, 0], wanted[0, :, 1]
    every = round(1.0 / (RATE * STEP))
    rows, before = [], np.zeros(len(links))
    for k, (q, dq, ddq) in enumerate(np.moveaxis(wanted, 2, 1)):
        inverse.qpos[:], inverse.qvel[:], inverse.qacc[:] = q, dq, ddq
        mujoco.mj_inverse(robot, inverse)
        data.ctrl[:] = inverse.qfrc_inverse + 180.0 * (q - data.qpos) + 6.0 * (dq - data.qvel)
        angle, rate, torque = data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()
        mujoco.mj_step(robot, data)
        # a step's new rate moves the angle, and its torque acts until the next: at the instant
        # between two steps are the means of both
        if k % every == 0 and k:
            rows.append(np.concatenate([angle, 0.5 * (rate + data.qvel), 0.5 * (before + torque)]))
        before = torque
    return _recorded(np.array(rows), seed)


def motion(seed: int, duration: float, n_joints: int) -> Array:
    """q, dq, ddq (N, joints, 3) of every joint at its limits, up to 0.8 Hz."""
    rng = np.random.default_rng(seed)
    times = STEP * np.arange(round(duration / STEP) + 1)
    found = []
    for _ in range(n_joints):
        a, b = rng.normal(size=(2, N_HARMONICS))
        a[:2] = b[:2] = 0.0  # slow ones take angles, and no torque
        motion = np.array(Fourier(duration, tuple(a), tuple(b)).at(times))
        found.append(motion * np.min(MOST / np.max(np.abs(motion), axis=1)))
    return np.transpose(found, (2, 0, 1))


def _recorded(table: Array, seed: int) -> Telemetry:
    rng = np.random.default_rng([seed, 1])
    time = np.arange(len(table)) / RATE
    channels, noise = {}, {}
    for kind, block in zip(NOISE, np.split(table, 3, axis=1), strict=True):
        for k, column in enumerate(block.T, start=1):
            name = f"joint_{k}.{QUANTITY[kind]}"
            channels[name] = column + NOISE[kind] * rng.normal(size=len(time))
            noise[name] = NOISE[kind]
    flight = Telemetry.from_arrays(time, channels)
    return flight.with_channels(*(flight[name].with_noise(size) for name, size in noise.items()))
