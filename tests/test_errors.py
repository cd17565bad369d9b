"""Errors tell all their faults, shortly and safely; every fault of the source has a code."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest

import freefloat
from freefloat import errors
from freefloat.errors import SHOWN_FAULTS, Fault, FreefloatError, ModelError, shorten

SOURCES = sorted(Path(freefloat.__file__).parent.rglob("*.py"))
# What is made with a code, and which argument that is; an error has faults in its place.
FAULTS = {"Fault": 4, "PathFault": 4}
ERRORS = {
    name: 1
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, FreefloatError)
}
CODE = re.compile(r"[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)+")


def codes_in_source(made: dict[str, int]):
    """Every Fault(...) or ...Error(...) of the source: where it is, and its code if it has one."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name in made:
                named = [word.value for word in node.keywords if word.arg in ("code", "faults")]
                place = f"{path.parent.name}/{path.name}:{node.lineno}"
                yield place, [*node.args[made[name] :], *named]


@pytest.mark.parametrize(("made", "least"), [(FAULTS, 150), (ERRORS, 150)])
def test_every_fault_and_every_error_has_a_code(made, least):
    found = dict(codes_in_source(made))
    assert len(found) > least
    assert not [place for place, code in found.items() if not code]


def test_codes_are_words_with_dots():
    found = [*codes_in_source(FAULTS), *codes_in_source(ERRORS)]
    written = [c.value for _, code in found for c in code if isinstance(c, ast.Constant)]
    assert not [code for code in written if code is not None and not CODE.fullmatch(code)]


def test_an_error_shows_its_faults_and_counts_the_rest():
    fault = Fault("a.toml: mass", "-1", ">= 0", "drop the sign", "value.range", 3)
    error = ModelError("no", [fault] * (SHOWN_FAULTS + 5))
    lines = str(error).splitlines()
    assert len(lines) == SHOWN_FAULTS + 2 and "5" in lines[-1]
    assert all(part in lines[1] for part in ("a.toml: mass", "-1", ">= 0", "drop the sign"))
    assert set(error.codes) == {"value.range"} and len(error.codes) == SHOWN_FAULTS + 5


def test_errors_travel_between_processes():
    error = ModelError("no", [Fault("a", "b", "c", "d", "value.type")], "file.syntax")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ModelError) and again.faults == error.faults
    assert str(again) == str(error) and again.codes == ("file.syntax", "value.type")


def test_hostile_values_stay_on_one_line():
    assert shorten("a\nb\x1b[0m\u202e") == "a\\nb\\x1b[0m\\u202e"
    assert len(shorten("x" * 10**7)) == 100
