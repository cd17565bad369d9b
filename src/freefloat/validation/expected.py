"""How far off a prediction may be although the model is right.

Three things keep a prediction from the measurement beside the sensor's own noise: the parameters
are known to their stated deviations only, the encoders that drive the prediction are noisy, and
the start that was fitted has taken up what it could of both. The first is the tangent of the
prediction times the covariance of the fit; the second is the difference that other noise of
the same size makes; the third is taken off by projection.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.directions import parameter_names
from freefloat.identification.fit import Fit
from freefloat.identification.output_error.input_noise import with_fresh_noise
from freefloat.model.model import Model
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.measurement_points import Look
from freefloat.validation.prediction import Predicted, flown, linearised, thinned
from freefloat.validation.replay_inputs import drive_of


def expected_errors(
    predicted: Predicted, telemetry: Telemetry, source: Fit | Model, *, seed: int = 0
) -> tuple[Array, ...]:
    """Standard deviations (r,) of every look's prediction, in its unit."""
    looks = [thinned(look) for look in predicted.looks]
    names, covariance = _known(predicted, source)
    start = list(predicted.estimated)
    rows, _ = linearised(predicted.drive, looks, predicted.at.states[0], start + names)
    jittered = _jittered(predicted, telemetry, looks, seed)
    moved = np.column_stack([rows[:, len(start) :] @ _factor(covariance), jittered])
    if start:
        basis = np.linalg.qr(rows[:, : len(start)])[0]
        moved = moved - basis @ (basis.T @ moved)
    variance = np.sum(moved**2, axis=1)
    found, first = [], 0
    for look in looks:
        n = len(look.times) * len(look.names)
        mean = variance[first : first + n].reshape(-1, len(look.names)).mean(axis=0)
        found.append(np.sqrt(mean) * look.noise[: len(look.names)])
        first += n
    return tuple(found)


def _known(predicted: Predicted, source: Fit | Model) -> tuple[list[str], Array]:
    """The parameters whose uncertainty is stated, and their covariance."""
    if isinstance(source, Model):
        return [], np.zeros((0, 0))
    there = set(parameter_names(predicted.drive.system))
    chosen = [
        k
        for k, estimate in enumerate(source.estimates)
        if estimate.name in there and np.isfinite(source.covariance[k, k])
    ]
    covariance = source.covariance[np.ix_(chosen, chosen)]
    return [source.estimates[k].name for k in chosen], np.nan_to_num(covariance)


def _factor(covariance: Array) -> Array:
    """L with L L^T the covariance, zero where rounding made it negative."""
    if not covariance.size:
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.clip(values, 0.0, None))


def _jittered(predicted: Predicted, telemetry: Telemetry, looks: list[Look], seed: int) -> Array:
    """What noise in the encoders does to the prediction, in units of the sensors' noise."""
    drive = predicted.drive
    other = with_fresh_noise(drive.system, telemetry, seed=seed)
    followed = drive_of(drive.system.model, replace(other, truth=None), step=drive.step)
    at = flown(followed, predicted.at.states[0])
    pairs = [
        (look, look.residual(look.predicted(drive.system, predicted.at))
         - look.residual(look.predicted(drive.system, at)))
        for look in looks
    ]  # fmt: skip
    return np.concatenate([(moved / look.noise).ravel() for look, moved in pairs])
