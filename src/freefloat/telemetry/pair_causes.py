"""Streams that contradict each other: by a delay, a gain, axes, a frame, a quaternion or a bias."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from freefloat.model.rotations import (
    conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.channel import Array, Channel, estimate_noise
from freefloat.telemetry.diagnosis import FAMILY_CHANCE, Finding
from freefloat.telemetry.known_sensors import KnownSensors, known_noise
from freefloat.telemetry.matrix_causes import matrix_findings
from freefloat.telemetry.names import XYZ, XYZW, ChannelName, attitude_groups
from freefloat.telemetry.rate_consistency import RATE_OF
from freefloat.telemetry.sample_causes import student_chance
from freefloat.telemetry.stream_pairs import Changes, PairFit, RateCurve, Track, fit_pair

Channels = Mapping[str, Channel]


@dataclass(frozen=True)
class Pair:
    """A stream of positions and one of its rates, by the names of their channels.

    `position` and `rate` name the streams; `variants` are other readings of the positions that a
    mistake would explain, by the code and words for it.
    """

    position: str
    rate: str
    positions: tuple[str, ...]
    rates: tuple[str, ...]
    changes: Changes
    curve: RateCurve
    variants: tuple[tuple[str, str, Changes], ...] = ()
    turns: Changes | None = None  # rotations as they are, of an attitude


@dataclass(frozen=True)
class Lag:
    """By how much one stream is later than another [s], beyond what the model knows."""

    late: str
    early: str
    seconds: float
    deviation: float
    freedom: float
    names: Mapping[str, tuple[str, ...]]  # channels of both streams
    start: float
    end: float


def pairs_of(channels: Channels, sensors: KnownSensors) -> Iterator[Pair]:
    """Every two streams that show the same motion."""
    names = tuple(channels)
    for group in attitude_groups(names):
        rate = ChannelName(ChannelName.parse(group).place, "rate")
        pair = _attitude_pair(channels, sensors, group, rate)
        if pair is not None and sensors.share_axes(group, rate.group):
            yield pair
    for name in names:
        parsed = ChannelName.parse(name)
        rates = {parsed.of(rate) for what, rate in RATE_OF.items() if parsed.is_scalar(what)}
        rates |= {f"{parsed.place}.rate.z"} if parsed.is_scalar("angle") else set()
        rates |= {parsed.of("speed")} if parsed.is_scalar("angle") else set()
        for rate in rates & set(names):
            pair = _pair(channels, sensors, (name,), (rate,))
            if pair is not None:
                yield pair
    for name in names:
        parsed = ChannelName.parse(name)
        if parsed.quantity != "position" or parsed.axis != "x":
            continue
        rate = ChannelName(parsed.place, "velocity")
        both = {a: {*parsed.along(a), *rate.along(a)} for a in XYZ}
        axes = [a for a in XYZ if both[a] <= channels.keys()]
        axes = [a for a in axes if all(channels[n].valid.any() for n in both[a])]
        pair = _pair(channels, sensors, parsed.along(axes), rate.along(axes)) if axes else None
        if pair is not None:
            yield pair


def track_of(channels: Channels, sensors: KnownSensors, names: Sequence[str]) -> Track | None:
    """The samples of a stream that are valid in all of its channels; None if there are too few."""
    columns = [channels[n].usable() for n in names]
    time = columns[0][0]
    for other, _ in columns[1:]:
        time = np.intersect1d(time, other, assume_unique=True)
    if len(time) < 4:
        return None
    values = np.column_stack([y[np.searchsorted(t, time)] for t, y in columns])
    if ChannelName.parse(names[0]).is_scalar("angle"):
        values = np.unwrap(values, axis=0)
    return Track(time, values, _noise(channels, sensors, names))


def _noise(channels: Channels, sensors: KnownSensors, names: Sequence[str]) -> float:
    stated = [known_noise(channels[n].noise, sensors, n) for n in names]
    known = [noise for noise in stated if noise is not None]
    if known:
        return float(np.sqrt(np.mean(np.square(known))))
    seen = [estimate_noise(channels[n]) for n in names]
    # a turn by a small angle moves a quaternion by half of it, in three of its four dimensions
    of_one = 2.0 * math.sqrt(4.0 / 3.0) if len(names) == len(XYZW) else 1.0
    return of_one * float(np.sqrt(np.mean(np.square(seen))))


def _pair(
    channels: Channels, sensors: KnownSensors, positions: tuple[str, ...], rates: tuple[str, ...]
) -> Pair | None:
    track, rate = (track_of(channels, sensors, names) for names in (positions, rates))
    if track is None or rate is None:
        return None
    changes = Changes.of(track.time, np.diff(track.values, axis=0), track.noise)
    place, other = (ChannelName.parse(names[0]).group for names in (positions, rates))
    if len(positions) == 1:
        place, other = positions[0], rates[0]
    return Pair(place, other, positions, rates, changes, RateCurve(rate))


def _attitude_pair(
    channels: Channels, sensors: KnownSensors, group: str, rate: ChannelName
) -> Pair | None:
    positions, rates = ChannelName.parse(group).along(XYZW), rate.along(XYZ)
    if not all(name in channels for name in rates):
        return None
    track, turning = (track_of(channels, sensors, names) for names in (positions, rates))
    if track is None or turning is None:
        return None
    q = continuous(unit(track.values))
    if not np.isfinite(q).all():
        return None
    curve = RateCurve(turning)
    variants = tuple(
        (code, words, Changes.of(track.time, change, track.noise))
        for code, words, change in _readings(q)
    )
    changes = Changes.of(track.time, _body_turns(q), track.noise)
    plain = _conical(changes, curve, np.eye(3))
    return Pair(group, rate.group, positions, rates, plain, curve, variants, changes)


def _readings(q: Array) -> Iterator[tuple[str, str, Array]]:
    """Rotations between attitudes if the rates or the quaternions are not what they should be."""
    order = np.roll(q, -1, axis=1)  # w first, taken for x first
    world = quaternion_product(q[1:], conjugate(q[:-1]))
    yield "recording.frame", "the rates are in world axes", rotation_vector_from_quaternion(world)
    code = "recording.quaternion"
    yield code, "the quaternions turn world axes into body axes", _body_turns(conjugate(q))
    yield code, "the quaternions have their scalar first", _body_turns(order)
    both = "the quaternions have their scalar first and turn world axes into body axes"
    yield code, both, _body_turns(conjugate(order))


def _body_turns(q: Array) -> Array:
    return rotation_vector_from_quaternion(quaternion_product(conjugate(q[:-1]), q[1:]))


def _conical(changes: Changes, curve: RateCurve, matrix: Array) -> Changes:
    """Rotation vectors less what turns about changing axes add to the integral of a rate.

    To second order it is half the integral of angle x rate, exact by two halves of an interval for
    rates that change linearly. `matrix` turns the readings into rates.
    """
    start, end = changes.start, changes.end
    middle = 0.5 * (start + end)
    inside = curve.covers(start, end)
    half = (curve.integral(middle) - curve.integral(start)) @ matrix.T
    rest = (curve.integral(end) - curve.integral(middle)) @ matrix.T
    cone = np.where(inside[:, None], 2.0 / 3.0 * np.cross(half, rest), 0.0)
    # second order is small; rates in a wrong unit would make it large
    is_small = np.linalg.norm(cone, axis=1) <= np.linalg.norm(changes.change, axis=1)
    return replace(changes, change=changes.change - cone * is_small[:, None])


def examine_pairs(
    channels: Channels, sensors: KnownSensors
) -> tuple[list[Finding], list[tuple[Pair, PairFit]]]:
    """What streams that contradict each other have wrong, delays left out, and all fits."""
    fits: list[tuple[Pair, PairFit]] = []
    for pair in pairs_of(channels, sensors):
        found = fit_pair(pair.changes, pair.curve)
        if found is not None:
            fits.append((pair, found))
    n_tests = sum(1 + fit.matrix.size + fit.bias.size for _, fit in fits)
    findings: list[Finding] = []
    kept: list[tuple[Pair, PairFit]] = []
    for pair, fit in fits:
        chance = partial(student_chance, freedom=fit.freedom, n_tests=max(n_tests, 1))
        z = _matrix_z(fit)
        if chance(float(np.max(np.abs(z)))) < FAMILY_CHANCE:
            other = _better_reading(pair, fit)
            if other is not None:
                findings.append(other)
                continue
            fit = _with_true_turns(pair, fit)
            findings += matrix_findings(pair.positions, pair.rates, fit, chance)
        kept.append((pair, fit))
        findings += _bias_finding(pair, fit, sensors, n_tests)
    return findings, kept


def _with_true_turns(pair: Pair, fit: PairFit) -> PairFit:
    """The fit once more, with readings of an attitude's rate corrected by the matrix found."""
    if pair.turns is None:
        return fit
    return fit_pair(_conical(pair.turns, pair.curve, fit.matrix), pair.curve) or fit


