"""A prediction beside its recording, channel by channel, and beside that of the model before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.metrics import Score, fit_percent, rms
from freefloat.validation.prediction import Predicted
from freefloat.validation.residual_tests import ResidualSpectrum, Whiteness, density, whiteness
from freefloat.validation.verdict import Trace

MOST_POINTS = 48_000  # numbers in the traces of a verdict: a page of HTML stays below 1 MB
LEAST_POINTS = 200  # of one trace, however many there are


def scores_of(
    predicted: Predicted, before: Predicted | None, expected: Sequence[Array]
) -> tuple[Score, ...]:
    """One line of numbers for every channel."""
    left = predicted.residuals()
    old = _by_names(before)
    found = []
    for look, residual, off in zip(predicted.looks, left, expected, strict=True):
        shown = look.shown
        for k, name in enumerate(look.names):
            e, seen = residual[:, k], shown[:, k]
            past = old[look.names][:, k] if look.names in old else np.array([np.nan])
            found.append(
                Score(
                    name, look.group, look.unit, len(e), fit_percent(seen, e), rms(e),
                    float(np.max(np.abs(e))), float(np.mean(e)), float(look.noise[k]),
                    look.is_noise_known, float(off[k]), float(np.std(seen)),
                    fit_percent(seen, past) if look.names in old else float("nan"), rms(past),
                )
            )  # fmt: skip
    return tuple(found)


def _by_names(predicted: Predicted | None) -> dict[tuple[str, ...], Array]:
    """Residuals by channels; nothing where there was no prediction."""
    if predicted is None:
        return {}
    names = (look.names for look in predicted.looks)
    return dict(zip(names, predicted.residuals(), strict=True))


def left_behind(
    predicted: Predicted, before: Predicted | None
) -> tuple[tuple[Whiteness, ...], tuple[ResidualSpectrum, ...]]:
    """Autocorrelation and spectrum of every channel's residuals."""
    old = _by_names(before)
    memory, spectra = [], []
    for look, residual in zip(predicted.looks, predicted.residuals(), strict=True):
        step = float(np.median(np.diff(look.times)))
        for k, name in enumerate(look.names):
            memory.append(whiteness(name, residual[:, k], step))
            frequency, power = density(residual[:, k], 1.0 / step)
            past = density(old[look.names][:, k], 1.0 / step)[1] if look.names in old else ()
            floor = 2.0 * float(look.noise[k]) ** 2 * step
            spectra.append(
                ResidualSpectrum(name, look.unit, frequency, power, np.array(past), floor)
            )
    return tuple(memory), tuple(spectra)


def traces_of(
    predicted: Predicted, before: Predicted | None, flight: Telemetry
) -> tuple[Trace, ...]:
    """Every compared channel, and every joint that was followed, thinned for a page."""
    old = _by_names(before)
    channels = _followed(predicted.drive.system, flight)
    n_lines = sum(3 * len(look.names) for look in predicted.looks) + len(channels)
    n = max(LEAST_POINTS, MOST_POINTS // max(n_lines, 1))
    found = []
    for look, residual in zip(predicted.looks, predicted.residuals(), strict=True):
        kept = _thin(len(look.times), n)
        shown = look.shown[kept]
        past = shown - old[look.names][kept] if look.names in old else np.zeros((0, shown.shape[1]))
        ours = shown - residual[kept]
        found += [
            Trace(name, look.unit, look.times[kept], shown[:, k], ours[:, k], past[:, k])
            for k, name in enumerate(look.names)
        ]
    for name in channels:
        time, values = flight[name].usable()
        kept = _thin(len(time), n)
        none = np.zeros(0)
        found.append(Trace(name, flight[name].unit, time[kept], values[kept], none, none))
    return tuple(found)


def _followed(system: System, flight: Telemetry) -> list[str]:
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
