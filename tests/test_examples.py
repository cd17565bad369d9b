"""Every example is short and runs, in a folder of its own, without a warning."""

from __future__ import annotations

import runpy
import warnings

import pytest
from documents import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONGEST = 80


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys):
    assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
