"""From a family's equations to a LinearEstimate: recordings, priors, outliers, bias correction.

Unknowns are changes from the model's values, so that what the data do not see stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.identification.corrected_least_squares import (
    Bias,
    LeastSquaresSolution,
    instrumental,
    least_squares,
    robust_weights,
)
from freefloat.identification.linear.family import (
    EquationMaker,
    Equations,
    WhitenedRows,
    whiten,
)
from freefloat.identification.linear.growth_steps import report_growth
from freefloat.identification.linear.linear_options import DEFAULTS, LinearOptions
from freefloat.identification.linear.samples import Samples
from freefloat.parameters.parameters import Parameter
from freefloat.progress import DataStep
from freefloat.telemetry.channel import MAD

# theory: a column is a sum of less than a hundred products that may cancel, each off by 1e-16 of
# the largest; below this part of the largest column, in natural sizes, there is only rounding
ROUNDING = 1e-13
ROBUST_ROUNDS = 10  # theory: reweighting converges linearly, its error falls to below 1e-3


@dataclass(frozen=True)
class LinearEstimate:
    """What the rows say of the unknowns: parameters first, then every recording's nuisance."""

    names: tuple[str, ...]
    n_parameters: int
    start: Array  # the values the unknowns started from
    solution: LeastSquaresSolution
    residuals: dict[str, Array]  # by kind of row, in standard deviations
    units: dict[str, str]
    n_outliers: int
    robust_scale: float | None = None  # of the residuals, when outliers were weighed down

    @property
    def misfit(self) -> float:
        """Mean square residual in units of the noise, of the worst kind of row."""
        return max(float(np.mean(left**2)) for left in self.residuals.values())

    @property
    def values(self) -> Array:
        """The unknowns themselves."""
        return self.start + self.solution.values


