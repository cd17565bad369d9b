"""Starting is quick: `import freefloat` and `freefloat --help` load nothing they do not need."""

from __future__ import annotations

import importlib.util
import resource
import subprocess
import sys

import pytest

IMPORT_LIMIT = 0.3  # [s] beyond NumPy
HELP_LIMIT = 1.0  # [s] of the processor, interpreter included; waiting for a core does not count
ATTEMPTS = 3  # the best counts: a busy machine only ever adds time
HEAVY = {"numpy", "numba", "scipy", "pyarrow", "pydantic", "matplotlib"}

TIMED_IMPORT = """
import time
import numpy
start = time.process_time()
import freefloat
print(time.process_time() - start)
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


def spent() -> float:
    """Processor time of all processes that this one has started [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        start = spent()
        shown = run("-c", HELP).stdout
        best = min(best, spent() - start)
        assert "freefloat" in shown
    figure("help-time", f"{best:.2f} s of the processor")
    assert best <= HELP_LIMIT
