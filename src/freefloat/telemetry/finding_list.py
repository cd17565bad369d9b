"""Findings that are one cause, said once: axes of a stream, rounds, pieces of a stretch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.telemetry.diagnosis import Finding
from freefloat.telemetry.names import ChannelName
from freefloat.telemetry.sample_causes import merge_outliers
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun


def merge_axes(findings: list[Finding]) -> list[Finding]:
    """Findings with one finding where the axes of a stream show the same at the same time."""
    merged: list[Finding] = []
    for finding in findings:
        group = ChannelName.parse(finding.channels[0]).group
        for k, other in enumerate(merged):
            is_same = other.code == finding.code and not (other.instants or finding.instants)
            same_place = ChannelName.parse(other.channels[0]).group == group
            same_time = (other.start, other.end) == (finding.start, finding.end)
            if is_same and same_place and same_time and finding.code != "recording.quantised":
                merged[k] = replace(other, channels=(*other.channels, *finding.channels))
                break
        else:
            merged.append(finding)
    return merged


def join_stuck(findings: list[Finding], telemetry: Telemetry) -> list[Finding]:
    """Findings with one for a sensor that was stuck while the clock was set, not one a piece."""
    joined: list[Finding] = []
    for finding in findings:
        known = next(
            (k for k, other in enumerate(joined) if _is_continued(other, finding, telemetry)), None
        )
        if known is None:
            joined.append(finding)
            continue
        start, end = min(joined[known].start, finding.start), max(joined[known].end, finding.end)
        whole = replace(joined[known], start=start, end=end, size=end - start)
        channel = telemetry[finding.channels[0]]
        inside = (channel.time >= whole.start) & (channel.time <= whole.end)
        value = float(channel.values[inside][-1])
        number = count_noun(int(np.count_nonzero(inside)), "sample")
        joined[known] = replace(whole, text=f"stuck at {value:.6g} {channel.unit} in {number}")
    return joined


def _is_continued(one: Finding, other: Finding, telemetry: Telemetry) -> bool:
    """Whether a sensor is stuck in both stretches and between them, at one value."""
    if not one.code == other.code == "recording.stuck" or one.channels != other.channels:
        return False
    channel = telemetry[one.channels[0]]
    first, last = min(one.start, other.start), max(one.end, other.end)
    inside = (channel.time >= first) & (channel.time <= last)
    return bool(np.ptp(channel.values[inside]) == 0.0)


def merge_rounds(findings: list[Finding]) -> list[Finding]:
    """Findings with the lone samples of a channel together, in whichever round they were found."""
    merged: dict[tuple[object, ...], Finding] = {}
    for number, finding in enumerate(findings):
        is_lone = finding.code == "recording.outliers"
        key = (finding.code, finding.channels) if is_lone else (number,)
        known = merged.get(key)
        merged[key] = finding if known is None else merge_outliers(known, finding)
    return list(merged.values())
