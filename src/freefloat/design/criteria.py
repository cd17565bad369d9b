"""What makes a motion good: small numbers are better, whatever the criterion.

Information criteria look at the covariance C that a flight's readings would leave, in natural
sizes of the parameters, with unknown initial states projected out. To every parameter without a
prior of its own belongs one of its natural size: what stays unknown whatever one does counts as
100 % and no more. Directions of which no motion tells anything are left out altogether, or they
would drown what can be improved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import CandidateFlight

Optimality = Literal["a", "d", "e", "cond", "worst", "named"]

SHARP = 8.0  # power of the norm that stands for a maximum: within 1.3 of it for eight equals
NOTHING_TOLD = 1e-6  # of what is known beforehand: no other motion tells a million times as much
RIDGE = 1e-6  # of its effect: what is known of a start state, so that unseen ones do no harm


class Criterion(Protocol):
    """A number for a flight: some rows of it, and what they are worth."""

    def rows(self, flown: CandidateFlight) -> Array:
        """What of the flight counts."""
        ...

    def value(self, rows: Array) -> tuple[float, Array]:
        """A logarithm, the smaller the better, and its derivative by the rows."""
        ...

    def told(self, value: float) -> tuple[str, float]:
        """The value for people: what it is, and the number."""
        ...


@dataclass(frozen=True)
class Information:
    """A-, D-, E-optimality, condition number, worst parameter or named ones.

    scales (columns,): natural sizes of the wanted parameters, then sizes of the nuisance columns;
    weights (columns,): one over what is known beforehand, in those sizes. `chosen`: which wanted
    parameters count for "named" and "worst". seen (directions, wanted): what of the wanted ones
    counts for the others, all of it unless given.
    """

    kind: Optimality
    n_wanted: int
    scales: Array
    weights: Array
    chosen: tuple[int, ...] = ()
    seen: Array | None = None

    def covariance(self, J: Array) -> Array:
        """What is left unknown of all columns, in their scales."""
        table = np.vstack([J * self.scales, np.diag(self.weights)])
        R = np.asarray(np.linalg.qr(table, mode="r"))
        inverse = np.linalg.inv(R)
        return inverse @ inverse.T

    def rows(self, flown: CandidateFlight) -> Array:
        """Slopes of all readings, in units of their noise."""
        return flown.rows

    def value(self, rows: Array) -> tuple[float, Array]:
        """The logarithm of the criterion and its derivative by J = rows.

        With C = (J^T J)^-1: dc = <dc/dC, dC> = -2 <J C dc/dC C, dJ>.
        """
        n, C = self.n_wanted, self.covariance(rows)
        if self.seen is None:
            value, slope = self.of_covariance(C[:n, :n])
        else:
            value, own = self.of_covariance(self.seen @ C[:n, :n] @ self.seen.T)
            slope = self.seen.T @ own @ self.seen
        inner = C[:, :n] @ slope @ C[:n]
        return value, -2.0 * ((rows * self.scales) @ inner) * self.scales

    def of_covariance(self, C: Array) -> tuple[float, Array]:
        """The logarithm of the criterion and its derivative by C."""
        if self.kind == "a":
            trace = float(np.trace(C))
            return float(np.log(trace)), np.eye(len(C)) / trace
        if self.kind == "named":
            picked = np.zeros(len(C))
            picked[list(self.chosen)] = 1.0
            total = float(picked @ np.diag(C))
            return float(np.log(total)), np.diag(picked) / total
        if self.kind == "worst":
            picked = list(self.chosen)
            slopes = np.zeros(len(C))
            value, slopes[picked] = _smooth_top(np.diag(C)[picked])
            return value, np.diag(slopes)
        if self.kind == "d":
            L = np.linalg.cholesky(C)
            half = np.linalg.inv(L)
            return 2.0 * float(np.mean(np.log(np.diag(L)))), half.T @ half / len(C)
        values, V = np.linalg.eigh(C)
        values = np.maximum(values, np.finfo(float).tiny)
        top, slope = _smooth_top(values)
        if self.kind == "e":
            return top, (V * slope) @ V.T
        low, down = _smooth_top(1.0 / values)
        return 0.5 * (top + low), 0.5 * (V * (slope - down / values**2)) @ V.T

    def told(self, value: float) -> tuple[str, float]:
        """A deviation in % of the natural size, or the condition number."""
        n, all_of_them = self.n_wanted, "all parameters"
        if self.seen is not None:
            n, all_of_them = len(self.seen), "all that can be seen"
        if self.kind == "cond":
            return "condition number", float(np.exp(value))
        words, count = {
            "a": (f"rms deviation of {all_of_them} [%]", n),
            "d": ("geometric mean deviation of all directions [%]", 1),
            "e": ("deviation of the worst direction [%]", 1),
            "worst": ("deviation of the worst parameter [%]", 1),
            "named": ("rms deviation of the named parameters [%]", len(self.chosen)),
        }[self.kind]
        return words, float(100.0 * np.exp(0.5 * value) / np.sqrt(count))


def _smooth_top(values: Array) -> tuple[float, Array]:
    """The logarithm of about the largest of some positive values, and its derivative by them."""
    level = values.max()
    powers = (values / level) ** (SHARP - 1.0)
    total = float(powers @ values / level)
    return float(np.log(level * total ** (1.0 / SHARP))), powers / total / level


def information(
    kind: Optimality,
    sizes: Array,
    reference: Array,
    *,
    prior_std: Array,
    chosen: Sequence[int] = (),
    natural_prior: float = 1.0,
) -> Information:
    """The criterion for wanted parameters of natural `sizes`; further columns are nuisance.

    reference (rows, columns): rows of some flight, which say how large nuisance columns are;
    prior_std (wanted,): NaN where there is none, which counts as so many natural sizes.
    """
    n = len(sizes)
    effect = np.linalg.norm(reference[:, n:], axis=0)
    nuisance = 1.0 / np.where(effect > 0.0, effect, 1.0)
    given = np.where(np.isfinite(prior_std), sizes / prior_std, 1.0 / natural_prior)
    scales = np.concatenate([sizes, nuisance])
    weights = np.concatenate([given, np.full(len(nuisance), RIDGE)])
    return Information(kind, n, scales, weights, tuple(chosen))


def only_seen(judge: Information, reference: Array) -> Information:
    """The criterion without directions of which a flight, and so any, tells nothing.

    In units of what is known beforehand, errors along them stay as they are; what is left of an
    error without them counts, in the natural sizes.
    """
    n = judge.n_wanted
    W = judge.weights[:n]
    values, V = np.linalg.eigh(W[:, None] * judge.covariance(reference)[:n, :n] * W)
    V = V[:, values < 1.0 - NOTHING_TOLD]
    if V.shape[1] in (0, n):
        return judge
    Q, _ = np.linalg.qr(V / W[:, None])
    return replace(judge, seen=Q.T @ ((V / W[:, None]) @ (V * W[:, None]).T))
