"""Tall tables of rows, made small by QR."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array


def triangle_of(rows: Array, *, at_once: int = 1300) -> Array:
    """The upper triangular factor R of a QR: R^T R = rows^T rows, in the smallest form.

    at_once: rows of a block; blocks that fit the processor's cache are faster than one tall QR.
    """
    triangle = rows[:0]
    for first in range(0, len(rows), at_once):
        block = np.vstack([triangle, rows[first : first + at_once]])
        triangle = np.asarray(np.linalg.qr(block, mode="r"))
    return triangle


def eliminate(Y: Array, n_parameters: int) -> Array:
    """Rows for the first n_parameters unknowns with the others (nuisance) projected out."""
    nuisance, wanted = Y[:, n_parameters:], Y[:, :n_parameters]
    if not nuisance.shape[1]:
        return wanted
    R = triangle_of(np.column_stack([nuisance, wanted]))
    return R[nuisance.shape[1] :, nuisance.shape[1] :]
