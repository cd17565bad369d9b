"""Campaigns are results like any other: of known code, whole or marked as short, and judged."""

from __future__ import annotations

import re
from pathlib import Path

import credibility
import pytest
import results
import results_campaigns as campaigns
import results_store as store
from credibility_campaigns import find_missed as missed
from documents import ROOT

from freefloat.campaign.campaign_file import load_campaign
from freefloat.campaign.run_row import RunCost, RunResult, RunRow
from freefloat.campaign.run_setup import request_of
from freefloat.campaign.run_store import RunStore

PROMISES = credibility.load_promises(ROOT)
FUNCTION = """
def run(inputs, seed):
    one = {"name": "m", "unit": "kg", "true": 1.0, "prior": 1.0, "value": 1.1, "std": 0.1,
           "lower": 0.9, "upper": 1.3, "bound": 0.1}
    return {"is_right": 1.0, "estimates": [one]}
"""
FILE = """
# Promise X1: nothing.
format = 1
name = "X1"
function = "x1.py"
runs = 4
"""
LIMITS = {"over_bound": [0.0, 1.1], "is_right": [1.0, 1.0]}
PROMISE = {"id": "X1", "text": "A.", "long": True, "campaigns": {"X1": LIMITS}}


def content(*, done: int = 4, over_bound: float | None = 1.0) -> dict:
    cell = {"cell": 0, "inputs": {"size": 2}, "counts": {"done": done}, "nees": 1.0,
            "nees_band": [0.8, 1.2], "grades": {"trusted": [3, 1]},
            "measures": {"is_right": 1.0}}  # fmt: skip
    one = {"cell": 0, "name": "m", "coverage": 0.75, "coverage_band": [0.2, 0.99],
           "over_bound": over_bound}  # fmt: skip
    return {"campaign": "X1", "runs": 4, "done": done, "cells": [cell], "parameters": [one]}


def stored(told: dict, *, is_quick: bool = False) -> dict[str, store.Result]:
    result = store.Result(
        piece="campaigns/X1", command="c", is_quick=is_quick, made="2026-01-01",
        seconds={"wall": 1.0}, versions={}, fingerprint="f", content=told,
    )  # fmt: skip
    return {result.piece: result}


def test_every_campaign_backs_the_promises_that_its_file_names():
    named = {
        file.stem: set(re.findall(r"\b[A-Z]\d\b", file.read_text().partition(":")[0]))
        for file in campaigns.find_campaigns(ROOT)
    }
    backed: dict[str, set[str]] = {}
    for promise in PROMISES:
        for name in promise.get("campaigns", {}):
            backed.setdefault(name, set()).add(promise["id"])
    assert named == backed and len(named) > 10


@pytest.mark.parametrize(
    ("told", "status", "words"),
    [
        (content(), "kept", "campaign `X1`: passed, 4 of 4 runs\n"),
        (content(over_bound=1.2), "**missed**", "limit: rms over bound of m 1.2 (0 to 1.1)"),
        (content(over_bound=None), "**missed**", "limit: rms over bound of m none"),
        (content(done=3), "not judged", "`X1`: not judged, 3 of 4 runs, short version\n"),
        (content(done=3, over_bound=9.0), "not judged", "version\n  - size = 2: 3 done; coverage"),
        (content(over_bound=1.05), "kept", "rms over bound at most 1.05 (m)"),
        (None, "no result yet", "- campaign `X1`: no result yet\n"),
    ],
)
def test_a_promise_says_what_its_campaign_showed(told, status, words):
    text = credibility.text([PROMISE], stored(told) if told else {}, {})
    assert f"| A. | {status} |" in text and words in text
    if told:
        assert "size = 2: " in text and "coverage 0.75 to 0.75 (farthest off: m 0.75, band" in text
        assert "NEES 1 (band 0.8 to 1.2); trusted 3, of these wrong 1; is_right 1" in text


