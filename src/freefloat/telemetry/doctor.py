"""The doctor of a recording: what is wrong with it, by cause, and the recording without it.

Samples are masked, never deleted; clocks that were set are joined; late streams are shifted. What
an estimate is for (a bias, a gain, a mounting) is reported and left alone. Everything that is done
is written into the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from freefloat.errors import TelemetryError, require_type
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.telemetry.attitude import continuous
from freefloat.telemetry.channel import Array, Channel, read_only
from freefloat.telemetry.clock_steps import ClockStep, StreamClock, clocks_of, find_clock_steps
from freefloat.telemetry.constant_channels import constant_findings, without_constants
from freefloat.telemetry.delays import Delay, find_delays
from freefloat.telemetry.diagnosis import REPAIR, Diagnosis, Finding, repair_log
from freefloat.telemetry.fill_values import HELD, mask_absurd, mask_fill_values
from freefloat.telemetry.finding_list import join_stuck, merge_axes, merge_rounds
from freefloat.telemetry.known_sensors import KnownSensors, known_noise
from freefloat.telemetry.local_prediction import SignalSamples
from freefloat.telemetry.names import XYZW, ChannelName, attitude_groups, misuse
from freefloat.telemetry.pair_causes import examine_pairs, lags_of
from freefloat.telemetry.quality_checks import check_clock
from freefloat.telemetry.rate_consistency import require_seconds
from freefloat.telemetry.sample_causes import Examined, examine_samples
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_delay import thrust_findings
from freefloat.telemetry.thrust_levels import CLOSED, MEAN, THRUST, open_levels
from freefloat.text import count_noun

LEFT_ALONE = "left for the estimate of the delay"
_MOST_ROUNDS = 4  # theory: samples, clocks, delays, and a round that finds nothing more


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # absurd values are findings
def examine(telemetry: Telemetry, model: Model | None = None, *, shift: bool = True) -> Diagnosis:
    """Return what is wrong with a recording, by cause, with place, size and confidence.

    It looks for gaps, fill values, stuck and saturated sensors, channels that nobody measured,
    outliers, bursts, coarse digits, clocks that were set, and for streams that contradict each
    other: delays, gains, signs, axes, frames, quaternions and biases. A sound recording shows
    anything by a chance of about one in a thousand.

    Args:
        telemetry: The recording.
        model: The system, if known: what its sensors are said to have (delay, bias, saturation,
            noise) is not found again.
        shift: Whether late streams are to be shifted; else they are reported only, for an
            estimate of the delay itself.

    Returns:
        The findings, and the channels as they are once repaired.

    Raises:
        TelemetryError: An argument is of another kind.

    >>> t = np.arange(500) * 0.02
    >>> noisy = np.sin(t) + 1e-3 * np.random.default_rng(0).normal(size=t.size)
    >>> noisy[200] += 0.05
    >>> found = examine(Telemetry.from_arrays(t, {"base.rate.x": noisy}))
    >>> found.codes, found.findings[0].instants
    (('recording.outliers',), (4.0,))
    """
    require_type(telemetry, Telemetry, "telemetry", error=TelemetryError)
    sensors = KnownSensors(model)
    # first, as nothing can be learned of a signal with 1e30 in it
    findings, unfilled = mask_fill_values(telemetry, sensors)
    current = telemetry.with_channels(*unfilled.values()) if unfilled else telemetry
    seen: dict[str, tuple[Channel, Examined]] = {}
    for _ in range(_MOST_ROUNDS):
        found, changed = _round(current, sensors, seen, shift=shift)
        findings += [_with_old_stamps(finding, current, telemetry) for finding in found]
        if not changed:
            break
        current = current.with_channels(*changed)
    findings += _gaps(current)
    before = telemetry.channels
    new = {name: c for name, c in current.channels.items() if c != before[name]}
    whole = join_stuck(merge_rounds(findings), telemetry)
    return Diagnosis(tuple(sorted(whole, key=lambda f: not f.is_fault)), new)


def repair(telemetry: Telemetry, diagnosis: Diagnosis) -> Telemetry:
    """Return the recording with what can be repaired done, and a log of it in the metadata.

    Args:
        telemetry: The recording that was examined.
        diagnosis: What `examine` found in it.

    Returns:
        The same recording, bit for bit, where there is nothing to do. Samples that do not count
        are masked, clocks joined, late streams shifted, the noise of coarse digits set. The
        metadata has the log by the key `repair`: a list of notes with codes, as JSON.

    Raises:
        TelemetryError: The diagnosis is of another recording.

    >>> t = np.arange(500) * 0.02
    >>> noisy = np.sin(t) + 1e-3 * np.random.default_rng(0).normal(size=t.size)
    >>> noisy[200] += 0.05
    >>> flight = Telemetry.from_arrays(t, {"base.rate.x": noisy})
    >>> better = repair(flight, examine(flight))
    >>> better["base.rate.x"].n_invalid, repair(better, examine(better)) == better
    (1, True)
    """
    if not diagnosis.channels:
        return telemetry
    for name, channel in diagnosis.channels.items():
        if name not in telemetry or telemetry[name].n_samples != channel.n_samples:
            raise misuse(
                f"channel {name!r}",
                "a diagnosis of other samples",
                "the diagnosis of this recording",
                "examine the recording that is to be repaired",
                code="diagnosis.other",
            )
    repaired = telemetry.with_channels(*diagnosis.channels.values())
    log = repair_log(telemetry.metadata.get(REPAIR), diagnosis.repairs)
    return repaired.with_metadata(**{REPAIR: log})


class Prepared(NamedTuple):
    """A recording as it should be used, what was found and done, and biases by parameter name.

    contradictions: streams that cannot both be what their names say.
    """

    recording: Telemetry
    notes: tuple[Note, ...] = ()
    biases: tuple[str, ...] = ()
    contradictions: tuple[Finding, ...] = ()


def prepare_recording(
    telemetry: Telemetry, model: Model | None = None, *, raw: bool = False, shift: bool = True
) -> Prepared:
    """Return a recording as it should be used, and what was found and done as notes with codes.

    Args:
        telemetry: The recording.
        model: The system, if known.
        raw: Leave the recording as it is, and say nothing but of numbers too large to be squared.
        shift: Whether late streams are to be shifted; else they are reported only.

    Returns:
        The recording, the same object where nothing was to be done, the notes, and the biases
        that were found: they are for whoever estimates to estimate.

    Raises:
        TelemetryError: The time is in ms, us or ns but labelled in seconds.

    >>> t = np.arange(500) * 0.02
    >>> quiet = Telemetry.from_arrays(t, {"base.rate.x": np.sin(t)})
    >>> prepare_recording(quiet)[0] is quiet
    True
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # absurd values
        require_seconds({name: c.usable() for name, c in telemetry.channels.items()})
    if raw:
        found, masked = mask_absurd(telemetry)
        sane = telemetry.with_channels(*masked.values()) if masked else telemetry
        return Prepared(sane, tuple(finding.note for finding in found))
    diagnosis = examine(telemetry, model, shift=shift)
    biases = [
        f"bias.{name}"
        for finding in diagnosis.findings
        if finding.code == "recording.bias"
        for name in finding.channels
    ]
    contradictions = tuple(f for f in diagnosis.findings if f.is_contradiction)
    repaired = repair(telemetry, diagnosis)
    return Prepared(repaired, diagnosis.notes, tuple(dict.fromkeys(biases)), contradictions)


