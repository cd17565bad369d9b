"""Codes of a recording's samples: few, and enough to know any part of it again.

A window of consecutive samples is known by its bits, whatever its clock says and whatever other
channels were saved with it. Which windows are kept is decided by the same bits, so that a part of
a recording keeps those of the whole that fall into it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from freefloat.telemetry.channel import Channel
from freefloat.telemetry.telemetry import Telemetry

# theory: four samples of a sensor that is as coarse as its noise agree by chance once in 4^4, in
# all windows of a slice never
WINDOW = 4
# theory: of an overlap of a tenth, 0.1 * 32 windows are expected: 4 % of channels show none, and
# channels vote
CODES = 32  # of a channel, about
# format: hexadecimal digits; 32 against 32 codes of 20 bits agree by chance once in a thousand
DIGITS = 5
# theory: of a constant or a coarse staircase most windows are alike, and say nothing
LEAST_DISTINCT = 0.9
SAMPLES_APART = " | "  # format: between the codes of recordings in the provenance of a fit
_MIX = np.uint64(0x9E3779B97F4A7C15)  # format: odd, bits evenly mixed (Knuth's golden ratio)


def sample_codes(telemetry: Telemetry) -> str:
    """Return the codes as text: a digit that says how many were kept, and channels with theirs.

    >>> flight = Telemetry.from_arrays(np.arange(99.0), {"base.rate.x": np.sin(np.arange(99.0))})
    >>> sample_codes(flight).startswith("1 base.rate.x=")
    True
    """
    hashes = {name: _hashes(channel) for name, channel in telemetry.channels.items()}
    longest = max((len(found) for found in hashes.values()), default=0)
    bits = max(0, int(np.log2(max(longest, 1) / CODES)))
    parts = [f"{name}={''.join(_codes(found, bits))}" for name, found in hashes.items()]
    return " ".join([str(bits), *(part for part in parts if not part.endswith("="))])


def codes_of_all(flights: Iterable[Telemetry]) -> str:
    """Return the codes of recordings in a row, as the provenance of a fit keeps them."""
    return SAMPLES_APART.join(map(sample_codes, flights))


def shares_samples(telemetry: Telemetry, codes: str) -> bool:
    """Return whether a recording shares samples with the one whose codes are given.

    What the base does is never twice the same, where it was recorded both times; commands may be.

    >>> whole = Telemetry.from_arrays(np.arange(99.0), {"base.rate.x": np.sin(np.arange(99.0))})
    >>> shares_samples(whole.between(40.0, 80.0), sample_codes(whole))
    True
    """
    bits, *parts = codes.split()
    votes: dict[bool, list[bool]] = {True: [], False: []}
    for part in parts:
        name, _, text = part.partition("=")
        if name not in telemetry:
            continue
        own = set(_codes(_hashes(telemetry[name]), int(bits)))
        known = {text[k : k + DIGITS] for k in range(0, len(text), DIGITS)}
        if own:
            votes[name.startswith("base.")].append(bool(own & known))
    found = votes[True] or votes[False]
    return bool(found) and 2 * sum(found) > len(found)


def _hashes(channel: Channel) -> NDArray[np.uint64]:
    """A number for every window of consecutive samples; none of a channel that hardly changes."""
    values = channel.usable()[1]
    if len(values) < WINDOW:
        return np.zeros(0, dtype=np.uint64)
    samples = np.ascontiguousarray(values + 0.0).view(np.uint64)  # minus zero is zero
    n = len(samples) - WINDOW + 1
    mixed = np.zeros(n, dtype=np.uint64)
    for k in range(WINDOW):
        mixed = (mixed ^ samples[k : k + n]) * _MIX
        mixed ^= mixed >> np.uint64(29)
    is_telling = len(np.unique(mixed)) >= LEAST_DISTINCT * n
    return mixed if is_telling else np.zeros(0, dtype=np.uint64)


def _codes(hashes: NDArray[np.uint64], bits: int) -> list[str]:
    """The codes of those windows whose last bits are zero, one in 2^bits."""
    kept = hashes[(hashes & np.uint64((1 << bits) - 1)) == 0] >> np.uint64(64 - 4 * DIGITS)
    return [f"{int(code):0{DIGITS}x}" for code in np.unique(kept)]
