"""Values that repeat: the lattice of a digital sensor, stuck stretches, fill values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from freefloat.telemetry.channel import Array
from freefloat.telemetry.diagnosis import FAMILY_CHANCE
from freefloat.telemetry.local_prediction import Indices, LocalPredictor, SignalSamples, deviations

# theory: [steps of the lattice]; far above what decimal digits of a file leave of a double, and so
# small that samples of no lattice pass by a chance of (2e-3)^n
_ON_LATTICE = 1e-3
_MOSTLY = 0.9  # theory: of samples without a lattice 0.2 % are on it
_FEWEST_CELLS = 4  # theory: of fewer cells, no difference tells the step from a multiple
SHORTEST = 3  # theory: two equal samples happen in every digital signal that slows down


def lattice_step(values: Array) -> float:
    """The step [unit] of the lattice that the values lie on, but for a few; 0 without one.

    >>> lattice_step(np.round(np.sin(np.arange(50.0)) / 0.01) * 0.01).__round__(6)
    0.01
    """
    levels, counts = np.unique(values, return_counts=True)
    # What is no lattice value, such as an outlier, hardly happens twice.
    repeated = levels[counts > 1]
    levels = repeated if len(repeated) >= 2 * _FEWEST_CELLS else levels
    if len(levels) < _FEWEST_CELLS:
        return 0.0
    rounding = 1e-9 * float(np.max(np.abs(levels)))  # decimal files keep nine digits at least
    gaps = np.diff(levels)
    gaps = gaps[gaps > rounding]
    if len(gaps) < _FEWEST_CELLS - 1:
        return 0.0
    step = float(np.min(gaps))
    away = levels - levels[0]
    for _ in range(3):
        cells = np.rint(away / step)
        refined = float(np.sum(away * cells) / np.sum(cells**2))  # long distances give it best
        step = refined if abs(refined / step - 1.0) < 0.1 else step
    off = np.abs((values - levels[0]) / step - np.rint((values - levels[0]) / step))
    is_on = off < max(_ON_LATTICE, 2.0 * rounding / step)
    # so fine a lattice that everything lies on it would be that of a double's own digits
    return step if np.mean(is_on) > _MOSTLY and step > 10.0 * rounding else 0.0


class EqualRun(NamedTuple):
    """Equal values in a row: first and last sample, what it is, and how sure (a p-value)."""

    first: int
    last: int
    kind: Literal["stuck", "fill"]
    chance: float


def classify_run(
    model: LocalPredictor,
    samples: SignalSamples,
    run: tuple[int, int],
    *,
    chance_of: Callable[[float], float],
) -> EqualRun | None:
    """What a run of equal values is, by whether it joins what is before and after it.

    A stuck sensor keeps a value it had: the run joins what is before, and the signal has gone on
    when it ends. A fill value joins neither. A signal at rest joins both.

    Args:
        model: How well samples follow from their neighbours.
        samples: The signal.
        run: First and last of the equal samples.
        chance_of: From a deviation over its standard deviation to a p-value that is already
            multiplied by the number of tests.
    """
    first, last = run
    ok = samples.ok.copy()
    ok[first : last + 1] = False
    rest = samples._replace(ok=ok)
    after = _chance(model, rest, last, 1, chance_of)
    before = _chance(model, rest, first, -1, chance_of)
    if after > FAMILY_CHANCE:
        return None
    if before > FAMILY_CHANCE:
        return EqualRun(first, last, "stuck", after)
    return EqualRun(first, last, "fill", max(before, after))


def _chance(
    model: LocalPredictor,
    rest: SignalSamples,
    place: int,
    side: int,
    chance_of: Callable[[float], float],
) -> float:
    """The p-value of a sample by the samples on one side; 1 where these say nothing."""
    r, s = deviations(model, rest, np.array([place]), side)
    if not np.isfinite(r[0]) or not s[0] > 0.0:
        return 1.0
    return chance_of(abs(float(r[0] / s[0])))


def equal_chance(noise: float, step: float) -> float:
    """The chance that two samples of a signal at rest are equal, by its noise and its lattice.

    Rounded to a step q, normal noise s of at least half of it makes neighbours equal by
    q / (2 sqrt(pi) s); smaller noise leaves a signal at rest alone.

    >>> round(equal_chance(1.0, 1.0), 3), equal_chance(0.1, 1.0), equal_chance(1.0, 0.0)
    (0.282, 1.0, 0.0)
    """
    if noise <= 0.5 * step:
        return 1.0
    return step / (2.0 * math.sqrt(math.pi) * noise)


def equal_runs(values: Array, section: Indices) -> list[tuple[int, int]]:
    """First and last of every run of at least SHORTEST equal values within a section."""
    breaks = (values[1:] != values[:-1]) | (section[1:] != section[:-1])
    starts = np.concatenate([[0], np.flatnonzero(breaks) + 1])
    ends = np.append(starts[1:], len(values)) - 1
    keep = ends - starts + 1 >= SHORTEST
    return list(zip(starts[keep].tolist(), ends[keep].tolist(), strict=True))