def _round(
    telemetry: Telemetry,
    sensors: KnownSensors,
    seen: dict[str, tuple[Channel, Examined]],
    *,
    shift: bool,
) -> tuple[list[Finding], list[Channel]]:
    """One look at a recording: findings, and the channels that a repair changes.

    Clocks are joined once samples are masked, delays looked for once clocks are joined. `seen` has
    the channels that were found in order in an earlier round.
    """
    clocks = clocks_of(telemetry)
    examined = _examine_channels(telemetry, clocks, sensors, seen)
    findings = merge_axes([f for one in examined.values() for f in one.findings])
    channels = {name: _with_mask(telemetry[name], one) for name, one in examined.items()}
    _share_masks(channels)
    samples = {name: one.samples for name, one in examined.items()}
    models = {n: one.model for n, one in examined.items() if one.model is not None}
    steps = find_clock_steps(clocks, samples, models)
    if steps:
        channels = _join_clocks(channels, clocks, steps)
        findings += [_step_finding(step, telemetry) for step in steps]
    else:
        constant = constant_findings(channels, sensors)
        without_constants(channels, constant)
        findings += merge_axes(constant)
        found, fits = examine_pairs(channels, sensors)
        n_tests = sum(1 + fit.matrix.size + fit.bias.size for _, fit in fits)
        bases = {name: channel.time.tobytes() for name, channel in channels.items()}
        delays = find_delays(lags_of(fits, sensors), bases, n_tests)
        if shift:
            findings += [delay.finding for delay in delays]
            channels = _shift(channels, delays)
        else:
            found += [replace(d.finding, done="", advice=LEFT_ALONE) for d in delays]
        # what no repair changes is said once, when everything else is done
        if not _new_channels(telemetry, channels):
            is_mean = telemetry.metadata.get(THRUST) == MEAN
            findings += [*found, *thrust_findings(channels, is_mean=is_mean)]
    return findings, _new_channels(telemetry, channels)


