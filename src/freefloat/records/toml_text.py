"""TOML of ours: parsed within bounds, with the line of every key; written with all digits."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np

from freefloat.errors import Fault
from freefloat.records import values
from freefloat.records.bounded_read import FileKind
from freefloat.records.schema import Dialect
from freefloat.records.values import KeyPath

MAX_PARTS = 1000  # format: of one kind; above it a file is a mistake, and checks take seconds

TOML = Dialect(
    checks={float: values.number, str: values.name},
    table=("a table", "write its keys below [its name], or { key = value } on one line"),
    tables=("a list of tables", "write [[{key}]] with double brackets"),
)

# -- reading ---------------------------------------------------------------------------------------

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z_]\w*)\s*(?:\.\s*([A-Za-z_]\w*)\s*)?\]")
_KEY = re.compile(r"""\s*(?:"([^"\\]+)"|'([^']+)'|([A-Za-z_][\w-]*))\s*[=.]""")
_TRIPLE = re.compile(r'"""|' + "'''")

# A key of many parts costs the parser the square of their number; ours have at most two. Possessive
# repeats, and a start only where a word starts, keep this search itself linear.
_LONG_KEY = re.compile(r"(?<![^\s.,=\[\]{}])(?:[^\s.,=\[\]{}]++[ \t]*+\.[ \t]*+){16}")


def parse_toml(
    text: str, *, file: str, kind: FileKind, sections: Collection[str]
) -> dict[str, Any]:
    """The tables of a TOML text, before anything is checked.

    Args:
        text: the text of the file.
        file: its name, for messages.
        kind: the kind of file, which says how large it may be.
        sections: the lists of tables, of which each may hold `MAX_PARTS`.

    Returns:
        What the text says, as dictionaries, lists, texts and numbers.

    Raises:
        The error of the kind, for what is no TOML, nested without end, or too much.
    """
    kind.require_size(len(text), file)
    line = line_of_long_key(text)
    if line is not None:
        place, expected = f"{file}:{line}", "at most two parts"
        fault = Fault(place, "a key of many parts", expected, "use tables", "file.depth", line)
        raise kind.refuse(f"{file}: not a {kind.noun} file", [fault])
    try:
        raw = tomllib.loads(text)
    except RecursionError:
        value, expected = "brackets inside brackets without end", f"a {kind.noun} file"
        fault = Fault(file, value, expected, "unnest them", "file.depth")
        raise kind.refuse(f"{file}: nested too deeply", [fault]) from None
    except ValueError as error:  # TOMLDecodeError, or a whole number of thousands of digits
        raise kind.refuse(f"{file}: not valid TOML", [syntax_fault(error, text, file)]) from None
    for section in sections:
        count = len(entries(raw, section))
        if count > MAX_PARTS:
            place, expected = f"{file}: {section}", f"at most {MAX_PARTS}"
            fault = Fault(place, str(count), expected, f"split the {kind.noun}", "value.count")
            raise kind.refuse(f"{file}: too many parts", [fault])
    return raw


def entries(raw: Mapping[str, Any], section: str) -> list[Any]:
    """The tables [[section]] of a file, or nothing where something else stands in their place."""
    value = raw.get(section)
    return value if isinstance(value, list) else []


def line_of_long_key(text: str) -> int | None:
    """The line of the first key of more than sixteen parts, if there is one."""
    found = _LONG_KEY.search(text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def lines_of(text: str) -> dict[KeyPath, int]:
    """The line of every table and key: {("joint", 3): 80, ("joint", 3, "damping"): 81}.

    A best effort for messages: odd layouts may leave a key out, but never raise.
    """
    lines: dict[KeyPath, int] = {}
    counts: dict[str, int] = {}
    here: KeyPath = ()
    quote = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if not quote:
            header = _HEADER.match(line)
            if header:
                here = _header_path(header, counts)
                lines.setdefault(here, number)
                lines.setdefault(here[:1], number)
            elif key := _KEY.match(line):
                lines.setdefault((*here, next(filter(None, key.groups()))), number)
        for mark in _TRIPLE.findall(line):  # inside a long text nothing is a key
            if not quote:
                quote = mark
            elif quote == mark:
                quote = ""
    return lines


def _header_path(header: re.Match[str], counts: dict[str, int]) -> KeyPath:
    brackets, name, inner = header.groups()
    if brackets == "[[" and not inner:
        counts[name] = counts.get(name, -1) + 1
    path: KeyPath = (name, counts[name]) if name in counts else (name,)
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

    >>> try:
    ...     tomllib.loads("mass = 8 kg")
    ... except ValueError as error:
    ...     print(syntax_fault(error, "mass = 8 kg", "robot.toml").remedy[:41])
    write the number alone, without its unit:
    """
    reason = str(error)
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", reason)
    place, line, value, number = file, "", "TOML that cannot be read", None
    if found and found.group(1):
        number, column = int(found.group(1)), int(found.group(2))
        place = f"{file}:{number}, column {column}"
        line = text.split("\n")[number - 1].strip()[:200]
        value = repr(line[:50])
    elif found:
        place, line = f"{file}: end of the file", text.rstrip().rpartition("\n")[2][-200:]
        value = repr(text.rstrip()[-20:])
    reason = reason[: found.start()] if found else reason
    remedies = (remedy for slip, remedy in _SLIPS if slip.search(line))
    remedy = next(remedies, "correct this line or the one before it")
    return Fault(place, value, f"TOML ({reason[:80]})", remedy, "file.syntax", number)


# -- writing ---------------------------------------------------------------------------------------

_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), 127)}
_ESCAPES |= {ord('"'): '\\"', ord("\\"): "\\\\"}
_ESCAPES |= {ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}
_LONG_ESCAPES = {code: text for code, text in _ESCAPES.items() if code != ord("\n")}


def table_text(header: str, content: Mapping[str, Any]) -> str:
    """A table with its header and one key a line.

    >>> print(table_text("[root]", {"body": "bus", "linear_drag": 0.1}), end="")
    [root]
    body = "bus"
    linear_drag = 0.1
    """
    lines = (f"{_key(key)} = {value_text(value)}" for key, value in content.items())
    return "\n".join([header, *lines, ""])


def changed_fields(record: Any, *, spread: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a record that differ from their defaults; those in `spread` give their own."""
    changed: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in spread:
            changed |= changed_fields(value)
        elif value is not None and not _is_default(field, value):
            changed[field.name] = value
    return changed


def _is_default(field: Field[Any], value: Any) -> bool:
    if field.default_factory is not MISSING:
        return not value
    # Compared as text: minus zero equals zero, yet it is a value of its own, to be kept.
    has_default = field.default is not MISSING and field.default is not None
    return has_default and value_text(field.default) == value_text(value)


def value_text(value: Any) -> str:
    """A value as TOML writes it, every number as a float with all its digits.

    >>> value_text((0.1, 2)), value_text({"arm_1": -0.0})
    ('[0.1, 2.0]', '{ arm_1 = -0.0 }')
    """
    if isinstance(value, str):
        return '"""\n' + value.translate(_LONG_ESCAPES) + '"""' if "\n" in value else _quote(value)
    if isinstance(value, tuple | list | np.ndarray):
        items = (_quote(item) if isinstance(item, str) else value_text(item) for item in value)
        return "[" + ", ".join(items) + "]"
    if is_dataclass(value):
        value = changed_fields(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {value_text(item)}" for name, item in value.items())
        return "{ " + inner + " }" if inner else "{}"
    return repr(float(value))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quote(name)


def _quote(text: str) -> str:
    # Single quotes take everything as it is, which leaves XML readable.
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + text.translate(_ESCAPES) + '"'
