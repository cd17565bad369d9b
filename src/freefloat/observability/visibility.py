"""What a set of readings tells of every parameter: seen, weak, only in combination or invisible.

Everything comes from one whitened matrix J (rows in units of the noise): its columns are scaled by
the natural size of their parameters, nuisance unknowns are projected out, and the singular values
of what is left say along which directions the parameters are known, and how well. A direction
whose singular value s is below one is not known better than its natural size: hopeless; one below
rounding is not known at all: null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.observability.combinations import Combination, combinations
from freefloat.observability.scale import Scale

Status = Literal["seen", "weak", "only in combination", "invisible"]

NULL = 1e-9  # of the largest singular value: below, a direction is numerically null
ROUNDING = 1e-12  # relative error of a slope that was integrated along a flight
WEAK = 0.1  # of the natural size
PRIOR_ONLY = 0.9  # a deviation that shrank by less than a tenth came from the prior, not the data


@dataclass(frozen=True)
class ParameterVisibility:
    """One parameter: value and natural size in its unit, expected standard deviation, status.

    std is NaN where there is none to give.
    """

    name: str
    unit: str
    value: float
    size: float
    std: float
    status: Status


@dataclass(frozen=True)
class Visibility:
    """What is seen of every parameter, and how.

    combinations: what is seen of the parameters that are not seen alone; trades: what can be
    exchanged without any reading changing; rank: how many directions are not null; scale: whether
    masses and forces are known at all, or only their ratios.
    """

    parameters: tuple[ParameterVisibility, ...]
    combinations: tuple[Combination, ...]
    trades: tuple[str, ...]
    rank: int
    scale: Scale | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ParameterVisibility:
        """The parameter of that name."""
        return next(sight for sight in self.parameters if sight.name == name)

    def __str__(self) -> str:
        """A line for every parameter, what is seen together, and the scale."""
        wide = max((len(s.name) for s in self.parameters), default=0)
        lines = [
            f"{s.name:{wide}}  {s.status}"
            + (f", {s.value:.4g} ± {s.std:.2g} {s.unit}" if s.std < np.inf else "")
            for s in self.parameters
        ]
        lines += [f"together: {sum_.words}, ± {sum_.std:.2g}" for sum_ in self.combinations]
        lines += [f"not told apart: {words}" for words in self.trades]
        if self.scale is not None:
            lines.append(f"scale of masses and forces {self.scale.words}")
        return "\n".join(lines)

    def named(self, status: Status) -> tuple[str, ...]:
        """The names of the parameters with that status."""
        return tuple(sight.name for sight in self.parameters if sight.status == status)


@dataclass(frozen=True)
class SingularSpectrum:
    """Singular values (falling) and directions (columns) of a scaled matrix; `floor`: null below.

    `acts` (unknowns,): how far, in units of the noise, each moves the readings on its own, before
    anything is projected out.
    """

    values: Array
    directions: Array
    floor: float
    acts: Array

    @property
    def rank(self) -> int:
        """How many directions are not null."""
        return int(np.sum(self.values > self.floor))

    @property
    def null_share(self) -> Array:
        """How far each unknown takes part in null directions, 0 to 1; rounding taken off."""
        share = np.linalg.norm(self.directions[:, self.rank :], axis=1)
        kept = self.values[: self.rank]
        # an error E in the matrix turns null directions by about |E| / (smallest kept value)
        faked = ROUNDING * kept[0] / kept[-1] if len(kept) else 0.0
        return np.where(share > max(1e-6, 10.0 * faked), share, 0.0)

    @property
    def deviations(self) -> Array:
        """Standard deviation of every unknown in natural sizes; infinite where null."""
        k = self.rank
        seen = np.linalg.norm(self.directions[:, :k] / self.values[:k], axis=1)
        return np.where(self.null_share > 0.0, np.inf, seen)


def visibility(
    J: Array,
    names: Sequence[str],
    sizes: Array,
    *,
    nuisance: Array | None = None,
    prior_std: Array | None = None,
    values: Array | None = None,
    units: Sequence[str] | None = None,
    scale: Scale | None = None,
    notes: Sequence[str] = (),
) -> Visibility:
    """What the whitened matrix J (rows, names) tells of each parameter.

    `sizes`: natural sizes; `nuisance` (rows, any): columns of unknowns nobody asks for; `prior_std`
    (names,): deviations known beforehand, infinite or NaN where there are none. A parameter that
    is known from its own prior alone never counts as seen.

    >>> J = np.array([[100.0, 100.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> found = visibility(J, ["a.mass", "b.mass", "c.mass"], np.ones(3))
    >>> found["a.mass"].status, found["c.mass"].status
    ('only in combination', 'invisible')
    >>> found.trades
    ('b.mass trades against a.mass (-1)',)
    """
    sizes = np.asarray(sizes, dtype=float)
    weights = _weights(sizes, prior_std)
    found = spectrum(J * sizes, nuisance, weights)
    deviations = found.deviations
    statuses = _statuses(found, deviations, weights)
    is_shown = np.array([status != "invisible" for status in statuses], dtype=bool)
    inner = spectrum(J[:, is_shown] * sizes[is_shown], nuisance, weights[is_shown], like=found)
    shown = [name for name, is_kept in zip(names, is_shown, strict=True) if is_kept]
    sums, trades = combinations(inner, shown, sizes[is_shown])
    at = np.full(len(names), np.nan) if values is None else values
    std = np.where(np.isfinite(deviations), deviations, np.nan) * sizes
    rows = zip(names, units or [""] * len(names), at, sizes, std, statuses, strict=True)
    sights = tuple(
        ParameterVisibility(n, u, float(v), float(d), float(s), k) for n, u, v, d, s, k in rows
    )
    return Visibility(sights, sums, trades, found.rank, scale, tuple(notes))


def spectrum(
    A: Array, nuisance: Array | None, weights: Array, *, like: SingularSpectrum | None = None
) -> SingularSpectrum:
    """The singular values and directions of a scaled matrix without nuisance, priors added.

    `like`: take the floor from another spectrum, of a matrix that these columns are part of.
    """
    acts = np.linalg.norm(A, axis=0)
    rest = without(nuisance, A)
    rows = np.diag(weights)[weights > 0.0]
    triangle = np.linalg.qr(np.vstack([rest, rows, np.zeros((A.shape[1], A.shape[1]))]), mode="r")
    _, values, Vt = np.linalg.svd(np.asarray(triangle))
    largest = values[0] if len(values) else 0.0
    floor = max(NULL * largest, ROUNDING * acts.max(initial=0.0), np.finfo(float).tiny)
    return SingularSpectrum(values, Vt.T, like.floor if like else floor, acts)


def without(nuisance: Array | None, A: Array) -> Array:
    """The columns of A with everything that nuisance columns could explain taken off."""
    if nuisance is None or nuisance.shape[1] == 0:
        return A
    size = np.linalg.norm(nuisance, axis=0)
    acting = nuisance[:, size > 1e-12 * size.max(initial=0.0)]
    if acting.shape[1] == 0:
        return A
    U, s, _ = np.linalg.svd(acting / np.linalg.norm(acting, axis=0), full_matrices=False)
    Q = U[:, s > ROUNDING * s[0]]
    rest = A - Q @ (Q.T @ A)
    rest -= Q @ (Q.T @ rest)  # twice is enough
    # what is left of a column that was explained altogether is rounding
    explained = np.linalg.norm(rest, axis=0) < NULL * np.linalg.norm(A, axis=0)
    return np.where(explained, 0.0, rest)


def _weights(sizes: Array, prior_std: Array | None) -> Array:
    """Natural size over prior deviation; zero without a prior."""
    if prior_std is None:
        return np.zeros(len(sizes))
    std = np.asarray(prior_std, dtype=float)
    return np.where(np.isfinite(std), sizes / np.where(np.isfinite(std), std, 1.0), 0.0)


def _statuses(found: SingularSpectrum, deviations: Array, weights: Array) -> list[Status]:
    """By what each parameter does alone, and what is left of that when all others are unknown."""
    quiet = max(1.0, NULL * found.acts.max(initial=0.0))
    prior = np.divide(1.0, weights, out=np.full(len(weights), np.inf), where=weights > 0.0)
    is_prior_only = np.isfinite(prior) & (deviations > PRIOR_ONLY * prior)
    statuses: list[Status] = []
    for acts, std, is_prior in zip(found.acts, deviations, is_prior_only, strict=True):
        if acts < quiet:
            statuses.append("invisible")
        elif std > 1.0 or is_prior:
            statuses.append("only in combination")
        else:
            statuses.append("weak" if std > WEAK else "seen")
    return statuses
