"""Every reader is fuzzed for a few seconds; `fuzz.py` does it for as long as one likes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz.py")
_spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
assert _spec is not None and _spec.loader is not None
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)
SECONDS = 5


@pytest.mark.full
@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_whatever_the_bytes_they_are_read_or_refused(target, tmp_path):
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: pip install 'freefloat[fuzz]'")
    command = [sys.executable, str(SCRIPT), target, "--seconds", str(SECONDS)]
    done = subprocess.run(
        [*command, "--keep", str(tmp_path)], capture_output=True, text=True, timeout=300.0
    )
    assert done.returncode == 0, done.stderr[-3000:]
