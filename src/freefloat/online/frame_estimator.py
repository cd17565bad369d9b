"""The estimator of record for channels of different rates: fed with frames instead of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freefloat.model.model import Model
from freefloat.online.estimator import OnlineEstimator
from freefloat.online.frame_builder import Gatherer, SampleFrame
from freefloat.online.health import Event, SampleOutcome
from freefloat.online.live_channels import channel_rates, needed_names, told_by_model
from freefloat.online.live_estimate import LiveEstimate
from freefloat.online.rate_check import too_slow
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry


def has_different_rates(model: Model, like: Telemetry | None) -> bool:
    """Whether the channels that momentum is made of come at different rates."""
    names = list(told_by_model(model)) if like is None else list(like.names)
    wanted = [n for n in names if n in set(needed_names(model))]
    rates = list(channel_rates(model, like, wanted).values())
    return len(rates) > 1 and max(rates) > 1.05 * min(rates)  # 5 %: dropped samples are no rate


LAGGING = 1.5  # times the step that was said, which drops alone do not make


class GatheringEstimator(OnlineEstimator):
    """An OnlineEstimator whose samples may have any part of the channels, at any rate.

    A sample that completes no frame yet is `gathered`; estimates come half a pace of the slowest
    channel later than its readings.
    """

    def __init__(self, model: Model, parameters: Parameters, **options: Any) -> None:
        super().__init__(model, parameters, **options)
        rates = channel_rates(model, options.get("like"), self.channels.names)
        self.gatherer = Gatherer.of(self.channels, rates)
        self._said = self.gatherer.step
        self._silence = ""

    def finish(self) -> LiveEstimate:
        """Use what is still held back; the last estimate."""
        estimate = super().finish()
        frames = self.gatherer.ready(np.inf)
        for frame in frames:
            self._take_frame(frame)
        return self.estimate if frames else estimate

    def _concerns(self) -> tuple[str, ...]:
        """Channels that do not come, or too slowly; how slowly is said before the first sample."""
        said, found = self._said, self.gatherer.step
        slowest = f"the slowest channel, {_sensor(self.gatherer.pace)}, comes"
        slow = too_slow(slowest, found if found > LAGGING * said else said)
        return (
            *filter(None, [self._silence]),
            *slow,
            *self.channels.concerns,
            *self.strangers.concerns,
        )

    def _process(self, sample: Sample) -> SampleOutcome:
        gatherer, clock, time = self.gatherer, self.clock, sample.time
        self._greet(sample.values)
        if clock.last is not None and abs(time - clock.last) > clock.jump:
            if clock.judge(time) == "suspect":
                return "clock jump"
            gatherer.clear()
            self._restart(time, "clock jump", "the clock jumped")
        clock.last = time if clock.last is None else max(clock.last, time)
        clock.suspect = None
        verdict: SampleOutcome = "gathered"
        for frame in gatherer.push(sample):
            verdict = self._take_frame(frame)
        if not gatherer.has_taken:
            verdict = "late" if any(n in sample.values for n in gatherer.names) else "incomplete"
        self._tell(gatherer.overdue())
        if gatherer.is_silent() and not self._silence:
            self._silence = silence(gatherer.missing(), gatherer.since)
            self._note(Event(time, "gap", self._silence))
        return verdict

    def _take_frame(self, frame: SampleFrame) -> SampleOutcome:
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
