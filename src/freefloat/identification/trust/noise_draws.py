"""Draws of what noise leaves in the readings: of sensors, of recorded motion and of thrust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.fft import dct

from freefloat.arrays import Array
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.noise import RowNoise, fit_noise
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.observability.visibility import basis_of
from freefloat.prediction.fresh_inputs import fresh_inputs, pulse_errors
from freefloat.prediction.inputs import InputSource
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.sensor_noise import gauss_markov

Noise = tuple[tuple[tuple[RowNoise, ...], ...], ...]
InputErrors = list[list[list[Array]]]  # per recording and draw, as a part of a Draw, or nothing
Draw = tuple[list[Array], ...]  # per recording, one table (N, rows) a measurement


def input_errors(
    problem: OutputErrorProblem, theta: Array, *, options: TrustOptions, seed: int
) -> InputErrors:
    """What noise of the inputs does to every recording; fewer draws where it hardly matters."""
    n = len(problem.recordings)
    return [_input_errors(problem, r, theta, options, seed) for r in range(n)]


def _input_errors(
    problem: OutputErrorProblem, r: int, theta: Array, options: TrustOptions, seed: int
) -> list[list[Array]]:
    """What noise in the inputs does to the readings, a draw each; empty draws where nothing."""
    recording = problem.recordings[r]
    quiet: list[list[Array]] = [[] for _ in range(options.quiet_draws)]
    if recording.is_planned:
        return quiet
    sources = recording_draws(recording, r, options, seed)
    values = problem.unknowns.values(theta, r)
    exact = recording.at(values)
    basis = basis_of(problem.physical_rows(r, theta)[0])
    found: list[list[Array]] = []
    for source in sources:
        drawn = replace(recording, source=source).at(values)
        if drawn is None or exact is None:
            continue
        found.append([b - a for a, b in zip(exact.residuals, drawn.residuals, strict=True)])
        is_quiet = _input_share(problem, r, basis, found[-1], options.band) < options.input_share
        if len(found) >= options.quiet_draws and is_quiet:
            break
    return found or quiet


def _input_share(
    problem: OutputErrorProblem, r: int, basis: Array | None, errors: Sequence[Array], band: int
) -> float:
    """The largest part of a channel's variance that noise of the inputs makes, unknowns fitted.

    Of its slowest components, too: along a slow assumption it may count where a sample shows none.
    """
    left = problem.remainder(r, basis, [errors])[:, 0]
    lengths = [len(m.times) for m in problem.recordings[r].measurements for _ in m.rows]
    parts = np.split(left, np.cumsum(lengths)[:-1])
    slow = [np.asarray(dct(part, norm="ortho"))[:band] for part in parts]
    return max(float(np.mean(part**2)) for part in (*parts, *slow))


def recording_draws(
    recording: Recording, r: int, options: TrustOptions, seed: int
) -> list[InputSource]:
    """Inputs of a recording with fresh noise, as many as are drawn; none where none has noise."""
    return fresh_inputs(recording.source, recording.telemetry, options.draws, seed=seed + r)


def common_errors(
    problem: OutputErrorProblem, theta: Array, *, options: TrustOptions, seed: int
) -> tuple[list[Array], ...]:
    """What errors of thrust do to the readings, see `OutputErrorProblem`; () where there are none.

    An impulse that is read wrongly moves everything that follows, in every channel: as noise row by
    row it would count as many independent errors.
    """
    found = []
    for r, recording in enumerate(problem.recordings):
        values, sources = problem.unknowns.values(theta, r), []
        if not recording.is_planned:
            sources = pulse_errors(
                recording.source, recording.telemetry, most=options.pulses, seed=seed + r
            )
        exact = recording.at(values) if sources else None
        flown = [replace(recording, source=source).at(values) for source in sources]
        changes = [
            [b - a for a, b in zip(exact.residuals, other.residuals, strict=True)]
            for other in flown
            if other is not None and exact is not None
        ]
        none = [np.zeros((len(m.times), len(m.noise), 0)) for m in recording.measurements]
        stacked = [np.stack(parts, axis=-1) for parts in zip(*changes, strict=True)]
        found.append(stacked or none)
    return tuple(found) if any(tables[0].shape[-1] for tables in found) else ()


def noise_draws(
    problem: OutputErrorProblem, by_inputs: InputErrors, *, options: TrustOptions, seed: int
) -> list[Draw]:
    """Errors that noise of sensors and inputs would leave.

    As many as were simulated with fresh inputs; where inputs hardly matter, noise of the sensors
    costs no simulation, and what little inputs do is used again.
    """
    rng = np.random.default_rng([seed, 0x7A])
    most = max(map(len, by_inputs))
    draws = []
    for k in range(options.sensor_draws if most <= options.quiet_draws else most):
        draw = []
        for recording, errors in zip(problem.recordings, by_inputs, strict=True):
            white = [_sensor_draw(m, rng) for m in recording.measurements]
            own = errors[k % len(errors)]
            draw.append([w + e for w, e in zip(white, own, strict=True)] if own else white)
        draws.append(tuple(draw))
    return draws


def _sensor_draw(measurement: Measurement, rng: np.random.Generator) -> Array:
    """Noise (N, rows) of a sensor: as large as stated, as slow as the model says."""
    n, width = len(measurement.times), len(measurement.noise)
    coloured, white = measurement.sensor.coloured, measurement.noise
    if coloured is None:
        return white * rng.standard_normal((n, width))
    interval = float(np.median(np.diff(measurement.times))) if n > 1 else 1.0
    slow = gauss_markov(coloured, n, width, interval, rng)
    fast = np.sqrt(np.maximum(white**2 - coloured.sigma**2, 0.0))
    return slow + fast * rng.standard_normal((n, width))


def draw_noise(problem: OutputErrorProblem, theta: Array, draws: Sequence[Draw]) -> Noise:
    """The noise of every row, with its colour, that the draws show."""
    table = []
    for r, recording in enumerate(problem.recordings):
        basis = basis_of(problem.physical_rows(r, theta)[0])
        left = problem.remainder(r, basis, [draw[r] for draw in draws])
        at, own = 0, []
        for measurement, sizes in zip(recording.measurements, problem.noise[r], strict=True):
            n, noises = len(measurement.times), []
            for stated in sizes:
                pooled = left[at : at + n].T.ravel() * stated.size
                size = float(np.sqrt(np.mean(pooled**2)))
                times = measurement.times
                found = fit_noise(pooled, size, problem.options, times=times) if size else stated
                noises.append(found)
                at += n
            own.append(tuple(noises))
        table.append(tuple(own))
    return tuple(table)
