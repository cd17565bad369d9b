"""A plan file with everything in it, and one example of every way to move and to push."""

from __future__ import annotations

import numpy as np

import freefloat as ff
from freefloat.dynamics import Start
from freefloat.excitation import (
    Accelerate,
    Bangs,
    CaptureControl,
    Feedback,
    Fourier,
    Hold,
    Moves,
    Multisine,
    Plan,
    Pulses,
    Sinusoid,
    Speeds,
    Spline,
    Steps,
    Table,
    Wave,
)

MOTIONS = {
    "hold": Hold(0.3),
    "fourier": Fourier(6.0, (0.2, -0.1, 0.05), (0.1, 0.3, -0.2), 0.1, -0.2),
    "sinusoid": Sinusoid(6.0, 0.2, 0.4, 2.5, 1.5, -0.1, 0.7),
    "multisine": Multisine(6.0, 0.2, (0.3, -0.1), (0.05, 0.2), 1.5, -0.1),
    "moves": Moves((0.5, 2.0, 3.0, 5.5), (0.1, 0.6, -0.3, 0.2)),
    "bangs": Bangs(6.0, (0.3, -0.5, 0.3, -0.1), 0.5, 0.1),
    "speeds": Speeds((0.5, 2.0, 4.5), (100.0, 130.0, 90.0), 0.2),
    "accelerate": Accelerate(-0.05, 0.2, 0.3),
    "spline": Spline(6.0, (0.0, 0.3, -0.2, 0.5, 0.1)),
    "table": Table((0.0, 1.0, 2.0, 3.5, 4.0, 5.0, 6.0), (0.0, 0.2, 0.1, -0.3, -0.2, 0.4, 0.5)),
}
COMMANDS = {
    "pulses": Pulses(((0.5, 0.25, 3.0), (2.0, 1.0, -1.5))),
    "wave": Wave(2.0, 1.5, 0.3, 0.5),
    "steps": Steps((0.5, 1.0, 4.0), (1.0, -2.0, 0.5)),
}

FULL = Plan(
    6.0,
    Start((1.0, 0.0, -0.0), (0.0, 0.0, 0.6, 0.8), (0.1, 0.0, 0.0), (0.0, 0.01, 0.0),
          {"hinge": 0.1, "elbow.motor": -0.2}, {"rw_1": 100.0}),
    motions={f"arm_{kind}": motion for kind, motion in MOTIONS.items()},
    torques={"wrist": COMMANDS["pulses"], "finger": COMMANDS["wave"]},
    thrusts={"jet": COMMANDS["steps"]},
    wrench={"force.x": COMMANDS["wave"], "torque.z": COMMANDS["pulses"]},
    feedback={"wrist": Feedback(20.0, 3.0), "finger": Feedback(5.0, 0.1, 0.2)},
    name='everything "at once"',
)  # fmt: skip
CAPTURE = Plan(10.0, Start(velocity=(1.0, 2.0, 0.0)), control=CaptureControl(0.8, max_force=5.0))

TOML = """\
format = 1
name = "wiggle"
duration = 60.0

[start]
position = [0.0, 1.0, 0.0]
attitude = [0.0, 0.0, 0.0, 1.0]
coordinates = { arm_7 = 0.3 }

[[motion]]
coordinate = "arm_1"
kind = "fourier"
duration = 60.0
a = [0.1, 0.2]
b = [0.0, -0.1]

[[motion]]
coordinate = "arm_2"
kind = "moves"
times = [0.0, 20.0, 40.0]
values = [0.0, 0.5, 0.0]

[[motion]]
coordinate = "arm_3"
kind = "sinusoid"
duration = 60.0
center = 0.1
amplitude = 0.2
period = 10.0
ramp = 5.0

[[motion]]
coordinate = "arm_4"
kind = "spline"
duration = 60.0
control = [0.0, 0.3, 0.0]

[[torque]]
coordinate = "arm_5"
kind = "pulses"
pulses = [[1.0, 2.0, 0.5], [10.0, 2.0, -0.5]]

[[thrust]]
thruster = "thr_1"
kind = "steps"
times = [1.0, 2.0]
levels = [5.0, 0.0]

[[wrench]]
on = "force.x"
kind = "wave"
amplitude = 2.0
period = 8.0

[[feedback]]
coordinate = "arm_5"
kp = 50.0
kd = 5.0
limit = 10.0
"""


def shaking(model: ff.Model, duration: float) -> Plan:
    """A robot that throws its arm about for the first half of the time."""
    rng = np.random.default_rng(0)
    motions = {}
    for joint in (j for j in model.joints if j.name.startswith("arm_")):
        times, values = [0.0], [joint.home]
        while times[-1] < 0.5 * duration:
            times.append(times[-1] + rng.uniform(1.6, 2.6))
            values.append(joint.home + 0.3 * rng.uniform(-1.0, 1.0))
        motions[joint.name] = Moves((*times, times[-1] + 2.5), (*values, joint.home))
    return Plan(duration, motions=motions)
