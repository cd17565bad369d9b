"""Samples that neither their neighbours nor an edge of the signal explain: lone ones and bursts.

Deviating samples are taken out, the worst first, until the rest is smooth; those the rest then
explains are put back. What an edge (a step or a kink, as thrust and contact make) explains at least
as well by the Bayesian information criterion is no outlier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from freefloat.telemetry.channel import Array, Mask
from freefloat.telemetry.local_prediction import (
    Indices,
    LocalPredictor,
    SignalSamples,
    deviations,
    with_spread,
)

# theory: with half of the samples bad nothing says which half
MOST_BAD = 0.5
# theory: half of the samples of a burst lie on one side and vouch for each other, and where half of
# the others do so too a quarter is taken out at first; lone samples are farther apart
DENSE = 0.25
LONE = 2  # theory: a third one in one window is no accident of two
_PULSE = 4.0  # theory: [steps]; longer pulses have a step that is seen as one on either side
_BREAKS = 3  # theory: parameters of an edge: its place, a step and a kink


class Cluster(NamedTuple):
    """Deviating samples near each other: their places, deviations [unit] and those over scatter."""

    places: Indices
    size: Array
    z: Array


def find_outliers(
    model: LocalPredictor, samples: SignalSamples, *, limit: float, edges: Array
) -> Iterator[Cluster]:
    """Yield deviating samples, near ones together.

    Args:
        model: How well samples follow from their neighbours.
        samples: The signal.
        limit: Deviations beyond so many of their standard deviations are no accident.
        edges: Instants [s] at which the signal is known to have a step or a kink. Pulses too short
            to tell from outliers are left alone.
    """
    ok = samples.ok.copy()
    everywhere = np.flatnonzero(ok)
    z = np.zeros(len(ok))
    z[everywhere] = _z(model, samples, everywhere)
    if not np.any(np.abs(z) > limit):
        return
    removed = _remove(model, samples, z, ok, limit)
    # a burst must not make room for itself
    model = with_spread(model, samples._replace(ok=ok))
    pulses = _short_pulses(edges, model)
    # the windows of samples so near each other overlap: a burst is not two edges
    for places in _clusters(removed, reach=2 * model.half):
        reach = 2.0 * model.step
        if _is_near(samples.time[places], pulses, reach=reach):
            continue
        is_burst = len(places) > max(LONE, DENSE * (places[-1] - places[0] + 1))
        if is_burst:
            places = _settle(model, samples, places, ok, limit)
        else:
            places = _put_back(model, samples, places, ok, limit)
        # Where an edge is known to be, an outlier has to be as sure as anywhere by comparison.
        is_known = len(places) and _is_near(samples.time[places], edges, reach=reach)
        if not len(places) or _is_edge(model, samples, places, limit**2 if is_known else 0.0):
            continue
        rest = samples._replace(ok=ok)
        size, deviation = _sizes(model, rest, places)
        z = size / deviation
        each = [slice(None)] if is_burst else [slice(k, k + 1) for k in range(len(places))]
        yield from (Cluster(places[k], size[k], z[k]) for k in each)


def _sizes(model: LocalPredictor, rest: SignalSamples, places: Indices) -> tuple[Array, Array]:
    """How far samples are off, and their scatter; amid a wide burst off a straight line."""
    size, deviation = deviations(model, rest, places)
    is_amid = ~np.isfinite(size)
    if is_amid.any() and rest.ok.any():
        line = np.interp(rest.time[places], rest.time[rest.ok], rest.values[rest.ok])
        size = np.where(is_amid, rest.values[places] - line, size)
        own = model.whole_deviation * model.spread[places]
        deviation = np.where(is_amid, own, deviation)
    return size, deviation


def _z(model: LocalPredictor, samples: SignalSamples, wanted: Indices) -> Array:
    r, s = deviations(model, samples, wanted)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = r / s
    is_judged = np.isfinite(z)
    if not model.is_noise_known:
        is_judged &= ~_is_beside_end(samples, model.half)[wanted]
    return np.where(is_judged, z, 0.0)


def _is_beside_end(samples: SignalSamples, half: int) -> Mask:
    """Samples whose window is not centred, as a section begins or ends within it."""
    borders = np.flatnonzero(np.diff(samples.section, prepend=-1, append=-1))
    place = np.arange(len(samples.time))
    after = np.searchsorted(borders, place, side="right")
    return (place - borders[after - 1] < half) | (borders[after] - place <= half)


def _remove(
    model: LocalPredictor, samples: SignalSamples, z: Array, ok: Mask, limit: float
) -> Indices:
    """Take out the worst sample of every stretch until the rest is smooth; `ok` is what is left."""
    from scipy.ndimage import maximum_filter1d

    at_first = ok.copy()
    most = int(MOST_BAD * np.count_nonzero(ok))
    reach = 2 * model.half + 1
    while np.count_nonzero(at_first & ~ok) < most:
        size = np.abs(z)
        worst = (size > limit) & (size == maximum_filter1d(size, reach, mode="constant"))
        if not worst.any():
            break
        ok &= ~worst
        z[worst] = 0.0
        near = np.flatnonzero((maximum_filter1d(worst.astype(int), 2 * reach + 1) > 0) & ok)
        z[near] = _z(model, samples._replace(ok=ok), near)
    return np.flatnonzero(at_first & ~ok)


def _clusters(places: Indices, *, reach: int) -> list[Indices]:
    breaks = np.flatnonzero(np.diff(places) > reach) + 1
    return [part for part in np.split(places, breaks) if len(part)]


def _put_back(
    model: LocalPredictor, samples: SignalSamples, places: Indices, ok: Mask, limit: float
) -> Indices:
    """The places that the samples left do not explain; the others count again."""
    while len(places):
        z = np.abs(_z(model, samples._replace(ok=ok), places))
        is_fine = z <= limit
        if not is_fine.any():
            break
        best = places[int(np.argmin(z))]
        ok[best] = True
        places = places[places != best]
    return places


def _settle(
    model: LocalPredictor, samples: SignalSamples, places: Indices, ok: Mask, limit: float
) -> Indices:
    """A burst from where it begins to where it ends, judged from outside.

    It becomes as wide as it must be, then as narrow as it may be; nothing within it is believed.
    """
    first, last = int(places[0]), int(places[-1])
    for wider in (True, False):
        for _ in range(len(ok)):
            ok[first : last + 1] = False
            outer = (first - 1, last + 1) if wider else (first, last)
            move = [_is_off(model, samples, k, ok, limit) is wider for k in outer]
            if first > last or not any(move):
                break
            ok[first : last + 1] = samples.ok[first : last + 1]
            step = 1 if wider else -1
            first, last = first - step * move[0], last + step * move[1]
    inside = np.arange(first, last + 1)
    inside = inside[samples.ok[inside]]
    ok[inside] = False
    return inside


def _is_off(
    model: LocalPredictor, samples: SignalSamples, place: int, ok: Mask, limit: float
) -> bool | None:
    """Whether a sample deviates from those that are ok; None where nothing can be said.

    Beside a wide hole the samples about it are too few, and those on one side have to do.
    """
    if not 0 <= place < len(ok) or not samples.ok[place]:
        return None
    if not model.is_noise_known and _is_beside_end(samples, model.half)[place]:
        return False
    for side in (0, -1, 1):
        r, s = deviations(model, samples._replace(ok=ok), np.array([place]), side)
        if np.isfinite(r[0]):
            return bool(abs(r[0]) > limit * s[0])
    return None


def _short_pulses(edges: Array, model: LocalPredictor) -> Array:
    """Edges with another one so near that a pulse may look like an outlier."""
    is_near = np.diff(edges) < _PULSE * model.step
    keep = np.zeros(len(edges), dtype=bool)
    keep[:-1] |= is_near
    keep[1:] |= is_near
    return edges[keep]


def _is_near(times: Array, edges: Array, *, reach: float) -> bool:
    if not len(edges):
        return False
    inside = (edges >= times.min() - reach) & (edges <= times.max() + reach)
    return bool(inside.any())


def _is_edge(model: LocalPredictor, samples: SignalSamples, places: Indices, margin: float) -> bool:
    """Whether a step and a kink explain the samples about some places as well as outliers do.

    `margin` is by how much more of squares the outliers have to explain.
    """
    first, last = int(places[0]), int(places[-1])
    # on one side alone, at an end, there must be enough to tell an edge from an outlier
    reach = max(2 * model.half, model.degree + 2 * (_BREAKS + 1))
    around = np.arange(max(first - reach, 0), min(last + reach + 1, len(samples.ok)))
    around = around[samples.ok[around] & (samples.section[around] == samples.section[first])]
    u = (samples.time[around] - samples.time[first]) / (2.0 * model.half * model.step)
    columns = u[:, None] ** np.arange(model.degree + 1)
    y = samples.values[around]
    is_left = ~np.isin(around, places)
    if is_left.sum() <= columns.shape[1] + _BREAKS:
        return True  # too little is left to call anything smooth
    scale = np.hypot(model.noise, model.motion) * float(np.median(model.spread[around]))
    penalty = np.log(len(around))
    as_outliers = _chi2(columns[is_left], y[is_left], scale) + len(places) * penalty + margin
    candidates = [k for k in range(1, len(around)) if first - 1 <= around[k] <= last + 2]
    for k in candidates:
        after = np.arange(len(around)) >= k
        edge = np.column_stack([columns, 1.0 * after, np.where(after, u - u[k], 0.0)])
        if _chi2(edge, y, scale) + _BREAKS * penalty <= as_outliers:
            return True
    return False


def _chi2(columns: Array, y: Array, scale: float) -> float:
    fitted = columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    return float(np.sum((y - fitted) ** 2)) / scale**2
