"""`freefloat telemetry`: what a recording holds, and whether it is fit for use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli.options import Shared

if TYPE_CHECKING:
    from freefloat import Telemetry
    from freefloat.telemetry.quality import Quality


def telemetry(file: Path, /, *, shared: Shared = Shared()) -> int:  # noqa: B008
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
    """
    from freefloat.cli import screen
    from freefloat.cli.telemetry_view import overview
    from freefloat.telemetry import quality, read_telemetry

    read = read_telemetry(file)
    found = quality(read)
    if shared.json:
        screen.print_json(_as_dict(file, read, found))
    else:
        screen.show(*overview(file, read, found))
    return 0 if found.ok else 1


def _as_dict(file: Path, read: Telemetry, found: Quality) -> dict[str, object]:
    return {
        "ok": found.ok,
        "file": str(file),
        "start": read.start if len(read) else None,
        "end": read.end if len(read) else None,
        "channels": [
            {
                "name": channel.name,
                "unit": channel.unit,
                "rate": channel.rate,
                "samples": channel.n_samples,
                "invalid": channel.n_invalid,
                "noise": channel.noise,
            }
            for channel in read.channels.values()
        ],
        "metadata": dict(read.metadata),
        "quality": found.as_dict(),
    }
