"""A model of everything near a motion: rows and shares linear in the step, their worth in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import NEARBY
from freefloat.design.criteria import Criterion
from freefloat.design.linear_limits import Rails

WORST_OF = 10.0  # sharpness of the maximum over scenarios
EVERY = 5  # times of the linear limits that the model looks at
MARGIN = 1e-3  # left to peaks between them
INSIDE = 12  # iterations on the model: more are lost, for the model is not the flight


@dataclass(frozen=True)
class Nearby:
    """The model around x: per scenario rows and their changes (n, ...), shares likewise."""

    x: Array
    criteria: Sequence[Criterion]
    rails: Rails
    rows: Sequence[Array]
    row_slopes: Sequence[Array]
    shares: Array
    share_slopes: Array
    bounds: Sequence[tuple[float, float]]

    def value(self, step: Array) -> tuple[float, Array]:
        """The criterion after a step, as the model sees it, and its derivative."""
        values, slopes = [], []
        for criterion, rows, changes in zip(self.criteria, self.rows, self.row_slopes, strict=True):
            flat = changes.reshape(len(step), -1)
            value, slope = criterion.value(rows + (step @ flat).reshape(rows.shape))
            values.append(value)
            slopes.append(flat @ slope.ravel())
        worst, weights = smooth_worst(np.array(values))
        return worst, weights @ np.array(slopes)

    def best(self, radius: float) -> tuple[Array, float]:
        """The best step within a radius and the limits, and the gain that the model sees in it."""
        from scipy.optimize import minimize

        values, slopes = self._rooms(radius)
        beyond = np.maximum(values - 1.0 + MARGIN, 0.0)  # half of which must go, at least
        top = 1.0 - MARGIN + 0.5 * beyond
        room = top - values
        low = [max(-radius, a - x) for (a, _), x in zip(self.bounds, self.x, strict=True)]
        high = [min(radius, b - x) for (_, b), x in zip(self.bounds, self.x, strict=True)]
        found = minimize(
            self.value, np.zeros(len(self.x)), jac=True, method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=[
                {"type": "ineq", "fun": lambda d: room - slopes @ d, "jac": lambda _: -slopes}
            ] if len(values) else (),
            options={"maxiter": INSIDE, "ftol": 1e-4},
        )  # fmt: skip
        step = np.clip(found.x, low, high)
        return step, self.value(np.zeros(len(step)))[0] - self.value(step)[0]

    def _rooms(self, radius: float) -> tuple[Array, Array]:
        """Shares that could become 1 within the radius, and their derivatives by the step."""
        values, slopes = self.rails.near(self.x, radius, every=EVERY)
        could = self.shares + radius * np.sum(np.abs(self.share_slopes), axis=1) > 1.0
        return (
            np.concatenate([values, self.shares[could]]),
            np.vstack([slopes, self.share_slopes[could]]),
        )


def nearby(
    x: Array,
    criteria: Sequence[Criterion],
    rails: Rails,
    rows: Sequence[Array],
    shares: Sequence[Array],
    near: Sequence[Sequence[tuple[Array, Array]]],
    bounds: Sequence[tuple[float, float]],
) -> Nearby:
    """The model from the rows and shares of a flight and of its neighbours, for every scenario."""
    changes = []
    for table, ones in zip(rows, near, strict=True):
        change = np.empty((len(ones), *table.shape))
        for k, (other, _) in enumerate(ones):
            change[k] = other - table
        change /= NEARBY
        changes.append(change)
    flat = [table.ravel() for table in shares]
    slopes = [
        np.stack([((other - table) / NEARBY).ravel() for _, other in ones], axis=1)
        for table, ones in zip(shares, near, strict=True)
    ]
    return Nearby(
        x, criteria, rails, rows, changes, np.concatenate(flat), np.vstack(slopes), bounds
    )


def smooth_worst(values: Array) -> tuple[float, Array]:
    """About the largest of some values, and how much each counts for it."""
    if len(values) == 1:
        return float(values[0]), np.ones(1)
    powers = np.exp(WORST_OF * (values - values.max()))
    return float(values.max() + np.log(powers.sum()) / WORST_OF), powers / powers.sum()
