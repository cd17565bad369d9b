"""Errors of a campaign over their stated deviations: what histograms of it show."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from freefloat.arrays import Array
from freefloat.campaign.run_store import RunStore


def normalised_errors(store: RunStore, *, cell: int | None = None) -> dict[str, Array]:
    """By parameter, (estimate - truth) / standard deviation of every run that has all three.

    Args:
        store: The results of a campaign.
        cell: One cell of its grids; all runs unless given.

    Returns:
        One error a run, in no order; without runs that say anything, nothing.
    """
    found: defaultdict[str, list[Array]] = defaultdict(list)
    for tables in store.tables():
        runs, cells = (tables.runs.column(name).to_pylist() for name in ("run", "cell"))
        cell_of = dict(zip(runs, cells, strict=True))
        rows = tables.estimates.to_pydict()
        value, true, std = (np.array(rows[k], dtype=float) for k in ("value", "true", "std"))
        names = np.array(rows["name"], dtype=object)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = (value - true) / std
        is_known = np.isfinite(error)
        if cell is not None:
            is_known &= np.array([cell_of[run] == cell for run in rows["run"]], dtype=bool)
        for name in dict.fromkeys(names[is_known]):
            found[name].append(error[is_known & (names == name)])
    return {name: np.concatenate(parts) for name, parts in found.items()}
