"""Signals over every verb that writes, mutants of every format, and the pace of a live run.

Short versions run always; the long ones are behind the marker `full`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import freefloat as ff

HERE = Path(__file__).parent
LONG = int(os.environ.get("FREEFLOAT_MUTANTS", "20000"))
MOST_SECONDS = 5.0  # of processor time for one file
MOST_GROWTH = 300 * 2**20  # [B], and twice what the file declares, which is its size at least
PACE = 21_000  # samples a second, start not counted; three times what the first version took


def script(name: str) -> ModuleType:
    """A script of this folder, loaded for what it lists."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def carry_out(path: Path, *arguments: str) -> str:
    """What a script prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path(ff.__file__).parents[1])}
    command = [sys.executable, str(path), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


# -- signals ---------------------------------------------------------------------------------------

needs_signals = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals")


def strike(signals: int, *verbs: str) -> str:
    """Strike verbs at random moments: files are whole, of one run, and nothing else is left."""
    found = json.loads(
        carry_out(HERE / "signal_runs.py", "--signals", str(signals), "--verbs", *verbs)
    )
    total: dict[str, float] = {}
    for counts in found.values():
        for name, n in counts.items():
            total[name] = total.get(name, 0) + n
    assert total["signals"] >= signals and total["struck"] > 0.3 * signals  # others came late
    for name in ("mixed", "torn", "litter", "bugs", "lost", "other_end"):
        assert total.get(name, 0) == 0, (name, found)
    said = f"{total['signals']:.0f} signals over {len(found)} verbs, {total['struck']:.0f} in time:"
    return f"{said} 0 mixed or torn sets, 0 left over, 0 bugs, 0 states lost beyond a checkpoint"


@needs_signals
@pytest.mark.promise("F8")
@pytest.mark.parametrize(("verb", "signals"), [("simulate", 8), ("track", 4)])
def test_signals_leave_sets_that_are_whole(verb, signals, figure):
    figure("F8", strike(signals, verb))


@needs_signals
@pytest.mark.full
@pytest.mark.promise("F8")
def test_a_thousand_signals_over_all_verbs(figure):
    figure("F8", strike(1000, *script("signal_runs").VERBS, "track"))


# diagnose writes nothing; the workers of campaigns are killed in tests of their own.
NOT_STRUCK = {"diagnose", "campaign", "output-files"}


def test_every_verb_that_writes_is_struck():
    struck = {*script("signal_runs").VERBS, "track"}
    folder = Path(ff.__file__).parent / "cli"
    modules = [p.stem for p in folder.glob("*.py") if "= OutputFiles(" in p.read_text()]
    verbs = {re.sub("_(request|recording)$", "", name).replace("_", "-") for name in modules}
    assert len(verbs) > 10 and verbs - NOT_STRUCK <= struck


# -- mutants ---------------------------------------------------------------------------------------


def mutate(n: int, *arguments: str) -> str:
    """Give every verb that reads damaged files of every kind: read or refused, in time."""
    lines = carry_out(HERE / "mutant_runs.py", "--mutants", str(n), *arguments).splitlines()
    found = {kind: one for line in lines for kind, one in json.loads(line).items()}
    for kind, one in found.items():
        assert not one["bugs"] and not one["hangs"], (kind, one)
        assert one["slowest"] < MOST_SECONDS, (kind, one)
        assert one["grown"] < MOST_GROWTH + 2 * one["size"], (kind, one)
    n_all = sum(one["mutants"] for one in found.values())
    refused = sum(one["refused"] for one in found.values())
    assert 0.1 * n_all < refused < n_all  # else the mutants are too tame or too wild
    slowest, grown = (max(one[name] for one in found.values()) for name in ("slowest", "grown"))
    said = f"{n_all} mutants of {len(found)} kinds of file: {refused} refused, 0 bugs, 0 hangs,"
    return f"{said} slowest {slowest:.2g} s, {grown / 2**20:.0f} MB more memory at most"


@needs_signals
@pytest.mark.promise("F9")
def test_mutants_of_every_format_are_read_or_refused(figure):
    figure("F9", mutate(120))


@needs_signals
@pytest.mark.full
@pytest.mark.promise("F9")
def test_many_mutants_of_every_format_are_read_or_refused(figure):
    figure("F9", mutate(LONG, "--first", "1000"))


# -- pace ------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.promise("O7")
def test_lines_are_taken_as_fast_as_promised(figure):
    told = carry_out(HERE.parents[1] / "benchmarks" / "live_lines.py", "--passes", "1")
    found = dict(re.findall(r"(stdin|tcp): (\d+) samples/s", told))
    assert all(int(rate) >= PACE for rate in found.values()) and len(found) == 2, told
    figure("O7", ", ".join(f"{rate} samples/s by {scheme}" for scheme, rate in found.items()))
