"""Plan files (TOML), read strictly: every fault at once, with its place, line and remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from freefloat.dynamics.state import Start
from freefloat.errors import ExcitationError, Fault, ModelError
from freefloat.excitation.commands import AnyCommand
from freefloat.excitation.control import CaptureControl
from freefloat.excitation.motions import AnyMotion
from freefloat.excitation.part_checks import Way, part_wrongs, told
from freefloat.excitation.plan import Feedback, Plan
from freefloat.excitation.plan_checks import SECTIONS, head_wrongs, model_faults, whole_faults
from freefloat.model.model import Model
from freefloat.model.sources import MAX_PARTS, decoded, read_bytes
from freefloat.model.toml_findings import Findings
from freefloat.model.toml_lines import line_of_long_key, lines_of, syntax_fault

MAX_BYTES = 2 * 2**20  # 100 000 numbers of recorded motion; the parser reads a megabyte a second

MOTIONS = {part.kind: part for part in get_args(AnyMotion)}
COMMANDS = {part.kind: part for part in get_args(AnyCommand)}
OWNERS = {
    "motion": "coordinate",
    "torque": "coordinate",
    "thrust": "thruster",
    "wrench": "on",
    "feedback": "coordinate",
}
# The readers of bytes are those of model files, and speak of them.
_REWORDED = {
    "a model file": "a plan file",
    "a .toml or .urdf file": "a .toml file",
    "move meshes and pictures to files of their own": "thin out its tables",
}


def read_plan(path: Path, model: Model | None = None) -> Plan:
    """The plan in a file; raises ExcitationError listing everything wrong with it.

    With a model, what does not fit it is among the faults.
    """
    try:
        text = decoded(read_bytes(path, MAX_BYTES), path.name)
    except ModelError as error:
        raise ExcitationError(error.message, [_reworded(f) for f in error.faults]) from None
    return read_plan_text(text, file=path.name, model=model)


def read_plan_text(text: str, *, file: str = "TOML text", model: Model | None = None) -> Plan:
    """The plan of the text of a plan file, which fits the model where one is given.

    >>> read_plan_text('format = 1; name = "rest"; duration = 5'.replace("; ", chr(10))).duration
    5.0
    """
    # Here and not above: pydantic is slow to import, and only plan files need it.
    from freefloat.excitation.plan_schema import PlanHead, validated

    raw = _parsed(text, file)
    findings = Findings(file, {}, lines_of(text))
    for way, name in _names(raw):
        findings.names[way] = name
        findings.register(way, name)
    validated(PlanHead, raw, findings, way=())
    _check_head(raw, findings)
    parts: dict[str, Any] = {
        attribute: _section(raw, section, findings) for section, attribute in SECTIONS.items()
    }
    if "start" in raw:
        parts["start"] = _part(Start, raw["start"], findings, way=("start",), owner=None)
    if "control" in raw:
        parts["control"] = _control(raw["control"], findings)
    _check_whole(raw, parts, findings, model)
    if findings.faults:
        count = len(findings.faults)
        raise ExcitationError(f"{file}: {count} fault{'s' * (count > 1)} found", findings.faults)
    return Plan(duration=float(raw["duration"]), name=raw["name"], **parts)


def _check_whole(
    raw: dict[str, Any], parts: dict[str, Any], findings: Findings, model: Model | None
) -> None:
    """Look at the plan as a whole and beside the model, as far as it could be read."""
    if model is None:
        return
    read = {key: part for key, part in parts.items() if part is not None}
    if ("duration",) not in findings.told:
        plan = Plan(duration=float(raw["duration"]), **read)
        findings.add_structure(whole_faults(plan), None)
    plan = Plan(duration=1.0, **read | _named_only(parts, findings))
    findings.add_structure(model_faults(plan, model), None)


def _named_only(parts: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """The sections with a stand-in for what could not be read: its name can still be looked at."""
    whole = {attribute: dict(parts[attribute]) for attribute in SECTIONS.values()}
    for (section, _), name in findings.names.items():
        whole[SECTIONS[str(section)]].setdefault(name, None)
    return whole


def _check_head(raw: dict[str, Any], findings: Findings) -> None:
    for wrong in head_wrongs(raw.get("name"), raw.get("duration")):
        if wrong.way not in findings.told:
            findings.fault(
                wrong.way, value=wrong.value, expected=wrong.expected, remedy=wrong.remedy
            )


def _parsed(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML text; raises ExcitationError for anything that is not TOML."""
    line = line_of_long_key(text)
    if line is not None:
        fault = Fault(f"{file}:{line}", "a key of many parts", "at most two parts", "use tables")
        raise ExcitationError(f"{file}: not a plan file", [fault])
    try:
        return tomllib.loads(text)
    except RecursionError:
        fault = Fault(file, "brackets inside brackets without end", "a plan file", "unnest them")
        raise ExcitationError(f"{file}: nested too deeply", [fault]) from None
    except ValueError as error:  # TOMLDecodeError, or a whole number of thousands of digits
        fault = syntax_fault(error, text, file)
        raise ExcitationError(f"{file}: not valid TOML", [fault]) from None


