"""Faults of a recording, put into it at random: what sensors, buses and loggers do to telemetry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import CampaignError
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Bounds, NotNegative
from freefloat.telemetry.channel import Channel, Mask, estimate_noise
from freefloat.telemetry.telemetry import Telemetry

Part = Annotated[float, Bounds(least=0.0, most=1.0, remedy="give a part of one, such as 0.01")]


@dataclass(frozen=True)
class FaultOptions(CheckedOptions, error=CampaignError):
    """How much of which fault; places and signs are drawn in every run."""

    dropout: Part = 0.0
    """Samples that are missing, as a share of each channel."""

    nan: Part = 0.0
    """Samples that are no number."""

    outliers: Part = 0.0
    """Samples that are off by `outlier_size` standard deviations of the noise."""

    outlier_size: NotNegative = 50.0

    gap: NotNegative = 0.0
    """A gap in one channel [s]."""

    stuck: NotNegative = 0.0
    """How long one channel repeats a value [s]."""

    delay: NotNegative = 0.0
    """How late the readings of the base are stamped [s]."""

    clock_step: NotNegative = 0.0
    """By how much all clocks are set at one instant, forward or back [s]."""

    fill: Part = 0.0
    """Samples that hold -999 instead of a reading, in one channel."""

    @property
    def is_any(self) -> bool:
        """Whether there is anything to put in."""
        sizes = (self.dropout, self.nan, self.outliers, self.gap, self.stuck, self.delay)
        return any((*sizes, self.clock_step, self.fill))


FILL_VALUE = -999.0  # format: what many loggers write where there is no reading
EDGE = 0.1  # format: of a flight, left alone at both ends by faults that have one place


def spoil(flight: Telemetry, faults: FaultOptions, rng: np.random.Generator) -> Telemetry:
    """The recording with faults at random places; its truth is as it was."""
    if not faults.is_any:
        return flight
    names = list(flight.channels)
    one = {kind: names[int(rng.integers(len(names)))] for kind in ("gap", "stuck", "fill")}
    start, end = flight.start, flight.end
    places = {kind: rng.uniform(EDGE, 1.0 - EDGE) for kind in ("gap", "stuck", "clock")}
    at = {kind: start + share * (end - start) for kind, share in places.items()}
    step = faults.clock_step * float(rng.choice([-1.0, 1.0]))
    made = []
    for name, channel in flight.channels.items():
        time, values = channel.time.copy(), channel.values.copy()
        keep = rng.random(len(time)) >= faults.dropout
        _put_outliers(channel, values, faults, rng)
        values[rng.random(len(time)) < faults.nan] = np.nan
        if name == one["fill"]:
            values[rng.random(len(time)) < faults.fill] = FILL_VALUE
        if name == one["stuck"] and faults.stuck:
            _hold(values, (time >= at["stuck"]) & (time < at["stuck"] + faults.stuck))
        if name == one["gap"] and faults.gap:
            keep &= (time < at["gap"]) | (time >= at["gap"] + faults.gap)
        if name.startswith("base."):
            time = time + faults.delay
        time = np.where(time > at["clock"], time + step, time)
        made.append(Channel(name, channel.unit, time[keep], values[keep], None, channel.noise))
    return Telemetry.of(made, flight.metadata)


def _put_outliers(
    channel: Channel, values: Array, faults: FaultOptions, rng: np.random.Generator
) -> None:
    where = rng.random(len(values)) < faults.outliers
    if np.any(where):
        sigma = channel.noise or estimate_noise(channel)
        values[where] += faults.outlier_size * sigma * rng.choice([-1.0, 1.0], size=where.sum())


def _hold(values: Array, where: Mask) -> None:
    places = np.flatnonzero(where)
    if len(places):
        values[places] = values[places[0]]
