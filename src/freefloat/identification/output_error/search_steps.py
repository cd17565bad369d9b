"""A search as it converges: cost, values and deviations at every better point, for who watches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.cost import Evaluation
from freefloat.identification.output_error.unknowns import SearchUnknowns
from freefloat.progress import Progress, SearchStep, step_listener


def step_reporter(
    progress: Progress, unknowns: SearchUnknowns
) -> Callable[[Evaluation], None] | None:
    """What `descend` is to call with every better point; None where nobody watches."""
    listen = step_listener(progress)
    if listen is None:
        return None
    shown = [k for k, u in enumerate(unknowns.items) if u.is_reported]
    names = tuple(unknowns.items[k].label for k in shown)
    units = tuple(unknowns.items[k].parameter.unit for k in shown)

    def report(at: Evaluation) -> None:
        spread = point_deviations(at, unknowns.sizes)
        values = tuple(float(at.theta[k]) for k in shown)
        deviations = tuple(float(spread[k]) for k in shown)
        listen(SearchStep(float(at.cost), names, units, values, deviations))

    return report


def point_deviations(at: Evaluation, sizes: Array) -> Array:
    """Standard deviations of all unknowns from the slopes at a point; NaN where there are none."""
    n = len(at.theta)
    information = at.prior_rows.T @ at.prior_rows
    for block in at.blocks:
        places = [*block.own, *block.shared]
        R = block.factor[:, :-1]
        information[np.ix_(places, places)] += R.T @ R
    scaled = information * np.outer(sizes, sizes)
    try:
        covariance = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return np.full(n, np.nan)
    with np.errstate(invalid="ignore"):
        return sizes * np.sqrt(np.diag(covariance))
