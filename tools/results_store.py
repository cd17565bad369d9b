"""The store: one file of JSON a piece, with the command that made it, when, and from what code."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

DIGITS = 6  # of stored numbers: more would make every run a new file, and nobody prints more
WIDTH = 120  # what fits in a line stays in one
PACKAGES = ("numpy", "scipy", "numba", "freefloat")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a piece gave: its content, and where that came from."""

    piece: str
    command: str
    is_quick: bool
    made: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())
    seconds: dict[str, float]
    versions: dict[str, str] = field(default_factory=lambda: find_versions())
    fingerprint: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A number of a result, or a sentence with numbers (`said`): what a document can take."""

    table: str
    quantity: str
    values: dict[str, float | None]
    status: str = ""
    said: str = ""


def save(result: Result, folder: Path) -> Path:
    """Write a result to its place in the store, wholly or not at all."""
    from freefloat.files import atomic_write

    path = folder / f"{result.piece}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, to_text(_round(asdict(result))) + "\n")
    return path


def load(piece: str, folder: Path) -> Result | None:
    """The stored result of a piece; None where there is none yet."""
    path = folder / f"{piece}.json"
    return Result(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def load_all(folder: Path) -> dict[str, Result]:
    """Every stored result by the name of its piece."""
    names = (p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.json"))
    found = {name: load(name, folder) for name in sorted(names)}
    return {name: result for name, result in found.items() if result is not None}


def rows_of(result: Result) -> Iterator[Row]:
    """The rows of a paper, the lines of a benchmark, or the figures of promises."""
    content = result.content
    for row in content.get("rows", ()):
        values = {"ours": row["ours"], "paper": row["paper"]}
        yield Row(row["table"], row["quantity"], values, row["status"], row["note"])
    for table in content.get("tables", ()):
        yield from _rows_of_table(table)
    for promise, tests in content.get("promises", {}).items():
        for test in tests.values():
            for sentence in test["figures"]:
                yield Row(promise, sentence, {}, test["outcome"], sentence)


def _rows_of_table(table: dict[str, Any]) -> Iterator[Row]:
    name = table["id"]
    for time in table["times"]:
        values = {"ours": time["seconds"], "times_ours": time["times_ours"]}
        yield Row(f"{name} times", time["name"], values, said=time["note"])
    for kind in ("checks", "promises"):
        for line in table[kind]:
            status = "met" if line["is_met"] else "missed"
            yield Row(f"{name} {kind}", line["what"], {"ours": line["value"]}, status)
    for note in table["notes"]:
        yield Row(f"{name} notes", note, {}, said=note)


def to_text(value: Any, indent: int = 0) -> str:
    """JSON in which whatever fits stands in one line, so that differences can be read.

    >>> print(to_text({"a": [1.5, None]}))
    {"a": [1.5, null]}
    """
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + indent <= WIDTH or _is_row(value) or not isinstance(value, dict | list):
        return short
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {to_text(part, indent + 1)}"
            for key, part in value.items()
        ]
        return "{\n" + ",\n".join(pad + part for part in parts) + "\n" + " " * indent + "}"
    parts = [to_text(part, indent + 1) for part in value]
    return "[\n" + ",\n".join(pad + part for part in parts) + "\n" + " " * indent + "]"


def _is_row(value: Any) -> bool:
    """Rows stay in a line however long they are: one changes, a line changes."""
    return isinstance(value, dict) and not any(isinstance(v, dict | list) for v in value.values())


def find_versions() -> dict[str, str]:
    """What a result is made with: Python, the packages that compute, the processor."""
    found = {"python": platform.python_version()}
    found |= {name: version(name) for name in PACKAGES}
    return {**found, "processor": _processor()}


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    name = re.search(r"^model name\s*: (.*)$", told, re.MULTILINE)
    return name[1] if name else platform.machine()


def _round(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _round(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_round(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
