"""A prediction beside its recording, channel by channel: errors, what to expect of them, curves.

Three things keep a prediction from the measurement although the model is right, beside the sensor's
own noise: the parameters are known to their stated standard deviations only, the encoders that
drive the simulation are noisy, and the initial state that was fitted has taken up what it could of
both. The first is the Jacobian of the prediction times the covariance of the fit; the second is the
difference that another draw of the encoders' noise makes; the third is taken off by projection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array, read_only_copy
from freefloat.dynamics.tree import System
from freefloat.identification.fit import Fit
from freefloat.model.model import Model
from freefloat.prediction.fresh_inputs import fresh_inputs
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.consistency import parameter_deviations
from freefloat.validation.flight_prediction import FlightPrediction, linearise
from freefloat.validation.residual_tests import ResidualSpectrum, Whiteness, density, whiteness

MOST_POINTS = 48_000  # format: numbers in the traces of a verdict; its page stays below 1 MB
LEAST_POINTS = 200  # format: of one trace, however many there are


@dataclass(frozen=True)
class Score:
    """One channel of a flight, measured against predicted, over `n` samples.

    fit: 100 (1 - |error| / |measured - its mean|) [%], 100 is perfect and 0 no better than a
    constant; rmse, largest and mean error, noise of one sample, expected (the standard deviation of
    a right model's prediction, whose parameters and encoders are known only so well) and signal
    (the scatter of what was measured) in `unit`; *_before are those of the model before the fit,
    NaN where there is none.
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


@dataclass(frozen=True, eq=False)
class Trace:
    """One channel over time, thinned for a page: measured, predicted, and predicted before.

    Empty where there is none; joints that were followed have no prediction.
    """

    channel: str
    unit: str
    time: Array
    measured: Array
    predicted: Array
    before: Array

    def __post_init__(self) -> None:
        for name in ("time", "measured", "predicted", "before"):
            object.__setattr__(self, name, read_only_copy(getattr(self, name)))


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


def scores_of(
    prediction: FlightPrediction, before: FlightPrediction | None, expected: Sequence[Array]
) -> tuple[Score, ...]:
    """One line of numbers for every channel; `expected` as `expected_errors` gives it."""
    old = _residuals_by_names(before)
    found = []
    for sensor, off in zip(prediction.sensors, expected, strict=True):
        m, curve = sensor.measurement, sensor.curve
        for k, name in enumerate(sensor.names):
            e, measured = sensor.residual[:, k], curve[:, k]
            past = old[sensor.names][:, k] if sensor.names in old else np.array([np.nan])
            found.append(
                Score(
                    name, m.group, sensor.unit, len(e), fit_percent(measured, e), rms(e),
                    float(np.max(np.abs(e))), float(np.mean(e)), float(m.noise[k]),
                    m.is_noise_known, float(off[k]), float(np.std(measured)),
                    fit_percent(measured, past) if sensor.names in old else float("nan"), rms(past),
                )
            )  # fmt: skip
    return tuple(found)


def _residuals_by_names(prediction: FlightPrediction | None) -> dict[tuple[str, ...], Array]:
    """Residuals by channels; nothing where there was no prediction."""
    if prediction is None:
        return {}
    return {sensor.names: sensor.residual for sensor in prediction.sensors}


def expected_errors(
    prediction: FlightPrediction, fit: Fit | Model, *, seed: int = 0
) -> tuple[Array, ...]:
    """Standard deviations (r,) of every sensor's prediction, in its unit."""
    thin = prediction.thin()
    stated = parameter_deviations(prediction.system, fit)
    start = list(prediction.start)
    rows, left = linearise(thin, prediction.start, [*start, *stated.names])
    jitter = np.zeros(len(left))
    if not prediction.search.problem.recordings[0].is_planned:
        # what another draw of the encoders' noise does to the prediction
        recorded = prediction.recording
        for source in fresh_inputs(thin.source, recorded, 1, seed=seed, is_alike=False):
            jitter = left - linearise(replace(thin, source=source), prediction.start, ())[1]
    moved = np.column_stack([rows[:, len(start) :] @ stated.factor, jitter])
    if start:
        basis = np.linalg.qr(rows[:, : len(start)])[0]
        moved = moved - basis @ (basis.T @ moved)
    variance = np.sum(moved**2, axis=1)
    found, first = [], 0
    for m in thin.measurements:
        n = len(m.times) * len(m.rows)
        mean = variance[first : first + n].reshape(-1, len(m.rows)).mean(axis=0)
        found.append(np.sqrt(mean) * m.noise)
        first += n
    return tuple(found)


def residual_statistics(
    prediction: FlightPrediction, before: FlightPrediction | None
) -> tuple[tuple[Whiteness, ...], tuple[ResidualSpectrum, ...]]:
    """Autocorrelation and spectrum of every channel's residuals."""
    old = _residuals_by_names(before)
    correlations, spectra = [], []
    for sensor in prediction.sensors:
        m = sensor.measurement
        step = float(np.median(np.diff(m.times)))
        for k, name in enumerate(sensor.names):
            correlations.append(whiteness(name, sensor.residual[:, k], step))
            frequency, power = density(sensor.residual[:, k], 1.0 / step)
            past = ()
            if sensor.names in old:
                past = density(old[sensor.names][:, k], 1.0 / step)[1]
            floor = 2.0 * float(m.noise[k]) ** 2 * step  # one-sided density of white noise
            spectra.append(
                ResidualSpectrum(name, sensor.unit, frequency, power, np.array(past), floor)
            )
    return tuple(correlations), tuple(spectra)


def traces_of(
    prediction: FlightPrediction, before: FlightPrediction | None, flight: Telemetry
) -> tuple[Trace, ...]:
    """Every compared channel, and every joint that was followed, thinned for a page."""
    old = _residuals_by_names(before)
    channels = _input_channels(prediction.system, flight)
    n_lines = sum(3 * len(sensor.names) for sensor in prediction.sensors) + len(channels)
    n = max(LEAST_POINTS, MOST_POINTS // max(n_lines, 1))
    found = []
    for sensor in prediction.sensors:
        times = sensor.measurement.times
        some = _thin(len(times), n)
        measured = sensor.curve[some]
        past = np.zeros((0, measured.shape[1]))
        if sensor.names in old:
            past = measured - old[sensor.names][some]
        ours = measured - sensor.residual[some]
        found += [
            Trace(name, sensor.unit, times[some], measured[:, k], ours[:, k], past[:, k])
            for k, name in enumerate(sensor.names)
        ]
    for name in channels:
        time, values = flight[name].usable()
        some = _thin(len(time), n)
        none = np.zeros(0)
        found.append(Trace(name, flight[name].unit, time[some], values[some], none, none))
    return tuple(found)


def _input_channels(system: System, flight: Telemetry) -> list[str]:
    """The channels that drove the prediction."""
    names = [system.coordinates[int(i)] for i in system.tree.given]
    motors = [name.removesuffix(".motor") for name in names if name.endswith(".motor")]
    channels = [f"{name}.position" for name in names]
    channels += [f"{name}.motor_position" for name in motors]
    channels += [f"{name}.speed" for name in names]
    forces = [f"{thruster.name}.force" for thruster in system.model.thrusters]
    channels += [name for name in forces if name in flight and np.any(flight[name].usable()[1])]
    return [name for name in channels if name in flight]


def _thin(n_samples: int, n: int) -> NDArray[np.intp]:
    """Indices of at most n samples, evenly."""
    return np.arange(0, n_samples, max(1, -(-n_samples // n)))
