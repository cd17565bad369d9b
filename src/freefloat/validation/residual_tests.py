"""Tests of residuals: are they white noise, or autocorrelated by something that is not modelled?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array, read_only_copy

# theory: the 99.5 % quantile of the normal distribution; correlations of white noise are normal
BAND = 2.5758  # standard deviations 1 / sqrt(n) that hold 99 % of the correlations of white noise
MOST_LINES = 100  # format: of a spectrum; beyond, nobody sees the difference on a page


@dataclass(frozen=True, eq=False)
class Whiteness:
    """The autocorrelation of a channel's residuals at lags of 1, 2, ... samples of `step` [s].

    White noise stays within +- band at 99 of 100 lags; outside is the share that does not.
    """

    channel: str
    step: float
    correlation: Array
    band: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "correlation", read_only_copy(self.correlation))

    @property
    def outside(self) -> float:
        """The share of lags outside the band; 0.01 is what white noise has."""
        return (
            float(np.mean(np.abs(self.correlation) > self.band)) if len(self.correlation) else 0.0
        )

    @property
    def largest(self) -> float:
        """The largest correlation at any lag: the share of the residual's power that has one."""
        return float(np.max(np.abs(self.correlation), initial=0.0))


@dataclass(frozen=True, eq=False)
class ResidualSpectrum:
    """The one-sided power density [unit^2/Hz] of a channel's residuals over frequency [Hz].

    `before` is that of the model before the fit (empty where there is none), floor that of the
    sensor's noise.
    """

    channel: str
    unit: str
    frequency: Array
    density: Array
    before: Array
    floor: float

    def __post_init__(self) -> None:
        for name in ("frequency", "density", "before"):
            object.__setattr__(self, name, read_only_copy(getattr(self, name)))


def whiteness(channel: str, residual: Array, step: float, *, lags: int = 40) -> Whiteness:
    """The autocorrelation of residuals, mean removed, at up to so many lags of `step` [s].

    >>> noise = np.random.default_rng(1).normal(size=2000)
    >>> whiteness("base.rate.x", noise, 0.1).outside <= 0.1
    True
    """
    left = residual - np.mean(residual)
    n = len(left)
    power = float(left @ left)
    found = [
        float(left[k:] @ left[:-k]) / power if power > 0.0 else 0.0
        for k in range(1, min(lags, n // 4) + 1)
    ]
    return Whiteness(channel, float(step), np.array(found), BAND / np.sqrt(n))


def density(residual: Array, rate: float) -> tuple[Array, Array]:
    """Frequencies [Hz] and power density by Welch's method, averaged to lines of equal ratio."""
    from scipy.signal import welch

    length = min(len(residual), max(64, len(residual) // 4))
    frequency, power = welch(residual, fs=rate, nperseg=length, detrend="constant")
    frequency, power = frequency[1:], power[1:]
    if len(frequency) <= MOST_LINES:
        return frequency, power
    edges = np.geomspace(frequency[0], frequency[-1] * (1 + 1e-9), MOST_LINES + 1)
    line = np.digitize(frequency, edges) - 1
    groups = [line == k for k in np.unique(line)]
    return (
        np.array([float(np.mean(frequency[g])) for g in groups]),
        np.array([float(np.mean(power[g])) for g in groups]),
    )
