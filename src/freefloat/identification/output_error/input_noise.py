"""What noise in recorded joint motion, thrust and torques does to the prediction, measured.

The smoothed motion is taken for true, given fresh noise and smoothed again, as much as before: the
smoother is linear then, and one factor serves all draws. The two flights differ as the prediction
differs from the truth: by what the encoders' noise does and by what smoothing takes off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.noise import RowNoise, resize
from freefloat.identification.output_error.recording import Recording
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.observability.visibility import basis_of
from freefloat.prediction.fresh_inputs import fresh_inputs

# theory: a share of 0.05 of a deviation, squared, is a quarter of a hundredth of the variance
ALIKE = 0.05
NoiseTable = tuple[tuple[tuple[RowNoise, ...], ...], ...]


def with_input_noise(problem: OutputErrorProblem, theta: Array, *, seed: int) -> NoiseTable:
    """The noise of every row with the share that comes from the recorded inputs."""
    table = []
    for r, recording in enumerate(problem.recordings):
        twins = _twins(recording, 1, seed + r)
        own = problem.errors_of(r, theta, recording) if twins else None
        raw = None if own is None else _between(own, problem.errors_of(r, theta, twins[0]))
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


def _twins(recording: Recording, n: int, seed: int) -> list[Recording]:
    """The recording driven by its own smoothed motion and its forces, both with fresh noise.

    n of them; none where a plan drives it or no input has noise.
    """
    if recording.is_planned:
        return []
    sources = fresh_inputs(recording.source, recording.telemetry, n, seed=seed)
    return [replace(recording, source=source) for source in sources]


def _between(own: Sequence[Array], other: Sequence[Array] | None) -> list[Array] | None:
    """Readings of the recording minus those of its twin; None where it could not be simulated."""
    return None if other is None else [a - b for a, b in zip(own, other, strict=True)]


def input_shifts(problem: OutputErrorProblem, theta: Array, *, seed: int) -> Array:
    """How far noise in the inputs moves the estimates: (unknowns, draws), or no columns.

    It acts on all channels at once, which noise row by row does not tell; and it acts on the
    slopes too, which are those of the twin: noise that shakes a wing moves its spring not only to
    and fro but also one way.
    """
    n, recordings = problem.options.input_noise_draws, problem.recordings
    twins = [_twins(own, n, seed + r) for r, own in enumerate(recordings)]
    if not any(twins):
        return np.zeros((len(theta), 0))
    tables: list[list[Array]] = [[] for _ in range(n)]
    for r, own in enumerate(recordings):
        for k, table in enumerate(_draw_tables(problem, r, theta, twins[r] or [own])):
            for draw in tables[k :: len(twins[r] or [own])]:
                draw.append(table)
    sizes = problem.unknowns.sizes
    solved = [np.linalg.lstsq(rows[:, :-1] * sizes, rows[:, -1], rcond=1e-10)[0]
              for rows in map(np.vstack, tables)]  # fmt: skip
    return np.column_stack([sizes * shift for shift in solved])


def _draw_tables(
    problem: OutputErrorProblem, r: int, theta: Array, twins: Sequence[Recording]
) -> Iterator[Array]:
    """For every twin reduced rows (k, unknowns + 1): its slopes, and how far its readings are off.

    They give the step to the minimum of the twins, had theta been that of the recordings. Over long
    recordings the slopes of all are those of the recording, if that changes no step of the first.
    """
    own, is_alike = problem.errors_of(r, theta, problem.recordings[r]), False
    for k, twin in enumerate(twins):
        nothing = np.zeros((0, len(theta) + 1))
        if is_alike and own is not None:
            errors = problem.errors_of(r, theta, twin)
            yield nothing if errors is None else _table_by_own(problem, r, theta, own, errors)
            continue
        flown = problem.slopes_of(r, theta, twin)
        if own is None or flown is None:
            yield nothing
            continue
        rows, places, errors = flown
        table = _table(
            problem, r, theta, rows, places, [a - b for a, b in zip(own, errors, strict=True)]
        )
        if k == 0 and problem.moments:
            is_alike = _is_alike(problem, table, _table_by_own(problem, r, theta, own, errors))
        yield table


def _table_by_own(
    problem: OutputErrorProblem, r: int, theta: Array, own: Sequence[Array], errors: Sequence[Array]
) -> Array:
    """The rows of a twin that reads `errors` off, by the slopes of the recording itself."""
    rows, places = problem.physical_rows(r, theta)
    between = [a - b for a, b in zip(own, errors, strict=True)]
    return _table(problem, r, theta, rows, places, between)


def _table(
    problem: OutputErrorProblem, r: int, theta: Array, rows: Array, places: Sequence[int],
    between: Sequence[Array],
) -> Array:  # fmt: skip
    """Reduced rows of slopes and of what readings are off, wide enough for all unknowns."""
    table = triangle_of(np.column_stack([rows, problem.whiten(r, between)]))[: len(places)]
    wide = np.zeros((len(places), len(theta) + 1))
    wide[:, [*places, -1]] = table
    return wide


def _is_alike(problem: OutputErrorProblem, one: Array, other: Array) -> bool:
    """Whether two tables shift no unknown differently by as much as would show in its deviation."""
    sizes = problem.unknowns.sizes
    shifts = [np.linalg.lstsq(t[:, :-1] * sizes, t[:, -1], rcond=1e-10)[0] for t in (one, other)]
    deviations = np.linalg.norm(np.linalg.pinv(one[:, :-1] * sizes, rcond=1e-10), axis=1)
    whole = np.hypot(deviations, shifts[0])
    is_known = whole > 0.0
    return bool(np.all(np.abs(shifts[0] - shifts[1])[is_known] < ALIKE * whole[is_known]))


def _remainder(
    problem: OutputErrorProblem, r: int, theta: Array, differences: list[Array]
) -> list[Array]:
    """What is left of the differences once the unknowns have been fitted to them.

    Much of what a wrong joint rate at the start does, a wrong base rate undoes.
    """
    sizes = [[noise.size for noise in rows] for rows in problem.noise[r]]
    basis = basis_of(problem.physical_rows(r, theta)[0])
    left = problem.remainder(r, basis, [differences])[:, 0]
    ends = np.cumsum([d.size for d in differences])[:-1]
    return [
        part.reshape(d.shape[1], -1).T * size
        for part, d, size in zip(np.split(left, ends), differences, sizes, strict=True)
    ]
