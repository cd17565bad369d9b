"""Recorded inputs with fresh noise: what else encoders, thrust and torque sensors might have read.

The smoothed motion is taken for true, given fresh noise and smoothed again. The difference has what
noise does to the motion and what smoothing takes off it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.prediction.inputs import (
    InputSource,
    Tabulate,
    driving_torques,
    recorded_efforts,
    thrust_and_wrench,
)
from freefloat.prediction.joint_motion import bridging_rates, smooth_channel, smooth_motion
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.penalised_spline import smooth_alike
from freefloat.telemetry.rate_samples import RateSamples
from freefloat.telemetry.spline_basis import SplineBasis
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import open_levels

# place among the prescribed coordinates, basis, change of coefficients (splines, n), span [s], and
# whether the curve is a rate (of a wheel) rather than a position
_Change = tuple[int, SplineBasis, Array, tuple[float, float], bool]
_Forces = dict[str, Callable[[Array, str], Array]]  # tables of inputs by their name


def fresh_inputs(
    source: InputSource, telemetry: Telemetry, n: int, *, seed: int, is_alike: bool = True
) -> list[InputSource]:
    """n sources with fresh noise in what was recorded; none where nothing has noise.

    Args:
        source: Of the same recording.
        telemetry: The recording.
        n: How many.
        seed: Of the noise.
        is_alike: Whether motion is smoothed as much as before, all draws at once; else each draw
            decides anew, as another recording would, which takes longer.
    """
    rng = np.random.default_rng([seed, 0x1E])
    changes = list(_motion_changes(source, telemetry, n, rng, is_alike=is_alike))
    forces = [*_fresh_forces(source, telemetry, n, rng)]
    if not changes and not forces:
        return []
    tables = _Tables(source, changes, n)
    return [
        replace(source, tabulate=_tabulate(tables, k, forces[k] if forces else {}))
        for k in range(n)
    ]


def pulse_errors(
    source: InputSource, telemetry: Telemetry, *, most: int, seed: int
) -> list[InputSource]:
    """Sources whose thrust differs by an error that the noise of its readings leaves, one each.

    Every stretch of an open valve has one of its own: its mean is off by the noise of a reading
    over the root of their number. All after it that moves inherits it. Where there are more than
    `most` stretches, so many random mixtures have the same covariance on average.
    """
    pulses = [pulse for name in _noisy_thrust(source, telemetry) for pulse in _pulses(name)]
    weights = np.eye(len(pulses))
    if len(pulses) > most:
        rng = np.random.default_rng([seed, 0x2B])
        weights = rng.standard_normal((most, len(pulses))) / np.sqrt(most)
    found = []
    for row in weights:
        fresh = telemetry
        for weight, (channel, inside, std) in zip(row, pulses, strict=True):
            if weight:
                known = fresh[channel.name]
                time, level = known.usable()
                values = level + weight * std * inside
                fresh = fresh.with_channels(
                    Channel(known.name, known.unit, time, values, noise=known.noise)
                )
        push = thrust_and_wrench(source.model, fresh)
        found.append(replace(source, tabulate=_with_push(source, push)))
    return found


def _noisy_thrust(source: InputSource, telemetry: Telemetry) -> list[Channel]:
    names = [f"{thruster.name}.force" for thruster in source.model.thrusters]
    return [telemetry[name] for name in names if name in telemetry and telemetry[name].noise]


def _pulses(channel: Channel) -> Iterator[tuple[Channel, Array, float]]:
    """Every stretch of an open valve: its samples as ones, and the deviation of its mean [N]."""
    _, level = channel.usable()
    noise = channel.noise or 0.0
    is_open = np.concatenate([[False], open_levels(level, noise) != 0.0, [False]])
    edges = np.flatnonzero(np.diff(is_open.astype(np.int64)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        inside = np.zeros(len(level))
        inside[first:last] = 1.0
        yield channel, inside, noise / np.sqrt(last - first)


def _with_push(source: InputSource, push: Callable[[Array, str], Array]) -> Tabulate:
    def tabulate(times: Array, owner: str = "") -> Inputs:
        return source.tabulate(times, owner)._replace(push=push(times, owner))

    return tabulate


def _motion_changes(
    source: InputSource, telemetry: Telemetry, n: int, rng: np.random.Generator, *, is_alike: bool
) -> Iterator[_Change]:
    system = source.system
    for place, i in enumerate(system.tree.given):
        names = channel_names(system.model.assembly.coordinates[i])
        name = next((name for name in names if name in telemetry), None)
        if name is None:
            continue
        channel = telemetry[name]
        time, _ = channel.usable()
        rates = bridging_rates(telemetry, *names)
        smoothed = smooth_motion(telemetry, name, names[1] if name == names[0] else "")
        curve = smoothed.curves[0]
        size = channel.noise if channel.noise is not None else float(smoothed.noise[0])
        fresh = smoothed.value(time)[:, None] + size * rng.standard_normal((len(time), n))
        if rates is not None:
            drawn = rates.noise * size * rng.standard_normal((len(rates.time), n))
            rates = replace(rates, values=smoothed.rate(rates.time)[:, None] + drawn)
        span, is_rate = (float(time[0]), float(time[-1])), name == names[1]
        if is_alike:
            change = smooth_alike(curve, time, fresh, rates) - curve.coefficients
            yield place, curve.basis, change, span, is_rate
            continue
        taken = np.tile(-curve.coefficients, (1, n))
        yield place, curve.basis, taken, span, is_rate
        for basis, given in _smooth_anew(channel, time, fresh, rates):
            yield place, basis, given, span, is_rate


def _smooth_anew(
    channel: Channel, time: Array, fresh: Array, rates: RateSamples | None
) -> Iterator[tuple[SplineBasis, Array]]:
    """Every column of fresh samples smoothed as it asks for: coefficients, nought but of its own.

    How far apart knots are may differ as well.
    """
    for k, values in enumerate(fresh.T):
        own = None if rates is None else replace(rates, values=rates.values[:, k : k + 1])
        drawn = Channel(channel.name, channel.unit, time, values, noise=channel.noise)
        curve = smooth_channel(drawn, own).curves[0]
        given = np.zeros((len(curve.coefficients), fresh.shape[1]))
        given[:, k] = curve.coefficients[:, 0]
        yield curve.basis, given


def _fresh_forces(
    source: InputSource, telemetry: Telemetry, n: int, rng: np.random.Generator
) -> Iterator[_Forces]:
    """Tables of thrust and of driving torques, n times with fresh noise; none where it has none."""
    thrust = _noisy_thrust(source, telemetry)
    names = sorted(name for name in driving_torques(source.model) if name in telemetry)
    torques = [telemetry[name] for name in names if telemetry[name].noise]
    for _ in range(n if thrust or torques else 0):
        # what is closed reads nothing; a torque of zero is a reading like any other
        fresh = [_fresh_level(channel, rng, is_closed=True) for channel in thrust]
        fresh += [_fresh_level(channel, rng, is_closed=False) for channel in torques]
        changed = telemetry.with_channels(*fresh)
        found: _Forces = {}
        if thrust:
            found["push"] = thrust_and_wrench(source.model, changed)
        if torques:
            found["effort"] = recorded_efforts(source.system, changed, [])
        yield found


def _fresh_level(channel: Channel, rng: np.random.Generator, *, is_closed: bool) -> Channel:
    time, level = channel.usable()
    noise = (channel.noise or 0.0) * rng.standard_normal(len(time))
    values = level + (noise * (level != 0.0) if is_closed else noise)
    return Channel(channel.name, channel.unit, time, values, noise=channel.noise)


class _Tables:
    """The recorded inputs and the changes of all draws: made once for the times asked for."""

    def __init__(self, source: InputSource, changes: list[_Change], n: int) -> None:
        self.source, self.changes, self.n = source, changes, n
        self.known: dict[tuple[int, float, float], tuple[Inputs, dict[int, Array]]] = {}

    def at(self, times: Array) -> tuple[Inputs, dict[int, Array]]:
        """The inputs, and by place (rows, 3, 3, n): changes of position, rate, acceleration."""
        key = (times.size, float(times.flat[0]), float(times.flat[-1]))
        if key not in self.known:
            changes: dict[int, Array] = {}
            for place, basis, change, span, is_rate in self.changes:
                own = self._evaluate(basis, change, np.clip(times, *span), is_rate)
                changes[place] = changes[place] + own if place in changes else own
            self.known[key] = self.source.tabulate(times), changes
        return self.known[key]

    def _evaluate(self, basis: SplineBasis, change: Array, times: Array, is_rate: bool) -> Array:
        instants, back = np.unique(times, return_inverse=True)
        rows = basis.rows(instants)
        found = np.zeros((times.size, 3, self.n))
        for derivative in range(2 if is_rate else 3):
            curve = rows.curve(change, derivative=derivative)
            found[:, derivative + is_rate] = curve[back.ravel()]
        return found.reshape(*times.shape, 3, self.n)


def _tabulate(tables: _Tables, k: int, forces: _Forces) -> Tabulate:
    def tabulate(times: Array, owner: str = "") -> Inputs:
        inputs, changes = tables.at(times)
        motion = inputs.given.copy()
        for place, change in changes.items():
            motion[:, :, place] += change[..., k]
        fresh = {name: table(times, owner) for name, table in forces.items()}
        return inputs._replace(given=motion, **fresh)

    return tabulate
