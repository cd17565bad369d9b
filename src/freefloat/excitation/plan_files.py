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

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.plan import Plan
from freefloat.excitation.plan_checks import SECTIONS, own_faults
from freefloat.files import atomic_write
from freefloat.model.model import Model

MAX_ROWS = 5_000_000  # of a table: above it the rate is a mistake, and memory would run out


def load_plan(path: str | Path, model: Model | None = None) -> Plan:
    """The plan in a plan file (TOML); with a model, one that the model can fly.

    Raises ExcitationError listing every fault: file, place, value, expectation, remedy. What does
    not fit the model is listed beside what is wrong with the file, each with its line.
    """
    from freefloat.excitation.plan_reading import read_plan

    _require_suffix(path, ".toml")
    return read_plan(Path(path), model)


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
    from freefloat.excitation.plan_reading import MAX_BYTES

    _require_suffix(path, ".toml")
    data = write_plan(plan).encode("utf-8")
    if len(data) > MAX_BYTES:
        fault = Fault(
            f"plan {plan.name!r}",
            f"{len(data)} bytes",
            f"at most {MAX_BYTES} bytes",
            "thin out its tables; a spline with fewer control points says the same",
        )
        raise ExcitationError(f"the plan {plan.name!r} is too large to be written", [fault])
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
    from freefloat.excitation.plan_reading import OWNERS

    faults = [*own_faults(plan), *_unwritable(plan)]
    if faults:
        raise ExcitationError(f"the plan {plan.name!r} cannot be written", faults)
    blocks = [_table("format = 1", {"name": plan.name, "duration": plan.duration})]
    if start := _given(plan.start):
        blocks.append(_table("[start]", start))
    for section, attribute in SECTIONS.items():
        for name, part in getattr(plan, attribute).items():
            blocks.append(_table(f"[[{section}]]", {OWNERS[section]: name, **_given(part)}))
    if plan.control is not None:
        blocks.append(_table("[control]", _given(plan.control)))
    return "\n".join(blocks)


def save_table(plan: Plan, model: Model, path: str | Path, *, rate: float) -> None:
    """Write the motion as a time table (CSV) that a robot's controller can play.

    One row every 1 / rate [s] from 0 to the end of the plan, with position, velocity and
    acceleration of every coordinate that is moved (joints, motors and wheels on a motion, and the
    references of those under feedback), then commanded torques and thrusts, each as its mean until
    the next row so that impulses are exact, in full precision.
    """
    _require_suffix(path, ".csv")
    plan.check(model)
    if plan.control is not None:
        fault = Fault("control", plan.control.kind, "motions", "record a simulated flight instead")
        raise ExcitationError("a closed loop has no motion that could be tabulated", [fault])
    if not (np.isfinite(rate) and 0.0 < rate * plan.duration <= MAX_ROWS):
        expected = f"> 0 Hz and at most {MAX_ROWS} rows"
        fault = Fault("rate", f"{rate:g} Hz", expected, "give samples per second")
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


def _require_suffix(path: str | Path, suffix: str) -> None:
    found = Path(path).suffix
    if found.lower() != suffix:
        fault = Fault(str(path), found or "no suffix", suffix, f"end the name in {suffix}")
        raise ExcitationError(f"{Path(path).name}: not this kind of file", [fault])


def _unwritable(plan: Plan) -> Iterator[Fault]:
    """What a plan may hold in Python but no plan file can: other classes, odd names."""
    from freefloat.excitation.plan_reading import COMMANDS, MOTIONS

    for section, attribute in SECTIONS.items():
        kinds = MOTIONS if section == "motion" else COMMANDS
        for name, part in getattr(plan, attribute).items():
            here = f"{section} {name!r}"
            yield from _odd_name(here, name)
            if section != "feedback" and type(part) not in kinds.values():
                expected, remedy = "one of " + ", ".join(kinds), "tabulate it as a Table"
                yield Fault(here, type(part).__name__, expected, remedy)
    for field in ("coordinates", "speeds"):
        for name in getattr(plan.start, field):
            yield from _odd_name(f"start.{field}", name)


def _odd_name(place: str, name: object) -> Iterator[Fault]:
    if not isinstance(name, str) or not name.strip() or len(name) > 200 or not name.isprintable():
        yield Fault(place, repr(name)[:200], "a name of 1 to 200 printable characters", "rename it")


def _given(part: Any) -> dict[str, Any]:
    """The kind of a part, and its values that differ from their defaults."""
    kind = {"kind": part.kind} if hasattr(part, "kind") else {}
    others = (field for field in fields(part) if field.name != "kind")
    values = {
        field.name: getattr(part, field.name) for field in others if not _is_left_out(field, part)
    }
    return {**kind, **values}


def _is_left_out(field: Field[Any], part: Any) -> bool:
    value = getattr(part, field.name)
    if field.default_factory is not MISSING or value is None:
        return not value
    if field.default is MISSING or field.default is None:
        return False
    # Compared as text: minus zero equals zero, yet it is a value of its own, to be kept.
    return _value(field.default) == _value(value)


def _table(header: str, values: dict[str, Any]) -> str:
    return "\n".join([header, *(f"{key} = {_value(value)}" for key, value in values.items()), ""])


def _value(value: Any) -> str:
    """A value as TOML writes it; numbers with all their digits."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return "{ " + inner + " }"
    if isinstance(value, tuple | list | np.ndarray):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(float(value))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