def _names(raw: dict[str, Any]) -> Iterator[tuple[Way, str]]:
    """What every entry moves, to be named in faults."""
    for section, owner in OWNERS.items():
        entries = raw.get(section)
        for i, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get(owner), str):
                yield (section, i), entry[owner]


def _section(raw: dict[str, Any], section: str, findings: Findings) -> dict[str, Any]:
    """The parts of the tables [[section]] by what they move."""
    entries = raw.get(section, [])
    if not isinstance(entries, list):
        remedy = f"write [[{section}]] with double brackets"
        findings.fault((section,), value=told(entries), expected="tables", remedy=remedy)
        return {}
    if len(entries) > MAX_PARTS:
        expected, remedy = f"at most {MAX_PARTS}", "split the plan"
        findings.fault((section,), value=str(len(entries)), expected=expected, remedy=remedy)
        return {}
    owner, parts = OWNERS[section], {}
    first: dict[str, int] = {}
    for i, entry in enumerate(entries):
        part_type = _type_of(entry, section, findings, way=(section, i))
        name = findings.names.get((section, i))
        if name is not None and first.setdefault(name, i) != i:
            value = f"a second {section} of {name!r} (the first is {section}[{first[name]}])"
            remedy = "merge them or delete one"
            findings.fault((section, i), value=value, expected="one of each", remedy=remedy)
        if part_type is not None:
            part = _part(part_type, entry, findings, way=(section, i), owner=owner)
            if part is not None and name is not None:
                parts[name] = part
    return parts


def _type_of(entry: Any, section: str, findings: Findings, *, way: Way) -> type | None:
    """Which part an entry describes, from its kind."""
    from freefloat.excitation.plan_schema import meant

    if section == "feedback" or not isinstance(entry, dict):
        return Feedback  # what is no table at all is told when it is read as one
    kinds = MOTIONS if section == "motion" else COMMANDS
    kind = entry.get("kind")
    if isinstance(kind, str) and kind in kinds:
        return kinds[kind]
    remedy = meant(str(kind), list(kinds), otherwise="choose one of these") if kind else "add it"
    value = told(kind) if "kind" in entry else "nothing"
    expected = "kind = " + ", ".join(map(repr, kinds))
    findings.fault((*way, "kind"), value=value, expected=expected, remedy=remedy)
    return None


def _part(part: type, raw: Any, findings: Findings, *, way: Way, owner: str | None) -> Any:
    """The part a table describes, or None with what is wrong written down."""
    from freefloat.excitation.plan_schema import table_of, validated

    table = validated(table_of(part, owner), raw, findings, way=way)
    if table is None:
        return None
    given = table.given("kind", *([owner] if owner else []))
    made = part(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
    for wrong in part_wrongs(made):
        findings.fault(
            (*way, *wrong.way), value=wrong.value, expected=wrong.expected, remedy=wrong.remedy
        )
    return made


def _control(raw: Any, findings: Findings) -> Any:
    if isinstance(raw, dict) and raw.get("kind", "capture") != "capture":
        value, remedy = told(raw["kind"]), "there is no other kind yet"
        findings.fault(("control", "kind"), value=value, expected="'capture'", remedy=remedy)
    return _part(CaptureControl, raw, findings, way=("control",), owner=None)


def _reworded(fault: Fault) -> Fault:
    expected, remedy = fault.expected, fault.remedy
    for old, new in _REWORDED.items():
        expected, remedy = expected.replace(old, new), remedy.replace(old, new)
    return replace(fault, expected=expected, remedy=remedy)
