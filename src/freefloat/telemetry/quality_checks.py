"""What can be wrong with the samples of one channel, found without knowing the robot.

Every check is made so that clean recordings pass: noise-free simulations, commands that rest at
a value, coarse encoders, thrusters that are on or off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.errors import TelemetryError
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Positive, Share
from freefloat.telemetry.channel import MAD, Array

Indices = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class QualityLimits(CheckedOptions, error=TelemetryError):
    """The thresholds of the quality report; the defaults let sound recordings pass.

    Attributes:
        invalid_share: Share of samples missing or invalid [1] beyond which they are a fault.
        gap: A longer gap [sampling steps] is a fault, a shorter one a note.
        quaternion_norm: By how much a quaternion may differ from norm one [1].
        spike: How far above or below both neighbours [standard deviations of the noise] a single
            sample is an outlier. White noise does not get to 10 in a recording.
        spike_window: Samples before, and after, a suspected spike to judge the noise by.
        stuck_chance: Chance, in a whole recording, at which a run of equal values is no accident.
        shortest_stuck: Fewest equal samples of a stuck sensor.
        fewest_saturated: Fewest samples at the same extreme value of a saturated sensor.
        repeated_share: Share of samples equal to the one before [1] above which a signal with
            noise stated counts as slow. White noise of half a digital step repeats 56 %.
        rate_ratio: Least and largest ratio of a position's derivative to its rate [1] that gains,
            delays and noise may make.
        rate_correlation: Correlation [1] of the two above which they are compared: at 0.97 noise
            changes the ratio by 6 % at most.
        rate_stretches: Number of stretches of a recording over which the two are compared.
        fewest_stretches: With fewer there is no comparison.
        factor_tolerance: How near [1] a ratio must be to a known factor (180/pi, 1000, -1) to be
            explained by it.

    >>> QualityLimits(gap=50.0).gap
    50.0
    """

    invalid_share: Share = 0.01
    gap: Positive = 10.0
    quaternion_norm: Positive = 1e-3
    spike: Positive = 10.0
    spike_window: Count = 25
    stuck_chance: Share = 1e-6
    shortest_stuck: Count = 10
    fewest_saturated: Count = 5
    repeated_share: Share = 0.7
    rate_ratio: tuple[Positive, Positive] = (0.8, 1.25)
    rate_correlation: Share = 0.97
    rate_stretches: Count = 40
    fewest_stretches: Count = 8
    factor_tolerance: Positive = 0.06


@dataclass(frozen=True)
class QualityFinding:
    """One thing to know about a recording; a fault, unless it does no harm.

    `code` stays when the sentence changes: `samples.none`, `samples.invalid`, `clock.backward`,
    `clock.repeated`, `clock.gaps`, `sensor.fill_value`, `sensor.stuck`, `sensor.saturated`,
    `sensor.spikes`, `attitude.norm`, `attitude.sign_flips`, and `rate.degrees`, `rate.millimetres`,
    `rate.milliseconds`, `rate.microseconds`, `rate.nanoseconds`, `rate.sign` or `rate.gain` where
    a rate contradicts its position.
    """

    code: str
    place: str
    text: str
    is_fault: bool

    def __str__(self) -> str:
        return f"{'fault' if self.is_fault else 'note'}: {self.place}: {self.text}"


@dataclass(frozen=True)
class Span:
    """A stretch of time: where it starts [s], how long it lasts [s], and its samples, if any."""

    start: float
    duration: float
    n_samples: int = 0


@dataclass(frozen=True)
class ClockQuality:
    """How regular the instants of a channel are."""

    step: float  # median [s]
    jitter: float  # standard deviation of the steps that are no gaps [s]
    gaps: tuple[Span, ...]
    n_missing: int  # samples that would fill the gaps
    n_backward: int
    n_repeated: int


def check_clock(time: Array) -> ClockQuality:
    """Return how regular instants are: step, jitter, gaps, steps backward and repeated instants.

    >>> check_clock(np.array([0.0, 1.0, 2.0, 5.0])).gaps
    (Span(start=2.0, duration=3.0, n_samples=0),)
    """
    steps = np.diff(time)
    forward = steps[steps > 0.0]
    if not forward.size:
        return ClockQuality(
            math.nan, math.nan, (), 0, int(np.sum(steps < 0)), int(np.sum(steps == 0))
        )
    step = float(np.median(forward))
    scatter = MAD * float(np.median(np.abs(forward - step)))
    # A step half as long again has lost a sample, unless the clock scatters that much.
    longest_regular = step + max(0.5 * step, 6.0 * scatter)
    is_gap = steps > longest_regular
    gaps = tuple(Span(float(time[n]), float(steps[n])) for n in np.flatnonzero(is_gap).tolist())
    return ClockQuality(
        step=step,
        jitter=float(np.std(forward[forward <= longest_regular])),
        gaps=gaps,
        n_missing=int(np.sum(np.rint(steps[is_gap] / step) - 1.0)),
        n_backward=int(np.count_nonzero(steps < 0.0)),
        n_repeated=int(np.count_nonzero(steps == 0.0)),
    )


@dataclass(frozen=True)
class Runs:
    """Runs of exactly equal values that noise would not have left alone."""

    stuck: tuple[Span, ...]
    n_saturated: int
    saturated_at: tuple[float, ...]


def check_runs(time: Array, values: Array, limits: QualityLimits, *, noise: float | None) -> Runs:
    """Return where the values do not change although noise should change them.

    Such a run at the largest or smallest value of all is saturation, elsewhere a stuck sensor.
    The noise is the one stated, if it exceeds half the step of a quantised signal, for else a
    signal at rest is constant by right, and if values mostly change, for slow noise leaves them
    alone; or the noise seen, if it exceeds twice that step, for quantised motion alone can look
    like noise up to there.
    """
    starts, lengths = _equal_runs(values)
    quantum = np.min(np.abs(np.diff(values)), where=np.diff(values) != 0.0, initial=np.inf)
    if noise:
        is_noisy = noise > 0.5 * quantum and _share_of_repeats(lengths) < limits.repeated_share
    else:
        is_noisy = _visible_noise(values) > 2.0 * quantum
    if starts.size < 3 or not is_noisy:
        return Runs((), 0, ())
    is_extreme = (values[starts] == values.max()) | (values[starts] == values.min())
    shortest = _improbable_length(lengths[~is_extreme], limits.stuck_chance)
    # Where equal neighbours never happen by chance, a few equal extremes need not be neighbours.
    clipped = is_extreme & (lengths >= (1 if shortest <= 3 else shortest))
    stuck = ~is_extreme & (lengths >= max(shortest, limits.shortest_stuck))
    saturated_at = tuple(
        float(value)
        for value in np.unique(values[starts[clipped]])
        if lengths[clipped & (values[starts] == value)].sum() >= limits.fewest_saturated
    )
    at_limit = clipped & np.isin(values[starts], saturated_at)
    spans = tuple(
        Span(float(time[s]), float(time[s + n - 1] - time[s]), n)
        for s, n in zip(starts[stuck].tolist(), lengths[stuck].tolist(), strict=True)
    )
    return Runs(spans, int(lengths[at_limit].sum()), saturated_at)


def _equal_runs(values: Array) -> tuple[Indices, Indices]:
    """Start and length of every run of equal values."""
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    return starts, np.diff(np.append(starts, values.size))


def _visible_noise(values: Array) -> float:
    """The white noise seen in third differences, zero when these look like a smooth signal."""
    third = np.diff(values, 3)
    third = third[third != 0.0]  # where the values do change
    if third.size < 20:
        return 0.0
    sigma = MAD * float(np.median(np.abs(third))) / math.sqrt(20.0)  # 1 + 9 + 9 + 1
    # Third differences of white noise change sign 77 % of the time, those of a curve seldom.
    alternating = np.mean(third[1:] * third[:-1] < 0.0)
    is_rounding = sigma < 1e-12 * float(np.max(np.abs(values)))
    return sigma if alternating > 0.6 and not is_rounding else 0.0


def _improbable_length(lengths: Indices, chance: float) -> int:
    """The length of a run that chance does not explain, from how often neighbours are equal."""
    n, share = int(lengths.sum()), min(max(_share_of_repeats(lengths), 1e-9), 0.999)
    return math.ceil(1.0 + math.log(chance / max(n, 1)) / math.log(share))


def _share_of_repeats(lengths: Indices) -> float:
    """How often a value equals the one before it, the longest run left out."""
    others = int(lengths.sum()) - int(lengths.max(initial=0))
    return (others - (lengths.size - 1)) / max(others, 1)


def find_spikes(time: Array, values: Array, limits: QualityLimits, *, step: float) -> Array:
    """Return the instants [s] of single samples far above or far below both their neighbours."""
    if values.size < 20:
        return np.empty(0)
    change = np.diff(values)
    nonzero = np.abs(change[change != 0.0])
    if not nonzero.size:
        return np.empty(0)
    before, after = change[:-1], change[1:]
    smaller, larger = np.sort([np.abs(before), np.abs(after)], axis=0)
    is_alone = (before * after < 0.0) & (smaller > 0.3 * larger)  # not a neighbour of a spike
    rounding = 1e-12 * float(np.max(np.abs(values)))
    # the local noise is that of the whole recording or more: mostly there is nothing to look at
    least = limits.spike * MAD / math.sqrt(6.0) * float(np.median(np.abs(after - before)))
    if not np.any(is_alone & (smaller > least)):
        return np.empty(0)
    local = _local_noise(after - before, limits.spike_window)
    threshold = np.maximum(limits.spike * local, 4.0 * nonzero.min() + rounding)
    has_neighbours = np.maximum(np.diff(time)[:-1], np.diff(time)[1:]) <= 1.5 * step
    return time[1:-1][is_alone & (smaller > threshold) & has_neighbours]


def _local_noise(second: Array, window: int) -> Array:
    """The standard deviation of white noise with such second differences, sample by sample.

    It is the largest of that before, that after, and that of the whole recording: a calm stretch
    is judged by the whole, the first sample of a lively one by what follows it.
    """
    from scipy.ndimage import median_filter

    size = np.abs(second)
    middle = median_filter(size, size=min(window, size.size), mode="nearest")
    shift = min(window // 2 + 1, size.size - 1)
    earlier = np.concatenate([np.full(shift, middle[0]), middle[:-shift]])
    later = np.concatenate([middle[shift:], np.full(shift, middle[-1])])
    # sqrt(6): by so much the second differences of white noise are larger than the noise.
    return MAD / math.sqrt(6.0) * np.maximum(np.maximum(earlier, later), np.median(size))
