"""`freefloat import`: a recording of anybody's becomes telemetry, by a map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App
from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import FLAG, Shared, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.errors import Fault, shorten, visible
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.telemetry.recordings.import_telemetry import Imported
    from freefloat.telemetry.recordings.source_recording import (
        RecordedField,
        RecordedStream,
        SourceRecording,
    )

MOST_FIELDS = 200  # format: rows of fields shown on the screen
FIRST_NUMBERS = 4  # format: of a group of fields, in its row
# format: the last axis of a vector or the last number of an array
LAST_PART = re.compile(r"(.*?)(?:\.[xyzw]|(\[\d+\]))")
MOST_UNMAPPED = 60  # format: names of fields shown on the screen

# `import` is a word of Python: the verb gets its name here
import_ = App(name="import", help_format="plaintext", result_action="return_value")


@import_.default
def import_source(
    source: Path,
    /,
    *,
    map: Path | None = None,
    out: Path | None = None,
    suggest: Annotated[bool, FLAG] = False,
    model: str | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Convert a recording in another format to telemetry, by a map of its fields.

    Reads text tables (.csv, .tsv, .txt with any header or none), .npz, MATLAB,
    HDF5, ROS 1 and ROS 2 bags, MCAP (ROS, JSON, protobuf), PX4 ULog and
    Parquet. Without a map it lists what the recording holds. --suggest drafts a
    map, with a comment wherever it guessed. What the map leaves out is listed.
    Every verb that reads a flight takes the same map directly (--map).

    For example:
      freefloat import flight.bag
      freefloat import flight.bag --suggest --out map.toml
      freefloat import flight.bag --map map.toml --out flight.parquet

    Parameters
    ----------
    source
        The recording: a file, or the folder of a ROS 2 bag.
    map
        Map (.toml) from fields to channels; docs/recordings.md explains it.
    out
        Write telemetry (.parquet, .csv, .mcap, .mat; needs --map), or the draft (.toml).
    suggest
        Print a draft of a map, to be checked and completed.
    model
        The robot: with --suggest, numbered joints get the names of its joints in order.
    """
    what = "map" if suggest and map is None else "telemetry"
    files = OutputFiles(**{what: ("--out", out)})
    require([*files.faults(), *_option_faults(map, out, suggest, model)])
    files.require_possible(source=source, map=map)
    if map is None:
        return _draft(source, out, model, shared) if suggest else _look(source, shared)
    from freefloat.telemetry.recordings.import_telemetry import import_recording

    found = import_recording(source, map, max_bytes=shared.max_bytes)
    if out is not None:
        found.telemetry.save(out)
    if shared.json:
        screen.print_json(_as_dict(source, found, files.paths))
    else:
        screen.show(*_overview(source, found, files.paths))
    return 0


def _option_faults(
    map: Path | None, out: Path | None, suggest: bool, model: str | None
) -> Iterator[Fault]:
    if model is not None and not suggest:
        expected, remedy = "--suggest as well", "add --suggest, or leave the model out"
        yield Fault("--model", model, expected, remedy, "option.conflict")
    if out is not None and map is None and not suggest:
        remedy = "add --map MAP.toml; --suggest drafts one"
        yield Fault("--out", str(out), "a map as well", remedy, "option.conflict")
    if suggest and map is not None:
        yield Fault("--suggest", "with --map", "one of them", "leave one out", "option.conflict")


def _open(source: Path, shared: Shared) -> SourceRecording:
    from freefloat.telemetry.recordings.import_telemetry import open_recording
    from freefloat.telemetry.recordings.source_recording import SourceOptions

    return open_recording(source, SourceOptions(max_bytes=shared.max_bytes))


def _joints(model: str | None, shared: Shared) -> list[str]:
    """The names of a robot's joints, in order."""
    if model is None:
        return []
    from freefloat.cli.robot_file import read_robot

    robot = read_robot(model, strict=shared.strict)
    return [
        one.name
        for one in robot.assembly.coordinates
        if one.role == "motion" and one.type != "rotor" and not one.name.endswith(".motor")
    ]


def _draft(source: Path, out: Path | None, model: str | None, shared: Shared) -> int:
    """Print or write the draft of a map."""
    from freefloat.files import atomic_write
    from freefloat.telemetry.recordings.map_suggestion import suggest_map

    joints = _joints(model, shared)
    text = suggest_map(_open(source, shared), max_bytes=shared.max_bytes, joints=joints)
    if out is not None:
        atomic_write(out, text.rstrip() + "\n")
    written = {} if out is None else {"map": out}
    if shared.json:
        screen.print_json({"source": str(source), "map": text, "files": paths_as_text(written)})
    elif out is None:
        screen.print_lines(text)
    else:
        screen.show(*screen.files_section(written))
    return 0


