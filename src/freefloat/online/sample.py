"""From what arrives to the vector that the filter takes."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, isfinite, sin
from operator import itemgetter
from struct import Struct
from struct import error as unpackable
from typing import Any, TypeGuard

import numpy as np

from freefloat.arrays import Array
from freefloat.online.live_channels import Channels
from freefloat.telemetry.channel import LATEST
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.thrust_levels import open_levels

# format: no reading is larger, and an integer may be too large for any floating-point number
LARGEST = 1e30


def as_sample(sample: object) -> Sample | None:
    """The Sample that something is: a Sample, or a mapping with "time" and values; else None.

    >>> as_sample({"time": 1, "base.rate.x": 0.1})
    Sample(time=1.0, values={'time': 1, 'base.rate.x': 0.1})
    >>> as_sample({"base.rate.x": 0.1}) is None
    True
    """
    if type(sample) is Sample:  # as most are: no need to look closer
        time, values = sample.time, sample.values
        if type(time) is float and type(values) is dict and -LATEST < time < LATEST:
            return sample
    elif isinstance(sample, Sample):
        time, values = sample.time, sample.values
    elif isinstance(sample, Mapping):
        time, values = sample.get("time"), sample.get("values", sample)
    else:
        return None
    if not isinstance(time, int | float) or isinstance(time, bool):
        return None
    if not abs(time) < LATEST or not isinstance(values, Mapping):
        return None
    return Sample(float(time), values) if not isinstance(sample, Sample) else sample


class SampleVector:
    """The vector of the last sample, with the thruster levels and the wrench that hold from it."""

    def __init__(self, channels: Channels) -> None:
        self.channels = channels
        self.vector = channels.home.copy()
        self.levels = np.zeros(len(channels.thrusters))
        self.wrench = np.zeros(6)
        self.has_wrench = self.has_inputs = False
        self._numbers = np.zeros(len(channels.names))
        self._pack: Any = Struct(f"{len(channels.names)}d").pack_into
        self._pushes = _Inputs(channels.thrusters)
        self._is_thrust_noisy = bool(channels.thrust_noise.any())
        self._wrenches = _Inputs(channels.wrench)

    def read(self, values: Mapping[str, Any]) -> bool:
        """Take a sample's numbers over; whether all that is needed was there."""
        channels = self.channels
        self.has_inputs = self._pushes.read(values, self.levels)
        if self.has_inputs and self._is_thrust_noisy:
            self.levels[:] = open_levels(self.levels, channels.thrust_noise)
        self.has_wrench = self._wrenches.read(values, self.wrench)
        if self.has_wrench:
            self.has_inputs = True
        try:
            self._pack(self._numbers, 0, *channels.take(values))
        except (KeyError, TypeError, OverflowError, unpackable):  # missing, or no number
            return False
        self.vector[channels.places] = self._numbers
        if channels.is_planar:
            angle = 0.5 * self.vector.item(3)
            if not isfinite(angle):
                return False
            self.vector[3], self.vector[5], self.vector[6] = 0.0, sin(angle), cos(angle)
        return True

    def arrays(self) -> dict[str, Array]:
        """What holds on from sample to sample, by name."""
        return {"vector": self.vector, "levels": self.levels, "wrench": self.wrench}

    def is_input_only(self, values: Mapping[str, Any]) -> bool:
        """Whether a sample has thrust or wrench and nothing else."""
        return self.has_inputs and not any(name in values for name in self.channels.names)


class _Inputs:
    """Channels that are told when they change: all, some, or none of them are in a sample."""

    def __init__(self, places: dict[str, int]) -> None:
        self.places = places
        self.names = tuple(places)
        self.take = itemgetter(*places) if len(places) > 1 else None
        self.pack: Any = Struct(f"{len(places)}d").pack_into

    def read(self, values: Mapping[str, Any], into: Array) -> bool:
        """Put what is there into its places; whether anything was."""
        for name in self.names:
            if name in values:
                break
        else:
            return False
        if self.take is not None:
            try:
                found = self.take(values)
                if isfinite(sum(found)):
                    self.pack(into, 0, *found)
                    return True
            except (KeyError, TypeError, OverflowError, unpackable):
                pass  # one by one, then
        has_any = False
        for name, k in self.places.items():
            if name in values and is_number(values[name]):
                into[k] = values[name]
                has_any = True
        return has_any


def is_number(value: object) -> TypeGuard[float]:
    """Whether a reading is a number that can be used; written so that it holds for integers, too.

    >>> [is_number(value) for value in (1, 0.5, float("nan"), 10**400, True, "1", None)]
    [True, True, False, False, False, False, False]
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -LARGEST < value < LARGEST
