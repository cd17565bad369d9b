"""The system every speed table uses, the same system in Pinocchio and MuJoCo, and fair timing.

The system is the built-in `servicer-wings`: twelve bodies, seven joints whose motion is given, a
free root and four flexible hinges. Times are processor times of one thread, best of several
repetitions taken in turn; only ratios mean anything on a shared machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from freefloat.dynamics import flatten
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.model import load_model
from freefloat.model.urdf_write import write_urdf

MODEL = load_model("servicer-wings")
SYSTEM = flatten(MODEL)
C = SYSTEM.n_coordinates
GIVEN = SYSTEM.tree.given
HINGES = np.array([i for i in range(C) if i not in set(GIVEN)])


def arguments(description: str) -> argparse.Namespace:
    """--json and --quick, which every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="machine-readable result")
    parser.add_argument("--quick", action="store_true", help="shorter, same ratios")
    return parser.parse_args()


def report(options: argparse.Namespace, title: str, rows: dict[str, float | str]) -> None:
    """Print a table, or JSON."""
    if options.json:
        print(json.dumps({"title": title, **rows}))
        return
    print(title)
    for name, value in rows.items():
        print(f"  {name:<58} {value if isinstance(value, str) else format(value, '.4g'):>12}")


def best(jobs: dict[str, Callable[[], None]], *, n: int = 3) -> dict[str, float]:
    """Best processor time [s] of each job; repetitions take turns, so that load hits all alike."""
    times = dict.fromkeys(jobs, np.inf)
    for _ in range(n):
        for name, job in jobs.items():
            start = time.thread_time()
            job()
            times[name] = min(times[name], time.thread_time() - start)
    return times


def inputs(n_steps: int, step: float) -> Inputs:
    """Sines on the seven driven joints, tabulated for the integrator."""
    t = (np.arange(n_steps)[:, None] + np.array([0.0, 0.5, 1.0])) * step
    given = np.zeros((n_steps, 3, len(GIVEN), 3))
    for k, c in enumerate(GIVEN):
        w, home = 0.3 + 0.1 * k, MODEL.assembly.coordinates[c].home
        given[:, :, k, 0] = home + 0.5 * np.sin(w * t)
        given[:, :, k, 1] = 0.5 * w * np.cos(w * t)
        given[:, :, k, 2] = -0.5 * w * w * np.sin(w * t)
    gains = np.zeros((C, 3))
    gains[:, 2] = np.inf
    return Inputs(given, np.zeros((1, 3, C, 3)), np.zeros((1, 3, 6)), gains)


def start(table: Inputs) -> np.ndarray:
    """A slow tumble, hinges at rest, driven joints on their motion."""
    x = np.zeros(13 + 2 * C)
    x[6], x[10:13] = 1.0, (0.01, 0.02, -0.03)
    x[13 + GIVEN], x[13 + C + GIVEN] = table.given[0, 0, :, 0], table.given[0, 0, :, 1]
    return x


def work():
    """Scratch space for the kernels."""
    return new_work(SYSTEM.tree)


