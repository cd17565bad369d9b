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
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.noise import RowNoise, resize
from freefloat.identification.output_error.recording import Recording
from freefloat.observability.visibility import without
from freefloat.prediction.fresh_inputs import fresh_inputs

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
    """The recording driven by its own smoothed motion and its forces, both with fresh noise.

    None where a plan drives it or no input has noise.
    """
    if recording.is_planned:
        return None
    sources = fresh_inputs(recording.source, recording.telemetry, 1, seed=seed, is_alike=False)
    return replace(recording, source=sources[0]) if sources else None


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
