"""The noise of a channel by its own samples, where nobody states it."""

from __future__ import annotations

import numpy as np

from freefloat.telemetry.channel import Channel


def rounding_of(channel: Channel) -> float:
    """A floor for any channel's noise: 1e-9 of its size; nothing is known better than that."""
    values = channel.values[channel.valid]
    return 1e-9 * max(float(np.max(np.abs(values), initial=0.0)), 1e-3)


def noise_of(channel: Channel) -> float:
    """The white noise of a smooth channel, from its fourth differences (robust to outliers).

    >>> t = np.linspace(0.0, 10.0, 1001)
    >>> noisy = np.sin(t) + 0.01 * np.random.default_rng(0).normal(size=1001)
    >>> round(noise_of(Channel("base.rate.x", "rad/s", t, noisy)), 3)
    0.01
    """
    _, values = channel.usable()
    if len(values) < 9:
        return 0.0
    steps = np.abs(np.diff(values))
    rounding = np.min(steps[steps > 0.0], initial=np.inf)  # of a coarse sensor
    is_coarse = np.mean(steps == 0.0) > 0.2
    # var of the fourth difference of white noise: 1 + 16 + 36 + 16 + 1; median to sigma: 1.4826
    found = float(1.4826 * np.median(np.abs(np.diff(values, 4))) / np.sqrt(70.0))
    return max(found, float(rounding) / np.sqrt(12.0)) if is_coarse and steps.any() else found
