"""Plans on disk: a plan file (TOML) that comes back bit for bit, and a table to play (CSV).

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
from typing import Any, get_args

import numpy as np

from freefloat.dynamics.state import Start
from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.commands import AnyCommand
from freefloat.excitation.motions import AnyMotion
from freefloat.excitation.plan import CaptureControl, Feedback, Plan
from freefloat.excitation.plan_checks import (
    SECTIONS,
    head_faults,
    model_faults,
    own_faults,
    part_faults,
    whole_faults,
)
from freefloat.files import atomic_write
from freefloat.model.model import Model
from freefloat.records import values
from freefloat.records.fault_list import NamedFaults
from freefloat.records.schema import Schema, TableChoice, TableKind, TableList, table_of
from freefloat.records.source import FileKind, read_text
from freefloat.records.toml_text import (
    TOML,
    changed_fields,
    entries,
    lines_of,
    parse_toml,
    table_text,
)
from freefloat.records.values import PathFault

# format: 2 MB are 100 000 numbers of recorded motion; the parser reads a megabyte a second
PLAN_FILE = FileKind(
    "plan",
    ExcitationError,
    ".toml",
    2 * 2**20,
    "thin out its tables: a spline with fewer control points says the same",
)
TABLE_FILE = FileKind("time table", ExcitationError, ".csv", 2**30, "give a lower rate")
MAX_ROWS = 5_000_000  # format: of a table; above it the rate is a mistake and memory would run out

MOTIONS: dict[str, type] = {part.kind: part for part in get_args(AnyMotion)}
COMMANDS: dict[str, type] = {part.kind: part for part in get_args(AnyCommand)}
# Under which key an entry of each section says what it moves or pushes.
OWNERS = {
    "motion": "coordinate",
    "torque": "coordinate",
    "thrust": "thruster",
    "wrench": "on",
    "feedback": "coordinate",
}


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


# ---- Writing -------------------------------------------------------------------------------------


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan file (TOML), whole or not at all; `load_plan` gives the same bits back.

    >>> import freefloat as ff
    >>> from tempfile import TemporaryDirectory
    >>> plan = ff.default_plan("cepheus", duration=5.0)
    >>> with TemporaryDirectory() as folder:
    ...     save_plan(plan, Path(folder, "wiggle.toml"))
    ...     load_plan(Path(folder, "wiggle.toml")) == plan
    True
    """
    PLAN_FILE.require_suffix(path)
    data = write_plan(plan).encode("utf-8")
    PLAN_FILE.require_size(len(data), f"plan {plan.name!r}")
    atomic_write(path, data)


def write_plan(plan: Plan) -> str:
    """The plan as the text of a plan file; raises ExcitationError if it could not be read back.

    >>> from freefloat.excitation import Moves
    >>> print(write_plan(Plan(5.0, motions={"arm_1": Moves((0.0, 5.0), (0.0, 0.3))})))
    format = 1
    name = "plan"
    duration = 5.0
    <BLANKLINE>
    [[motion]]
    coordinate = "arm_1"
    kind = "moves"
    times = [0.0, 5.0]
    values = [0.0, 0.3]
    <BLANKLINE>
    """
    faults = [*own_faults(plan), *_form_faults(plan)]
    if faults:
        raise ExcitationError(f"the plan {plan.name!r} cannot be written", faults)
    blocks = [table_text("format = 1", {"name": plan.name, "duration": plan.duration})]
    if start := changed_fields(plan.start):
        blocks.append(table_text("[start]", start))
    for section, attribute in SECTIONS.items():
        for name, part in getattr(plan, attribute).items():
            content = {OWNERS[section]: name, **_content(part)}
            blocks.append(table_text(f"[[{section}]]", content))
    if plan.control is not None:
        blocks.append(table_text("[control]", _content(plan.control)))
    return "\n".join(blocks)


def _content(part: Any) -> dict[str, Any]:
    """The kind of a part, and its values that differ from their defaults."""
    kind = {"kind": part.kind} if hasattr(part, "kind") else {}
    return kind | changed_fields(part)


def _form_faults(plan: Plan) -> Iterator[Fault]:
    """What a plan may hold in Python but no plan file can: other classes, odd names."""
    for section, attribute in SECTIONS.items():
        kinds = MOTIONS if section == "motion" else COMMANDS
        for name, part in getattr(plan, attribute).items():
            here = f"{section} {name!r}"
            yield from _name_faults(here, name)
            if section != "feedback" and type(part) not in kinds.values():
                expected, remedy = "one of " + ", ".join(kinds), "tabulate it as a Table"
                yield Fault(here, type(part).__name__, expected, remedy, "value.choice")
    for field in ("coordinates", "speeds"):
        for name in getattr(plan.start, field):
            yield from _name_faults(f"start.{field}", name)


def _name_faults(place: str, name: object) -> Iterator[Fault]:
    longest = values.LONGEST_NAME
    is_text = isinstance(name, str) and name.strip() and name.isprintable()
    if not is_text or len(str(name)) > longest:
        expected = f"a name of 1 to {longest} printable characters"
        yield Fault(place, repr(name)[:longest], expected, "rename it", "name.form")


# ---- A table for controllers ---------------------------------------------------------------------


def save_table(plan: Plan, model: Model, path: str | Path, *, rate: float) -> None:
    """Write the motion as a time table (CSV) that a robot's controller can play.

    One row every 1 / rate [s] from 0 to the end of the plan, with position, velocity and
    acceleration of every coordinate that is moved (joints, motors and wheels on a motion, and the
    references of those under feedback), then commanded torques and thrusts, each as its mean until
    the next row so that impulses are exact, in full precision.
    """
    TABLE_FILE.require_suffix(path)
    plan.check(model)
    if plan.control is not None:
        value, remedy = plan.control.kind, "record a simulation instead"
        fault = Fault("control", value, "motions", remedy, "value.conflict")
        raise ExcitationError("a closed loop has no motion that could be tabulated", [fault])
    if not (np.isfinite(rate) and 0.0 < rate * plan.duration <= MAX_ROWS):
        expected = f"> 0 Hz and at most {MAX_ROWS} rows"
        remedy = "give samples per second"
        fault = Fault("rate", f"{rate:g} Hz", expected, remedy, "value.range")
        raise ExcitationError("the table would have no rows, or too many", [fault])
    # Past the end by part of a sample if need be: the motion must be played out.
    times = np.arange(1 + np.ceil(plan.duration * rate * (1.0 - 1e-12))) / rate
    heads, columns = ["time [s]"], [times]
    for coordinate in model.assembly.coordinates:
        if coordinate.role != "motion" and coordinate.name not in plan.feedback:
            continue
        length = "m" if coordinate.type == "prismatic" else "rad"
        units = (length, f"{length}/s", f"{length}/s^2")
        names = ("position", "velocity", "acceleration")
        heads += [f"{coordinate.name}.{n} [{unit}]" for n, unit in zip(names, units, strict=True)]
        columns += plan.motion_of(coordinate.name, model).at(times)
    following = times + 1.0 / rate
    for name, command in plan.torques.items():
        slides = model.assembly.coordinates[model.assembly.index(name)].type == "prismatic"
        heads.append(f"{name}.torque [{'N' if slides else 'N m'}]")
        columns.append(command.over(times, following))
    for name, command in plan.thrusts.items():
        heads.append(f"{name}.force [N]")
        columns.append(command.over(times, following))
    rows = (",".join(map(repr, row)) for row in np.column_stack(columns).tolist())
    atomic_write(path, "\n".join([",".join(heads), *rows, ""]))
