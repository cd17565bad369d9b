"""Do rates say the same as positions? Where they do not, a unit or a sign is wrong.

Over stretches of the flight the integral of a rate is compared with how far its position went. Both
are noisy, but where they go together at all, their ratio is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import degrees

import numpy as np

from freefloat.model.rotations import (
    conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.telemetry.channel import Array
from freefloat.telemetry.names import attitude_groups

Samples = Mapping[str, tuple[Array, Array]]

STRETCHES = 40  # of the flight that are compared
FEWEST = 8
TOGETHER = 0.97  # correlation above which noise changes the ratio by 6 % at most
EQUAL = (0.8, 1.25)  # ratios that gains, delays and noise may make
NEAR = 0.06  # of a known factor
PAIRS = ((".position", ".velocity"), (".motor_position", ".motor_velocity"))
MOVED = {f"base.position.{axis}": f"base.velocity.{axis}" for axis in "xyz"}
HINTS = {
    degrees(1.0): "one of them is in degrees and is called radians, or the other way round",
    1e3: "one of them is in mm and is called m, or the other way round",
    -1.0: "one of them has the wrong sign",
}


def disagreements(samples: Samples) -> Iterator[tuple[str, str]]:
    """Rates that do not fit to their positions, and a sentence about each.

    >>> t = np.linspace(0.0, 10.0, 500)
    >>> flight = {"elbow.position": (t, np.sin(t)), "elbow.velocity": (t, np.degrees(np.cos(t)))}
    >>> next(disagreements(flight))[1][:47]
    'elbow.position changes 0.0175 times as fast: on'
    """
    for position, rate in _pairs(samples):
        yield from _compared(position, rate, *_of_channel(samples, position, rate))
    for group in attitude_groups(tuple(samples)):
        rates = [f"{group.removesuffix('.attitude')}.rate.{axis}" for axis in "xyz"]
        if all(name in samples for name in rates):
            names = [f"{group}.{axis}" for axis in "xyzw"]
            yield from _compared(group, rates[0][:-2], *_of_attitude(samples, names, rates))


def _pairs(samples: Samples) -> Iterator[tuple[str, str]]:
    """Positions and their rates, where both are there."""
    known = dict(MOVED) | {"base.angle": "base.rate.z"}
    for end, rate in PAIRS:
        known |= {n: n.removesuffix(end) + rate for n in samples if n.endswith(end)}
    yield from ((p, r) for p, r in known.items() if p in samples and r in samples)


def _compared(position: str, rate: str, went: Array, told: Array) -> Iterator[tuple[str, str]]:
    """What is to be said of how far something went and what its rate told, in whatever axes."""
    if len(went) < FEWEST or not np.all(np.isfinite([went, told])):
        return
    cross = told.T @ went
    if not np.all(np.isfinite(cross)):
        return
    # singular values: the axes of a gyro are its own, whichever way it is mounted
    both = float(cross[0, 0] if cross.size == 1 else np.linalg.norm(cross, "nuc"))
    squares = float(np.sum(told * told))
    size = float(np.sqrt(squares * np.sum(went * went)))
    if not 0.0 < size < np.inf or abs(both) < TOGETHER * size:
        return
    ratio = both / squares
    if EQUAL[0] < ratio < EQUAL[1]:
        return
    hint = next((h for f, h in HINTS.items() if _is_near(ratio, f)), "a gain or a unit is wrong")
    yield rate, f"{position} changes {ratio:.3g} times as fast: {hint}"


def _is_near(ratio: float, factor: float) -> bool:
    return any(abs(ratio / f - 1.0) < NEAR for f in (factor, 1.0 / factor))


def _instants(*times: Array, most: int = STRETCHES) -> Array:
    """Ends of stretches that all channels have samples in."""
    if any(len(t) < 2 or not np.all(np.diff(t) > 0.0) for t in times):
        return np.zeros(0)
    start, end = max(t[0] for t in times), min(t[-1] for t in times)
    coarsest = max(float(np.max(np.diff(t))) for t in times)
    n = int(min(most, max(end - start, 0.0) / (2.0 * coarsest)))
    return np.linspace(start, end, n + 1)


def _integrated(time: Array, rate: Array, instants: Array) -> Array:
    """The integral of a rate from each instant to the next."""
    at = np.union1d(time, instants)
    at = at[(at >= instants[0]) & (at <= instants[-1])]
    level = np.interp(at, time, rate)
    whole = np.concatenate([[0.0], np.cumsum(0.5 * (level[1:] + level[:-1]) * np.diff(at))])
    return np.diff(np.interp(instants, at, whole))


def _of_channel(samples: Samples, position: str, rate: str) -> tuple[Array, Array]:
    """How far a position went over every stretch, and what its rate told."""
    (time, way), (rate_time, rates) = samples[position], samples[rate]
    instants = _instants(time, rate_time)
    if not len(instants):
        return instants, instants
    way = np.unwrap(way) if position == "base.angle" else way
    went = np.diff(np.interp(instants, time, way))
    return went[:, None], _integrated(rate_time, rates, instants)[:, None]


def _of_attitude(samples: Samples, names: list[str], rates: list[str]) -> tuple[Array, Array]:
    """How far a body turned over every stretch, and the integrals of its rates.

    Attitudes are taken at their own samples, so that nothing is interpolated.
    """
    time = samples[names[0]][0]
    if any(not np.array_equal(samples[n][0], time) for n in names):
        return np.zeros(0), np.zeros(0)
    q = np.column_stack([samples[n][1] for n in names])
    # stretches short enough that no turn is ambiguous: about a radian each
    whole = float(np.sum(np.linalg.norm(_turns(q), axis=1)))
    if not np.isfinite(whole):  # numbers that are no attitudes
        return np.zeros(0), np.zeros(0)
    instants = _instants(time, *(samples[n][0] for n in rates), most=max(STRETCHES, int(whole)))
    if not len(instants):
        return instants, instants
    nearest = np.unique(np.clip(np.searchsorted(time, instants), 0, len(time) - 1))
    nearest = nearest[(time[nearest] >= instants[0]) & (time[nearest] <= instants[-1])]
    told = [_integrated(*samples[n], time[nearest]) for n in rates]
    return _turns(q[nearest]), np.column_stack(told)


def _turns(q: Array) -> Array:
    """Rotation vectors [rad] from each attitude to the next, in body axes, the shorter way."""
    return rotation_vector_from_quaternion(quaternion_product(conjugate(q[:-1]), q[1:]))
