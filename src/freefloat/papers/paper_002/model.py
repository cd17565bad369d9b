"""Paper 002's model, checked: orbit, gravity gradient, eq. 26, limits, parameter counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import Start
from freefloat.dynamics.system_inertia import environment_wrench, system_inertia
from freefloat.dynamics.tree import flatten
from freefloat.model import load_model
from freefloat.model.inertia import tensor
from freefloat.model.model import Model
from freefloat.model.parts import Body
from freefloat.model.rotations import matrix_from_quaternion
from freefloat.observability.minimal_set import minimal_count
from freefloat.papers.paper_002.published import BOUNDS, PUBLISHED
from freefloat.papers.paper_rows import Row, printed_row, within


def model_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Masses, orbit, gravity gradient."""
    ets7 = load_model("ets7") if model is None else model
    table = "Sections 2 and 4.1: the model"
    orbit, bus = ets7.orbit, ets7.body("bus")
    assert orbit is not None
    rate = float(np.sqrt(orbit.mu / orbit.radius**3))
    return [
        printed_row(table, "mass of the base", "kg", PUBLISHED["mass"], bus.mass, digits=1),
        printed_row(table, "mass of the base over that of the arm", "-", PUBLISHED["ratio"],
                bus.mass / (ets7.mass - bus.mass), digits=0, note="arm chosen, 106 kg"),
        within(table, "orbital rate", "rad/s", rate, between=BOUNDS["orbit rate"]),
        Row(table, "torque error of 1 km in the radius", "N m", PUBLISHED["radius_error"],
            radius_error(ets7), "reproduced in pattern"
            if BOUNDS["radius"][0] <= radius_error(ets7) <= BOUNDS["radius"][1] else "missed",
            "largest over attitudes; the paper gives the order of magnitude"),
        within(table, "gravity gradient, sum over bodies against eq. 16", "-",
               gradient_gap(ets7), between=BOUNDS["closed form"], status="reproduced",
               note="eqs 13 to 15 on every body; about the common centre of mass; 20 attitudes"),
    ]  # fmt: skip


def radius_error(model: Model) -> float:
    """The change of the largest gravity-gradient torque [N m] with 1 km of the radius."""
    system = flatten(model)
    assert model.orbit is not None
    inertia = system_inertia(system, Start().vector(system)[None]).inertia[0]
    values = np.linalg.eigvalsh(inertia)
    torque = 1.5 * model.orbit.mu / model.orbit.radius**3 * (values[-1] - values[0])
    return float(3.0 * torque * 1e3 / model.orbit.radius)


def gradient_gap(model: Model, *, seed: int = 0) -> float:
    """Torque summed body by body against 3 mu/R^3 R x I R of the whole, relative."""
    system = flatten(model)
    rng = np.random.default_rng(seed)
    quaternions = rng.normal(size=(20, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    home = Start().vector(system)
    worst = 0.0
    assert model.orbit is not None
    n2 = model.orbit.mu / model.orbit.radius**3
    for quaternion in quaternions:
        state = home.copy()
        state[3:7] = quaternion
        at = system_inertia(system, state[None])
        given = environment_wrench(system, np.zeros(1), state[None])[1][0]
        R = matrix_from_quaternion(quaternion[None])[0]
        summed = _sum_torques(model, R, at.com[0], n2)
        worst = max(worst, float(np.linalg.norm(summed - given) / np.linalg.norm(given)))
    return worst


def _sum_torques(model: Model, R: Array, com: Array, n2: float) -> Array:
    """Torque about the common centre of mass: eq. 14's force and eq. 16's torque of each body."""
    assert model.orbit is not None
    r = np.array(model.orbit.radial) / np.linalg.norm(model.orbit.radial)
    total = np.zeros(3)
    for body, place in _places(model):
        p = R @ (place[:3, 3] + place[:3, :3] @ np.array(body.com))
        A = R @ place[:3, :3]
        xi = p - com
        force = n2 * body.mass * (3.0 * r * (r @ xi) - xi)
        total += np.cross(xi, force)
        total += 3.0 * n2 * np.cross(r, A @ tensor(body.inertia) @ A.T @ r)
    return total


def _places(model: Model) -> list[tuple[Body, Array]]:
    """Bodies with their pose (4, 4) in the root frame, all joints at zero."""
    poses = {model.root.body: np.eye(4)}
    for joint in model.assembly.joints:
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = joint.placement.rotation, joint.placement.xyz
        poses[joint.child] = poses[joint.parent] @ step
    return [(body, poses[body.name]) for body in model.assembly.bodies]


def excitation_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Eq. 26 written out, and the limits that the paper's own motion breaks."""
    table, rng = "Eq. 26: the degree of excitation", np.random.default_rng(seed)
    gap, swap = 0.0, 0.0
    weights = np.array([-1.0, 1.0, 3.0, -1.0, 1.0, 3.0])
    for _ in range(100):
        y = rng.uniform(0.1, 1.0, 6)
        gap = max(gap, abs(eq_26(y) - float(weights @ y**2)))
        swap = max(swap, abs(eq_26(y) - eq_26(y[[2, 1, 0, 5, 4, 3]])) / float(np.sum(y**2)))
    q = np.reshape(np.array(PUBLISHED["motion"]), (3, 2))
    beyond = float(np.max(np.abs(q).sum(axis=1)) - PUBLISHED["joint_limit"])
    return [
        within(table, "-y1^2 + y2^2 + 3 y3^2 - y4^2 + y5^2 + 3 y6^2 against eq. 26", "-", gap,
               between=BOUNDS["expansion"], status="paper wrong",
               note="meant to balance the axes, it rewards the third and punishes the first"),
        Row(table, "change when axes x and z are renamed", "-", None, swap,
            "paper wrong" if swap > 0.1 else "missed",
            "relative to the sum of squares: the answer depends on the names of the axes"),
        within(table, "the paper's motion leaves its own joint limits by", "rad", beyond,
               between=BOUNDS["limit"], status="paper wrong", note="joint 1: |q1| + |q2| > pi/2"),
    ]  # fmt: skip


def eq_26(y: Array) -> float:
    """The paper's cost, term by term."""
    s = y**2
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    return float(np.sum(s) - sum(s[i] - s[j] for i, j in pairs))


def count_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Problem 3: how many parameters can be found of a robot with n joints."""
    ets7 = load_model("ets7") if model is None else model
    table, rows = "Problem 3: independent parameters", []
    for n in (1, 2, 3, 6):
        cut = first_joints(ets7, n)
        expected = 10 * (n + 1) - 3 * n
        ours = minimal_count(cut, "force")
        status = "reproduced" if ours == expected else "missed"
        rows.append(
            Row(table, f"base and joint rows, {n} joint{'s' * (n > 1)}", "-",
                PUBLISHED["count"] if n == 2 else None, float(ours), status,
                f"10 (n + 1) - 3 n = {expected}")
        )  # fmt: skip
        seven = minimal_count(cut, "joint")
        rows.append(
            Row(table, f"joint rows only, {n} joint{'s' * (n > 1)}", "-", None, float(seven),
                "not published" if seven == 7 * n else "missed", "7 n")
        )  # fmt: skip
    return rows


def first_joints(model: Model, n: int) -> Model:
    """The first n joints of the arm, without wheels."""
    kept = {model.root.body} | {f"link_{k}" for k in range(1, n + 1)}
    return replace(
        model,
        bodies=tuple(body for body in model.bodies if body.name in kept),
        joints=tuple(joint for joint in model.joints if joint.child in kept),
        frames=(), wheels=(), sensors=(), targets=(),
    )  # fmt: skip
