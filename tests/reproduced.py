"""What the tests of rebuilt papers share."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from freefloat.papers import Row
from freefloat.papers.study_runner import carry_out, studies_of


def missed(rows: Iterable[Row]) -> list[str]:
    """The rows that fell short, in words."""
    return [f"{row.quantity}: {row.ours} ({row.note})" for row in rows if row.status == "missed"]


def names_of(paper: str) -> list[str]:
    """The names of a paper's studies, in their order."""
    return [study.__name__ for study in import_module(f"freefloat.papers.paper_{paper}").STUDIES]


class QuickRows:
    """Rows of quick studies, each carried out once in a test run, whichever process needs it.

    folder: one that all processes of the run share.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def __call__(self, paper: str, *names: str) -> tuple[Row, ...]:
        """The rows of some studies of a paper; of all unless named."""
        wanted = names or names_of(paper)
        return tuple(row for name in wanted for row in self._study(paper, name))

    def _study(self, paper: str, name: str) -> tuple[Row, ...]:
        kept, lock = self.folder / f"{paper}_{name}.json", self.folder / f"{paper}_{name}.lock"
        while not kept.exists():
            try:
                lock.mkdir()
            except FileExistsError:  # another process is at it
                time.sleep(0.05)
                continue
            try:
                (study,) = [s for s in studies_of([paper]) if s.name == name]
                rows = carry_out(study, quick=True).rows
                fresh = kept.with_suffix(".new")
                fresh.write_text(json.dumps([asdict(row) for row in rows]), encoding="utf-8")
                os.replace(fresh, kept)
            finally:
                lock.rmdir()
        return tuple(Row(**row) for row in json.loads(kept.read_text(encoding="utf-8")))
