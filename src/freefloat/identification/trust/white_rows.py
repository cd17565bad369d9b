"""The residuals of every recorded channel at the maximum of the likelihood, as independent rows.

Whatever method made a fit, its model is simulated along the recordings, the initial states and the
parameters are moved to the maximum of the likelihood of *all* channels, and what is left is divided
by noise that is known beforehand: stated with the channel, by the model's sensor, or from the fast
content of the samples; never from these residuals. Beside them stand draws of that noise, with what
noise in recorded joint motion and thrust does to the prediction, put through the same fit: every
statistic of the residuals is compared with the same statistic of the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.identification.output_error.cost import Evaluation, OutputErrorProblem
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.noise import transposed_whiten
from freefloat.identification.output_error.search import horizons
from freefloat.identification.trust.noise_draws import (
    Draw,
    InputErrors,
    common_errors,
    draw_noise,
    input_errors,
    noise_draws,
    recording_draws,
)
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.least_squares.block_moments import BlockMoments
from freefloat.least_squares.tall_tables import orthonormal_basis
from freefloat.parameters.parameters import parameter_values
from freefloat.prediction.inputs import InputSource
from freefloat.prediction.measurements import Measurement

# theory: what is left of a column by rounding is 1e-16 of it times the condition of the others
RANK = 1e-10
# theory: singular values of some hundred columns of length one err by about that
ROUNDING = 1e-14
# measured: benchmarks/verbs.py: samples of draws that are kept one by one, some 200 MB
FAST_SAMPLES = 25_000_000


@dataclass(frozen=True)
class ChannelRows:
    """One channel of one recording: its name, and its rows among all, with their times [s].

    blocks: where its rows are amplitudes of blocks of samples; samples: those among all samples.
    """

    name: str
    recording: int
    rows: slice
    times: Array
    blocks: BlockMoments | None = None
    samples: slice | None = None


@dataclass(frozen=True)
class WhiteRows:
    """Whitened residuals with the unknowns fitted, their Jacobian, and draws of noise.

    residual (rows,); jacobian (rows, unknowns) in natural sizes; draws (rows, K): what noise alone
    would have left, with the same unknowns fitted. scatter (unknowns,): the variance that noise of
    sensors and inputs gives them. prior (rows, unknowns): what is known of them beforehand, in
    natural sizes. inputs: of every recording, the inputs with fresh noise that draws rest on, where
    that noise matters. fast (samples,) and fast_draws (samples, k): what is faster than a block, of
    the residual and of some draws, where rows stand for blocks of samples.
    """

    problem: OutputErrorProblem
    descent: Descent
    channels: tuple[ChannelRows, ...]
    residual: Array
    jacobian: Array
    draws: Array
    scatter: Array
    prior: Array = field(default_factory=lambda: np.zeros((0, 0)))
    inputs: tuple[tuple[InputSource, ...], ...] = ()
    fast: Array = field(default_factory=lambda: np.zeros(0))
    fast_draws: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @cached_property
    def own_values(self) -> dict[str, float]:
        """The value of every parameter of the model."""
        return parameter_values(self.problem.recordings[0].system)

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        Q = orthonormal_basis(self.jacobian, least=ROUNDING)
        return Q, Q.T @ self.jacobian

    @cached_property
    def basis(self) -> Array:
        """Orthonormal columns (rows, rank) of what the unknowns can explain."""
        Q, R = self._factors
        return Q @ orthonormal(R)

    @cached_property
    def inverse(self) -> Array:
        """What rows make of the unknowns (unknowns, rows): least squares, with priors."""
        Q, R = self._factors
        rows = [R, self.prior] if self.prior.size else [R]
        both = np.linalg.pinv(np.vstack(rows), rcond=RANK)
        return both[:, : len(R)] @ Q.T

    @cached_property
    def remainder(self) -> Array:
        """The residuals without what the unknowns could still explain."""
        return self.project_out(self.residual)

    def project_out(self, rows: Array) -> Array:
        """Rows, or columns of rows, without what the unknowns can explain."""
        return rows - self.basis @ (self.basis.T @ rows)

    def samples_of(self, channel: ChannelRows) -> tuple[Array, Array]:
        """The remainder (N,) of a channel, and its draws (N, k), sample by sample."""
        own, drawn = self.remainder[channel.rows], self.draws[channel.rows]
        if channel.blocks is None or channel.samples is None:
            return own, drawn
        series, fast = channel.blocks.series, self.fast_draws[channel.samples]
        drawn = series(drawn[:, : fast.shape[1]]) + fast
        return series(own) + self.fast[channel.samples], drawn

    @property
    def fast_excess(self) -> float:
        """The sum of squares of what is faster than blocks, beyond that of draws."""
        if not self.fast.size:
            return 0.0
        return float(self.fast @ self.fast - np.mean(np.sum(self.fast_draws**2, axis=0)))

    def blocks(self, n: int) -> NDArray[np.int64]:
        """The stretch of its recording that every row falls in, of n of equal length."""
        at = np.empty(len(self.residual), dtype=np.int64)
        for row in self.channels:
            begin, end = self.span(row.recording)
            part = (row.times - begin) / max(end - begin, 1e-12) * n
            at[row.rows] = row.recording * n + np.clip(part.astype(np.int64), 0, n - 1)
        return at

    def span(self, recording: int) -> tuple[float, float]:
        """Where the rows of a recording begin and end [s]."""
        times = [row.times for row in self.channels if row.recording == recording]
        return min(float(t[0]) for t in times), max(float(t[-1]) for t in times)


def orthonormal(columns: Array, *, least: float = 1e-9) -> Array:
    """An orthonormal basis of the columns; directions below `least` of the largest are left out."""
    return orthonormal_basis(columns, least=least)


def white_rows(
    problem: OutputErrorProblem,
    theta: Array,
    *,
    options: TrustOptions,
    seed: int = 0,
) -> WhiteRows:
    """The rows at the maximum of the likelihood near theta, by noise known beforehand."""
    theta = _with_states(problem, theta, options)
    descent = descend(problem, theta, most=options.evaluations)
    by_inputs = input_errors(problem, descent.at.theta, options=options, seed=seed)
    draws = noise_draws(problem, by_inputs, options=options, seed=seed)
    common = common_errors(problem, descent.at.theta, options=options, seed=seed)
    problem = replace(problem, common=common)
    problem = replace(problem, noise=draw_noise(problem, descent.at.theta, draws))
    # under noise as it is, the way under white noise may have been a detour
    ways = [at for at in map(problem.evaluate, (descent.at.theta, theta)) if at is not None]
    best = min(ways, key=lambda at: at.cost).theta
    descent = descend(problem, best, most=options.evaluations)
    residual, jacobian, channels = residual_rows(problem, descent.at)
    drawn = np.column_stack([_whiten(problem, draw) for draw in draws])
    none, prior = np.zeros(jacobian.shape[1]), descent.at.prior_rows * problem.unknowns.sizes
    rows = WhiteRows(problem, descent, channels, residual, jacobian, drawn, none, prior)
    drawn = rows.project_out(drawn)
    inputs = _loud_inputs(problem, by_inputs, options=options, seed=seed)
    rows = replace(rows, draws=drawn, scatter=_scatter(rows, by_inputs), inputs=inputs)
    return _with_fast(rows, draws) if problem.moments else rows


def _with_fast(rows: WhiteRows, draws: Sequence[Draw]) -> WhiteRows:
    """The rows with what is faster than the blocks that they stand for, of some of the draws."""
    problem = rows.problem
    own = _faster(problem, rows.descent.at.errors)
    few = int(np.clip(FAST_SAMPLES // len(own), 2, len(draws)))
    return replace(
        rows, fast=own, fast_draws=np.column_stack([_faster(problem, d) for d in draws[:few]])
    )


def _faster(problem: OutputErrorProblem, errors: Sequence[Sequence[Array]]) -> Array:
    """Whitened errors of all recordings without what their blocks hold."""
    return np.concatenate([problem.faster(r, parts) for r, parts in enumerate(errors)])


def _loud_inputs(
    problem: OutputErrorProblem, by_inputs: InputErrors, *, options: TrustOptions, seed: int
) -> tuple[tuple[InputSource, ...], ...]:
    """The inputs of the draws of every recording, none of those whose noise hardly matters."""
    found = []
    for r, (recording, errors) in enumerate(zip(problem.recordings, by_inputs, strict=True)):
        is_loud = len(errors) > options.quiet_draws
        found.append(tuple(recording_draws(recording, r, options, seed)) if is_loud else ())
    return tuple(found)


def _with_states(problem: OutputErrorProblem, theta: Array, options: TrustOptions) -> Array:
    """Theta with initial states and biases found for the parameters as they are.

    Where springs or pendulums swing, whose states no sensor reads: with a poor start the
    parameters would run after it. Of rigid robots the states are read off.
    """
    if not horizons(problem):
        return theta
    still = np.array([u.is_reported for u in problem.unknowns.items], dtype=bool)
    for seconds in horizons(problem):
        short = replace(problem, origin=theta).until(seconds)
        enough = problem.options.horizon_tolerance
        theta = descend(short, theta, most=options.evaluations, enough=enough, still=still).at.theta
    return descend(problem, theta, most=options.evaluations, still=still).at.theta


def _scatter(rows: WhiteRows, by_inputs: InputErrors) -> Array:
    """The variance (unknowns,) that noise of sensors, as it is stated, and of inputs give."""
    problem, total, first = rows.problem, np.zeros(rows.jacobian.shape[1]), 0
    for r, recording in enumerate(problem.recordings):
        n_rows = [problem.n_rows(r, m) for m in range(len(recording.measurements))]
        widths = [len(m.rows) for m in recording.measurements]
        here = slice(first, first + int(np.dot(n_rows, widths)))
        inverse = problem.decorrelate(r, rows.inverse[:, here].T).T
        own = 0
        for m, measurement in enumerate(recording.measurements):
            for c in range(len(measurement.rows)):
                place = slice(own, own + n_rows[m])
                weights = inverse[:, place]
                if problem.moments:
                    weights = problem.moments[r][m].series(weights.T).T
                weights = transposed_whiten(problem.noise[r][m][c], weights)
                total += _sensor_variance(measurement, c, weights)
                own = place.stop
        first = here.stop
    n = max(map(len, by_inputs))
    for k in range(n):
        parts = []
        for recording, errors in zip(problem.recordings, by_inputs, strict=True):
            none = [np.zeros((len(m.times), len(m.noise))) for m in recording.measurements]
            parts.append(errors[k % len(errors)] or none)
        total += (rows.inverse @ _whiten(problem, tuple(parts))) ** 2 / n
    return total


def _sensor_variance(measurement: Measurement, c: int, weights: Array) -> Array:
    """The variance (n,) of weighted sums, weights (n, N), of a sensor's noise in its row c."""
    coloured, whole = measurement.sensor.coloured, measurement.noise[c] ** 2
    if coloured is None or len(measurement.times) < 2:
        return whole * np.sum(weights**2, axis=1)
    from scipy.signal import lfilter

    # covariances keep ** |i - j| are those of news, kept: the sum over them runs backwards
    keep = np.exp(-float(np.median(np.diff(measurement.times))) / coloured.time)
    kept = np.asarray(lfilter([1.0], [1.0, -keep], weights[:, ::-1], axis=1))[:, ::-1]
    slow = (1.0 - keep**2) * np.sum(kept[:, 1:] ** 2, axis=1) + kept[:, 0] ** 2
    fast = max(whole - coloured.sigma**2, 0.0) * np.sum(weights**2, axis=1)
    return coloured.sigma**2 * slow + fast


