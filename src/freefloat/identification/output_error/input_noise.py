"""What noise in recorded joint motion, thrust and torques does to the prediction, measured.

The smoothed motion is taken for true, given fresh noise and smoothed again; the two flights differ
as the prediction differs from the truth: by what the encoders' noise does and by what smoothing
takes off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.noise import RowNoise, resize
from freefloat.identification.output_error.recording import Recording
from freefloat.observability.visibility import without
from freefloat.prediction.inputs import (
    bridging_rates,
    driving_torques,
    inputs_from_telemetry,
    smooth_channel,
)
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry

NoiseTable = tuple[tuple[tuple[RowNoise, ...], ...], ...]


def with_input_noise(problem: OutputErrorProblem, theta: Array, *, seed: int) -> NoiseTable:
    """The noise of every row with the share that comes from the recorded inputs."""
    table = []
    for r, recording in enumerate(problem.recordings):
        twin = _twin(recording, seed + r)
        raw = None if twin is None else _between(problem, r, theta, twin)
        if raw is None:
            table.append(problem.noise[r])
            continue
        left = _remainder(problem, r, theta, raw)
        table.append(
            tuple(
                tuple(
                    resize(row, float(np.hypot(row.size, np.sqrt(np.mean(d[:, c] ** 2)))))
                    for c, row in enumerate(rows)
                )
                for rows, d in zip(problem.noise[r], left, strict=True)
            )
        )
    return tuple(table)


def _twin(recording: Recording, seed: int) -> Recording | None:
    """The recording driven by its own smoothed motion and its thrust, both with fresh noise.

    None where a plan drives it, no input has noise, or the noisy inputs cannot be smoothed.
    """
    if recording.is_planned:
        return None
    changed = with_fresh_noise(recording.system, recording.telemetry, seed=seed)
    if changed is recording.telemetry:
        return None
    try:
        return replace(recording, source=inputs_from_telemetry(recording.model, changed))
    except FreefloatError:
        return None


def _between(
    problem: OutputErrorProblem, r: int, theta: Array, twin: Recording
) -> list[Array] | None:
    """Readings of the recording minus those of its twin."""
    alone = replace(problem, recordings=(problem.recordings[r],), noise=(problem.noise[r],))
    one, other = alone.errors(theta, r), replace(alone, recordings=(twin,)).errors(theta, r)
    if one is None or other is None:
        return None
    return [a - b for a, b in zip(one, other, strict=True)]


def input_shifts(problem: OutputErrorProblem, theta: Array, *, seed: int) -> Array:
    """How far noise in the inputs moves the estimates: (unknowns, draws), or no columns.

    It acts on all channels at once, which noise row by row does not tell; and it acts on the
    slopes too, which are those of the twin: noise that shakes a wing moves its spring not only to
    and fro but also one way.
    """
    shifts = []
    for k in range(problem.options.input_noise_draws):
        twins = [_twin(own, seed + 97 * k + r) for r, own in enumerate(problem.recordings)]
        if all(twin is None for twin in twins):
            break
        shifts.append(_shift(problem, theta, twins))
    return np.column_stack(shifts) if shifts else np.zeros((len(theta), 0))


def _shift(problem: OutputErrorProblem, theta: Array, twins: Sequence[Recording | None]) -> Array:
    """The step to the minimum of the twins, had theta been that of the recordings."""
    n, rows, left = len(theta), [], []
    flown = tuple(t or own for t, own in zip(twins, problem.recordings, strict=True))
    other = replace(problem, recordings=flown)
    for r, twin in enumerate(flown):
        between = _between(problem, r, theta, twin)
        if between is None:
            continue
        J, places = other.physical_rows(r, theta)
        Q, R = np.linalg.qr(J)
        part = np.zeros((len(R), n))
        part[:, places] = R
        rows.append(part)
        left.append(Q.T @ problem.whiten(r, between))
    sizes = problem.unknowns.sizes
    if not rows:
        return np.zeros(n)
    return sizes * np.linalg.lstsq(np.vstack(rows) * sizes, np.concatenate(left), rcond=1e-10)[0]


def _remainder(
    problem: OutputErrorProblem, r: int, theta: Array, differences: list[Array]
) -> list[Array]:
    """What is left of the differences once the unknowns have been fitted to them.

    Much of what a wrong joint rate at the start does, a wrong base rate undoes.
    """
    rows, _ = problem.physical_rows(r, theta)
    sizes = [[noise.size for noise in rows] for rows in problem.noise[r]]
    left = np.concatenate(
        [(d / size).T.ravel() for d, size in zip(differences, sizes, strict=True)]
    )
    left = without(rows, left[:, None])[:, 0]
    ends = np.cumsum([d.size for d in differences])[:-1]
    return [
        part.reshape(d.shape[1], -1).T * size
        for part, d, size in zip(np.split(left, ends), differences, sizes, strict=True)
    ]


def with_fresh_noise(system: System, telemetry: Telemetry, *, seed: int) -> Telemetry:
    """A recording whose inputs are its own, smoothed, with as much noise as before but another.

    Noise on top of the recorded would be more than the sensors state, and smoothed too little.
    """
    rng = np.random.default_rng([seed, 0x1E])
    noisy = []
    for i in system.tree.given:
        names = channel_names(system.model.assembly.coordinates[i])
        for name in names:
            if name not in telemetry or (noisy and name == noisy[-1].name):
                continue
            channel = telemetry[name]
            time, _ = channel.usable()
            rates = bridging_rates(telemetry, *names)
            curve = smooth_channel(channel, rates)
            size = channel.noise if channel.noise is not None else float(curve.noise[0])
            fresh = curve.value(time) + size * rng.standard_normal(len(time))
            noisy.append(type(channel)(name, channel.unit, time, fresh, noise=channel.noise))
            if rates is not None:
                own = rates.noise * size
                told = curve.rate(rates.time) + own * rng.standard_normal(len(rates.time))
                unit = telemetry[names[1]].unit
                noisy.append(Channel(names[1], unit, rates.time, told, noise=own))
            break  # the position drives; a rate beside it counts where that is silent
    for thruster in system.model.thrusters:
        name = f"{thruster.name}.force"
        if name in telemetry and telemetry[name].noise:
            channel = telemetry[name]
            time, level = channel.usable()
            fresh = level + (channel.noise or 0.0) * rng.standard_normal(len(time)) * (level != 0.0)
            noisy.append(type(channel)(name, channel.unit, time, fresh, noise=channel.noise))
    for name in sorted(driving_torques(system.model)):
        if name in telemetry and telemetry[name].noise:
            channel = telemetry[name]
            time, level = channel.usable()
            fresh = level + (channel.noise or 0.0) * rng.standard_normal(len(time))
            noisy.append(type(channel)(name, channel.unit, time, fresh, noise=channel.noise))
    return telemetry.without([c.name for c in noisy]).with_channels(*noisy) if noisy else telemetry
