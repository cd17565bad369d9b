"""Every refusal and every reservation says what to do next."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from fit_samples import sample_fit

import freefloat
from freefloat import errors
from freefloat.errors import FreefloatError
from freefloat.identification.trust.evidence import status_evidence
from freefloat.notes import Note

SOURCE = Path(freefloat.__file__).parent
# the work of identify, validate, track, structure and spectrum
WORKING = ("identification", "validation", "online")
ERRORS = [
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, FreefloatError)
]
# codes of notes that make a fit not trusted: the status of a method, and what is wrong live
REFUSING = ("not_trusted.", "seen.none", "seen.weak", "scale.not_fixed", "start_only")
LIVE = ("samples.", "channel.misspelt", "channel.on_time", "channel.unknown_force", "rate.")


def calls(*names: str, under: tuple[str, ...] = WORKING) -> Iterator[tuple[str, ast.Call]]:
    """Every call of these names in the source, and where it is."""
    for folder in under:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def argument(node: ast.Call, place: int, name: str) -> ast.expr | None:
    named = [word.value for word in node.keywords if word.arg == name]
    return node.args[place] if len(node.args) > place else named[0] if named else None


def words(node: ast.expr | None) -> str:
    """The text that an expression writes down, as far as it stands there."""
    parts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)] if node else []
    return " ".join(part for part in parts if isinstance(part, str))


def is_named(node: ast.expr | None) -> bool:
    """Whether an expression, or a part of a sum, is a name: its text stands elsewhere."""
    if isinstance(node, ast.BinOp):
        return is_named(node.left) or is_named(node.right)
    return node is not None and not isinstance(node, ast.Constant | ast.JoinedStr)


def test_all_evidence_has_a_remedy():
    found = dict(calls("Evidence"))
    assert len(found) > 15
    without = [
        place
        for place, node in found.items()
        if argument(node, 6, "remedy") is None
        or not (words(argument(node, 6, "remedy")) or is_named(argument(node, 6, "remedy")))
    ]
    assert not without


def test_every_fault_has_a_remedy():
    found = dict(calls("Fault", "PathFault", under=(*WORKING, "model", "telemetry", "excitation")))
    assert len(found) > 100
    given = {place: argument(node, 3, "remedy") for place, node in found.items()}
    assert not [place for place, one in given.items() if one is None]
    assert not [p for p, one in given.items() if isinstance(one, ast.Constant) and not one.value]


def test_every_error_without_faults_says_what_to_do():
    # house form: what is wrong, a semicolon, what to do
    found = {
        place: node
        for place, node in calls(*ERRORS)
        if argument(node, 1, "faults") is None and not is_named(node.args[0])
    }
    assert len(found) > 50
    assert not [place for place, node in found.items() if ";" not in words(node.args[0])]


def test_every_refusing_status_says_what_to_do():
    refusing = [
        (place, node.args[1])
        for place, node in calls("Note")
        if (isinstance(node.args[0], ast.Constant) and words(node.args[0]).startswith(REFUSING))
        or (place.startswith("online") and words(node.args[0]).startswith(LIVE))
    ]
    refusing += [(place, node.args[1]) for place, node in calls("_refuse")]
    texts = {place: words(text) for place, text in refusing if not is_named(text)}
    assert len(texts) > 7
    assert not [place for place, text in texts.items() if ";" not in text]


@pytest.mark.parametrize("status", ["Only ratios are known; record the thrust.", "No good."])
def test_what_the_method_objects_to_comes_with_a_remedy(status):
    fit = sample_fit(
        is_trustworthy=False, status=Note("not_trusted.x", status), status_code="not_trusted.x"
    )
    (found,) = status_evidence(fit)
    assert found.remedy and found.text and found.remedy not in found.text
