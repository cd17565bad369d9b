"""The descent from the model's parameters to those that explain the recordings, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.fit_assembly import TrustLimits
from freefloat.identification.output_error.alternative_minima import Rival, looked_around
from freefloat.identification.output_error.cost import (
    Evaluation,
    Loss,
    OutputErrorProblem,
    stated_noise,
)
from freefloat.identification.output_error.input_noise import input_shifts, with_input_noise
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.linear_start import linear_starts
from freefloat.identification.output_error.modal_start import modal_start
from freefloat.identification.output_error.noise import RowNoise, coloured, resized
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.parameters.parameters import Parameters

HORIZONS = (4.0, 8.0, 16.0)  # [s]: flexible models have false minima over long stretches
NEAR_ENOUGH = 1e-4  # relative decrease that ends the search from one of several starts
ROUGH = 0.01  # relative decrease that ends the search over a shorter horizon
ROUNDS = 3  # of estimating the noise
UNNOTICED = 0.05  # of the noise of a sample, root mean square: an error of integration
MOST_HALVINGS = 4  # of the step
SETTLED = 0.02  # relative change of a noise that calls for no further round


@dataclass(frozen=True)
class SearchResult:
    """Where the search ended: the problem with its final noise, and the descent.

    misfit: mean square residual over stated noise, by row name; colour: rows whose noise is not
    white; n_evaluations: flights of the whole data.
    """

    problem: OutputErrorProblem
    descent: Descent
    misfit: dict[str, float]
    colour: tuple[str, ...]
    n_evaluations: int
    shifts: Array  # (unknowns, draws): what noise in the inputs did to the estimates
    rivals: tuple[Rival, ...] = ()  # minima that explain the data about as well

    @property
    def theta(self) -> Array:
        """The parameters found, in their units."""
        return self.descent.at.theta


def search(
    parameters: Parameters,
    recordings: Sequence[Recording],
    *,
    robust: Loss | None = None,
    is_start_known: bool = False,
    options: SearchOptions = USUAL,
    seed: int = 0,
) -> SearchResult:
    """The parameters that explain the recordings best, from those of the model on."""
    unknowns = unknowns_of(parameters, recordings, is_start_known=is_start_known)
    theta = np.clip(unknowns.start, unknowns.lower, unknowns.upper)
    # far from the minimum everything is an outlier to a loss that forgets them altogether
    gentle = "huber" if robust == "tukey" else robust
    problem = OutputErrorProblem(
        tuple(recordings), unknowns, stated_noise(recordings), gentle, theta
    )
    descent, n = _best_start(problem, parameters, theta, options=options, seed=seed)
    problem = replace(refined(problem, descent.at.theta), robust=robust)
    problem = replace(problem, noise=with_input_noise(problem, descent.at.theta, seed=seed))
    descent = descend(problem, descent.at.theta)
    n += descent.n_evaluations
    stated = problem.noise
    for _ in range(ROUNDS):
        noise = _noise(problem, descent, stated)
        if _is_same(noise, problem.noise):
            break
        problem = replace(problem, noise=noise)
        descent = descend(problem, descent.at.theta)
        n += descent.n_evaluations
    n -= descent.n_evaluations
    descent, rivals = looked_around(problem, descent)
    n += descent.n_evaluations
    misfit, colour = {}, []
    for row, error, said, used in _rows(problem, descent, stated):
        misfit[row] = (_size(error, robust) / said.size) ** 2
        colour += [row] * (not used.is_white)
    shifts = input_shifts(problem, descent.at.theta, seed=seed + 1)
    return SearchResult(problem, descent, misfit, tuple(colour), n, shifts, rivals)


def _best_start(
    problem: OutputErrorProblem,
    parameters: Parameters,
    theta: Array,
    *,
    options: SearchOptions,
    seed: int,
) -> tuple[Descent, int]:
    """The lowest minimum from several starts; none is tried after one that explains the data."""
    best, n = None, 0
    asked = max(options.starts, 1)
    begins = linear_starts(problem, parameters, theta)
    for k, x in enumerate(_starts(problem, begins, options, seed)):
        if best is not None and k >= asked and _explains(best.at, problem):
            break
        begun = replace(problem, origin=x)  # the first seconds tell too little to go far from it
        for seconds in _horizons(problem, options.horizons):
            short = descend(begun.until(seconds), x, most=20, enough=ROUGH)
            x, n = short.at.theta, n + short.n_evaluations
        found = descend(problem, x, enough=NEAR_ENOUGH)
        n += found.n_evaluations
        if best is None or found.at.cost < best.at.cost:
            best = found
    assert best is not None
    return best, n


def _starts(
    problem: OutputErrorProblem, begins: Sequence[Array], options: SearchOptions, seed: int
) -> Iterator[Array]:
    """The springs of the modes seen, the places to begin with, and random ones around the first."""
    theta = begins[0]
    swung = modal_start(problem, theta)
    if swung is not None:
        yield swung
    yield from begins
    rng = np.random.default_rng([seed, 0x57])
    is_shared = np.array([u.recording is None for u in problem.unknowns.items], dtype=float)
    spread = options.spread * problem.unknowns.sizes * is_shared
    for _ in range(1, options.starts):
        yield problem.unknowns.moved(theta, spread * rng.standard_normal(len(theta)))


def _explains(at: Evaluation, problem: OutputErrorProblem) -> bool:
    """Whether nothing but noise is left, by what is said of the noise."""
    is_known = all(s.is_noise_known for r in problem.recordings for s in r.measurements)
    return is_known and at.cost < 0.5 * TrustLimits.noisy * at.n_rows


def refined(problem: OutputErrorProblem, theta: Array) -> OutputErrorProblem:
    """The problem with steps so short that half of them would change no reading noticeably."""
    recordings = []
    for r, recording in enumerate(problem.recordings):
        errors = _alone(problem, r, recording, theta)
        for _ in range(MOST_HALVINGS):
            finer = recording.finer()
            closer = _alone(problem, r, finer, theta)
            if errors is None or closer is None:
                break
            change = [
                np.sqrt(np.mean((a - b)[:, c] ** 2)) / noise.size
                for a, b, rows in zip(errors, closer, problem.noise[r], strict=True)
                for c, noise in enumerate(rows)
            ]
            if max(change) < UNNOTICED:
                break
            recording, errors = finer, closer
        recordings.append(recording)
    return replace(problem, recordings=tuple(recordings))


def _alone(
    problem: OutputErrorProblem, r: int, recording: Recording, theta: Array
) -> list[Array] | None:
    part = replace(problem, recordings=(recording,), noise=(problem.noise[r],))
    return part.errors(theta, r)


def _horizons(problem: OutputErrorProblem, asked: Sequence[float] | None) -> list[float]:
    """Growing stretches of the recordings, where springs are among the unknowns."""
    longest = max(r.times[-1] - r.grid.first for r in problem.recordings)
    if asked is None:
        fields = {u.name.rpartition(".")[2] for u in problem.unknowns.items}
        asked = HORIZONS if fields & {"stiffness", "length", "friction"} else ()
    return [seconds for seconds in asked if seconds < 0.8 * longest]


def _rows(
    problem: OutputErrorProblem,
    descent: Descent,
    stated: tuple[tuple[tuple[RowNoise, ...], ...], ...],
) -> list[tuple[str, Array, RowNoise, RowNoise]]:
    """Name, errors, stated and used noise of every row."""
    found = []
    for r, recording in enumerate(problem.recordings):
        for k, measurement in enumerate(recording.measurements):
            for c, name in enumerate(measurement.rows):
                error = descent.at.errors[r][k][:, c]
                found.append(
                    (recording.place + name, error, stated[r][k][c], problem.noise[r][k][c])
                )
    return found


def _noise(
    problem: OutputErrorProblem,
    descent: Descent,
    stated: tuple[tuple[tuple[RowNoise, ...], ...], ...],
) -> tuple[tuple[tuple[RowNoise, ...], ...], ...]:
    """The noise that the residuals show: where it was not given, is larger, or is not white."""
    n_rows, n_unknowns = descent.at.n_rows, len(problem.unknowns.items)
    freed = n_rows / max(n_rows - n_unknowns, 1)  # what fitting took off the residuals
    table = []
    for r, recording in enumerate(problem.recordings):
        own = []
        for k, measurement in enumerate(recording.measurements):
            rows = []
            for c, said in enumerate(stated[r][k]):
                error = descent.at.errors[r][k][:, c]
                size = np.sqrt(freed) * _size(error, problem.robust)
                is_kept = measurement.is_noise_known and size**2 <= TrustLimits.noisy * said.size**2
                size = said.size if is_kept else max(size, 1e-3 * said.size)
                rows.append(_row(error, size, problem))
            own.append(tuple(rows))
        table.append(tuple(own))
    return tuple(table)


def _row(error: Array, size: float, problem: OutputErrorProblem) -> RowNoise:
    if problem.robust is not None:
        return RowNoise(size)  # outliers would pass for colour
    found = coloured(error, _size(error, None) or size)
    return found if found.is_white and found.size == size else resized(found, size)


def _size(error: Array, robust: Loss | None) -> float:
    if robust is not None:
        return float(1.4826 * np.median(np.abs(error - np.median(error))))
    return float(np.sqrt(np.mean(error**2)))


def _is_same(one: object, other: object) -> bool:
    """Whether two tables of noise differ too little to matter."""
    for part, like in zip(one, other, strict=True):  # type: ignore[call-overload]
        for rows, twin in zip(part, like, strict=True):
            for a, b in zip(rows, twin, strict=True):
                if abs(a.size / b.size - 1.0) > SETTLED or a.is_white != b.is_white:
                    return False
                if not a.is_white and not np.array_equal(np.round(a.lags, 1), np.round(b.lags, 1)):
                    return False
    return True
