"""Causes in the samples of one channel: fill, stuck, saturation, outliers, bursts, rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from freefloat.telemetry.channel import Array, Channel, Mask
from freefloat.telemetry.diagnosis import FAMILY_CHANCE, Finding
from freefloat.telemetry.fill_values import HELD, fill_finding
from freefloat.telemetry.local_prediction import (
    LocalPredictor,
    SignalSamples,
    deviations,
    learn,
)
from freefloat.telemetry.names import ChannelName
from freefloat.telemetry.outliers import LONE, Cluster, find_outliers
from freefloat.telemetry.quality_checks import QualityLimits, check_runs
from freefloat.telemetry.repeated_values import (
    classify_run,
    equal_chance,
    equal_runs,
    lattice_step,
)
from freefloat.text import count_noun

# What jumps, or whose slope jumps, when a thruster opens.
PUSHED = ("rate", "velocity", "acceleration", "angular_acceleration", "torque", "speed")
_MASKED = "masked"
_PRESENT = 0.3  # theory: noise found to be less than a third of what is stated is not there
_RUNS = QualityLimits(stuck_chance=FAMILY_CHANCE)


@dataclass(frozen=True)
class Examined:
    """One channel after its samples were looked at: what counts, its model, and the findings."""

    samples: SignalSamples
    model: LocalPredictor | None
    noise: float | None  # [unit], if another than stated is right
    findings: tuple[Finding, ...]


def student_chance(z: float, *, freedom: float, n_tests: int) -> float:
    """The chance of a deviation of so many standard deviations in one of `n_tests` tests."""
    from scipy.special import stdtr

    return float(min(1.0, 2.0 * n_tests * stdtr(freedom, -abs(z))))


def _limit(freedom: float, n_tests: int) -> float:
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, 0.5 * FAMILY_CHANCE / n_tests))


def examine_samples(
    channel: Channel,
    samples: SignalSamples,
    *,
    n_tests: int,
    edges: Array,
    saturation: float | None = None,
    stated: float | None = None,
) -> Examined:
    """Look at the samples of a channel.

    Args:
        channel: The channel.
        samples: Its samples, angles made continuous, with the sections of its clock.
        n_tests: SignalSamples of the whole recording.
        edges: Instants [s] at which thrusters switch.
        saturation: What the sensor cannot exceed [unit], if known.
        stated: The noise of a sample [unit], if known.

    Returns:
        The samples with those masked that do not count, and what was found.
    """
    named = ChannelName.parse(channel.name)
    if named.quantity in HELD or not samples.ok.any():
        return Examined(samples, None, None, ())
    findings: list[Finding] = []
    step = lattice_step(samples.values[samples.ok])
    noise, rounded = _rounding(channel, samples, step)
    findings += rounded
    model = learn(samples, stated=stated, rounding=step / math.sqrt(12.0))
    if model is None:
        return Examined(samples, None, noise, tuple(findings))
    samples, found = _mask_extremes(channel, samples, model, saturation, stated, step)
    findings += found
    if found:
        model = learn(samples, stated=stated, rounding=step / math.sqrt(12.0)) or model
    edges = edges if named.quantity in PUSHED else np.zeros(0)
    look = partial(find_outliers, model, limit=_limit(model.freedom, n_tests), edges=edges)
    if _has_runs(samples):
        # Runs are judged by sound neighbours, outliers by what is neither stuck nor filled.
        sound = _without(samples, look(samples))
        samples, found = _mask_runs(channel, samples, sound.ok, model, n_tests, stated, step)
        findings += found
    clusters = list(look(samples))
    samples = _without(samples, clusters)
    chance = partial(student_chance, freedom=model.freedom, n_tests=n_tests)
    findings += _outlier_findings(channel, samples, clusters, chance)
    return Examined(samples, model, noise, tuple(findings))


def _without(samples: SignalSamples, clusters: Iterable[Cluster]) -> SignalSamples:
    ok = samples.ok.copy()
    for cluster in clusters:
        ok[cluster.places] = False
    return samples._replace(ok=ok)


def _has_runs(samples: SignalSamples) -> bool:
    values, section = samples.values[samples.ok], samples.section[samples.ok]
    return bool(equal_runs(values, section))


def _rounding(
    channel: Channel, samples: SignalSamples, step: float
) -> tuple[float | None, list[Finding]]:
    """The noise of a digital channel where another is stated, and that it is digital."""
    if not step or ChannelName.parse(channel.name).quantity == "attitude":
        return None, []
    rounding = step / math.sqrt(12.0)
    stated = channel.noise
    if stated is not None and stated >= rounding * (1.0 - 1e-6):
        return None, []  # it counts the rounding already, or is far above it
    noise = math.hypot(stated or 0.0, rounding)
    if stated is None:
        model = learn(samples, stated=None, rounding=0.0)
        seen = model.noise if model else 0.0
        if seen > 2.0 * step:
            return None, []  # the digits of a file are finer than its noise
        noise = max(noise, seen)
    start, end = _span(samples.time)
    told = "none is stated" if stated is None else f"{stated:.3g} {channel.unit} is stated"
    finding = Finding(
        "recording.quantised",
        (channel.name,),
        start, end, step, channel.unit,
        deviation=0.0,
        chance=0.0,
        text=f"digital, in steps of {step:.4g} {channel.unit}, and {told}",
        done=f"noise set to {noise:.3g} {channel.unit}",
        is_fault=False,
    )  # fmt: skip
    return noise, [finding]


def _mask_extremes(
    channel: Channel,
    samples: SignalSamples,
    model: LocalPredictor,
    saturation: float | None,
    stated: float | None,
    step: float,
) -> tuple[SignalSamples, list[Finding]]:
    """Mask samples at a limit of the sensor; values that no neighbour is near are fill values."""
    values = np.where(samples.ok, samples.values, 0.0)
    if saturation is not None:
        is_at = samples.ok & (np.abs(values) >= saturation * (1.0 - 1e-9))
        levels = np.unique(values[is_at]).tolist()
    else:
        levels = _extreme_levels(samples, stated, step)
    findings, ok = [], samples.ok.copy()
    for level in levels:
        is_at = samples.ok & (values == level)
        rest = samples._replace(ok=samples.ok & ~is_at)
        r, s = deviations(model, rest, np.flatnonzero(is_at))
        # A sensor that saturates reads less than there is, a fill value has nothing to do with it.
        outward = r / s if level == np.max(samples.values[samples.ok]) else -r / s
        outward = outward[np.isfinite(outward)]
        limit, is_fill = _limit(model.freedom, ok.size), False
        if saturation is None and len(outward):
            is_fill = bool(np.median(outward) > limit)
            is_rest = equal_chance(model.noise, step) == 1.0 and np.min(outward) > -limit
            if is_rest and not is_fill:
                continue  # a digital signal that turns there
        ok &= ~is_at
        findings.append(
            fill_finding(channel, samples.time[is_at], float(level))
            if is_fill
            else _saturation_finding(channel, samples, is_at, float(level), saturation is not None)
        )
    return samples._replace(ok=ok), findings


def _extreme_levels(samples: SignalSamples, stated: float | None, step: float) -> list[float]:
    """The largest and the smallest value, where it repeats more than noise would let it."""
    time, values = samples.time[samples.ok], samples.values[samples.ok]
    levels = set(check_runs(time, values, _RUNS, noise=stated).saturated_at)
    for level in (float(values.min()), float(values.max())):
        is_at = values == level
        count = int(is_at.sum())
        if stated is None or count < _RUNS.fewest_saturated or is_at.all():
            continue
        # noise that is only stated, and not there, lets a signal rest where it likes
        others = samples._replace(ok=samples.ok & (samples.values != level))
        seen = learn(others, stated=None, rounding=0.0)
        is_noisy = seen is not None and seen.noise > _PRESENT * stated
        longest = max((b - a for a, b in equal_runs(values, 0 * is_at) if is_at[a]), default=0)
        chance = len(values) * equal_chance(stated, step) ** longest
        if is_noisy and longest and chance < FAMILY_CHANCE:
            levels.add(level)
    return sorted(levels)


def _saturation_finding(
    channel: Channel, samples: SignalSamples, is_at: Mask, level: float, is_known: bool
) -> Finding:
    start, end = _span(samples.time[is_at])
    return Finding(
        "recording.saturated", (channel.name,), start, end, level, channel.unit,
        deviation=0.0, chance=0.0 if is_known else FAMILY_CHANCE,
        text=f"saturated at {level:.6g} {channel.unit} in"
        f" {count_noun(int(is_at.sum()), 'sample')}",
        done=_MASKED, advice="choose a wider range of the sensor, or a slower motion",
    )  # fmt: skip


def _mask_runs(
    channel: Channel,
    samples: SignalSamples,
    sound: Mask,
    model: LocalPredictor,
    n_tests: int,
    stated: float | None,
    step: float,
) -> tuple[SignalSamples, list[Finding]]:
    """Mask fill values and stuck stretches, judged by the `sound` samples about them."""
    places = np.flatnonzero(samples.ok)
    time, values = samples.time[places], samples.values[places]
    steps = np.abs(np.diff(values))
    quantum = float(np.min(steps[steps > 0.0], initial=np.inf))
    chance_of = partial(student_chance, freedom=model.freedom, n_tests=n_tests)
    by_noise = equal_chance(model.noise, step)
    around = samples._replace(ok=sound)
    improbable = {
        (int(np.searchsorted(time, span.start)), span.n_samples)
        for span in check_runs(time, values, _RUNS, noise=stated).stuck
    }
    findings, ok = [], samples.ok.copy()
    for first, last in equal_runs(values, samples.section[places]):
        leaves = last + 1 < len(values) and abs(values[last + 1] - values[last]) > 1.5 * quantum
        run, kind, chance = (int(places[first]), int(places[last])), "", 1.0
        found = classify_run(model, around, run, chance_of=chance_of) if leaves else None
        equal = min(1.0, n_tests * by_noise ** (last - first))
        if found is not None:
            kind, chance = found.kind, found.chance
        elif (first, last - first + 1) in improbable and equal < FAMILY_CHANCE:
            kind, chance = "stuck", max(equal, 1e-300)
        if kind == "stuck":
            run = _whole_run(samples, run)
        if kind and ok[run[1]]:
            begin = run[0] + (kind == "stuck")  # the first of equal values was measured
            ok[begin : run[1] + 1] = False
            findings.append(_run_finding(channel, samples, (begin, run[1]), kind, chance))
    return samples._replace(ok=ok), findings


def _whole_run(samples: SignalSamples, run: tuple[int, int]) -> tuple[int, int]:
    """A stuck run with what has the same value next to it: setting a clock frees no sensor."""
    same = samples.ok & (samples.values == samples.values[run[0]])
    before, after = np.flatnonzero(~same[: run[0]]), np.flatnonzero(~same[run[1] :])
    first = int(before[-1]) + 1 if len(before) else 0
    return first, run[1] + int(after[0]) - 1 if len(after) else len(same) - 1


def _run_finding(
    channel: Channel, samples: SignalSamples, run: tuple[int, int], kind: str, chance: float
) -> Finding:
    start, end = float(samples.time[run[0]]), float(samples.time[run[1]])
    value, number = float(samples.values[run[1]]), count_noun(run[1] - run[0] + 1, "sample")
    if kind == "stuck":
        text = f"stuck at {value:.6g} {channel.unit} in {number}"
        return Finding(
            "recording.stuck", (channel.name,), start, end, end - start, "s",
            deviation=_step(samples.time) / math.sqrt(6.0), chance=chance, text=text, done=_MASKED,
        )  # fmt: skip
    instants = samples.time[run[0] : run[1] + 1]
    return fill_finding(channel, instants, value, chance=chance)


def _outlier_findings(
    channel: Channel,
    samples: SignalSamples,
    clusters: Iterable[Cluster],
    chance: Callable[[float], float],
) -> Iterator[Finding]:
    lone: list[tuple[int, float, float]] = []
    for cluster in clusters:
        if len(cluster.places) > LONE:
            yield _burst(channel, samples, cluster, chance)
        else:
            lone += zip(*(a.tolist() for a in cluster), strict=True)
    by_value: dict[float, list[int]] = {}
    for place, _, _ in lone:
        by_value.setdefault(float(samples.values[place]), []).append(place)
    for value, places in by_value.items():
        if len(places) > LONE:
            lone = [entry for entry in lone if entry[0] not in places]
            yield fill_finding(channel, samples.time[places], value)
    if lone:
        yield _lone_finding(channel, samples, lone, chance)


def _burst(
    channel: Channel, samples: SignalSamples, part: Cluster, chance: Callable[[float], float]
) -> Finding:
    start, end = _span(samples.time[part.places])
    worst = int(np.nanargmax(np.abs(part.z))) if np.isfinite(part.z).any() else 0
    known = part.size[np.isfinite(part.size)]  # numbers near the largest have no squares
    size = float(np.sqrt(np.mean(known**2))) if len(known) else math.inf
    number = count_noun(len(part.places), "sample")
    text = f"{number} in a row are off by {size:.3g} {channel.unit} (root mean square)"
    return Finding(
        "recording.burst", (channel.name,), start, end, size, channel.unit,
        deviation=size / math.sqrt(2.0 * len(part.places)),
        chance=chance(float(part.z[worst])), text=text, done=_MASKED,
    )  # fmt: skip


def _lone_finding(
    channel: Channel,
    samples: SignalSamples,
    lone: list[tuple[int, float, float]],
    chance: Callable[[float], float],
) -> Finding:
    instants = np.sort(samples.time[[place for place, _, _ in lone]])
    _, size, worst = max(lone, key=lambda entry: abs(entry[1]))
    least = min((z for _, _, z in lone), key=abs)
    deviation = abs(size / worst) if worst else math.nan
    return _outliers(
        channel.name, instants.tolist(), (size, deviation), channel.unit, chance(least)
    )


def _outliers(
    name: str, instants: list[float], size: tuple[float, float], unit: str, chance: float
) -> Finding:
    number = count_noun(len(instants), "outlier")
    ratio = f"{abs(size[0] / size[1]):.0f} times its deviation" if size[1] else ""
    return Finding(
        "recording.outliers", (name,), min(instants), max(instants), size[0], unit,
        deviation=size[1], chance=chance,
        text=f"{number}, the largest by {size[0]:.3g} {unit}, {ratio}",
        done=_MASKED, instants=tuple(instants),
    )  # fmt: skip


def merge_outliers(one: Finding, other: Finding) -> Finding:
    """One finding for the lone samples of a channel that two looks at it have found."""
    larger = max((one, other), key=lambda finding: abs(finding.size))
    return _outliers(
        one.channels[0], sorted((*one.instants, *other.instants)),
        (larger.size, larger.deviation), one.unit, max(one.chance, other.chance),
    )  # fmt: skip


def _span(time: Array) -> tuple[float, float]:
    return float(np.min(time)), float(np.max(time))


def _step(time: Array) -> float:
    return float(np.median(np.abs(np.diff(time)))) if len(time) > 1 else math.nan
