"""Samples of a rate beside those of a position: what a joint did while its encoder was silent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.telemetry.channel import Array, Channel, estimate_noise

# theory: a spline through a kink of the acceleration is good to about one sample on either side, so
# that a lone sample that is lost costs nothing and a second one does
_LOST_STEPS = 2.5  # median steps between samples, from which some are missed


@dataclass(frozen=True)
class RateSamples:
    """Rates `values` [unit/s], one column per channel, at instants `time` [s].

    noise: their standard deviation over that of a sample of the position [1/s].
    """

    time: Array
    values: Array
    noise: float


def rates_in_gaps(position: Channel, rate: Channel) -> RateSamples | None:
    """What a rate sensor read while samples of the position were lost; None where none were.

    Where the noise of either is not stated it is that of their fast content.

    >>> t = np.arange(100) * 0.1
    >>> lost = (t > 3.05) & (t < 4.95)
    >>> angle = Channel("arm.position", "rad", t, np.sin(t), ~lost, noise=1e-3)
    >>> found = rates_in_gaps(angle, Channel("arm.velocity", "rad/s", t, np.cos(t), noise=2e-3))
    >>> len(found.time), found.noise
    (19, 2.0)
    """
    time, _ = position.usable()
    steps = np.diff(time)
    instants, values = rate.usable()
    if not len(steps) or not len(instants):
        return None
    after = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    is_lost = steps[after - 1] > _LOST_STEPS * float(np.median(steps))
    is_lost &= (instants > time[after - 1]) & (instants < time[after])
    if not is_lost.any():
        return None
    ratio = _noise(rate) / max(_noise(position), 1e-300)
    # without any noise the two count alike over a step: a rate tells as much as two positions
    noise = ratio if np.isfinite(ratio) and 0.0 < ratio < 1e100 else 1.0 / float(np.median(steps))
    return RateSamples(instants[is_lost], values[is_lost][:, None], noise)


def _noise(channel: Channel) -> float:
    return estimate_noise(channel) if channel.noise is None else channel.noise
