"""The pieces that results are made in, the command that makes each, and the code it depends on.

This is the only place that knows where the entry points are: what they reach is read from imports.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import results_campaigns as campaigns
import results_store as store
from fingerprints import MODELS, PAGES, Tree

PAPERS = ("000", "001", "002", "003", "004")
PAPER_ENTRIES = ("freefloat.papers", "freefloat.papers.paper_{}")
BENCHMARKS = {
    "S1": "s1_simulation", "S2": "s2_whole_fit", "S3": "s3_minimal_sets", "S4": "s4_batch",
    "S5": "s5_design", "S6": "s6_identify", "S7": "s7_first_run", "O6": "o6_online",
}  # fmt: skip
CAMPAIGNS = "campaigns/"
FEW_RUNS = "3"  # in each cell of a campaign: its short version
MARK = re.compile(r"mark\.promise\(\"[\w-]+\"\)")
LONG = {"FREEFLOAT_MUTANTS": "10000"}  # what `make test-full` sets


@dataclass(frozen=True)
class Piece:
    """Something that is measured in one go.

    command: as anybody can type it, OUT standing for a folder that it writes to; quick: what to add
    for a short version; entries and data: the code it depends on; take: the result in that folder;
    paths: where Python looks for modules; begin: what is done first, with the fingerprint.
    """

    name: str
    command: tuple[str, ...]
    quick: tuple[str, ...]
    entries: tuple[str, ...]
    take: Callable[[Path], dict[str, Any]]
    data: tuple[str, ...] = MODELS
    environment: dict[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    begin: Callable[[str], None] = lambda _: None

    def words(self, *, is_quick: bool) -> list[str]:
        """The command with its arguments."""
        return [*self.command, *(self.quick if is_quick else ())]

    def line(self, *, is_quick: bool) -> str:
        """The command as it is typed, from the root of a checkout."""
        settings = [f"{k}={v}" for k, v in self.environment.items()] if not is_quick else []
        settings += [f"PYTHONPATH={os.pathsep.join(self.paths)}"] if self.paths else []
        words = [word.replace("OUT", "build") for word in self.words(is_quick=is_quick)]
        return " ".join([*settings, shlex.join(words)])


def find_pieces(root: Path) -> list[Piece]:
    """Every piece there is: papers, promises by file of tests, benchmarks, campaigns."""
    papers = [_paper(number) for number in PAPERS]
    texts = {path: path.read_text(encoding="utf-8") for path in (root / "tests").rglob("test_*.py")}
    promises = [
        _promises(path.relative_to(root / "tests"), {k: v for k, v in LONG.items() if k in text})
        for path, text in sorted(texts.items())
        if MARK.search(text)
    ]
    benchmarks = [_benchmark(*pair) for pair in BENCHMARKS.items()]
    long = [_campaign(file, root) for file in campaigns.find_campaigns(root)]
    return [*papers, *promises, *benchmarks, *long]


def find_states(root: Path, pieces: Iterable[Piece]) -> dict[str, str]:
    """Of each piece: missing, fresh, quick (a short version only) or older than the code."""
    tree = Tree(root, remembered=root / "build" / "sources.json")
    states = {}
    for piece in pieces:
        result = store.load(piece.name, root / "results")
        if result is None:
            states[piece.name] = "missing"
        elif result.fingerprint != tree.fingerprint(piece.entries, data=piece.data):
            states[piece.name] = "older than the code"
        else:
            states[piece.name] = "quick" if result.is_quick else "fresh"
    tree.remember()
    return states


def _paper(number: str) -> Piece:
    return Piece(
        name=f"papers/{number}",
        command=("freefloat", "reproduce", number, "--rows", "OUT/rows.json"),
        quick=("--quick",),
        entries=tuple(entry.format(number) for entry in PAPER_ENTRIES),
        take=lambda folder: _read(folder / "rows.json")["papers"][0],
    )


def _promises(test: Path, environment: dict[str, str]) -> Piece:
    group = test.with_name(test.stem.removeprefix("test_")).as_posix()
    return Piece(
        name=f"promises/{group}",
        command=(
            "python", "-m", "pytest", f"tests/{test.as_posix()}", "-m", "promise",
            "--promise-report=OUT/promises.json",
        ),
        quick=("-m", "promise and not full"),  # the last -m is the one that counts
        entries=(f"tests/{test.as_posix()}", "tests/conftest.py"),
        take=lambda folder: {"promises": _promises_in(folder / "promises.json")},
        data=(*MODELS, *PAGES),
        environment=environment,
    )  # fmt: skip


def _benchmark(table: str, script: str) -> Piece:
    return Piece(
        name=f"benchmarks/{table}",
        command=("python", f"benchmarks/{script}.py", "--record", "OUT"),
        quick=("--quick",),
        entries=(f"benchmarks/{script}.py",),
        take=lambda folder: {"tables": [_read(path) for path in sorted(folder.glob("*.json"))]},
    )


def _campaign(file: Path, root: Path) -> Piece:
    """A campaign: its store in build/campaigns stays, so that it goes on where it was."""
    place = campaigns.STORES / file.stem
    runs_code = "function" in tomllib.loads(file.read_text(encoding="utf-8"))
    return Piece(
        name=f"{CAMPAIGNS}{file.stem}",
        command=(
            "freefloat", "campaign", "run", f"campaigns/{file.name}", "--out", place.as_posix(),
            *(("--run-code",) if runs_code else ()),
        ),
        quick=("--runs", FEW_RUNS),
        entries=campaigns.code_of(file),
        take=lambda _: campaigns.take_summary(root / place, file),
        paths=("tests",) if runs_code else (),
        begin=lambda fingerprint: campaigns.begin_store(root / place, fingerprint),
    )  # fmt: skip


def _promises_in(path: Path) -> dict[str, Any]:
    report = _read(path)
    if report["exit_status"] > 1:  # 1: tests failed, which is a result; above: pytest did not run
        raise ValueError(f"pytest ended with {report['exit_status']}")
    return report["promises"]


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
