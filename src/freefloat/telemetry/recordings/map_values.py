"""Columns become channels: units, scales, valves, axes, rotations, quaternions, frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, TelemetryError
from freefloat.model.rotations import (
    conjugate,
    matrix_from_quaternion,
    quaternion_from_matrix,
    quaternion_product,
)
from freefloat.telemetry.attitude import continuous, slerp, unit
from freefloat.telemetry.channel import LATEST, TIME_EXPECTED, Channel
from freefloat.telemetry.names import XYZW, resolved_unit
from freefloat.telemetry.recordings.clock_units import unit_by_name
from freefloat.telemetry.recordings.map_fields import MappedColumns
from freefloat.telemetry.recordings.recording_map import WORLD_AXES, MapEntry
from freefloat.telemetry.recordings.source_recording import Columns, is_missing
from freefloat.telemetry.units import si_unit

DATE = 1e8  # theory: [s]; three years, longer than any recording, shorter than any date since 1973
_NORM = 0.1  # theory: quaternions of single precision or rounded digits are far closer to one


class ChannelValues:
    """The channels of one entry: instants [s] and values (N, k) in SI, to be turned further."""

    def __init__(self, mapped: MappedColumns, time: Array, values: Array) -> None:
        self.mapped, self.entry = mapped, mapped.entry
        self.time, self.values = time, values

    def channels(self) -> list[Channel]:
        """The channels, each with its noise."""
        _, factor = _unit(self.mapped.channels[0], self.entry)
        noise = np.broadcast_to(self.entry.noise or (np.nan,), (len(self.mapped.channels),))
        return [
            Channel(
                name, _unit(name, self.entry)[0], self.time, self.values[:, n],
                noise=None if np.isnan(noise[n]) else float(noise[n]) * factor,
            )
            for n, name in enumerate(self.mapped.channels)
        ]  # fmt: skip


def convert(
    mapped: MappedColumns, columns: Mapping[str, Columns], *, origin: int | float
) -> ChannelValues:
    """The values of one entry from its raw columns, at times from `origin` on."""
    entry = mapped.entry
    raw = [columns[place.stream][place.field.name] for place in mapped.columns]
    clock = columns[mapped.clock.stream][mapped.clock.field.name]
    keep = ~is_missing(clock) & ~np.any([is_missing(column) for column in raw], axis=0)
    time = clock_seconds(clock[keep], clock_unit(mapped), origin)
    time = time - entry.delay if entry.delay else time
    _require_times(mapped, time)
    values = np.column_stack([column[keep].astype(np.float64) for column in raw])
    if entry.scale != (1.0,) or entry.offset != (0.0,):
        values = values * np.array(entry.scale) + np.array(entry.offset)
    if entry.force:
        values = _force(entry, time, values)
    else:
        _, factor = _unit(mapped.channels[0], entry)
        values = values if factor == 1.0 else values * factor
    if len(mapped.channels) == 4 and mapped.channels[0].endswith(".attitude.x"):
        values = _attitude(mapped, values)
    elif values.shape[1] in (2, 3) and len(entry.to) == 1:
        values = _vector(entry, values)
    if entry.unwrap:
        values = _unwrap(values)
    return ChannelValues(mapped, time, values)


def _unit(name: str, entry: MapEntry) -> tuple[str, float]:
    """The SI unit of a channel and the factor into it."""
    found = resolved_unit(name, None if entry.force else entry.unit)
    assert not isinstance(found, Fault), "a map is checked when it is read"
    return found


# -- time ------------------------------------------------------------------------------------------


def clock_unit(mapped: MappedColumns) -> str:
    """The unit of an entry's clock: what the map says, the file, or the clock's name."""
    return mapped.clock_unit or mapped.clock.field.unit or _stamp_unit(mapped)


def _stamp_unit(mapped: MappedColumns) -> str:
    """Stamps of messages are nanoseconds, other clocks what their names end in, or seconds."""
    name = mapped.clock.field.name
    if name.startswith("@") or name.rpartition(".")[2] == "stamp":
        return "ns"
    return unit_by_name(name) or "s"


def clock_seconds(clock: np.ndarray, unit_name: str, origin: int | float) -> Array:
    """Times [s] from the origin, which is in the clock's own unit.

    Whole numbers are subtracted before they are floats: a date in nanoseconds keeps them all.

    >>> clock_seconds(np.array([1_700_000_000_000_000_001]), "ns", 1_700_000_000_000_000_000)
    array([1.e-09])
    """
    factor = seconds_in(unit_name)
    if clock.dtype == np.int64 and isinstance(origin, int):
        return (clock - origin).astype(np.float64) * factor
    time = clock.astype(np.float64)
    return (time - origin if origin else time) * factor if factor != 1.0 or origin else time


def seconds_in(unit_name: str) -> float:
    """How many seconds a unit of time is; one that is none is taken for a second."""
    known = si_unit(unit_name)
    return known[1] if known is not None and known[0] == "s" else 1.0


def time_origin(
    mapped: Sequence[MappedColumns], columns: Mapping[str, Columns], origin: float | str
) -> tuple[dict[str, int | float], float | None]:
    """Where time begins, in the unit of each clock, and that instant [s] where it was moved.

    "first" is the first sample of all; dates count from the first sample by default.
    """
    firsts: dict[str, tuple[int | float, str]] = {}
    for one in mapped:
        clock = columns[one.clock.stream][one.clock.field.name]
        clock = clock[~is_missing(clock)]
        usable = clock if clock.dtype == np.int64 else clock[np.isfinite(clock)]
        if len(usable):
            least = usable.min().item()
            name = clock_unit(one)
            if name not in firsts or least < firsts[name][0]:
                firsts[name] = (least, name)
    starts = [least * seconds_in(name) for least, name in firsts.values()]
    if origin == "keep" or not starts:
        return {}, None
    if origin == "auto" and min(starts) < DATE:
        return {}, None
    if isinstance(origin, float):
        return {name: origin / seconds_in(name) for name in firsts}, origin
    least, unit_name = min(firsts.values(), key=lambda one: one[0] * seconds_in(one[1]))
    found: dict[str, int | float] = {}
    for name in firsts:
        ratio = seconds_in(unit_name) / seconds_in(name)
        found[name] = least if name == unit_name else least * ratio
    return found, least * seconds_in(unit_name)


def _require_times(mapped: MappedColumns, time: Array) -> None:
    is_bad = ~(np.abs(time) <= LATEST)
    if is_bad.any() or not len(time):
        value = f"{time[int(np.argmax(is_bad))]} s" if len(time) else "no samples"
        clock = mapped.clock.field.name
        remedy = "correct the clock or its unit" if len(time) else "map another field"
        place = f"{mapped.entry.place}, clock {clock!r}"
        fault = Fault(place, value, TIME_EXPECTED, remedy, "time.invalid")
        raise TelemetryError(f"the times of {mapped.channels[0]} cannot be used", [fault])


# -- values ----------------------------------------------------------------------------------------


def _force(entry: MapEntry, time: Array, values: Array) -> Array:
    """Forces [N] of valves, from on and off or from on-times."""
    force = np.array(entry.force)
    if entry.valve == "on_time":
        step = np.diff(time)
        step = np.append(step, np.median(step) if len(step) else 1.0)
        factor = seconds_in(entry.unit or "s")
        with np.errstate(divide="ignore", invalid="ignore"):
            share = values * factor / step[:, None]
        values = np.where(np.isfinite(share), np.minimum(share, 1.0), np.nan)
    is_other = np.isfinite(values) & ~((values >= 0.0) & (values <= 1.0))
    if is_other.any():
        value = f"{values[is_other][0]:g} ({int(is_other.sum())} samples)"
        remedy = "scale it, or leave force out where numbers are forces"
        fault = Fault(entry.place, value, "0 (shut) to 1 (open)", remedy, "map.valve")
        raise TelemetryError(f"{entry.to[0]}: not the states of a valve", [fault])
    return values * force


def _vector(entry: MapEntry, values: Array) -> Array:
    if entry.axes:
        index = ["xyz".index(axis[-1]) for axis in entry.axes]
        if max(index) >= values.shape[1]:
            fault = Fault(entry.place, "axes beyond the fields", "axes that `from` has",
                          "correct axes", "map.columns")  # fmt: skip
            raise TelemetryError(f"{entry.to[0]}: axes that are not there", [fault])
        sign = np.array([-1.0 if axis.startswith("-") else 1.0 for axis in entry.axes])
        values = values[:, index] * sign
    for turn in (entry.rotation, entry.world):
        if turn is not None:
            size = values.shape[1]
            if size == 2 and not np.allclose(turn[2], (0.0, 0.0, 1.0), atol=1e-9):
                fault = Fault(entry.place, "a rotation out of the plane", "one about z",
                              "give three fields", "map.columns")  # fmt: skip
                raise TelemetryError(f"{entry.to[0]}: two components cannot be turned so", [fault])
            values = values @ turn[:size, :size].T
    return values


def _attitude(mapped: MappedColumns, values: Array) -> Array:
    """Quaternions x, y, z, w that take body axes to world axes, made continuous."""
    entry = mapped.entry
    if not mapped.is_named and entry.order == "wxyz":
        values = values[:, [1, 2, 3, 0]]
    size = np.linalg.norm(values, axis=1)
    is_other = np.isfinite(size) & (np.abs(size - 1.0) > _NORM) & (size > 0.0)
    if is_other.any():
        value = f"norm {size[is_other][0]:g} ({int(is_other.sum())} samples)"
        fault = Fault(entry.place, value, "quaternions of norm 1", "correct `from`", "map.norm")
        raise TelemetryError(f"{entry.to[0]}: not quaternions", [fault])
    values = np.where((size > 0.0)[:, None], values, np.nan)  # four zeros: nothing was measured
    if entry.direction == "world_to_body":
        values = conjugate(values)
    if entry.rotation is not None:  # sensor to body: the body's attitude is q * (body to sensor)
        turn = quaternion_from_matrix(entry.rotation.T)
        values = quaternion_product(values, np.broadcast_to(turn, values.shape))
    if entry.world is not None:
        turn = quaternion_from_matrix(entry.world)
        values = quaternion_product(np.broadcast_to(turn, values.shape), values)
    return values


def _unwrap(values: Array) -> Array:
    made = values.copy()
    for column in made.T:
        ok = np.isfinite(column)
        column[ok] = np.unwrap(column[ok])
    return made


# -- frames ----------------------------------------------------------------------------------------


def turn_frames(found: Sequence[ChannelValues]) -> list[Fault]:
    """Turn vectors that were recorded in other axes than their channel has, by the attitude.

    Returns the faults of those for which there is no attitude.
    """
    faults = []
    for one in found:
        frame = one.entry.frame
        wants = "world" if one.entry.quantity in WORLD_AXES else "body"
        if frame is None or frame == wants or one.values.shape[1] == 1:
            continue
        place = one.mapped.channels[0].rpartition(f".{one.entry.quantity}")[0]
        turns = _turns(found, place, one)
        if isinstance(turns, Fault):
            faults.append(turns)
            continue
        if one.values.shape[1] == 2:
            turns = turns[:, :2, :2]
        turns = turns if wants == "world" else np.swapaxes(turns, 1, 2)
        one.values = np.einsum("nij,nj->ni", turns, one.values)
    return faults


def _turns(found: Sequence[ChannelValues], place: str, one: ChannelValues) -> Array | Fault:
    """Body to world at the instants of a vector, from the attitude or angle of the same place."""
    attitude = [f"{place}.attitude.{axis}" for axis in XYZW]
    for other in found:
        names = list(other.mapped.channels)
        if names == attitude:
            ok = np.isfinite(other.values).all(axis=1)
            order = np.argsort(other.time[ok], kind="stable")
            q = _between(other.time[ok][order], other.values[ok][order], one.time)
            return np.array([matrix_from_quaternion(row) for row in q])
        if f"{place}.angle" in names:
            ok = np.isfinite(other.values[:, names.index(f"{place}.angle")])
            angle = np.unwrap(other.values[ok, names.index(f"{place}.angle")])
            turn = np.interp(one.time, other.time[ok], angle)
            c, s, o = np.cos(turn), np.sin(turn), np.zeros(len(turn))
            rows = [[c, -s, o], [s, c, o], [o, o, o + 1.0]]
            return np.moveaxis(np.array(rows), 2, 0)
    value = f"frame = {one.entry.frame!r} without an attitude"
    expected = f"{place}.attitude or {place}.angle in the map"
    return Fault(one.entry.place, value, expected, "map the attitude too", "map.frame")


def _between(time: Array, q: Array, instants: Array) -> Array:
    """Attitudes at other instants, along the shortest turn; those outside are the nearest."""
    q = continuous(unit(q))
    after = np.clip(np.searchsorted(time, instants), 1, max(len(time) - 1, 1))
    if len(time) < 2:
        return np.broadcast_to(q[:1], (len(instants), 4))
    step = time[after] - time[after - 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(step > 0.0, (instants - time[after - 1]) / step, 0.0)
    return slerp(q[after - 1], q[after], np.clip(share, 0.0, 1.0))
