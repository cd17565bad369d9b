"""S1: 60 s of the flexible servicer, RK4 at 1 ms, against Pinocchio, MuJoCo and C++."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import common
import numpy as np

from freefloat.dynamics.kernels.integrate import Stages, rk4

STEP = 1e-3


def cpp_job(table, x0: np.ndarray, n: int):
    """The hand-written program as a callable that returns the final state, or None without g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    source = Path(__file__).parent / "cpp" / "wings.cpp"
    library = Path(tempfile.mkdtemp()) / "wings.so"
    flags = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    run = ctypes.CDLL(str(library)).simulate
    run.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_double] + [ctypes.c_long] * 2
    run.argtypes += [ctypes.c_void_p] * 2
    run.restype = None
    bodies = common.MODEL.assembly.bodies
    phi = np.ascontiguousarray([body.phi for body in bodies])
    place = np.zeros((len(bodies), 3))
    place[1:] = [joint.placement.position for joint in common.MODEL.assembly.joints]
    hinges = [joint for joint in common.MODEL.assembly.joints if joint.role == "passive"]
    springs = np.array([[joint.stiffness, joint.damping] for joint in hinges])
    out = np.zeros((n // 100, len(x0)))

    def job() -> np.ndarray:
        x = x0.copy()
        tables = (phi, place, springs, table.given)
        pointers = [array.ctypes.data for array in tables]
        run(*pointers, STEP, n, 100, x.ctypes.data, out.ctypes.data)
        return x

    return job


def main() -> None:
    """Run all and print ratios."""
    options = common.arguments(__doc__)
    n = 10_000 if options.quick else 60_000
    n_slow = 300 if options.quick else 1500  # steps timed for the Python loops, then scaled
    table = common.inputs(n, STEP)
    x0 = common.start(table)
    stages = Stages(*(np.zeros_like(x0) for _ in range(3)))
    out, work, system = np.zeros((n // 100, len(x0))), common.work(), common.SYSTEM
    last = {}

    def ours(steps: int = n) -> None:
        x = x0.copy()
        rk4(system.tree, system.parameters, work, table, 0.0, STEP, steps, 100, x, stages, out)
        last["ours"] = x

    ours()
    loop = common.PinocchioLoop()
    import mujoco

    engine = common.mujoco_model(STEP)
    data = mujoco.MjData(engine)

    def peers_mujoco() -> None:
        for _ in range(n_slow):
            mujoco.mj_step(engine, data)

    jobs = {
        "ours": ours,
        "pinocchio": lambda: last.__setitem__("pin", loop.run(x0, table, STEP, n_slow)),
        "mujoco": peers_mujoco,
    }
    cpp = cpp_job(table, x0, n)
    if cpp is not None:
        jobs["cpp"] = lambda: last.__setitem__("cpp", cpp())
    times = common.best(jobs, n=3 if options.quick else 5)
    for name in ("pinocchio", "mujoco"):
        times[name] *= n / n_slow
    agree = float(np.abs(last["cpp"] - last["ours"]).max()) if cpp else float("nan")
    ours(n_slow)
    q, _ = last["pin"]
    same = float(np.abs(q[loop.iq] - last["ours"][13 : 13 + common.C]).max())
    rows: dict[str, float | str] = {
        f"ours, {n} steps [s]": times["ours"],
        "Pinocchio from a Python loop / ours (promise >= 15)": times["pinocchio"] / times["ours"],
        "MuJoCo mj_step RK4 (arm free) from Python / ours": times["mujoco"] / times["ours"],
        "ours / hand-written C++ (promise <= 1.5)": (
            times["ours"] / times["cpp"] if cpp else "no g++"
        ),
        "final state, ours against C++ (largest difference)": agree,
        f"coordinates after {n_slow} steps, ours against Pinocchio": same,
    }
    common.report(options, "S1: simulation", rows)


if __name__ == "__main__":
    main()