def estimate(
    make: EquationMaker,
    system: System,
    recordings: Sequence[Samples],
    unknowns: Sequence[Parameter],
    *,
    sizes: Array | None = None,
    renew: Callable[[Array], System] | None = None,
    options: LinearOptions = DEFAULTS,
    listen: Callable[[DataStep], None] | None = None,
) -> LinearEstimate:
    """Estimate the free ones of `unknowns` from all recordings together.

    Recordings must be prepared for the family. `sizes`: natural sizes of the free ones; a column
    that is nothing but rounding in them counts as zero, else it would be taken for a signal (what a
    fixed root holds does not show in any joint). `renew` gives the system for new values of the
    unknowns, free ones first: weights depend on the parameters, so rows are made anew until these
    move no more than weights can feel. Pairs of fresh noise find the bias that noise in the
    columns causes: few of them on the way, more at the end. `listen` is told what ever more of the
    recordings say.
    """
    o, is_corrected = options, options.solver == "corrected"
    free = [p for p in unknowns if p.status == "free"]
    tied = [p for p in unknowns if p.status == "tied"]
    names, spread = [p.name for p in (*free, *tied)], _ties(free, tied)
    before = np.array([p.value for p in (*free, *tied)])
    theta, now = before, system
    solve = partial(_solve, free=free, sizes=sizes, options=options)
    rng = np.random.default_rng(o.seed)
    # theory: a mean of squares over n drawn instants errs by sqrt(2 / n), however they are drawn
    enough = -(-o.noise_instants // max(sum(len(part.time) for part in recordings), 1))
    first_pairs, all_pairs = (min(n, enough) for n in (o.first_noise_pairs, o.noise_pairs))
    misfit = np.inf
    for turn in range(1, o.most_passes + 1):
        make_now = partial(make, now, values=dict(zip(names, theta, strict=True)))
        stack = _Stack([make_now(samples) for samples in recordings], spread, before)
        few = first_pairs * is_corrected
        noisy = _noisy_tables(stack, make_now, recordings, few, rng)
        found = solve(stack, noisy)
        last, theta = theta, before + spread @ found.solution.values[: len(free)]
        std = np.nan_to_num(spread @ np.nan_to_num(found.solution.std[: len(free)]))
        is_still = np.all(np.abs(theta - last) < o.settled * np.abs(last) + 2.0 * std)
        is_seen = found.solution.rank == len(found.names)  # else residuals need not become noise
        is_no_better = found.misfit > o.improved * misfit
        is_noise = found.misfit < o.trust.noisy or is_no_better or not is_seen
        if renew is None or (is_noise and (is_still or turn >= o.passes)):
            break
        misfit = found.misfit
        now = renew(theta)
    more = max(all_pairs - first_pairs, 0) * is_corrected
    noisy = [*noisy, *_noisy_tables(stack, make_now, recordings, more, rng)]
    if listen is not None:
        report_growth(
            listen, free, stack.start, table=stack.table(), noisy=noisy,
            prior=_prior_rows(free, len(stack.names)), lengths=[e.y.size for e in stack.made],
        )  # fmt: skip
    return solve(stack, noisy)


def _ties(free: Sequence[Parameter], tied: Sequence[Parameter]) -> Array:
    """(free + tied, free): how all of them follow the free ones."""
    place = {p.name: k for k, p in enumerate(free)}
    spread = np.zeros((len(free) + len(tied), len(free)))
    spread[: len(free)] = np.eye(len(free))
    for row, p in enumerate(tied, start=len(free)):
        assert p.tied_to is not None
        leader, factor = p.tied_to
        if leader in place:
            spread[row, place[leader]] = factor
    return spread


class _Stack:
    """The equations of several recordings as one table of changes from the start values."""

    def __init__(self, made: Sequence[Equations], spread: Array, start: Array) -> None:
        self.made, self.spread, self.start = made, spread, start
        first = made[0]
        self.n_free = spread.shape[1]
        own = [e.names[e.n_parameters :] for e in made]
        tag = (lambda i, name: f"{name}#{i + 1}") if len(made) > 1 else (lambda i, name: name)
        self.nuisance = tuple(tag(i, name) for i, names in enumerate(own) for name in names)
        self.names = (*first.names[: self.n_free], *self.nuisance)
        self.ends = np.cumsum([0, *(len(names) for names in own)])

    def table(self, others: Sequence[Equations] | None = None) -> Array:
        """Whitened rows [Y | y] of these equations, or of others with the noise of these."""
        parts = []
        for i, model in enumerate(self.made):
            rows = whiten(model if others is None else others[i], like=model)
            parts.append(self._place(rows, i))
        return np.vstack(parts)

    def _place(self, rows: WhitenedRows, i: int) -> Array:
        n = rows.n_parameters
        out = np.zeros((len(rows.y), len(self.names) + 1))
        out[:, : self.n_free] = rows.Y[:, :n] @ self.spread
        first = self.n_free + self.ends[i]
        out[:, first : first + rows.Y.shape[1] - n] = rows.Y[:, n:]
        out[:, -1] = rows.y - rows.Y[:, :n] @ self.start
        return out

    def residuals(self, left: Array) -> dict[str, Array]:
        """Whitened residuals by kind of row, all recordings together."""
        found: dict[str, list[Array]] = {}
        at = 0
        for e in self.made:
            part = left[at : at + e.y.size].reshape(e.y.shape)
            at += e.y.size
            for k, label in enumerate(e.labels):
                found.setdefault(label, []).append(part[:, k])
        return {label: np.concatenate(parts) for label, parts in found.items()}


def _solve(
    stack: _Stack,
    noisy: Sequence[Array],
    *,
    free: Sequence[Parameter],
    sizes: Array | None,
    options: LinearOptions,
) -> LinearEstimate:
    robust = options.robust
    table = stack.table()
    if sizes is not None:
        seen = np.linalg.norm(table[:, : len(sizes)], axis=0) * sizes
        table[:, : len(sizes)][:, seen <= ROUNDING * np.max(seen, initial=0.0)] = 0.0
    prior = _prior_rows(free, len(stack.names))
    weights, scale = np.ones(len(table)), None
    for _ in range(1 if robust is None else ROBUST_ROUNDS):
        root = np.sqrt(weights)[:, None]
        if options.solver == "iv":
            found = _solve_with_instruments(stack, table * root, prior, options.instrument_lag)
        else:
            bias = _bias(table * root, [part * root for part in noisy]) if noisy else None
            both = np.vstack([table * root, prior])
            found = least_squares(both[:, :-1], both[:, -1], bias=bias)
        left = table[:, -1] - table[:, :-1] @ found.values
        if robust is not None:
            scale = max(MAD * float(np.median(np.abs(left))), 1.0)
            weights = robust_weights(left / scale, robust)
    n_nuisance = len(stack.names) - stack.n_free
    start = np.concatenate([stack.start[: stack.n_free], np.zeros(n_nuisance)])
    units = dict(zip(stack.made[0].labels, stack.made[0].units, strict=True))
    return LinearEstimate(
        stack.names, stack.n_free, start, found, stack.residuals(left), units,
        int(np.sum(weights < 0.5)), scale,
    )  # fmt: skip


def _noisy_tables(
    stack: _Stack,
    make: EquationMaker,
    recordings: Sequence[Samples],
    n_pairs: int,
    rng: np.random.Generator,
) -> list[Array]:
    """Tables of the same recordings with fresh noise, in pairs of opposite noise."""
    tables = []
    for _ in range(n_pairs):
        pairs = [samples.jitter(rng) for samples in recordings]
        for side in (0, 1):
            tables.append(stack.table([make(pair[side], noise=False) for pair in pairs]))
    return tables


def _bias(table: Array, noisy: Sequence[Array]) -> Bias:
    """The mean growth of [Y | y]^T [Y | y] under fresh noise."""
    own = table.T @ table
    grown = sum((part.T @ part - own for part in noisy), np.zeros_like(own)) / len(noisy)
    return Bias(grown[:-1, :-1], grown[:-1, -1])


def _prior_rows(free: Sequence[Parameter], n_unknowns: int) -> Array:
    """A row for every parameter with a prior: its change in units of the prior's deviation."""
    rows = []
    for k, p in enumerate(free):
        if p.prior is not None:
            row = np.zeros(n_unknowns + 1)
            row[k], row[-1] = 1.0 / p.prior[1], (p.prior[0] - p.value) / p.prior[1]
            rows.append(row)
    return np.reshape(rows, (-1, n_unknowns + 1))


def _solve_with_instruments(
    stack: _Stack, table: Array, prior: Array, lag: int
) -> LeastSquaresSolution:
    """Instruments: the columns `lag` instants later, which share the motion but no noise."""
    Z = np.empty_like(table)
    at = 0
    for e in stack.made:
        n, k = e.y.size, len(e.labels)
        Z[at : at + n] = np.roll(table[at : at + n], -lag * k, axis=0)
        at += n
    both, instruments = np.vstack([table, prior]), np.vstack([Z, prior])
    return instrumental(instruments[:, :-1], both[:, :-1], both[:, -1])
