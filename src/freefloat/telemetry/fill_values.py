"""Fill values: what a recorder writes where it has no measurement, such as -9999 or 1e30.

No list of such numbers is needed. A fill value is one exact number that comes again and again, far
from all the rest: by so many times the range of the rest that no motion leads there without a
sample on the way. A saturated sensor, a valve that opens and a digital signal at rest repeat
values as well, but the rest comes near them, or is as much a matter of levels as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from freefloat.telemetry.channel import ABSURD, Array, Channel, noise_floor_of
from freefloat.telemetry.diagnosis import Finding
from freefloat.telemetry.known_sensors import KnownSensors
from freefloat.telemetry.names import XYZW, ChannelName, attitude_groups
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun, listing

Indices = NDArray[np.intp]

# Quantities with inertia behind them: they get nowhere without passing what is between.
_STEADY = (
    "attitude", "angle", "rate", "position", "velocity", "motor_position", "motor_velocity",
    "speed", "angular_momentum", "linear_momentum",
)  # fmt: skip
# Levels that are held and switched: they repeat and jump by right.
HELD = ("force", "on_time")
FEWEST = 3  # theory: noise and motion hit the same double twice at most
# theory: [ranges of the rest]; a sample of a moving body is within one range of its neighbours, and
# a burst of outliers within a few
_FAR = 10.0
# theory: [ranges of the rest]; what is set, not moved, steps by design, but three decades are more
# than an actuator or a digital sensor resolves
_FAR_FOR_LEVELS = 1000.0
_DISTINCT = 0.5  # theory: half of the samples differ where noise is a third of a digital step
_BY_FACTOR = 10.0  # theory: actuators differ from their models by percents, not tenfold
_COMMONEST = 3  # theory: where a digital signal rests is common too, at either end of its way
FEWEST_OTHERS = 20  # theory: below, the hundredth part is no sample
_NEARLY_ALL = 0.99  # theory: of the steps from sample to sample; the others may be edges, outliers
JUMP = 3.0  # theory: [usual steps]; white noise does not exceed its 99 % by more than twice
_MASKED = "masked"
_SHOWN = 4  # format: instants named on a line


def fill_levels(name: str, values: Array, *, largest: float | None = None) -> list[float]:
    """The fill values among the valid values of a channel.

    Args:
        name: The channel; its quantity says whether it moves or is set.
        values: Its valid values, in the order of time.
        largest: What an actuator can reach [unit], if known.

    >>> sound = np.random.default_rng(0).normal(size=200)
    >>> fill_levels("base.rate.x", np.append(sound, 3 * [-9999.0]))
    [-9999.0]
    >>> fill_levels("base.rate.x", np.append(sound, 3 * [9.0]))
    []
    """
    if not values.size:
        return []
    bound = largest_possible(largest)
    ordered = np.sort(values)
    if -ordered[0] <= bound >= ordered[-1] and np.all(ordered[1:] != ordered[:-1]):
        return []  # nothing comes twice
    quantity = ChannelName.parse(name).quantity
    levels, counts = np.unique(ordered, return_counts=True)
    first, last = np.searchsorted(levels, [-bound, bound], side="left")
    last += last < levels.size and levels[last] == bound
    while last - first > 2:
        below = _is_apart(quantity, levels[first:last], counts[first:last])
        above = _is_apart(quantity, -levels[first:last][::-1], counts[first:last][::-1], sign=-1)
        if not below and not above:
            break
        first, last = first + below, last - above
    found = [*levels[:first].tolist(), *levels[last:].tolist()]
    if quantity in _STEADY and quantity != "attitude":  # whose sign may change at any sample
        commonest = first + np.argsort(counts[first:last])[::-1][:_COMMONEST]
        candidates = levels[commonest[counts[commonest] >= FEWEST]].tolist()
        sound = values[~np.isin(values, found)] if found else values
        found += [value for value in candidates if _is_jumped_to(sound, value)]
    return found


def _is_jumped_to(values: Array, value: float) -> bool:
    """Whether a signal jumps to a value and back again, as it jumps nowhere else."""
    is_at = values == value
    rest = values[~is_at]
    if rest.size < FEWEST_OTHERS:
        return False
    steps = np.abs(np.diff(values)[~(is_at[1:] | is_at[:-1])])
    if not steps.size:
        return False
    usual = usual_step(steps)
    starts = np.flatnonzero(is_at[1:] & ~is_at[:-1])  # the sample before each run
    ends = np.flatnonzero(is_at[:-1] & ~is_at[1:]) + 1  # the sample after it
    if is_at[0]:
        ends = ends[1:]
    n = min(starts.size, ends.size)
    if not n:
        return False
    beside = np.abs(values[[starts[:n], ends[:n]]] - value).min(axis=0)
    return float(np.median(beside)) > JUMP * max(usual, noise_floor_of(rest))


def usual_step(steps: Array) -> float:
    """The largest of the steps of a signal but for edges and outliers, from their sizes."""
    ordered = np.sort(steps)
    # a digital signal that hardly moves steps by its least digit
    digit = ordered[np.searchsorted(ordered, 0.0, side="right") :][:1].sum()
    return max(float(ordered[int(_NEARLY_ALL * (ordered.size - 1))]), float(digit))


def _is_apart(quantity: str, levels: Array, counts: Indices, sign: int = 1) -> bool:
    """Whether the least of some levels, in order, is a fill value; sign -1: they are negated."""
    if counts[0] < FEWEST:
        return False
    # a second fill value, at the other end, must not make room for this one
    end = -1 if counts[-1] >= FEWEST else None
    inner, often = levels[1:end], counts[1:end]
    if inner.size < 2:
        return False  # of two levels nothing says which is the signal
    # thrust for part of a step is as small as you like; but no valve pulls
    is_possible = sign < 0 or levels[0] >= 0.0 or inner[0] < 0.0
    far = far_ranges(quantity, is_fine=has_fine_values(inner, often), is_possible=is_possible)
    return bool(inner[0] - levels[0] > far * max(inner[-1] - inner[0], noise_floor_of(inner)))


def has_fine_values(levels: Array, counts: Indices) -> bool:
    """Whether the values of a signal hardly repeat, as those of a fine sensor do not."""
    return levels.size > _DISTINCT * int(counts.sum())


def is_steady(quantity: str) -> bool:
    """Whether there is inertia behind a quantity: it passes what is between."""
    return quantity in _STEADY


def far_ranges(quantity: str, *, is_fine: bool, is_possible: bool = True) -> float:
    """How many ranges of the rest away a value that comes again and again is a fill value.

    is_fine: the rest hardly repeats; is_possible: an actuator could be set to that value.
    """
    if quantity in HELD:
        return np.inf if is_possible else _FAR
    if quantity in _STEADY:
        return _FAR if is_fine else _FAR_FOR_LEVELS
    return _FAR_FOR_LEVELS if is_fine else np.inf


def largest_possible(largest: float | None) -> float:
    """What no sound reading of a channel exceeds [unit]; largest: what its actuator can reach."""
    return ABSURD if not largest else min(ABSURD, _BY_FACTOR * largest)


def is_blank_attitude(values: Array | np.float64) -> NDArray[np.bool_] | np.bool_:
    """Whether four times the same number is no attitude: it is one where it is a half."""
    return np.abs(np.abs(values) - 0.5) > 0.25


def fill_places(telemetry: Telemetry, sensors: KnownSensors) -> dict[str, dict[float, Indices]]:
    """By channel and fill value, the places of its samples; channels without any are left out."""
    found: dict[str, dict[float, Indices]] = {}
    for name, channel in telemetry.channels.items():
        levels = fill_levels(name, channel.values[channel.valid], largest=sensors.largest(name))
        if levels:
            found[name] = {value: np.flatnonzero(channel.values == value) for value in levels}
    for group in attitude_groups(telemetry.names):
        names = ChannelName.parse(group).along(XYZW)
        four = [telemetry[name] for name in names]
        if any(not np.array_equal(c.time, four[0].time) for c in four):
            continue
        rows = np.column_stack([c.values for c in four])
        is_same = np.all(rows == rows[:, :1], axis=1) & is_blank_attitude(rows[:, 0])
        for value in np.unique(rows[is_same, 0]).tolist():
            places = np.flatnonzero(is_same & (rows[:, 0] == value))
            for name in names:
                found.setdefault(name, {}).setdefault(value, places)
    return found


def mask_fill_values(
    telemetry: Telemetry, sensors: KnownSensors
) -> tuple[list[Finding], dict[str, Channel]]:
    """What was found of fill values, and the channels that have some without them."""
    return _mask(telemetry, fill_places(telemetry, sensors))


def mask_absurd(telemetry: Telemetry) -> tuple[list[Finding], dict[str, Channel]]:
    """The same of numbers that nothing can have measured, however rare they are."""
    places = {}
    for name, channel in telemetry.channels.items():
        is_absurd = np.abs(channel.values) > ABSURD
        levels = np.unique(channel.values[is_absurd]).tolist()
        if levels:
            places[name] = {value: np.flatnonzero(channel.values == value) for value in levels}
    return _mask(telemetry, places)


def _mask(
    telemetry: Telemetry, filled: dict[str, dict[float, Indices]]
) -> tuple[list[Finding], dict[str, Channel]]:
    found: dict[tuple[float, str, bytes], Finding] = {}
    masked: dict[str, Channel] = {}
    for name, by_value in filled.items():
        channel = telemetry[name]
        ok = channel.valid.copy()
        for value, places in by_value.items():
            finding = fill_finding(channel, channel.time[places], value)
            # a packet that was lost fills many channels at once
            key = (value, channel.unit, channel.time[places].tobytes())
            names = (*found[key].channels, name) if key in found else (name,)
            found[key] = replace(finding, channels=names)
            ok[places] = False
        masked[name] = Channel(name, channel.unit, channel.time, channel.values, ok, channel.noise)
    return list(found.values()), masked


def fill_finding(
    channel: Channel, instants: Array, value: float, *, chance: float = 0.0
) -> Finding:
    """The finding of one fill value in a channel, with the instants [s] of its samples."""
    return Finding(
        "recording.fill_value", (channel.name,),
        float(instants.min()), float(instants.max()), value, channel.unit,
        deviation=0.0, chance=chance, text=fill_text(instants, value, channel.unit),
        done=_MASKED, instants=tuple(instants.tolist()),
    )  # fmt: skip


def fill_text(instants: Array, value: float, unit: str) -> str:
    """A fill value, how often and where, in words.

    >>> fill_text(np.array([0.5, 0.6, 2.0, 2.1, 2.2]), -9999.0, "rad/s")
    'the fill value -9999 rad/s in 5 samples, from 0.5 to 2.2 s'
    """
    number = count_noun(len(instants), "sample")
    if len(instants) > _SHOWN:
        where = f"from {instants.min():.6g} to {instants.max():.6g} s"
    else:
        where = f"at {listing([f'{t:.6g}' for t in instants], most=_SHOWN)} s"
    shown = f"{value:.6g}" if unit == "1" else f"{value:.6g} {unit}"
    return f"the fill value {shown} in {number}, {where}"
