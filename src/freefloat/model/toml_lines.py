"""On which line of a TOML text what begins, and what is wrong with it, by a quick look."""

from __future__ import annotations

import re

from freefloat.errors import Fault

Way = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z_]\w*)\s*(?:\.\s*([A-Za-z_]\w*)\s*)?\]")
_KEY = re.compile(r"""\s*["']?([A-Za-z_][\w-]*)["']?\s*[=.]""")
_TRIPLE = re.compile(r'"""|' + "'''")

# A key of many parts costs the parser the square of their number; ours have at most two. Possessive
# repeats, and a start only where a word starts, keep this search itself linear.
_LONG_KEY = re.compile(r"(?<![^\s.,=\[\]{}])(?:[^\s.,=\[\]{}]++[ \t]*+\.[ \t]*+){16}")


def line_of_long_key(text: str) -> int | None:
    """The line of the first key of more than sixteen parts, if there is one."""
    found = _LONG_KEY.search(text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def lines_of(text: str) -> dict[Way, int]:
    """The line of every table and key: {("joint", 3): 80, ("joint", 3, "damping"): 81}.

    A best effort for messages: odd layouts may leave a key out, but never raise.
    """
    lines: dict[Way, int] = {}
    counts: dict[str, int] = {}
    here: Way = ()
    quote = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if not quote:
            header = _HEADER.match(line)
            if header:
                here = _table(header, counts)
                lines.setdefault(here, number)
                lines.setdefault(here[:1], number)
            elif key := _KEY.match(line):
                lines.setdefault((*here, key.group(1)), number)
        for mark in _TRIPLE.findall(line):  # inside a long text nothing is a key
            if not quote:
                quote = mark
            elif quote == mark:
                quote = ""
    return lines


def _table(header: re.Match[str], counts: dict[str, int]) -> Way:
    brackets, name, inner = header.groups()
    if brackets == "[[" and not inner:
        counts[name] = counts.get(name, -1) + 1
    path: Way = (name, counts[name]) if name in counts else (name,)
    return (*path, inner) if inner else path


# Slips that TOML refuses, and what to do about each; the first that is found is told.
_NUMBER = r"[-+]?\d[\d_]*"
_SLIPS = (
    (
        re.compile(rf"=\s*{_NUMBER}(?:\.\d+)?(?:[eE][-+]?\d+)?\s*[A-Za-zµ°%]"),
        "write the number alone, without its unit: SI units (kg, m, s, rad, N) are implied",
    ),
    (
        re.compile(rf"=\s*{_NUMBER},\d+\s*(?:#.*)?$"),
        "write decimals with a point, such as 1.5",
    ),
    (re.compile(r"=\s*[-+]?\.\d"), "write a digit before the point, such as 0.5"),
    (re.compile(r"=\s*[A-Za-z]\w*\s*(?:#.*)?$"), "put text in quotes"),
)


def syntax_fault(error: ValueError, text: str, file: str) -> Fault:
    """What the TOML parser said, with its place, the line, and a remedy for common slips.

    >>> import tomllib
    >>> try:
    ...     tomllib.loads("mass = 8 kg")
    ... except ValueError as error:
    ...     print(syntax_fault(error, "mass = 8 kg", "robot.toml").remedy[:41])
    write the number alone, without its unit:
    """
    reason = str(error)
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", reason)
    place, line, shown = file, "", "TOML that cannot be read"
    if found and found.group(1):
        number, column = int(found.group(1)), int(found.group(2))
        place = f"{file}:{number}, column {column}"
        line = text.split("\n")[number - 1].strip()[:200]
        shown = repr(line[:50])
    elif found:
        place, line = f"{file}: end of the file", text.rstrip().rpartition("\n")[2][-200:]
        shown = repr(text.rstrip()[-20:])
    reason = reason[: found.start()] if found else reason
    told = (remedy for slip, remedy in _SLIPS if slip.search(line))
    remedy = next(told, "correct this line or the one before it")
    return Fault(place, shown, f"TOML ({reason[:80]})", remedy, "file.syntax")


def line_at(lines: dict[Way, int], path: Way) -> int | None:
    """The line of the innermost table or key on the way to `path` that is known."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None
