"""S7: the first run after installation, compilation included, and every later start."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common

FLY = """
import freefloat as ff
model = ff.load_model("servicer")
ff.simulate(model, ff.default_plan(model, duration=5.0), seed=1)
"""
IMPORT = """
import time
import numpy
begin = time.perf_counter()
import freefloat
print(time.perf_counter() - begin)
"""
KERNEL = """
import time
import common
table = common.inputs(2, 1e-2)
x0 = common.start(table)
begin = time.perf_counter()
{call}
print(time.perf_counter() - begin)
"""
RK4 = "common.Kernel(table, x0, step=1e-2, n_steps=2, every=1).run()"
TANGENT = """
from freefloat.dynamics import integrate_with_sensitivity
begin = time.perf_counter()
integrate_with_sensitivity(common.SYSTEM, x0, ["bus.mass"], inputs=table, step=1e-2, n_steps=2)
"""
BATCH = """
from freefloat.dynamics import integrate_batch, stack_parameters
own = stack_parameters([common.SYSTEM.parameters] * 4)
begin = time.perf_counter()
integrate_batch(common.SYSTEM, x0, own, table, step=1e-2, n_steps=2, n_threads=1)
"""


def processor_time() -> float:
    """Processor time [s] of every process this one has waited for."""
    used = os.times()
    return used.children_user + used.children_system


class Shell:
    """Runs Python with a cache of compiled kernels of its own."""

    def __init__(self, folder: Path, cache: str) -> None:
        self.environment = {**os.environ, "FREEFLOAT_CACHE_DIR": str(folder / cache)}

    def run(self, *arguments: str) -> tuple[float, str]:
        """Wall clock [s] from start to exit, and what was printed."""
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments], env=self.environment, check=True, text=True,
            capture_output=True, cwd=Path(__file__).parent,
        )  # fmt: skip
        return time.perf_counter() - begin, done.stdout

    def first_output(self, *arguments: str, n: int) -> float:
        """Wall clock [s] until the first line appears, the quickest of several runs."""
        found = float("inf")
        for _ in range(n):
            begin = time.perf_counter()
            running = subprocess.Popen(
                [sys.executable, *arguments], env=self.environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=Path(__file__).parent,
            )  # fmt: skip
            assert running.stdout is not None
            running.stdout.readline()
            found = min(found, time.perf_counter() - begin)
            running.communicate()
        return found

    def best(self, *arguments: str, n: int) -> tuple[float, float]:
        """The quickest of several runs, wall clock and processor time [s]; load only adds."""
        wall = work = float("inf")
        for _ in range(n):
            begin = processor_time()
            wall = min(wall, self.run(*arguments)[0])
            work = min(work, processor_time() - begin)
        return wall, work


def add_kernels(result: common.Table, folder: Path, later: float, *, is_quick: bool) -> None:
    """How long the first call of each kernel takes, with a cache that holds no other."""
    for name, call in (("rk4", RK4), ("rk4_tangent", TANGENT), ("rk4_lanes", BATCH)):
        if is_quick and name != "rk4_tangent":
            continue
        begin = processor_time()
        _, seconds = Shell(folder, f"cache_{name}").run("-c", KERNEL.format(call=call))
        note = f"compilation; {processor_time() - begin:.1f} s of processor time with the start"
        result.add_time(f"first call of {name} alone", float(seconds), later, note)


def main() -> None:
    """Time starts with an empty cache, then with a full one."""
    options = common.arguments(__doc__)
    n = 2 if options.quick else 5
    has_command = importlib.util.find_spec("freefloat.cli") is not None
    result = common.Table("S7", "first run and later starts, wall clock")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shell = Shell(folder, "cache")
        out = str(folder / "flight.parquet")
        fly, label = ["-c", FLY], "python, ff.simulate"
        if has_command:
            fly = ["-m", "freefloat", "simulate", "servicer", "--duration", "5", "--out", out]
            label = "freefloat simulate servicer"
        first, first_work = shell.best(*fly, n=1)
        later, later_work = shell.best(*fly, n=n)
        result.add_time(f"{label}, later", later, later, f"{later_work:.2f} s of processor time")
        soon = shell.first_output(*fly, n=n)
        result.add_time(f"{label}, first line of a later run", soon, later)
        note = f"compilation included; {first_work:.1f} s of processor time"
        result.add_time(f"{label}, first", first, later, note)
        result.add_time("python -c pass", shell.best("-c", "pass", n=n)[0], later, "for scale")
        if has_command:
            text, text_work = shell.best("-m", "freefloat", "--help", n=n)
            note = f"{text_work:.2f} s of processor time"
            result.add_time("freefloat --help", text, later, note)
        load = min(float(shell.run("-c", IMPORT)[1]) for _ in range(n))
        result.add_time("import freefloat, beyond NumPy", load, later)
        add_kernels(result, folder, later, is_quick=options.quick)
    result.add_promise("first simulate [s]", first, most=30.0)
    result.add_promise("first output of a later simulate [s]", soon, most=1.5)
    result.notes.append("promises are for an idle machine, where both kinds of time are alike")
    result.show(options)


if __name__ == "__main__":
    main()
