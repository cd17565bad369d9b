"""Directions in words: which sums of parameters are seen, and what trades against what.

Along the directions nobody sees, as many parameters as there are directions are folded into the
others: with x_f folded, the sums x_j - sum_f E_jf x_f do not change along any of them, and a change
of x_f is undone by changes E_jf of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array

if TYPE_CHECKING:
    from freefloat.observability.visibility import SingularSpectrum

SHOWN = 4  # names a line
SMALL = 1e-3  # of natural sizes: a coefficient below is not worth a word
CLEAR = 0.1  # part of a direction that makes a parameter fit to be folded


@dataclass(frozen=True)
class Combination:
    """A sum of parameters that is seen, and its standard deviation in the first one's unit."""

    words: str
    std: float
    terms: tuple[tuple[str, float], ...] = ()  # every parameter in it with its factor


@dataclass(frozen=True)
class Exchange:
    """What undoes a change of each folded parameter: E (all, folded), in natural sizes."""

    folded: list[int]
    E: Array


def combinations(
    found: SingularSpectrum, names: Sequence[str], sizes: Array
) -> tuple[tuple[Combination, ...], tuple[str, ...]]:
    """The sums that are seen and the trades that are not, from the directions of a spectrum."""
    is_null = found.values <= found.floor
    is_hopeless = ~is_null & (found.values <= 1.0)
    null = _exchange(found.directions[:, is_null])
    faint = found.directions[:, is_hopeless]
    faint = _exchange(faint - null.E @ faint[null.folded])  # without what is folded already
    trades = [line for part in (null, faint) for line in _trades(part, names, sizes)]
    whole = _exchange(found.directions[:, is_null | is_hopeless])
    sums: dict[int, Combination] = {}
    for part in (null, whole):  # the null directions alone make shorter sums
        for j in range(len(names)):
            if j not in whole.folded and j not in sums and np.any(np.abs(part.E[j]) > SMALL):
                told = _sum(found, names, sizes, j, part)
                if told.std <= sizes[j]:
                    sums[j] = told
    return tuple(sums[j] for j in sorted(sums)), tuple(trades)


def _exchange(unseen: Array) -> Exchange:
    if unseen.shape[1] == 0:
        return Exchange([], np.zeros((len(unseen), 0)))
    folded = _folded(unseen)
    return Exchange(folded, unseen @ np.linalg.inv(unseen[folded]))


def _folded(unseen: Array) -> list[int]:
    """Parameters that span the unseen directions: the later ones, where they do so clearly."""
    rest: Array = unseen.copy()
    folded: list[int] = []
    while len(folded) < unseen.shape[1]:
        lengths = np.linalg.norm(rest, axis=1)
        clear = np.flatnonzero(lengths > CLEAR)
        j = int(clear[-1]) if len(clear) else int(np.argmax(lengths))
        along = rest[j] / lengths[j]
        rest = rest - np.outer(rest @ along, along)
        folded.append(j)
    return sorted(folded)


def _trades(part: Exchange, names: Sequence[str], sizes: Array) -> Iterator[str]:
    for k, f in enumerate(part.folded):
        column = part.E[:, k]
        others = [j for j in _ordered(column, names, names[f]) if j not in part.folded]
        factors = column * sizes / sizes[f]
        text = _listed([f"{names[j]} ({factors[j]:.2g})" for j in others], SHOWN - 1)
        yield f"{names[f]} trades against {text or 'what is unknown of the start'}"


def _sum(
    found: SingularSpectrum, names: Sequence[str], sizes: Array, j: int, part: Exchange
) -> Combination:
    direction = np.zeros(len(names))
    direction[j] = 1.0
    direction[part.folded] = -part.E[j]
    k = found.rank
    along = found.directions[:, :k].T @ direction
    std = float(np.linalg.norm(along / found.values[:k]) * sizes[j])
    factors = direction * sizes[j] / sizes
    words = [names[j]]
    for f in _ordered(np.where(np.arange(len(names)) == j, 0.0, direction), names, names[j]):
        size = abs(factors[f])
        factor = "" if abs(size - 1.0) < 5e-4 else f"{size:.3g} "
        words.append(f"{'-' if factors[f] < 0.0 else '+'} {factor}{names[f]}")
    terms = [(names[j], 1.0), *((names[f], float(factors[f])) for f in part.folded)]
    return Combination(_listed(words, SHOWN, between=" "), std, tuple(terms))


def _ordered(column: Array, names: Sequence[str], like: str) -> list[int]:
    """The places of what counts: parameters of the same sort first, then the largest."""
    sort = like.rpartition(".")[2]
    places = [j for j in range(len(names)) if abs(column[j]) > SMALL]
    return sorted(places, key=lambda j: (names[j].rpartition(".")[2] != sort, -abs(column[j])))


def _listed(parts: Sequence[str], most: int, *, between: str = ", ") -> str:
    more = f" + {len(parts) - most} more" if len(parts) > most else ""
    return between.join(parts[:most]) + more