def _new_channels(telemetry: Telemetry, channels: Mapping[str, Channel]) -> list[Channel]:
    return [c for name, c in channels.items() if c is not telemetry[name] and c != telemetry[name]]


def _gaps(telemetry: Telemetry) -> list[Finding]:
    """Gaps, channels of one clock together."""
    found = []
    for clock in clocks_of(telemetry):
        report = check_clock(clock.time)
        longest = max(report.gaps, key=lambda gap: gap.duration, default=None)
        if longest is None:
            continue
        number = count_noun(len(report.gaps), "gap")
        text = f"{number}, the longest of {longest.duration:.4g} s at {longest.start:.6g} s"
        found.append(
            Finding(
                "recording.gap", clock.names, longest.start, longest.start + longest.duration,
                longest.duration, "s", deviation=report.step, chance=0.0,
                text=f"{text}; {count_noun(report.n_missing, 'sample')} lost", is_fault=False,
            )
        )  # fmt: skip
    return found


def _examine_channels(
    telemetry: Telemetry,
    clocks: list[StreamClock],
    sensors: KnownSensors,
    seen: dict[str, tuple[Channel, Examined]],
) -> dict[str, Examined]:
    sections = {name: clock.section for clock in clocks for name in clock.names}
    edges = _thrust_edges(telemetry)
    n_tests = sum(channel.n_samples for channel in telemetry.channels.values())
    smooth = _continuous_values(telemetry)
    found = {}
    for name, channel in telemetry.channels.items():
        known = seen.get(name)
        if known is not None and known[0] is channel:
            found[name] = known[1]
            continue
        is_attitude = ChannelName.parse(name).quantity == "attitude"
        samples = SignalSamples(channel.time, smooth[name], channel.valid, sections[name])
        found[name] = examine_samples(
            channel, samples, n_tests=n_tests, edges=edges,
            saturation=sensors.saturation(name),
            stated=None if is_attitude else known_noise(channel.noise, sensors, name),
        )  # fmt: skip
        if not found[name].findings:
            seen[name] = (channel, found[name])
    return found


def _continuous_values(telemetry: Telemetry) -> dict[str, Array]:
    """Values with whole turns and signs of quaternions taken out."""
    values = {name: channel.values for name, channel in telemetry.channels.items()}
    for name, channel in telemetry.channels.items():
        if ChannelName.parse(name).is_scalar("angle") and channel.valid.any():
            whole = channel.values.copy()
            whole[channel.valid] = np.unwrap(channel.values[channel.valid])
            values[name] = whole
    for group in attitude_groups(telemetry.names):
        names = ChannelName.parse(group).along(XYZW)
        four = [telemetry[name] for name in names]
        if all(np.array_equal(c.time, four[0].time) for c in four):
            ok = np.all([c.valid for c in four], axis=0)
            rows = np.column_stack([c.values for c in four])
            if ok.any():
                rows[ok] = continuous(rows[ok])
            values |= dict(zip(names, rows.T, strict=True))
    return values


