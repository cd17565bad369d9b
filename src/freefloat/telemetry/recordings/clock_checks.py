"""Whether the clocks of a map are clocks: stamps that go on, and that belong to one flight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault
from freefloat.notes import Note
from freefloat.telemetry.recordings.clock_units import DATES, STEPS, unit_by_size
from freefloat.telemetry.recordings.map_fields import MappedColumns
from freefloat.telemetry.recordings.map_values import ChannelValues, clock_unit, seconds_in
from freefloat.telemetry.recordings.source_recording import Columns, is_missing

# theory: stamps of messages that overtake one another go back now and then; those of something
# else than a clock every other time
MOST_BACKWARD = 0.2


def date_faults(mapped: Sequence[MappedColumns], columns: Mapping[str, Columns]) -> Iterator[Fault]:
    """Faults of clocks that, in the unit they are taken in, show a date no clock shows."""
    seen: set[tuple[str, str, str]] = set()
    for one in mapped:
        stream, name, unit = one.clock.stream, one.clock.field.name, clock_unit(one)
        if (stream, name, unit) in seen:
            continue
        seen.add((stream, name, unit))
        stamps = columns[stream][name]
        stamps = stamps[~is_missing(stamps)]
        likely = unit_by_size(stamps)
        if likely is None or likely == unit:
            continue
        first = float(np.nanmin(stamps)) * seconds_in(unit)
        if first > DATES[1]:
            key = "clock_unit" if one.entry.clock else "unit"
            where = "in this entry" if one.entry.clock else "under [time]"
            value, expected = f"{first:.3g} s, taken in {unit}", f"a date: it is one in {likely}"
            remedy = f'write {key} = "{likely}" {where}'
            place = f"{one.entry.place}, clock {name!r}"
            yield Fault(place, value, expected, remedy, "time.unit")


def clock_faults(found: Sequence[ChannelValues]) -> Iterator[Fault]:
    """Faults of fields that cannot be the time of anything."""
    for one in _by_clock(found).values():
        steps, name = np.diff(one.time), one.mapped.clock.field.name
        if not len(steps):
            continue
        backward = int(np.count_nonzero(steps < 0.0))
        if not np.any(steps > 0.0):
            value = f"{len(one.time)} stamps that never go on"
        elif backward > MOST_BACKWARD * len(steps):
            value = f"{backward} of {len(steps)} steps go back"
        else:
            continue
        place, remedy = f"{one.mapped.entry.place}, clock {name!r}", "map a field of times"
        yield Fault(place, value, "times that increase", remedy, "time.order")


def clock_notes(found: Sequence[ChannelValues]) -> Iterator[Note]:
    """Notes on stamps that repeat or go back, and on clocks that have no instant in common."""
    clocks = _by_clock(found)
    for name, one in clocks.items():
        steps = np.diff(one.time)
        if np.any(steps > 0.0):
            step = float(np.median(steps[steps > 0.0]))
            if not STEPS[0] <= step <= STEPS[1]:
                text = f"clock {name!r}: {step:.3g} s from one stamp to the next"
                yield Note("recording.clock_rate", f"{text}; is its unit right?")
        repeated, back = int(np.count_nonzero(steps == 0.0)), int(np.count_nonzero(steps < 0.0))
        if repeated or back:
            text = f"clock {name!r}: of {len(one.time)} stamps {repeated} repeat the one before,"
            yield Note("recording.stamps", f"{text} {back} go back")
    spans = {name: _span(one.time) for name, one in clocks.items() if len(one.time)}
    if len(spans) > 1:
        first, last = max(spans, key=lambda n: spans[n][0]), min(spans, key=lambda n: spans[n][1])
        if spans[first][0] > spans[last][1]:
            text = f"clock {last!r} ends at {spans[last][1]:.6g} s, before {first!r} begins at"
            text += f" {spans[first][0]:.6g} s: they are clocks of their own, or flights of their"
            yield Note("recording.clocks_apart", f"{text} own; map one of them, or give a delay")


def _by_clock(found: Sequence[ChannelValues]) -> dict[str, ChannelValues]:
    """The first entry of every clock, by the name that a map has for it."""
    clocks: dict[str, ChannelValues] = {}
    for one in found:
        place = one.mapped.clock
        name = f"{place.stream}.{place.field.name}" if place.stream else place.field.name
        clocks.setdefault(name, one)
    return clocks


def _span(time: Array) -> tuple[float, float]:
    return float(time.min()), float(time.max())
