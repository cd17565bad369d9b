"""Whether a Plan can be flown: its own numbers and what it asks of a model; all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.errors import Fault
from freefloat.excitation.commands import WRENCH
from freefloat.excitation.motions import Table
from freefloat.excitation.part_checks import Way, Wrong, not_a_number, part_wrongs, told

if TYPE_CHECKING:
    from freefloat.excitation.plan import Plan
    from freefloat.model.model import Model

LONGEST_NAME = 200
# What the sections of a plan are called (in messages and files), and the attribute of each.
SECTIONS = {
    "motion": "motions",
    "torque": "torques",
    "thrust": "thrusts",
    "wrench": "wrench",
    "feedback": "feedback",
}
_NEEDED = {"motion": ("at",), "feedback": ("kp", "kd", "limit")}  # others: a command
# Which directions a root can be moved in: places of Start.rate and Start.velocity, then WRENCH.
_HELD = {
    "floating": ((), (), ()),
    "planar": ((0, 1), (2,), ("torque.x", "torque.y", "force.z")),
    "fixed": ((0, 1, 2), (0, 1, 2), WRENCH),
}


def own_faults(plan: Plan) -> list[Fault]:
    """Everything wrong with the plan itself, whatever flies it."""
    faults = [_fault("", wrong) for wrong in head_wrongs(plan.name, plan.duration)]
    faults += [_fault("start", wrong) for wrong in part_wrongs(plan.start)]
    for section, attribute in SECTIONS.items():
        for name, part in getattr(plan, attribute).items():
            here = f"{section} {name!r}"
            if any(not hasattr(part, method) for method in _NEEDED.get(section, ("over", "edges"))):
                what = {"motion": "a motion such as Fourier", "feedback": "a Feedback"}
                expected = what.get(section, "a command such as Pulses")
                faults.append(Fault(here, told(part), expected, "see freefloat.excitation"))
            elif is_dataclass(part):
                faults += [_fault(here, wrong) for wrong in part_wrongs(part)]
    if plan.control is not None:
        faults += [_fault("control", wrong) for wrong in part_wrongs(plan.control)]
    has_length = not list(not_a_number(plan.duration, ()))
    return [*faults, *(whole_faults(plan) if has_length else ())]


def whole_faults(plan: Plan) -> list[Fault]:
    """Parts of a plan, sound by themselves, that do not go with the others."""
    faults = [
        _fault(f"motion {name!r}", wrong)
        for name, part in plan.motions.items()
        if isinstance(part, Table) and not part_wrongs(part)
        for wrong in _uncovered(part, plan)
    ]
    return [*faults, *(_overruled(plan) if plan.control is not None else ())]


def head_wrongs(name: Any, duration: Any) -> Iterator[Wrong]:
    """What is wrong with the name and the duration of a plan."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        expected = f"1 to {LONGEST_NAME} printable characters"
        yield Wrong(("name",), told(name), expected, "name the plan")
    found = list(not_a_number(duration, ("duration",)))
    yield from found
    if not found and not duration > 0.0:
        remedy = "give the length of the plan in seconds"
        yield Wrong(("duration",), f"{duration:g}", "> 0 s", remedy)


