"""Each sample predicted from its neighbours: what a smooth signal with its own noise allows.

A polynomial through the samples around one, itself left out, says what it should be. How wide and
of what degree is chosen by the channel itself: whatever predicts best. The deviation to expect has
two parts: noise, and motion that the polynomial does not follow, which grows with the reach of the
samples used as the next power of time does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freefloat.telemetry.channel import MAD, Array, Mask

Indices = NDArray[np.intp]

# theory: (half width [samples], degree): from motion that few samples follow to slow motion in much
# noise; odd degrees, since a symmetric window gets the next even power for nothing less
SHAPES = ((2, 3), (3, 3), (4, 3), (6, 3), (9, 3), (3, 5), (4, 5), (6, 5), (9, 5), (6, 7), (9, 7))
# theory: share of the information that a median absolute deviation takes from normal samples
MAD_EFFICIENCY = 0.37
FEWEST = 12  # theory: a cubic and twice as many samples that could contradict it
_MANY = 64  # theory: below, one way of calculating is as quick as the other
_EVEN = 1e-6  # theory: [steps]; what rounding makes of even instants
_LOCAL = 25  # theory: [samples] either side, whose median has a deviation of a fifth


class SignalSamples(NamedTuple):
    """A signal in the order of its file: instants [s], values, which count, and its sections.

    `section` is a number for each sample that changes where the clock is irregular: nothing is
    predicted across.
    """

    time: Array
    values: Array
    ok: Mask
    section: Indices


@dataclass(frozen=True)
class LocalPredictor:
    """How well the samples of a signal follow from their neighbours.

    `noise` is that of a single sample [unit]; `motion` what the polynomial misses in the middle of
    a whole window [unit]; `spread` how many times more of that there is about each sample.
    """

    half: int
    degree: int
    step: float  # [s]
    noise: float
    motion: float
    spread: Array
    n: int  # samples it was learned from
    is_noise_known: bool = False  # else noise has motion in it, and more of it at ends

    @property
    def whole_deviation(self) -> float:
        """The standard deviation of a sample less its prediction in a whole window [unit]."""
        return float(
            np.hypot(
                np.sqrt(_uniform(self.half, self.degree).noise_factor) * self.noise, self.motion
            )
        )

    @property
    def truncation(self) -> float:
        """What the polynomial makes of the next even power of time, in the middle of a window."""
        return _uniform(self.half, self.degree).missed

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the deviations, for Student's distribution."""
        return max(MAD_EFFICIENCY * self.n, 1.0)


def learn(
    samples: SignalSamples, *, stated: float | None, rounding: float
) -> LocalPredictor | None:
    """The best local polynomial of a signal and its deviations; None where nothing can be said.

    `stated` is the noise that is known of the channel, `rounding` that of its digits [unit].
    """
    n = int(np.count_nonzero(samples.ok))
    steps = np.diff(samples.time)
    if n < FEWEST or not np.any(steps > 0.0):
        return None
    step = float(np.median(steps[steps > 0.0]))
    tried = [(shape, _scale(samples, *shape)) for shape in SHAPES]
    found = [(shape, scale) for shape, scale in tried if np.isfinite(scale)]
    if not found:
        return None
    floor = max(rounding, 1e-13 * float(np.max(np.abs(samples.values[samples.ok]))))
    (half, degree), scale = min(found, key=lambda entry: entry[1])
    noise = min(s / np.sqrt(_uniform(*shape).noise_factor) for shape, s in found)
    noise = max(noise if stated is None else stated, floor)
    factor = _uniform(half, degree).noise_factor
    motion = float(np.sqrt(np.maximum(np.square(scale) - factor * np.square(noise), 0.0)))
    if not np.isfinite(motion):
        return None  # numbers whose squares no double holds
    model = LocalPredictor(
        half, degree, step, noise, motion, np.ones(len(samples.time)), n, stated is not None
    )
    return with_spread(model, samples)


def with_spread(model: LocalPredictor, samples: SignalSamples) -> LocalPredictor:
    """The predictor with the spread about each sample that those which count show."""
    model = replace(model, spread=np.ones(len(samples.time)))
    counted = np.flatnonzero(samples.ok)
    r, s = deviations(model, samples, counted)
    near = np.searchsorted(counted, np.arange(len(samples.time))).clip(0, len(counted) - 1)
    return replace(model, spread=_local_spread(r / s)[near])


