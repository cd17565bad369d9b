"""Zeros within the range of a live signal that are no measurements: a lost packet's, or a blank's.

Zero is a number that signals pass, so it is a fill value only where a signal jumps to it and back
again as it jumps nowhere else (as in `telemetry/fill_values.py`, which has the whole recording at
hand). Here the steps of the last readings say what is usual. A channel that comes to zero by usual
steps measures zero, and is watched no longer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from freefloat.telemetry.channel import noise_floor_of
from freefloat.telemetry.fill_values import FEWEST, FEWEST_OTHERS, JUMP, is_steady, usual_step
from freefloat.telemetry.names import ChannelName

RECENT = 64  # format: samples by which usual steps are known; memory is bounded


class ZeroRun(NamedTuple):
    """Zeros that follow one another: how many, the reading before, the size of a jump."""

    n: int
    before: float | None
    jump: float | None


class ZeroWatch:
    """Finds the channels whose zeros are fill values.

    watched: those of which that is not known yet. Channels at rest, and such as are set, as thrust
    is, are not among them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(name for name in names if _may_be_watched(name))
        self.clear()

    def clear(self) -> None:
        """Know nothing."""
        self.watched = set(self.names)
        self._recent: deque[dict[str, Any]] = deque(maxlen=RECENT)
        self._runs: dict[str, ZeroRun] = {}
        self._jumped: dict[str, int] = {}  # zeros between jumps
        self._usual: dict[str, int] = {}  # runs of zeros without

    def forget(self, name: str) -> None:
        """Watch a channel no longer."""
        self.watched.discard(name)
        for known in (self._runs, self._jumped, self._usual):
            known.pop(name, None)

    def take(self, values: Mapping[str, Any], zeros: Collection[str]) -> list[str]:
        """Take a sample in, with the watched channels that are zero; those that fills are found in.

        The last zeros that tell are before this sample: it ends their run.
        """
        found = self._end_runs(values) if self._runs else []
        for name in zeros:
            run = self._runs.get(name)
            self._runs[name] = run._replace(n=run.n + 1) if run else self._begin_run(name)
        self._recent.append(dict(values))
        return found

    def _begin_run(self, name: str) -> ZeroRun:
        each = (_reading(sample, name) for sample in self._recent)
        readings = np.array([x for x in each if x is not None])
        is_zero = readings == 0.0
        steps = np.abs(np.diff(readings)[~(is_zero[1:] | is_zero[:-1])])
        if steps.size < FEWEST_OTHERS:
            return ZeroRun(1, None, None)
        jump = JUMP * max(usual_step(steps), noise_floor_of(readings))
        return ZeroRun(1, float(readings[-1]), jump)

    def _end_runs(self, values: Mapping[str, Any]) -> list[str]:
        found = []
        for name in [*self._runs]:
            after = _reading(values, name)
            if not after:
                continue
            n, before, jump = self._runs.pop(name)
            if before is None or jump is None:  # too little was known then
                continue
            if min(abs(before), abs(after)) > jump:
                self._jumped[name] = self._jumped.get(name, 0) + n
            else:
                self._usual[name] = self._usual.get(name, 0) + 1
            if self._usual.get(name, 0) >= FEWEST:
                self.forget(name)
            elif self._jumped.get(name, 0) >= FEWEST:
                self.forget(name)
                found.append(name)
        return found

    # -- for the state file ------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "watched": sorted(self.watched),
            "recent": {
                name: [_reading(sample, name) for sample in self._recent]
                for name in sorted(self.watched)
                if any(name in sample for sample in self._recent)
            },
            "runs": {name: list(run) for name, run in self._runs.items()},
            "jumped": dict(self._jumped),
            "usual": dict(self._usual),
        }

    def restore(self, content: Mapping[str, Any]) -> None:
        """Go on from `content`; ValueError where it is none."""
        self.clear()
        watched, recent, runs = set(content["watched"]), content["recent"], content["runs"]
        counts = [content["jumped"], content["usual"], {k: run[0] for k, run in runs.items()}]
        numbers = [n for each in counts for n in each.values()]
        if not watched.union(recent, *counts) <= self.names or not all(map(_is_count, numbers)):
            raise ValueError("zeros of channels that cannot have been watched")
        lengths = {len(readings) for readings in recent.values()}
        kept = [x for readings in recent.values() for x in readings]
        kept += [x for run in runs.values() for x in run[1:]]
        if len(lengths) > 1 or max(lengths, default=0) > RECENT or not all(map(_is_kept, kept)):
            raise ValueError("readings that cannot have been watched")
        self.watched = watched
        for k in range(max(lengths, default=0)):
            sample = {name: readings[k] for name, readings in recent.items()}
            self._recent.append({name: x for name, x in sample.items() if x is not None})
        self._runs = {name: ZeroRun(*run) for name, run in runs.items()}
        self._jumped, self._usual = dict(content["jumped"]), dict(content["usual"])


def _may_be_watched(name: str) -> bool:
    quantity = ChannelName.parse(name).quantity
    return is_steady(quantity) and quantity != "attitude"  # whose sign may change at any sample


def _reading(values: Mapping[str, Any], name: str) -> float | None:
    """What a channel reads in a sample, where it reads a number."""
    value = values.get(name)
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if type(value) is int and abs(value) < 2**53:  # theory: what a double holds
        return float(value)
    return None


def _is_count(number: object) -> bool:
    return type(number) is int and number >= 0


def _is_kept(number: object) -> bool:
    """Whether a number of a state file is one that was kept."""
    return number is None or (type(number) in (float, int) and isfinite(number))  # type: ignore[arg-type]
