"""What a result has to say beside its numbers: a sentence for people, a code for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Note(str):
    """A sentence with a stable code; wherever text is wanted, it is the sentence.

    >>> note = Note("residuals.autocorrelated", "residuals are autocorrelated")
    >>> note.code, str(note)
    ('residuals.autocorrelated', 'residuals are autocorrelated')
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> Note:
        """The sentence, with its code."""
        note = super().__new__(cls, text)
        note.code = code
        return note

    def __getnewargs__(self) -> tuple[str, str]:
        return self.code, str(self)

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return {"code": self.code, "text": str(self)}


def as_note(value: str | Mapping[str, Any], code: str = "note") -> Note:
    """A note from a sentence or from what `as_dict` gave.

    >>> as_note({"code": "rows.dropped", "text": "3 rows dropped"}).code
    'rows.dropped'
    """
    if isinstance(value, Note):
        return value
    if isinstance(value, str):
        return Note(code, value)
    return Note(str(value["code"]), str(value["text"]))


def split_remedy(sentence: str) -> tuple[str, str]:
    """What is wrong, and what to do next: what stands behind the last semicolon.

    >>> split_remedy("Only ratios are known; record the thrust.")
    ('Only ratios are known', 'record the thrust')
    """
    what, mark, remedy = str(sentence).rpartition("; ")
    return (what, remedy.rstrip(".")) if mark else (str(sentence), "")


def codes_of(notes: Iterable[str]) -> tuple[str, ...]:
    """The codes of notes, in order; plain sentences have none.

    >>> codes_of([Note("a.b", "first"), "second"])
    ('a.b',)
    """
    return tuple(note.code for note in notes if isinstance(note, Note))
