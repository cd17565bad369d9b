"""Channels that never change although another stream says that they should: nobody measured them.

Messages have fields for everything, and recorders write zeros into those that no sensor fills. One
value alone proves nothing: a locked joint, an idle wheel and a planar robot's height are constant
by right. It does where the stream's own rate, or its position, shows a motion far beyond its noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from freefloat.model.rotations import (
    conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.channel import Array, Channel, estimate_noise
from freefloat.telemetry.diagnosis import Finding
from freefloat.telemetry.known_sensors import KnownSensors, known_noise
from freefloat.telemetry.names import XYZ, XYZW, ChannelName, attitude_groups
from freefloat.telemetry.rate_consistency import RATE_OF
from freefloat.telemetry.repeated_values import lattice_step
from freefloat.text import count_noun

Channels = Mapping[str, Channel]

_FEWEST = 40  # theory: samples, as many as the comparison of two streams takes
# theory: [standard deviations]; white noise gets as far by a chance of exp(-50), and what drifts
# slowly does so by a few times its own deviation
_FAR = 10.0
# theory: [standard deviations of a sample]; a drift of a rate that its own noise hides is none
_VISIBLE = 3.0


class ShownMotion(NamedTuple):
    """How far a stream says it moved, its linear trend left out: a bias of a rate is no motion."""

    extent: float  # largest less smallest [unit]
    ratio: float  # root mean square over that of noise alone
    unit: str
    source: str  # the stream
    length: float  # of the recording [s]


def constant_findings(channels: Channels, sensors: KnownSensors) -> list[Finding]:
    """Channels with one value in all samples that another stream contradicts."""
    findings = []
    for names, others in _partners(tuple(channels)):
        if all(_is_constant(channels[n]) for n in names):
            motion = _motion(channels, sensors, others)
            if motion is not None and motion.extent > _resolution(channels, sensors, names, motion):
                findings.append(_finding([channels[n] for n in names], motion))
    findings += _torque_findings(channels, sensors)
    return findings


def without_constants(channels: dict[str, Channel], findings: Sequence[Finding]) -> None:
    """Mask all samples of the channels found."""
    for name in (name for finding in findings for name in finding.channels):
        c = channels[name]
        none = np.zeros(c.n_samples, dtype=bool)
        channels[name] = Channel(name, c.unit, c.time, c.values, none, c.noise)


def _partners(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Channels, and those that show the same motion; both ways round."""
    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for name in names:
        parsed = ChannelName.parse(name)
        rates = [parsed.of(rate) for what, rate in RATE_OF.items() if parsed.is_scalar(what)]
        rates += [f"{parsed.place}.rate.z"] if parsed.is_scalar("angle") else []
        if parsed.quantity == "position" and parsed.axis in XYZ:
            rates += ChannelName(parsed.place, "velocity").along([parsed.axis])
        pairs += [((name,), (rate,)) for rate in rates if rate in names]
    for group in attitude_groups(names):
        parsed = ChannelName.parse(group)
        rates3 = ChannelName(parsed.place, "rate").along(XYZ)
        if all(rate in names for rate in rates3):
            pairs.append((parsed.along(XYZW), rates3))
    for one, other in pairs:
        yield one, other
        yield other, one


def _is_constant(channel: Channel) -> bool:
    values = channel.usable()[1]
    return len(values) >= _FEWEST and bool(np.ptp(values) == 0.0)


def _motion(channels: Channels, sensors: KnownSensors, names: Sequence[str]) -> ShownMotion | None:
    """The motion that a stream shows, if that is far beyond its noise."""
    columns = [channels[n].usable() for n in names]
    time = columns[0][0]
    if len(time) < _FEWEST or any(not np.array_equal(t, time) for t, _ in columns):
        return None
    values = np.column_stack([y for _, y in columns])
    parsed = ChannelName.parse(names[0])
    noise = max(
        max(known_noise(channels[n].noise, sensors, n) or 0.0, estimate_noise(channels[n]))
        for n in names
    )
    unit_, length = channels[names[0]].unit, float(time[-1] - time[0])
    if parsed.quantity in ("velocity", "rate", "motor_velocity"):
        if float(np.sqrt(np.mean(np.var(values, axis=0)))) <= _VISIBLE * noise:
            return None
        steps = np.diff(time)[:, None]
        path = np.cumsum(0.5 * (values[1:] + values[:-1]) * steps, axis=0)
        path, noise = (
            np.vstack([np.zeros((1, path.shape[1])), path]),
            noise * math.sqrt(float(np.median(steps)) * length),
        )
        unit_ = unit_.removesuffix("/s")
    elif parsed.quantity == "attitude":
        path, unit_ = _rotation_path(values), "rad"
        noise *= math.sqrt(len(time))  # sums of small rotations
    else:
        path = np.unwrap(values, axis=0) if parsed.is_scalar("angle") else values
    return _beyond_noise(time, path, noise, unit_, parsed.group if len(names) > 1 else names[0])


