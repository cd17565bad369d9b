"""Every example is short and runs, in a folder of its own, without a warning."""

from __future__ import annotations

import ast
import runpy
import warnings
from pkgutil import resolve_name

import pytest
from documents import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# The benchmarks are not run by the tests: at least what they import must be there.
SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "tools").glob("*.py")])
LONGEST = 80
ENGINES = ("mujoco", "Basilisk")  # of others: who has them sees their examples run


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys):
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    for engine in ENGINES:
        if f"import {engine}" in text or f"from {engine}" in text:
            pytest.importorskip(engine)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_import_what_there_is(script):
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "freefloat":
            for alias in node.names:
                resolve_name(f"{node.module}.{alias.name}")


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
