"""Single wild samples found by their neighbours, before they can pull a fit towards them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.linear.sample_reader import thrust_between
from freefloat.identification.linear.samples import Samples

WILD = 8.0  # standard deviations from what the neighbours say


def without_spikes(samples: Samples) -> Samples:
    """The recording without the instants at which a channel jumps away and back again."""
    is_wild = np.zeros(len(samples.time), dtype=bool)
    for source in samples.sources:
        for field, column, size in source.parts:
            table = getattr(samples, field)
            is_wild |= spikes(table[:, column], size if field != "attitude" else 0.5 * size)
    if not is_wild.any():
        return samples
    kept = samples.taken(np.flatnonzero(~is_wild))
    note = f"{int(is_wild.sum())} instants left out: a lone wild sample"
    thrust = thrust_between(samples, kept.time)
    return replace(kept, thrust=thrust, notes=(*samples.notes, note))


def spikes(values: Array, noise: float) -> np.ndarray:
    """Where a value is far from the cubic through its four neighbours, and farther than those are.

    >>> x = np.sin(np.linspace(0.0, 3.0, 50))
    >>> x[20] += 0.5
    >>> np.flatnonzero(spikes(x, 0.01)).tolist()
    [20]
    """
    if len(values) < 7:
        return np.zeros(len(values), dtype=bool)
    weights = np.array([-1.0, 4.0, 0.0, 4.0, -1.0]) / 6.0
    away = np.zeros(len(values))
    away[2:-2] = np.abs(values[2:-2] - np.convolve(values, weights, mode="valid"))
    # the residual of white noise is 1.39 times as large; of a smooth curve, its fourth derivative
    usual = max(1.4 * noise, 1.4826 * float(np.median(away)))
    peak = np.lib.stride_tricks.sliding_window_view(np.pad(away, 2), 5).max(axis=1)
    return (away > WILD * usual) & (away >= peak)
