"""An arm on the ground with measured torques, by mujoco.sysid. Runs in the peers' interpreter.

The recording is cut into pieces that start from the measured state, so that noise of torques does
not add up for long, with the torque of the middle of each step. Residuals are weighted by what a
first fit leaves of each channel.
"""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
from mujoco import sysid
from peer_loop import serve
from peer_mujoco_sysid import phi_of, ten_numbers

PIECE = 50  # steps
ROUNDS = 15  # of its optimiser, at most
FIELDS = ("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")


class Arm:
    """The task in MuJoCo's terms."""

    def __init__(self, place: Path) -> None:
        self.task = json.loads((place / "task.json").read_text())
        self.spec = mujoco.MjSpec.from_file(str(place / "robot.urdf"))
        self.spec.compiler.fusestatic = self.spec.compiler.balanceinertia = False
        self.spec.option.gravity = self.task["gravity"]
        self.spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.joints = [joint.name for joint in self.spec.joints]
        told = {joint["name"]: joint for joint in self.task["joints"]}
        for joint in self.spec.joints:
            one = told[joint.name]
            joint.armature = one["armature"]
            joint.frictionloss, joint.damping = one["friction"], with_size(joint.damping, one)
            joint.solref_friction = (0.004, 1.0)  # dry friction that is not softened over 20 ms
            motor = self.spec.add_actuator(
                name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT
            )
            motor.gainprm[0] = 1.0
            at = {"objtype": mujoco.mjtObj.mjOBJ_JOINT, "objname": joint.name}
            self.spec.add_sensor(
                name=f"{joint.name}_q", type=mujoco.mjtSensor.mjSENS_JOINTPOS, **at
            )
        with np.load(place / "recording.npz") as arrays:
            self.time = arrays[f"{self.joints[0]}.position:time"]
            self.q, self.dq, self.tau = (
                np.column_stack([arrays[f"{n}.{what}:values"] for n in self.joints])
                for what in ("position", "velocity", "motor_torque")
            )
        self.spec.option.timestep = float(self.time[1] - self.time[0])
        self.model = self.spec.compile()

    def sequences(self):
        """Pieces of the recording."""
        seen = np.hstack([self.q, self.dq])
        layout = [("seen", seen.shape[1], sysid.SignalType.CustomObs)]
        middle = 0.5 * (self.tau + np.vstack([self.tau[1:], self.tau[-1:]]))
        starts, controls, sensed = [], [], []
        for k in range(0, len(self.q) - PIECE - 1, PIECE):
            part = slice(k, k + PIECE + 1)
            times = self.spec.option.timestep * np.arange(PIECE + 1)
            starts.append(sysid.create_initial_state(self.model, self.q[k], self.dq[k]))
            controls.append(sysid.TimeSeries.from_control_names(times, middle[part], self.model))
            sensed.append(sysid.TimeSeries.from_custom_map(times, seen[part], layout))
        names = [str(k) for k in range(len(starts))]
        return sysid.ModelSequences(
            "arm", self.spec, names, starts, controls, sensed, allow_missing_sensors=True
        )

    def parameters(self):
        """What is unknown: ten numbers a body, friction and damping a joint."""
        found, bodies, scalars = sysid.ParameterDict(), [], []
        for name in self.task["unknown"]:
            owner, _, field = name.rpartition(".")
            if field in FIELDS and owner not in bodies:
                bodies.append(owner)
                found.add(sysid.body_inertia_param(
                    self.spec, self.model, owner, inertia_type=sysid.InertiaType.Pseudo,
                    modifier=ten_numbers(owner),
                ))  # fmt: skip
        told = {joint["name"]: joint for joint in self.task["joints"]}
        for name in self.task["unknown"]:
            owner, _, field = name.rpartition(".")
            if field not in FIELDS:
                scalars.append(name)
                value = told[owner][field]
                found.add(sysid.Parameter(
                    name, value, 0.0, 5.0 * value + 1.0, modifier=joint_number(owner, field)
                ))  # fmt: skip
        return found, bodies, scalars


def with_size(like, joint: dict):
    """Damping in the form of this version of MuJoCo: a number, or polynomial coefficients."""
    size = np.size(like)
    return joint["damping"] if size == 1 else np.array([joint["damping"], *[0.0] * (size - 1)])


def joint_number(owner: str, field: str):
    """Sets friction or damping of a joint."""

    def modify(spec, parameter) -> None:
        joint, value = spec.joint(owner), float(np.ravel(parameter.value)[0])
        if field == "friction":
            joint.frictionloss = value
        else:
            joint.damping = with_size(joint.damping, {"damping": value})

    return modify


def identify(folder: str) -> dict:
    """Estimates with the deviations of its linearised intervals."""
    arm = Arm(Path(folder))
    data, (params, bodies, scalars) = arm.sequences(), arm.parameters()
    n = len(arm.joints)
    size = np.concatenate([np.full(n, 1e-4), np.full(n, 1e-2)])

    def weighted(_params, _sensed, seen, model, _whole, **words):
        flown = words["state"][:, 1:]
        found = np.hstack([flown[:, : model.nq], flown[:, model.nq : model.nq + model.nv]])
        left, times = (seen.data[1:] - found) / size, seen.times[1:]
        both = (sysid.TimeSeries(times, x, seen.signal_mapping) for x in (found, seen.data[1:]))
        return (left, *both)

    residual = sysid.build_residual_fn(
        models_sequences=[data], modify_residual=weighted, resample_true=False
    )
    for rounds in (3, ROUNDS):  # the first one for the weights
        params, result = sysid.optimize(params, residual, verbose=False, max_iters=rounds)
        left = np.vstack([np.asarray(x).reshape(-1, 2 * n)
                          for x in residual(params.as_vector(), params)[0]])  # fmt: skip
        if rounds < ROUNDS:
            size = size * np.sqrt(np.mean(left**2, axis=0))
    covariance, _ = sysid.calculate_intervals(residual(params.as_vector(), params)[0], result.jac)
    theta = params.as_vector()

    def numbers(x: np.ndarray) -> np.ndarray:
        at = params.copy()
        at.update_from_vector(x)
        spec = arm.spec.copy()
        for parameter in at.values():
            parameter.apply_modifier(spec)
        rest = [float(np.ravel(at[name].value)[0]) for name in scalars]
        return np.concatenate([phi_of(spec, bodies), rest])

    names = [f"{b}.{f}" for b in bodies for f in FIELDS] + scalars
    slopes = np.column_stack([
        (numbers(theta + h) - numbers(theta - h)) / 2e-6 for h in 1e-6 * np.eye(len(theta))
    ])  # fmt: skip
    with np.errstate(all="ignore"):
        std = np.sqrt(np.diag(slopes @ covariance @ slopes.T))
    found = zip(names, numbers(theta), std, strict=True)
    return {"version": mujoco.__version__,
            "estimates": {k: [float(v), float(s), float(s)] for k, v, s in found}}  # fmt: skip


if __name__ == "__main__":
    serve({"identify": identify})