class PinocchioLoop:
    """The same simulation with Pinocchio called from a Python loop, written as well as one can.

    Per stage: rnea with the free accelerations at zero, crba, and a 10x10 solve.
    """

    def __init__(self) -> None:
        import pinocchio as pin

        self.pin = pin
        self.robot = pin.buildModelFromXML(write_urdf(MODEL), pin.JointModelFreeFlyer())
        self.robot.gravity.linear[:] = 0.0
        self.data = self.robot.createData()
        ids = [self.robot.getJointId(name) for name in SYSTEM.coordinates]
        self.iq = np.array([self.robot.joints[i].idx_q for i in ids])
        self.iv = np.array([self.robot.joints[i].idx_v for i in ids])
        self.free = np.concatenate([np.arange(6), self.iv[HINGES]])
        self.hinge_q, self.hinge_v = self.iq[HINGES], self.iv[HINGES]
        self.given_q, self.given_v = self.iq[GIVEN], self.iv[GIVEN]
        joints = {joint.name: joint for joint in MODEL.joints}
        names = [SYSTEM.coordinates[i] for i in HINGES]
        self.k = np.array([joints[name].stiffness for name in names])
        self.d = np.array([joints[name].damping for name in names])
        self.grid = np.ix_(self.free, self.free)

    def begin(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pinocchio's q and v of a freefloat state at identity attitude."""
        q, v = self.pin.neutral(self.robot), np.zeros(self.robot.nv)
        q[:7], v[:3], v[3:6] = x[:7], x[7:10], x[10:13]
        q[self.iq], v[self.iv] = x[13 : 13 + C], x[13 + C :]
        return q, v

    def rate(self, q: np.ndarray, v: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Accelerations at (q, v) with the driven joints on `given`."""
        pin = self.pin
        q[self.given_q], v[self.given_v] = given[:, 0], given[:, 1]
        a = np.zeros(self.robot.nv)
        a[self.given_v] = given[:, 2]
        bias = pin.rnea(self.robot, self.data, q, v, a)
        H = pin.crba(self.robot, self.data, q)
        H = np.triu(H) + np.triu(H, 1).T
        rhs = -bias[self.free]
        rhs[6:] -= self.k * q[self.hinge_q] + self.d * v[self.hinge_v]
        a[self.free] = np.linalg.solve(H[self.grid], rhs)
        return a

    def run(self, x: np.ndarray, table: Inputs, step: float, n_steps: int):
        """RK4 over n_steps; returns q and v."""
        q, v = self.begin(x)
        move = self.pin.integrate
        for i in range(n_steps):
            g = table.given[i]
            v1 = v.copy()
            a1 = self.rate(q, v1, g[0])
            v2 = v + 0.5 * step * a1
            a2 = self.rate(move(self.robot, q, 0.5 * step * v1), v2, g[1])
            v3 = v + 0.5 * step * a2
            a3 = self.rate(move(self.robot, q, 0.5 * step * v2), v3, g[1])
            v4 = v + step * a3
            a4 = self.rate(move(self.robot, q, step * v3), v4, g[2])
            q = move(self.robot, q, step / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4))
            v = v + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            q[self.given_q], v[self.given_v] = g[2, :, 0], g[2, :, 1]
        return q, v


def mujoco_model(step: float):
    """The same tree in MuJoCo, RK4: hinges with springs, arm joints free."""
    import mujoco

    children: dict[str, list] = {}
    for joint in MODEL.joints:
        children.setdefault(joint.parent, []).append(joint)

    def body_xml(name: str, joint=None) -> str:
        body = MODEL.body(name)
        xx, xy, xz, yy, yz, zz = body.inertia
        full = f"{xx} {yy} {zz} {xy} {xz} {yz}"
        place = " ".join(map(str, joint.placement.xyz)) if joint else "0 0 0"
        hinge = "<freejoint/>"
        if joint:
            axis = " ".join(map(str, joint.axis))
            spring = f'stiffness="{joint.stiffness}" damping="{joint.damping}"'
            hinge = f'<joint name="{joint.name}" axis="{axis}" {spring}/>'
        inner = "".join(body_xml(j.child, j) for j in children.get(name, []))
        com = " ".join(map(str, body.com))
        inertial = f'<inertial mass="{body.mass}" pos="{com}" fullinertia="{full}"/>'
        return f'<body name="{name}" pos="{place}">{hinge}{inertial}{inner}</body>'

    flag = '<flag contact="disable"/>'
    option = f'<option gravity="0 0 0" timestep="{step}" integrator="RK4">{flag}</option>'
    world = body_xml(MODEL.root.body)
    xml = f'<mujoco><compiler angle="radian"/>{option}<worldbody>{world}</worldbody></mujoco>'
    return mujoco.MjModel.from_xml_string(xml)
