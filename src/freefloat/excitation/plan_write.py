"""Plans written to disk: a plan file (TOML) that comes back bit for bit, and a table (CSV) to play.

What a plan file looks like stands in `plan_file`, which reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.commands import AnyCommand
from freefloat.excitation.motions import AnyMotion
from freefloat.excitation.plan_checks import SECTIONS, own_faults
from freefloat.files import atomic_write
from freefloat.records import values
from freefloat.records.bounded_read import FileKind
from freefloat.records.toml_text import changed_fields, table_text

if TYPE_CHECKING:
    from freefloat.excitation.plan import Plan
    from freefloat.model.model import Model

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


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan file (TOML), whole or not at all; `load_plan` gives the same bits back.

    >>> import freefloat as ff
    >>> from tempfile import TemporaryDirectory
    >>> plan = ff.default_plan("cepheus", duration=5.0)
    >>> with TemporaryDirectory() as folder:
    ...     save_plan(plan, Path(folder, "wiggle.toml"))
    ...     ff.load_plan(Path(folder, "wiggle.toml")) == plan
    True
    """
    PLAN_FILE.require_suffix(path)
    data = write_plan(plan).encode("utf-8")
    PLAN_FILE.require_size(len(data), f"plan {plan.name!r}")
    atomic_write(path, data)


def write_plan(plan: Plan) -> str:
    """The plan as the text of a plan file; raises ExcitationError if it could not be read back.

    >>> from freefloat.excitation import Moves, Plan
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

    Position, velocity and acceleration of every coordinate that is moved (joints, motors and wheels
    on a motion, and the references of those under feedback), then commanded torques and thrusts,
    each as its mean until the next row so that impulses are exact, in full precision.

    Args:
        plan: what to play; a closed loop has no motion that could be tabulated.
        model: the model it is for.
        path: a file that ends in .csv; it is written whole or not at all.
        rate: rows per second [Hz], from 0 to the end of the plan.

    Returns:
        Nothing; the file is what it makes.

    Raises:
        ExcitationError: the plan does not fit the model, or the table would have no rows or too
            many.

    >>> import freefloat as ff
    >>> from tempfile import TemporaryDirectory
    >>> model = ff.load_model("cepheus")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "play.csv")
    ...     save_table(ff.default_plan(model, duration=1.0), model, path, rate=10.0)
    ...     path.read_text().partition(",")[0]
    'time [s]'
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
