"""mujoco.sysid: rollouts fitted to the recording. Runs in the peers' interpreter.

It gets what helps it: the recording cut into pieces that start from the measured state, so that
torque noise cannot add up for long, torques at the middle of every step, and residuals in units of
what the true robot leaves of them.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np
from mujoco import sysid
from peer_loop import serve

STEP = 0.01  # [s], the sampling of the recording; the integrator is RK4
# What the true arm of three joints leaves over 1 s, torque noise included: angles [rad], velocity
# [m/s] and rate [rad/s] of the bus, speeds [rad/s]. More than a user would know.
ANGLES, VELOCITY, RATE, SPEEDS = (1.1e-4, 2.5e-4, 5.4e-3), 1.4e-3, 8e-5, (2.8e-4, 5.7e-4, 1.3e-2)
state: dict = {}


def sigma(n_joints: int) -> np.ndarray:
    """The same for an arm of any length, the joints in between by interpolation."""
    at = np.linspace(0.0, 2.0, n_joints)
    angles, speeds = (np.exp(np.interp(at, range(3), np.log(x))) for x in (ANGLES, SPEEDS))
    return np.concatenate([angles, [VELOCITY] * 3, [RATE] * 3, speeds])


def load(urdf: str, data: str, piece: int) -> dict:
    """Read the robot, free its bus, add motors and sensors, cut the recording into pieces."""
    spec = mujoco.MjSpec.from_file(urdf)
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = False
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    joints = [j.name for j in spec.joints]
    spec.body("bus").add_freejoint()
    for name in joints:
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gainprm[0] = 1.0
        at = {"objtype": mujoco.mjtObj.mjOBJ_JOINT, "objname": name}
        spec.add_sensor(name=f"{name}_q", type=mujoco.mjtSensor.mjSENS_JOINTPOS, **at)
    model = spec.compile()
    with np.load(data) as found:
        q, dq, tau = found["mujoco_q"], found["mujoco_v"], found["tau"]
    seen = np.hstack([q[:, 7:], dq])
    layout = [("seen", seen.shape[1], sysid.SignalType.CustomObs)]
    middle = 0.5 * (tau + np.vstack([tau[1:], tau[-1:]]))
    starts, controls, sensed = [], [], []
    for k in range(0, len(q) - 1, piece):
        part = slice(k, min(k + piece + 1, len(q)))
        times = STEP * np.arange(part.stop - part.start)
        if len(times) < piece + 1:
            break
        starts.append(sysid.create_initial_state(model, q[k], dq[k]))
        controls.append(sysid.TimeSeries.from_control_names(times, middle[part], model))
        sensed.append(sysid.TimeSeries.from_custom_map(times, seen[part], layout))
    names = [str(k) for k in range(len(starts))]
    state["spec"], state["model"] = spec, model
    state["data"] = sysid.ModelSequences(
        "arm", spec, names, starts, controls, sensed, allow_missing_sensors=True
    )
    return {"version": mujoco.__version__, "pieces": len(starts)}


def in_sigmas(params, sensed, seen, model, is_whole, **words):
    """Residuals in units of what the true arm leaves, by its hook for that.

    Of states: its sensors are one step old. By default it divides by the size of each signal, and
    the noisy velocity then counts as much as the encoders.
    """
    flown = words["state"][:, 1:]
    n = model.nq - 7
    found = np.hstack([flown[:, 7 : 7 + n], flown[:, model.nq : model.nq + model.nv]])
    left = (seen.data[1:] - found) / sigma(n)
    times = seen.times[1:]
    both = (sysid.TimeSeries(times, x, seen.signal_mapping) for x in (found, seen.data[1:]))
    return (left, *both)


def phi_of(spec, names: list[str]) -> np.ndarray:
    """m, m c and the inertia about the body's origin, in our order."""
    model = spec.compile()
    found = []
    for name in names:
        body = model.body(name)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, body.iquat)
        R, c, m = R.reshape(3, 3), np.array(body.ipos), float(body.mass[0])
        full = R @ np.diag(body.inertia) @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
        found.append([m, *(m * c), *full[np.triu_indices(3)]])
    return np.concatenate(found)


def ten_numbers(name: str):
    """What its own modifier does for ten numbers a body, as principal axes, which compile."""

    def modify(spec, parameter) -> None:
        pi = sysid.model_modifier.pi_from_theta(parameter.value)
        m, c = pi[0], pi[1:4] / pi[0]
        full = pi[4:].reshape(3, 3) - m * (c @ c * np.eye(3) - np.outer(c, c))
        inertia, axes = np.linalg.eigh(full)
        axes[:, 2] *= np.linalg.det(axes)
        iquat = np.zeros(4)
        mujoco.mju_mat2Quat(iquat, axes.ravel())
        body = spec.body(name)
        body.explicitinertial = True
        body.fullinertia = np.full((6, 1), np.nan)
        body.mass, body.ipos, body.inertia, body.iquat = m, c, inertia, iquat

    return modify


def identify(bodies: list[str], as_shipped: bool, out: str, iterations: int) -> dict:
    """Fit ten numbers a body (log-Cholesky), with its own modifier or with ours."""
    params = sysid.ParameterDict()
    for name in bodies:
        params.add(
            sysid.body_inertia_param(
                state["spec"],
                state["model"],
                name,
                inertia_type=sysid.InertiaType.Pseudo,
                modifier=None if as_shipped else ten_numbers(name),
            )
        )
    start = phi_of(state["spec"].copy(), bodies)
    begin, wall = time.process_time(), time.perf_counter()
    residual = sysid.build_residual_fn(
        models_sequences=[state["data"]], modify_residual=in_sigmas, resample_true=False
    )
    found, result = sysid.optimize(params, residual, verbose=False, max_iters=iterations)
    left = residual(found.as_vector(), found)[0]
    _, half = sysid.calculate_intervals(left, result.jac)
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    theta = found.as_vector()

    def numbers(x: np.ndarray) -> np.ndarray:
        at = found.copy()
        at.update_from_vector(x)
        spec = state["spec"].copy()
        for parameter in at.values():
            parameter.apply_modifier(spec)
        return phi_of(spec, bodies)

    values = numbers(theta)
    steps = 1e-6 * np.eye(len(theta))
    slopes = np.column_stack([(numbers(theta + h) - numbers(theta - h)) / 2e-6 for h in steps])
    covariance, _ = sysid.calculate_intervals(left, result.jac)
    with np.errstate(all="ignore"):
        std = np.sqrt(np.diag(slopes @ covariance @ slopes.T))
    np.savez(out, values=values, std=std, half=half, start=start)
    lower, upper = params.get_bounds()
    at_bound = int(np.sum((theta - lower < 1e-6) | (upper - theta < 1e-6)))
    return {
        "seconds": seconds,
        "wall": wall,
        "finite": int(np.sum(np.isfinite(half))),
        "unknowns": len(theta),
        "at_bound": at_bound,
        "iterations": len(result.extras["objective"]),
    }


if __name__ == "__main__":
    serve({f.__name__: f for f in (load, identify)})
