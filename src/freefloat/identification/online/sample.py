"""From what arrives to the vector that the filter takes."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, isfinite, sin
from typing import Any

import numpy as np

from freefloat.identification.online.channels import Channels
from freefloat.telemetry.stream import Sample

LATEST = 1e12  # [s]; no clock shows more


def taken_from(sample: object) -> Sample | None:
    """The Sample that something is: a Sample, or a mapping with "time" and values; else None.

    >>> taken_from({"time": 1, "base.rate.x": 0.1})
    Sample(time=1.0, values={'time': 1, 'base.rate.x': 0.1})
    >>> taken_from({"base.rate.x": 0.1}) is None
    True
    """
    if isinstance(sample, Sample):
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


class Taken:
    """The vector of the last sample, with the thruster levels and the wrench that hold from it."""

    def __init__(self, channels: Channels) -> None:
        self.channels = channels
        self.vector = channels.home.copy()
        self.levels = np.zeros(len(channels.thrusters))
        self.wrench = np.zeros(6)
        self.has_wrench = self.has_inputs = False

    def read(self, sample: Sample) -> bool:
        """Take a sample's numbers over; whether all that is needed was there."""
        values = sample.values
        self._read_inputs(values)
        try:
            self.vector[self.channels.places] = self.channels.take(values)
        except (KeyError, TypeError, ValueError):  # missing, or no number
            return False
        if self.channels.is_planar:
            angle = 0.5 * float(self.vector[3])
            if not isfinite(angle):
                return False
            self.vector[3], self.vector[5], self.vector[6] = 0.0, sin(angle), cos(angle)
        return True

    def _read_inputs(self, values: Mapping[str, Any]) -> None:
        self.has_wrench = self.has_inputs = False
        for name, k in self.channels.thrusters.items():
            if name in values and _is_number(values[name]):
                self.levels[k] = values[name]
                self.has_inputs = True
        for name, k in self.channels.wrench.items():
            if name in values and _is_number(values[name]):
                self.wrench[k] = values[name]
                self.has_wrench = self.has_inputs = True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)