def _matrix_z(fit: PairFit) -> Array:
    off = fit.matrix - np.eye(len(fit.matrix))
    return np.divide(off, fit.matrix_deviation, out=np.zeros_like(off), where=fit.seen[None, :])


def _better_reading(pair: Pair, fit: PairFit) -> Finding | None:
    """Another reading of the quaternions or the frame that leaves less and needs no matrix."""
    best, best_misfit = None, fit.misfit
    for code, words, changes in pair.variants:
        other = fit_pair(changes, pair.curve)
        if other is None:
            continue
        # a reading is right if its matrix is close to one, and by far the likelier
        gain = 0.5 * other.n_rows * math.log(max(best_misfit, 1e-12) / max(other.misfit, 1e-12))
        is_plain = np.linalg.norm(other.matrix - np.eye(len(other.matrix)), 2) < 0.5
        if is_plain and gain > -math.log(FAMILY_CHANCE):
            best, best_misfit = (code, words, gain), other.misfit
    if best is None:
        return None
    code, words, gain = best
    names = pair.positions if code == "recording.quaternion" else pair.rates
    return Finding(
        code, names, fit.start, fit.end, math.nan, "", deviation=math.nan,
        chance=math.exp(-min(gain, 700.0)),
        text=f"{words}: attitude and rates agree if read so, and not otherwise",
        advice="convert the file; see the conventions in docs/formats.md",
    )  # fmt: skip


