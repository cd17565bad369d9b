"""How `freefloat check` shows what a plan and its sensors would tell of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import counted, facts, heading, number, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.model import Model
    from freefloat.observability.visibility import Visibility

KERNELS = ("observe.observe", "tangent.rk4_tangent")
STYLES = {"seen": "green", "weak": "yellow", "only in combination": "red", "invisible": "red"}
MOST_LINES = 12  # of combinations, and of trades


def looked_at(
    model: Model, *, plan: Path | None, sensors: str | None, free: Sequence[str]
) -> Visibility:
    """What is to be seen of the parameters that fit `free`: the root and what it holds unless said.

    FreefloatError for a plan that cannot be read, an unknown sensor or a glob that fits nothing.
    """
    from freefloat.cli.waiting import tell_first_run
    from freefloat.excitation.plan_file import load_plan
    from freefloat.observability.identifiability import identifiability
    from freefloat.parameters.parameters import Parameters

    globs = free or [f"{name}.*" for name in (model.root.body, *(t.name for t in model.targets))]
    parameters = Parameters.of(model).free(*globs)
    flown = load_plan(plan) if plan is not None else None
    tell_first_run(*KERNELS, takes="about half a minute")
    return identifiability(model, parameters, plan=flown, sensors=sensors)


def as_dict(found: Visibility) -> dict[str, object]:
    """The same for machines."""
    return {
        "rank": found.rank,
        "parameters": [asdict(sight) for sight in found.parameters],
        "combinations": [asdict(sum_) for sum_ in found.combinations],
        "trades": list(found.trades),
        "scale": asdict(found.scale) if found.scale else None,
        "notes": list(found.notes),
    }


def visible_parts(model: Model, found: Visibility) -> Iterator[RenderableType]:
    """The table of parameters, then what they do together, then the verdicts."""
    yield Text.assemble((model.name, "bold"), " · what the flight would tell")
    yield ""
    head = ("parameter", "unit ", "value", "expected std", "status ")
    yield table(head, [_row(*row) for row in _cells(found)])
    sums = [f"{s.words}, ± {s.std:.2g}" for s in found.combinations]
    yield from _lines("Seen together", sums)
    yield from _lines("Not told apart (changes that undo one another)", found.trades)
    yield from _lines("Notes", found.notes)
    yield ""
    n_seen = len(found.names("seen"))
    yield Text(
        f"{counted(n_seen, 'parameter')} of {len(found.parameters)} seen,"
        f" {counted(found.rank, 'direction')} in all.",
        style="bold",
    )
    if found.scale is not None:
        style = "green" if found.scale.is_fixed else "yellow"
        yield Text(f"Scale of masses and forces {found.scale.words}.", style=style)


def _cells(found: Visibility) -> Iterator[tuple[str, str, float, float, str]]:
    for s in found.parameters:
        yield s.name, s.unit, s.value, s.std, s.status


def _row(name: str, unit: str, value: float, std: float, status: str) -> tuple[str | Text, ...]:
    told = number(float(f"{std:.2g}")) if isfinite(std) else "–"
    return name, unit, number(value), told, Text(status, style=STYLES[status])


def _lines(title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
    if not lines:
        return
    yield ""
    yield heading(title)
    shown = list(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        shown.append(f"and {len(lines) - MOST_LINES} more (--json has all)")
    yield from (facts([("·", line)]) for line in shown)
