"""Fill values in a live stream, such as -9999 or 1e30: known by the third, masked from then on.

What a fill value is stands in `telemetry/fill_values.py`; there the whole recording is at hand,
here only what came so far. A number too large to have been measured is one at once; any other when
the same far number comes for the third time. The two before are outliers, for the filter's gate.
Zeros within a signal's range are known by its jumps (`zero_watch.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

import numpy as np

from freefloat.model.model import Model
from freefloat.online.zero_watch import ZeroWatch
from freefloat.telemetry.fill_values import (
    FEWEST,
    FEWEST_OTHERS,
    far_ranges,
    fill_levels,
    fill_places,
    has_fine_values,
    is_blank_attitude,
    largest_possible,
)
from freefloat.telemetry.known_sensors import KnownSensors
from freefloat.telemetry.names import XYZW, ChannelName
from freefloat.telemetry.telemetry import Telemetry

FIRST = 64  # format: readings by which a channel is got to know
MOST = 8  # format: fill values of a channel that are counted one by one; memory is bounded
NOTHING, EVERYTHING = (inf, -inf), (-inf, inf)  # format: bounds that no and that all numbers keep
ATTITUDE = tuple(f"base.attitude.{axis}" for axis in XYZW)


@dataclass
class Reach:
    """Where the readings of one channel have been, and the far numbers that were seen since.

    first: the readings so far, until they are FIRST; low, high [unit]: their range; is_fine:
    whether they hardly repeat; far: numbers far outside, and how often each came.
    """

    quantity: str
    bound: float
    first: list[float] = field(default_factory=list)
    low: float = inf
    high: float = -inf
    is_fine: bool = True
    far: dict[float, int] = field(default_factory=dict)

    def fill_values(self, name: str, value: float, largest: float | None) -> list[float]:
        """Take a reading in; the fill values that it shows."""
        if len(self.first) < FIRST:
            return self._begin(name, value, largest)
        extent = max(self.high - self.low, 1e-9 * max(abs(self.low), abs(self.high), 1e-3))
        is_possible = value >= 0.0 or self.low < 0.0  # for an actuator
        ranges = far_ranges(self.quantity, is_fine=self.is_fine, is_possible=is_possible)
        away = max(self.low - value, value - self.high)
        if self.low == self.high or away <= ranges * extent:
            self._extend([value])
            return []
        self.far[value] = self.far.get(value, 0) + 1
        if self.far[value] >= FEWEST:
            del self.far[value]
            return [value]
        if len(self.far) >= FEWEST:  # ever other numbers: it moves
            self._extend(self.far)
            self.far = {}
        return []

    def _begin(self, name: str, value: float, largest: float | None) -> list[float]:
        """One of the first readings: they are judged as a recording is."""
        self.first.append(value)
        n = self.first.count(value)
        is_telling = n >= FEWEST and len(self.first) - n >= FEWEST_OTHERS
        found = []
        if is_telling or len(self.first) == FIRST:
            levels = fill_levels(name, np.array(self.first), largest=largest)
            found = [level for level in levels if not self._is_between(level)]
            self.first = [x for x in self.first if x not in found]
        if len(self.first) == FIRST:
            self._extend(self.first)
            self.is_fine = has_fine_values(*np.unique(self.first, return_counts=True))
        return found

    def _is_between(self, level: float) -> bool:
        """Whether readings are on both sides: more than a few of them are needed to say then."""
        return min(self.first) < level < max(self.first)

    def _extend(self, values: Iterable[float]) -> None:
        self.low, self.high = min(self.low, *values), max(self.high, *values)


class FillWatch:
    """Finds the readings of samples that are fill values, and counts them.

    found: by channel and fill value, how often it was masked; n: all readings that were.
    """

    def __init__(self, model: Model, names: Iterable[str]) -> None:
        self.sensors = KnownSensors(model)
        self.names = frozenset(names) - {"time", "values"}
        self.zeros = ZeroWatch(self.names)
        self.clear()

    def clear(self) -> None:
        """Know nothing."""
        self.found: dict[str, dict[float, int]] = {}
        self.n = 0
        self._reach: dict[str, Reach] = {}
        # what is inside needs no closer look: made for speed, all channels of all samples come by
        self._bounds: dict[str, tuple[float, float]] = dict.fromkeys(self.names, NOTHING)
        self.zeros.clear()

    def learn(self, recording: Telemetry) -> None:
        """Know the fill values of a whole recording whose samples are to come."""
        for name, places in fill_places(recording, self.sensors).items():
            if name in self.names:
                is_blank = name in ATTITUDE  # blanks of all four are found as they come
                levels = [value for value in places if not is_blank or abs(value) > 1.0]
                self._know(name, levels)

    def look(self, values: Mapping[str, Any]) -> set[str]:
        """The channels of a sample whose readings are fill values."""
        bounds, watched, odd, zeros = self._bounds, self.zeros.watched, set[str](), []
        for name, value in values.items():
            low, high = bounds.get(name, EVERYTHING)
            try:
                is_inside = low <= value <= high
                if is_inside and (value or name not in watched):
                    continue
            except TypeError:  # no number: of no concern here
                continue
            if not is_inside and name in self.names and self._is_fill(name, value):
                odd.add(name)
            elif value == 0 and name in watched:
                zeros.append(name)
        for name in self.zeros.take(values, zeros):
            self._know(name, [0.0])
        x = values.get("base.attitude.x")
        if x is not None and x == values.get("base.attitude.y"):
            odd |= self._blank_attitude(values)
        return self._mask(values, odd) if odd else odd

    def _is_fill(self, name: str, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        try:
            number, known = float(value), self.found.get(name)
        except OverflowError:  # an integer of many digits is no reading
            return False
        if not isfinite(number):
            return False
        if known and number in known:
            return True
        reach = self._reach.get(name)
        if reach is None:
            bound = largest_possible(self.sensors.largest(name))
            reach = self._reach[name] = Reach(ChannelName.parse(name).quantity, bound)
        if abs(number) > reach.bound:
            self._know(name, [number])
            return True
        levels = reach.fill_values(name, number, self.sensors.largest(name))
        self._know(name, levels)
        return number in levels

    def _know(self, name: str, levels: Iterable[float]) -> None:
        """Remember fill values; the channel is looked at closely where one is within its range."""
        known = self.found.setdefault(name, {}) if levels else self.found.get(name, {})
        for level in levels:
            if len(known) < MOST:
                known.setdefault(level, 0)
        reach = self._reach.get(name)
        is_known = reach is not None and len(reach.first) >= FIRST
        self._bounds[name] = NOTHING
        if reach is not None and is_known:
            # with room on either side: what moves on steadily would come here at every sample
            room = 0.5 * (reach.high - reach.low)
            low, high = max(reach.low - room, -reach.bound), min(reach.high + room, reach.bound)
            if not any(low <= value <= high for value in known):
                self._bounds[name] = (low, high)

    def _blank_attitude(self, values: Mapping[str, Any]) -> set[str]:
        """All four of an attitude that is none; nothing where it may be one."""
        x, *rest = (values.get(name) for name in ATTITUDE)
        if not isinstance(x, int | float) or any(other != x for other in rest):
            return set()
        if not isfinite(x) or not is_blank_attitude(np.float64(x)):
            return set()
        for name in ATTITUDE:
            known = self.found.setdefault(name, {})
            if len(known) < MOST:
                known.setdefault(float(x), 0)
        return {*ATTITUDE}

    def _mask(self, values: Mapping[str, Any], odd: set[str]) -> set[str]:
        """Those channels, and others with the same number: a lost packet fills many at once."""
        numbers = {values[name] for name in odd} - {0, 1, -1}  # which may be anything
        same = [n for n, v in values.items() if n in self.names and _is_in(v, numbers)]
        masked = odd.union(same)
        for name in masked:
            counts = self.found.setdefault(name, {})
            number = float(values[name])
            if number in counts or len(counts) < MOST:
                counts[number] = counts.get(number, 0) + 1
            self.n += 1
        return masked

    # -- for the state file ------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Everything, for JSON; fill values as text, for they may be larger than any reading."""
        return {
            "n": self.n,
            "found": {name: _as_text(known) for name, known in self.found.items() if known},
            "zeros": self.zeros.content(),
            "reach": {
                name: [r.first, [r.low, r.high] * (len(r.first) >= FIRST), r.is_fine,
                       _as_text(r.far)]
                for name, r in self._reach.items()
            },
        }  # fmt: skip

    def restore(self, content: Mapping[str, Any]) -> None:
        """Go on from `content`; ValueError where it is none."""
        self.clear()
        if (
            type(content["n"]) is not int
            or not {*content["reach"], *content["found"]} <= self.names
        ):
            raise ValueError("fill values of unknown channels, or not counted")
        self.n = content["n"]
        for name, (first, limits, is_fine, far) in content["reach"].items():
            bound = largest_possible(self.sensors.largest(name))
            numbers = [float(x) for x in (*first, *limits)]
            is_begun = len(first) >= FIRST
            if len(first) > FIRST or len(limits) != 2 * is_begun or not _are_within(numbers, bound):
                raise ValueError(f"readings of {name} that cannot be")
            reach = Reach(ChannelName.parse(name).quantity, bound, numbers[: len(first)])
            reach.low, reach.high = numbers[len(first) :] or (inf, -inf)
            reach.is_fine, reach.far = bool(is_fine), dict(_from_text(far))
            self._reach[name] = reach
        for name, known in content["found"].items():
            self.found[name] = dict(_from_text(known))
        self.zeros.restore(content["zeros"])
        for name in {*self._reach, *self.found}:
            self._know(name, ())


def _is_in(value: object, numbers: set[Any]) -> bool:
    return isinstance(value, int | float) and value in numbers


def _are_within(numbers: Iterable[float], bound: float) -> bool:
    return all(-bound <= x <= bound for x in numbers)


def _as_text(counts: Mapping[float, int]) -> dict[str, int]:
    return {repr(value): n for value, n in counts.items()}


def _from_text(counts: Mapping[str, int]) -> Iterator[tuple[float, int]]:
    if len(counts) > MOST:
        raise ValueError("too many fill values of one channel")
    for text, n in counts.items():
        value = float(text)
        if not isfinite(value) or type(n) is not int or n < 0:
            raise ValueError(f"the fill value {text}")
        yield value, n
