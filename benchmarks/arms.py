"""The arms of the identification tables: n revolute joints in a row on a floating bus, at 0 g.

A 120 kg bus, links of 12 kg down to a few, skewed inertias, so that nothing is zero by symmetry.
Nothing pushes from outside: the joints move the arm, and the bus answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import freefloat as ff
from freefloat.excitation import Fourier
from freefloat.model import Body, Joint, JointLimits, Placement, Root, Sensor
from freefloat.model.inertia import NAMES

Array = NDArray[np.float64]

RATE = 100.0  # [Hz]
DURATION = 50.0  # [s]
N_HARMONICS = 10
PEAK = (1.0, 0.6)  # of every joint [rad], [rad/s]
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
ROOT_SENSORS = (("gyro", 1e-5), ("attitude", 2.4e-5), ("velocity", 1e-3), ("position", 1e-3))
JOINT_SENSORS = (("encoder", 1e-5), ("joint_rate", 5e-5), ("joint_torque", 1e-2))


def arm(n: int) -> ff.Model:
    """A floating bus with n links, axes z, y, x, z, ... in turn."""
    bodies = [Body("bus", 120.0, (0.02, -0.03, 0.05), (11.0, 0.4, -0.3, 9.0, 0.5, 13.0))]
    joints = []
    for k in range(n):
        mass, length = 12.0 * 0.85**k, 0.5 if k else 0.3
        size = mass * length**2 / 12.0
        inertia = (0.3 * size, 0.05 * size, 0.1 * size, 1.1 * size, -0.04 * size, 1.2 * size)
        com = (0.5 * length, 0.03, -0.02)
        bodies.append(Body(f"link_{k + 1}", mass, com, inertia))
        at = Placement((0.4, 0.0, 0.1) if k == 0 else (0.3 if k == 1 else 0.5, 0.0, 0.0))
        parent, child = bodies[-2].name, bodies[-1].name
        limits = JointLimits(-3.0, 3.0)  # without, other readers see cosine and sine
        joints.append(
            Joint(f"joint_{k + 1}", "revolute", parent, child, at, AXES[k % 3], limits=limits)
        )
    sensors = [Sensor(kind, "bus", RATE, noise=noise) for kind, noise in ROOT_SENSORS]
    sensors += [Sensor(kind, "*", RATE, noise=noise) for kind, noise in JOINT_SENSORS]
    return ff.Model(f"arm-{n}", Root("bus"), tuple(bodies), tuple(joints), sensors=tuple(sensors))


def perturb(model: ff.Model, *names: str) -> ff.Model:
    """The model with these bodies 20 % too heavy, off centre by 2 cm, 30 % too hard to turn."""
    for name in names:
        body = model.body(name)
        com = tuple(x + 0.02 for x in body.com)
        inertia = tuple(1.3 * x for x in body.inertia)
        model = model.with_body(Body(name, 1.2 * body.mass, com, inertia))
    return model


def plan(model: ff.Model, *, duration: float = DURATION, seed: int = 0) -> ff.Plan:
    """Every joint on its own multisine, ten harmonics, rest to rest."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, duration, 2001)
    motions = {}
    for joint in model.joints:
        weights = rng.normal(size=(2, N_HARMONICS)) * np.arange(1, N_HARMONICS + 1)
        q, dq, _ = Fourier(duration, tuple(weights[0]), tuple(weights[1])).at(times)
        scale = min(limit / np.max(np.abs(x)) for limit, x in zip(PEAK, (q, dq), strict=True))
        a, b = (scale * weights).tolist()
        motions[joint.name] = Fourier(duration, tuple(a), tuple(b))
    return ff.Plan(duration, motions=motions, name="multisine")


def flight(model: ff.Model, *, duration: float = DURATION, seed: int = 0) -> ff.Telemetry:
    """What the sensors report of that motion, the truth beside it."""
    return ff.simulate(model, plan(model, duration=duration), seed=seed)


def truth(model: ff.Model, names: tuple[str, ...]) -> Array:
    """The true values of parameters such as bus.mass."""
    values = []
    for name in names:
        owner, _, field = name.rpartition(".")
        values.append(model.body(owner).phi[NAMES.index(field)])
    return np.array(values)
