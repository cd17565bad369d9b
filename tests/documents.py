"""Blocks of code in the project's documents, and the files and commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"(?:#|<!--) ([\w.]+\.(?:toml|csv|urdf))(?: -->)?")


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(path: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a document in some languages, with the line each begins on."""
    text = path.read_text(encoding="utf-8")
    found = [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)
        for match in _FENCE.finditer(text)
    ]
    return [block for block in found if block.language in languages]


def file_name(block: Block) -> str | None:
    """The name in the first line of a block that is a whole file."""
    match = _FILE_NAME.fullmatch(block.text.partition("\n")[0])
    return match[1] if match else None


def commands(path: Path) -> Iterator[list[str]]:
    """The arguments of every `$ freefloat ...` in a document."""
    for block in blocks(path, "console"):
        yield from commands_of(block)


def commands_of(block: Block) -> Iterator[list[str]]:
    """The arguments of every `$ freefloat ...` in a block; of other blocks than consoles, none."""
    if block.language == "console":
        for line in block.text.splitlines():
            if line.startswith("$ freefloat "):
                yield shlex.split(line.removeprefix("$ freefloat "))
