"""MCAP with JSON: a topic a quantity (`/base/rate`: x, y, z), as Foxglove and PlotJuggler show it.

Every message has its time twice: as the time of the log, in whole nanoseconds from the earliest
sample or from zero, and exactly as `t` [s]. A sample that cannot be used is null. Files of others
are read with a map (`telemetry/recordings`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from freefloat.errors import FreefloatError
from freefloat.telemetry.readers.channel_groups import (
    KEY,
    ChannelGroup,
    about_text,
    channel_groups,
    json_number,
    telemetry_of_groups,
)
from freefloat.telemetry.readers.tables import (
    FileContent,
    TelemetryFormat,
    contents,
    too_large,
    unreadable,
)
from freefloat.telemetry.telemetry import Telemetry

MAGIC = b"\x89MCAP0\r\n"  # format: how a file begins
_LATEST = 2**63 / 1e9  # format: [s] that a stamp of nanoseconds can be


def write(telemetry: Telemetry, path: Path, *, truth_tag: str) -> None:
    """Write the telemetry, without its truth, in the order of time."""
    library = mcap_library("mcap.writer", path)
    groups = channel_groups(telemetry)
    start = min(0.0, *(float(group.time.min()) for group in groups))
    with path.open("wb") as file:
        writer = library.Writer(file)
        writer.start(profile="", library="freefloat")
        numbers = [
            register_topic(writer, group.name, {k: c.unit for k, c in group.channels.items()})
            for group in groups
        ]
        for n, group, row in _in_order(groups):
            time = float(group.time[row])
            content = {"t": time} | {
                field: json_number(float(c.values[row])) for field, c in group.channels.items()
            }
            stamp = log_time(time, start)
            writer.add_message(numbers[n], stamp, json.dumps(content).encode(), stamp)
        text = about_text(telemetry, groups, truth_tag=truth_tag, call=_topic)
        writer.add_metadata(KEY, {"telemetry": text, "start": repr(start)})
        writer.finish()


def register_topic(writer: Any, name: str, units: Mapping[str, str]) -> int:
    """A topic for a quantity with its fields, with a schema, which has the units."""
    properties = {"t": {"type": "number", "description": "time [s]"}} | {
        field: {"type": ["number", "null"], "description": f"{name} {field} [{unit}]"}
        for field, unit in units.items()
    }
    schema = {"type": "object", "title": name, "properties": properties}
    number = writer.register_schema(f"freefloat.{name}", "jsonschema", json.dumps(schema).encode())
    about = {f"unit.{field}": unit for field, unit in units.items()}
    return writer.register_channel(_topic(name), "json", number, about)


def log_time(time: float, start: float) -> int:
    """A time [s] as whole nanoseconds from a start [s], which a log needs."""
    return round(min(max(time - start, 0.0), _LATEST) * 1e9)


def _in_order(groups: list[ChannelGroup]) -> Iterator[tuple[int, ChannelGroup, int]]:
    """Every sample of every group by its time; samples of a group stay in their own order."""
    times = np.concatenate([np.maximum.accumulate(group.time) for group in groups])
    owners = np.repeat(np.arange(len(groups)), [len(group.time) for group in groups])
    rows = np.concatenate([np.arange(len(group.time)) for group in groups])
    for n in np.argsort(times, kind="stable").tolist():
        owner = int(owners[n])
        yield owner, groups[owner], int(rows[n])


def _topic(name: str) -> str:
    return "/" + name.replace(".", "/")


def read(path: Path, *, max_bytes: int) -> FileContent:
    """Return the telemetry that freefloat wrote into an MCAP file."""
    data = contents(path, max_bytes=max_bytes)
    library = mcap_library("mcap.reader", path)
    try:
        reader = library.SeekingReader(io.BytesIO(data), validate_crcs=True)
        summary = reader.get_summary()
        chunks = summary.chunk_indexes if summary is not None else []
        size = sum(chunk.uncompressed_size for chunk in chunks)
        if size > max_bytes:
            raise too_large(path, size, max_bytes=max_bytes)
        about = [one.metadata for one in reader.iter_metadata() if one.name == KEY]
        text = about[0].get("telemetry") if about else None
        groups: dict[str, dict[str, list[float]]] = {}
        if text is not None and all(chunk.compression in ("", "zstd") for chunk in chunks):
            for _, channel, message in reader.iter_messages(log_time_order=False):
                group = groups.setdefault(channel.topic, {})
                for key, value in json.loads(message.data).items():
                    group.setdefault(key, []).append(np.nan if value is None else value)
    except FreefloatError:
        raise
    except Exception as error:  # mcap and what unpacks for it raise many kinds on damaged files
        value = f"content its reader cannot follow ({type(error).__name__}: {error})"
        remedy = "fetch or write the file again"
        expected = "an undamaged MCAP file"
        raise unreadable(path, value, expected, remedy, code="file.damaged") from error
    return telemetry_of_groups(path, text, groups)


def mcap_library(name: str, path: Path) -> ModuleType:
    """A module of the package mcap; TelemetryError with what to install where there is none."""
    try:
        return import_module(name)
    except ImportError:
        remedy = "pip install 'freefloat[bags]'"
        expected = "mcap, for this format"
        raise unreadable(
            path, "no package mcap", expected, remedy, code="package.missing"
        ) from None


FORMAT = TelemetryFormat("MCAP", (".mcap",), read, write, begins=(MAGIC,))
