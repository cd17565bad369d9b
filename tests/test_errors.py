"""Errors tell all their faults, shortly and safely; every fault of the source has a code."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import freefloat
from freefloat.errors import SHOWN_FAULTS, Fault, FreefloatError, ModelError, shorten

SOURCES = sorted(Path(freefloat.__file__).parent.rglob("*.py"))
MADE_BY = ("Fault", "PathFault")
CODE = re.compile(r"[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)+")


def made_faults():
    """Every Fault(...) of the source: where it is, and its code if it has one."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "Fault",
                "PathFault",
            ):
                named = [word.value for word in node.keywords if word.arg == "code"]
                yield f"{path.parent.name}/{path.name}:{node.lineno}", [*node.args[4:5], *named]


def test_every_fault_has_a_code():
    found = dict(made_faults())
    assert len(found) > 150
    assert not [place for place, code in found.items() if not code]


def test_codes_are_words_with_dots():
    written = [c.value for _, code in made_faults() for c in code if isinstance(c, ast.Constant)]
    assert not [code for code in written if not CODE.fullmatch(code)]


def test_an_error_shows_its_faults_and_counts_the_rest():
    fault = Fault("a.toml: mass", "-1", ">= 0", "drop the sign", "value.range", 3)
    error = ModelError("no", [fault] * (SHOWN_FAULTS + 5))
    lines = str(error).splitlines()
    assert len(lines) == SHOWN_FAULTS + 2 and "5" in lines[-1]
    assert all(part in lines[1] for part in ("a.toml: mass", "-1", ">= 0", "drop the sign"))
    assert set(error.codes) == {"value.range"} and len(error.codes) == SHOWN_FAULTS + 5


def test_errors_travel_between_processes():
    error = ModelError("no", [Fault("a", "b", "c", "d", "value.type")])
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ModelError) and again.faults == error.faults
    assert isinstance(again, FreefloatError) and str(again) == str(error)


def test_hostile_values_stay_on_one_line():
    assert shorten("a\nb\x1b[0m\u202e") == "a\\nb\\x1b[0m\\u202e"
    assert len(shorten("x" * 10**7)) == 100
