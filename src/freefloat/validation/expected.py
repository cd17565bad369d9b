"""How far off a prediction may be although the model is right.

Three things keep a prediction from the measurement beside the sensor's own noise: the parameters
are known to their stated deviations only, the encoders that drive the prediction are noisy, and
the start that was fitted has taken up what it could of both. The first is the tangent of the
prediction times the covariance of the fit; the second is the difference that a second helping of
encoder noise makes; the third is taken off by projection.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.directions import parameter_names
from freefloat.identification.fit import Fit
from freefloat.model.model import Model
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.channels import Telemetry
from freefloat.validation.driving import drive_of
from freefloat.validation.looks import Look
from freefloat.validation.prediction import Predicted, flown, linearised, thinned


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
    rng = np.random.default_rng(seed)
    noisy = {name: _with_noise(channel, rng) for name, channel in telemetry.channels.items()}
    followed = replace(telemetry, channels=noisy, truth=None)
    other = drive_of(drive.system.model, followed, step=drive.step)
    at = flown(other, predicted.at.states[0])
    pairs = [
        (look, look.residual(look.predicted(drive.system, predicted.at))
         - look.residual(look.predicted(drive.system, at)))
        for look in looks
    ]  # fmt: skip
    return np.concatenate([(moved / look.noise).ravel() for look, moved in pairs])


def _with_noise(channel: Channel, rng: np.random.Generator) -> Channel:
    is_followed = channel.name.endswith((".position", ".motor_position", ".speed"))
    if not is_followed or not channel.noise:
        return channel
    more = channel.values + channel.noise * rng.standard_normal(channel.n_samples)
    return Channel(channel.name, channel.unit, channel.time, more, channel.valid, channel.noise)
