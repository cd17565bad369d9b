"""Does the package install and work in a clean environment of every Python at hand?

    python tools/clean_installs.py python3.11 python3.12 python3.13 --extras '' all

Builds the sdist, from it the wheel, and for each interpreter and each set of extras makes a new
environment outside the checkout, installs the wheel there, and lets the installed command check a
model, simulate a flight and identify a mass from it. One line each; the exit code is 1 where
something failed. Needs nothing but the standard library, pip and an index.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
STEPS = (
    "--version",
    "check planar-capture",
    "simulate planar-capture --duration 15 --seed 1 --out flight.parquet",
    "identify planar-capture flight.parquet --free target.mass --out fit.json",
)
# What each extra is for: importing it shows that what it brings is there and fits this Python.
MODULES = {
    "plot": ["matplotlib"],
    "live": ["websockets"],
    "xacro": ["xacrodoc"],
    "sdp": ["cvxpy", "clarabel"],
    "engines": ["pinocchio", "mujoco"],
    "bags": ["rosbags", "mcap", "lz4.frame", "zstandard", "h5py", "pyulog"],
    "viewer": ["viser"],
    "cluster": ["dask", "distributed"],
}


class Trial(NamedTuple):
    """How one installation went."""

    python: str
    extras: str
    packages: int
    seconds: float  # [s] of processor time, compilation of kernels included
    failed: str  # the step and the end of what it printed; empty: all went well

    def __str__(self) -> str:
        name = f"freefloat[{self.extras}]" if self.extras else "freefloat"
        ended = f"FAILED: {self.failed}" if self.failed else "works"
        size = f"{self.packages:4d} packages {self.seconds:6.0f} s"
        return f"{self.python:12s} {name:16s} {size}  {ended}"


class StepError(Exception):
    """A step that did not end well."""


def main() -> int:
    """Build, try every interpreter with every set of extras, print a line each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs="+", help="interpreters, by name or path")
    parser.add_argument("--extras", nargs="*", default=["", "all"], help="sets of extras")
    parser.add_argument("--wheel", type=Path, help="try this wheel, instead of building one")
    parser.add_argument("--newest", action="store_true", help="without constraints.txt")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = given.wheel.resolve() if given.wheel else build(folder)
        limits = [] if given.newest else ["-c", str(ROOT / "constraints.txt")]
        trials = []
        for python in given.pythons:
            for extras in given.extras:
                trials.append(attempt(python, extras, wheel, limits, folder / "trial"))
                print(trials[-1], flush=True)
    return int(any(trial.failed for trial in trials))


def build(folder: Path) -> Path:
    """The wheel, built from the sdist as an index would have it, not from the checkout."""
    venv = folder / "build"
    run([sys.executable, "-m", "venv", str(venv)], folder)
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--quiet"]
    run([*pip, "install", "-c", str(ROOT / "constraints.txt"), "hatchling"], folder)
    code = "import sys; from hatchling import build as b; print(b.build_sdist(sys.argv[1]))"
    made = run([str(venv / "bin" / "python"), "-c", code, str(folder)], ROOT).split()[-1]
    sdist = folder / made
    run([*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(sdist)], folder)
    (wheel,) = folder.glob("*.whl")
    print(f"{made}: {sdist.stat().st_size / 1e6:.1f} MB, {wheel.name}: "
          f"{wheel.stat().st_size / 1e6:.1f} MB")  # fmt: skip
    return wheel


def attempt(python: str, extras: str, wheel: Path, limits: list[str], folder: Path) -> Trial:
    """Install into a new environment and use what is there."""
    packages, failed = 0, ""
    began = os.times()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    venv, step = folder / "venv", "venv"
    own = venv / "bin" / "python"
    try:
        run([python, "-m", "venv", str(venv)], folder)
        step = "pip install"
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        run([str(own), "-m", "pip", "install", "--quiet", *limits, wanted], folder)
        step = "pip check"
        run([str(own), "-m", "pip", "check"], folder)
        listed = run([str(own), "-m", "pip", "list", "--format", "json"], folder)
        packages = len(json.loads(listed.splitlines()[0]))
        step = "import"
        for module in modules_of(extras):
            run([str(own), "-c", f"import {module}"], folder)
        step = "command"
        for words in STEPS:
            run([str(venv / "bin" / "freefloat"), *words.split()], folder)
    except StepError as failure:
        failed = f"{step}: {failure}"
    ended = os.times()
    spent = ended.children_user + ended.children_system
    spent -= began.children_user + began.children_system
    return Trial(Path(python).name, extras, packages, spent, failed)


def modules_of(extras: str) -> list[str]:
    """What a set of extras must make importable."""
    names = list(MODULES) if extras == "all" else extras.split(",")
    return [module for name in names for module in MODULES.get(name, [])]


def run(command: list[str], folder: Path) -> str:
    """What a command prints; the end of what it said where it fails."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    ended = subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise StepError(" ".join((ended.stderr or ended.stdout).split())[-300:])
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
