"""Consistency of rates with positions: where they contradict, a unit, a sign or a gain is wrong.

Over stretches of the recording the integral of a rate is compared with the change of its position.
Both are noisy, but where they are correlated at all, their ratio is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import degrees

import numpy as np

from freefloat.errors import Fault, TelemetryError
from freefloat.model.rotations import (
    conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.telemetry.channel import Array
from freefloat.telemetry.names import XYZ, XYZW, ChannelName, attitude_groups
from freefloat.telemetry.quality_checks import QualityFinding, QualityLimits

TimeSeries = Mapping[str, tuple[Array, Array]]  # instants [s] and values by channel name

RATE_OF = {"position": "velocity", "motor_position": "motor_velocity"}
# factor -> code and hint
HINTS = {
    degrees(1.0): ("rate.degrees", "one of the two is in degrees but labelled in radians"),
    1e3: ("rate.millimetres", "one of the two is in mm but labelled in m"),
    -1.0: ("rate.sign", "one of the two has the wrong sign"),
}
# theory: how many make a second -> code, unit, and what it is called
TIME_UNITS = {
    1e3: ("rate.milliseconds", "ms", "milliseconds"),
    1e6: ("rate.microseconds", "us", "microseconds"),
    1e9: ("rate.nanoseconds", "ns", "nanoseconds"),
}
OTHERWISE = ("rate.gain", "a gain or a unit is wrong")


def check_rates(series: TimeSeries, limits: QualityLimits) -> Iterator[QualityFinding]:
    """Rates that contradict their positions.

    >>> t = np.linspace(0.0, 10.0, 500)
    >>> flight = {"elbow.position": (t, np.sin(t)), "elbow.velocity": (t, np.degrees(np.cos(t)))}
    >>> [(found.code, found.place) for found in check_rates(flight, QualityLimits())]
    [('rate.degrees', 'elbow.velocity')]
    """
    compared = list(_comparisons(series, limits))
    per_second = units_per_second(compared, limits)
    for position, rate, ratio in compared:
        if limits.rate_ratio[0] < ratio < limits.rate_ratio[1]:
            continue
        near = (h for f, h in HINTS.items() if _is_near(ratio, f, limits.factor_tolerance))
        code, hint = next(near, OTHERWISE)
        if per_second is not None:
            code, unit, _ = TIME_UNITS[per_second]
            hint = f"the time is in {unit} but labelled in s"
        text = f"the derivative of {position} is {ratio:.3g} times this rate: {hint}"
        yield QualityFinding(code, rate, text, True)


def require_seconds(series: TimeSeries) -> None:
    """Raise TelemetryError where every rate says that the time is in ms, us or ns.

    A flight that seems a thousand times longer would take a thousand times longer to simulate.
    """
    limits = QualityLimits()
    per_second = units_per_second(list(_comparisons(series, limits)), limits)
    if per_second is None:
        return
    _, unit, word = TIME_UNITS[per_second]
    expected = f"seconds: every rate is {per_second:.0e} times the derivative of its position"
    remedy = (
        f"name the time column 'time [{unit}]', or write unit = \"{unit}\" under [time] of the map"
    )
    fault = Fault("time", f"{word} labelled as seconds", expected, remedy, "time.unit")
    raise TelemetryError("the time of the recording is not in seconds", [fault])


def units_per_second(
    compared: Sequence[tuple[str, str, float]], limits: QualityLimits
) -> float | None:
    """1e3, 1e6 or 1e9 where all rates are so many times the derivatives, those of rotations too.

    A single length in millimetres looks the same; an angle does not.
    """
    has_angle = any(ChannelName.parse(rate).quantity == "rate" for _, rate, _ in compared)
    if not compared or not (has_angle or len(compared) > 1):
        return None
    for factor in TIME_UNITS:
        if all(abs(factor * ratio - 1.0) < limits.factor_tolerance for *_, ratio in compared):
            return factor
    return None


def _comparisons(series: TimeSeries, limits: QualityLimits) -> Iterator[tuple[str, str, float]]:
    """Positions, their rates, and derivatives over rates, where the two can be compared."""
    for position, rate in _pairs(series):
        changes = _changes(series, position, rate, limits.rate_stretches)
        yield from ((position, rate, ratio) for ratio in _ratio(*changes, limits))
    for group in attitude_groups(tuple(series)):
        attitude = ChannelName.parse(group)
        rate = ChannelName(attitude.place, "rate")
        if all(name in series for name in rate.along(XYZ)):
            names, rates = attitude.along(XYZW), rate.along(XYZ)
            changes = _attitude_changes(series, names, rates, limits.rate_stretches)
            yield from ((group, rate.group, ratio) for ratio in _ratio(*changes, limits))


def _pairs(series: TimeSeries) -> Iterator[tuple[str, str]]:
    """Positions and their rates, where both are there."""
    base = {f"base.position.{axis}": f"base.velocity.{axis}" for axis in XYZ}
    known = base | {"base.angle": "base.rate.z"}
    for quantity, rate in RATE_OF.items():
        parsed = {name: ChannelName.parse(name) for name in series}
        joints = {n: p for n, p in parsed.items() if p.is_scalar(quantity)}
        known |= {name: place.of(rate) for name, place in joints.items()}
    yield from ((p, r) for p, r in known.items() if p in series and r in series)


def _ratio(went: Array, told: Array, limits: QualityLimits) -> Iterator[float]:
    """Changes of a position over integrals of its rate, in any axes; nothing if uncorrelated."""
    if len(went) < limits.fewest_stretches or not np.all(np.isfinite([went, told])):
        return
    cross = told.T @ went
    if not np.all(np.isfinite(cross)):
        return
    # singular values: the axes of a gyro are its own, whichever way it is mounted
    both = float(cross[0, 0] if cross.size == 1 else np.linalg.norm(cross, "nuc"))
    squares = float(np.sum(told * told))
    size = float(np.sqrt(squares * np.sum(went * went)))
    if 0.0 < size < np.inf and abs(both) >= limits.rate_correlation * size:
        yield both / squares


def _is_near(ratio: float, factor: float, tolerance: float) -> bool:
    return any(abs(ratio / f - 1.0) < tolerance for f in (factor, 1.0 / factor))


def _instants(*times: Array, most: int) -> Array:
    """Ends of stretches that all channels have samples in."""
    if any(len(t) < 2 or not np.all(np.diff(t) > 0.0) for t in times):
        return np.zeros(0)
    start, end = max(t[0] for t in times), min(t[-1] for t in times)
    coarsest = max(float(np.max(np.diff(t))) for t in times)
    n = int(min(most, max(end - start, 0.0) / (2.0 * coarsest)))
    return np.linspace(start, end, n + 1)


def _integrate(time: Array, rate: Array, instants: Array) -> Array:
    """The integral of a rate from each instant to the next."""
    at = np.union1d(time, instants)
    at = at[(at >= instants[0]) & (at <= instants[-1])]
    level = np.interp(at, time, rate)
    whole = np.concatenate([[0.0], np.cumsum(0.5 * (level[1:] + level[:-1]) * np.diff(at))])
    return np.diff(np.interp(instants, at, whole))


def _changes(series: TimeSeries, position: str, rate: str, most: int) -> tuple[Array, Array]:
    """The change of a position over every stretch, and the integral of its rate."""
    (time, way), (rate_time, rates) = series[position], series[rate]
    instants = _instants(time, rate_time, most=most)
    if not len(instants):
        return instants, instants
    way = np.unwrap(way) if position == "base.angle" else way
    went = np.diff(np.interp(instants, time, way))
    return went[:, None], _integrate(rate_time, rates, instants)[:, None]


def _attitude_changes(
    series: TimeSeries, names: Sequence[str], rates: Sequence[str], most: int
) -> tuple[Array, Array]:
    """The rotation of a body over every stretch, and the integrals of its rates.

    Attitudes are taken at their own samples, so that nothing is interpolated.
    """
    time = series[names[0]][0]
    if any(not np.array_equal(series[n][0], time) for n in names):
        return np.zeros(0), np.zeros(0)
    q = np.column_stack([series[n][1] for n in names])
    # stretches short enough that no turn is ambiguous: about a radian each
    whole = float(np.sum(np.linalg.norm(_rotations(q), axis=1)))
    if not np.isfinite(whole):  # numbers that are no attitudes
        return np.zeros(0), np.zeros(0)
    instants = _instants(time, *(series[n][0] for n in rates), most=max(most, int(whole)))
    if not len(instants):
        return instants, instants
    nearest = np.unique(np.clip(np.searchsorted(time, instants), 0, len(time) - 1))
    nearest = nearest[(time[nearest] >= instants[0]) & (time[nearest] <= instants[-1])]
    told = [_integrate(*series[n], time[nearest]) for n in rates]
    return _rotations(q[nearest]), np.column_stack(told)


def _rotations(q: Array) -> Array:
    """Rotation vectors [rad] from each attitude to the next, in body axes, the shorter way."""
    return rotation_vector_from_quaternion(quaternion_product(conjugate(q[:-1]), q[1:]))
