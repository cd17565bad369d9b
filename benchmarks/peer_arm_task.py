"""An arm on the ground with measured torques, by FIGAROH's filter and regressors, least squares.

Only what is unknown is solved for: the columns of what is known go to the other side, which
FIGAROH's own classes cannot do, and which helps it. Rates are those of the recording, derived once
by central differences: FIGAROH's own derivatives belong to the middle of a sample.
Runs in the peers' interpreter.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from figaroh.identification.identification_tools import low_pass_filter_data
from figaroh.tools.regressor import build_regressor_basic
from figaroh.tools.robot import Robot
from peer_loop import serve

FIELDS = ("mass", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")  # Pinocchio's order
CUT_OFF = 40.0  # as FIGAROH counts: a quarter of it [Hz] is where its filter cuts
BORDER = 0.05  # [rad/s]: slower samples say little of dry friction, and get its sign wrong


def columns(robot: Robot, joints: list[dict]) -> dict[str, int]:
    """Where the regressor has each parameter, by the names of the task."""
    n = robot.model.nv
    names = list(robot.model.names)[1:]
    child = {joint["name"]: joint["child"] for joint in joints}
    found = {}
    for k, name in enumerate(names):
        for i, field in enumerate(FIELDS):
            found[f"{child[name]}.{field}"] = 10 * k + i
        found[f"{name}.damping"], found[f"{name}.friction"] = 10 * n + k, 11 * n + k
        found[f"{name}.armature"] = 12 * n + k
    return found


def identify(folder: str) -> dict:
    """Estimates with the deviations of ordinary least squares."""
    place = Path(folder)
    task = json.loads((place / "task.json").read_text())
    robot = Robot(str(place / "robot.urdf"), ".", isFext=False)
    names = list(robot.model.names)[1:]
    with np.load(place / "recording.npz") as arrays:
        time = arrays[f"{names[0]}.position:time"]
        q, dq, tau = (
            np.column_stack([arrays[f"{n}.{what}:values"] for n in names])
            for what in ("position", "velocity", "motor_torque")
        )
    ts = float(time[1] - time[0])
    settings = {"ts": ts, "cut_off_frequency_butterworth": CUT_OFF}
    q, dq, tau = (low_pass_filter_data(x, settings) for x in (q, dq, tau))
    ddq = np.gradient(dq, ts, axis=0)
    options = {"is_joint_torques": True, "has_friction": True, "has_actuator_inertia": True,
               "act_idxv": list(range(robot.model.nv))}  # fmt: skip
    if robot.model.nq == 2 * robot.model.nv:  # joints without limits: cosine and sine of each
        q = np.stack([np.cos(q), np.sin(q)], axis=2).reshape(len(q), -1)
    W = build_regressor_basic(robot, q, dq, ddq, options)
    at, known = columns(robot, task["joints"]), task["believed"]
    y = tau.T.ravel()
    for name, k in at.items():
        if name not in task["unknown"] and name in known:
            y = y - W[:, k] * known[name]
    keep = np.abs(dq).T.ravel() > BORDER
    A, y = W[keep][:, [at[name] for name in task["unknown"]]], y[keep]
    # joints are weighted by what a first solution leaves, as its weighted least squares does
    joint = np.repeat(np.arange(robot.model.nv), len(q))[keep]
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    size = np.array([np.std(left[joint == k]) for k in range(robot.model.nv)])[joint]
    A, y = A / size[:, None], y / size
    values = np.linalg.lstsq(A, y, rcond=None)[0]
    left = y - A @ values
    covariance = np.linalg.inv(A.T @ A) * float(left @ left) / (len(y) - len(values))
    std = np.sqrt(np.diag(covariance))
    found = zip(task["unknown"], values, std, strict=True)
    return {"version": version("figaroh"),
            "estimates": {n: [float(v), float(s), float(s)] for n, v, s in found}}  # fmt: skip


if __name__ == "__main__":
    serve({"identify": identify})
