"""What a recipe asks for is small: each example has at most 60 lines."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = [path for path in sorted(HERE.rglob("*.py")) if not path.name.startswith("test_")]
LONGEST = 60


def test_every_recipe_has_one():
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST
