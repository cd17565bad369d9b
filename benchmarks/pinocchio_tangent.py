"""Analytic sensitivities with Pinocchio called from Python: RNEA derivatives and regressor.

RK4 on the state and its tangent together; NumPy works on all parameters at once. The tangent's
rows are ours: position, attitude (small rotation in root axes), velocity, rate, hinge angles,
hinge rates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from common import MODEL, Array
from pinocchio_ import N_STATES, Loop, put_rate, to_free_state
from scipy.linalg.lapack import dpotrs

from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.model import inertia

ORDER = ("mass", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")  # Pinocchio's


class TangentLoop(Loop):
    """H da = -(dtau/dq dq + dtau/dv dv + Y dphi + springs), integrated beside the state."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        assert set(ORDER) == set(inertia.NAMES)
        bodies = [body.name for body in MODEL.assembly.bodies]
        hinges = [joint.name for joint in MODEL.assembly.joints if joint.role == "passive"]
        self.n = len(names)
        owners = [name.split(".") for name in names]
        inertial = [(p, b, f) for p, (b, f) in enumerate(owners) if b in bodies]
        springs = [(p, hinges.index(h), f) for p, (h, f) in enumerate(owners) if h in hinges]
        self.columns = np.array([10 * bodies.index(b) + ORDER.index(f) for _, b, f in inertial])
        self.pick = np.ix_(self.free, self.columns)
        self.inertial = np.array([p for p, *_ in inertial])
        stiff = [(p, h) for p, h, f in springs if f == "stiffness"]
        damped = [(p, h) for p, h, f in springs if f == "damping"]
        self.stiff, self.damped = np.array(stiff).T, np.array(damped).T
        hinge = self.free[6:]
        self.by_angle, self.by_rate = np.ix_(self.free, hinge), np.ix_(self.free, [3, 4, 5, *hinge])
        self.b, self.G = np.zeros((10, self.n)), np.zeros((10, 11))
        # rows of the tangent that change the forces: hinge angles, root rate, hinge rates
        self.order = np.r_[12:16, 9:12, 16:20]

    def stage(self, y: Array, T: Array, given: Array, dy: Array, dT: Array) -> None:
        """Rates of the state y and of the tangent T."""
        a, factor = self.accelerations(y, given)
        put_rate(y, a, dy)
        self.a[self.free] = a
        arguments = (self.robot, self.data, self.q, self.v, self.a)
        by_q, by_v, _ = pin.computeRNEADerivatives(*arguments)
        G = self.G
        G[:, :4], G[:, 4:] = by_q[self.by_angle], by_v[self.by_rate]
        G[6:, :4][np.diag_indices(4)] += self.k
        G[6:, 7:][np.diag_indices(4)] += self.d
        b = np.matmul(G, T[self.order], out=self.b)
        b[:, self.inertial] += pin.computeJointTorqueRegressor(*arguments)[self.pick]
        b[6 + self.stiff[1], self.stiff[0]] += y[13 + self.stiff[1]]
        b[6 + self.damped[1], self.damped[0]] += y[17 + self.damped[1]]
        self.a[self.free] = 0.0
        da, _ = dpotrs(factor, b)
        self.put_tangent(y, a, T, da, dT)

    def put_tangent(self, y: Array, a: Array, T: Array, da: Array, dT: Array) -> None:
        """dT from minus the changes of acceleration da (linear, angular, hinges)."""
        x, s, z, w = y[3:7].tolist()
        n = 2.0 / (x * x + s * s + z * z + w * w)
        K = np.array([[0.0, -z, s], [z, 0.0, -x], [-s, x, 0.0]])
        R = np.eye(3) + n * (w * K + K @ K)
        dT[:3] = T[6:9]
        dT[3:6] = T[9:12] - skew(y[10:13]) @ T[3:6]
        dT[6:9] = R @ (-da[:3] - skew(a[:3]) @ T[3:6])
        dT[9:12] = -da[3:6]
        dT[12:16] = T[16:20]
        dT[16:20] = -da[6:]

    def run_tangent(self, x: Array, table: Inputs, *, step: float, n_steps: int) -> Array:
        """The tangent after n_steps."""
        y, T = to_free_state(x), np.zeros((20, self.n))
        k, total = np.zeros(N_STATES), np.zeros(N_STATES)
        kT, total_T = np.zeros_like(T), np.zeros_like(T)
        weights, ahead = (1.0, 2.0, 2.0, 1.0), (0.5 * step, 0.5 * step, step, 0.0)
        for given in table.given[:n_steps]:
            yy, TT = y, T
            total[:], total_T[:] = 0.0, 0.0
            for stage in range(4):
                self.stage(yy, TT, given[(stage + 1) // 2], k, kT)
                total += weights[stage] * k
                total_T += weights[stage] * kT
                if stage < 3:
                    yy, TT = y + ahead[stage] * k, T + ahead[stage] * kT
            y = y + step / 6.0 * total
            T = T + step / 6.0 * total_T
            y[3:7] /= np.sqrt(y[3:7] @ y[3:7])
        return T


def skew(v: Array) -> Array:
    """The matrix of a cross product."""
    x, y, z = v.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
