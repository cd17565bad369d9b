"""By how much a fuller model is worth its parameters: the Bayesian information criterion."""

from __future__ import annotations

import numpy as np

from freefloat.identification.fit import Fit


def gain_of(full: Fit, less: Fit) -> float:
    """By how much the Bayesian information criterion rises from the full model to the lesser one.

    Channels that both compare count, each by its mean square residual x over the stated noise: x
    itself up to one, and 1 + log x beyond, as for noise that is at least as large as stated.
    """
    tables = [{r.channel: r for r in fit.residuals} for fit in (full, less)]
    shared = [name for name in tables[0] if name in tables[1]]
    n = np.array([tables[0][name].n for name in shared])
    misfits = []
    for table in tables:
        x = np.array([table[name].rms ** 2 for name in shared])
        misfits.append(float(np.sum(n * np.where(x <= 1.0, x, 1.0 + np.log(np.maximum(x, 1.0))))))
    more = len(full.estimates) - len(less.estimates)
    return misfits[1] - misfits[0] - more * float(np.log(max(np.sum(n), 1)))
