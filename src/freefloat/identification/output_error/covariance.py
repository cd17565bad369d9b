"""What the data tell of all unknowns at the place found: information and covariance."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.alternative_minima import widened
from freefloat.identification.output_error.search import SearchResult
from freefloat.telemetry.channel import Mask


def information_root(found: SearchResult) -> Array:
    """A square root (rows, unknowns) of the information of the data on theta."""
    problem, theta = found.problem, found.theta
    n = len(problem.unknowns.items)
    parts = []
    for r in range(len(problem.recordings)):
        rows, places = problem.physical_rows(r, theta)
        part = np.zeros((min(len(rows), len(places)), n))
        part[:, places] = np.linalg.qr(rows, mode="r")
        parts.append(part)
    return np.vstack(parts)


def covariance_of(found: SearchResult, J: Array, at_bound: Mask) -> Array:
    """Of all unknowns: by singular values, columns scaled; bounds hold what is at them."""
    unknowns = found.problem.unknowns
    rows = [
        np.eye(len(unknowns.items))[k] / u.parameter.prior[1]
        for k, u in enumerate(unknowns.items)
        if u.parameter.prior is not None
    ]
    A = np.vstack([J, *rows]) * unknowns.sizes
    A[:, at_bound] = 0.0
    length = np.linalg.norm(A, axis=0)
    length[length == 0.0] = 1.0
    _, s, Vt = np.linalg.svd(A / length, full_matrices=False)
    kept = s > 1e-12 * s[0] if len(s) else s > 0.0
    spread = Vt[kept].T / s[kept] / length[:, None] * unknowns.sizes[:, None]
    inputs = found.shifts @ found.shifts.T / max(found.shifts.shape[1], 1)
    return widened(spread @ spread.T + inputs, found.rivals, found.theta)
