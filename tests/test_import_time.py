"""Starting is quick: `import freefloat` and `freefloat --help` load nothing they do not need."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time

import pytest

IMPORT_LIMIT = 0.3  # [s] beyond NumPy
HELP_LIMIT = 1.0  # [s] of wall clock, interpreter included
ATTEMPTS = 3  # the best counts: a busy machine only ever adds time
HEAVY = {"numpy", "numba", "scipy", "pyarrow", "pydantic", "matplotlib"}

TIMED_IMPORT = """
import time
import numpy
start = time.perf_counter()
import freefloat
print(time.perf_counter() - start)
"""
HELP = """
import sys
from freefloat.cli import main
sys.argv = ["freefloat", "--help"]
main()
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, timeout=60
    )


@pytest.mark.promise("import-time")
def test_import_is_quick(figure):
    seconds = min(float(run("-c", TIMED_IMPORT).stdout) for _ in range(ATTEMPTS))
    figure("import-time", f"{seconds:.3f} s beyond NumPy")
    assert seconds <= IMPORT_LIMIT


def test_import_loads_nothing_heavy():
    lines = run("-X", "importtime", "-c", "import freefloat").stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
    assert "freefloat" in loaded
    assert not loaded & HEAVY


@pytest.mark.promise("help-time")
@pytest.mark.skipif(importlib.util.find_spec("freefloat.cli") is None, reason="no command yet")
def test_help_is_quick(figure):
    best = float("inf")
    for _ in range(ATTEMPTS):
        start = time.perf_counter()
        shown = run("-c", HELP).stdout
        best = min(best, time.perf_counter() - start)
        assert "freefloat" in shown
    figure("help-time", f"{best:.2f} s")
    assert best <= HELP_LIMIT
