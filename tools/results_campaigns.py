"""Campaigns as pieces: the store in build/campaigns that a result is read from.

A store goes on where it was, so it has to know what code its runs are of: a note beside it says
that, and a store of other code is put aside before a new one begins.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

STORES = Path("build", "campaigns")
ENTRIES = (
    "freefloat.campaign.perform", "freefloat.campaign.conduct",
    "freefloat.campaign.campaign_file", "freefloat.campaign.campaign_summary",
)  # fmt: skip
TRIALS = "tests/{}/**/*.py"  # folders of tests that a function of a campaign calls


def find_campaigns(root: Path) -> list[Path]:
    """The campaign files of the project; plans beside them are not written with a capital."""
    return sorted((root / "campaigns").glob("[A-Z]*.toml"))


def code_of(file: Path) -> tuple[str, ...]:
    """The entries that a campaign depends on: ours, its file, and the files it names."""
    given = tomllib.loads(file.read_text(encoding="utf-8"))
    function, plan = given.get("function"), given.get("plan", {}).get("file")
    entries = [*ENTRIES, f"campaigns/{file.name}"]
    entries += [f"campaigns/{name}" for name in (function, plan) if name]
    if function:
        text = (file.parent / function).read_text(encoding="utf-8")
        folders = sorted(path.name for path in (file.parents[1] / "tests").iterdir())
        entries += [TRIALS.format(name) for name in folders if f"from {name}." in text]
    return tuple(entries)


def begin_store(folder: Path, fingerprint: str) -> None:
    """Let runs of the same code go on in a folder; those of any other are put aside, not lost."""
    from freefloat.files import atomic_write

    if folder.exists():
        kept = code_of_store(folder)
        if kept != fingerprint:
            put_aside(folder, kept or "unknown")
    folder.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(_note(folder), fingerprint + "\n")


def put_aside(folder: Path, code: str) -> Path:
    """Rename a store after the code that it is of, to a name that is free."""
    n, place = 1, folder.with_name(f"{folder.name}.{code}")
    while place.exists():
        n, place = n + 1, folder.with_name(f"{folder.name}.{code}.{n + 1}")
    folder.rename(place)
    return place


def code_of_store(folder: Path) -> str:
    """The fingerprint of the code that a store was begun with; empty where nothing says it."""
    note = _note(folder)
    return note.read_text(encoding="utf-8").strip() if note.exists() else ""


def take_summary(folder: Path, file: Path) -> dict[str, Any]:
    """What `freefloat campaign summary --json` says of a store, and how many runs were asked."""
    from freefloat.campaign.campaign_file import load_campaign
    from freefloat.campaign.campaign_summary import summarise
    from freefloat.campaign.run_store import RunStore
    from freefloat.cli.screen import json_text
    from freefloat.errors import FreefloatError

    try:
        told = json.loads(json_text(summarise(RunStore(folder)).as_dict()))
        asked = load_campaign(file).n_runs
    except FreefloatError as error:
        raise ValueError(str(error)) from error
    if not told["done"]:
        raise ValueError(f"{folder} has no run yet")
    return {**told, "runs": asked}


def is_partial(content: dict[str, Any]) -> bool:
    """Whether a result is of a campaign that has fewer runs than its file asks for."""
    return "cells" in content and content["done"] < content["runs"]


def _note(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.code")
