"""Samples by instant: channels of different rates on common rows, for files and live use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.telemetry.channel import Array, Channel

Rows = NDArray[np.intp]

_CHUNK = 4096  # format: rows turned into samples at a time; long recordings need no second copy


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured at one instant: `time` [s] and the values [SI] by channel name."""

    time: float
    values: Mapping[str, float]


def rows_of(channels: Sequence[Channel]) -> tuple[Array, list[Rows]]:
    """Return the instants [s] of common rows, and the row of every sample of every channel.

    Samples of different channels at the same instant share a row. Every channel keeps the order of
    its samples, even where its clock repeats or runs backwards, so that nothing is lost.
    """
    bases, base_of = _time_bases(channels)
    if len(bases) == 1:
        time, rows = bases[0], [np.arange(bases[0].size)]
    elif all(np.all(np.diff(base) >= 0.0) for base in bases):
        time, rows = _merge(bases)
    else:
        time, rows = _merge_in_order(bases)
    return time, [rows[n] for n in base_of]


def samples_of(channels: Sequence[Channel]) -> Iterator[Sample]:
    """Yield the valid samples of `channels` in time order, those of one instant together."""
    ordered = [_in_time_order(channel) for channel in channels]
    time, rows = rows_of(ordered)
    for start in range(0, time.size, _CHUNK):
        instants = time[start : start + _CHUNK].tolist()
        values: list[dict[str, float]] = [{} for _ in instants]
        for channel, own in zip(ordered, rows, strict=True):
            first, last = np.searchsorted(own, (start, start + _CHUNK))
            places = (own[first:last] - start).tolist()
            for row, value in zip(places, channel.values[first:last].tolist(), strict=True):
                values[row][channel.name] = value
        for instant, measured in zip(instants, values, strict=True):
            if measured:
                yield Sample(instant, measured)


def _in_time_order(channel: Channel) -> Channel:
    valid = channel if channel.valid.all() else channel.select(channel.valid)
    if np.all(np.diff(valid.time) >= 0.0):
        return valid
    return valid.select(np.argsort(valid.time, kind="stable"))


def _time_bases(channels: Sequence[Channel]) -> tuple[list[Array], list[int]]:
    """The different time bases, and which of them each channel has."""
    bases: list[Array] = []
    base_of = []
    for channel in channels:
        time = channel.time
        known = (n for n, base in enumerate(bases) if time is base or np.array_equal(time, base))
        base = next(known, len(bases))
        if base == len(bases):
            bases.append(time)
        base_of.append(base)
    return bases or [np.empty(0)], base_of


def _merge(bases: Sequence[Array]) -> tuple[Array, list[Rows]]:
    """Rows for bases that never run backwards; the n-th repeat of an instant gets its own row."""
    time = np.concatenate(bases)
    repeat = np.concatenate([np.arange(base.size) - np.searchsorted(base, base) for base in bases])
    order = np.lexsort((repeat, time))
    is_new = np.ones(time.size, dtype=bool)
    is_new[1:] = (np.diff(time[order]) != 0.0) | (np.diff(repeat[order]) != 0)
    row = np.empty(time.size, dtype=np.intp)
    row[order] = np.cumsum(is_new) - 1
    ends = np.cumsum([base.size for base in bases])[:-1]
    return time[order][is_new], np.split(row, ends)


def _merge_in_order(bases: Sequence[Array]) -> tuple[Array, list[Rows]]:
    """Rows for clocks that run backwards: always take the earliest of the next samples."""
    lists = [base.tolist() for base in bases]
    position = [0] * len(lists)
    rows: list[list[int]] = [[] for _ in lists]
    time: list[float] = []
    waiting = [n for n, instants in enumerate(lists) if instants]
    while waiting:
        earliest = min(lists[n][position[n]] for n in waiting)
        for n in waiting:
            if lists[n][position[n]] == earliest:
                rows[n].append(len(time))
                position[n] += 1
        time.append(earliest)
        waiting = [n for n in waiting if position[n] < len(lists[n])]
    return np.array(time), [np.array(own, dtype=np.intp) for own in rows]
