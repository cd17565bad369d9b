"""The estimator of record for channels of different rates: fed with frames instead of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freefloat.identification.online.channels import channel_rates, needed_names, told_by_model
from freefloat.identification.online.estimate import Estimate
from freefloat.identification.online.estimator import OnlineEstimator
from freefloat.identification.online.gather import SLOWEST, SURE, Frame, Gatherer
from freefloat.identification.online.health import Event, Health, Verdict
from freefloat.identification.parameters import Parameters
from freefloat.model.model import Model
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.stream import Sample


def has_different_rates(model: Model, like: Telemetry | None) -> bool:
    """Whether the channels that momentum is made of come at different rates."""
    names = list(told_by_model(model)) if like is None else list(like.names)
    wanted = [n for n in names if n in set(needed_names(model))]
    rates = list(channel_rates(model, like, wanted).values())
    return len(rates) > 1 and max(rates) > 1.05 * min(rates)  # 5 %: dropped samples are no rate


LAGGING = 1.5  # times the slowest pace's step that drops alone do not make


class GatheringEstimator(OnlineEstimator):
    """An OnlineEstimator whose samples may have any part of the channels, at any rate.

    A sample that completes no frame yet is `gathered`; estimates come half a pace of the slowest
    channel later than its readings.
    """

    def __init__(self, model: Model, parameters: Parameters, **options: Any) -> None:
        super().__init__(model, parameters, **options)
        rates = channel_rates(model, options.get("like"), self.channels.names)
        self.gatherer = Gatherer.of(self.channels, rates)
        self._slow = slow_pace(self.gatherer.pace, rates[self.gatherer.pace])
        self._silence = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and whether the pace is too slow."""
        return (*super().notes, *filter(None, [self._slow]))

    def _counted(self) -> Health:
        """What became of the samples so far, and which channels are too slow or do not come."""
        gatherer = self.gatherer
        slow = self._slow
        if not slow and gatherer.step * SLOWEST > LAGGING:  # slower than it was said to be
            slow = slow_pace(gatherer.pace, 1.0 / gatherer.step)
        concerns = tuple(filter(None, [self._silence, slow]))
        counted = super()._counted()
        if not concerns:
            return counted
        return replace(counted, concerns=(*concerns, *counted.concerns))

    def finish(self) -> Estimate:
        """Use what is still held back; the last estimate."""
        estimate = super().finish()
        frames = self.gatherer.ready(np.inf)
        for frame in frames:
            self._take_frame(frame)
        return self.estimate if frames else estimate

    def _process(self, sample: Sample) -> Verdict:
        gatherer, clock, time = self.gatherer, self.clock, sample.time
        self._greet(sample.values)
        if clock.last is not None and abs(time - clock.last) > clock.jump:
            if clock.judge(time) == "suspect":
                return "clock jump"
            gatherer.clear()
            self._restart(time, "clock jump", "the clock jumped")
        clock.last = time if clock.last is None else max(clock.last, time)
        clock.suspect = None
        verdict: Verdict = "gathered"
        for frame in gatherer.push(sample):
            verdict = self._take_frame(frame)
        if not gatherer.has_taken:
            verdict = "late" if any(n in sample.values for n in gatherer.names) else "incomplete"
        self._tell(gatherer.overdue())
        if gatherer.is_silent() and not self._silence:
            self._silence = silence(gatherer.missing(), gatherer.since)
            self._note(Event(time, "gap", self._silence))
        return verdict

    def _take_frame(self, frame: Frame) -> Verdict:
        """One frame through the filter, with the noise that its readings leave."""
        taken, sigma, values = self.taken, self.problem.sigma, dict(frame.values)
        self._silence = ""
        self._tell([told for told in frame.pushes if told.time < frame.time])
        for told in frame.pushes:
            if told.time >= frame.time:
                values |= told.values
        usual = sigma.copy()
        for source, name in self._sources():
            sigma[source] = usual[source] * frame.shares[name]
        verdict = self._take_read(frame.time) if taken.read(values) else "incomplete"
        sigma[:] = usual
        return verdict

    def _tell(self, pushes: Sequence[Sample]) -> None:
        """Thrust and wrench between frames, to the filter."""
        for told in pushes:
            self.taken.read(told.values)
            self._tell_inputs(told.time)

    def _sources(self) -> list[tuple[Any, str]]:
        """Which sources of error the channels have."""
        return list(zip(self.channels.sources, self.channels.names, strict=True))

    def _more_arrays(self) -> dict[str, np.ndarray]:
        return self.gatherer.arrays() | {"gathered.silence": np.array(self._silence)}

    def _restore_more(self, arrays: dict[str, np.ndarray]) -> None:
        self.gatherer.restore(arrays)
        self._silence = str(arrays["gathered.silence"])


def slow_pace(name: str, rate: float) -> str:
    """What is to be said of a pace at so many readings a second; empty if it is quick enough.

    >>> slow_pace("base.velocity.x", 1.0)[:62]
    'the slowest channel, base.velocity, comes 1 time a second; fra'
    >>> slow_pace("base.velocity.x", 5.0)
    ''
    """
    if rate > 0.95 * SLOWEST:  # 5 %: dropped samples are no rate
        return ""
    times = "1 time" if f"{rate:.2g}" == "1" else f"{rate:.2g} times"
    return (
        f"the slowest channel, {_sensor(name)}, comes {times} a second; frames further apart than"
        f" {1.0 / SLOWEST:g} s are not followed: bring it to {SURE:g} Hz, or method='kalman'"
    )


def silence(missing: Sequence[str], since: float) -> str:
    """What is to be said when no frame has come since then.

    >>> silence(["base.attitude.x", "base.attitude.y", "arm.position"], 5.0)
    'no frame since 5 s: base.attitude, arm.position do not come'
    """
    names = list(dict.fromkeys(_sensor(name) for name in missing))
    told = f"{', '.join(names)} {'does' if len(names) == 1 else 'do'} not come"
    apart = "the channels' instants are too far apart"
    return f"no frame since {since:.6g} s: {told if names else apart}"


def _sensor(name: str) -> str:
    """A channel's name without its axis."""
    whole, _, axis = name.rpartition(".")
    return whole if whole and axis in tuple("xyzw") else name