def _thrust_edges(telemetry: Telemetry) -> Array:
    """Instants [s] at which thrusters open or close: in the middle of the step that shows it."""
    edges = []
    for name, channel in telemetry.channels.items():
        if ChannelName.parse(name).quantity in HELD:
            time, level = channel.usable()
            noise = channel.noise or 0.0
            level = open_levels(level, noise)
            jumps = np.flatnonzero(np.abs(np.diff(level)) > CLOSED * noise)
            edges.append(0.5 * (time[jumps] + time[jumps + 1]))
    return np.unique(np.concatenate(edges)) if edges else np.zeros(0)


def _with_mask(channel: Channel, one: Examined) -> Channel:
    noise = channel.noise if one.noise is None else one.noise
    if np.array_equal(one.samples.ok, channel.valid) and noise == channel.noise:
        return channel
    return Channel(channel.name, channel.unit, channel.time, channel.values, one.samples.ok, noise)


def _share_masks(channels: dict[str, Channel]) -> None:
    """A quaternion with a bad number is no attitude: all four are masked together."""
    for group in attitude_groups(tuple(channels)):
        names = ChannelName.parse(group).along(XYZW)
        four = [channels[name] for name in names]
        if any(not np.array_equal(c.time, four[0].time) for c in four):
            continue
        ok = np.all([c.valid for c in four], axis=0)
        for name, c in zip(names, four, strict=True):
            if not np.array_equal(ok, c.valid):
                channels[name] = Channel(name, c.unit, c.time, c.values, ok, c.noise)


def _join_clocks(
    channels: dict[str, Channel], clocks: list[StreamClock], steps: list[ClockStep]
) -> dict[str, Channel]:
    """The channels with stamps after every step set back; those of one clock go on sharing it."""
    joined = dict(channels)
    for clock in clocks:
        time = clock.time.copy()
        for step in steps:
            name = clock.names[0]
            after = step.after.get(name, int(np.searchsorted(clock.time, step.time, "right")))
            time[after:] -= step.seconds
        shared = read_only(time)
        joined |= {name: joined[name].with_time(shared) for name in clock.names}
    return joined


def _step_finding(step: ClockStep, telemetry: Telemetry) -> Finding:
    way = "forward" if step.seconds > 0.0 else "back"
    return Finding(
        "recording.clock_step", telemetry.names, step.time, step.time, step.seconds, "s",
        deviation=step.deviation, chance=step.chance,
        text=f"the clock was set {way} by {abs(step.seconds):.6g} s after {step.time:.6g} s:"
        " the stamps of all streams jump and the signals do not",
        done="pieces joined",
    )  # fmt: skip


def _shift(channels: dict[str, Channel], delays: list[Delay]) -> dict[str, Channel]:
    shifted = dict(channels)
    for delay in delays:
        times: dict[int, Array] = {}  # channels that shared a clock go on sharing it
        for name in delay.names:
            time = shifted[name].time
            new = times.setdefault(id(time), read_only(time - delay.seconds))
            shifted[name] = shifted[name].with_time(new)
    return shifted


def _with_old_stamps(finding: Finding, current: Telemetry, original: Telemetry) -> Finding:
    """The finding with its place as it is stamped in the recording, whatever was joined since."""
    name = finding.channels[0]
    new, old = current[name].time, original[name].time
    if new is old:
        return finding

    def back(instant: float) -> float:
        return float(old[int(np.argmin(np.abs(new - instant)))])

    start, end = back(finding.start), back(finding.end)
    return replace(finding, start=start, end=end, instants=tuple(map(back, finding.instants)))
