"""Verdicts on disk: a JSON file that comes back bit for bit, read strictly."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from pathlib import Path

from freefloat.errors import IdentificationError
from freefloat.files import atomic_write
from freefloat.records.json_text import JSON, read_json, write_json
from freefloat.records.schema import Schema, table_of
from freefloat.records.source import FileKind, read_text
from freefloat.validation.verdict import Verdict

# format: 64 MB, as a fit; traces are thinned for a page, so that a megabyte is usual
VERDICT_FILE = FileKind(
    "verdict", IdentificationError, ".json", 64 * 2**20, "validate on a shorter flight"
)


@cache
def _schema() -> Schema:
    return Schema(replace(table_of(Verdict, JSON, is_built=True), record=None), JSON)


def load_verdict(path: str | Path) -> Verdict:
    """The verdict in a file (.json); raises IdentificationError listing every fault."""
    VERDICT_FILE.require_suffix(path)
    return read_verdict_text(read_text(Path(path), VERDICT_FILE), file=Path(path).name)


def read_verdict_text(text: str, *, file: str = "JSON text") -> Verdict:
    """The verdict of the text of a verdict file."""
    return Verdict(**read_json(text, _schema(), file=file, kind=VERDICT_FILE))


def save_verdict(verdict: Verdict, path: str | Path) -> None:
    """Write a verdict file (.json), whole or not at all; `load_verdict` gives the bits back."""
    VERDICT_FILE.require_suffix(path)
    atomic_write(path, write_verdict(verdict).encode("ascii"))


def write_verdict(verdict: Verdict) -> str:
    """The verdict as the text of a verdict file."""
    content = {field.name: getattr(verdict, field.name) for field in fields(verdict)}
    return write_json(content, VERDICT_FILE)
