"""The motion behind samples of encoders and wheels, smoothed once for a recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.telemetry.channel import Channel
from freefloat.telemetry.rate_samples import RateSamples, rates_in_gaps
from freefloat.telemetry.smoothing import SmoothSignal, smooth
from freefloat.telemetry.telemetry import Telemetry

LEAST_SAMPLES = 4  # theory: a cubic, the simplest motion with a changing acceleration, has four
# theory: of an encoder's noise that is smoothed away. Less than all of it, which would be closest:
# noise that is left can be measured and counted, corners that are rounded off cannot
SHARE = 0.8


def _curves_of(telemetry: Telemetry) -> dict[str, SmoothSignal]:
    """What has been smoothed of a recording, by channel: a recording never changes."""
    return vars(telemetry).setdefault("_smoothed", {})


def smooth_channel(
    channel: Channel, rates: RateSamples | None = None, *, share: float = SHARE
) -> SmoothSignal:
    """The motion behind the samples of an encoder or a wheel.

    rates: what its rate sensor read while the encoder was silent. share: of the channel's noise
    that is smoothed away.
    """
    noise = None if channel.noise is None else share * channel.noise
    return smooth(*channel.usable(), noise=noise, rates=rates)


def smooth_together(telemetry: Telemetry, names: Sequence[tuple[str, str]]) -> None:
    """Smooth encoders read at the same instants at once: they share all factors.

    names: of the positions and rates of joints. Encoders whose gaps are bridged by rates are left.
    """
    groups: dict[bytes, list[Channel]] = {}
    for position, velocity in names:
        if position not in telemetry or position in _curves_of(telemetry):
            continue
        channel = telemetry[position]
        time, _ = channel.usable()
        if bridging_rates(telemetry, position, velocity) is None and len(time) >= LEAST_SAMPLES:
            groups.setdefault(time.tobytes(), []).append(channel)
    for channels in groups.values():
        columns = np.column_stack([channel.usable()[1] for channel in channels])
        noise = [SHARE * (channel.noise or 0.0) for channel in channels]
        curves = smooth(channels[0].usable()[0], columns, noise=noise).curves
        for channel, curve in zip(channels, curves, strict=True):
            _curves_of(telemetry)[channel.name] = SmoothSignal((curve,), True)


def smooth_motion(telemetry: Telemetry, name: str, velocity: str = "") -> SmoothSignal:
    """The motion behind a recorded channel, worked out once.

    velocity: the channel of its rate, which bridges gaps of a position.
    """
    if name not in _curves_of(telemetry):
        rates = bridging_rates(telemetry, name, velocity) if velocity else None
        _curves_of(telemetry)[name] = smooth_channel(telemetry[name], rates)
    return _curves_of(telemetry)[name]


def bridging_rates(telemetry: Telemetry, position: str, velocity: str) -> RateSamples | None:
    """The rates that tell how a joint moved while samples of its position were lost, if any."""
    if position not in telemetry or velocity not in telemetry:
        return None
    return rates_in_gaps(telemetry[position], telemetry[velocity])
