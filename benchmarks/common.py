"""What every table shares: the system, how it is driven, fair timing and one way to report.

The system is the built-in `servicer-wings`: twelve bodies, seven joints whose motion is given, a
free root and four flexible hinges.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from freefloat.dynamics import flatten
from freefloat.dynamics.kernels.integrate import Inputs, Stages, rk4
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.tree import ParameterArrays
from freefloat.model import load_model

Array = NDArray[np.float64]

MODEL = load_model("servicer-wings")
SYSTEM = flatten(MODEL)
C = SYSTEM.n_coordinates
GIVEN = SYSTEM.tree.given
HINGES = np.array([i for i in range(C) if i not in set(GIVEN.tolist())])
# stiffness [N m/rad] and damping [N m s/rad] of the hinges
SPRINGS = np.array(
    [
        SYSTEM.parameters.spring[np.flatnonzero(SYSTEM.tree.spring_ends[:, 0] == c)[0], :2]
        for c in HINGES
    ]
)


def arguments(description: str | None) -> argparse.Namespace:
    """The options of every table: --quick, --json and --record."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--quick", action="store_true", help="shorter slices, noisier ratios")
    told = "also keep the JSON in this folder, for tools/results.py"
    parser.add_argument("--record", type=Path, metavar="FOLDER", help=told)
    return parser.parse_args()


@dataclass
class Table:
    """Rows of a comparison: times of the whole job, checks of agreement, promises."""

    id: str
    title: str
    times: list[dict] = field(default_factory=list)
    checks: list[dict] = field(default_factory=list)
    promises: list[dict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_time(self, name: str, seconds: float, ours: float, note: str = "") -> None:
        """A contender's time for the whole job [s] and how many times ours that is."""
        self.times.append(
            {"name": name, "seconds": seconds, "times_ours": seconds / ours, "note": note}
        )

    def add_check(self, what: str, value: float, limit: float) -> None:
        """A difference that must not exceed a limit; whoever is wrong is not worth timing."""
        self.checks.append(
            {"what": what, "value": value, "limit": limit, "is_met": bool(value <= limit)}
        )

    def add_promise(self, what: str, value: float, *, least: float = 0.0, most: float = np.inf):
        """A promised figure and whether this run shows it."""
        is_met = bool(least <= value <= most)
        limit = f">= {least:g}" if least else f"<= {most:g}"
        self.promises.append({"what": what, "value": value, "limit": limit, "is_met": is_met})

    def show(self, options: argparse.Namespace) -> None:
        """Print the table; end the program with 1 if contenders disagree."""
        told = json.dumps({**vars(self), "quick": options.quick, "machine": machine()})
        print(told if options.json else self._text())
        if options.record and (self.promises or self.checks):  # without peers there is nothing
            options.record.mkdir(parents=True, exist_ok=True)
            (options.record / f"{self.id}.json").write_text(told, encoding="utf-8")
        if not all(check["is_met"] for check in self.checks):
            raise SystemExit(1)

    def _text(self) -> str:
        lines = [f"{self.id}: {self.title}", f"{'':44}{'time [s]':>10}{'/ ours':>9}"]
        lines += [
            f"  {row['name']:<42}{row['seconds']:>10.3g}{row['times_ours']:>9.3g}"
            f"{'  ' + row['note'] if row['note'] else ''}"
            for row in self.times
        ]
        lines += [
            f"  {'agreement' if c['is_met'] else 'DISAGREEMENT'}: {c['what']}"
            f" {c['value']:.2g} (limit {c['limit']:.0e})"
            for c in self.checks
        ]
        lines += [
            f"  {'promise kept' if p['is_met'] else 'PROMISE MISSED'}: {p['what']}"
            f" {p['value']:.3g} ({p['limit']})"
            for p in self.promises
        ]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


def machine() -> dict[str, str | float]:
    """What the figures were measured on."""
    found: dict[str, str | float] = {"processor": platform.machine(), "cores": os.cpu_count() or 0}
    found["python"] = platform.python_version()
    if hasattr(os, "getloadavg"):
        found["load"] = os.getloadavg()[0]
    for name in ("numpy", "numba", "pin", "mujoco"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def race(
    jobs: dict[str, Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, float]:
    """Best time [s] of every job, taken in turn, so that a busy machine is busy for all of them.

    The processor time of this thread unless told otherwise: waiting for a core does not count.
    Every job runs once beforehand, so compilation does not count either.
    """
    for job in jobs.values():
        job()
    times = dict.fromkeys(jobs, np.inf)
    for _ in range(rounds):
        for name, job in jobs.items():
            begin = clock()
            job()
            times[name] = min(times[name], clock() - begin)
    return times


def inputs(n_steps: int, step: float) -> Inputs:
    """Sines about home on the seven driven joints, tabulated for the integrator."""
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


def start(table: Inputs) -> Array:
    """A slow tumble from a turned attitude, hinges bent, driven joints on their motion."""
    x = np.zeros(13 + 2 * C)
    x[3:7] = np.array([0.1, -0.2, 0.3, 0.9]) / np.sqrt(0.95)
    x[7:10], x[10:13] = (0.02, -0.01, 0.005), (0.01, 0.02, -0.03)
    x[13 + HINGES] = 0.02, -0.01, 0.015, 0.005
    x[13 + GIVEN], x[13 + C + GIVEN] = table.given[0, 0, :, 0], table.given[0, 0, :, 1]
    return x


class Kernel:
    """Our integrator with its scratch space laid out, so that a call is nothing but the loop."""

    def __init__(self, table: Inputs, x0: Array, *, step: float, n_steps: int, every: int) -> None:
        self.table, self.x0 = table, x0
        self.step, self.n_steps, self.every = step, n_steps, every
        self.work = new_work(SYSTEM.tree)
        self.stages = Stages(*(np.zeros_like(x0) for _ in range(3)))
        self.out = np.zeros((n_steps // every, len(x0)))

    def run(self, parameters: ParameterArrays = SYSTEM.parameters) -> Array:
        """The final state."""
        x = self.x0.copy()
        rk4(
            SYSTEM.tree, parameters, self.work, self.table, 0.0, self.step, self.n_steps,
            self.every, x, self.stages, self.out,
        )  # fmt: skip
        return x


def difference(a: Array, b: Array) -> float:
    """The largest difference."""
    return float(np.max(np.abs(np.asarray(a) - np.asarray(b))))
