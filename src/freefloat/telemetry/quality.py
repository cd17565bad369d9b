"""A report on a recording: is it fit to identify from, and if not, where and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

import numpy as np

from freefloat.errors import TelemetryError, require_type
from freefloat.telemetry.attitude import continuous
from freefloat.telemetry.channel import Array, Channel
from freefloat.telemetry.fill_values import mask_fill_values
from freefloat.telemetry.known_sensors import KnownSensors
from freefloat.telemetry.names import XYZW, ChannelName, attitude_groups
from freefloat.telemetry.quality_checks import (
    ClockQuality,
    QualityFinding,
    QualityLimits,
    Runs,
    Span,
    check_clock,
    check_runs,
    find_spikes,
)
from freefloat.telemetry.rate_consistency import check_rates
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun, listing, paragraph, table_lines

_HEAD = (
    *("channel", "samples", "rate [Hz]", "jitter [s]"),
    *("gaps", "invalid", "stuck", "saturated", "spikes"),
)
_ALWAYS = 4  # format: columns of the head that are always shown


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
        n_channels = count_noun(len(self.channels), "channel")
        if not faults:
            notes = f", {count_noun(len(self.findings), 'note')}" if self.findings else ""
            return f"The recording is fit for use: {n_channels}, no faults{notes}."
        shown = listing(places, most=4)
        number = count_noun(len(faults), "fault")
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
    telemetry: Telemetry,
    *,
    limits: QualityLimits | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Quality:
    """Return what is wrong with a recording: clocks, gaps, stuck, saturated, outliers, units.

    Args:
        telemetry: The recording.
        limits: From when on something is found, or a fault; `QualityLimits()` unless given.
        ranges: By channel name or glob, the least and the largest value [unit] that a sensor or
            actuator can reach; samples at these count as saturated.

    Returns:
        The report: what was found in every channel and attitude, and the findings with codes.

    Raises:
        TelemetryError: `ranges` names a channel that does not exist.

    >>> t = np.arange(100) * 0.1
    >>> flight = Telemetry.from_arrays(t, {"base.rate.x": np.sin(t)})
    >>> quality(flight).summary
    'The recording is fit for use: 1 channel, no faults.'
    """
    require_type(telemetry, Telemetry, "telemetry", error=TelemetryError)
    limits = limits or QualityLimits()
    filled, unfilled = mask_fill_values(telemetry, KnownSensors(None))
    telemetry = telemetry.with_channels(*unfilled.values()) if unfilled else telemetry
    attitudes: dict[str, AttitudeQuality] = {}
    samples = {name: channel.usable() for name, channel in telemetry.channels.items()}
    for group in attitude_groups(telemetry.names):
        names = ChannelName.parse(group).along(XYZW)
        if all(np.array_equal(samples[name][0], samples[names[0]][0]) for name in names):
            time, rows = samples[names[0]][0], np.column_stack([samples[n][1] for n in names])
            attitudes[group] = _attitude(group, time, rows, limits)
            # A quaternion that changes its sign is the same attitude, not a spike.
            columns = continuous(rows).T if time.size else rows.T
            samples |= {name: (time, column) for name, column in zip(names, columns, strict=True)}
    channels: dict[str, ChannelQuality] = {}
    clocks: dict[int, ClockQuality] = {}  # channels mostly share one
    for name, channel in telemetry.channels.items():
        bounds = next((r for glob, r in (ranges or {}).items() if fnmatchcase(name, glob)), None)
        if id(channel.time) not in clocks:
            clocks[id(channel.time)] = check_clock(channel.time)
        clock = clocks[id(channel.time)]
        channels[name] = _channel(channel, *samples[name], limits, clock=clock, bounds=bounds)
    findings = [QualityFinding("sensor.fill_value", f.place, f.text, True) for f in filled]
    findings += check_rates(samples, limits)
    findings += [f for channel in channels.values() for f in _channel_findings(channel, limits)]
    findings += [f for attitude in attitudes.values() for f in _attitude_findings(attitude)]
    findings.sort(key=lambda finding: not finding.is_fault)
    return Quality(MappingProxyType(channels), MappingProxyType(attitudes), tuple(findings))


def _channel(
    channel: Channel,
    time: Array,
    values: Array,
    limits: QualityLimits,
    *,
    clock: ClockQuality,
    bounds: tuple[float, float] | None,
) -> ChannelQuality:
    named = ChannelName.parse(channel.name)
    is_valve = named.is_scalar("force")
    if named.is_scalar("angle"):
        values = np.unwrap(values)  # a whole turn is no spike
    runs = Runs((), 0, ())
    if values.size:
        runs = check_runs(time, values, limits, noise=channel.noise)
    if is_valve:
        runs = Runs(runs.stuck, 0, ())  # closed or wide open is what it is for
    if bounds is not None:
        slack = 1e-9 * (bounds[1] - bounds[0])
        beyond = (values <= bounds[0] + slack) | (values >= bounds[1] - slack)
        runs = Runs(runs.stuck, int(beyond.sum()), tuple(np.unique(values[beyond])[:2].tolist()))
    # A valve opens and closes: a short pulse is no outlier.
    spikes = () if is_valve else find_spikes(time, values, limits, step=clock.step).tolist()
    return ChannelQuality(
        name=channel.name,
        n_samples=channel.n_samples,
        n_invalid=channel.n_invalid,
        rate=1.0 / clock.step if clock.step else math.nan,
        clock=clock,
        runs=runs,
        spikes=tuple(spikes),
    )


def _attitude(name: str, time: Array, rows: Array, limits: QualityLimits) -> AttitudeQuality:
    if not time.size:
        return AttitudeQuality(name, math.nan, math.nan, 0, 0)
    with np.errstate(over="ignore"):
        deviation = np.abs(np.linalg.norm(rows, axis=1) - 1.0)
    worst = int(np.argmax(deviation))
    return AttitudeQuality(
        name=name,
        worst_norm=float(deviation[worst]),
        worst_at=float(time[worst]),
        n_off_norm=int(np.count_nonzero(deviation > limits.quaternion_norm)),
        n_sign_flips=int(np.count_nonzero(np.sum(rows[1:] * rows[:-1], axis=1) < 0.0)),
    )


def _channel_findings(channel: ChannelQuality, limits: QualityLimits) -> Iterator[QualityFinding]:
    clock, name, n = channel.clock, channel.name, channel.n_samples
    if channel.n_invalid == n:
        yield QualityFinding("samples.none", name, "it has no valid sample", True)
    elif channel.n_invalid:
        share = channel.n_invalid / n
        text = f"{channel.n_invalid} of {n} samples invalid ({share:.2g})"
        yield QualityFinding("samples.invalid", name, text, share > limits.invalid_share)
    if clock.n_backward:
        text = f"the clock runs backward {count_noun(clock.n_backward, 'time')}"
        yield QualityFinding("clock.backward", name, text, True)
    if clock.n_repeated:
        text = count_noun(clock.n_repeated, "repeated instant")
        yield QualityFinding("clock.repeated", name, text, True)
    if (gap := channel.longest_gap) is not None:
        longest = f"the longest of {gap.duration:.4g} s at {gap.start:.6g} s"
        text = f"{count_noun(len(clock.gaps), 'gap')}, {longest}"
        is_long = gap.duration > limits.gap * clock.step
        is_fault = is_long or clock.n_missing > limits.invalid_share * n
        yield QualityFinding("clock.gaps", name, text, is_fault)
    for span in channel.runs.stuck:
        text = f"stuck for {span.duration:.4g} s ({span.n_samples} samples) at {span.start:.6g} s"
        yield QualityFinding("sensor.stuck", name, text, True)
    if channel.runs.n_saturated:
        values = " and ".join(f"{value:.6g}" for value in channel.runs.saturated_at)
        number = count_noun(channel.runs.n_saturated, "sample")
        yield QualityFinding("sensor.saturated", name, f"saturated at {values} in {number}", True)
    if channel.spikes:
        first = f"the first at {channel.spikes[0]:.6g} s"
        number = count_noun(len(channel.spikes), "isolated outlier")
        yield QualityFinding("sensor.spikes", name, f"{number}, {first}", True)


def _attitude_findings(attitude: AttitudeQuality) -> Iterator[QualityFinding]:
    if attitude.n_off_norm:
        worst = f"the worst by {attitude.worst_norm:.3g} at {attitude.worst_at:.6g} s"
        text = f"{count_noun(attitude.n_off_norm, 'quaternion')} not of norm one, {worst}"
        yield QualityFinding("attitude.norm", attitude.name, text, True)
    if attitude.n_sign_flips:
        flips = count_noun(attitude.n_sign_flips, "time")
        text = f"the quaternions change sign {flips}, which does no harm"
        yield QualityFinding("attitude.sign_flips", attitude.name, text, False)


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
