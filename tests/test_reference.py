"""Every public function with more than two arguments says what each is, and what comes back."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

import pytest
from documents import ROOT
from site_pages import NAME, public_object

API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
MOST_UNEXPLAINED = 2  # arguments of a function whose one sentence can explain them all


def public_functions() -> Iterator[tuple[str, Callable]]:
    """The functions that the tables of api.md name, and the methods of the classes there."""
    for name in dict.fromkeys(NAME.findall(API)):
        value = public_object(name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for own, method in vars(value).items():
                method = getattr(method, "__func__", method)  # of a class method
                if inspect.isfunction(method) and not own.startswith("_"):
                    yield f"{name}.{own}", method


FUNCTIONS = dict(public_functions())


def arguments_of(function: Callable) -> list[str]:
    """Names of the arguments that a caller gives."""
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def explained_in(docstring: str) -> set[str]:
    """Names of the arguments that the section Args of a docstring explains."""
    section = re.search(r"^Args:\n((?:    .*\n|\n)*)", docstring + "\n", re.MULTILINE)
    entries = re.findall(r"^    ([\w*][\w*, ]*):", section[1] if section else "", re.MULTILINE)
    return {name.strip(" *") for entry in entries for name in entry.split(",")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_and_what_comes_back_are_explained(name):
    function = FUNCTIONS[name]
    docstring, names = inspect.getdoc(function) or "", arguments_of(function)
    assert docstring
    if len(names) > MOST_UNEXPLAINED:
        assert not set(names) - explained_in(docstring)
        gives = inspect.signature(function).return_annotation not in (None, "None")
        own = function.__qualname__.partition(".")[0]  # a constructor gives what it is called after
        if gives and own != inspect.signature(function).return_annotation:
            assert "\nReturns:\n" in docstring


def test_many_functions_were_looked_at():
    assert len(FUNCTIONS) > 100
    found = explained_in("x\n\nArgs:\n    a, b: One.\n        or: two\n    *c: Three.\n")
    assert found == set("abc")
