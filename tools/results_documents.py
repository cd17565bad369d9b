"""Documents take their figures from the store: a figure stands between two comments.

    ... after <!--=001.settled-->2.4<!--/--> s ...

`001.settled` is a name in docs/figures.toml. On a page only the number is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from results_figures import Figure, NoFigure, load_figures, text_of
from results_store import Result

MARKED = re.compile(r"<!--=(?P<name>[\w.-]+)-->(?P<text>.*?)<!--/-->", re.DOTALL)
# Markdown takes a comment that begins a line for a block of its own, text behind it included;
# Sphinx takes what follows a % there for a comment.
STRANDED = re.compile(r"^ *(?:[-*] +)?(?:<!--[=/]|%)", re.MULTILINE)


def find_documents(root: Path) -> list[Path]:
    """The documents whose numbers are looked at."""
    named = [root / name for name in ("README.md", "CHANGELOG.md", "benchmarks/README.md")]
    return [path for path in named if path.exists()] + sorted((root / "docs").rglob("*.md"))


def render(root: Path, results: Mapping[str, Result]) -> list[str]:
    """Write the store's figures into the documents; what could not be written, in sentences."""
    from freefloat.files import atomic_write

    figures = load_figures(root / "docs" / "figures.toml")
    problems: list[str] = []
    for path in find_documents(root):
        old = path.read_text(encoding="utf-8")
        new = render_text(old, figures, results, problems)
        if new != old:
            atomic_write(path, new)
    return problems


def render_text(
    text: str, figures: Mapping[str, Figure], results: Mapping[str, Result], problems: list[str]
) -> str:
    """A document with its figures from the store; a figure that cannot be had stays as it is."""

    def replace(match: re.Match[str]) -> str:
        try:
            return f"<!--={match['name']}-->{_figure(match['name'], figures, results)}<!--/-->"
        except NoFigure as problem:
            problems.append(str(problem))
            return match[0]

    return MARKED.sub(replace, text)


def differences(root: Path, results: Mapping[str, Result]) -> Iterator[str]:
    """Every figure of a document that is not the store's, and every one that nobody quotes."""
    figures = load_figures(root / "docs" / "figures.toml")
    quoted = set()
    for path in find_documents(root):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        for match in STRANDED.finditer(text):
            yield f"{_place(name, text, match)}: neither a figure nor % can begin a line; move it"
        for match in MARKED.finditer(text):
            quoted.add(match["name"])
            try:
                stored = _figure(match["name"], figures, results)
            except NoFigure as problem:
                yield f"{_place(name, text, match)}: {problem}"
                continue
            if stored != match["text"]:
                yield (
                    f"{_place(name, text, match)}: {match['name']} is {match['text']} here and "
                    f"{stored} in the store; tools/results.py render writes it"
                )
    for name in sorted(set(figures) - quoted):
        yield f"docs/figures.toml: no document quotes {name}"


def _figure(name: str, figures: Mapping[str, Figure], results: Mapping[str, Result]) -> str:
    if name not in figures:
        raise NoFigure(f"{name} is not in docs/figures.toml")
    return text_of(figures[name], results)


def _place(name: str, text: str, match: re.Match[str]) -> str:
    return f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
