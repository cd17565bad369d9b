"""Channels that belong together, for formats that keep records and not tables.

The axes of one quantity, sampled together, are one group: `base.rate` with x, y and z. Every other
channel is a group of its own with the field `value`. What a group cannot say (exact names, units,
noise, metadata) is a text of JSON beside it, by which telemetry comes back as it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.errors import TelemetryError
from freefloat.telemetry.channel import Array, Channel
from freefloat.telemetry.names import ChannelName
from freefloat.telemetry.readers.tables import LAYOUT, FileContent, unreadable
from freefloat.telemetry.telemetry import Telemetry

KEY = "freefloat"  # format: the name of what is written beside the groups
VALUE = "value"  # format: the field of a group of one


@dataclass(frozen=True)
class ChannelGroup:
    """Channels with the same instants, by field."""

    name: str
    time: Array
    channels: dict[str, Channel]


def channel_groups(telemetry: Telemetry) -> list[ChannelGroup]:
    """The groups of telemetry, in its order."""
    found: dict[str, ChannelGroup] = {}
    for channel in telemetry.channels.values():
        parsed = ChannelName.parse(channel.name)
        group = found.get(parsed.group)
        if parsed.axis and group is not None and np.array_equal(group.time, channel.time):
            group.channels[parsed.axis] = channel
        elif parsed.axis and group is None:
            made = ChannelGroup(parsed.group, channel.time, {parsed.axis: channel})
            found[parsed.group] = made
        else:
            found[channel.name] = ChannelGroup(channel.name, channel.time, {VALUE: channel})
    return list(found.values())


def about_text(
    telemetry: Telemetry, groups: list[ChannelGroup], *, truth_tag: str, call: Callable[[str], str]
) -> str:
    """What groups do not say, as JSON; `call` gives the name of a group in the file."""
    places = {c.name: (call(g.name), f) for g in groups for f, c in g.channels.items()}
    channels = [
        {"name": c.name, "unit": c.unit, "noise": c.noise, "group": places[c.name][0],
         "field": places[c.name][1]}
        for c in telemetry.channels.values()
    ]  # fmt: skip
    metadata = dict(telemetry.metadata)
    return json.dumps(
        {"format": LAYOUT, "truth": truth_tag, "metadata": metadata, "channels": channels}
    )


def telemetry_of_groups(
    path: Path, text: str | None, groups: Mapping[str, Mapping[str, Any]]
) -> FileContent:
    """The telemetry of groups: their fields by name, and `t`, their instants [s]."""
    if text is None:
        raise unreadable(
            path, "a recording that freefloat did not write", "telemetry of freefloat",
            "give a map of its fields: freefloat import FILE --suggest --out map.toml, then --map"
            " map.toml", code="file.foreign",
        )  # fmt: skip
    try:
        about = json.loads(text)
        if about["format"] != LAYOUT:
            raise ValueError(f"format {about['format']!r}")
        channels = []
        for one in about["channels"]:
            group = groups[one["group"]]
            time = np.array(group["t"], dtype=float).reshape(-1)
            values = np.array(group[one["field"]], dtype=float).reshape(-1)
            noise = None if one["noise"] is None else float(one["noise"])
            channels.append(Channel(one["name"], one["unit"], time, values, noise=noise))
        return FileContent(Telemetry.of(channels, about["metadata"]), about["truth"])
    except TelemetryError as error:
        raise TelemetryError(f"{path}: {error.message}", error.faults) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise unreadable(
            path, f"content that is not as it was written ({error})", "telemetry of freefloat",
            "write it again", code="file.damaged",
        ) from error  # fmt: skip


def json_number(value: float) -> float | None:
    """A number as JSON has it: null where it is not finite."""
    return value if math.isfinite(value) else None
