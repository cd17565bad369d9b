"""Whether a Plan can be flown: its own numbers and what it asks of a model; all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.dynamics.state import Start
from freefloat.errors import Fault
from freefloat.excitation.commands import WRENCH, Pulses, Steps
from freefloat.excitation.motions import Bangs, Fourier, Moves, Multisine, Speeds, Spline, Table
from freefloat.records import values
from freefloat.records.record_checks import bound_faults, value_faults
from freefloat.records.values import PathFault, RefusedError, display, path_text
from freefloat.text import did_you_mean, listing

if TYPE_CHECKING:
    from freefloat.excitation.plan import Plan
    from freefloat.model.model import Model

# What the sections of a plan are called (in messages and files), and the attribute of each.
SECTIONS = {
    "motion": "motions",
    "torque": "torques",
    "thrust": "thrusts",
    "wrench": "wrench",
    "feedback": "feedback",
}
# What a part of each section must have, and what it is then; other sections hold commands.
_NEEDED = {
    "motion": (("at",), "a motion such as Fourier"),
    "feedback": (("kp", "kd", "limit"), "a Feedback"),
}
_COMMAND = (("over", "edges"), "a command such as Pulses")
# Lists that go together, and how many numbers they have at least.
_PAIRS = {
    Fourier: ("a", "b", 0),
    Multisine: ("cosines", "sines", 0),
    Moves: ("times", "values", 1),
    Speeds: ("times", "speeds", 1),
    Table: ("times", "values", 2),
    Steps: ("times", "levels", 1),
}
_COUNTS = {"position": 3, "attitude": 4, "velocity": 3, "rate": 3}  # of a Start
# Which directions a root can be moved in: places of Start.rate and Start.velocity, then WRENCH.
_HELD = {
    "floating": ((), (), ()),
    "planar": ((0, 1), (2,), ("torque.x", "torque.y", "force.z")),
    "fixed": ((0, 1, 2), (0, 1, 2), WRENCH),
}
ROUNDING = 1e-9  # theory: of a time or an angle; decimals in a file are no nearer than that
UNIT = 1e-3  # format: how far from 1 the norm of a quaternion may be that was written with 3 digits


# ---- The parts -----------------------------------------------------------------------------------


def part_faults(part: Any) -> list[PathFault]:
    """Everything wrong with the numbers of a motion, command, feedback, control or start.

    >>> [fault.path for fault in part_faults(Moves((0.0, 2.0, 1.0), (0.0, 0.5)))]
    [('times',), ('times', 2)]
    """
    unusable = value_faults(part)
    if unusable:  # nothing can be said about the sign or order of what is not a number
        return unusable
    found = bound_faults(part)
    if type(part) in _PAIRS:
        found += _pair_faults(part, *_PAIRS[type(part)])
    if isinstance(part, Spline) and len(part.control) < 2:
        found.append(_too_few("control", len(part.control), "at least 2 control points"))
    if isinstance(part, Bangs) and not found:
        found += _bang_faults(part)
    if isinstance(part, Pulses):
        found += _pulse_faults(part)
    if isinstance(part, Start):
        found += _start_number_faults(part)
    return found


def _too_few(name: str, count: int, expected: str) -> PathFault:
    return PathFault((name,), f"{count} numbers", expected, "add some", "value.count")


def _pair_faults(part: Any, first: str, second: str, least: int) -> Iterator[PathFault]:
    a, b = getattr(part, first), getattr(part, second)
    if len(a) != len(b):
        value = f"{len(a)} {first} and {len(b)} {second}"
        yield PathFault((first,), value, "equally many", "give one of each", "value.count")
    elif len(a) < least:
        yield _too_few(first, len(a), f"at least {least}")
    if first == "times" and not np.all(np.diff(np.asarray(a, dtype=float)) > 0.0):
        for i, (before, after) in enumerate(pairwise(a), start=1):
            if not after > before:
                value, remedy = f"{after:g} s after {before:g} s", "sort them and drop doubles"
                yield PathFault((first, i), value, "increasing times", remedy, "value.order")


def _bang_faults(part: Bangs) -> Iterator[PathFault]:
    levels = np.asarray(part.levels, dtype=float)
    if not len(levels):
        yield _too_few("levels", 0, "at least 2 levels")
    elif abs(levels.sum()) > ROUNDING * np.abs(levels).sum():
        value, expected = f"a sum of {levels.sum():g}", "levels that add up to 0"
        yield PathFault(("levels",), value, expected, "it must end at rest", "value.conflict")
    most = part.duration / (1.0 + max(1, len(levels)))
    if part.ramp > most * (1.0 + ROUNDING):
        expected, remedy = f"at most {most:g} s", "a change must be over before the next begins"
        yield PathFault(("ramp",), f"{part.ramp:g} s", expected, remedy, "value.range")


def _pulse_faults(part: Pulses) -> Iterator[PathFault]:
    for i, (_, length, _) in enumerate(part.pulses):
        if length < 0.0:
            value, path = f"length {length:g} s", ("pulses", i)
            yield PathFault(path, value, ">= 0 s", "drop the sign", "value.range")


def _start_number_faults(part: Start) -> Iterator[PathFault]:
    for name, count in _COUNTS.items():
        value = getattr(part, name)
        if len(value) != count:
            expected, remedy = f"{count} numbers", "give one per axis"
            yield PathFault((name,), f"{len(value)} numbers", expected, remedy, "value.count")
    norm = float(np.linalg.norm(np.asarray(part.attitude, dtype=float)))
    if len(part.attitude) == 4 and not abs(norm - 1.0) < UNIT:
        expected = "a unit quaternion x, y, z, w"
        remedy = "divide it by its norm; no rotation is [0, 0, 0, 1]"
        yield PathFault(("attitude",), f"norm {norm:g}", expected, remedy, "value.range")


# ---- The plan as a whole -------------------------------------------------------------------------


def own_faults(plan: Plan) -> list[Fault]:
    """Everything wrong with the plan itself, whatever flies it."""
    faults = [_fault("", fault) for fault in head_faults(plan.name, plan.duration)]
    faults += [_fault("start", fault) for fault in part_faults(plan.start)]
    for section, attribute in SECTIONS.items():
        needed, expected = _NEEDED.get(section, _COMMAND)
        for name, part in getattr(plan, attribute).items():
            here = f"{section} {name!r}"
            if any(not hasattr(part, method) for method in needed):
                remedy = "see freefloat.excitation"
                faults.append(Fault(here, display(part), expected, remedy, "value.type"))
            elif is_dataclass(part):
                faults += [_fault(here, fault) for fault in part_faults(part)]
    if plan.control is not None:
        faults += [_fault("control", fault) for fault in part_faults(plan.control)]
    has_length = not any(fault.path == ("duration",) for fault in _duration_faults(plan.duration))
    return [*faults, *(whole_faults(plan) if has_length else ())]


def whole_faults(plan: Plan) -> list[Fault]:
    """Parts of a plan, sound by themselves, that do not go with the others."""
    faults = [
        _fault(f"motion {name!r}", fault)
        for name, part in plan.motions.items()
        if isinstance(part, Table) and not part_faults(part)
        for fault in _span_faults(part, plan)
    ]
    return [*faults, *(_control_conflicts(plan) if plan.control is not None else ())]


def head_faults(name: Any, duration: Any) -> Iterator[PathFault]:
    """What is wrong with the name and the duration of a plan."""
    longest = values.LONGEST_NAME
    if not isinstance(name, str) or not 0 < len(name) <= longest or not name.isprintable():
        expected = f"1 to {longest} printable characters"
        yield PathFault(("name",), display(name), expected, "name the plan", "name.form")
    found = list(_duration_faults(duration))
    yield from found
    if not found and not duration > 0.0:
        remedy = "give the length of the plan in seconds"
        yield PathFault(("duration",), f"{duration:g}", "> 0 s", remedy, "value.range")


def _duration_faults(duration: Any) -> Iterator[PathFault]:
    try:
        values.number(duration)
    except RefusedError as refused:
        yield from (fault.below(("duration",)) for fault in refused.faults)


def _fault(place: str, fault: PathFault) -> Fault:
    inside = path_text(fault.path)
    dot = "." if place and inside else ""
    return Fault(f"{place}{dot}{inside}", fault.value, fault.expected, fault.remedy, fault.code)


def _span_faults(part: Table, plan: Plan) -> Iterator[PathFault]:
    """A recorded motion that is shorter than the plan would stop or start with a jump."""
    slack = ROUNDING * (1.0 + abs(plan.duration))
    if not (part.times[0] <= slack and part.times[-1] >= plan.duration - slack):
        span = f"{part.times[0]:g} s to {part.times[-1]:g} s"
        expected = f"times that cover the plan, 0 s to {plan.duration:g} s"
        remedy = "shorten the plan or lengthen the table"
        yield PathFault(("times",), span, expected, remedy, "value.range")


def _control_conflicts(plan: Plan) -> Iterator[Fault]:
    """What a closed loop would silently ignore."""
    for section, attribute in SECTIONS.items():
        for name in getattr(plan, attribute):
            yield Fault(
                f"{section} {name!r}",
                "a closed loop beside it",
                "nothing else that moves or pushes: the loop drives every joint and the root",
                f"remove the control or the {section}",
                "value.conflict",
            )


# ---- With a model --------------------------------------------------------------------------------


def model_faults(plan: Plan, model: Model) -> list[Fault]:
    """Everything the plan asks for that the model does not have or cannot do."""
    roles = {c.name: c.role for c in model.assembly.coordinates}
    faults = [*_start_faults(plan, model, set(roles))]
    for section in ("motion", "torque", "feedback"):
        names = getattr(plan, SECTIONS[section])
        faults += _unknown_faults(section, names, roles)
        faults += _role_faults(section, plan, roles)
    thrusters = [thruster.name for thruster in model.thrusters]
    faults += _unknown_faults("thrust", plan.thrusts, thrusters)
    faults += _unknown_faults("wrench", plan.wrench, WRENCH)
    for name in plan.wrench:
        if name in _HELD[model.root.type][2]:
            can = [w for w in WRENCH if w not in _HELD[model.root.type][2]]
            expected = f"one of {', '.join(can)}" if can else "no wrench on a root that is fixed"
            value = f"{name} on a {model.root.type} root"
            place = f"wrench {name!r}"
            faults.append(Fault(place, value, expected, "remove it", "plan.held"))
    return faults


def _unknown_faults(section: str, names: Iterable[str], known: Iterable[str]) -> Iterator[Fault]:
    known = list(known)
    for name in names:
        if name not in known:
            remedy = did_you_mean(str(name), known, otherwise="rename it or remove it")
            expected = f"one of {listing(known)}" if known else "none: the model has none"
            yield Fault(f"{section} {name!r}", str(name), expected, remedy, "name.unknown")


def _role_faults(section: str, plan: Plan, roles: dict[str, str]) -> Iterator[Fault]:
    for name in getattr(plan, SECTIONS[section]):
        role = roles.get(name)
        here = f"{section} {name!r}"
        if section == "motion":
            if role == "locked":
                remedy = "unlock it in the model"
                yield Fault(here, "role 'locked'", "role 'motion'", remedy, "plan.role")
            elif role in ("torque", "passive") and name not in plan.feedback:
                yield Fault(
                    here,
                    f"role {role!r}",
                    "role 'motion', or a [[feedback]] that makes it follow",
                    "set the joint's role in the model or add feedback",
                    "plan.role",
                )
        elif role in ("motion", "locked"):
            remedy = "a prescribed coordinate takes no torque: change its role in the model"
            yield Fault(here, f"role {role!r}", "role 'torque'", remedy, "plan.role")
        elif role == "passive":
            remedy = "nothing drives a passive coordinate: change its role in the model"
            yield Fault(here, f"role {role!r}", "role 'torque'", remedy, "plan.role")


def _start_faults(plan: Plan, model: Model, known: set[str]) -> Iterator[Fault]:
    start, (rates, velocities, _) = plan.start, _HELD[model.root.type]
    for field in ("coordinates", "speeds"):
        names = getattr(start, field)
        found = names if isinstance(names, Mapping) else ()
        yield from _unknown_faults(f"start.{field}", found, known)
    if part_faults(start):
        return
    root = f"a {model.root.type} root"
    for field, places in (("rate", rates), ("velocity", velocities)):
        value = getattr(start, field)
        if any(value[i] != 0.0 for i in places):
            expected = f"0 along {', '.join('xyz'[i] for i in places)}: {root}"
            yield Fault(f"start.{field}", str(value), expected, "correct it", "plan.held")
    x, y = start.attitude[:2]
    if model.root.type == "planar" and (x != 0.0 or y != 0.0):
        expected, remedy = "a rotation about z only: a planar root", "make x and y zero"
        yield Fault("start.attitude", str(start.attitude), expected, remedy, "plan.held")
    yield from _start_conflicts(plan, model)


def _start_conflicts(plan: Plan, model: Model) -> Iterator[Fault]:
    """Prescribed coordinates start on their motion; a start that says otherwise is a mistake."""
    for coordinate in model.assembly.coordinates:
        part = plan.motions.get(coordinate.name)
        if coordinate.role != "motion" or part is None or not is_dataclass(part):
            continue
        if part_faults(part):
            continue
        at = part.at(np.zeros(1))
        for field, value in (("coordinates", at[0][0]), ("speeds", at[1][0])):
            given = getattr(plan.start, field).get(coordinate.name)
            if given is not None and abs(given - value) > ROUNDING * (1.0 + abs(value)):
                yield Fault(
                    f"start.{field}.{coordinate.name}",
                    f"{given:g}",
                    f"{value:g}, where its motion starts",
                    "change the motion, or leave this out",
                    "value.conflict",
                )
