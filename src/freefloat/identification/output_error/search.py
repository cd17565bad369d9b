"""The descent from the model's parameters to those that explain the recordings, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.alternative_minima import (
    AlternativeMinimum,
    find_alternatives,
)
from freefloat.identification.output_error.cost import (
    Evaluation,
    Loss,
    OutputErrorProblem,
    stated_noise,
)
from freefloat.identification.output_error.input_noise import input_shifts, with_input_noise
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.moment_rows import with_moments
from freefloat.identification.output_error.noise import RowNoise, fit_noise, resize
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.output_error.search_steps import step_reporter
from freefloat.identification.output_error.starting_values import linear_starts, modal_start
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.parameters.parameters import Parameters
from freefloat.progress import Progress, count_steps, silent
from freefloat.telemetry.channel import MAD


@dataclass(frozen=True)
class SearchResult:
    """Where the search ended: the problem with its final noise, and the descent.

    misfit: mean square residual over stated noise, by row name; colour: rows whose noise is not
    white; n_evaluations: simulations of all recordings.
    """

    problem: OutputErrorProblem
    descent: Descent
    misfit: dict[str, float]
    colour: tuple[str, ...]
    n_evaluations: int
    shifts: Array  # (unknowns, draws): what noise in the inputs did to the estimates
    alternatives: tuple[AlternativeMinimum, ...] = ()  # minima that explain the data about as well

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
    progress: Progress = silent,
) -> SearchResult:
    """The parameters that explain the recordings best, from those of the model on."""
    unknowns = unknowns_of(parameters, recordings, is_start_known=is_start_known, options=options)
    theta = np.clip(unknowns.start, unknowns.lower, unknowns.upper)
    # far from the minimum everything is an outlier to a loss that forgets them altogether
    gentle = "huber" if robust == "tukey" else robust
    problem = OutputErrorProblem(
        tuple(recordings), unknowns, stated_noise(recordings), gentle, theta,
        progress=count_steps(progress, "fitting"),
    )  # fmt: skip
    tell = step_reporter(progress, unknowns)
    problem = with_moments(problem, theta)
    descent, n = _best_start(problem, parameters, theta, seed, tell)
    problem = replace(refine_steps(problem, descent.at.theta), robust=robust)
    problem = replace(problem, noise=with_input_noise(problem, descent.at.theta, seed=seed))
    descent = descend(problem, descent.at.theta, after=descent, progress=tell)
    n += descent.n_evaluations
    stated = problem.noise
    for _ in range(options.noise_rounds):
        noise = _noise(problem, descent, stated)
        if _is_settled(noise, problem.noise, options.noise_settled):
            break
        problem = replace(problem, noise=noise)
        descent = descend(problem, descent.at.theta, after=descent, progress=tell)
        n += descent.n_evaluations
    n -= descent.n_evaluations
    descent, alternatives = find_alternatives(problem, descent)
    n += descent.n_evaluations
    misfit, colour = {}, []
    for row, error, said, used in _rows(problem, descent, stated):
        misfit[row] = (_size(error, robust) / said.size) ** 2
        colour += [row] * (not used.is_white)
    shifts = input_shifts(problem, descent.at.theta, seed=seed + 1)
    return SearchResult(problem, descent, misfit, tuple(colour), n, shifts, alternatives)


def _best_start(
    problem: OutputErrorProblem, parameters: Parameters, theta: Array, seed: int,
    tell: Callable[[Evaluation], None] | None = None,
) -> tuple[Descent, int]:  # fmt: skip
    """The lowest minimum from several starts; none is tried after one that explains the data."""
    best, n = None, 0
    options = problem.options
    asked = max(options.starts, 1)
    begins = linear_starts(replace(problem, moments=()), parameters, theta)
    for k, x in enumerate(_starts(problem, begins, seed)):
        if best is not None and k >= asked and _explains(best.at, problem):
            break
        begun = replace(problem, origin=x)  # the first seconds tell too little to go far from it
        for seconds in horizons(problem):
            short = descend(
                begun.until(seconds), x,
                most=options.horizon_simulations, enough=options.horizon_tolerance,
            )  # fmt: skip
            x, n = short.at.theta, n + short.n_evaluations
        found = descend(problem, x, enough=options.start_tolerance, progress=tell)
        n += found.n_evaluations
        if best is None or found.at.cost < best.at.cost:
            best = found
    assert best is not None
    return best, n


def _starts(problem: OutputErrorProblem, begins: Sequence[Array], seed: int) -> Iterator[Array]:
    """The springs of the modes seen, the places to begin with, and random ones around the first."""
    theta = begins[0]
    swung = modal_start(problem, theta)
    if swung is not None:
        yield swung
    yield from begins
    rng = np.random.default_rng([seed, 0x57])
    is_shared = np.array([u.recording is None for u in problem.unknowns.items], dtype=float)
    spread = problem.options.spread * problem.unknowns.sizes * is_shared
    for _ in range(1, problem.options.starts):
        yield problem.unknowns.move(theta, spread * rng.standard_normal(len(theta)))


def _explains(at: Evaluation, problem: OutputErrorProblem) -> bool:
    """Whether nothing but noise is left, by what is said of the noise."""
    is_known = all(s.is_noise_known for r in problem.recordings for s in r.measurements)
    return is_known and at.cost < 0.5 * problem.options.trust.noisy * at.n_rows


def refine_steps(problem: OutputErrorProblem, theta: Array) -> OutputErrorProblem:
    """The problem with steps so short that half of them would change no reading noticeably."""
    recordings = []
    for r, recording in enumerate(problem.recordings):
        errors = _alone(problem, r, recording, theta)
        for _ in range(problem.options.step_halvings):
            finer = recording.finer()
            closer = _alone(problem, r, finer, theta)
            if errors is None or closer is None:
                break
            change = [
                np.sqrt(np.mean((a - b)[:, c] ** 2)) / noise.size
                for a, b, rows in zip(errors, closer, problem.noise[r], strict=True)
                for c, noise in enumerate(rows)
            ]
            if max(change) < problem.options.integration_error:
                break
            recording, errors = finer, closer
        recordings.append(recording)
    return replace(problem, recordings=tuple(recordings))


def _alone(
    problem: OutputErrorProblem, r: int, recording: Recording, theta: Array
) -> list[Array] | None:
    part = replace(problem, recordings=(recording,), noise=(problem.noise[r],))
    return part.errors(theta, r)


def horizons(problem: OutputErrorProblem) -> list[float]:
    """Growing stretches of the recordings, where springs are among the unknowns."""
    longest = max(r.times[-1] - r.grid.first for r in problem.recordings)
    asked = problem.options.horizons
    if asked is None:
        fields = {u.name.rpartition(".")[2] for u in problem.unknowns.items}
        is_flexible = bool(fields & {"stiffness", "length", "friction"})
        asked = problem.options.flexible_horizons if is_flexible else ()
    return [seconds for seconds in asked if seconds < problem.options.horizon_share * longest]


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
    options = problem.options
    freed = n_rows / max(n_rows - n_unknowns, 1)  # what fitting took off the residuals
    table = []
    for r, recording in enumerate(problem.recordings):
        own = []
        for k, measurement in enumerate(recording.measurements):
            rows = []
            for c, said in enumerate(stated[r][k]):
                error = descent.at.errors[r][k][:, c]
                size = np.sqrt(freed) * _size(error, problem.robust)
                is_as_stated = size**2 <= options.trust.noisy * said.size**2
                is_kept = measurement.is_noise_known and is_as_stated
                size = said.size if is_kept else max(size, options.least_noise * said.size)
                rows.append(_row(error, size, problem, measurement.times))
            own.append(tuple(rows))
        table.append(tuple(own))
    return tuple(table)


def _row(error: Array, size: float, problem: OutputErrorProblem, times: Array) -> RowNoise:
    if problem.robust is not None:
        return RowNoise(size)  # outliers would pass for colour
    found = fit_noise(error, _size(error, None) or size, problem.options, times=times)
    return found if found.is_white and found.size == size else resize(found, size)


def _size(error: Array, robust: Loss | None) -> float:
    if robust is not None:
        return float(MAD * np.median(np.abs(error - np.median(error))))
    return float(np.sqrt(np.mean(error**2)))


def _is_settled(one: object, other: object, settled: float) -> bool:
    """Whether two tables of noise differ too little to matter."""
    for part, like in zip(one, other, strict=True):  # type: ignore[call-overload]
        for rows, twin in zip(part, like, strict=True):
            for a, b in zip(rows, twin, strict=True):
                if abs(a.size / b.size - 1.0) > settled or a.is_white != b.is_white:
                    return False
                if not a.is_white and not np.array_equal(np.round(a.lags, 1), np.round(b.lags, 1)):
                    return False
    return True
