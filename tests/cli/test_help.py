"""The help of every verb fits a terminal of 80 columns, and every option says what it does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import pytest
from cyclopts import App

from freefloat.cli.app import app

WIDTH = 80  # of the terminal that a line of text must fit


def verbs(within: App = app, before: str = "") -> Iterator[tuple[str, App]]:
    """Every verb by its words, those of `campaign` and `models` included."""
    for name in within:
        if not name.startswith("-"):
            yield f"{before}{name}", within[name]
            yield from verbs(within[name], f"{before}{name} ")


VERBS = dict(verbs())


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_an_example_and_lines_that_fit(verb):
    command = VERBS[verb].default_command
    words = inspect.getdoc(command) if command and verb != "models" else VERBS[verb].help
    text, _, options = words.partition("\nParameters\n---")
    assert re.search(rf"For example:\n  freefloat {verb}\b", text)
    assert max(map(len, text.splitlines()[1:])) <= WIDTH  # the first line is wrapped
    # a line break within the words of an option would be a line break on the terminal
    assert not re.findall(r"^    .*\n    .*", options, re.MULTILINE)
