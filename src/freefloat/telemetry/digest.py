"""A fingerprint of recordings, by which a fit knows what it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from freefloat.telemetry.telemetry import Telemetry


def digest(recorded: Sequence[Telemetry]) -> str:
    """The sha256 of every channel's name, times and values."""
    total = hashlib.sha256()
    for telemetry in recorded:
        for name, channel in telemetry.channels.items():
            for part in (name.encode(), channel.time.tobytes(), channel.values.tobytes()):
                total.update(part)
    return total.hexdigest()