def _bias_finding(
    pair: Pair, fit: PairFit, sensors: KnownSensors, n_tests: int
) -> Iterator[Finding]:
    n = len(fit.bias)
    # change = matrix (rate - bias) dt: what is left over time is minus the matrix times the bias
    bias = -np.linalg.lstsq(fit.matrix, fit.bias, rcond=None)[0]
    extra = bias - sensors.bias(pair.rate, n)
    z = extra / fit.bias_deviation
    worst = int(np.argmax(np.abs(z)))
    chance = student_chance(float(z[worst]), freedom=fit.freedom, n_tests=max(n_tests, 1))
    if chance > FAMILY_CHANCE:
        return
    unit_ = "rad/s" if pair.curve.track.values.shape[1] == 3 and "rate" in pair.rate else ""
    shown = ", ".join(f"{value:.3g}" for value in extra)
    yield Finding(
        "recording.bias", pair.rates, fit.start, fit.end, float(extra[worst]), unit_,
        deviation=float(fit.bias_deviation[worst]), chance=chance,
        text=f"the rate has a bias of {shown} against {pair.position}",
        advice=f"estimate it: {', '.join(f'bias.{name}' for name in pair.rates)}",
    )  # fmt: skip


def lags_of(fits: Iterable[tuple[Pair, PairFit]], sensors: KnownSensors) -> list[Lag]:
    """Lags between streams beyond the delays that the model knows of, the late one first."""
    found = []
    for pair, fit in fits:
        if not fit.has_lag:
            continue
        known = sensors.delay(pair.rate) - sensors.delay(pair.position)
        lag = fit.lag - known
        names = {pair.position: pair.positions, pair.rate: pair.rates}
        late, early = (pair.rate, pair.position) if lag > 0.0 else (pair.position, pair.rate)
        found.append(
            Lag(late, early, abs(lag), fit.lag_deviation, fit.freedom, names, fit.start, fit.end)
        )
    return found
