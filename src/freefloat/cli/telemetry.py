"""`freefloat telemetry`: what a recording holds, whether it is fit for use, and its repair."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import REPEATED, FlightOptions, Shared, read_flight, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.cli.settings import parse_settings
from freefloat.errors import Fault, shorten, visible
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Telemetry
    from freefloat.telemetry.diagnosis import Diagnosis
    from freefloat.telemetry.quality import Quality

MOST_FINDINGS = 20  # format: findings shown on the screen
MOST_CHANNELS = 200  # format: rows of channels shown on the screen


def telemetry(
    file: Path,
    /,
    *,
    repair: Path | None = None,
    model: str | None = None,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    reading: FlightOptions = FlightOptions(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Show what a recording holds, and whether it is fit for use.

    Channels with unit, rate, samples and noise (where the file states it), and
    a report on gaps, outliers, invalid, stuck and saturated samples. A
    file that cannot be read gives every fault with its place and remedy (exit
    code 2). A recording that can be read but has faults gives exit code 1.

    --repair finds faults by their cause (outliers, bursts, fill values, stuck
    stretches, clocks that were set, late streams, ...) and writes the repaired
    recording to a new file with a log in its metadata. Exit code 1 then says
    that some faults could not be repaired.

    For example:
      freefloat telemetry flight.parquet
      freefloat telemetry recording.csv --json
      freefloat telemetry recording.csv --repair better.csv --model my.toml

    Parameters
    ----------
    file
        The recording: .parquet, .pq, .csv, .tsv, .mcap or .mat; any other with --map.
    repair
        Write the repaired recording to this file, which must not be the recording itself.
    model
        The robot; delays, biases and saturation that its sensors state are not reported as faults.
    set
        NAME=VALUE: a threshold of the quality report; may be repeated. `--set help` lists them.
    """
    from freefloat.telemetry import quality
    from freefloat.telemetry.quality_checks import QualityLimits
    from freefloat.telemetry.readers import truth_path

    limits = QualityLimits(**parse_settings("telemetry", set)["quality"])
    files = OutputFiles(telemetry=("--repair", repair))
    require([*files.faults(), *_model_without_repair(model, repair)])
    files.require_possible(file=file, truth=truth_path(file), model=model, map=reading.map)
    recording = read_flight(file, reading, max_bytes=shared.max_bytes)
    if repair is not None:
        return _repair(file, recording, repair, model, shared)
    report = quality(recording, limits=limits)
    if shared.json:
        screen.print_json(_as_dict(file, recording, report))
    else:
        screen.show(*_overview(file, recording, report))
    return 0 if report.ok else 1


def _model_without_repair(model: str | None, repair: Path | None) -> Iterator[Fault]:
    if model is not None and repair is None:
        expected, remedy = "--repair as well", "add --repair OUT, or leave the model out"
        yield Fault("--model", model, expected, remedy, "option.conflict")


def _repair(file: Path, recording: Telemetry, out: Path, model: str | None, shared: Shared) -> int:
    """Find faults by cause, write the repaired recording, and say what was done."""
    from freefloat.cli.robot_file import read_robot
    from freefloat.cli.waiting import progress
    from freefloat.telemetry.doctor import examine, repair

    robot = None if model is None else read_robot(model, strict=shared.strict)
    with progress("examining the recording"):
        diagnosis = examine(recording, robot)
        repair(recording, diagnosis).save(out)
    if shared.json:
        files = paths_as_text({"telemetry": out})
        screen.print_json({"file": str(file), **diagnosis.as_dict(), "files": files})
    else:
        screen.show(*_causes(file, diagnosis, out))
    return 0 if all(found.done for found in diagnosis.findings if found.is_fault) else 1


def _causes(file: Path, diagnosis: Diagnosis, out: Path) -> Iterator[RenderableType]:
    """What was found, by cause, and what was done about it."""
    yield Text(visible(file.name), style="bold")
    for title, is_fault in (("Causes", True), ("Worth knowing", False)):
        shown = [found for found in diagnosis.findings if found.is_fault == is_fault]
        if shown:
            facts = screen.facts(
                (found.code.partition(".")[2], str(found)) for found in shown[:MOST_FINDINGS]
            )
            yield from screen.section(title, facts)
        if len(shown) > MOST_FINDINGS:
            more = len(shown) - MOST_FINDINGS
            yield screen.facts([("", f"and {more} more; --json lists them all")])
    yield from screen.files_section({"telemetry": out})
    left = [found for found in diagnosis.findings if found.is_fault and not found.done]
    yield Text(diagnosis.summary, style="bold red" if left else "bold green")


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
    yield Text.assemble((visible(file.name), "bold"), size)
    head = ("channel", "unit", "rate [Hz]", "samples", "invalid", "noise")
    rows = recording.channel_rows(with_noise=True)
    table = [screen.table(head, rows[:MOST_CHANNELS], align="Llrrrr")]
    if len(rows) > MOST_CHANNELS:
        more = f"and {len(rows) - MOST_CHANNELS} more; --json lists them all"
        table.append(screen.facts([("", more)]))
    yield from screen.section("Channels", *table)
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
