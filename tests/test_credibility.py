"""CREDIBILITY.md claims what tests show, and nothing else."""

from __future__ import annotations

import re

import credibility
import pytest
import results_store as store
from documents import ROOT

PROMISES = credibility.load_promises(ROOT)
IDS = [promise["id"] for promise in PROMISES]


def record(outcome: str, *figures: str, is_full: bool = False) -> dict:
    return {"outcome": outcome, "figures": list(figures), "seconds": 1.0, "is_full": is_full}


def stored(content: dict, *, piece: str = "promises/x", made: str = "2026-01-01") -> store.Result:
    return store.Result(
        piece=piece, command="c", is_quick=False, made=made, seconds={"wall": 1.0}, versions={},
        fingerprint="f", content=content,
    )  # fmt: skip


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
        ([], False, "no result yet"),
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
    assert credibility.status({"id": "X", "long": is_long}, report if records else {}) == expected


def test_a_long_version_that_ran_keeps_the_whole_promise():
    report = {"X": {"short": record("passed"), "long": record("passed", is_full=True)}}
    assert credibility.status({"id": "X", "long": True}, report) == "kept"


def test_a_short_benchmark_keeps_a_promise_in_short():
    report = {"X": {"benchmark": record("passed") | {"is_short": True}}}
    assert credibility.status({"id": "X"}, report) == "kept, short version"


def test_the_file_names_tests_figures_and_when_they_were_made():
    nodes = {f"tests/test_a.py::test_b[{n}]": record("passed", f"error {n}") for n in range(12)}
    stock = {"promises/x": stored({"promises": {"P1": nodes}})}
    text = credibility.text(PROMISES, stock, {})
    assert "`tests/test_a.py::test_b`: 12 passed" in text
    assert "error 0" in text and "and 4 more" in text
    assert "Made 2026-01-01. Measured" in text
    assert text.count("No result yet.") == len(IDS) - 1


def test_results_add_up_and_say_which_are_older_than_the_code():
    stock = {
        f"promises/{name}": stored(
            {"promises": {"P1": {name: record("passed", f"figure {name}")}}}, made=f"2026-01-0{n}"
        )
        for n, name in enumerate(("a", "b"), start=1)
    }
    text = credibility.text(PROMISES, stock, {"promises/b": "older than the code"})
    assert "figure a" in text and "figure b" in text
    assert "Made 2026-01-01, older than the code. Measured" in text
    assert text.replace(credibility.OLDER, "") == credibility.text(PROMISES, stock, {})


def test_a_benchmark_that_misses_its_figure_says_so():
    table = {"id": "S1", "quick": False, "checks": [], "promises": [
        {"what": "ours / C++", "value": 1.7, "limit": "<= 1.5", "is_met": False}]}  # fmt: skip
    stock = {"benchmarks/S1": stored({"tables": [table]}, piece="benchmarks/S1")}
    text = credibility.text(PROMISES, stock, {})
    assert "ours / C++ 1.7 (<= 1.5)" in text and "| **missed** | 2026-01-01 |" in text


def test_an_unknown_promise_is_told(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "promises.toml").write_text('[[promise]]\nid = "P1"\ntext = "A."\n')
    stock = {"promises/x": stored({"promises": {"Z9": {"t": record("passed")}}})}
    credibility.write(tmp_path, stock, {})
    (told,) = credibility.differences(tmp_path, stock)
    assert "Z9" in told and "promises/x" in told
