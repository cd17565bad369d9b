"""Numbers that are typed into documents, and where each comes from.

A measured number is taken from the store (results_documents.py). Any other number with a unit, or
with decimals, is accounted for in docs/stated_numbers.toml: for every document, the phrases that
hold such numbers, by where they come from.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from results_documents import MARKED, find_documents

SOURCES = {
    "paper": "printed in the paper that is spoken of",
    "definition": "what a word, a unit, a method or a promise means",
    "default": "a setting of the code",
    "example": "a number that a reader may choose otherwise",
    "theory": "follows from an equation",
    "tested": "a bound that a test holds; the test is named with it",
}
UNITS = (
    "%|‰|per cent|ns|us|µs|ms|s|min|h|seconds|minutes|hours|microseconds|milliseconds|"
    "mm|cm|m|km|g|kg|t|mN|N|kN|Nm|mJ|J|W|Hz|kHz|rad|mrad|deg|degrees|°|kB|MB|GB|bytes|"
    "times|x|×|sigma|deviations|samples|seeds|runs|flights|simulations|updates"
)
NUMBER = r"[-+±]?\d+(?: \d{3})*(?:\.\d+)?(?:e[-+]?\d+)?"
JOINED = rf"{NUMBER}(?:(?:,? (?:and|to|or|of)|,| ±)\s+{NUMBER})*"
LOOKS_MEASURED = re.compile(
    rf"(?<![\w.#])(?:{JOINED}\s?(?:{UNITS})(?![\w])|[-+±]?\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+)"
)
# What is no claim: code, mathematics, headings, addresses, comments, and references to places.
NO_CLAIM = re.compile(
    r"<!-- benchmark: .*?<!-- end of benchmark -->|"
    r"^(```|~~~).*?^\1|(?<=\n\n)(?: {4}[^\n]*\n)+|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|"
    r"^#+ .*?$|\]\([^)]*\)|<!--.*?-->|"
    r"\b(?:[Ee]qs?\.?|[Ss]ections?|Tables?|Figures?|Python|papers?)\s+[\d.]+"
    r"(?:(?:,| and| to|-)\s*[\d.]*\d)*",
    re.MULTILINE | re.DOTALL,
)


def find_unaccounted(root: Path) -> Iterator[str]:
    """Typed numbers that no list knows, and entries of the list that no document has."""
    listed = tomllib.loads((root / "docs" / "stated_numbers.toml").read_text(encoding="utf-8"))
    for path in find_documents(root):
        name = path.relative_to(root).as_posix()
        stated = listed.pop(name, {})
        yield from find_unstated(name, path.read_text(encoding="utf-8"), stated)
        for test in stated.get("tested", {}).values():
            file, _, function = test.partition("::")
            if not _has_test(root / file, function):
                yield f"docs/stated_numbers.toml: {name}: there is no test {test}"
    for name in listed:
        yield f"docs/stated_numbers.toml: {name} is no document"


def find_unstated(name: str, text: str, stated: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """What of one document is not accounted for.

    >>> list(find_unstated("a.md", "It takes 3 s, twice as long as 1.5 s.", {"example": ["3 s"]}))
    ['a.md:1: 1.5 s: render it from the store, or state its source in docs/stated_numbers.toml']
    """
    known: list[tuple[int, int]] = []
    for source, phrases in stated.items():
        if source not in SOURCES:
            yield f"docs/stated_numbers.toml: {name}: {source} is none of {', '.join(SOURCES)}"
        for phrase in phrases:  # of what is tested the keys, whose values are tests
            spans = [match.span() for match in _anywhere(phrase).finditer(text)]
            if not spans:
                yield f"docs/stated_numbers.toml: {name} does not say {phrase!r}"
            known += spans
    for match in LOOKS_MEASURED.finditer(_claims(text)):
        begin, end = match.span()
        if not any(first <= begin and end <= last for first, last in known):
            line = text.count("\n", 0, begin) + 1
            yield (
                f"{name}:{line}: {' '.join(match[0].split())}: render it from the store, or state "
                "its source in docs/stated_numbers.toml"
            )


def _has_test(path: Path, function: str) -> bool:
    return path.exists() and f"def {function}(" in path.read_text(encoding="utf-8")


def _claims(text: str) -> str:
    """The text with as many blanks in place of what is no claim."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    return NO_CLAIM.sub(blank, MARKED.sub(blank, text))


def _anywhere(phrase: str) -> re.Pattern[str]:
    """A phrase, wherever its lines are broken."""
    return re.compile(r"\s+".join(re.escape(word) for word in phrase.split()))