def _look(source: Path, shared: Shared) -> int:
    """Show what a recording holds."""
    recording = _open(source, shared)
    if shared.json:
        streams = [_stream_dict(stream) for stream in recording.streams]
        notes = screen.notes_json(recording.notes)
        about = {"source": str(source), "format": recording.format}
        screen.print_json({**about, "streams": streams, "notes": notes})
    else:
        screen.show(*_listing(recording))
    return 0


def _stream_dict(stream: RecordedStream) -> dict[str, object]:
    return {
        "name": stream.name,
        "type": stream.kind,
        "fields": [
            {"name": stream.reference(one.name), "samples": one.n_samples, "unit": one.unit,
             "not_numbers": one.what}
            for one in stream.fields
        ],
    }  # fmt: skip


def _listing(recording: SourceRecording) -> Iterator[RenderableType]:
    """Every field of a recording, and how to go on."""
    yield Text.assemble((visible(recording.path.name), "bold"), f" · {recording.format}")
    left = MOST_FIELDS
    for stream in recording.streams:
        rows = [
            (shorten(visible(name)), first.unit or "", first.what or _first_numbers(group))
            for name, group in _row_groups(stream)
            for first in group[:1]
        ]
        counts = sorted({one.n_samples for one in stream.fields})
        samples = "–".join(map(str, counts if len(counts) < 3 else counts[:: len(counts) - 1]))
        title = f"{visible(stream.name) or 'Columns'} · {samples} samples"
        title += f" · {visible(stream.kind)}" if stream.kind else ""
        yield from screen.section(
            title, screen.table(("field", "unit", "first"), rows[: max(left, 0)], align="Lll")
        )
        left -= len(rows)
    if left < 0:
        yield screen.facts([("", f"and {-left} more; --json lists them all")])
    for note in recording.notes:
        yield screen.item(note)
    if first := next((s for s in recording.streams if s.name and s.fields), None):
        vectors = [one.name[:-2] for one in first.fields if one.name.endswith(".x")]
        name = first.reference((vectors or [first.fields[-1].name])[0])
        yield Text(f"a map calls fields by both names: {visible(name)}", style="dim")
    yield Text("freefloat import SOURCE --suggest --out map.toml drafts a map", style="dim")


def _row_groups(stream: RecordedStream) -> list[tuple[str, list[RecordedField]]]:
    """Fields that differ in their last axis or number are one row: `rate.x|y|z`, `q[0..3]`."""
    groups: dict[tuple[str, str], list[RecordedField]] = {}
    for one in stream.fields:
        found = LAST_PART.fullmatch(one.name)
        key = (found[1], "[" if found[2] else ".") if found else (one.name, "")
        groups.setdefault(key, []).append(one)
    return [(_group_name(stem, kind, group), group) for (stem, kind), group in groups.items()]


def _group_name(stem: str, kind: str, group: list[RecordedField]) -> str:
    if not kind or len(group) == 1:
        return group[0].name
    last = [one.name[len(stem) + 1 :].rstrip("]") for one in group]
    return f"{stem}[{last[0]}..{last[-1]}]" if kind == "[" else f"{stem}.{'|'.join(last)}"


def _first_numbers(group: list[RecordedField]) -> str:
    """The first numbers of a group, in a few words."""
    known = [f"{one.example:.3g}" for one in group if one.example is not None]
    if len(known) > FIRST_NUMBERS and len(set(known)) == 1:
        return f"{known[0]} each"
    return " ".join(known[:FIRST_NUMBERS]) + (" ..." if len(known) > FIRST_NUMBERS else "")


def _overview(source: Path, found: Imported, written: dict[str, Path]) -> Iterator[RenderableType]:
    """What was made, what was left out, and the files."""
    flight = found.telemetry
    size = f"{count_noun(len(flight.channels), 'channel')}, {flight.duration:.6g} s"
    yield Text.assemble((visible(source.name), "bold"), f" · {size}")
    head = ("channel", "unit", "rate [Hz]", "samples", "invalid", "noise")
    rows = flight.channel_rows(with_noise=True)
    yield from screen.section("Channels", screen.table(head, rows[:MOST_FIELDS], align="Llrrrr"))
    for note in found.notes:
        yield screen.item(note)
    if found.unmapped:
        text = listing((shorten(visible(n)) for n in found.unmapped), most=MOST_UNMAPPED)
        yield from screen.section("Not mapped", screen.indent(Text(text, overflow="fold")))
    yield from screen.files_section(written)


def _as_dict(source: Path, found: Imported, written: dict[str, Path]) -> dict[str, object]:
    return {
        "source": str(source),
        "channels": [
            {"name": c.name, "unit": c.unit, "rate": c.rate, "samples": c.n_samples,
             "invalid": c.n_invalid, "noise": c.noise}
            for c in found.telemetry.channels.values()
        ],
        "unmapped": list(found.unmapped),
        "metadata": dict(found.telemetry.metadata),
        "notes": screen.notes_json(found.notes),
        "files": paths_as_text(written),
    }  # fmt: skip
