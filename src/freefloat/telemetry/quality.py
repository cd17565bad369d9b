"""A report on a recording: is it fit to identify from, and if not, where and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

import numpy as np

from freefloat.telemetry.attitude import continuous
from freefloat.telemetry.channel import Array, Channel
from freefloat.telemetry.names import attitude_groups
from freefloat.telemetry.quality_checks import (
    ClockQuality,
    Runs,
    Span,
    check_clock,
    check_runs,
    find_spikes,
)
from freefloat.telemetry.rate_consistency import disagreements
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import counted, paragraph, table_lines

_TOLERATED_SHARE = 0.01  # of samples missing or invalid
_TOLERATED_GAP = 10.0  # sampling steps
_TOLERATED_NORM = 1e-3  # by which a quaternion may differ from norm one
_HEAD = (
    *("channel", "samples", "rate [Hz]", "jitter [s]"),
    *("gaps", "invalid", "stuck", "saturated", "spikes"),
)
_ALWAYS = 4  # columns of the head that are always shown


@dataclass(frozen=True)
class QualityFinding:
    """One thing to know about a recording; a fault, unless it does no harm."""

    place: str
    text: str
    is_fault: bool

    def __str__(self) -> str:
        return f"{'fault' if self.is_fault else 'note'}: {self.place}: {self.text}"


@dataclass(frozen=True)
class ChannelQuality:
    """What was found in one channel."""

    name: str
    n_samples: int
    n_invalid: int
    rate: float  # [Hz]
    clock: ClockQuality
    runs: Runs
    spikes: tuple[float, ...]  # instants [s]

    @property
    def longest_gap(self) -> Span | None:
        """The longest gap, if there is one."""
        return max(self.clock.gaps, key=lambda gap: gap.duration, default=None)


@dataclass(frozen=True)
class AttitudeQuality:
    """What was found in the quaternions of one frame."""

    name: str
    worst_norm: float  # deviation from one
    worst_at: float  # [s]
    n_off_norm: int
    n_sign_flips: int


@dataclass(frozen=True)
class Quality:
    """The report: channels and attitudes by name, and the findings, faults first.

    `print` it, or turn it into JSON by `as_dict`. Printed, it has a column for what was found in
    some channel only.
    """

    channels: Mapping[str, ChannelQuality]
    attitudes: Mapping[str, AttitudeQuality]
    findings: tuple[QualityFinding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found that would do harm."""
        return not any(finding.is_fault for finding in self.findings)

    @property
    def summary(self) -> str:
        """One sentence that says whether the recording is fit for use."""
        faults = [finding for finding in self.findings if finding.is_fault]
        places = list(dict.fromkeys(finding.place for finding in faults))
        n_channels = counted(len(self.channels), "channel")
        if not faults:
            notes = f", {counted(len(self.findings), 'note')}" if self.findings else ""
            return f"The recording is fit for use: {n_channels}, no faults{notes}."
        shown = ", ".join(places[:4]) + (", ..." if len(places) > 4 else "")
        number = counted(len(faults), "fault")
        return f"The recording needs attention: {number} in {shown} (of {n_channels})."

    def as_dict(self) -> dict[str, object]:
        """Return the report as plain lists, dictionaries, text and numbers, None for NaN."""
        whole = {
            "ok": self.ok,
            "summary": self.summary,
            "findings": [asdict(finding) for finding in self.findings],
            "channels": {name: asdict(channel) for name, channel in self.channels.items()},
            "attitudes": {name: asdict(attitude) for name, attitude in self.attitudes.items()},
        }
        return _plain(whole)  # type: ignore[return-value]

    def __str__(self) -> str:
        findings = [
            line for finding in self.findings for line in paragraph(str(finding), indent="  ")
        ]
        table = table_lines(self.table())
        return "\n".join([*paragraph(self.summary, indent="  "), *table, *findings])

    def table(self) -> list[tuple[str, ...]]:
        """Return a row of titles and one for each channel; what was found nowhere has no column."""
        rows = [_HEAD, *map(_row, self.channels.values())]
        columns = list(zip(*rows, strict=True))
        found = [column for column in columns[_ALWAYS:] if set(column[1:]) != {"0"}]
        return list(zip(*columns[:_ALWAYS], *found, strict=True))


@np.errstate(over="ignore", invalid="ignore")  # absurdly large values are findings too
def quality(
    telemetry: Telemetry, model_limits: Mapping[str, tuple[float, float]] | None = None
) -> Quality:
    """Return what is wrong with a recording: clocks, gaps, stuck, saturated, outliers, units.

    `model_limits` gives, by channel name or glob, the range [unit] beyond which a sensor or
    actuator cannot go; samples at its ends count as saturated.

    >>> t = np.arange(100) * 0.1
    >>> flight = Telemetry.from_arrays(t, {"base.rate.x": np.sin(t)})
    >>> quality(flight).summary
    'The recording is fit for use: 1 channel, no faults.'
    """
    attitudes: dict[str, AttitudeQuality] = {}
    samples = {name: channel.usable() for name, channel in telemetry.channels.items()}
    for group in attitude_groups(telemetry.names):
        names = [f"{group}.{axis}" for axis in "xyzw"]
        if all(np.array_equal(samples[name][0], samples[names[0]][0]) for name in names):
            time, rows = samples[names[0]][0], np.column_stack([samples[n][1] for n in names])
            attitudes[group] = _attitude(group, time, rows)
            # A quaternion that changes its sign is the same attitude, not a spike.
            columns = continuous(rows).T if time.size else rows.T
            samples |= {name: (time, column) for name, column in zip(names, columns, strict=True)}
    channels: dict[str, ChannelQuality] = {}
    for name, channel in telemetry.channels.items():
        limits = _limits(name, model_limits or {})
        channels[name] = _channel(channel, *samples[name], limits=limits)
    findings = [QualityFinding(name, text, True) for name, text in disagreements(samples)]
    findings += [f for channel in channels.values() for f in _channel_findings(channel)]
    findings += [f for attitude in attitudes.values() for f in _attitude_findings(attitude)]
    findings.sort(key=lambda finding: not finding.is_fault)
    return Quality(MappingProxyType(channels), MappingProxyType(attitudes), tuple(findings))


