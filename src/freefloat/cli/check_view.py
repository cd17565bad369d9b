"""How `freefloat check` shows a model on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import facts, indent, item, section, table
from freefloat.digits import vector_text
from freefloat.errors import shorten
from freefloat.model.body_tree import branches
from freefloat.report.model_rows import (
    LIMIT_HEAD,
    MODE_HEAD,
    SENSOR_HEAD,
    TREE_HEAD,
    VISIBILITY_HEAD,
    actuator_facts,
    branch_row,
    limit_facts,
    limit_rows,
    mass_facts,
    mode_row,
    sensor_row,
    visibility_row,
)
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.dynamics.model_check import ModelCheck
    from freefloat.model import Model
    from freefloat.model.body_tree import Branch
    from freefloat.observability.visibility import ParameterVisibility, Visibility

STYLES = {"seen": "green", "weak": "yellow", "only in combination": "red", "invisible": "red"}
MOST_LINES = 12  # format: combinations shown, and trades


def structure(model: Model) -> Iterator[RenderableType]:
    """What the model is, and its tree; this takes no time, so it can be shown first."""
    yield Text.assemble((model.name, "bold"), f" · {model.root.type} root {model.root.body}")
    for line in model.description.strip().splitlines():
        yield indent(Text(shorten(line, 200), style="dim"))
    rows = [branch_row(branch) for branch in branches(model)]
    yield from section("Structure", table(TREE_HEAD, rows, align="Lrlll"))


def overview(checked: ModelCheck) -> Iterator[RenderableType]:
    """The other sections one below the other, the verdict last."""
    model = checked.model
    yield from section("Mass properties at home, in root axes", facts(mass_facts(checked)))
    if checked.modes:
        rows = [mode_row(mode) for mode in checked.modes]
        modes = table(MODE_HEAD, rows, align="Rrrl")
        yield from section("Modes at home, driven joints held", modes)
    if model.wheels or model.thrusters:
        yield from section("Actuators beyond the joints", facts(actuator_facts(model)))
    if model.frames:
        head = ("frame", "on", "position [m]", "roll, pitch, yaw [rad]")
        places = ((f.name, f.body, f.placement) for f in model.frames)
        rows = [(n, on, vector_text(at.xyz), vector_text(at.rpy)) for n, on, at in places]
        yield from section("Frames", table(head, rows, align="Llrr"))
    if model.sensors:
        rows = [sensor_row(model, sensor) for sensor in model.sensors]
        yield from section("Sensors", table(SENSOR_HEAD, rows, align="Llrrll"))
    yield from _limits(model)
    if checked.notes:
        yield from section("Notes", *(item(note) for note in checked.notes))
    yield from _verdict(checked)


def _limits(model: Model) -> Iterator[RenderableType]:
    rows, given = limit_rows(model), limit_facts(model)
    if not rows and not given:
        return
    parts: list[RenderableType] = [facts(given)] if given else []
    if rows:
        parts.append(table(LIMIT_HEAD, rows, align="Lrrrrrrr"))
        parts.append(Text("  rad, s, N m; m and N for prismatic joints", style="dim"))
    yield from section("Limits", *parts)


def _verdict(checked: ModelCheck) -> Iterator[RenderableType]:
    yield ""
    if checked.faults:
        yield Text(f"{checked.model.name} cannot fly:", style="bold red")
        yield from (item(fault) for fault in checked.faults)
        return
    model = checked.model
    moving = sum(joint.type != "fixed" for joint in model.joints)
    parts = [_bodies(branches(model)), count_noun(moving, "moving joint")]
    parts += [count_noun(len(checked.modes), "mode"), count_noun(len(model.sensors), "sensor")]
    yield Text(f"{model.name} holds together: {', '.join(parts)}.", style="bold green")


def _bodies(drawn: list[Branch]) -> str:
    """How many bodies there are, as in the structure above, and which of them are special."""
    kinds = {
        "fuel": sum(branch.type == "pendulum" for branch in drawn),
        "grasped": sum(branch.type == "grasped" for branch in drawn),
        "massless": sum(branch.mass == 0.0 for branch in drawn),
    }
    special = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return count_noun(len(drawn), "body", "bodies") + (f" ({special})" if special else "")


def visibility_overview(model: Model, seen: Visibility) -> Iterator[RenderableType]:
    """The table of parameters, then their combinations, then the verdict."""
    yield Text.assemble((model.name, "bold"), " · what the flight would show")
    yield ""
    yield table(VISIBILITY_HEAD, map(_parameter, seen.parameters), align="Llrrl")
    sums = [f"{one.words}, ± {one.std:.2g}" for one in seen.combinations]
    yield from _list("Observable in combination", sums)
    yield from _list("Not distinguishable (changes that cancel)", seen.trades)
    yield from _list("Notes", seen.notes)
    yield ""
    yield Text(
        f"{len(seen.names('seen'))} of {count_noun(len(seen.parameters), 'parameter')} seen;"
        f" rank of the information matrix {seen.rank}.",
        style="bold",
    )
    if seen.scale is not None:
        style = "green" if seen.scale.is_fixed else "yellow"
        yield Text(f"Scale of masses and forces {seen.scale.words}.", style=style)


def _parameter(one: ParameterVisibility) -> tuple[str | Text, ...]:
    *cells, status = visibility_row(one)
    return *cells, Text(status, style=STYLES[status])


def _list(title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
    if not lines:
        return
    yield from section(title, *map(item, lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        yield item(f"and {len(lines) - MOST_LINES} more (--json has all)")
