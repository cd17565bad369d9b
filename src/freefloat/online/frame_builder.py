"""Channels of different rates, brought to frames that have them all, without losing readings.

Frames are at the instants of the slowest channel. There every faster channel gives the parabola
through its readings around it, by least squares: ten readings of a gyro between two of a star
tracker then count as one with half the noise, and that is what the filter is told. An attitude of
another instant is moved there by the gyro; other slow channels by a polynomial through their
neighbours. Thrust that switches makes a kink in rates, so no fit reaches across one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi
from typing import Any, NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.online.filter_options import FrameOptions
from freefloat.online.live_channels import Channels
from freefloat.online.sample import is_number
from freefloat.telemetry.sample_rows import Sample

SOME = 3  # theory: readings that make a parabola


class SampleFrame(NamedTuple):
    """All channels at one instant, how much less noisy than a reading each is, and pushes before.

    pushes: samples with thrust and wrench told since the last frame, oldest first.
    """

    time: float
    values: dict[str, float]
    shares: dict[str, float]
    pushes: list[Sample]


@dataclass
class FrameBuilder:
    """Takes samples with any part of the channels; gives frames as soon as they are complete.

    >>> builder = FrameBuilder(("slow", "fast"), (), "slow", fast=("fast",), step=0.1)
    >>> for k in range(28):
    ...     part = {"fast": 0.1 * k} | ({"slow": 5.0} if k % 10 == 0 else {})
    ...     for frame in builder.push(Sample(0.01 * k, part)):
    ...         print(frame.time, round(frame.values["fast"], 6), round(frame.shares["fast"], 2))
    0.0 0.0 0.91
    0.1 1.0 0.47
    0.2 2.0 0.47
    """

    names: tuple[str, ...]
    pushes: tuple[str, ...]  # channels of thrust and wrench
    slowest: str  # the channel whose instants are those of the frames
    fast: tuple[str, ...] = ()  # channels that are faster than the slowest
    sigma: Mapping[str, float] = field(default_factory=dict)
    readings: dict[str, deque[tuple[float, float]]] = field(default_factory=dict)
    kinks: deque[float] = field(default_factory=lambda: deque(maxlen=FrameOptions().most_readings))
    pending: list[float] = field(default_factory=list)
    told: list[Sample] = field(default_factory=list)
    last_push: dict[str, Any] = field(default_factory=dict)
    step: float = 0.0  # [s] period of the slowest channel
    options: FrameOptions = field(default_factory=FrameOptions)
    has_taken: bool = False  # whether the last sample had anything new
    since: float = np.nan  # [s] the last frame, or the first sample after nothing came at all
    last: float = np.nan  # [s] the last sample

    @classmethod
    def of(
        cls, channels: Channels, rates: Mapping[str, float], options: FrameOptions
    ) -> FrameBuilder:
        """That of an estimator's channels, with their rates [Hz]."""
        lowest = min(rates[name] for name in channels.names if name in rates)
        # of equally slow ones, one that the gyro cannot move to another instant
        slow = [n for n in channels.names if rates.get(n, np.inf) < 1.05 * lowest]
        slowest = min(slow, key=lambda name: (_is_attitude(name), slow.index(name)))
        sigma = {n: float(np.max(channels.sigma[k])) for n, k in zip(
            channels.names, channels.sources, strict=True)}  # fmt: skip
        limit = options.faster * rates[slowest]
        fast = tuple(n for n in channels.names if rates.get(n, 0.0) > limit)
        pushes = (*channels.thrusters, *channels.wrench)
        step = 1.0 / rates[slowest]
        return cls(channels.names, pushes, slowest, fast, sigma, step=step, options=options)

    def clear(self) -> None:
        """Forget all readings: the clock jumped."""
        self.readings.clear()
        self.kinks.clear()
        self.pending, self.told = [], []
        self.since = self.last = np.nan

    def push(self, sample: Sample) -> list[SampleFrame]:
        """Take a sample; the frames that are complete now, oldest first."""
        time, values = sample.time, sample.values
        # written so that it holds for nan too; a pause of all channels is no fault of one
        if not time - self.last <= 0.5 * self.patience:
            self.since = time
        self.last = time if np.isnan(self.last) else max(self.last, time)
        self.has_taken = self._note_pushes(sample)
        has_attitude = all(is_number(values.get(n)) for n in self.names if _is_attitude(n))
        for name in self.names:
            value = values.get(name)
            if not is_number(value) or (_is_attitude(name) and not has_attitude):
                continue
            series = self.readings.setdefault(name, deque(maxlen=self.options.most_readings))
            if series and time <= series[-1][0]:
                continue  # late, or there twice
            series.append((time, float(value)))
            self.has_taken = True
            if name == self.slowest:
                self._note_period(time)
        return self.ready(time)

    def arrays(self) -> dict[str, Array]:
        """All readings, by name, for a state file."""
        found = {f"frames.{n}": np.array(series) for n, series in self.readings.items()}
        found["frames.times"] = np.array([self.since, self.last])
        found["frames.pending"] = np.array([self.step, *self.pending])
        found["frames.kinks"] = np.array(self.kinks)
        rows = [Sample(0.0, self.last_push), *self.told]
        found["frames.pushes"] = np.array(
            [[s.time, *(s.values.get(n, np.nan) for n in self.pushes)] for s in rows]
        )
        return found

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from `arrays`."""
        self.clear()
        for name in self.names:
            if (found := arrays.get(f"frames.{name}")) is not None:
                pairs = ((float(t), float(v)) for t, v in found)
                self.readings[name] = deque(pairs, maxlen=self.options.most_readings)
        self.step, *self.pending = arrays["frames.pending"].tolist()
        self.since, self.last = arrays["frames.times"].tolist()
        self.kinks.extend(arrays["frames.kinks"].tolist())
        told = [
            Sample(t, {n: v for n, v in zip(self.pushes, row, strict=True) if v == v})
            for t, *row in arrays["frames.pushes"].tolist()
        ]
        self.last_push, self.told = dict(told[0].values), told[1:]

    @property
    def patience(self) -> float:
        """How long to wait for a frame before its channels are missed [s]."""
        return max(self.options.missing_after, self.options.kept * self.step)

    def is_silent(self) -> bool:
        """Whether samples come, but for long no frame."""
        return self.last - self.since > self.patience

    def missing(self) -> list[str]:
        """Channels that have not come of late."""
        return [n for n in self.names if self._newest(n) < self.last - 0.5 * self.patience]

    def overdue(self) -> list[Sample]:
        """Pushes too old for any frame to come: without frames too, only so much is kept."""
        until = self.last - 2.0 * self.patience
        if not self.told or self.told[0].time >= until:
            return []
        found = [s for s in self.told if s.time < until]
        self.told = [s for s in self.told if s.time >= until]
        self._forget(until)
        return found

    def _note_pushes(self, sample: Sample) -> bool:
        values = sample.values
        found = {n: values[n] for n in self.pushes if is_number(values.get(n))}
        if not found:
            return False
        if any(self.last_push.get(n) != v for n, v in found.items()):
            self.kinks.append(sample.time)
            self.last_push |= found
        self.told.append(Sample(sample.time, found))
        return True

    def _note_period(self, time: float) -> None:
        series = self.readings[self.slowest]
        if len(series) > 1:
            h = time - series[-2][0]
            self.step += 0.1 * (min(h, 2.0 * self.step) - self.step)
        self.pending.append(time)

    def ready(self, now: float) -> list[SampleFrame]:
        """Frames that have all readings, or have waited long enough; now: the end of waiting."""
        found = []
        while self.pending:
            time, half = self.pending[0], min(0.5 * self.step, self.options.widest)
            is_late = now >= time + self.options.patience * self.step
            if not is_late and any(self._newest(n) < time for n in self.names):
                break
            if not is_late and any(self._newest(n) < time + half for n in self.fast):
                break
            self.pending.pop(0)
            frame = self._frame(time, half)
            if frame is not None:
                found.append(frame)
        return found

    def _newest(self, name: str) -> float:
        series = self.readings.get(name)
        return series[-1][0] if series else -np.inf

    def _frame(self, time: float, half: float) -> SampleFrame | None:
        before = max((k for k in self.kinks if k <= time), default=-np.inf)
        after = min((k for k in self.kinks if k > time), default=np.inf)
        low, high = time - half, min(time + half, after)
        values, shares, weights = {}, {}, {}
        for name in self.names:
            series = self.readings.get(name, deque())
            # a reading of the switch itself belongs to both sides: rates have a kink, and no jump
            inside = [r for r in series if before <= r[0] <= high and r[0] > low]
            degree = SOME - 1
            if len(inside) < SOME:
                inside = _nearest(series, time, 2.5 * self.step)
                degree = len(inside) - 1
            if degree and _is_attitude(name) and not self._move_attitude(time, values, shares):
                return None
            if name in values:
                continue
            if not inside:
                return None
            key = (degree, *(t - time for t, _ in inside))
            if key not in weights:
                weights[key] = fit_weights(np.array(key[1:]) / half, degree)
            values[name] = float(weights[key] @ _unwrap_angle(name, [v for _, v in inside]))
            shares[name] = float(np.linalg.norm(weights[key]))
        _normalise(values)
        pushes = [s for s in self.told if s.time <= time]
        self.told = [s for s in self.told if s.time > time]
        self._forget(time - self.options.kept * self.step)
        self.since = time
        return SampleFrame(time, values, shares, pushes)

    def _forget(self, time: float) -> None:
        """Drop what is older."""
        for series in self.readings.values():
            while len(series) > 1 and series[0][0] < time:
                series.popleft()
        while self.kinks and self.kinks[0] < time:
            self.kinks.popleft()

    def _move_attitude(
        self, time: float, values: dict[str, float], shares: dict[str, float]
    ) -> bool:
        """Move the nearest attitude to this instant with the gyro; False if there is none near."""
        names = [n for n in self.names if _is_attitude(n)]
        rates = [n for n in self.names if n.startswith("base.rate.")]
        series = self.readings.get(names[0], deque())
        if len(series) == 0 or any(n not in self.readings for n in rates):
            return False
        k = int(np.argmin([abs(t - time) for t, _ in series]))
        since = series[k][0]
        if abs(since - time) > self.step:
            return False
        turn, step = np.zeros(3), 0.0
        for name in rates:
            t, v = np.array(self.readings[name]).T
            between = t[(t > min(since, time)) & (t < max(since, time))]
            path = np.array([since, *(between if since < time else between[::-1]), time])
            turn["xyz".index(name[-1])] = np.trapezoid(np.interp(path, t, v), path)
            step = abs(time - since) / (len(path) - 1)
        found = np.array([self.readings[n][k][1] for n in names])
        moved = _rotate_attitude(found, turn)
        wander = abs(time - since) * step * self.sigma.get(rates[0], 0.0) ** 2
        share = float(np.sqrt(1.0 + wander / max(self.sigma.get(names[0], 1.0), 1e-12) ** 2))
        values.update(zip(names, moved.tolist(), strict=True))
        shares.update(dict.fromkeys(names, share))
        return True


def _is_attitude(name: str) -> bool:
    return name == "base.angle" or name.startswith("base.attitude.")


def _rotate_attitude(attitude: Array, turn: Array) -> Array:
    """An angle, or a quaternion, turned by a vector in root axes."""
    if len(attitude) == 1:
        return attitude + turn[2]
    return quaternion_product(attitude, quaternion_from_rotation_vector(turn))


def _nearest(
    series: deque[tuple[float, float]], time: float, far: float
) -> list[tuple[float, float]]:
    """The reading of this very instant, or two on each side (at least one) that are not far."""
    exact = [r for r in series if r[0] == time]
    if exact:
        return exact
    before = [r for r in series if time - far <= r[0] < time]
    after = [r for r in series if time < r[0] <= time + far]
    return [*before[-2:], *after[:2]] if before and after else []


def fit_weights(instants: Array, degree: int) -> Array:
    """Weights of readings whose sum is their least-squares polynomial at zero.

    >>> [abs(round(w, 6)) for w in fit_weights(np.array([-1.0, 0.0, 1.0]), 2).tolist()]
    [0.0, 1.0, 0.0]
    >>> round(float(np.linalg.norm(fit_weights(np.linspace(-1.0, 1.0, 11), 2))), 3)
    0.455
    """
    return np.linalg.pinv(np.vander(instants, degree + 1, increasing=True))[0]


def _unwrap_angle(name: str, values: list[float]) -> Array:
    """Angles without jumps of a turn."""
    found = np.array(values)
    return np.unwrap(found, period=2.0 * pi) if name == "base.angle" else found


def _normalise(values: dict[str, float]) -> None:
    names = [name for name in values if name.startswith("base.attitude.")]
    size = float(np.sqrt(sum(values[name] ** 2 for name in names)))
    for name in names:
        values[name] /= max(size, 1e-12)
