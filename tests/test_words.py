"""Messages, docstrings and documents use the words of the field, not riddles of our own.

`docs/glossary.md` explains the words to use. KNOWN, what is still open, may only shrink.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from house_tree import Module, tree_of

from freefloat.observability.visibility import Status

ROOT = Path(__file__).parents[1]
TREE = tree_of(ROOT)
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
)

# What not to say, and what to say instead.
RIDDLES = {
    r"\bas (they|it) begins?\b": "residuals are autocorrelated",
    r"\b(ha(s|ve|d)|with) a memory\b|\bmemory of what\b": "autocorrelated",
    r"\bpush(es|ed|ing)? unseen\b": "an unmodelled force",
    r"\bflights? of the model\b": "simulations",
    r"\bmodel (flies|flown) again\b|\bflies the model\b": "the model is simulated",
    r"\b(un)?hear(d|s|ing)?\b": "received, used",
    r"\bsilence\b": "a gap, no samples",
    r"\bstrangers?\b": "unknown channels",
    r"\bslips? of the pen\b": "a misspelt name",
    r"\bseen on (its|their) own\b": "observable, determined",
    r"\bsecond helping\b": "a second draw",
    r"(?<!upper )(?<!lower )\btriangles?\b(?! inequal)": "triangular factor",
    r"\bway of the (root|base|sensor)\b": "displacement",
    r"\bthe books\b": "the intake, the counts",
    r"\bechoe?s?\b": "what a random walk leaves in whitened rows",
    r"\brivals?\b": "alternative minima",
    r"\bbumps?\b": "test functions",
    r"\btruths\b": "true values",
    r"\bsuspicio\w+\b": "warnings about the recording",
    r"\bin sight\b|\bthe sight\b": "the status, what is observable",
    r"\bwhat nobody (told|knows)\b": "unknown",
}
# The most riddles that a folder of src or a document may still have.
KNOWN: dict[str, int] = {}


def riddles_in(text: str) -> list[str]:
    """The riddles of a text, as they are written there."""
    return [match[0] for riddle in RIDDLES for match in re.finditer(riddle, text, re.IGNORECASE)]


def prose_of(module: Module) -> Iterator[tuple[int, str]]:
    """The strings of a module, docstrings included, with their lines."""
    for node in module.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def findings() -> Iterator[tuple[str, str]]:
    """Each riddle: the folder or document it stands in, and its place."""
    for module in TREE.modules.values():
        for line, text in prose_of(module):
            for riddle in riddles_in(text):
                yield module.folder, f"{TREE.place(module, line)}: {riddle}"
    for path in DOCUMENTS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for riddle in riddles_in(line):
                name = path.relative_to(ROOT).as_posix()
                yield name, f"{name}:{number}: {riddle}"


def test_nothing_is_said_in_riddles():
    found = list(findings())
    counts = Counter(place for place, _ in found)
    new = {place for place, count in counts.items() if count > KNOWN.get(place, 0)}
    assert not new, "\n".join(what for place, what in found if place in new)
    assert not set(KNOWN) - set(counts), "an entry is no longer needed"


def test_the_glossary_explains_every_status():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    bold = set(re.findall(r"\*\*([^*]+)\*\*", text))
    assert set(get_args(Status)) <= bold


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("residuals go on as they begin", 1),
        ("what pushes unseen spoils the masses", 1),
        ("74 flights of the model", 1),
        ("unheard strangers", 2),
        ("the triangle inequalities hold", 0),
        ("the residuals are autocorrelated", 0),
    ],
)
def test_a_riddle_is_recognised(text, count):
    assert len(riddles_in(text)) == count
