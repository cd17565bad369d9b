"""Model files (TOML), read strictly: every fault at once, with its path, line and remedy."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from freefloat.errors import Fault, ModelError
from freefloat.model.checks import structure_faults
from freefloat.model.model import Model
from freefloat.model.sources import MAX_PARTS, decoded, inside, read_bytes, size_fault
from freefloat.model.toml_findings import SECTIONS, Findings, entries
from freefloat.model.toml_lines import line_of_long_key, lines_of, syntax_fault
from freefloat.model.urdf import draft_urdf
from freefloat.model.urdf_values import UrdfReader
from freefloat.model.urdf_write import extras_faults
from freefloat.model.urdf_xml import MAX_BYTES as MAX_URDF_BYTES

MAX_BYTES = 2**20  # ten times the largest robot; the parser reads about a megabyte a second


def read_toml(path: str | Path) -> Model:
    """The model of a model file, with the URDF beside it if it names one.

    Raises ModelError listing everything wrong with either file.
    """
    path = Path(path)
    text = decoded(read_bytes(path, MAX_BYTES), path.name)
    return read_toml_text(text, file=path.name, folder=path.parent)


def read_toml_text(text: str, *, file: str = "TOML text", folder: Path | None = None) -> Model:
    """The model of the text of a model file; only with a `folder` may it name a URDF.

    >>> text = 'format = 1; name = "one"; body = [{ name = "bus", mass = 5, inertia = [1, 1, 1] }]'
    >>> read_toml_text(text.replace("; ", chr(10))).body("bus").mass
    5.0
    """
    raw = _parsed(text, file)
    findings = Findings(file, raw, lines_of(text))
    has_urdf = "urdf" in raw
    base, reading = _urdf(raw, folder, findings)
    findings.faults += reading.faults if reading is not None else []
    # Here and not above: pydantic is slow to import, and only model files need it.
    from freefloat.model.toml_parts import build
    from freefloat.model.toml_validate import validated

    tables = validated(raw, findings)
    # Without the URDF it names, a model file would seem to lack all that is in there.
    is_complete = base is not None or not has_urdf
    model = build(tables, base, findings) if tables is not None and is_complete else None
    if model is not None:
        faults = [*structure_faults(model), *extras_faults(model)]
        findings.add_structure(faults, reading)
    if findings.faults or model is None:
        count = len(findings.faults)
        raise ModelError(f"{file}: {count} fault{'s' * (count > 1)} found", findings.faults)
    return model


def _parsed(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML text; raises ModelError for anything that is not TOML, or too much."""
    if len(text) > MAX_BYTES:
        raise ModelError(f"{file}: too large", [size_fault(file, len(text), MAX_BYTES)])
    line = line_of_long_key(text)
    if line is not None:
        fault = Fault(f"{file}:{line}", "a key of many parts", "at most two parts", "use tables")
        raise ModelError(f"{file}: not a model file", [fault])
    try:
        raw = tomllib.loads(text)
    except RecursionError:
        fault = Fault(file, "brackets inside brackets without end", "a model file", "unnest them")
        raise ModelError(f"{file}: nested too deeply", [fault]) from None
    except ValueError as error:  # TOMLDecodeError, or a whole number of thousands of digits
        raise ModelError(f"{file}: not valid TOML", [syntax_fault(error, text, file)]) from None
    for section in SECTIONS:
        count = len(entries(raw, section))
        if count > MAX_PARTS:
            fault = Fault(f"{file}: {section}", str(count), f"at most {MAX_PARTS}", "split it")
            raise ModelError(f"{file}: too many parts", [fault])
    return raw


def _urdf(
    raw: dict[str, Any], folder: Path | None, findings: Findings
) -> tuple[Model | None, UrdfReader | None]:
    """The draft of the URDF a model file names; what makes it unreadable is written down."""
    name = raw.get("urdf")
    if not isinstance(name, str):
        return None, None
    if folder is None:
        expected, remedy = "no urdf in a text without a folder", "read it from a file"
        path = Fault("", repr(name), expected, remedy, "file.outside")
    else:
        path = inside(folder, name)
    if isinstance(path, Fault):
        findings.faults.append(replace(path, place=findings.place(("urdf",))))
        return None, None
    try:
        return draft_urdf(read_bytes(path, MAX_URDF_BYTES), path.name)
    except ModelError as error:
        findings.faults += error.faults
        return None, None
