"""The README's code runs as it stands, and what it says of the command is so."""

from __future__ import annotations

import re
from typing import Any

import pytest
import readme_results
from documents import ROOT, blocks

import freefloat as ff
from freefloat.cli.app import app

README = ROOT / "README.md"
LONGEST_EXAMPLE = 15


def test_the_example_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(README, "python")
    lines = [line for line in example.text.splitlines() if line.strip()]
    assert len(lines) <= LONGEST_EXAMPLE
    scope: dict[str, Any] = {}
    exec(compile(example.text, str(README), "exec"), scope)
    assert scope["fit"].is_trustworthy and scope["verdict"].is_positive
    shown = capsys.readouterr().out
    assert scope["fit"].status in shown and scope["verdict"].status in shown
    assert ff.load_model("identified.toml").mass > 700.0
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_every_verb_is_in_the_table():
    text = README.read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `freefloat ([\w-]+)", text, re.MULTILINE))
    assert told == {name for name in app if not name.startswith("-")}


def test_the_results_are_those_of_the_benchmark():
    pytest.importorskip("mujoco", reason="extra `engines` is not installed: no tasks")
    text = README.read_text(encoding="utf-8")
    assert readme_results.rendered(text, readme_results.made_now()) == text, (
        "run python tools/readme_results.py"
    )


def test_a_line_of_results_names_the_best_answer_of_others():
    rows = [
        {"task": "tug", "entrant": name, "error/bound": "–", "known": known, "covers": "95 %",
         "CPU [s]": "1.4", "says": says}
        for name, known, says in [
            ("freefloat auto", "1.05", "trusted"),
            ("freefloat force", "1.01", "not assessed"),
            ("textbook", "8.20", ""),
            ("other", "3.10", ""),
            ("absent", "–", "declines: no wrench"),
        ]
    ]  # fmt: skip
    head, _, line = readme_results.table(rows, {"tug": "one body"}).splitlines()
    assert head.count("|") == line.count("|")
    assert line == "| one body | 1.05 | 95 % | trusted | 1 s | 3.10 (other) |"
    assert "none takes part" in readme_results.table([rows[0], rows[-1]], {})
    assert "not trusted" in readme_results.table([{**rows[0], "says": "refuses: drag"}], {})


def test_the_figures_are_the_models():
    text = README.read_text(encoding="utf-8")
    assert len(ff.builtin_models()) == 13 and "Thirteen models" in text


def test_the_picture_is_there_and_small():
    (picture,) = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert 0 < (ROOT / picture).stat().st_size < 150_000