def deviations(
    model: LocalPredictor, samples: SignalSamples, wanted: Indices, side: int = 0
) -> tuple[Array, Array]:
    """Sample less prediction, and the standard deviation to expect of it, for samples `wanted`.

    `side` -1 uses earlier samples only, +1 later ones only; NaN where too few are there. A sample
    is never used for its own prediction, whether it counts or not.
    """
    r, s = np.full(len(wanted), np.nan), np.full(len(wanted), np.nan)
    rest = np.arange(len(wanted))
    if side == 0 and len(wanted) > _MANY:
        is_whole, inside = _whole_windows(model, samples)
        rest = np.flatnonzero(~is_whole[wanted])
        r, s = inside[wanted], np.full(len(wanted), model.whole_deviation)
    for part in np.array_split(rest, len(rest) // 4096 + 1):
        if len(part):
            r[part], s[part] = _deviations(model, samples, wanted[part], side)
    return r, s * model.spread[wanted]


def _whole_windows(model: LocalPredictor, samples: SignalSamples) -> tuple[Mask, Array]:
    """Where a window is whole and its steps are even, and the deviations there."""
    n, half = len(samples.time), model.half
    is_whole, r = np.zeros(n, dtype=bool), np.full(n, np.nan)
    if n < 2 * half + 1:
        return is_whole, r
    is_odd = np.abs(np.diff(samples.time) - model.step) > _EVEN * model.step
    is_odd |= np.diff(samples.section) != 0
    odd = np.convolve(is_odd, np.ones(2 * half), "valid")
    bad = np.convolve(~samples.ok, np.ones(2 * half + 1), "valid")
    is_whole[half : n - half] = (odd < 0.5) & (bad < 0.5)
    filled = np.where(samples.ok, samples.values, 0.0)
    weights = _uniform(half, model.degree).weights
    r[half : n - half] = filled[half : n - half] - np.convolve(filled, weights[::-1], "valid")
    return is_whole, r


def _deviations(
    model: LocalPredictor, samples: SignalSamples, wanted: Indices, side: int
) -> tuple[Array, Array]:
    time, values, ok, section = samples
    width = 2 * model.half + 1
    if len(time) < width:
        return np.full(len(wanted), np.nan), np.full(len(wanted), np.nan)
    around = _windows(samples, wanted, width, side)
    is_used = ok[around] & (section[around] == section[wanted, None])
    is_used &= around != wanted[:, None]
    if side:
        is_used &= (around - wanted[:, None]) * side > 0
    u = (time[around] - time[wanted, None]) / (model.half * model.step)
    powers = np.where(is_used, u, 0.0)[..., None] ** np.arange(model.degree + 2)
    powers *= is_used[..., None]
    v = powers[..., :-1]
    normal = np.swapaxes(v, 1, 2) @ v
    enough = is_used.sum(axis=1) >= model.degree + 1
    normal[~enough] = np.eye(model.degree + 1)
    # a ridge far below any digit that counts, for instants that coincide
    ridge = 1e-12 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(model.degree + 1)
    first = np.zeros((len(wanted), model.degree + 1, 1))
    first[:, 0] = 1.0
    weights = (v @ np.linalg.solve(normal + ridge, first))[..., 0]
    r = values[wanted] - np.sum(weights * np.where(is_used, values[around], 0.0), axis=1)
    factor = 1.0 + np.sum(weights**2, axis=1)
    missed = (
        np.abs(np.sum(weights * powers[..., -1], axis=1))
        / _uniform(model.half, model.degree).missed
    )
    s = np.hypot(np.sqrt(factor) * model.noise, model.motion * np.maximum(missed, 1.0))
    return np.where(enough, r, np.nan), np.where(enough, s, np.nan)


def _windows(samples: SignalSamples, wanted: Indices, width: int, side: int) -> Indices:
    """The samples around each wanted one: within its section, or shifted to fit into it."""
    starts = np.flatnonzero(np.diff(samples.section, prepend=samples.section[0] - 1))
    ends = np.append(starts[1:], len(samples.section))
    which = np.searchsorted(starts, wanted, side="right") - 1
    begin = wanted - width // 2 if side == 0 else wanted + (1 if side > 0 else -width)
    begin = np.maximum(np.minimum(begin, ends[which] - width), starts[which])
    begin = np.clip(begin, 0, len(samples.time) - width)
    return begin[:, None] + np.arange(width)


class _Uniform(NamedTuple):
    """A polynomial in the middle of a whole window of even steps."""

    weights: Array
    noise_factor: float  # variance of a deviation over that of the noise
    missed: float  # what it makes of the next even power of time


@lru_cache(maxsize=64)
def _uniform(half: int, degree: int) -> _Uniform:
    u = np.arange(-half, half + 1) / half
    v = u[:, None] ** np.arange(degree + 1)
    v[half] = 0.0
    weights = v @ np.linalg.pinv(v.T @ v)[:, 0]
    missed = float(abs(np.sum(weights * u ** (degree + 1))))
    return _Uniform(weights, 1.0 + float(np.sum(weights**2)), missed)


def _scale(samples: SignalSamples, half: int, degree: int) -> float:
    """The robust deviation of predictions in whole windows; NaN where there are too few."""
    time, values, ok, section = samples
    width = 2 * half + 1
    if len(time) < width + FEWEST // 2:
        return np.nan
    filled = np.where(ok, values, 0.0)
    whole = np.convolve(~ok, np.ones(width), "valid") == 0
    whole &= section[: len(section) - 2 * half] == section[2 * half :]
    if np.count_nonzero(whole) < FEWEST // 2:
        return np.nan
    middle = filled[half : len(filled) - half]
    r = middle - np.convolve(filled, _uniform(half, degree).weights[::-1], "valid")
    return MAD * float(np.median(np.abs(r[whole])))


def _local_spread(z: Array) -> Array:
    """How much larger deviations are about each sample than on the whole, at least 1."""
    from scipy.ndimage import maximum_filter1d, median_filter

    size = np.where(np.isfinite(z), np.abs(z), 0.0)
    width = min(2 * _LOCAL + 1, len(size))
    middle = MAD * median_filter(size, size=width, mode="mirror")
    return np.maximum(maximum_filter1d(middle, width, mode="nearest"), 1.0)
