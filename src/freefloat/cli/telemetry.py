"""`freefloat telemetry`: what a recording holds, and whether it is fit for use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import REPEATED, Shared
from freefloat.cli.settings import parse_settings
from freefloat.errors import shorten
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Telemetry
    from freefloat.telemetry.quality import Quality

MOST_FINDINGS = 20  # format: findings shown on the screen


def telemetry(
    file: Path,
    /,
    *,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Show what a recording holds, and whether it is fit for use.

    Channels with unit, rate, samples and noise (where the file states it), and
    a report on gaps, invalid, stuck and saturated samples and lone outliers. A
    file that cannot be read gives every fault with its place and remedy (exit
    code 2). A recording that can be read but has faults gives exit code 1.

    For example:
      freefloat telemetry flight.parquet
      freefloat telemetry recording.csv --json

    Parameters
    ----------
    file
        The recording: .parquet, .pq, .csv or .tsv.
    set
        NAME=VALUE: a threshold of the quality report; may be repeated. `--set help` lists them.
    """
    from freefloat.telemetry import quality, read_telemetry
    from freefloat.telemetry.quality_checks import QualityLimits

    limits = QualityLimits(**parse_settings("telemetry", set)["quality"])
    recording = read_telemetry(file)
    report = quality(recording, limits=limits)
    if shared.json:
        screen.print_json(_as_dict(file, recording, report))
    else:
        screen.show(*_overview(file, recording, report))
    return 0 if report.ok else 1


def _as_dict(file: Path, recording: Telemetry, report: Quality) -> dict[str, object]:
    return {
        "ok": report.ok,
        "file": str(file),
        "start": recording.start if len(recording) else None,
        "end": recording.end if len(recording) else None,
        "channels": [
            {
                "name": channel.name,
                "unit": channel.unit,
                "rate": channel.rate,
                "samples": channel.n_samples,
                "invalid": channel.n_invalid,
                "noise": channel.noise,
            }
            for channel in recording.channels.values()
        ],
        "metadata": dict(recording.metadata),
        "quality": report.as_dict(),
    }


def _overview(file: Path, recording: Telemetry, report: Quality) -> Iterator[RenderableType]:
    """Head, channels, what the file says of itself, findings, and the verdict last."""
    span = f", {recording.start:.6g} to {recording.end:.6g} s" if len(recording) else ""
    channels, samples = len(recording.channels), len(recording)
    size = f" · {count_noun(channels, 'channel')}, {count_noun(samples, 'instant')}{span}"
    yield Text.assemble((file.name, "bold"), size)
    head = ("channel", "unit", "rate [Hz]", "samples", "invalid", "noise")
    table = screen.table(head, recording.channel_rows(with_noise=True), align="Llrrrr")
    yield from screen.section("Channels", table)
    if recording.metadata:
        pairs = ((shorten(k, 30), shorten(v, 200)) for k, v in recording.metadata.items())
        yield from screen.section("Metadata of the file", screen.facts(pairs))
    yield from screen.section("Quality", *_findings(report))
    yield Text(report.summary, style="bold green" if report.ok else "bold red")


def _findings(report: Quality) -> Iterator[RenderableType]:
    shown = report.findings[:MOST_FINDINGS]
    if shown:
        yield screen.facts(
            ("fault" if f.is_fault else "note", f"{f.place}: {f.text}") for f in shown
        )
    unshown = len(report.findings) - len(shown)
    if unshown:
        yield screen.facts([("", f"and {unshown} more; --json lists them all")])
