"""The momentum filter for channels of different rates: fed with frames instead of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.online.frame_builder import FrameBuilder, SampleFrame
from freefloat.online.health import Event, EventKind, SampleOutcome
from freefloat.online.intake import Intake
from freefloat.online.live_channels import (
    channel_rates,
    needed_names,
    noise_of_sensors,
    slow_rate_notes,
)
from freefloat.online.live_filter import FilterRequest
from freefloat.online.momentum_filter import MomentumFilter
from freefloat.telemetry.names import ChannelName
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry


def has_different_rates(model: Model, like: Telemetry | None) -> bool:
    """Whether the channels that momentum is made of come at different rates."""
    names = list(noise_of_sensors(model)) if like is None else list(like.names)
    wanted = [n for n in names if n in set(needed_names(model))]
    rates = list(channel_rates(model, like, wanted).values())
    return len(rates) > 1 and max(rates) > 1.05 * min(rates)  # 5 %: dropped samples are no rate


class FrameFilter(MomentumFilter):
    """A MomentumFilter whose samples may have any part of the channels, at any rate.

    A sample that completes no frame yet is `gathered`; estimates come half a period of the slowest
    channel later than its readings.
    """

    method = "square-root, frames"
    is_ordered = False

    def __init__(self, request: FilterRequest) -> None:
        super().__init__(request)
        rates = channel_rates(request.model, request.like, self.channels)
        self.builder = FrameBuilder.of(self.layout, rates, request.options.frames)
        self._stated_step = self.builder.step
        self._gap: Note | None = None

    def concerns(self) -> tuple[str, ...]:
        """Channels that do not come, or too slowly; how slowly is said before the first sample."""
        stated, found = self._stated_step, self.builder.step
        slowest = f"the slowest channel, {ChannelName.parse(self.builder.slowest).group}, comes"
        step = found if found > self.options.frames.lagging * stated else stated
        return (
            *((self._gap,) if self._gap else ()),
            *slow_rate_notes(slowest, step, self.options.slowest_rate),
        )

    def read(self, sample: Sample, intake: Intake) -> SampleOutcome | None:
        """Anything may be part of a frame."""
        return None

    def skip(self) -> None:
        """Nothing was read."""

    def restart(self, time: float, kind: EventKind, why: str, intake: Intake) -> None:
        """A new segment, and why; after a jump of the clock no reading belongs to others."""
        if kind == "clock jump":
            self.builder.clear()
        super().restart(time, kind, why, intake)

    def take(self, sample: Sample, intake: Intake) -> SampleOutcome:
        """Add a sample to the frames; use those that are complete."""
        builder = self.builder
        outcome: SampleOutcome = "gathered"
        for frame in builder.push(sample):
            outcome = self._take_frame(frame, intake)
        if not builder.has_taken:
            outcome = "late" if any(n in sample.values for n in builder.names) else "incomplete"
        self._take_all_inputs(builder.overdue())
        if builder.is_silent() and self._gap is None:
            self._gap = gap_note(builder.missing(), builder.since)
            intake.report(Event(sample.time, "gap", str(self._gap)))
        return outcome

    def finish(self, intake: Intake) -> bool:
        """Use the frames that still wait for readings."""
        frames = self.builder.ready(np.inf)
        for frame in frames:
            self._take_frame(frame, intake)
        return bool(frames)

    def _take_frame(self, frame: SampleFrame, intake: Intake) -> SampleOutcome:
        """One frame through the filter, with the noise that its readings leave."""
        sigma, values = self.problem.sigma, dict(frame.values)
        self._gap = None
        self._take_all_inputs(one for one in frame.pushes if one.time < frame.time)
        for one in frame.pushes:
            if one.time >= frame.time:
                values |= one.values
        usual = sigma.copy()
        for source, name in zip(self.layout.sources, self.channels, strict=True):
            sigma[source] = usual[source] * frame.shares[name]
        is_whole = self.vector.read(values)
        outcome = self.take_vector(frame.time, intake) if is_whole else "incomplete"
        sigma[:] = usual
        return outcome

    def _take_all_inputs(self, pushes: Iterable[Sample]) -> None:
        """Thrust and wrench between frames."""
        for one in pushes:
            self.take_inputs(one)

    def arrays(self) -> dict[str, Any]:
        """Everything, by name."""
        found = super().arrays() | self.builder.arrays()
        return found | {"frames.gap": np.array(str(self._gap or ""))}

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`."""
        super().restore(arrays)
        self.builder.restore(arrays)
        gap = str(arrays["frames.gap"])
        self._gap = Note("channel.silent", gap) if gap else None


def gap_note(missing: Sequence[str], since: float) -> Note:
    """What is to be said when no frame has come since then [s].

    >>> str(gap_note(["base.attitude.x", "base.attitude.y", "arm.position"], 5.0))
    'no frame since 5 s: base.attitude, arm.position do not come; check them, or track without'
    """
    names = list(dict.fromkeys(ChannelName.parse(name).group for name in missing))
    why = f"{', '.join(names)} {'does' if len(names) == 1 else 'do'} not come"
    why = why if names else "the channels' instants are too far apart"
    return Note(
        "channel.silent", f"no frame since {since:.6g} s: {why}; check them, or track without"
    )
