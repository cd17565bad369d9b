"""The smallest set of parameters a family of equations can see, for any tree, found by rank.

Columns that never act are dropped; a column that is always a combination of earlier ones is folded
into them, Y pi = Y_kept (pi_kept + beta pi_folded), and the combination is put into words. The
regressor must come from generic motion: rank then belongs to the mechanism, not to the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.linear_algebra import triangle_of


@dataclass(frozen=True)
class MinimalSet:
    """Which columns stay and what they stand for.

    kept: indices of the independent columns; regroup (kept, all): minimal = regroup @ full;
    invisible: names of columns that never act; words: each minimal parameter as a sum.
    """

    names: tuple[str, ...]
    kept: NDArray[np.intp]
    regroup: Array
    invisible: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many independent parameters there are."""
        return len(self.kept)

    @property
    def words(self) -> tuple[str, ...]:
        """Every minimal parameter as a sum of named ones."""
        return tuple(_sum_in_words(row, self.names) for row in self.regroup)


def minimal_set(
    rows: Array, names: Sequence[str], *, tolerance: float = 1e-9, digits: int = 9
) -> MinimalSet:
    """The minimal set of a regressor (rows, columns) taken over generic motion.

    Earlier columns are preferred. `tolerance` is relative to the size of a column.

    >>> Y = np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 0.0]])
    >>> minimal_set(Y, ["a", "b", "c"]).words
    ('a + 2 b',)
    """
    size = np.linalg.norm(rows, axis=0)
    acts = size > 1e-12 * size.max(initial=0.0)
    scaled = rows[:, acts] / size[acts]
    # The triangle of a QR has the same column relations as the rows, and is far shorter.
    triangle = triangle_of(scaled)
    order = np.flatnonzero(acts)
    kept: list[int] = []
    basis: Array = np.zeros((len(triangle), 0))
    for k in range(triangle.shape[1]):
        rest = triangle[:, k] - basis @ (basis.T @ triangle[:, k])
        rest -= basis @ (basis.T @ rest)  # twice is enough
        length = np.linalg.norm(rest)
        if length > tolerance:
            kept.append(k)
            basis = np.column_stack([basis, rest / length])
    coefficients = np.linalg.lstsq(triangle[:, kept], triangle, rcond=None)[0]
    regroup = np.zeros((len(kept), rows.shape[1]))
    regroup[:, order] = coefficients * size[order] / size[order[kept]][:, None]
    regroup[np.abs(regroup) < 10.0**-digits] = 0.0
    invisible = tuple(name for name, is_seen in zip(names, acts, strict=True) if not is_seen)
    return MinimalSet(tuple(names), order[kept], regroup, invisible)


def _sum_in_words(row: Array, names: tuple[str, ...]) -> str:
    text = ""
    for value, name in zip(row, names, strict=True):
        if value == 0.0:
            continue
        factor = "" if abs(abs(value) - 1.0) < 1e-9 else f"{abs(value):.4g} "
        sign = ("- " if value < 0 else "+ ") if text else ("-" if value < 0 else "")
        text += f"{' ' if text else ''}{sign}{factor}{name}"
    return text
