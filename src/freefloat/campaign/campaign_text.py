"""A campaign as one JSON text with its model and its plan inside: for workers and for the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from freefloat.campaign.campaign import TABLES, Campaign, plain_value
from freefloat.campaign.variations import VARIATIONS
from freefloat.errors import CampaignError
from freefloat.excitation.plan_file import read_plan_text
from freefloat.excitation.plan_write import write_plan
from freefloat.model.model_file import read_model_text
from freefloat.model.model_write import write_model_text

HEAD = ("name", "model", "runs", "seed", "free", "steps", "function")
FORMAT, VERSION = "freefloat campaign", 1  # format: of the text


def write_campaign(campaign: Campaign) -> str:
    """The campaign as one JSON text, its model and plan inside."""
    told = {name: plain_value(getattr(campaign, name)) for name in (*HEAD, *TABLES, "set", "vary")}
    told["robot"] = "" if campaign.robot is None else write_model_text(campaign.robot)
    told["flown"] = "" if campaign.flown is None else write_plan(campaign.flown)
    return json.dumps({"format": FORMAT, "version": VERSION, **told, "code": campaign.code})


@lru_cache(maxsize=4)
def read_campaign(text: str) -> Campaign:
    """The campaign of a text that `write_campaign` made; CampaignError for any other."""
    try:
        raw = json.loads(text)
        if raw.pop("format") != FORMAT or raw.pop("version") != VERSION:
            raise ValueError("of another format or version")
        robot, flown = raw.pop("robot"), raw.pop("flown")
        vary = tuple(VARIATIONS[one["kind"]](**_tuples(one)) for one in raw.pop("vary"))
        tables = {name: record(**raw.pop(name)) for name, record in TABLES.items()}
        return Campaign(
            **_tuples(raw), **tables, vary=vary,
            robot=read_model_text(robot, file="campaign") if robot else None,
            flown=read_plan_text(flown, file="campaign") if flown else None,
        )  # fmt: skip
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"this is no campaign as freefloat writes it: {error}"
        raise CampaignError(message, code="file.format") from error


def _tuples(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: as_tuple(value) for key, value in raw.items()}


def as_tuple(value: Any) -> Any:
    """A list as a tuple; anything else as it is."""
    return tuple(value) if isinstance(value, list) else value
