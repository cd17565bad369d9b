"""Criteria of designed motions in a campaign file: told before the first run, not in every one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from freefloat.campaign.campaign import PlanOptions
from freefloat.campaign.variations import AnyVariation, ChoiceVariation, GridVariation
from freefloat.errors import ExcitationError
from freefloat.model.model import Model
from freefloat.records.values import PathFault

NAME = "plan.criterion"


def criterion_faults(
    given: Mapping[str, Any], vary: Sequence[AnyVariation], robot: Model | None
) -> Iterator[PathFault]:
    """Criteria that there are not, wherever a file that designs motions gives one.

    Args:
        given: the content of the file.
        vary: its variations.
        robot: the model, whose free parameters a criterion may name.
    """
    places = {place: c for place, c in _criteria(given, vary) if c != PlanOptions.criterion}
    if robot is None or "design" not in given.get("steps", ()) or not places:
        return
    from freefloat.design.criteria import MOTION_ONLY, parse_criterion
    from freefloat.parameters.parameters import Parameters

    globs = given.get("free", ())
    known = Parameters(robot)
    names = list(dict.fromkeys(p.name for glob in globs for p in known.matching(glob)))
    for place, criterion in places.items():
        try:
            if criterion not in MOTION_ONLY:
                parse_criterion(criterion, names)
        except ExcitationError as error:
            for fault in error.faults:
                yield PathFault(place, repr(fault.value), fault.expected, fault.remedy, fault.code)


def _criteria(
    given: Mapping[str, Any], vary: Sequence[AnyVariation]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every criterion that a file gives, with its place."""
    told: list[tuple[tuple[str | int, ...], Any]] = [
        (("plan", "criterion"), given.get("plan", {}).get("criterion")),
        (("set", NAME), given.get("set", {}).get(NAME)),
    ]
    places = {v["name"]: i for i, v in enumerate(given.get("vary", [])) if "name" in v}
    for one in vary:
        if one.name == NAME and isinstance(one, ChoiceVariation | GridVariation):
            told += [(("vary", places[NAME], "values", k), c) for k, c in enumerate(one.values)]
    yield from ((place, value) for place, value in told if isinstance(value, str))
