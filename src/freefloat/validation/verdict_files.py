"""Verdicts on disk: a JSON file that comes back bit for bit, read strictly."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.files import atomic_write
from freefloat.identification.fit_files import json_lines, require_json
from freefloat.identification.json_reading import JsonReader, parsed, text_in
from freefloat.validation.acceptance import AcceptanceCriterion
from freefloat.validation.balance import MomentumBalance
from freefloat.validation.end_effectors import EndEffector
from freefloat.validation.metrics import Score
from freefloat.validation.residual_tests import ResidualSpectrum, Whiteness
from freefloat.validation.verdict import Trace, Verdict

FORMAT, VERSION = "freefloat verdict", 1
MAX_BYTES = 64 * 2**20

PARTS = {
    "criteria": AcceptanceCriterion,
    "scores": Score,
    "balances": MomentumBalance,
    "end_effectors": EndEffector,
    "whiteness": Whiteness,
    "spectra": ResidualSpectrum,
    "traces": Trace,
}
TEXTS, FLAGS, LISTS = (
    ("model", "method", "execution", "status"),
    ("is_positive", "has_run"),
    ("quality", "notes"),
)
KEYS = {"format", "version", *TEXTS, *FLAGS, *PARTS, *LISTS, "provenance"}


def load_verdict(path: str | Path) -> Verdict:
    """The verdict in a file (.json); raises IdentificationError listing every fault."""
    require_json(path)
    path = Path(path)
    text = text_in(path, most=MAX_BYTES, kind="verdict")
    return read_verdict_text(text, file=path.name)


def read_verdict_text(text: str, *, file: str = "JSON text") -> Verdict:
    """The verdict of the text of a verdict file."""
    reading, raw = JsonReader(file), parsed(text, file, kind="verdict")
    reading.require_format(raw, FORMAT, VERSION)
    reading.require_keys("", raw, KEYS, optional=set())
    parts: dict[str, Any] = {name: reading.text(name, raw.get(name, "")) for name in TEXTS}
    parts |= {name: reading.flag(name, raw.get(name, False)) for name in FLAGS}
    parts |= {name: reading.parts(name, raw.get(name, []), kind) for name, kind in PARTS.items()}
    parts |= {name: reading.items(name, raw.get(name, []), reading.text) for name in LISTS}
    parts["provenance"] = reading.table("provenance", raw.get("provenance", {}), reading.text)
    reading.refuse()
    return Verdict(**parts)


def save_verdict(verdict: Verdict, path: str | Path) -> None:
    """Write a verdict file (.json), whole or not at all; `load_verdict` gives the bits back."""
    require_json(path)
    atomic_write(path, write_verdict(verdict).encode("ascii"))


def write_verdict(verdict: Verdict) -> str:
    """The verdict as the text of a verdict file."""
    content: dict[str, object] = {"format": FORMAT, "version": VERSION}
    for field in fields(verdict):
        value = getattr(verdict, field.name)
        content[field.name] = [_part(item) for item in value] if field.name in PARTS else value
    return json_lines(content)


def _part(part: Any) -> dict[str, object]:
    assert is_dataclass(part) and not isinstance(part, type)
    told = asdict(part)
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in told.items()}
