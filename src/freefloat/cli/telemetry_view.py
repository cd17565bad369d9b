"""How `freefloat telemetry` shows a recording on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import counted, facts, heading, table
from freefloat.errors import shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Telemetry
    from freefloat.telemetry.channel import Channel
    from freefloat.telemetry.quality import Quality

MOST_FINDINGS = 20
AXES = ("x", "y", "z", "w")


def overview(file: Path, read: Telemetry, found: Quality) -> Iterator[RenderableType]:
    """Head, channels, what the file says of itself, findings, and the verdict last."""
    span = f", {read.start:.6g} to {read.end:.6g} s" if len(read) else ""
    size = f" · {counted(len(read.channels), 'channel')}, {counted(len(read), 'instant')}{span}"
    yield Text.assemble((file.name, "bold"), size)
    yield ""
    yield heading("Channels")
    head = ("channel", "unit ", "rate [Hz]", "samples", "invalid", "noise")
    yield table(head, _channels(read), left=2)
    if read.metadata:
        yield ""
        yield heading("What the file says of itself")
        yield facts((shortened(k, 30), shortened(v, 200)) for k, v in read.metadata.items())
    yield ""
    yield heading("Quality")
    yield from _findings(found)
    yield Text(found.summary, style="bold green" if found.ok else "bold red")


def _channels(read: Telemetry) -> list[tuple[str, ...]]:
    """One row for the axes of one quantity, where they are alike."""
    groups: dict[tuple[str, ...], list[Channel]] = {}
    for channel in read.channels.values():
        stem, _, axis = channel.name.rpartition(".")
        rate = f"{channel.rate:.6g}" if channel.n_samples > 1 else "–"
        noise = "–" if channel.noise is None else f"{channel.noise:.3g}"
        alike = (channel.unit, rate, str(channel.n_samples))
        key = (stem if axis in AXES else channel.name, *alike, noise)
        groups.setdefault(key, []).append(channel)
    return [
        (_name(group), *key[1:4], str(sum(c.n_invalid for c in group)), key[4])
        for key, group in groups.items()
    ]


def _name(group: Sequence[Channel]) -> str:
    if len(group) == 1:
        return group[0].name
    stem = group[0].name.rpartition(".")[0]
    return f"{stem}.{'|'.join(channel.name.rpartition('.')[2] for channel in group)}"


def _findings(found: Quality) -> Iterator[RenderableType]:
    shown = found.findings[:MOST_FINDINGS]
    if shown:
        yield facts(("fault" if f.is_fault else "note", f"{f.place}: {f.text}") for f in shown)
    unshown = len(found.findings) - len(shown)
    if unshown:
        yield facts([("", f"and {unshown} more; --json lists them all")])
