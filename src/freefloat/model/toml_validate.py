"""The tables of a model file, checked against the schema; what is wrong does not hide the rest."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, get_args

from pydantic import ValidationError

from freefloat.model.schema_tables import ModelFile, SchemaTable
from freefloat.model.toml_findings import Findings
from freefloat.model.toml_lines import Way

# What stands in for a required key that is missing, so that the rest can still be checked.
_STAND_INS: dict[str, Any] = {
    "format": 1, "mass": 1.0, "length": 1.0, "inertia": 1e-9, "stiffness": 1.0, "radius": 1e9,
    "rate": 1.0, "sigma": 1.0, "time": 1.0, "kind": "gyro", "on": "?", "body": "?",
    "axis": [0, 0, 1], "direction": [0, 0, 1], "start": [0, 0, 0], "end": [0, 0, 0],
}  # fmt: skip
MAX_FAULTS = 1000  # nobody corrects more at once
_ATTEMPTS = 3  # a wrong value, once taken out, may turn out to be a missing one


def validated(raw: dict[str, Any], findings: Findings) -> ModelFile | None:
    """The tables of the file; what is wrong is written down and taken out of `raw`."""
    for attempt in range(_ATTEMPTS):
        try:
            return ModelFile.model_validate(raw)
        except ValidationError as error:
            for found in error.errors(include_url=False)[:MAX_FAULTS]:
                if attempt == 0:
                    _write_down(found, findings)
                _repair(raw, found, findings)
    return None


def _write_down(error: Any, findings: Findings) -> None:
    way, kind = error["loc"], error["type"]
    value = _shown(error["input"])
    if kind == "missing":
        expected, remedy, code = f"{way[-1]} = ...", "add the key", "key.missing"
        findings.fault(way, value="nothing", expected=expected, remedy=remedy, code=code)
    elif kind == "extra_forbidden":
        known = _known_keys(way)
        close = get_close_matches(str(way[-1])[:50], known, n=1)
        findings.fault(
            way,
            value=f"the key {way[-1]!r}",
            expected="one of " + ", ".join(known),
            remedy=f"did you mean {close[0]!r}?" if close else "delete it",
        )
    elif kind == "refused":
        told = error["ctx"]
        findings.fault(way, value=value, expected=told["expected"], remedy=told["remedy"])
    elif kind == "list_type":
        remedy = f"write [[{way[-1]}]] with double brackets"
        findings.fault(way, value=value, expected="a list of tables", remedy=remedy)
    else:
        remedy = f"write [{way[0]}] above its keys, or {{ key = value }} on one line"
        findings.fault(way, value=value, expected="a table", remedy=remedy)


def _shown(value: object) -> str:
    try:
        return repr(value)[:200]
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return "a number of thousands of digits"


def _known_keys(way: Way) -> list[str]:
    """The keys of the table that holds `way`, from the schema itself."""
    table: Any = ModelFile
    for step in way[:-1]:
        if isinstance(step, str):
            annotation = table.model_fields[step].annotation
            table = next(
                part
                for part in (annotation, *get_args(annotation))
                if isinstance(part, type) and issubclass(part, SchemaTable)
            )
    return list(table.model_fields)


def _repair(raw: dict[str, Any], error: Any, findings: Findings) -> None:
    """Take out what is wrong, or put a stand-in where something is missing."""
    *steps, key = error["loc"]
    holder: Any = raw
    for step in steps:
        if isinstance(holder, dict) and step not in holder:
            return  # taken out already, with the section it was in
        holder = holder[step]
    if error["type"] == "missing":
        stand_in = _STAND_INS.get(key)
        if stand_in is None:
            stand_in = "_".join(["unnamed", *map(str, steps)])
            if steps:
                findings.register(tuple(steps), stand_in)
        holder[key] = stand_in
    elif key == "mass":  # without one, what else the body says would seem wrong
        holder[key] = _STAND_INS[key]
    elif isinstance(holder, dict):
        holder.pop(key, None)
    else:  # an entry that is no table at all
        raw.pop(error["loc"][0], None)
