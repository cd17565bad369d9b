"""What measurements tell of every parameter: seen, weak, only in combination or invisible.

Everything comes from one whitened Jacobian J (rows in units of the noise): its columns are scaled
by the natural size of their parameters, nuisance unknowns are projected out, and the singular
values of what is left say along which directions the parameters are observable, and how well. A
direction whose singular value s is below one is not known better than its natural size: hopeless;
one below rounding is not observable at all: null.

The statuses, for batch fits, live estimates and checks before a flight alike:

    seen                 standard deviation at most WEAK of the natural size
    weak                 above that, up to the natural size itself
    only in combination  moves the readings, but not known on its own to within its natural size
    invisible            moves no reading by more than its noise

Sums of parameters in words: along the null directions as many parameters as there are directions
are folded into the others. With x_f folded, the sums x_j - sum_f E_jf x_f do not change along any
of them, and a change of x_f is undone by changes E_jf of the others (E: see `_exchange`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.least_squares.tall_tables import orthonormal_basis, triangle_of
from freefloat.model.parameter_name import field_of
from freefloat.notebook import html_list, html_table, html_view
from freefloat.observability.scale import Scale

Status = Literal["seen", "weak", "only in combination", "invisible"]

# theory: products of integrated sensitivities err by ROUNDING times a condition of some 1e3
NULL = 1e-9  # of the largest singular value: below, a direction is numerically null
# theory: 1e4 rounding errors of float64 add up along an integration
ROUNDING = 1e-12  # relative error of a sensitivity that was integrated along a flight
# theory: of anything computed from a parameter (1/m, m r^2) the second-order terms of its error are
# about std / size times the first-order ones, so linear propagation holds to a tenth below 0.1.
# tools/weak_threshold.py: the stated 95 % intervals themselves hold up to 0.5, so weak is usable.
WEAK = 0.1  # natural sizes: a larger standard deviation is weak, a smaller one seen
# theory: at 0.9 the data hold 1 / 0.9^2 - 1, less than a quarter, of the prior's information
PRIOR_ONLY = 0.9  # of the prior's deviation: above, the prior said it and not the data
SHOWN = 4  # format: names a line
SMALL = 1e-3  # format: natural sizes; factors are written with three digits
# theory: threshold pivoting; factors of a sum stay below about 1 / CLEAR
CLEAR = 0.1  # least part of a null direction that makes a parameter fit to be folded


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
    """What is observable of every parameter, and how well.

    combinations: observable sums of parameters that are not seen alone; trades: what can be
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
        return next(one for one in self.parameters if one.name == name)

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

    def _repr_html_(self) -> str:
        head = ("parameter", "status", "value", "± std", "unit")
        rows = [
            (one.name, one.status, f"{one.value:.4g}",
             f"{one.std:.2g}" if one.std < np.inf else "not known", one.unit)
            for one in self.parameters
        ]  # fmt: skip
        sums = [f"together: {sum_.words}, ± {sum_.std:.2g}" for sum_ in self.combinations]
        trades = [f"not told apart: {words}" for words in self.trades]
        scale = [f"scale of masses and forces {self.scale.words}"] if self.scale else []
        title = f"{len(self.names('seen'))} of {len(self.parameters)} parameters are seen"
        return html_view(title, html_table(head, rows), html_list([*sums, *trades, *scale]))

    def names(self, status: Status) -> tuple[str, ...]:
        """The names of the parameters with that status."""
        return tuple(one.name for one in self.parameters if one.status == status)


@dataclass(frozen=True)
class SingularSpectrum:
    """Singular values (falling) and directions (columns) of a scaled matrix.

    floor: a singular value below it is null. acts (unknowns,): how far, in units of the noise,
    each unknown moves the readings on its own, before anything is projected out.
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
    """What the whitened Jacobian J (rows, names) tells of each parameter.

    A parameter that is known from its own prior alone never counts as seen.

    Args:
        J: derivatives of the measurements by the parameters, in units of the noise.
        names: of the parameters, one a column of J.
        sizes: natural sizes of the parameters, in their units.
        nuisance: (rows, any) columns of unknowns that are not reported, such as initial states.
        prior_std: (names,) standard deviations known beforehand; infinite or NaN: none.
        values: (names,) of the parameters, to be shown.
        units: of the parameters, to be shown.
        scale: whether masses and forces are known, to be shown.
        notes: on how J was made.

    Returns:
        status, standard deviation and observable sums of every parameter.

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
    parts = tuple(
        ParameterVisibility(n, u, float(v), float(d), float(s), k) for n, u, v, d, s, k in rows
    )
    return Visibility(parts, sums, trades, found.rank, scale, tuple(notes))


