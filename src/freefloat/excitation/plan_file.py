"""Plan files (TOML), read strictly: every fault at once, with its place, line and remedy.

```toml
format = 1
name = "wiggle"
duration = 60.0
[start]           # position, attitude, velocity, rate, coordinates = { arm_1 = 0.3 }, speeds
[[motion]]        # coordinate = "arm_1", kind = "fourier", and the fields of that motion
[[torque]]        # coordinate, kind = "pulses", "wave" or "steps"
[[thrust]]        # thruster, kind
[[wrench]]        # on = "force.x", kind
[[feedback]]      # coordinate, kp, kd, limit
[control]         # kind = "capture", and its gains
```
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from freefloat.dynamics.state import Start
from freefloat.errors import Fault
from freefloat.excitation.plan import CaptureControl, Feedback, Plan
from freefloat.excitation.plan_checks import (
    SECTIONS,
    head_faults,
    model_faults,
    part_faults,
    whole_faults,
)
from freefloat.excitation.plan_write import COMMANDS, MOTIONS, OWNERS, PLAN_FILE
from freefloat.model.model import Model
from freefloat.records import values
from freefloat.records.bounded_read import read_text
from freefloat.records.fault_list import NamedFaults
from freefloat.records.schema import Schema, TableChoice, TableKind, TableList, table_of
from freefloat.records.toml_text import (
    TOML,
    entries,
    lines_of,
    parse_toml,
)
from freefloat.records.values import PathFault


@cache
def _schema() -> Schema:
    """What may stand in a plan file, format 1."""
    head = {"format": values.format_1, "name": values.name, "duration": values.number}
    sections = {section: TableList(_entry(section)) for section in SECTIONS}
    kind = {"kind": values.text}
    parts = {
        "start": table_of(Start, TOML),
        **sections,
        "control": table_of(CaptureControl, TOML, before=kind),
    }
    return Schema(TableKind({**head, **parts}, tuple(head)), TOML)


def _entry(section: str) -> TableKind | TableChoice:
    owner = {OWNERS[section]: values.name}
    if section == "feedback":
        return table_of(Feedback, TOML, before=owner)
    kinds = MOTIONS if section == "motion" else COMMANDS
    return TableChoice(
        "kind", {kind: table_of(part, TOML, before=owner) for kind, part in kinds.items()}
    )


# ---- Reading -------------------------------------------------------------------------------------


def load_plan(path: str | Path, model: Model | None = None) -> Plan:
    """The plan in a plan file (TOML); with a model, one that the model can fly.

    Raises ExcitationError listing every fault: file, place, value, expectation, remedy. What does
    not fit the model is listed beside what is wrong with the file, each with its line.
    """
    PLAN_FILE.require_suffix(path)
    text = read_text(Path(path), PLAN_FILE)
    return read_plan_text(text, file=Path(path).name, model=model)


def read_plan_text(text: str, *, file: str = "TOML text", model: Model | None = None) -> Plan:
    """The plan of the text of a plan file, which fits the model where one is given.

    >>> read_plan_text('format = 1; name = "rest"; duration = 5'.replace("; ", chr(10))).duration
    5.0
    """
    raw = parse_toml(text, file=file, kind=PLAN_FILE, sections=SECTIONS)
    faults = NamedFaults(file, lines=lines_of(text))
    for path, name in _names(raw):
        faults.names[path] = name
        faults.register(path, name)
    reading = _schema().read(raw)
    given = reading.content
    faults.extend(reading.faults)
    for fault in head_faults(given.get("name"), given.get("duration")):
        if not faults.is_told(fault.path):
            faults.add(fault)
    parts: dict[str, Any] = {
        attribute: _read_section(given.get(section, []), section, faults)
        for section, attribute in SECTIONS.items()
    }
    for key, part_type in (("start", Start), ("control", CaptureControl)):
        if key in given:
            parts[key] = _read_part(part_type, given[key], faults, path=(key,))
    if model is not None:
        _check_with_model(given, parts, faults, model)
    faults.raise_any(PLAN_FILE)
    return Plan(duration=given["duration"], name=given["name"], **parts)


def _names(raw: dict[str, Any]) -> Iterator[tuple[tuple[str, int], str]]:
    """What every entry moves, to be named in faults."""
    for section, owner in OWNERS.items():
        for i, entry in enumerate(entries(raw, section)):
            if isinstance(entry, dict) and isinstance(entry.get(owner), str):
                yield (section, i), entry[owner]


def _read_section(
    tables: list[dict[str, Any]], section: str, faults: NamedFaults
) -> dict[str, Any]:
    """The parts of the tables [[section]] by what they move."""
    owner, parts = OWNERS[section], {}
    kinds = MOTIONS if section == "motion" else COMMANDS
    first: dict[str, int] = {}
    for i, given in enumerate(tables):
        name = faults.names.get((section, i))
        if name is not None and first.setdefault(name, i) != i:
            value = f"a second {section} of {name!r} (the first is {section}[{first[name]}])"
            remedy = "merge them or delete one"
            fault = PathFault((section, i), value, "one of each", remedy, "name.duplicate")
            faults.add(fault)
        part_type = Feedback if section == "feedback" else kinds.get(given.get("kind", ""))
        if part_type is not None:
            own = {key: value for key, value in given.items() if key != owner}
            part = _read_part(part_type, own, faults, path=(section, i))
            if part is not None and name is not None:
                parts[name] = part
    return parts


def _read_part(
    part_type: type, given: dict[str, Any], faults: NamedFaults, *, path: tuple[str | int, ...]
) -> Any:
    """The part made of what a table gives; None where something that it needs is missing."""
    try:
        part = part_type(**given)
    except TypeError:  # a required value is missing or wrong, which has been told
        return None
    faults.extend(fault.below(path) for fault in part_faults(part))
    return part


def _check_with_model(
    given: dict[str, Any], parts: dict[str, Any], faults: NamedFaults, model: Model
) -> None:
    """Look at the plan as a whole and beside the model, as far as it could be read."""
    sound = {key: part for key, part in parts.items() if part is not None}
    found: list[Fault] = []
    if not faults.is_told(("duration",)):
        found += whole_faults(Plan(duration=given["duration"], **sound))
    # What an entry moves can be looked at even where the rest of it could not be read.
    for (section, _), name in faults.names.items():
        sound[SECTIONS[str(section)]].setdefault(name, None)
    found += model_faults(Plan(duration=1.0, **sound), model)
    for fault in found:
        faults.add_check(fault)
