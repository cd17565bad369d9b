"""Finding channels by name or glob, and samples by instant, with help for those who mistype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import numpy as np

from freefloat.errors import Fault, TelemetryError
from freefloat.telemetry.channel import Array, Channel
from freefloat.telemetry.names import suggestion

_SAME_INSTANT = 1e-9  # [s]: 3 * 0.1 and 0.3 are the same instant


def misuse(place: str, value: str, expected: str, remedy: str = "") -> TelemetryError:
    """Return the error for one thing asked of telemetry that it cannot do."""
    message = f"{place}: got {value}, expected {expected}"
    return TelemetryError(message, [Fault(place, value, expected, remedy)])


def require(names: Iterable[str], known: tuple[str, ...]) -> None:
    """Raise TelemetryError, naming every missing one, unless all `names` are among `known`."""
    missing = [name for name in names if name not in known]
    if missing:
        expected = "a channel of this telemetry"
        faults = [
            Fault(f"channel {name!r}", "no such channel", expected, suggestion(str(name), known))
            for name in missing
        ]
        raise TelemetryError("there is no channel " + ", ".join(map(repr, missing)), faults)


def matching(patterns: str | Sequence[str], known: tuple[str, ...]) -> list[str]:
    """Return the known names that match names or globs, in the order of the patterns, each once.

    >>> matching(["b.*", "a"], ("a", "b.x", "b.y"))
    ['b.x', 'b.y', 'a']
    """
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    found = {p: [name for name in known if fnmatchcase(name, p)] for p in patterns}
    require((pattern for pattern, names in found.items() if not names), known)
    if not found:
        raise misuse("channels", "no names", "at least one name or glob such as 'base.rate.*'")
    return list(dict.fromkeys(name for names in found.values() for name in names))


def values_at(channel: Channel, instants: Array) -> Array:
    """Return the values of the samples taken at `instants` [s]; NaN where invalid."""
    order = np.argsort(channel.time, kind="stable")
    times = np.concatenate([[-np.inf], channel.time[order], [np.inf]])
    after = np.searchsorted(times[1:-1], instants) + 1
    nearest = np.where(times[after] - instants <= instants - times[after - 1], after, after - 1)
    has_sample = np.abs(times[nearest] - instants) <= _SAME_INSTANT
    if not has_sample.all():
        missing = instants[~has_sample]
        raise misuse(
            f"channel {channel.name!r}",
            f"no sample at {missing[0]:.9g} s ({missing.size} of {instants.size} instants missing)",
            "a sample at each instant asked for",
            "use resample(telemetry, times=...) to interpolate",
        )
    return channel.values[order][nearest - 1]


def different_times(a: Channel, b: Channel) -> TelemetryError:
    """Return the error for two channels that ought to share a time base."""
    return misuse(
        f"channels {a.name!r} and {b.name!r}",
        f"different time bases: {_base(a)} and {_base(b)}",
        "one time base",
        "use align(telemetry) first, or ask for the channels one by one",
    )


def _base(channel: Channel) -> str:
    if not channel.n_samples:
        return "no samples"
    return f"{channel.n_samples} samples at {channel.rate:.6g} Hz from {channel.time[0]:.9g} s"