def known_status(relative_std: float) -> Literal["seen", "weak"]:
    """The status of a parameter known on its own, from its deviation in natural sizes.

    >>> known_status(0.02), known_status(0.3)
    ('seen', 'weak')
    """
    return "weak" if relative_std > WEAK else "seen"


def spectrum(
    A: Array, nuisance: Array | None, weights: Array, *, like: SingularSpectrum | None = None
) -> SingularSpectrum:
    """The singular values and directions of a scaled matrix without nuisance, priors added.

    `like`: take the floor from another spectrum, of a matrix that these columns are part of.
    """
    acts = np.linalg.norm(A, axis=0)
    rest = without(nuisance, A)
    rows = np.diag(weights)[weights > 0.0]
    _, values, Vt = np.linalg.svd(triangle_of(np.vstack([rest, rows])))
    largest = values[0] if len(values) else 0.0
    floor = max(NULL * largest, ROUNDING * acts.max(initial=0.0), np.finfo(float).tiny)
    return SingularSpectrum(values, Vt.T, like.floor if like else floor, acts)


def without(nuisance: Array | None, A: Array) -> Array:
    """The columns of A with everything that nuisance columns could explain taken off."""
    return without_basis(basis_of(nuisance), A)


def basis_of(nuisance: Array | None) -> Array | None:
    """Orthonormal columns of what nuisance columns could explain; None where that is nothing."""
    if nuisance is None or nuisance.shape[1] == 0:
        return None
    size = np.linalg.norm(nuisance, axis=0)
    acting = nuisance[:, size > 1e-12 * size.max(initial=0.0)]
    return orthonormal_basis(acting, least=ROUNDING) if acting.shape[1] else None


def without_basis(Q: Array | None, A: Array) -> Array:
    """The columns of A without what lies along the orthonormal columns Q, if there are any."""
    if Q is None:
        return A
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
            statuses.append(known_status(std))
    return statuses


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
    """The observable sums, and what trades against what, from the directions of a spectrum."""
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
                one = _sum(found, names, sizes, j, part)
                if one.std <= sizes[j]:
                    sums[j] = one
    return tuple(sums[j] for j in sorted(sums)), tuple(trades)


def _exchange(unseen: Array) -> Exchange:
    if unseen.shape[1] == 0:
        return Exchange([], np.zeros((len(unseen), 0)))
    folded = _choose_folded(unseen)
    return Exchange(folded, unseen @ np.linalg.inv(unseen[folded]))


def _choose_folded(unseen: Array) -> list[int]:
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
        others = [j for j in _by_weight(column, names, names[f]) if j not in part.folded]
        factors = column * sizes / sizes[f]
        text = _shorten([f"{names[j]} ({factors[j]:.2g})" for j in others], SHOWN - 1)
        yield f"{names[f]} trades against {text or 'the unknown initial state'}"


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
    for f in _by_weight(np.where(np.arange(len(names)) == j, 0.0, direction), names, names[j]):
        size = abs(factors[f])
        factor = "" if abs(size - 1.0) < 5e-4 else f"{size:.3g} "
        words.append(f"{'-' if factors[f] < 0.0 else '+'} {factor}{names[f]}")
    terms = [(names[j], 1.0), *((names[f], float(factors[f])) for f in part.folded)]
    return Combination(_shorten(words, SHOWN, between=" "), std, tuple(terms))


def _by_weight(column: Array, names: Sequence[str], like: str) -> list[int]:
    """The places of what counts: parameters of the same sort first, then the largest."""
    own = field_of(like)
    places = [j for j in range(len(names)) if abs(column[j]) > SMALL]
    return sorted(places, key=lambda j: (field_of(names[j]) != own, -abs(column[j])))


def _shorten(parts: Sequence[str], most: int, *, between: str = ", ") -> str:
    more = f" + {len(parts) - most} more" if len(parts) > most else ""
    return between.join(parts[:most]) + more
