"""A sound file with one thing wrong, and what the fault must then say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from freefloat.errors import Fault, FreefloatError


class Case(NamedTuple):
    """A sample with `old` replaced by `new`, and what the one fault must then say."""

    old: str
    new: str
    place: str
    value: str
    code: str

    def applied_to(self, text: str) -> str:
        assert self.old in text, self
        return text.replace(self.old, self.new, 1)

    def is_told_by(self, fault: Fault) -> bool:
        return self.value in fault.value and self.code == fault.code


def error_of(load: Callable[[Path], object], text: str, path: Path) -> FreefloatError:
    """The error with which a text in a file is refused."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FreefloatError) as caught:
        load(path)
    return caught.value


def check_told_at_once(
    error: FreefloatError, cases: Mapping[str, Case], names: Sequence[str], *, more: int = 0
) -> None:
    """Each of the cases has its fault in one error, and there are no others but `more`."""
    untold = [name for name in names if not any(map(cases[name].is_told_by, error.faults))]
    assert not untold, str(error)
    assert len(error.faults) == len(names) + more, str(error)


def every_number(value: object) -> Iterator[float]:
    """Each number of what a file was read to, as `dataclasses.asdict` gives it."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict | tuple | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from every_number(item)
