"""Recordings taken sample by sample: as they are, and damaged on purpose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import golden_api as api
import numpy as np

RECURSIONS = tuple(method for method in api.LIVE_METHODS if method != "kalman")
KALMAN_DURATION = 9.0  # [s]: the filter begins after six, which are solved together
SHARES = (0.25, 0.5, 0.75, 0.9)  # of the samples, after which an estimate is kept
DAMAGED = ("planar-capture", "spatial-capture")
DAMAGED_DURATION = 20.0  # [s] the damaged recordings last: they need a run before the first trouble


def track(
    model: str, suite: str, method: str, *, duration: float, globs: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Estimates on the way and at the end, and that of a whole recording at once."""
    flight = api.flight_of(model, suite, seed=1, duration=duration)
    content = follow(api.Tracker(model, method, flight, globs=globs), [*api.samples_in(flight)])
    if method in RECURSIONS:  # others solve their first seconds in batch, which takes long
        content["at_once"] = api.Tracker(model, method, flight, globs=globs).run(flight)
    return content


def follow(
    tracker: api.Tracker, samples: list[tuple[float, Mapping[str, float]]]
) -> dict[str, Any]:
    """What a tracker says at a few instants, and at the end."""
    content: dict[str, Any] = {}
    kept = {int(share * len(samples)): f"after_{share:.0%}" for share in SHARES}
    for k, (time, values) in enumerate(samples):
        estimate = tracker.update({"time": time, **values})
        if k in kept:
            content[kept[k]] = tracker.content(estimate)
    content["end"] = tracker.finish()
    return content


def damaged_cases(case: Callable[..., Any]) -> Iterator[Any]:
    """Recordings with everything wrong that a recording can have, by every kind of filter."""
    for model in DAMAGED:
        for method in ("square-root", "kalman", "modified-rls"):
            for reorder in (0, 3):
                what = partial(_track_damaged, model, method, reorder)
                yield case(f"damaged/{model}/{method}/reorder-{reorder}", what)


def _track_damaged(model: str, method: str, reorder: int) -> dict[str, Any]:
    flight = api.flight_of(model, "own", seed=1, duration=DAMAGED_DURATION)
    tracker = api.Tracker(model, method, flight, reorder=reorder)
    return follow(tracker, damage([*api.samples_in(flight)]))


def damage(
    samples: list[tuple[float, Mapping[str, float]]],
) -> list[tuple[float, Mapping[str, float]]]:
    """Samples lost, not a number, far off, twice, out of order; a gap, a jump, a frozen channel.

    By count, not by chance: whatever draws random numbers may change its ways.
    """
    found: list[tuple[float, Mapping[str, float]]] = []
    frozen = samples[0][1].get("base.rate.z", 0.0)
    for k, (time, values) in enumerate(samples):
        changed = dict(values)
        name = sorted(changed)[k % len(changed)]
        if k % 11 == 3 or 120 <= k < 140:
            continue
        if k % 13 == 5:
            changed[name] = math.nan
        if k % 29 == 7:
            changed[name] += 50.0
        if k >= 180:
            changed["base.rate.z"] = frozen
        found += [(time + (500.0 if k >= 160 else 0.0), changed)] * (2 if k % 17 == 9 else 1)
    for k in range(8, len(found) - 1, 19):
        found[k], found[k + 1] = found[k + 1], found[k]
    return found


def swinging() -> api.Flight:
    """A base that swings at 0.23 Hz with a harmonic, under noise."""
    time = np.arange(0.0, 40.0, 0.02)
    decay = np.exp(-0.02 * time)
    swing = decay * np.sin(2 * np.pi * 0.23 * time)
    swing += 0.1 * decay**2 * np.sin(2 * np.pi * 0.46 * time)
    noise = np.random.default_rng(0).normal(scale=0.02, size=time.size)
    return api.Flight.from_arrays(
        time, {"base.rate.x": 0.1 * (swing + noise)}, noise={"base.rate.x": 2e-3}
    )
