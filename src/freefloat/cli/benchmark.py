"""`freefloat benchmark`: the public benchmark of a checkout, with its tasks and entrants."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

from freefloat.cli.options import FLAG, WHOLE, Shared, require
from freefloat.errors import Fault

BenchmarkVerb = Literal["list", "make", "run", "score", "table"]
SCRIPT = Path("benchmark") / "bench.py"


def benchmark(
    verb: BenchmarkVerb,
    /,
    *,
    tasks: str = "*",
    entrants: str = "*",
    seeds: Annotated[int, WHOLE] = 1,
    missing: Annotated[bool, FLAG] = False,
    checkout: Path = Path("."),
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Make, run and score the benchmark of free-floating identification (docs/benchmark.md).

    Recordings are simulated by MuJoCo or Basilisk on request; none are stored.
    The benchmark is part of the repository, not of the installed package: run
    it there, or name a checkout.

    For example:
      freefloat benchmark list
      freefloat benchmark make --tasks 'tug,capture*'
      freefloat benchmark run --entrants 'freefloat auto,textbook*'
      freefloat benchmark run --missing
      freefloat benchmark table

    Parameters
    ----------
    verb
        list tasks and entrants, make recordings, run entrants, score answers, or write the table.
    tasks
        Names or globs of tasks, separated by commas.
    entrants
        Names or globs of entrants, separated by commas.
    seeds
        Recordings of every task.
    missing
        Run only what has no answer yet: goes on after an interrupt.
    checkout
        The folder of a checkout of the repository.
    """
    script = checkout / SCRIPT
    if not script.is_file():
        expected, remedy = "a checkout with benchmark/bench.py", "clone the repository and name it"
        require([Fault("--checkout", str(checkout), expected, remedy, "file.unreadable")])
    command = [sys.executable, str(script), verb, "--tasks", tasks, "--entrants", entrants]
    command += ["--seeds", str(seeds), *(["--missing"] if missing else [])]
    return subprocess.run(command, check=False).returncode