def _limits(name: str, limits: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    return next((limits[glob] for glob in limits if fnmatchcase(name, glob)), None)


def _channel(
    channel: Channel, time: Array, values: Array, *, limits: tuple[float, float] | None
) -> ChannelQuality:
    clock = check_clock(channel.time)
    is_valve = channel.name.endswith(".force")  # opens and closes: a short pulse is no outlier
    if channel.name.endswith(".angle"):
        values = np.unwrap(values)  # a whole turn is no spike
    runs = Runs((), 0, ())
    if values.size:
        runs = check_runs(time, values, noise=channel.noise)
    if is_valve:
        runs = Runs(runs.stuck, 0, ())  # closed or wide open is what it is for
    if limits is not None:
        slack = 1e-9 * (limits[1] - limits[0])
        beyond = (values <= limits[0] + slack) | (values >= limits[1] - slack)
        runs = Runs(runs.stuck, int(beyond.sum()), tuple(np.unique(values[beyond])[:2].tolist()))
    return ChannelQuality(
        name=channel.name,
        n_samples=channel.n_samples,
        n_invalid=channel.n_invalid,
        rate=channel.rate,
        clock=clock,
        runs=runs,
        spikes=() if is_valve else tuple(find_spikes(time, values, step=clock.step).tolist()),
    )


def _attitude(name: str, time: Array, rows: Array) -> AttitudeQuality:
    if not time.size:
        return AttitudeQuality(name, math.nan, math.nan, 0, 0)
    with np.errstate(over="ignore"):
        deviation = np.abs(np.linalg.norm(rows, axis=1) - 1.0)
    worst = int(np.argmax(deviation))
    return AttitudeQuality(
        name=name,
        worst_norm=float(deviation[worst]),
        worst_at=float(time[worst]),
        n_off_norm=int(np.count_nonzero(deviation > _TOLERATED_NORM)),
        n_sign_flips=int(np.count_nonzero(np.sum(rows[1:] * rows[:-1], axis=1) < 0.0)),
    )


def _channel_findings(channel: ChannelQuality) -> Iterator[QualityFinding]:
    clock, name, n = channel.clock, channel.name, channel.n_samples
    if channel.n_invalid == n:
        yield QualityFinding(name, "it has no valid sample", True)
    elif channel.n_invalid:
        share = channel.n_invalid / n
        text = f"{channel.n_invalid} of {n} samples invalid ({share:.2g})"
        yield QualityFinding(name, text, share > _TOLERATED_SHARE)
    if clock.n_backward:
        yield QualityFinding(
            name, f"the clock runs backward {counted(clock.n_backward, 'time')}", True
        )
    if clock.n_repeated:
        yield QualityFinding(name, f"{counted(clock.n_repeated, 'repeated instant')}", True)
    if (gap := channel.longest_gap) is not None:
        longest = f"the longest of {gap.duration:.4g} s at {gap.start:.6g} s"
        text = f"{counted(len(clock.gaps), 'gap')}, {longest}"
        is_long = gap.duration > _TOLERATED_GAP * clock.step
        yield QualityFinding(name, text, is_long or clock.n_missing > _TOLERATED_SHARE * n)
    for span in channel.runs.stuck:
        text = f"stuck for {span.duration:.4g} s ({span.n_samples} samples) at {span.start:.6g} s"
        yield QualityFinding(name, text, True)
    if channel.runs.n_saturated:
        values = " and ".join(f"{value:.6g}" for value in channel.runs.saturated_at)
        number = counted(channel.runs.n_saturated, "sample")
        yield QualityFinding(name, f"saturated at {values} in {number}", True)
    if channel.spikes:
        first = f"the first at {channel.spikes[0]:.6g} s"
        number = counted(len(channel.spikes), "lone outlier")
        yield QualityFinding(name, f"{number}, {first}", True)


def _attitude_findings(attitude: AttitudeQuality) -> Iterator[QualityFinding]:
    if attitude.n_off_norm:
        worst = f"the worst by {attitude.worst_norm:.3g} at {attitude.worst_at:.6g} s"
        text = f"{counted(attitude.n_off_norm, 'quaternion')} not of norm one, {worst}"
        yield QualityFinding(attitude.name, text, True)
    if attitude.n_sign_flips:
        flips = counted(attitude.n_sign_flips, "time")
        text = f"the quaternions change sign {flips}, which does no harm"
        yield QualityFinding(attitude.name, text, False)


def _row(channel: ChannelQuality) -> tuple[str, ...]:
    clock, runs = channel.clock, channel.runs
    counts = (len(clock.gaps), channel.n_invalid, len(runs.stuck), runs.n_saturated)
    numbers = [str(count) for count in (*counts, len(channel.spikes))]
    is_steady = clock.jitter < 1e-6 * clock.step  # the rest is rounding
    rate, jitter = f"{channel.rate:.6g}", "0" if is_steady else f"{clock.jitter:.2g}"
    return (channel.name, str(channel.n_samples), rate, jitter, *numbers)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
