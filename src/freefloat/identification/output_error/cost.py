"""The least-squares problem: whitened residuals of all recordings and priors, with their slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.noise import RowNoise
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.output_error.unknowns import SearchUnknowns
from freefloat.least_squares.block_moments import BlockMoments
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.model.rotations import right_jacobian
from freefloat.observability.visibility import without_basis
from freefloat.prediction.predictor import Prediction
from freefloat.progress import Progress, silent

Loss = Literal["huber", "tukey"]
# theory: standard deviations; 95 % as efficient as least squares on Gaussian residuals (Huber 1981,
# Beaton and Tukey 1974)
HUBER, TUKEY = 1.345, 4.685
LARGEST = 1e150  # theory: whose square is a number still
FLIGHT = "simulation"  # format: what progress counts


@dataclass(frozen=True)
class Block:
    """What one recording says: the triangular factor of [own, shared, residual]."""

    own: list[int]
    shared: list[int]
    factor: Array


@dataclass(frozen=True)
class Evaluation:
    """The problem at one point: half the sum of squares, and the slopes in compact form.

    prior_rows (rows, unknowns) and prior_left (rows,): what priors add; errors: residuals of every
    recording, one table a measurement, in units of the sensors; n_outliers: rows of less than half
    their weight.
    """

    theta: Array
    cost: float
    blocks: tuple[Block, ...]
    prior_rows: Array
    prior_left: Array
    errors: tuple[tuple[Array, ...], ...]
    n_rows: int
    n_outliers: int


@dataclass(frozen=True)
class OutputErrorProblem:
    """Recordings to be explained by unknowns, given the noise of every row of every measurement.

    common: errors that many rows share, as noise of a thrust reading: for every recording, one
    table (N, rows, k) a measurement, of k independent ones at one standard deviation each.
    moments: blocks of every recording and measurement, whose amplitudes are the rows; (): samples.
    progress: called before every simulation.
    """

    recordings: tuple[Recording, ...]
    unknowns: SearchUnknowns
    noise: tuple[tuple[tuple[RowNoise, ...], ...], ...]
    robust: Loss | None = None
    origin: Array | None = None  # of the ridge that keeps unseen directions from running away
    is_horizon: bool = False  # of the first seconds only
    common: tuple[Sequence[Array], ...] = ()
    moments: tuple[tuple[BlockMoments, ...], ...] = ()
    progress: Progress = field(default=silent, compare=False, repr=False)

    @property
    def options(self) -> SearchOptions:
        """How the search goes."""
        return self.unknowns.options

    def evaluate(self, theta: Array) -> Evaluation | None:
        """The problem at theta; None where the simulation is not finite."""
        if not np.all(np.isfinite(theta)):
            return None
        blocks, errors, cost, n_rows, n_outliers = [], [], 0.0, 0, 0
        for r in range(len(self.recordings)):
            found = self._prediction(r, theta)
            if found is None:
                return None
            prediction, places, mix = found
            rows, left = self.whiten_prediction(r, prediction)
            left, weights, loss = _weigh(left, self.robust)
            table = np.column_stack([rows @ mix, left])
            if self.robust is not None:
                table *= weights[:, None]
                n_outliers += int(np.sum(weights**2 < 0.5))
            if not np.max(np.abs(table), initial=0.0) < LARGEST:
                return None  # a motion that runs away before it is infinite
            factor = triangle_of(table)
            n_own = len(self.unknowns.own(r))
            blocks.append(Block(places[:n_own], places[n_own:], factor))
            errors.append(prediction.residuals)
            cost += loss
            n_rows += len(left)
        if not np.isfinite(cost):
            return None
        prior_rows, prior_left = self.priors(theta)
        cost += 0.5 * float(prior_left @ prior_left)
        return Evaluation(
            theta, cost, tuple(blocks), prior_rows, prior_left, tuple(errors), n_rows, n_outliers
        )

    def evaluate_errors(self, theta: Array) -> tuple[float, tuple[tuple[Array, ...], ...]] | None:
        """Cost and errors alone, without slopes, where nothing is robust."""
        if not np.all(np.isfinite(theta)):
            return None
        cost, errors = 0.5 * float(np.sum(self.priors(theta)[1] ** 2)), []
        for r, recording in enumerate(self.recordings):
            self.progress(FLIGHT, None)
            prediction = recording.at(self.unknowns.values(theta, r))
            if prediction is None:
                return None
            errors.append(prediction.residuals)
            cost += 0.5 * float(np.sum(self.whiten(r, prediction.residuals) ** 2))
        return (cost, tuple(errors)) if np.isfinite(cost) else None

    def errors(self, theta: Array, r: int) -> list[Array] | None:
        """Predicted minus measured of the only recording, with the values of recording r."""
        return self.errors_of(r, theta, self.recordings[0])

    def errors_of(self, r: int, theta: Array, flown: Recording) -> list[Array] | None:
        """Predicted minus measured of another version of recording r; None if not finite."""
        self.progress(FLIGHT, None)
        prediction = flown.at(self.unknowns.values(theta, r))
        return None if prediction is None else list(prediction.residuals)

    def physical_rows(self, r: int, theta: Array) -> tuple[Array, list[int]]:
        """Whitened slopes of recording r by its unknowns in their units, and their places."""
        found = self.slopes_at(r, theta)
        assert found is not None
        return found

    def slopes_at(self, r: int, theta: Array) -> tuple[Array, list[int]] | None:
        """`physical_rows`, or None where the simulation is not finite."""
        found = self._prediction(r, theta)
        if found is None:
            return None
        prediction, places, mix = found
        return self.whiten_prediction(r, prediction)[0] @ mix, places

    def slopes_of(
        self, r: int, theta: Array, flown: Recording
    ) -> tuple[Array, list[int], list[Array]] | None:
        """`physical_rows` of another version of recording r, and its errors, by one simulation."""
        found = self._prediction(r, theta, (), flown)
        if found is None:
            return None
        prediction, places, mix = found
        rows = self.whiten_prediction(r, prediction)[0] @ mix
        return rows, places, list(prediction.residuals)

    def slopes_beside(
        self, r: int, theta: Array, others: Sequence[str], recording: Recording
    ) -> tuple[Array, Array, Array]:
        """Whitened slopes by all unknowns and by other names, and residuals, by one simulation.

        Unknowns in natural sizes, with zeros for those of other recordings. recording: r on another
        grid or with other inputs.
        """
        found = self._prediction(r, theta, others, recording)
        assert found is not None
        prediction, places, mix = found
        rows, left = self.whiten_prediction(r, prediction)
        n = len(mix)
        wide = np.zeros((len(rows), len(theta)))
        wide[:, places] = rows[:, :n] @ mix * self.unknowns.sizes[places]
        return wide, rows[:, n:], left

    def whiten(self, r: int, errors: Sequence[Array]) -> Array:
        """Errors of recording r, measurement by measurement (N, rows), in units of their noise."""
        return self.decorrelate(r, self._whiten_apart(r, errors))

    def _whiten_apart(self, r: int, errors: Sequence[Array]) -> Array:
        """Errors of recording r, or columns of them, row by row."""
        return np.concatenate(
            [
                self._reduce(r, k, noise.whiten(part[:, c]))
                for k, (part, rows) in enumerate(zip(errors, self.noise[r], strict=True))
                for c, noise in enumerate(rows)
            ]
        )

    def _reduce(self, r: int, k: int, rows: Array) -> Array:
        """Whitened samples (N, ...) of measurement k, or the amplitudes that stand for them."""
        return self.moments[r][k].amplitudes(rows) if self.moments else rows

    def n_rows(self, r: int, k: int) -> int:
        """How many rows a channel of measurement k of recording r has."""
        if self.moments:
            return self.moments[r][k].size
        return len(self.recordings[r].measurements[k].times)

    def series(self, r: int, rows: Array) -> Array:
        """Rows of recording r, or columns of them, as the samples that they stand for."""
        if not self.moments:
            return rows
        parts, first = [], 0
        for measurement, block in zip(
            self.recordings[r].measurements, self.moments[r], strict=True
        ):
            for _ in measurement.rows:
                parts.append(block.series(rows[first : first + block.size]))
                first += block.size
        return np.concatenate(parts)

    def remainder(self, r: int, basis: Array | None, draws: Sequence[Sequence[Array]]) -> Array:
        """Whitened errors of recording r (samples, draws) without what a basis of rows explains.

        Nothing of what is faster than a block is explained by any unknown.
        """
        left = without_basis(basis, np.column_stack([self.whiten(r, draw) for draw in draws]))
        if not self.moments:
            return left
        return self.series(r, left) + np.column_stack([self.faster(r, draw) for draw in draws])

    def faster(self, r: int, errors: Sequence[Array]) -> Array:
        """Whitened errors of recording r, sample by sample, without what their blocks hold."""
        samples = replace(self, moments=(), common=())._whiten_apart(r, errors)
        return samples - self.series(r, self._whiten_apart(r, errors))

    def decorrelate(self, r: int, rows: Array) -> Array:
        """Rows, or columns of them, that were whitened each by itself, without common errors.

        With errors E in them rows have the covariance I + E E'. Its inverse root is symmetric:
        it shrinks what lies along E and leaves the rest.
        """
        if not self.common:
            return rows
        U, shrinking = self._along_common[r]
        return rows - U @ (shrinking * (U.T @ rows).T).T

    @cached_property
    def _along_common(self) -> list[tuple[Array, Array]]:
        """For every recording orthonormal columns, and by how much of themselves they shrink."""
        found = []
        for r, tables in enumerate(self.common):
            U, s, _ = np.linalg.svd(self._whiten_apart(r, tables), full_matrices=False)
            found.append((U, 1.0 - 1.0 / np.sqrt(1.0 + s**2)))
        return found

    def _prediction(
        self, r: int, theta: Array, others: Sequence[str] = (), recording: Recording | None = None
    ) -> tuple[Prediction, list[int], Array] | None:
        """Recording r at theta, the places of its unknowns, and names of the engine to places."""
        places, names, mix = self.unknowns.columns(r)
        values = self.unknowns.values(theta, r)
        self.progress(FLIGHT, None)
        prediction = (recording or self.recordings[r]).at(values, [*names, *others])
        if prediction is None:
            return None
        turn = np.array([values.get(f"start.attitude.{axis}", 0.0) for axis in "xyz"])
        if turn.any():
            J = right_jacobian(turn)
            at = [(k, names.index(f"start.attitude.{a}")) for k, a in enumerate("xyz")
                  if f"start.attitude.{a}" in names]  # fmt: skip
            here = [row for _, row in at]
            mix = mix.copy()
            mix[here] = J[np.ix_([k for k, _ in at], [k for k, _ in at])] @ mix[here]
        return prediction, places, mix

    def whiten_prediction(self, r: int, prediction: Prediction) -> tuple[Array, Array]:
        """Whitened slopes (rows, names) and residuals (rows,) of recording r."""
        rows, left = [], []
        for k, noises in enumerate(self.noise[r]):
            for c, noise in enumerate(noises):
                rows.append(self._reduce(r, k, noise.whiten(prediction.jacobian[k][:, c])))
                left.append(self._reduce(r, k, noise.whiten(prediction.residuals[k][:, c])))
        return self.decorrelate(r, np.vstack(rows)), self.decorrelate(r, np.concatenate(left))

    def priors(self, theta: Array) -> tuple[Array, Array]:
        """What priors, and the ridge about the origin, add: rows (k, unknowns) and residuals."""
        rows, left = [], []
        for k, unknown in enumerate(self.unknowns.items):
            if unknown.parameter.prior is not None:
                mean, std = unknown.parameter.prior
                rows.append(np.eye(len(theta))[k] / std)
                left.append((theta[k] - mean) / std)
        if self.origin is not None:
            reach = self.options.horizon_reach if self.is_horizon else self.options.reach
            far = reach * self.unknowns.room
            rows += list(np.diag(1.0 / far))
            left += list((theta - self.origin) / far)
        return np.reshape(rows, (len(rows), len(theta))), np.array(left)

    def until(self, seconds: float) -> OutputErrorProblem:
        """The problem of the first seconds of every recording."""
        short = tuple(recording.until(seconds) for recording in self.recordings)
        noise = tuple(
            tuple(
                self.noise[r][self.recordings[r].measurements.index(s)] for s in part.measurements
            )
            if part is self.recordings[r]
            else tuple(_noise_of(self, r, s.channels) for s in part.measurements)
            for r, part in enumerate(short)
        )
        return replace(self, recordings=short, noise=noise, is_horizon=True, common=(), moments=())


def _noise_of(
    problem: OutputErrorProblem, r: int, channels: tuple[str, ...]
) -> tuple[RowNoise, ...]:
    names = [measurement.channels for measurement in problem.recordings[r].measurements]
    return problem.noise[r][names.index(channels)]


def stated_noise(recordings: Sequence[Recording]) -> tuple[tuple[tuple[RowNoise, ...], ...], ...]:
    """White noise of the size that comes with the channels, or was guessed from them."""
    return tuple(
        tuple(tuple(RowNoise(float(size)) for size in s.noise) for s in recording.measurements)
        for recording in recordings
    )


def _weigh(left: Array, robust: Loss | None) -> tuple[Array, Array, float]:
    """Residuals, square roots of their weights, and the loss."""
    if robust is None:
        return left, np.ones(0), 0.5 * float(left @ left)
    size = np.abs(left)
    if robust == "huber":
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(size, 1e-12)))
        inside = size <= HUBER
        loss = np.where(inside, 0.5 * left**2, HUBER * (size - 0.5 * HUBER))
        return left, weights, float(np.sum(loss))
    u = np.minimum(size / TUKEY, 1.0)
    return left, 1.0 - u**2, float(np.sum(TUKEY**2 / 6.0 * (1.0 - (1.0 - u**2) ** 3)))
