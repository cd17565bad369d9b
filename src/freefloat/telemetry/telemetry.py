"""Telemetry: what was seen, as named channels that never change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from freefloat.errors import Fault, TelemetryError, require_type
from freefloat.notebook import html_list, html_table, html_view
from freefloat.telemetry.channel import Array, Channel, column_of, is_noise, read_only
from freefloat.telemetry.names import (
    ChannelName,
    axes_name,
    match,
    metadata_fault,
    misuse,
    require,
    resolved_unit,
)
from freefloat.telemetry.sample_rows import Sample, samples_of
from freefloat.text import table_lines

_HEAD = ("channel", "unit", "rate [Hz]", "samples", "invalid")


@dataclass(frozen=True, eq=False, repr=False)
class Telemetry:
    """A recording: channels by name, each with its own instants, and notes on where it came from.

    `truth`, which only simulations have, is a Telemetry of its own. Nothing that identifies
    parameters reads it; it is saved to a file of its own.

    >>> flight = Telemetry.from_arrays([0.0, 0.1], {"base.rate.x": [1e-3, 2e-3]})
    >>> flight["base.rate.x"].unit, len(flight), flight.duration
    ('rad/s', 2, 0.1)
    """

    channels: Mapping[str, Channel]
    metadata: Mapping[str, str] = field(default_factory=dict)
    truth: Telemetry | None = None

    # Set by the folder of readers, which knows telemetry, and not the other way round. Nobody can
    # have a Telemetry without it: the package imports both.
    writer: ClassVar[Callable[[Telemetry, str | os.PathLike[str]], None]]

    def __post_init__(self) -> None:
        for name, channel in self.channels.items():
            if name != channel.name:
                place, value = f"channel {channel.name!r}", f"the key {name!r}"
                raise misuse(place, value, "its own name", code="channel.name")
        for key, value in self.metadata.items():
            _check_metadata(key, value)
        if self.truth is not None and self.truth.truth is not None:
            value = "a truth with a truth of its own"
            raise misuse("truth", value, "one level of truth", code="truth.nested")
        # Frozen all the way: a copy behind a proxy.
        object.__setattr__(self, "channels", MappingProxyType(dict(self.channels)))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    @classmethod
    def of(
        cls,
        channels: Iterable[Channel],
        metadata: Mapping[str, str] | None = None,
        *,
        truth: Telemetry | None = None,
    ) -> Telemetry:
        """Return the telemetry made of `channels`, in their order.

        Args:
            channels: Their names must differ; each may have instants of its own.
            metadata: Notes on where they came from, saved with them.
            truth: What really happened, which only simulations know.

        Raises:
            TelemetryError: Two channels have one name.
        """
        by_name: dict[str, Channel] = {}
        for channel in channels:
            if channel.name in by_name:
                place, expected = f"channel {channel.name!r}", "different names"
                raise misuse(place, "the name twice", expected, code="channel.duplicate")
            by_name[channel.name] = channel
        return cls(by_name, metadata or {}, truth)

    @classmethod
    def from_arrays(
        cls,
        time: ArrayLike,
        values: Mapping[str, ArrayLike],
        *,
        units: Mapping[str, str] | None = None,
        noise: Mapping[str, float] | None = None,
        metadata: Mapping[str, str] | None = None,
        truth: Telemetry | None = None,
    ) -> Telemetry:
        """Return channels that share the instants `time` [s], converted to SI.

        Args:
            time: The instants [s], increasing.
            values: By channel name; what is not finite becomes an invalid sample.
            units: Of channels whose unit is not the default of their name.
            noise: Standard deviation of a single sample by channel, in the unit given.
            metadata, truth: As for `of`.

        Raises:
            TelemetryError: A name, a unit or a shape is not what it must be.

        >>> flight = Telemetry.from_arrays([0.0], {"rw.speed": [180]}, units={"rw.speed": "rpm"})
        >>> flight["rw.speed"].values.round(3).tolist()
        [18.85]
        """
        units, noise = units or {}, noise or {}
        for argument, given in (("values", values), ("units", units), ("noise", noise)):
            if not isinstance(given, Mapping):
                value, expected = type(given).__name__, "a mapping by channel name"
                raise misuse(argument, value, expected, code="value.type")
        instants = column_of(next(iter(values), ""), "time", time)
        require([*units, *noise], tuple(values))
        channels = []
        for name, column in values.items():
            unit, factor = _si(name, units.get(name))
            numbers = column_of(name, "values", column)
            numbers = numbers if factor == 1.0 else read_only(numbers * factor)
            sigma = noise.get(name)
            if sigma is not None and not is_noise(sigma):
                expected = "a standard deviation >= 0"
                raise misuse(f"noise of {name!r}", repr(sigma), expected, code="channel.noise")
            sigma = None if sigma is None else sigma * factor
            channels.append(Channel(name, unit, instants, numbers, noise=sigma))
        return cls.of(channels, metadata, truth=truth)

    # -- looking ---------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the channels, in order."""
        return tuple(self.channels)

    @cached_property
    def instants(self) -> Array:
        """The distinct sample instants of all channels [s], in order."""
        # Channels mostly share their time base: look at each array once.
        bases = {id(channel.time): channel.time for channel in self.channels.values()}
        return read_only(np.unique(np.concatenate([np.empty(0), *bases.values()])))

    @property
    def start(self) -> float:
        """The first instant [s]."""
        return float(self._require_samples()[0])

    @property
    def end(self) -> float:
        """The last instant [s]."""
        return float(self._require_samples()[-1])

    @property
    def duration(self) -> float:
        """The time from the first to the last instant [s]; zero without samples."""
        return float(self.instants[-1] - self.instants[0]) if self.instants.size else 0.0

    def matrix(
        self, names: str | Sequence[str], times: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return instants [s] and one column of values per channel; invalid samples are NaN.

        `names` are names or globs. The channels must share one time base or, where `times` [s] is
        given, have a sample at each of those instants; nothing is interpolated.

        >>> flight = Telemetry.from_arrays([0.0, 1.0], {"a.angle": [1, 2], "b.angle": [3, 4]})
        >>> flight.matrix("*.angle")[1].tolist()
        [[1.0, 3.0], [2.0, 4.0]]
        """
        channels = [self.channels[name] for name in match(names, self.names)]
        if times is not None:
            instants = np.array(times, dtype=np.float64)
            columns = [channel.values_at(instants) for channel in channels]
            return read_only(instants), read_only(np.column_stack(columns))
        base = channels[0]
        for channel in channels[1:]:
            if channel.time is not base.time and not np.array_equal(channel.time, base.time):
                raise different_times(base, channel)
        return base.time, read_only(np.column_stack([channel.values for channel in channels]))

    def __getitem__(self, name: str) -> Channel:
        require([name], self.names)
        return self.channels[name]

    def __contains__(self, name: object) -> bool:
        return name in self.channels

    def __len__(self) -> int:
        return self.instants.size

    def __iter__(self) -> Iterator[Sample]:
        """Yield what was validly measured, instant by instant, in time order."""
        return samples_of(tuple(self.channels.values()))

    def channel_rows(self, *, with_noise: bool = False) -> list[tuple[str, ...]]:
        """One row for a table, the axes of one quantity together where they are alike.

        Name, unit, rate [Hz], number of samples, number of invalid ones, and the noise if wanted.

        >>> values = {"base.rate.x": [0, 0], "base.rate.y": [0, 0]}
        >>> Telemetry.from_arrays([0.0, 0.1], values).channel_rows()
        [('base.rate.x|y', 'rad/s', '10', '2', '0')]
        """
        groups: dict[tuple[str, ...], list[Channel]] = {}
        for channel in self.channels.values():
            rate = f"{channel.rate:.6g}" if channel.n_samples > 1 else "-"
            noise = "-" if channel.noise is None else f"{channel.noise:.3g}"
            key = (ChannelName.parse(channel.name).group, channel.unit, rate)
            key += (str(channel.n_samples), *([noise] if with_noise else []))
            groups.setdefault(key, []).append(channel)
        rows = []
        for (_, *shared), group in groups.items():
            shared.insert(3, str(sum(channel.n_invalid for channel in group)))
            rows.append((axes_name([channel.name for channel in group]), *shared))
        return rows

    # -- changing, by making another one ---------------------------------------------------------

    def select(self, names: str | Sequence[str]) -> Telemetry:
        """Return the channels whose names match the names or globs.

        >>> flight = Telemetry.from_arrays([0.0], {"base.rate.x": [0], "elbow.torque": [0]})
        >>> flight.select("base.*").names
        ('base.rate.x',)
        """
        return self._with(self.channels[name] for name in match(names, self.names))

    def without(self, names: str | Sequence[str]) -> Telemetry:
        """Return the telemetry without the channels that match the names or globs."""
        dropped = set(match(names, self.names))
        return self._with(c for name, c in self.channels.items() if name not in dropped)

    def with_channels(self, *channels: Channel) -> Telemetry:
        """Return the telemetry with `channels` added, or put in place of those of their names."""
        return replace(self, channels=dict(self.channels) | {c.name: c for c in channels})

    def with_metadata(self, **entries: str) -> Telemetry:
        """Return the telemetry with entries of the metadata added or replaced."""
        return replace(self, metadata=dict(self.metadata) | entries)

    def with_truth(self, truth: Telemetry | None) -> Telemetry:
        """Return the telemetry with another truth beside it, or none."""
        return replace(self, truth=truth)

    def rename(self, names: Mapping[str, str]) -> Telemetry:
        """Return the telemetry with channels renamed, old name to new, in the truth as well."""
        require(names, self.names)
        renamed = self._with(
            c.with_name(names[c.name]) if c.name in names else c for c in self.channels.values()
        )
        if self.truth is None:
            return renamed
        known = {old: new for old, new in names.items() if old in self.truth}
        return replace(renamed, truth=self.truth.rename(known))

    def shift(self, names: str | Sequence[str], seconds: float) -> Telemetry:
        """Return the telemetry with the clocks of the matching channels set forward [s].

        >>> late = Telemetry.from_arrays([1.0, 2.0], {"base.rate.x": [0, 0]})
        >>> late.shift("base.*", -0.5)["base.rate.x"].time.tolist()
        [0.5, 1.5]
        """
        moved = set(match(names, self.names))
        times: dict[int, Array] = {}  # channels that shared a time base go on sharing it
        for name in moved:
            time = self.channels[name].time
            times.setdefault(id(time), read_only(time + seconds))
        return self._with(
            c.with_time(times[id(c.time)]) if c.name in moved else c for c in self.channels.values()
        )

    def between(self, start: float, end: float) -> Telemetry:
        """Return the samples with start <= time <= end [s], of the truth as well."""
        return self._cut(start, np.nextafter(end, np.inf))

    def split(self, at: Sequence[float]) -> tuple[Telemetry, ...]:
        """Return the pieces before, between and after the instants `at` [s], truth included.

        >>> flight = Telemetry.from_arrays([0.0, 1.0, 2.0], {"base.angle": [0, 0, 0]})
        >>> [len(piece) for piece in flight.split(at=[1.0])]
        [1, 2]
        """
        edges = [-np.inf, *sorted(at), np.inf]
        return tuple(self._cut(*edge) for edge in pairwise(edges))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file whose suffix names the format; the truth goes to `<stem>.truth<suffix>`.

        See `freefloat.telemetry.readers.write_telemetry`.
        """
        self.writer(self, path)

    def _require_samples(self) -> Array:
        if not self.instants.size:
            raise misuse(
                "telemetry",
                "no samples",
                "at least one sample",
                "check how it was cut",
                code="telemetry.empty",
            )
        return self.instants

    def _cut(self, start: float, end: float) -> Telemetry:
        times: dict[int, Array] = {}  # channels that shared a time base go on sharing it
        cut = []
        for c in self.channels.values():
            inside = (c.time >= start) & (c.time < end)
            time = times.setdefault(id(c.time), read_only(c.time[inside]))
            cut.append(Channel(c.name, c.unit, time, c.values[inside], c.valid[inside], c.noise))
        truth = None if self.truth is None else self.truth._cut(start, end)
        return Telemetry.of(cut, self.metadata, truth=truth)

    def _with(self, channels: Iterable[Channel]) -> Telemetry:
        return Telemetry.of(channels, self.metadata, truth=self.truth)

    def __eq__(self, other: object) -> bool:
        """Whether names and their order, every bit of every sample, metadata and truth agree."""
        if not isinstance(other, Telemetry):
            return NotImplemented
        return (
            self.names == other.names
            and all(channel == other.channels[name] for name, channel in self.channels.items())
            and self.metadata == other.metadata
            and self.truth == other.truth
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        # A mapping proxy cannot be sent to another process; the mappings behind it can.
        return Telemetry, (dict(self.channels), dict(self.metadata), self.truth)

    def __repr__(self) -> str:
        return f"Telemetry({len(self.channels)} channels, {len(self)} instants)"

    def __str__(self) -> str:
        if not self.channels:
            return self._headline()
        rows = table_lines([_HEAD, *self.channel_rows()], left=2)
        notes = [f"{key}: {value}" for key, value in self.metadata.items()]
        return "\n".join([self._headline(), *rows, *notes])

    def _repr_html_(self) -> str:
        notes = [f"{key}: {value}" for key, value in self.metadata.items()]
        table = html_table(_HEAD, self.channel_rows()) if self.channels else ""
        return html_view(self._headline(), table, html_list(notes))

    def _headline(self) -> str:
        if not self.channels:
            return "Telemetry without channels"
        span = f", {self.start:.6g} to {self.end:.6g} s" if len(self) else ""
        beside = "" if self.truth is None else "; the truth is beside it"
        return f"Telemetry: {len(self.channels)} channels, {len(self)} instants{span}{beside}"


def different_times(a: Channel, b: Channel) -> TelemetryError:
    """Return the error for two channels that ought to share a time base."""
    return misuse(
        f"channels {a.name!r} and {b.name!r}",
        f"different time bases: {_time_base(a)} and {_time_base(b)}",
        "one time base",
        "use align(telemetry) first, or ask for the channels one by one",
        code="telemetry.time_base",
    )


def _time_base(channel: Channel) -> str:
    if not channel.n_samples:
        return "no samples"
    return f"{channel.n_samples} samples at {channel.rate:.6g} Hz from {channel.time[0]:.9g} s"


def _si(name: str, unit: str | None) -> tuple[str, float]:
    require_type(name, str, "name of a channel", error=TelemetryError)
    require_type(unit, (str, type(None)), f"unit of {name!r}", error=TelemetryError)
    resolved = resolved_unit(name, unit)
    if isinstance(resolved, Fault):
        raise TelemetryError(f"the unit of channel {name!r} cannot be used", [resolved])
    return resolved


def _check_metadata(key: str, value: str) -> None:
    fault = metadata_fault(key, value)
    if fault:
        expected = "text that every file format can hold"
        raise misuse(f"metadata {key!r}", fault, expected, code="metadata.text")
