"""What is taken for exact, with its uncertainty: total deviations of the estimates.

GNC engineers call it a consider analysis (Tapley, Schutz, Born, Statistical Orbit Determination,
2004, chapter 6): an assumption that is off by a standard deviation moves the estimates by a known
amount, and the squares of all these moves add to the statistical covariance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.assessment import DoubtShare
from freefloat.identification.trust.assumption_columns import AssumptionColumns
from freefloat.identification.trust.white_rows import RANK, ROUNDING, WhiteRows
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.prediction.assumptions import Assumption
from freefloat.telemetry.channel import Mask

# theory: shares below a thousandth of a variance change a standard deviation by 0.05 %
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Consideration:
    """How the assumptions move the unknowns.

    moves (unknowns, assumptions): by one standard deviation of each, in natural sizes.
    root (k, assumptions): of their covariance, in units of their deviations, once the data have
    spoken. information: of the data on them alone. is_adjusted: the estimates belong to the most
    probable assumptions, not to exact ones. by_inputs (assumptions, draws): what draws of input
    noise add to the slopes; empty where it is not known.
    """

    assumptions: tuple[Assumption, ...]
    is_scale: Mask
    columns: Array  # (rows, assumptions), without what the unknowns explain
    moves: Array
    information: Array
    root: Array
    is_adjusted: bool = False
    by_inputs: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def slopes(self, residual: Array) -> Array:
        """The slopes G'r (assumptions,) of residuals that the unknowns have been fitted to.

        theory: noise of inputs is in both factors, and adds on the average what it adds in draws
        (Fuller, Measurement Error Models, 1987, section 1.2).
        """
        slopes = self.columns.T @ residual
        return slopes - np.mean(self.by_inputs, axis=1) if self.by_inputs.size else slopes

    def drawn_slopes(self, draws: Array) -> Array:
        """Slopes (assumptions, draws) of draws of the noise."""
        slopes, apart = self.columns.T @ draws, self.apart_by_inputs
        n = apart.shape[1]
        return slopes + apart[:, np.arange(slopes.shape[1]) % n] if n else slopes

    @property
    def apart_by_inputs(self) -> Array:
        """What draws of input noise add (assumptions, draws) beyond the average of all draws."""
        added, n = self.by_inputs, self.by_inputs.shape[1]
        if n < 2:
            return np.zeros_like(added)
        # theory: about their own mean n scatter by 1 - 1/n of their variance
        return (added - np.mean(added, axis=1, keepdims=True)) * np.sqrt(n / (n - 1.0))

    @cached_property
    def posterior(self) -> Array:
        """Covariance of the assumptions (assumptions, assumptions) once the data have spoken."""
        return self.root.T @ self.root

    @cached_property
    def room(self) -> Array:
        """The covariance that counts (assumptions, assumptions), in units of their deviations.

        What carries the scale counts with all its doubt where the estimates take it for exact.
        Anything else can be no farther off than the data leave room for.
        """
        if self.is_adjusted:
            return self.posterior
        both = np.outer(~self.is_scale, ~self.is_scale)
        return np.where(both, self.posterior, np.diag(np.ones(len(self.posterior))) * ~both)

    def variance(self, place: int) -> float:
        """What all assumptions add to the variance of an unknown, in its natural size squared.

        theory: by the root of the covariance, so that rounding makes no variance negative.
        """
        moves = self.moves[place]
        taken = np.zeros(len(moves), bool) if self.is_adjusted else self.is_scale
        return float(np.sum((self.root @ (moves * ~taken)) ** 2) + np.sum(moves[taken] ** 2))

    def shares(self, place: int) -> Array:
        """The variance of an unknown [natural size squared] that would go with each assumption.

        theory: knowing one exactly takes cov(x, a)^2 / var(a) off the variance of x. What the data
        tell of several together correlates them, so these shares need not add up to the variance.
        """
        spread = np.diag(self.room)
        return (self.room @ self.moves[place]) ** 2 / np.where(spread > 0.0, spread, np.inf)


def consider(
    rows: WhiteRows, taken: AssumptionColumns, precision: Array | None = None
) -> Consideration:
    """What the assumptions can do to the estimates, and the data say of them.

    precision: of every prior in units of the doubt; one unless given, zero of what is freed.
    """
    columns = rows.project_out(taken.columns)
    held = np.ones(columns.shape[1]) if precision is None else precision
    return Consideration(
        taken.assumptions, taken.is_scale, columns, -rows.inverse @ taken.columns,
        columns.T @ columns, posterior_root(columns, held), by_inputs=taken.by_inputs,
    )  # fmt: skip


def posterior_root(columns: Array, precision: Array) -> Array:
    """The root (n, n) of the covariance of what rows (rows, n) and priors hold: (P + G'G)^-1.

    theory: columns of length one. Next to a doubt of 1e6 rad the squares of all others are below
    rounding, their roots are not. A direction that nothing holds beyond rounding has a very large
    variance, not none.
    """
    both, length = _with_priors(triangle_of(columns), precision)
    _, s, V = np.linalg.svd(both, full_matrices=False)
    return V / (np.maximum(s, ROUNDING)[:, None] * length)


def most_probable_turn(
    columns: Array, precision: Array, residual: Array, deviations: Array
) -> Array:
    """By how much the deviations must change to be most probable; what nothing holds stays."""
    triangle = triangle_of(np.column_stack([columns, residual]))
    both, length = _with_priors(triangle[:, :-1], precision)
    left = np.concatenate([triangle[:, -1], np.sqrt(precision) * deviations])
    return -np.linalg.lstsq(both, left, rcond=RANK)[0] / length


def _with_priors(triangle: Array, precision: Array) -> tuple[Array, Array]:
    """Rows of data and priors with columns of length one, and the lengths."""
    both = np.vstack([triangle, np.diag(np.sqrt(precision))])
    length = np.linalg.norm(both, axis=0)
    length = np.where(length > 0.0, length, 1.0)
    return both / length, length


def total_deviations(
    considered: Consideration, places: Sequence[int], std: Array, sizes: Array
) -> Array:
    """Total standard deviations of the unknowns at `places`, whose statistical ones are `std`."""
    added = np.array([considered.variance(k) for k in places]) * sizes**2
    return np.sqrt(std**2 + added)


def total_covariance(
    considered: Consideration, places: Sequence[int], covariance: Array, sizes: Array
) -> Array:
    """Total covariance of the unknowns at `places`, whose statistical one is `covariance`.

    The roots of its diagonal are their total deviations.
    """
    moved = considered.moves[list(places)] * sizes[:, None]
    return covariance + moved @ considered.room @ moved.T


def adjusted_noise(considered: Consideration, places: Sequence[int], sizes: Array) -> Array:
    """What noise adds to the covariance of unknowns because it moves what is adjusted with them.

    theory: assumptions at their most probable are off by M G'w of the noise w, which has the
    covariance M G'G M; the rest of M is what their doubt leaves beside it.
    """
    moved = considered.moves[list(places)] * sizes[:, None]
    by_noise = considered.columns @ (considered.posterior @ moved.T)
    return by_noise.T @ by_noise


def doubt_shares(
    considered: Consideration, places: Sequence[int], names: Sequence[str], total: Array,
    sizes: Array,
) -> tuple[DoubtShare, ...]:  # fmt: skip
    """The assumptions that matter to an estimate, the most important first."""
    shares = np.array([considered.shares(k) for k in places]) * (sizes**2)[:, None]
    shares = shares / np.where(total > 0.0, total, np.inf)[:, None] ** 2
    shares = np.where(np.isfinite(shares), shares, 0.0)
    found = []
    for c, assumption in enumerate(considered.assumptions):
        worst = int(np.argmax(shares[:, c])) if len(shares) else 0
        if len(shares) and shares[worst, c] > LEAST_SHARE:
            found.append(
                DoubtShare(
                    assumption.name, assumption.unit, assumption.std, assumption.is_stated,
                    float(shares[worst, c]), names[worst],
                )
            )  # fmt: skip
    return tuple(sorted(found, key=lambda doubt: -doubt.share))