def test_a_campaign_without_limits_or_among_missing_ones_keeps_no_long_promise():
    bare = {**PROMISE, "campaigns": {"X1": {}}}
    assert "| A. | not judged |" in credibility.text([bare], stored(content()), {})
    two = {**PROMISE, "campaigns": {"X1": LIMITS, "X2": LIMITS}}
    text = credibility.text([two], stored(content()), {})
    assert "| A. | kept, short version |" in text and "- campaign `X2`: no result yet" in text


def test_runs_of_other_code_are_put_aside_and_never_continued(tmp_path):
    folder = tmp_path / "X1"
    campaigns.begin_store(folder, "new")
    folder.mkdir()
    (folder / "row").write_text("1")
    campaigns.begin_store(folder, "new")
    assert (folder / "row").exists()
    for n, place in enumerate(("X1.new", "X1.new.2")):
        campaigns.begin_store(folder, f"newer {n}")
        assert not folder.exists()
        assert (tmp_path / place).is_dir()
        folder.mkdir()
        (tmp_path / "X1.code").write_text("new\n")
    (tmp_path / "X1.code").unlink()  # whoever made these runs did not say with what
    campaigns.begin_store(folder, "new")
    assert (tmp_path / "X1.unknown").is_dir()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one campaign, of four runs of a function."""
    (tmp_path / "src").symlink_to(ROOT / "src")
    for name in ("tests", "campaigns", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "campaigns" / "X1.toml").write_text(FILE)
    (tmp_path / "campaigns" / "x1.py").write_text(FUNCTION)
    return tmp_path


def test_a_summary_says_how_many_of_the_runs_that_were_asked_for(project):
    file, folder = project / "campaigns" / "X1.toml", project / "build"
    with pytest.raises(ValueError, match="no campaign here"):
        campaigns.take_summary(folder, file)
    asked = load_campaign(file)
    with RunStore.open_to_write(folder, asked) as kept:
        with pytest.raises(ValueError, match="no run yet"):
            campaigns.take_summary(folder, file)
        for run in range(4):
            row = RunRow(**vars(request_of(asked, run)), measures={"is_right": float(run % 2)})
            kept.add(RunResult(row, RunCost(cpu=1.0)))
            told = campaigns.take_summary(folder, file)
            assert (told["done"], told["runs"]) == (run + 1, 4)
            assert campaigns.is_partial(told) == (run < 3)
    assert list(missed(told, {"is_right": [0.9, 1.0]})) == ["is_right of all runs 0.5 (0.9 to 1)"]
    assert list(missed(told, {"over_bound": [0.0, 1.0]})) == ["no rms over bound in any run"]


@pytest.mark.full
def test_a_short_campaign_goes_on_to_the_whole_one(project, monkeypatch, capsys):
    monkeypatch.setattr(campaigns, "ENTRIES", ("freefloat.errors",))  # the rest takes seconds
    (piece,) = (p for p in results.find_pieces(project) if p.name == "campaigns/X1")
    monkeypatch.setattr(results, "find_pieces", lambda root: [piece])
    assert piece.line(is_quick=False).startswith("PYTHONPATH=tests freefloat campaign run ")
    chosen = ["run", "--only", "campaigns/*"]
    assert results.main(["run"], root=project) == 2  # days are not meant by a mere *
    assert results.main([*chosen, "--runs", "1"], root=project) == 0
    assert results.main([*chosen, "--runs", "1"], root=project) == 0
    short = store.load("campaigns/X1", project / "results")
    assert short.is_quick and (short.content["done"], short.content["runs"]) == (1, 4)
    assert capsys.readouterr().out.count("made in") == 1
    assert results.main(chosen, root=project) == 0
    whole = store.load("campaigns/X1", project / "results")
    assert not whole.is_quick and whole.content["done"] == 4
    assert whole.fingerprint == short.fingerprint
    assert campaigns.code_of_store(project / campaigns.STORES / "X1") == whole.fingerprint
    text = credibility.text([PROMISE], {"campaigns/X1": whole}, {})
    assert "| A. | kept |" in text and "all runs: 4 done; coverage 1 to 1" in text
    assert results.main([*chosen, "--runs", "2"], root=project) == 0  # the whole one stays
    assert store.load("campaigns/X1", project / "results") == whole
