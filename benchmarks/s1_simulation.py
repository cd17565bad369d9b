"""S1: 60 s of the flexible servicer, RK4 at 1 ms, beside Pinocchio, MuJoCo and hand-written C++."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import common
import numpy as np
from common import Array

from freefloat.dynamics.kernels.integrate import Inputs

STEP = 1e-3
FLAGS = ("-std=c++17", "-O3", "-march=native", "-shared", "-fPIC")


def cpp_job(table: Inputs, x0: Array, n_steps: int) -> Callable[[], Array] | None:
    """cpp/wings.cpp, compiled now, as a function that returns the final state; None without g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    source = Path(__file__).parent / "cpp" / "wings.cpp"
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "wings.so"
        subprocess.run([compiler, *FLAGS, str(source), "-o", str(library)], check=True)
        simulate = ctypes.CDLL(str(library)).simulate
    pointer, count = ctypes.c_void_p, ctypes.c_long
    simulate.argtypes = [*[pointer] * 4, ctypes.c_double, count, count, pointer, pointer]
    simulate.restype = None
    phi = np.ascontiguousarray([body.phi for body in common.MODEL.assembly.bodies])
    place = np.zeros((len(phi), 3))
    place[1:] = [joint.placement.position for joint in common.MODEL.assembly.joints]
    springs = np.ascontiguousarray(common.SPRINGS)
    out = np.zeros((n_steps // 100, len(x0)))

    def job() -> Array:
        x = x0.copy()
        tables = [array.ctypes.data for array in (phi, place, springs, table.given)]
        simulate(*tables, STEP, n_steps, 100, x.ctypes.data, out.ctypes.data)
        return x

    return job


def main() -> None:
    """Time, compare, report."""
    options = common.arguments(__doc__)
    n = 10_000 if options.quick else 60_000
    n_slow = 200 if options.quick else 1000
    table = common.inputs(n, STEP)
    x0 = common.start(table)
    ours = common.Kernel(table, x0, step=STEP, n_steps=n, every=100)
    beginning = common.Kernel(table, x0, step=STEP, n_steps=n_slow, every=100)
    jobs: dict[str, Callable[[], object]] = {"ours": ours.run}
    result = common.Table("S1", f"60 s simulation, RK4 1 ms (timed: {n} steps, scaled)")

    cpp = cpp_job(table, x0, n)
    if cpp is None:
        result.notes.append("no g++ here: the hand-written program was left out")
    else:
        jobs["cpp"] = cpp
        result.add_check("final state, ours and C++", common.difference(ours.run(), cpp()), 1e-9)
    whole, part = 60_000 / n, 60_000 / n_slow
    scale = {"ours": whole, "cpp": whole}
    try:
        import pinocchio_

        loop = pinocchio_.Loop()
        jobs["pinocchio"] = lambda: loop.run(x0, table, step=STEP, n_steps=n_slow)
        scale["pinocchio"] = part
        reached = pinocchio_.to_free_state(beginning.run())
        error = common.difference(reached, loop.run(x0, table, step=STEP, n_steps=n_slow))
        result.add_check(f"state after {n_slow} steps, ours and Pinocchio", error, 1e-9)
    except ImportError:
        result.notes.append("Pinocchio is not installed: left out")
    try:
        import mujoco
        import mujoco_
        import pinocchio_

        robot = mujoco_.build(STEP)
        data, applied = mujoco.MjData(robot), mujoco_.forces(table)[:n_slow]
        jobs["mujoco"] = lambda: mujoco_.run(robot, data, x0, applied)
        scale["mujoco"] = part
        error = common.difference(
            pinocchio_.to_free_state(beginning.run()), mujoco_.run(robot, data, x0, applied)
        )
        # MuJoCo holds the driven joints' force over a step, which costs it two orders
        result.add_check(f"state after {n_slow} steps, ours and MuJoCo", error, 1e-5)
    except ImportError:
        result.notes.append("MuJoCo is not installed: left out")

    times = common.race(jobs, rounds=5 if options.quick else 9)
    seconds = {name: time * scale[name] for name, time in times.items()}
    labels = {
        "ours": ("ours", ""),
        "cpp": ("C++ written for this mechanism", "-O3 -march=native"),
        "pinocchio": ("Pinocchio, Python loop", f"{n_slow} steps, scaled"),
        "mujoco": ("MuJoCo mj_step, Python loop", f"{n_slow} steps, scaled"),
    }
    for name, value in seconds.items():
        result.add_time(labels[name][0], value, seconds["ours"], labels[name][1])
    if "pinocchio" in seconds:
        ratio = seconds["pinocchio"] / seconds["ours"]
        result.add_promise("Pinocchio from a Python loop / ours", ratio, least=15.0)
    if "cpp" in seconds:
        result.add_promise("ours / C++", seconds["ours"] / seconds["cpp"], most=1.5)
    result.show(options)


if __name__ == "__main__":
    main()
