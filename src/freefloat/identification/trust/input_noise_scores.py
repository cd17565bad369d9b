"""What noise of recorded inputs adds to the scores of assumptions, being in both of their factors.

Noise of encoders is in the motion that drives a simulation, so it is in the residuals; and in the
column of a torque sensor's gain, which is the torque that was simulated. Their product grows with
the number of samples though nothing is wrong. Draws of the noise show how much: with D the change
of the columns by a draw, that of the unknowns' explained share taken off, and e the change of the
residuals, every draw adds D'e (errors in variables: Fuller, Measurement Error Models, 1987).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.trust.assumption_columns import AssumptionColumns, coarse_recording
from freefloat.identification.trust.white_rows import RANK, WhiteRows


def with_input_noise(rows: WhiteRows, taken: AssumptionColumns) -> AssumptionColumns:
    """The assumptions with what input noise adds to their scores; the same where that is known.

    Directions of estimates, which are no quantities of the model, are left as they are.
    """
    if taken.by_inputs.size or not any(rows.inputs):
        return taken
    single = taken.assumptions[: taken.n_single]
    own = [k for k, assumption in enumerate(single) if assumption.key]
    doubts = np.array([single[k].std for k in own])
    products = _draw_products(rows, [single[k].name for k in own])
    by_inputs = np.zeros((len(single), products.shape[1]))
    by_inputs[own] = products * doubts[:, None]
    return replace(taken, by_inputs=taken.with_shared(by_inputs))


def _draw_products(rows: WhiteRows, names: list[str]) -> Array:
    """What every draw of the inputs adds to the scores (names, draws), per unit of each."""
    problem, theta = rows.problem, rows.descent.at.theta
    added = np.zeros((len(names), max(map(len, rows.inputs))))
    exact = [
        problem.slopes_beside(r, theta, names, coarse_recording(recording))
        for r, recording in enumerate(problem.recordings)
    ]
    J, G = (np.vstack([parts[k] for parts in exact]) for k in (0, 1))
    share = np.linalg.lstsq(J, G, rcond=RANK)[0]
    first = 0
    for r, (recording, sources) in enumerate(zip(problem.recordings, rows.inputs, strict=True)):
        here = slice(first, first + len(exact[r][2]))
        basis, first = rows.basis[here], here.stop
        for k, source in enumerate(sources):
            noisy = coarse_recording(replace(recording, source=source))
            slopes, columns, left = problem.slopes_beside(r, theta, names, noisy)
            change = left - exact[r][2]
            # the unknowns explain their part of it, over all recordings
            change = change - basis @ (basis.T @ change)
            columns -= exact[r][1] + (slopes - exact[r][0]) @ share
            added[:, k] += change @ columns
    return added
