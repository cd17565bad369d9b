"""What slopes cost: the motion's derivative by 30 parameters, 6000 steps of 10 ms.

No promise: what a user waits for is a whole fit (`s2_whole_fit.py`). Beside us: Pinocchio from
Python with analytic sensitivities, and finite differences with MuJoCo.
"""

from __future__ import annotations

from collections.abc import Callable

import common
import numpy as np
from common import Array

from freefloat.dynamics import Sensitivity, integrate_with_sensitivity
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.model import inertia

STEP, N_STEPS, EVERY = 1e-2, 6000, 10
WINGS = ("l1", "l2", "r1", "r2")
NAMES = [f"bus.{field}" for field in inertia.NAMES]
NAMES += [f"panel_{wing}.{field}" for wing in WINGS for field in ("mass", "my", "ixx")]
NAMES += [f"hinge_{wing}.{field}" for wing in WINGS for field in ("stiffness", "damping")]


def ours(table: Inputs, x0: Array, n_steps: int) -> Sensitivity:
    """States and tangents by the library's own call, recorded every tenth step."""
    return integrate_with_sensitivity(
        common.SYSTEM, x0, NAMES, inputs=table, step=STEP, n_steps=n_steps, every=EVERY,
        with_efforts=False,
    )  # fmt: skip


def relative(jacobian: Array, reference: Array) -> float:
    """Largest difference, relative to the largest entry of its column."""
    size = np.max(np.abs(reference), axis=0)
    return float(np.max(np.abs(jacobian - reference) / np.where(size > 0.0, size, 1.0)))


def difference_jobs(table: Inputs, x0: Array, n_slow: int) -> dict[str, Callable[[], Array]]:
    """Forward differences: one rollout a parameter and one more, with mj_step or mujoco.rollout."""
    import mujoco
    import mujoco_

    amounts = [1e-4 * max(1.0, abs(_value(name))) for name in NAMES]
    robots = [mujoco_.build(STEP)]
    for name, amount in zip(NAMES, amounts, strict=True):
        robots.append(mujoco_.build(STEP))
        mujoco_.change(robots[-1], name, amount)
    data, applied = mujoco.MjData(robots[0]), mujoco_.forces(table)[:n_slow]

    def tangent(states: Array) -> Array:
        return np.stack([(s - states[0]) / h for s, h in zip(states[1:], amounts, strict=True)], 1)

    def stepping() -> Array:
        return tangent(np.array([mujoco_.run(robot, data, x0, applied) for robot in robots]))

    def rolling() -> Array:
        return tangent(mujoco_.roll(robots, data, x0, applied))

    return {"mujoco": stepping, "rollout": rolling}


def _value(name: str) -> float:
    owner, field = name.split(".")
    if owner.startswith("hinge"):
        joint = next(j for j in common.MODEL.assembly.joints if j.name == owner)
        return float(getattr(joint, field))
    return float(common.MODEL.body(owner).phi[inertia.NAMES.index(field)])


def as_free(tangent: Array, state: Array) -> Array:
    """Our tangent (small rotation) as the derivative of the 21 free numbers (quaternion)."""
    x, y, z, w = state[3:7]
    turn = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
    return np.concatenate([tangent[:3], turn @ tangent[3:6], tangent[6:]])


def main() -> None:
    """Time, compare, report."""
    options = common.arguments(__doc__)
    n_slow = 50 if options.quick else 200
    table = common.inputs(N_STEPS, STEP)
    x0 = common.start(table)
    result = common.Table("jacobian", f"{len(NAMES)}-parameter Jacobian, {N_STEPS} steps of 10 ms")
    jobs: dict[str, Callable[[], object]] = {"ours": lambda: ours(table, x0, N_STEPS)}
    part = N_STEPS / n_slow
    slice_ = ours(table, x0, n_slow)
    labels = {"ours": ("ours, integrate_with_sensitivity", 1.0, "")}
    try:
        from pinocchio_tangent import TangentLoop

        peer = TangentLoop(NAMES)

        def loop() -> Array:
            return peer.run_tangent(x0, table, step=STEP, n_steps=n_slow)

        jobs["pinocchio"] = loop
        error = relative(loop(), slice_.tangents[-1])
        result.add_check(f"Jacobian after {n_slow} steps, ours and Pinocchio", error, 1e-6)
        note = f"{n_slow} steps, scaled"
        labels["pinocchio"] = ("Pinocchio, Python, analytic", part, note)
    except ImportError:
        result.notes.append("Pinocchio is not installed: left out")
    try:
        differences = difference_jobs(table, x0, n_slow)
        reference = as_free(slice_.tangents[-1], slice_.states[-1])
        for name, job in differences.items():
            # forward differences, and forces held over a step
            error = relative(job(), reference)
            result.add_check(f"Jacobian after {n_slow} steps, ours and {name}", error, 2e-2)
        jobs.update(differences)
        note = f"{1 + len(NAMES)} rollouts of {n_slow} steps, scaled"
        labels["mujoco"] = ("MuJoCo differences, mj_step", part, note)
        labels["rollout"] = ("MuJoCo differences, mujoco.rollout", part, "no Python loop; " + note)
    except ImportError:
        result.notes.append("MuJoCo is not installed: left out")

    times = common.race(jobs, rounds=3 if options.quick else 7)
    seconds = {name: time * labels[name][1] for name, time in times.items()}
    for name, value in seconds.items():
        result.add_time(labels[name][0], value, seconds["ours"], labels[name][2])
    result.show(options)


if __name__ == "__main__":
    main()
