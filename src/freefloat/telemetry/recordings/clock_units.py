"""The unit of a clock: what its name ends in, and what the size of a date says."""

from __future__ import annotations

import re

import numpy as np

from freefloat.arrays import Array
from freefloat.telemetry.units import si_unit

# theory: [s]; dates from 1985 to 2286. Dates in s, ms, us and ns are a thousand apart, and these
# are twenty: a number is a date in one unit at most
DATES = (5e8, 1e10)
# theory: [s]; no recording has a longer or a shorter time between its samples
STEPS = (1e-6, 1e3)
_NAME_END = re.compile(
    r"(?:.*[_. ])?(?:(ns|nsecs?|nanosec(?:ond)?s?)|(us|usecs?|microsec(?:ond)?s?)"
    r"|(ms|msecs?|millisec(?:ond)?s?)|(s|secs?|seconds?))",
    re.IGNORECASE,
)
_UNITS = ("ns", "us", "ms", "s")


def unit_by_name(name: str) -> str | None:
    """The unit that the name of a clock ends in; None where it ends in none.

    >>> unit_by_name("header.stamp_ns"), unit_by_name("t_usec"), unit_by_name("status")
    ('ns', 'us', None)
    """
    found = _NAME_END.fullmatch(name)
    parts = found.groups() if found else ("",) * len(_UNITS)
    return next((unit for unit, part in zip(_UNITS, parts, strict=True) if part), None)


def unit_by_size(stamps: Array) -> str | None:
    """The unit in which stamps are dates at times that samples have; None where they are none.

    >>> unit_by_size(1.78e18 + 1e7 * np.arange(9.0)), unit_by_size(np.arange(9.0))
    ('ns', None)
    """
    stamps = stamps[np.isfinite(stamps)]
    if not len(stamps):
        return None
    steps = np.diff(stamps).astype(float)
    step = float(np.median(steps[steps > 0.0])) if np.any(steps > 0.0) else None
    for unit in _UNITS:
        factor = (si_unit(unit) or ("s", 1.0))[1]
        is_date = DATES[0] <= float(stamps.min()) * factor <= DATES[1]
        if is_date and (step is None or STEPS[0] <= step * factor <= STEPS[1]):
            return unit
    return None
