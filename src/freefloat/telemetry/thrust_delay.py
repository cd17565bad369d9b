"""Thrust against the motion it causes: how late a body answers to its valves.

A body's rate is a sum of the impulses of its thrusters, each with a constant of its own, and
something smooth; its acceleration of their forces, its heading of impulses summed twice.
Differences take the smooth part out: first ones of an acceleration, second ones of a rate, third
ones of a heading. The delay is where the rest is explained best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb

import numpy as np

from freefloat.telemetry.channel import MAD, Array, Channel
from freefloat.telemetry.diagnosis import FAMILY_CHANCE, Finding
from freefloat.telemetry.names import XYZ, ChannelName
from freefloat.telemetry.thrust_levels import CLOSED, insert_switches, open_levels

# By quantity, how often it is differenced: once more than thrust is integrated.
ORDERS = {"acceleration": 1, "rate": 2, "angle": 3}
_LATEST = 0.5  # theory: [s]; a valve that is later is not the cause of what is seen
_EARLIEST = -0.1  # theory: [s]; earlier than its valve nothing moves; for clocks that disagree
_FINE = 10  # theory: trials in a sampling step; the minimum between them is a parabola's
_FEWEST = 4  # theory: edges; with fewer, anything that happens beside one looks like its effect


def thrust_findings(channels: Mapping[str, Channel], *, is_mean: bool = False) -> Iterator[Finding]:
    """The delay of thrust, if noise does not explain it; nothing is done about it.

    It may be that of the valves or that of the sensors: only what else is known tells which.
    is_mean: whether thrust is recorded as means until the next sample.
    """
    forces = _levels(channels, is_mean)
    if not forces:
        return
    edges = sum(int(np.count_nonzero(np.diff(level))) for _, level in forces.values())
    responses = [name for name in channels if _order(name)]
    if edges < _FEWEST or not responses:
        return
    found = [_delay(channels[name], forces) for name in responses]
    known = [(name, *one) for name, one in zip(responses, found, strict=True) if one is not None]
    if not known:
        return
    name, seconds, deviation, chance = min(known, key=lambda entry: entry[2])
    chance = min(1.0, chance * len(responses))
    if chance > FAMILY_CHANCE:
        return
    time = channels[name].time
    yield Finding(
        "recording.thrust_delay", tuple(forces), float(time.min()), float(time.max()), seconds,
        "s", deviation=deviation, chance=chance,
        text=f"{name} answers to thrust {1e3 * seconds:.3g} ± {1e3 * deviation:.2g} ms late",
        advice="if the valves are late, shift thrust by that; if the sensor is, free its delay",
    )  # fmt: skip


def _levels(channels: Mapping[str, Channel], is_mean: bool) -> dict[str, tuple[Array, Array]]:
    """Instants and levels of thrusters that open or close."""
    found = {}
    for name, channel in channels.items():
        if ChannelName.parse(name).is_scalar("force") and channel.valid.any():
            time, level = channel.usable()
            level = open_levels(level, channel.noise or 0.0)
            if is_mean:
                time, level = insert_switches(time, level, channel.noise or 0.0)
            jumps = np.abs(np.diff(level, prepend=level[0])) > CLOSED * (channel.noise or 0.0)
            if jumps.any():
                held = level[np.maximum.accumulate(np.where(jumps, np.arange(len(level)), 0))]
                found[name] = (time, held)
    return found


def _order(name: str) -> int:
    """How often a channel is differenced; 0 for those that do not answer in body axes."""
    parsed = ChannelName.parse(name)
    is_whole = parsed.axis in (*XYZ, "") and parsed.place == "base"
    return ORDERS.get(parsed.quantity, 0) if is_whole else 0


def _delay(
    channel: Channel, forces: Mapping[str, tuple[Array, Array]]
) -> tuple[float, float, float] | None:
    """Delay [s], its deviation and the chance that there is none; None if thrust shows nowhere."""
    order = _order(channel.name)
    time, values = channel.usable()
    if channel.name.endswith(".angle"):
        values = np.unwrap(values)
    steps = np.diff(time)
    step = float(np.median(steps)) if len(steps) else 0.0
    if len(time) < 50 or not np.all(np.abs(steps - step) < 0.5 * step):
        return None
    y = np.diff(values, order)
    coarse = np.arange(round(_EARLIEST / step), round(_LATEST / step) + 1) * step
    left = [_squares_left(time, y, forces, order, float(delay)) for delay in coarse]
    # the minimum is as wide as a step or wider, so it lies beside the best of the whole steps
    tried = coarse[int(np.argmin(left))] + np.arange(-2 * _FINE, 2 * _FINE + 1) * step / _FINE
    squares = np.array([_squares_left(time, y, forces, order, float(delay)) for delay in tried])
    scale = MAD * float(np.median(np.abs(y)))
    rest, whole = float(np.min(squares)), float(np.sum(y**2))
    n = len(y) - len(forces) - 1
    variance = max(rest / n, 1e-30 * scale**2)
    if not (whole - rest) / variance > 2.0 * len(forces) * CLOSED**2:
        return None  # thrust does not show
    best = int(np.argmin(squares))
    if best in (0, len(tried) - 1):
        return None
    if order == 1:  # a level that is held jumps somewhere in a step: all of it fits alike
        alike = tried[squares <= rest + variance]
        seconds = 0.5 * float(alike[0] + alike[-1])
        return _judge(seconds, float(np.ptp(alike) + step / _FINE) / np.sqrt(12.0))
    curvature = (squares[best - 1] - 2.0 * squares[best] + squares[best + 1]) / (step / _FINE) ** 2
    slope = (squares[best + 1] - squares[best - 1]) / (2.0 * step / _FINE)
    seconds = float(tried[best] - slope / curvature) if curvature > 0.0 else float(tried[best])
    # differences of white noise are correlated: as many of them say as much as the samples do
    noise = float(np.sqrt(2.0 * variance * comb(2 * order, order) / max(curvature, 1e-300)))
    return _judge(seconds, noise)


def _judge(seconds: float, deviation: float) -> tuple[float, float, float]:
    from scipy.special import erfc

    return seconds, deviation, float(erfc(abs(seconds) / deviation / np.sqrt(2.0)))


def _squares_left(
    time: Array, y: Array, forces: Mapping[str, tuple[Array, Array]], order: int, delay: float
) -> float:
    """Squares that thrust leaves of the differences of a response."""
    columns = [
        np.diff(_integral(t, level, time - delay, order - 1), order) for t, level in forces.values()
    ]
    matrix = np.column_stack(columns)
    fitted = matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]
    return float(np.sum((y - fitted) ** 2))


def _integral(time: Array, level: Array, instants: Array, order: int) -> Array:
    """A held level integrated `order` times, at instants; as at its ends beyond them."""
    before = np.clip(np.searchsorted(time, instants, side="right") - 1, 0, len(time) - 1)
    if order == 0:
        return level[before]
    steps = np.diff(time)
    once = np.concatenate([[0.0], np.cumsum(level[:-1] * steps)])
    ahead = instants - time[before]
    if order == 1:
        return once[before] + level[before] * ahead
    twice = np.concatenate([[0.0], np.cumsum(once[:-1] * steps + 0.5 * level[:-1] * steps**2)])
    return twice[before] + once[before] * ahead + 0.5 * level[before] * ahead**2
