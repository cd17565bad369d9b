"""How well a channel is predicted: one line of numbers for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array

# Deviations that an error may be and still be explained: most often one or two directions of the
# parameters make all of it, so it scatters as a single number does.
LUCK = 3.0


@dataclass(frozen=True)
class Score:
    """One channel of a flight, measured against predicted, over `n` samples.

    fit: 100 (1 - |error| / |measured - its mean|) [%], 100 is perfect and 0 no better than a
    constant; rmse, largest and mean error, noise of one sample, expected (by how much a prediction
    is off although the model is right: its parameters and the encoders are known only so well) and
    signal (the scatter of what was measured) in `unit`; *_before are those of the model before the
    fit, NaN where there is none.
    """

    channel: str
    group: str
    unit: str
    n: int
    fit: float
    rmse: float
    largest: float
    mean: float
    noise: float
    is_noise_known: bool
    expected: float
    signal: float
    fit_before: float = float("nan")
    rmse_before: float = float("nan")

    @property
    def ratio(self) -> float:
        """The error in units of what is to be expected; 1 is as good as it can be."""
        total = math.hypot(self.noise, self.expected)
        return self.rmse / total if total > 0.0 else float("inf")

    @property
    def is_explained(self) -> bool:
        """Whether parameters and encoders known only so well explain the error beyond noise."""
        return math.sqrt(max(self.rmse**2 - self.noise**2, 0.0)) <= LUCK * self.expected


def fit_percent(measured: Array, residual: Array) -> float:
    """Share of the measured variation that is predicted [%]; minus infinity never shows, NaN may.

    >>> fit_percent(np.array([0.0, 1.0, 2.0]), np.zeros(3))
    100.0
    """
    spread = float(np.linalg.norm(measured - np.mean(measured)))
    return 100.0 * (1.0 - float(np.linalg.norm(residual)) / spread) if spread > 0.0 else np.nan


def rms(values: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def excess(scores: list[Score]) -> tuple[float, float, float]:
    """Error beyond noise, signal, and the worst error in units of the expected, of one sensor.

    The axes of a vector count together: one that hardly moves has nothing to be predicted.
    """
    error = float(np.sum([score.rmse**2 for score in scores]))
    noise = float(np.sum([score.noise**2 for score in scores]))
    signal = float(np.sum([score.signal**2 for score in scores]))
    beyond = float(np.sqrt(max(error - noise, 0.0)))
    worst = max(score.ratio for score in scores)
    return beyond, float(np.sqrt(max(signal - noise, 0.0))), worst