def shown(way: Way) -> str:
    """The steps of a way as they stand behind the name of a part: .times[3]."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)


def _fault(place: str, wrong: Wrong) -> Fault:
    return Fault((place + shown(wrong.way)).lstrip("."), *wrong[1:])


def _uncovered(part: Table, plan: Plan) -> Iterator[Wrong]:
    """A recorded motion that is shorter than the plan would stop or start with a jump."""
    slack = 1e-9 * (1.0 + abs(plan.duration))
    if not (part.times[0] <= slack and part.times[-1] >= plan.duration - slack):
        span = f"{part.times[0]:g} s to {part.times[-1]:g} s"
        expected = f"times that cover the plan, 0 s to {plan.duration:g} s"
        yield Wrong(("times",), span, expected, "shorten the plan or lengthen the table")


def _overruled(plan: Plan) -> Iterator[Fault]:
    """What a closed loop would silently ignore."""
    for section, attribute in SECTIONS.items():
        for name in getattr(plan, attribute):
            yield Fault(
                f"{section} {name!r}",
                "a closed loop beside it",
                "nothing else that moves or pushes: the loop drives every joint and the root",
                f"remove the control or the {section}",
            )


# ---- With a model --------------------------------------------------------------------------------


def model_faults(plan: Plan, model: Model) -> list[Fault]:
    """Everything the plan asks for that the model does not have or cannot do."""
    roles = {c.name: c.role for c in model.assembly.coordinates}
    faults = [*_start_faults(plan, model, set(roles))]
    for section in ("motion", "torque", "feedback"):
        names = getattr(plan, SECTIONS[section])
        faults += _unknown(section, names, roles)
        faults += _role_faults(section, plan, roles)
    faults += _unknown("thrust", plan.thrusts, [thruster.name for thruster in model.thrusters])
    faults += _unknown("wrench", plan.wrench, WRENCH)
    for name in plan.wrench:
        if name in _HELD[model.root.type][2]:
            can = [w for w in WRENCH if w not in _HELD[model.root.type][2]]
            expected = f"one of {', '.join(can)}" if can else "no wrench on a root that is fixed"
            value = f"{name} on a {model.root.type} root"
            faults.append(Fault(f"wrench {name!r}", value, expected, "remove it"))
    return faults


def _unknown(section: str, names: Iterable[str], known: Iterable[str]) -> Iterator[Fault]:
    known = list(known)
    for name in names:
        if name not in known:
            close = [one for one in known if one.lower() == str(name).lower()]
            close += get_close_matches(str(name)[:50], known, n=1)
            remedy = f"did you mean {close[0]!r}?" if close else "rename it or remove it"
            listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            expected = f"one of {listed}" if known else "none: the model has none"
            yield Fault(f"{section} {name!r}", str(name), expected, remedy)


def _role_faults(section: str, plan: Plan, roles: dict[str, str]) -> Iterator[Fault]:
    for name in getattr(plan, SECTIONS[section]):
        role = roles.get(name)
        here = f"{section} {name!r}"
        if section == "motion":
            if role == "locked":
                yield Fault(here, "role 'locked'", "role 'motion'", "unlock it in the model")
            elif role in ("torque", "passive") and name not in plan.feedback:
                yield Fault(
                    here,
                    f"role {role!r}",
                    "role 'motion', or a [[feedback]] that makes it follow",
                    "set the joint's role in the model or add feedback",
                )
        elif role in ("motion", "locked"):
            remedy = "a prescribed coordinate takes no torque: change its role in the model"
            yield Fault(here, f"role {role!r}", "role 'torque'", remedy)
        elif role == "passive":
            remedy = "nothing drives a passive coordinate: change its role in the model"
            yield Fault(here, f"role {role!r}", "role 'torque'", remedy)


def _start_faults(plan: Plan, model: Model, known: set[str]) -> Iterator[Fault]:
    start, (rates, velocities, _) = plan.start, _HELD[model.root.type]
    for field in ("coordinates", "speeds"):
        names = getattr(start, field)
        yield from _unknown(f"start.{field}", names if isinstance(names, dict) else (), known)
    if part_wrongs(start):
        return
    root = f"a {model.root.type} root"
    for field, places in (("rate", rates), ("velocity", velocities)):
        value = getattr(start, field)
        if any(value[i] != 0.0 for i in places):
            axes = ", ".join("xyz"[i] for i in places)
            yield Fault(f"start.{field}", str(value), f"0 along {axes}: {root}", "correct it")
    x, y = start.attitude[:2]
    if model.root.type == "planar" and (x != 0.0 or y != 0.0):
        expected = "a turn about z only: a planar root"
        yield Fault("start.attitude", str(start.attitude), expected, "make x and y zero")
    yield from _start_conflicts(plan, model)


def _start_conflicts(plan: Plan, model: Model) -> Iterator[Fault]:
    """Prescribed coordinates start on their motion; a start that says otherwise is a mistake."""
    for coordinate in model.assembly.coordinates:
        part = plan.motions.get(coordinate.name)
        if coordinate.role != "motion" or part is None or not is_dataclass(part):
            continue
        if part_wrongs(part):
            continue
        at = part.at(np.zeros(1))
        for field, value in (("coordinates", at[0][0]), ("speeds", at[1][0])):
            given = getattr(plan.start, field).get(coordinate.name)
            if given is not None and abs(given - value) > 1e-9 * (1.0 + abs(value)):
                yield Fault(
                    f"start.{field}.{coordinate.name}",
                    f"{given:g}",
                    f"{value:g}, where its motion starts",
                    "change the motion, or leave this out",
                )
