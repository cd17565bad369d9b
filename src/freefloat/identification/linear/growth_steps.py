"""What ever more of the recordings say: estimates of a linear method for whoever watches.

Its equations are solved at once, so that there is no search to look at. What can be seen is how
bands shrink as samples add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.corrected_least_squares import Bias, solve_triangle
from freefloat.parameters.parameters import Parameter
from freefloat.progress import DataStep

PARTS = 24  # format: points of the curves


def report_growth(
    listen: Callable[[DataStep], None],
    free: Sequence[Parameter],
    start: Array,
    *,
    table: Array,
    noisy: Sequence[Array],
    prior: Array,
    lengths: Sequence[int],
) -> None:
    """Tell the estimate from the first part of the rows of every recording, part by part.

    Args:
        listen: is called with every one.
        free: the parameters of the first columns, and their values before (start).
        table: rows [Y | y] in units of the noise, recording after recording; prior: more of them.
        noisy: the same with fresh noise, in pairs, which shows what noise adds to Y^T Y.
        lengths: rows of every recording.
    """
    names, units = tuple(p.name for p in free), tuple(p.unit for p in free)
    m, n_rows, triangle = table.shape[1], len(prior), prior
    grown = np.zeros((m, m))
    for k in range(PARTS):
        rows = _part(table, lengths, k)
        n_rows += len(rows)
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, rows]), mode="r"))
        for other in noisy:
            part = _part(other, lengths, k)
            grown += (part.T @ part - rows.T @ rows) / len(noisy)
        if len(triangle) < m:
            continue  # fewer rows than unknowns
        T, right = triangle[: m - 1, : m - 1], triangle[: m - 1, -1]
        bias = Bias(grown[:-1, :-1], grown[:-1, -1]) if noisy else None
        found = solve_triangle(T, right, bias=bias, n_rows=n_rows, chi2=np.nan)
        left = float(np.sum((right - T @ found.values) ** 2) + triangle[m - 1, -1] ** 2)
        std = found.std[: len(free)]
        values = np.where(np.isfinite(std), start[: len(free)] + found.values[: len(free)], np.nan)
        listen(
            DataStep((k + 1) / PARTS, left / n_rows, names, units,
                     tuple(values.tolist()), tuple(std.tolist()))
        )  # fmt: skip


def _part(table: Array, lengths: Sequence[int], k: int) -> Array:
    """The rows of part k of every recording."""
    firsts = np.cumsum([0, *lengths[:-1]])
    return np.vstack(
        [
            table[first + k * n // PARTS : first + (k + 1) * n // PARTS]
            for first, n in zip(firsts, lengths, strict=True)
        ]
    )