def _rotation_path(values: Array) -> Array:
    """The integral of the rates in the axes of the body, from quaternions."""
    q = continuous(unit(values))
    turns = rotation_vector_from_quaternion(quaternion_product(conjugate(q[:-1]), q[1:]))
    return np.vstack([np.zeros(3), np.cumsum(turns, axis=0)])


def _beyond_noise(
    time: Array, path: Array, noise: float, unit_: str, source: str
) -> ShownMotion | None:
    line = np.column_stack([np.ones_like(time), time - time[0]])
    left = path - line @ np.linalg.lstsq(line, path, rcond=None)[0]
    size = float(np.max(np.sqrt(np.mean(left**2, axis=0))))
    least = 1e-9 * float(np.max(np.abs(path)))  # digits of a double, of a file
    if not np.isfinite(size) or size <= max(_FAR * noise, least):
        return None
    extent = float(np.max(np.ptp(left, axis=0)))
    ratio = size / noise if noise > 0.0 else math.inf
    return ShownMotion(extent, ratio, unit_, source, float(time[-1] - time[0]))


def _resolution(
    channels: Channels, sensors: KnownSensors, names: Sequence[str], motion: ShownMotion
) -> float:
    """What a digital sensor that reads one value may hide of a motion, and its noise, too."""
    quantity = ChannelName.parse(names[0]).quantity
    alike = [c for n, c in channels.items() if ChannelName.parse(n).quantity == quantity]
    steps = [lattice_step(c.usable()[1]) for c in alike]
    known = [sensor.quantisation for n in names if (sensor := sensors.of(n)) is not None]
    noise = [known_noise(channels[n].noise, sensors, n) or 0.0 for n in names]
    hidden = max([*steps, *known, *(_FAR * s for s in noise)])
    return hidden * motion.length if quantity in ("velocity", "rate", "motor_velocity") else hidden


def _torque_findings(channels: Channels, sensors: KnownSensors) -> Iterator[Finding]:
    """Torques of zero in joints that something moves: a drive, a spring, a damper, friction."""
    for joint in sensors.moved_joints:
        torque = channels.get(f"{joint}.torque")
        if torque is None or not _is_constant(torque) or torque.usable()[1][0] != 0.0:
            continue
        for name in (f"{joint}.position", f"{joint}.velocity"):
            motion = _motion(channels, sensors, (name,)) if name in channels else None
            if motion is not None:
                yield _finding([torque], motion)
                break


def _finding(channels: Sequence[Channel], motion: ShownMotion) -> Finding:
    first = channels[0]
    time, values = first.usable()
    readings = list(dict.fromkeys(float(c.usable()[1][0]) for c in channels))
    shown = ", ".join(f"{value + 0.0:.6g}" for value in readings)
    shown += "" if first.unit == "1" else f" {first.unit}"
    group = ChannelName.parse(first.name).group
    chance = math.exp(-0.5 * min(motion.ratio, 37.0) ** 2)  # less is none of a double
    pattern = first.name if ChannelName.parse(first.name).axis == "" else f"{group}*"
    return Finding(
        "recording.constant", tuple(c.name for c in channels),
        float(time[0]), float(time[-1]), motion.extent, motion.unit,
        deviation=motion.extent / motion.ratio, chance=chance,
        text=f"reads {shown} in all {count_noun(len(values), 'sample')} although {motion.source}"
        f" says it moves by {motion.extent:.3g} {motion.unit}: nobody measured it?",
        done="masked", advice=f"leave it out: --without '{pattern}'",
    )  # fmt: skip
