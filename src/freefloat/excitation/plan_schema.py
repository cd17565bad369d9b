"""What may stand in a plan file, table by table, made from the parts themselves.

Only `plan_files` imports this file, when a plan is read, for pydantic takes a while.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import ValidationError, create_model

from freefloat.excitation.part_checks import Way, told
from freefloat.model.schema_tables import SchemaTable
from freefloat.model.schema_values import Format, Name, Number, Prose, Vector3
from freefloat.model.toml_findings import Findings

# The annotations of the parts (as text), and what the file must hold for each.
_TYPES: dict[str, Any] = {
    "float": Number,
    "float | None": Number,
    "tuple[float, ...]": list[Number],
    "tuple[tuple[float, float, float], ...]": list[Vector3],
    "dict[str, float]": dict[str, Number],
}
MAX_FAULTS = 1000  # nobody corrects more at once


class PlanHead(SchemaTable):
    """The top of a plan file, format 1; the tables below it are looked at one by one."""

    format: Format
    name: Name
    duration: Number
    start: Any = None
    motion: Any = None
    torque: Any = None
    thrust: Any = None
    wrench: Any = None
    feedback: Any = None
    control: Any = None


@cache
def table_of(part: type, owner: str | None) -> type[SchemaTable]:
    """The table that holds a part: its fields, its kind and, under `owner`, what it moves."""
    keys: dict[str, Any] = {} if owner is None else {owner: (Name, ...)}
    for field in fields(part):
        if field.name == "kind":
            keys["kind"] = (Prose, ...)
            continue
        is_required = field.default is MISSING and field.default_factory is MISSING
        kind = _TYPES[str(field.type)]
        keys[field.name] = (kind, ...) if is_required else (kind, None)
    return create_model(f"{part.__name__}Table", __base__=SchemaTable, **keys)


def validated(
    table: type[SchemaTable], raw: Any, findings: Findings, *, way: Way
) -> SchemaTable | None:
    """The table at `way` of the file; all that is wrong with it is written down and left out.

    None where too little is left to look any further.
    """
    try:
        return table.model_validate(raw)
    except ValidationError as error:
        errors = error.errors(include_url=False)[:MAX_FAULTS]
    for found in errors:
        _write_down(found, findings, way=way, known=list(table.model_fields))
    if not isinstance(raw, dict):
        return None
    wrong = {found["loc"][0] for found in errors}
    try:
        return table.model_validate({key: raw[key] for key in raw if key not in wrong})
    except ValidationError:
        return None


def _write_down(error: Any, findings: Findings, *, way: Way, known: list[str]) -> None:
    kind, here, value = error["type"], (*way, *error["loc"]), told(error["input"])
    if kind == "missing":
        findings.fault(here, value="nothing", expected=f"{here[-1]} = ...", remedy="add the key")
    elif kind == "extra_forbidden":
        findings.fault(
            here,
            value=f"the key {here[-1]!r}",
            expected="one of " + ", ".join(known),
            remedy=meant(str(here[-1]), known, otherwise="delete it"),
        )
    elif kind == "refused":
        context = error["ctx"]
        expected, remedy = context["expected"], context["remedy"]
        findings.fault(here, value=value, expected=expected, remedy=remedy)
    elif kind == "list_type":
        findings.fault(here, value=value, expected="a list of numbers", remedy="use brackets")
    else:
        remedy = "write { name = 0.0 } or a table of its own"
        findings.fault(here, value=value, expected="a table", remedy=remedy)


def meant(word: str, known: list[str], *, otherwise: str) -> str:
    """A guess at what somebody who wrote `word` meant."""
    close = get_close_matches(word[:50], known, n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise
