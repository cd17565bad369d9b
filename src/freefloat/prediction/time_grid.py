"""The common sampling grid of a sensor suite."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np

from freefloat.errors import TelemetryError
from freefloat.model.parts import Sensor

MAX_GRID_RATE = 20_000  # [Hz]


def common_grid(suite: tuple[Sensor, ...], step: float) -> tuple[float, float, int]:
    """Rate of the grid that holds every sensor's samples [Hz], step [s], steps per grid interval.

    A delayed sensor looks at earlier instants, which are on the grid too: nothing is interpolated.

    >>> from freefloat.model.parts import Sensor
    >>> common_grid((Sensor("gyro", "bus", 30.0), Sensor("attitude", "bus", 100.0)), 1e-3)[0]
    300.0
    """
    rates = [_fraction(sensor.rate) for sensor in suite]
    delays = [Fraction(sensor.delay).limit_denominator(MAX_GRID_RATE) for sensor in suite]
    rates += [Fraction(delay.denominator) for delay in delays if delay]
    top = lcm(*(rate.numerator for rate in rates))
    grid = Fraction(top, gcd(*(rate.denominator for rate in rates)))
    if grid > MAX_GRID_RATE:
        listed = ", ".join(f"{sensor.kind} {sensor.rate:g} Hz" for sensor in suite)
        raise TelemetryError(
            f"the sensors' rates and delays have no common grid below {MAX_GRID_RATE} Hz"
            f" ({listed}); choose rates and delays that divide each other better"
        )
    interval = float(1 / grid)
    every = max(1, int(np.ceil(interval / step * (1 - 1e-9))))
    return float(grid), interval / every, every


def _fraction(rate: float) -> Fraction:
    """A rate as a fraction of small numbers; slow ones by their period."""
    if rate >= 1.0:
        return Fraction(rate).limit_denominator(1000)
    return 1 / Fraction(1.0 / rate).limit_denominator(1000)
