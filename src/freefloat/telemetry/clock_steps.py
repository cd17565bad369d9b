"""Clocks of a recording: which channels share one, where it is irregular, where it was set.

A clock that is set shows as the same jump of the stamps in all streams. If samples were lost
instead, the signals have gone on in the meantime; if only the clock was set, they have not: what is
before and what is after join. Evidence for either is summed over all channels; where the motion
cannot tell, it is a gap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.telemetry.channel import MAD, Array, Mask
from freefloat.telemetry.diagnosis import FAMILY_CHANCE
from freefloat.telemetry.gap_bridge import learn_bridge
from freefloat.telemetry.local_prediction import Indices, LocalPredictor, SignalSamples
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import LOST

_LONG = 3.5  # theory: [steps]; over longer gaps a polynomial of a few samples says little
_MOST_CANDIDATES = 60  # theory: a clock set more often is not a clock
_ODDS_KEPT = math.log(100.0)  # theory: prior odds that no sample was lost when a clock was set
_HEAVY = 5.0  # theory: Student's degrees of freedom, so that no channel decides alone
_FEWEST = 20  # theory: intervals that tell the step of a clock from its scatter


@dataclass(frozen=True)
class StreamClock:
    """The instants [s] that some channels share, in the order of the file."""

    time: Array
    names: tuple[str, ...]
    step: float  # median [s]
    tolerance: float  # [s] from a whole number of steps that scatter explains

    @property
    def intervals(self) -> Array:
        """From each instant to the next [s]."""
        return np.diff(self.time)

    @property
    def is_odd(self) -> Mask:
        """Intervals that are no whole number of steps, or not forward."""
        return np.abs(_excess(self.intervals, self.step)) > self.tolerance

    @property
    def section(self) -> Indices:
        """A number for each sample that changes where nothing is to be predicted across."""
        breaks = self.is_odd | (self.intervals > _LONG * self.step)
        return np.concatenate([[0], np.cumsum(breaks)]) if len(self.time) else np.zeros(0, int)


@dataclass(frozen=True)
class ClockStep:
    """A clock that was set: the last instant before, by how much, and how sure."""

    time: float  # [s], of the last sample before
    seconds: float  # by how much the stamps jump [s]
    deviation: float  # [s]
    chance: float
    after: Mapping[str, int]  # by channel, its first sample after


def _excess(intervals: Array, step: float) -> Array:
    return intervals - step * np.maximum(np.rint(intervals / step), 1.0)


def clocks_of(telemetry: Telemetry) -> list[StreamClock]:
    """The clocks of a recording, the fastest first; channels with the same instants share one."""
    groups: dict[bytes, list[str]] = {}
    for name, channel in telemetry.channels.items():
        groups.setdefault(channel.time.tobytes(), []).append(name)
    clocks = [_clock(telemetry[names[0]].time, tuple(names)) for names in groups.values()]
    return sorted(clocks, key=lambda clock: clock.step)


def _clock(time: Array, names: tuple[str, ...]) -> StreamClock:
    steps = np.diff(time)
    forward = steps[steps > 0.0]
    if not len(forward):
        return StreamClock(time, names, math.inf, math.inf)
    step = float(np.median(forward))
    off = np.abs(_excess(forward, step))
    scatter = MAD * float(np.median(off))
    if len(off) >= _FEWEST:
        # Rounded or late stamps: most are on time, some are not. 1.645 for normal ones.
        scatter = max(scatter, float(np.quantile(off, 0.95)) / 1.645)
    rounding = 1e-9 * float(np.max(np.abs(time))) + 1e-6 * step
    return StreamClock(time, names, step, _limit(len(time)) * scatter + rounding)


def _limit(n: int) -> float:
    from scipy.special import ndtri

    return -float(ndtri(0.5 * FAMILY_CHANCE / max(n, 1)))


class Join:
    """How the samples of a channel before and after an interval go on into it.

    Args:
        model: Of the channel.
        samples: Of the channel.
        last: The last sample before the interval.
    """

    def __init__(self, model: LocalPredictor, samples: SignalSamples, last: int) -> None:
        self.model = model
        width = 2 * model.half + 1
        before = _good(samples, last, -1, width)
        after = _good(samples, last + 1, 1, width)
        self.is_usable = min(len(before), len(after)) >= model.degree + 2
        if self.is_usable:
            self.sides = [(samples.time[i], samples.values[i]) for i in (before, after)]
            self.spread = float(np.max(model.spread[np.concatenate([before, after])]))
            baseline = min(len(before), len(after)) - 1
            self.bridge = learn_bridge(
                samples, step=model.step, baseline=baseline, noise=model.noise
            )

    @property
    def reach(self) -> float:
        """The time [s] that the samples of one side span."""
        return 2 * self.model.half * self.model.step

    def mismatch(self, shifts: Array) -> tuple[Array, Array, Array]:
        """The difference, its standard deviation and its slope if stamps jumped by `shifts` [s]."""
        (tb, yb), (ta, ya) = self.sides
        middle = 0.5 * (tb[-1] + ta[0] - shifts)
        b, vb, mb, sb = self._extrapolate(tb, yb, middle)
        a, va, ma, sa = self._extrapolate(ta, ya, middle + shifts)
        missed = self.model.motion**2 * (mb**2 + ma**2)
        s = self.spread * np.sqrt(self.model.noise**2 * (vb + va) + missed)
        lengths = ta[0] - tb[-1] - shifts
        far, wide = self.bridge.mismatch(self.sides[0], self.sides[1], lengths)
        is_far = (lengths > _LONG * self.model.step) & (wide < s)
        return np.where(is_far, -far, b - a), np.where(is_far, wide, s), 0.5 * (sb + sa)

    def _extrapolate(self, t: Array, y: Array, at: Array) -> tuple[Array, Array, Array, Array]:
        """Value, variance for noise of one, share of motion missed, and slope at instants."""
        model = self.model
        unit = model.half * model.step
        powers = np.arange(model.degree + 1)
        u, w = (t - t.mean()) / unit, (at - t.mean()) / unit
        weights = (w[:, None] ** powers) @ np.linalg.pinv(u[:, None] ** powers)
        slopes = powers * np.where(powers > 0, w[:, None] ** np.maximum(powers - 1, 0), 0.0)
        slope = (slopes @ np.linalg.pinv(u[:, None] ** powers)) @ y / unit
        order = model.degree + 1
        missed = np.abs(weights @ u**order - w**order) / model.truncation
        return weights @ y, np.sum(weights**2, axis=1), missed, slope


def _good(samples: SignalSamples, start: int, side: int, most: int) -> Indices:
    """The nearest samples that count from `start` on to one side, within its section, in order."""
    if not 0 <= start < len(samples.time):
        return np.zeros(0, dtype=np.intp)
    stop = start + side * 3 * most
    places = np.arange(start, min(max(stop, -1), len(samples.time)), side)
    places = places[samples.ok[places] & (samples.section[places] == samples.section[start])]
    return np.sort(places[:most])


def find_clock_steps(
    clocks: Sequence[StreamClock],
    samples: Mapping[str, SignalSamples],
    models: Mapping[str, LocalPredictor],
) -> list[ClockStep]:
    """Where the clock of the whole recording was set.

    Args:
        clocks: As `clocks_of` gives them.
        samples: By channel, those that are no outliers.
        models: By channel, of those whose signal is smooth.
    """
    used = [clock for clock in clocks if len(clock.time) > _FEWEST and math.isfinite(clock.step)]
    if not used:
        return []
    fastest = used[0]
    unusual = np.abs(fastest.intervals - fastest.step) > fastest.tolerance
    candidates = np.flatnonzero(unusual)
    if len(candidates) > _MOST_CANDIDATES:
        candidates = np.flatnonzero(fastest.is_odd)
    if not 0 < len(candidates) <= _MOST_CANDIDATES:
        return []
    found = []
    for place in candidates.tolist():
        step = _judge(used, place, samples, models, n_tests=len(candidates))
        if step is not None:
            found.append(step)
    return found


def _judge(
    clocks: Sequence[StreamClock],
    place: int,
    samples: Mapping[str, SignalSamples],
    models: Mapping[str, LocalPredictor],
    *,
    n_tests: int,
) -> ClockStep | None:
    """Whether the clock was set in one interval of the fastest one."""
    fastest = clocks[0]
    places = _same_interval(clocks, place)
    if places is None:
        return None
    shifts = _possible_shifts(clocks, places)
    if not np.any(shifts != 0.0):
        return None
    joins = [
        Join(models[name], samples[name], last)
        for clock, last in places
        for name in clock.names
        if name in models
    ]
    joins = [join for join in joins if join.is_usable]
    if not joins:
        return None
    lost = np.rint((fastest.intervals[place] - shifts) / fastest.step) - 1.0
    evidence, slopes = _evidence(joins, shifts)
    evidence = evidence - np.where((shifts != 0.0) & (lost > 0.5), _ODDS_KEPT, 0.0)
    # sides that far apart do not join: what all signals do meanwhile is no independent evidence
    reach = float(np.median([join.reach for join in joins]))
    evidence[(shifts != 0.0) & (lost * fastest.step > reach)] = -np.inf
    best = int(np.argmax(evidence))
    none = float(evidence[shifts == 0.0].max(initial=-np.inf))
    if np.isneginf(none):  # backward: no gap can be that; it need only join
        none = sum(map(_flat_evidence, joins))
    chance = n_tests * math.exp(min(none - float(evidence[best]), 0.0))
    if shifts[best] == 0.0 or chance > FAMILY_CHANCE:
        return None
    share = np.exp(evidence - evidence[best])
    among = math.sqrt(float(np.sum(share * (shifts - shifts[best]) ** 2) / np.sum(share)))
    deviation = max(among, fastest.tolerance / _limit(len(fastest.time)), min(slopes, 1e-9))
    after = {name: last + 1 for clock, last in places for name in clock.names}
    moment = float(fastest.time[place])
    return ClockStep(moment, float(shifts[best]), deviation, chance, after)


def _same_interval(
    clocks: Sequence[StreamClock], place: int
) -> list[tuple[StreamClock, int]] | None:
    """For each clock its last sample before the interval; None if one of them did not jump."""
    fastest = clocks[0]
    before, jump = fastest.time[place], fastest.intervals[place] - fastest.step
    places = [(fastest, place)]
    for clock in clocks[1:]:
        if not clock.time[0] <= before < clock.time.max():
            continue
        off = np.abs(clock.time[:-1] - before)
        reach = max(clock.step, fastest.step) + clock.tolerance
        near = np.flatnonzero(off <= reach)
        unusual = np.abs(clock.intervals[near] - clock.step) > clock.tolerance
        near = near[unusual]
        if not len(near):
            near = _silent_over(clock, before, jump, fastest.tolerance)
        if not len(near):
            if abs(jump) > clock.tolerance:
                return None
            continue
        places.append((clock, int(near[np.argmin(off[near])])))
    return places


def _silent_over(clock: StreamClock, before: float, jump: float, tolerance: float) -> Indices:
    """Intervals in which a stream lost the samples about an instant [s] at which stamps jump [s].

    Without the jump they last a whole number of steps, and the instant is among them.
    """
    length = clock.intervals - jump
    is_whole = np.abs(_excess(length, clock.step)) <= clock.tolerance + tolerance
    is_over = (clock.time[:-1] < before) & (clock.time[:-1] + length > before)
    is_unusual = np.abs(clock.intervals - clock.step) > clock.tolerance
    return np.flatnonzero(is_whole & is_over & is_unusual & (length > LOST * clock.step))


def _possible_shifts(
    clocks: Sequence[StreamClock], places: Sequence[tuple[StreamClock, int]]
) -> Array:
    """Jumps [s] that all stamps agree with: whole numbers of samples may have been lost; and 0."""
    fastest, place = places[0]
    interval = float(fastest.intervals[place])
    most = max(1, math.floor(max(interval, fastest.step) / fastest.step + 0.5) + 2)
    shifts = interval - fastest.step * np.arange(1, min(most, 2000) + 1)
    shifts = shifts[np.abs(shifts) > fastest.tolerance]
    for clock, last in places[1:]:
        other = float(clock.intervals[last])
        off = np.abs(_excess(other - shifts, clock.step))
        shifts = shifts[off <= clock.tolerance + fastest.tolerance]
    return np.append(shifts, 0.0) if interval > 0.0 else shifts


def _evidence(joins: Sequence[Join], shifts: Array) -> tuple[Array, float]:
    """The logarithm of the likelihood of each shift, and the deviation that signals alone allow."""
    total, information = np.zeros(len(shifts)), 0.0
    for join in joins:
        difference, s, slope = join.mismatch(shifts)
        z = difference / s
        total -= 0.5 * (_HEAVY + 1.0) * np.log1p(z**2 / _HEAVY) + np.log(s)
        information += float(np.min((slope / s) ** 2))
    return total, 1.0 / math.sqrt(information) if information > 0.0 else math.inf


def _flat_evidence(join: Join) -> float:
    """The same of one channel if nothing joins: differences as large as its range."""
    range_ = max(join.bridge.range, _HEAVY * join.model.noise)
    return -math.log(range_) - 0.5 * (_HEAVY + 1.0) * math.log1p(1.0 / _HEAVY)
