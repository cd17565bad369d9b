"""S7: the first run after installation, compilation included, and every later start."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common


def timed(arguments: list[str], environment: dict[str, str]) -> float:
    """Wall-clock seconds of a command."""
    begin = time.perf_counter()
    subprocess.run(arguments, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    """Run the command with an empty cache, then with a full one."""
    options = common.arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FREEFLOAT_CACHE_DIR": str(Path(folder) / "cache")}
        command = [sys.executable, "-m", "freefloat"]
        fly = [*command, "simulate", "servicer", "--duration", "5", "--out"]
        first = timed([*fly, str(Path(folder) / "a.parquet")], environment)
        later = min(timed([*fly, str(Path(folder) / f"b{i}.parquet")], environment) for i in (1, 2))
        check = min(timed([*command, "check", "servicer"], environment) for _ in (1, 2))
        text = min(timed([*command, "--help"], environment) for _ in range(3))
        load = [sys.executable, "-c", "import freefloat"]
        imported = min(timed(load, environment) for _ in range(3))
        numpy = min(timed([sys.executable, "-c", "import numpy"], environment) for _ in range(3))
    rows: dict[str, float | str] = {
        "first simulate, compilation included [s] (promise <= 30)": first,
        "later simulate [s] (promise <= 1.5)": later,
        "later check [s]": check,
        "--help [s] (promise <= 1)": text,
        "import freefloat beyond NumPy [s] (promise <= 0.3)": max(0.0, imported - numpy),
    }
    common.report(options, "S7: first run", rows)


if __name__ == "__main__":
    main()
