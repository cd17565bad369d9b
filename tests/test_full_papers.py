"""The papers in full, as continuous integration runs them: what is said, and when it fails."""

from __future__ import annotations

import runpy

import pytest
from documents import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "full_papers.py"))
NAMES = ["000", "003", "004"]


def run(*ends, seconds=1000.0):
    """The exit code of a run in which papers end with these codes."""
    codes = dict(zip(NAMES, ends, strict=True))
    return TOOL["main"](["--seconds", str(seconds), *NAMES], lambda paper, _: (codes[paper], "x"))


@pytest.mark.parametrize(
    ("ends", "code", "said"),
    [
        ((0, 0, 0), 0, "3 rebuilt; no row missed"),
        ((0, 1, 0), 1, "3 rebuilt; missed or failed: 003"),
        ((0, 0, None), 0, "2 rebuilt; not rebuilt for want of time: 004; no row missed"),
        ((1, None, None), 1, "not rebuilt for want of time: 003, 004; missed or failed: 000"),
    ],
)
def test_a_missed_row_fails_and_want_of_time_does_not(ends, code, said, capsys):
    assert run(*ends) == code
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and said in lines[-1]


def test_without_time_no_paper_is_begun(capsys):
    assert run(1, 1, 1, seconds=1.0) == 0
    out = capsys.readouterr().out
    assert "paper 000 in full: not begun, no time left" in out and "no row missed" not in out


def test_the_line_of_a_paper_names_what_is_missed():
    row = {"table": "Table 3", "quantity": "pi1", "ours": 0.1, "status": "missed"}
    paper = {"tally": {"missed": 1}, "rows": [row], "wall_seconds": 12.4, "cpu_seconds": 20.0}
    words = "1 missed; 12 s, 20 s of processor\n  missed: Table 3: pi1: 0.1"
    assert TOOL["told"](paper) == words


def test_a_paper_that_takes_too_long_is_stopped(tmp_path):
    code, words = TOOL["run"]("004", 0.5, tmp_path)
    assert code is None and words == "stopped after 0 s, no time left"
