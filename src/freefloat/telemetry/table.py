"""The table that `print(telemetry)` shows."""

from __future__ import annotations

from collections.abc import Sequence

from freefloat.telemetry.channel import Channel

_HEAD = ("channel", "unit", "rate [Hz]", "samples", "invalid")
_AXES = ("x", "y", "z", "w")


def channel_table(channels: Sequence[Channel]) -> str:
    """Return one line per channel, axes of one quantity together: unit, rate, samples, invalid."""
    groups: dict[tuple[str, ...], list[Channel]] = {}
    for channel in channels:
        prefix, _, axis = channel.name.rpartition(".")
        rate = f"{channel.rate:.6g}" if channel.n_samples > 1 else "-"
        alike = (channel.unit, rate, str(channel.n_samples))
        key = (prefix, *alike) if axis in _AXES else (channel.name, *alike)
        groups.setdefault(key, []).append(channel)
    rows = [_row(key, group) for key, group in groups.items()]
    return "\n".join(aligned([_HEAD, *rows]))


def aligned(rows: Sequence[Sequence[str]], *, n_left: int = 2) -> list[str]:
    """Return the rows as lines: the first columns aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if n < n_left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _row(key: tuple[str, ...], group: Sequence[Channel]) -> tuple[str, ...]:
    axes = "|".join(channel.name.rpartition(".")[2] for channel in group)
    name = group[0].name if len(group) == 1 else f"{key[0]}.{axes}"
    invalid = sum(channel.n_invalid for channel in group)
    return (name, *key[1:], str(invalid))
