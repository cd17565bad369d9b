"""Delays of streams: from lags between two of them to which of all are late, and by how much.

A reading can be old, not from the future: of streams that show the same motion the earliest is
taken as on time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.telemetry.diagnosis import FAMILY_CHANCE, Finding
from freefloat.telemetry.names import ChannelName
from freefloat.telemetry.pair_causes import Lag
from freefloat.telemetry.sample_causes import student_chance
from freefloat.telemetry.stream_pairs import weighted_mean
from freefloat.text import listing


@dataclass(frozen=True)
class Delay:
    """Channels that are late [s] against others of the same motion."""

    names: tuple[str, ...]
    against: tuple[str, ...]
    seconds: float
    deviation: float
    chance: float
    start: float
    end: float

    @property
    def finding(self) -> Finding:
        """What was found, and what a repair does."""
        shown = f"{1e3 * self.seconds:.4g} ± {1e3 * self.deviation:.2g} ms"
        other = listing(dict.fromkeys(ChannelName.parse(n).group for n in self.against), most=4)
        return Finding(
            "recording.delay", self.names, self.start, self.end, self.seconds, "s",
            deviation=self.deviation, chance=self.chance, text=f"late by {shown} against {other}",
            done=f"shifted by {-1e3 * self.seconds:.4g} ms",
        )  # fmt: skip


def find_delays(lags: Sequence[Lag], clocks: dict[str, bytes], n_tests: int) -> list[Delay]:
    """Delays that noise does not explain.

    Args:
        lags: Between two streams each.
        clocks: By channel, what tells its clock from others: streams of one quantity and clock,
            such as all encoders, are late together.
        n_tests: Tests made on the recording, for the error of the whole family.
    """
    groups: dict[tuple[object, ...], list[Lag]] = {}
    for lag in lags:
        groups.setdefault(_kind(lag, clocks), []).append(lag)
    joined = [_join(same) for same in groups.values()]
    found = []
    for late, early, seconds, deviation, of in joined:
        chance = student_chance(seconds / deviation, freedom=of[0].freedom, n_tests=max(n_tests, 1))
        if chance < FAMILY_CHANCE:
            span = (min(lag.start for lag in of), max(lag.end for lag in of))
            found.append(Delay(late, early, seconds, deviation, chance, *span))
    return _consistent(found)


def _kind(lag: Lag, clocks: dict[str, bytes]) -> tuple[object, ...]:
    """What streams that are late together share: quantities, number of axes and clocks."""
    key: list[object] = []
    for stream in sorted(lag.names, key=lambda name: name.rpartition(".")[2]):
        names = lag.names[stream]
        place = "" if len(names) == 1 else stream
        key += [stream.rpartition(".")[2], len(names), place, clocks[names[0]]]
    return tuple(key)


Joined = tuple[tuple[str, ...], tuple[str, ...], float, float, Sequence[Lag]]


def _join(lags: Sequence[Lag]) -> Joined:
    """One lag from those of several joints, which agree unless their deviation says otherwise."""
    first = min(lags, key=lambda lag: lag.deviation)
    kind = first.late.rpartition(".")[2]
    signed = [lag.seconds if lag.late.rpartition(".")[2] == kind else -lag.seconds for lag in lags]
    mean, deviation = weighted_mean(signed, [lag.deviation for lag in lags])
    late: list[str] = []
    early: list[str] = []
    for lag in lags:
        for stream, names in lag.names.items():
            (late if stream.rpartition(".")[2] == kind else early).extend(names)
    if mean < 0.0:
        late, early = early, late
    return tuple(dict.fromkeys(late)), tuple(dict.fromkeys(early)), abs(mean), deviation, lags


def _consistent(delays: Sequence[Delay]) -> list[Delay]:
    """Delays against the earliest: what is late against a late stream is later still."""
    extra = {name: delay.seconds for delay in delays for name in delay.names}
    found = []
    for delay in delays:
        behind = float(np.mean([extra.get(name, 0.0) for name in delay.against]))
        seconds = delay.seconds + behind
        found.append(
            Delay(
                delay.names, delay.against, seconds, delay.deviation, delay.chance, delay.start,
                delay.end,
            )
        )  # fmt: skip
    return found
