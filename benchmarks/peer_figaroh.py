"""FIGAROH: its regressors, base parameters and least squares. Runs in the peers' interpreter."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pinocchio as pin
from figaroh.identification.identification_tools import (
    calculate_first_second_order_differentiation,
    low_pass_filter_data,
    relative_stdev,
)
from figaroh.identification.parameter import get_standard_parameters
from figaroh.tools.qrdecomposition import QRDecomposer
from figaroh.tools.regressor import (
    build_regressor_basic,
    build_regressor_reduced,
    get_index_eliminate,
)
from figaroh.tools.robot import Robot
from peer_loop import serve

WRENCH = {
    "is_joint_torques": False,
    "is_external_wrench": True,
    "force_torque": ["Fx", "Fy", "Fz", "Mx", "My", "Mz"],
    "act_idxv": [],
}
CUT_OFF = 5.0  # [Hz], of the low pass before derivatives; the motion ends at 0.2 Hz
state: dict = {}


def at_0_g(urdf: str, *, floats: bool) -> Robot:
    """The robot, without gravity."""
    robot = Robot(urdf, ".", isFext=floats)
    robot.model.gravity.setZero()
    return robot


def load(urdf: str, data: str) -> dict:
    """Read the robot and the samples."""
    with np.load(data) as found:
        state.update(found)
    state["robot"] = at_0_g(urdf, floats=True)
    return {"version": version("figaroh")}


def base_set(W, robot, tau=None):
    """FIGAROH's own way: drop columns that never act, then two QRs."""
    standard = get_standard_parameters(robot.model)
    dropped, names = get_index_eliminate(W, standard)
    result = QRDecomposer().decompose(build_regressor_reduced(W, dropped), names, tau)
    kept = [k for k in range(W.shape[1]) if k not in set(dropped)]
    M = np.zeros((result.rank, W.shape[1]))
    M[:, kept] = result.M
    return result, M


def all_rows(robot, q, v, a):
    """What FIGAROH's own builder cannot do: every row of a free flyer, in the same layout."""
    n, nv = len(q), robot.model.nv
    W = np.zeros((nv, n, 10 * (robot.model.njoints - 1)))
    for k in range(n):
        W[:, k] = pin.computeJointTorqueRegressor(robot.model, robot.data, q[k], v[k], a[k])
    return W.reshape(nv * n, -1)


def minimal(rows: str, out: str = "") -> dict:
    """Regressor and base parameters from the six rows of the free flyer, or from all of them."""
    robot, samples = state["robot"], [state[name] for name in "qva"]
    if rows == "all":
        W = all_rows(robot, *samples)
    else:
        W = build_regressor_basic(robot, *samples, WRENCH)
    result, M = base_set(W, robot)
    if out:
        np.savez(out, M=M)
    return {"count": int(result.rank)}


def whole() -> dict:
    """The whole regressor of a free flyer, as its documentation would have it."""
    config = {"is_joint_torques": True, "act_idxv": list(range(6, state["robot"].model.nv))}
    robot = state["robot"]
    still = np.zeros((2, robot.model.nv))
    build_regressor_basic(robot, np.tile(pin.neutral(robot.model), (2, 1)), still, still, config)
    return {}


def identify(urdf: str, out: str, fixed: bool) -> dict:
    """Least squares on base parameters; fixed: as if the bus stood still, else on its six rows."""
    robot = at_0_g(urdf, floats=not fixed)
    settings = {"ts": 0.01, "cut_off_frequency_butterworth": CUT_OFF}
    q, tau = state["q"], state["tau"]
    if fixed:
        q = low_pass_filter_data(q[:, 7:], settings)
    else:
        q = low_pass_filter_data(q, settings)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    q, v, a = calculate_first_second_order_differentiation(robot.model, q, settings)
    tau = low_pass_filter_data(tau, settings)[:-2]
    if fixed:
        config = {"is_joint_torques": True, "act_idxv": list(range(robot.model.nv))}
        y = tau.T.ravel()
    else:
        config, y = WRENCH, np.zeros(6 * len(q))  # nothing pushes the bus
    W = build_regressor_basic(robot, q, v, a, config)
    result, M = base_set(W, robot, y)
    with np.errstate(all="ignore"):
        relative = relative_stdev(result.W_b, result.phi_b, y)
    np.savez(out, M=M, values=result.phi_b, percent_std=relative)
    return {"count": int(result.rank)}


if __name__ == "__main__":
    serve({f.__name__: f for f in (load, minimal, whole, identify)})
