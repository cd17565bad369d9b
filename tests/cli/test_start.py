"""Starting is quick: the first output of every verb, once kernels are compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import freefloat
from freefloat.numba_.compilation import is_compiled

LIMIT = 1.5  # [s] to the first output
COMPILE_LIMIT = 30.0  # [s] for the first run after installation
ATTEMPTS = 3  # the best counts: a busy machine only ever adds time

# Runs the command, and notes on standard error when it first writes to standard output. Processor
# time counts, and not the clock on the wall, so that what else the machine does is left out.
TIMED = """
import sys, time
write = sys.stdout.write
def first(text):
    sys.stdout.write = write
    print("first output after", time.process_time(), file=sys.stderr)
    return write(text)
sys.stdout.write = first
from freefloat.cli import main
main()
"""


def seconds_to_first_output(arguments: list[str], folder) -> float:
    command = [sys.executable, "-c", TIMED, *arguments]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=True
    )
    return float(re.findall(r"first output after (\S+)", ended.stderr)[0])


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    "arguments",
    [
        ["models"],
        ["check", "servicer"],
        ["simulate", "servicer", "--duration", "1", "--out", "f.csv"],
    ],
)
def test_the_first_output_comes_soon(arguments, tmp_path, figure):
    best = min(seconds_to_first_output(arguments, tmp_path) for _ in range(ATTEMPTS))
    figure("S7", f"{arguments[0]}: first output after {best:.2f} s of processor time")
    assert best <= LIMIT


@pytest.mark.full
@pytest.mark.promise("S7")
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no account of processor time")
def test_the_first_run_compiles_and_says_so(tmp_path, figure):
    arguments = ["simulate", "servicer", "--duration", "1", "--out", "f.csv"]
    environment = os.environ | {"FREEFLOAT_CACHE_DIR": str(tmp_path / "cache")}
    with (tmp_path / "notes").open("wb") as notes:
        running = subprocess.Popen(
            [sys.executable, "-m", "freefloat", *arguments],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=notes,
        )
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    assert "compiling" in (tmp_path / "notes").read_text()
    taken = usage.ru_utime + usage.ru_stime
    figure("S7", f"first run: {taken:.1f} s of processor time, compilation included")
    assert taken <= COMPILE_LIMIT


def test_the_cache_is_another_one_when_a_kernel_changes(tmp_path, monkeypatch):
    from freefloat.numba_ import compilation

    kernels = tmp_path / "dynamics" / "kernels"
    kernels.mkdir(parents=True)
    monkeypatch.setattr(compilation, "PACKAGE", tmp_path)
    fingerprints = set()
    for text in ("x = 1", "x = 2"):
        (kernels / "spatial.py").write_text(text)
        fingerprints.add(compilation._fingerprint.__wrapped__())
    assert len(fingerprints) == 2
    assert list(Path(freefloat.__file__).parent.glob("*/kernels/integrate.py"))


def test_the_cache_knows_what_it_holds(tmp_path, monkeypatch):
    from freefloat.numba_ import compilation

    compilation.cache_folder.cache_clear()
    monkeypatch.setenv("FREEFLOAT_CACHE_DIR", str(tmp_path))
    try:
        assert not is_compiled("integrate.rk4")
        folder = tmp_path / compilation._fingerprint() / "kernels_0"
        folder.mkdir(parents=True)
        version = f"{sys.version_info.major}{sys.version_info.minor}"
        (folder / f"integrate.rk4-1.py{version}.nbi").touch()
        assert is_compiled("integrate.rk4") and not is_compiled("integrate.rk4", "observe.balance")
        os.utime(folder / f"integrate.rk4-1.py{version}.nbi", (0, 0))
        assert not is_compiled("integrate.rk4")  # older than the source: not used
    finally:
        compilation.cache_folder.cache_clear()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="caches live elsewhere there")
def test_an_empty_variable_is_no_folder(monkeypatch, tmp_path):
    from freefloat.numba_.compilation import cache_folder

    monkeypatch.delenv("FREEFLOAT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    cache_folder.cache_clear()
    try:
        assert cache_folder() == tmp_path / ".cache" / "freefloat"
    finally:
        cache_folder.cache_clear()
