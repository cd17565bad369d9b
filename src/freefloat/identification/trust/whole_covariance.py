"""Total covariance of the mass properties of the whole: estimates and known bodies together.

What is known of a body has its doubt, and where estimates lean on it they are off with it: of a
captured target weighed against a bus that is 1 % too heavy, both are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.fit import Fit
from freefloat.identification.fitted_mass_properties import (
    as_estimated,
    moves_mass,
    whole_slope,
    whole_slopes,
)
from freefloat.identification.trust.assumption_columns import (
    AssumptionColumns,
    assumption_values,
    is_common,
)
from freefloat.identification.trust.consider import Consideration
from freefloat.identification.trust.white_rows import WhiteRows

STEP = 1e-2  # theory: of a standard deviation; differences to both sides err by its square


def whole_covariance(
    fit: Fit, rows: WhiteRows, taken: AssumptionColumns, considered: Consideration,
    moves: Sequence[tuple[str, Array]],
) -> Array:  # fmt: skip
    """Covariance (10, 10) of the inertial parameters of the whole, in the root's frame, at home.

    moves: how the assumptions move each estimate, by name, in its unit.
    """
    slopes, order = whole_slopes(fit), [e.name for e in fit.estimates]
    total = slopes @ np.nan_to_num(fit.total_covariance) @ slopes.T
    own = _columns(fit, rows, taken)
    moved = np.zeros_like(own)
    for name, move in moves:
        if name in order:
            moved += np.outer(slopes[:, order.index(name)], move)
    both = moved @ considered.room @ own.T
    return total + both + both.T + own @ considered.room @ own.T


def _columns(fit: Fit, rows: WhiteRows, taken: AssumptionColumns) -> Array:
    """The change (10, assumptions) of the whole with every assumption, per unit of its doubt."""
    columns, model = np.zeros((10, len(taken.assumptions))), as_estimated(fit)
    nominal = assumption_values(rows, taken, np.zeros(len(taken.assumptions)))
    for k, unit in enumerate(np.eye(len(taken.assumptions))):
        name = taken.assumptions[k].name
        if not (is_common(name) or moves_mass(fit, name)):
            continue
        up, down = (assumption_values(rows, taken, s * unit) for s in (STEP, -STEP))
        changed = [n for n in up if up[n] != nominal[n] and moves_mass(fit, n)]
        if changed:
            ends = ({n: up[n] for n in changed}, {n: down[n] for n in changed})
            columns[:, k] = whole_slope(model, *ends, step=STEP)
    return columns
