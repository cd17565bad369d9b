"""S2: Jacobian by 30 parameters over 60 s at 10 ms, against Pinocchio and MuJoCo differences.

Pinocchio's side has analytic derivatives of the dynamics (RNEA derivatives and regressor) and a
NumPy tangent. MuJoCo cannot prescribe the motion of a joint, so its side computes bias and mass
matrix (`mj_rne`, `mj_fullM`) and solves for the free part, once per stage, one rollout per
parameter plus one. Both are timed per stage and scaled to RK4's four stages.
"""

from __future__ import annotations

import common
import numpy as np

from freefloat.dynamics import integrate_with_sensitivity
from freefloat.model import inertia

STEP = 1e-2
PANELS = ("l1", "l2", "r1", "r2")
NAMES = [f"bus.{field}" for field in inertia.NAMES]
NAMES += [f"panel_{p}.{field}" for p in PANELS for field in ("mass", "my", "ixx")]
NAMES += [f"hinge_{p}.{field}" for p in PANELS for field in ("stiffness", "damping")]


class PinocchioTangent:
    """One stage of the tangent equation with Pinocchio's analytic derivatives, in NumPy."""

    def __init__(self, x0: np.ndarray, table) -> None:
        self.loop = common.PinocchioLoop()
        self.given = table.given[0, 0]
        self.q, self.v = self.loop.begin(x0)
        self.T = np.random.default_rng(0).normal(size=(2 * self.loop.robot.nv, len(NAMES)))
        links = common.SYSTEM.n_links
        self.pick = np.random.default_rng(1).normal(size=(10 * links, len(NAMES)))

    def stage(self) -> None:
        """Accelerations, their derivatives by state and parameters, and the tangent's rate."""
        loop, pin = self.loop, self.loop.pin
        a = loop.rate(self.q, self.v, self.given)
        dq, dv, H = pin.computeRNEADerivatives(loop.robot, loop.data, self.q, self.v, a)
        Y = pin.computeJointTorqueRegressor(loop.robot, loop.data, self.q, self.v, a)
        free, nv = loop.free, loop.robot.nv
        force = dq[free] @ self.T[:nv] + dv[free] @ self.T[nv:] + Y[free] @ self.pick
        H = np.triu(H) + np.triu(H, 1).T
        rate = np.zeros_like(self.T)
        rate[:nv] = self.T[nv:]
        rate[nv + free] = -np.linalg.solve(H[loop.grid], force)
        self.T + 0.5 * STEP * rate  # the stage's own combination


class MujocoStage:
    """Free accelerations with the driven joints prescribed, from MuJoCo's bias and mass matrix."""

    def __init__(self, x0: np.ndarray, table) -> None:
        import mujoco

        self.mj, self.engine = mujoco, common.mujoco_model(STEP)
        self.data = mujoco.MjData(self.engine)
        names = common.SYSTEM.coordinates
        self.iv = np.array([self.engine.joint(name).dofadr[0] for name in names])
        self.free = np.concatenate([np.arange(6), self.iv[common.HINGES]])
        self.grid = np.ix_(self.free, self.free)
        self.given = table.given[0, 0]
        self.q, self.v = self.data.qpos.copy(), self.data.qvel.copy()
        self.bias, self.H = np.zeros(self.engine.nv), np.zeros((self.engine.nv, self.engine.nv))
        loop = common.PinocchioLoop()
        self.k, self.d = loop.k, loop.d

    def stage(self) -> None:
        """One right side: set the state, bias, mass matrix, solve."""
        mj, engine, data = self.mj, self.engine, self.data
        given, hinges = self.iv[common.GIVEN], self.iv[common.HINGES]
        self.q[given + 1], self.v[given] = self.given[:, 0], self.given[:, 1]
        data.qpos[:], data.qvel[:] = self.q, self.v
        data.qacc[:] = 0.0
        data.qacc[given] = self.given[:, 2]
        mj.mj_fwdPosition(engine, data)
        mj.mj_fwdVelocity(engine, data)
        mj.mj_rne(engine, data, 1, self.bias)
        mj.mj_fullM(engine, data, self.H)
        rhs = -self.bias[self.free]
        rhs[6:] -= self.k * self.q[hinges + 1] + self.d * self.v[hinges]
        np.linalg.solve(self.H[self.grid], rhs)


def main() -> None:
    """Run all and print ratios."""
    options = common.arguments(__doc__)
    n, n_slow = 6000, 200
    table = common.inputs(n, STEP)
    x0 = common.start(table)

    def ours() -> None:
        integrate_with_sensitivity(
            common.SYSTEM, x0, NAMES, inputs=table, step=STEP, n_steps=n, every=10,
            with_efforts=False,
        )  # fmt: skip

    ours()
    peer = PinocchioTangent(x0, table)
    differences = MujocoStage(x0, table)

    jobs = {
        "ours": ours,
        "pinocchio": lambda: [peer.stage() for _ in range(n_slow)],
        "mujoco": lambda: [differences.stage() for _ in range(n_slow)],
    }
    times = common.best(jobs, n=3 if options.quick else 5)
    pinocchio = times["pinocchio"] * 4 * n / n_slow
    rollouts = times["mujoco"] * 4 * n / n_slow * (1 + len(NAMES))
    rows: dict[str, float | str] = {
        f"ours, {n} steps, {len(NAMES)} parameters [s]": times["ours"],
        "Pinocchio from Python, analytic / ours (promise >= 14)": pinocchio / times["ours"],
        "MuJoCo forward differences from Python / ours (promise >= 150)": rollouts / times["ours"],
    }
    common.report(options, "S2: Jacobian", rows)


if __name__ == "__main__":
    main()
