"""CREDIBILITY.md claims what tests show, and nothing else."""

from __future__ import annotations

import json
import re
import runpy
import tomllib

import pytest
from documents import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "credibility.py"))
PROMISES = tomllib.loads((ROOT / "docs" / "promises.toml").read_text(encoding="utf-8"))["promise"]
IDS = [promise["id"] for promise in PROMISES]


def record(outcome: str, *figures: str, is_full: bool = False) -> dict:
    return {"outcome": outcome, "figures": list(figures), "seconds": 1.0, "is_full": is_full}


def test_every_promise_a_test_backs_is_written_down():
    marks = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"promise\(\"([\w-]+)\"\)", path.read_text(encoding="utf-8"))
    }
    assert marks <= set(IDS) and len(IDS) == len(set(IDS))


@pytest.mark.parametrize(
    ("records", "is_long", "expected"),
    [
        ([], False, "no test yet"),
        (["passed"], False, "kept"),
        (["passed", "failed"], False, "**broken**"),
        (["passed", "error"], False, "**broken**"),
        (["passed", "xfailed"], False, "**broken**"),
        (["passed", "skipped"], False, "kept"),
        (["skipped"], False, "not run"),
        (["passed"], True, "kept, short version"),
        (["passed", "missed"], False, "**missed**"),
    ],
)
def test_the_status_says_what_the_tests_showed(records, is_long, expected):
    report = {"X": {f"t[{n}]": record(outcome) for n, outcome in enumerate(records)}}
    assert TOOL["status"]({"id": "X", "long": is_long}, report if records else {}) == expected


def test_a_long_version_that_ran_keeps_the_whole_promise():
    report = {"X": {"short": record("passed"), "long": record("passed", is_full=True)}}
    assert TOOL["status"]({"id": "X", "long": True}, report) == "kept"


def test_the_file_names_tests_and_figures(tmp_path, capsys):
    nodes = {f"tests/test_a.py::test_b[{n}]": record("passed", f"error {n}") for n in range(12)}
    (tmp_path / "r.json").write_text(json.dumps({"promises": {"P1": nodes}}))
    code = TOOL["main"](
        [str(tmp_path / "r.json"), "--benchmarks", str(tmp_path), "--out", str(tmp_path / "C.md")]
    )
    text = (tmp_path / "C.md").read_text()
    assert code == 0
    assert "`tests/test_a.py::test_b`: 12 passed" in text
    assert "error 0" in text and "and 4 more" in text
    assert text.count("No test yet.") == len(IDS) - 1


def test_reports_add_up(tmp_path):
    for n, name in enumerate(("P1", "P8")):
        content = {"promises": {name: {"t": record("passed", f"figure {n}")}}}
        (tmp_path / f"{n}.json").write_text(json.dumps(content))
    files = [str(tmp_path / f"{n}.json") for n in (0, 1)]
    assert (
        TOOL["main"]([*files, "--benchmarks", str(tmp_path), "--out", str(tmp_path / "C.md")]) == 0
    )
    text = (tmp_path / "C.md").read_text()
    assert "figure 0" in text and "figure 1" in text and "given 2 test runs" in text


def test_an_unknown_promise_is_an_error(tmp_path, capsys):
    (tmp_path / "r.json").write_text(json.dumps({"promises": {"Z9": {"t": record("passed")}}}))
    assert (
        TOOL["main"](
            [
                str(tmp_path / "r.json"),
                "--benchmarks",
                str(tmp_path),
                "--out",
                str(tmp_path / "C.md"),
            ]
        )
        == 1
    )
    assert "Z9" in capsys.readouterr().err
    assert not (tmp_path / "C.md").exists()
