"""`freefloat import`: a recording of anybody's becomes telemetry, by a map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App
from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import FLAG, Shared, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.errors import Fault, visible
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.telemetry.recordings.import_telemetry import Imported
    from freefloat.telemetry.recordings.source_recording import RecordedStream, SourceRecording

MOST_FIELDS = 200  # format: rows of fields shown on the screen
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
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Make telemetry of a recording in another format, by a map of its fields.

    Reads text tables (.csv, .tsv, .txt with any header or none), .npz, MATLAB,
    HDF5, ROS 1 and ROS 2 bags, MCAP (ROS, JSON, protobuf), PX4 ULog and
    Parquet. Without a map it lists what the recording holds. --suggest drafts a
    map, with a comment wherever it guessed. What the map leaves out is listed.
    Every verb that reads a flight takes the same map directly (--map).

    For example:
      freefloat import flight.bag
      freefloat import flight.bag --suggest > map.toml
      freefloat import flight.bag --map map.toml --out flight.parquet

    Parameters
    ----------
    source
        The recording: a file, or the folder of a ROS 2 bag.
    map
        What the fields of the recording are (.toml); docs/recordings.md explains it.
    out
        The telemetry to write: .parquet, .csv, .mcap or .mat; needs a map.
    suggest
        Print a draft of a map, to be checked and completed.
    """
    files = OutputFiles(telemetry=("--out", out))
    require([*files.faults(), *_option_faults(map, out, suggest)])
    files.require_possible(source=source, map=map)
    if map is None:
        return _look(source, suggest, shared)
    from freefloat.telemetry.recordings.import_telemetry import import_recording

    found = import_recording(source, map, max_bytes=shared.max_bytes)
    if out is not None:
        found.telemetry.save(out)
    if shared.json:
        screen.print_json(_as_dict(source, found, files.paths))
    else:
        screen.show(*_overview(source, found, files.paths))
    return 0


def _option_faults(map: Path | None, out: Path | None, suggest: bool) -> Iterator[Fault]:
    if out is not None and map is None:
        remedy = "add --map MAP.toml; --suggest drafts one"
        yield Fault("--out", str(out), "a map as well", remedy, "option.conflict")
    if suggest and map is not None:
        yield Fault("--suggest", "with --map", "one of them", "leave one out", "option.conflict")


def _look(source: Path, suggest: bool, shared: Shared) -> int:
    """Show what a recording holds, or a draft of its map."""
    from freefloat.telemetry.recordings.import_telemetry import open_recording
    from freefloat.telemetry.recordings.map_suggestion import suggest_map
    from freefloat.telemetry.recordings.source_recording import SourceOptions

    recording = open_recording(source, SourceOptions(max_bytes=shared.max_bytes))
    if suggest:
        text = suggest_map(recording, max_bytes=shared.max_bytes)
        if shared.json:
            screen.print_json({"source": str(source), "map": text})
        else:
            screen.print_lines(text)
    elif shared.json:
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
    rows = [
        (visible(stream.reference(one.name)), str(one.n_samples), one.unit or "",
         one.what or ("" if one.example is None else f"{one.example:.6g}"), stream.kind)
        for stream in recording.streams
        for one in stream.fields
    ]  # fmt: skip
    head = ("field", "samples", "unit", "first", "of")
    yield from screen.section("Fields", screen.table(head, rows[:MOST_FIELDS], align="Lrlll"))
    if len(rows) > MOST_FIELDS:
        yield screen.facts([("", f"and {len(rows) - MOST_FIELDS} more; --json lists them all")])
    for note in recording.notes:
        yield screen.item(note)
    yield Text("freefloat import SOURCE --suggest > map.toml drafts a map", style="dim")


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
        text = listing(map(visible, found.unmapped), most=MOST_UNMAPPED)
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