def _whiten(problem: OutputErrorProblem, draw: Draw) -> Array:
    return np.concatenate([problem.whiten(r, parts) for r, parts in enumerate(draw)])


def residual_rows(
    problem: OutputErrorProblem, at: Evaluation
) -> tuple[Array, Array, tuple[ChannelRows, ...]]:
    """Whitened residuals and Jacobian of all recordings, and whose row is whose."""
    n = len(problem.unknowns.items)
    parts, left, channels, first, sampled = [], [], [], 0, 0
    for r, recording in enumerate(problem.recordings):
        rows, places = problem.physical_rows(r, at.theta)
        wide = np.zeros((len(rows), n))
        wide[:, places] = rows * problem.unknowns.sizes[places]
        parts.append(wide)
        left.append(problem.whiten(r, at.errors[r]))
        for m, measurement in enumerate(recording.measurements):
            blocks, times = None, measurement.times
            n_samples = len(times)
            if problem.moments:
                blocks = problem.moments[r][m]
                times = blocks.times(times)
            for name in measurement.rows:
                place = slice(first, first + len(times))
                samples = slice(sampled, sampled + n_samples)
                label = recording.place + name
                channels.append(ChannelRows(label, r, place, times, blocks, samples))
                first, sampled = place.stop, samples.stop
    return np.concatenate(left), np.vstack(parts), tuple(channels)
