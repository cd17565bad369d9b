"""Where the power of a recording lies: Welch spectra and their peaks, finer than a bin.

Channels of different units are compared in units of their own noise: a density of one is what
noise alone would show, so that a peak is a peak whatever the sensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array, read_only_copy
from freefloat.errors import IdentificationError
from freefloat.telemetry.channel import Channel, estimate_noise, noise_floor
from freefloat.telemetry.names import match
from freefloat.telemetry.telemetry import Telemetry

FEWEST_SAMPLES = 32  # theory: three half-overlapping windows of sixteen samples each


@dataclass(frozen=True)
class Peak:
    """A peak: frequency [Hz], how far it stands above the noise [1], the channels that show it."""

    frequency: float
    height: float
    channels: tuple[str, ...]


@dataclass(frozen=True)
class Spectrum:
    """One-sided power spectral densities of channels.

    frequency (F,) [Hz]; density (channels, F) [unit^2/Hz]; floor (channels,): the density that
    each channel's noise alone has; n_averages: how many independent segments were averaged.
    """

    channels: tuple[str, ...]
    units: tuple[str, ...]
    frequency: Array
    density: Array
    floor: Array
    n_averages: float

    @property
    def resolution(self) -> float:
        """The width of a bin [Hz]."""
        return float(self.frequency[1] - self.frequency[0])

    @property
    def relative(self) -> Array:
        """The mean over the channels of density over floor (F,) [1]: one where all is noise."""
        return np.mean(self.density / self.floor[:, None], axis=0)

    def peaks(
        self, *, threshold: float | None = None, false_alarms: float = 1e-3
    ) -> tuple[Peak, ...]:
        """Peaks of `relative` above what noise does by chance, strongest first.

        The frequency is that of the parabola through the logarithms of the highest bin and its
        neighbours. false_alarms: the share of recordings of pure noise in which a bin exceeds the
        chance level; `threshold` [1] replaces that level.
        """
        whole = self.relative
        limit = self._chance_level(false_alarms) if threshold is None else threshold
        inner = whole[1:-1]
        tops = 1 + np.flatnonzero((inner > whole[:-2]) & (inner >= whole[2:]) & (inner > limit))
        found = [self._peak(int(k), whole) for k in tops if k > 1]  # bin 1 is the mean's skirt
        return tuple(sorted(found, key=lambda peak: -peak.height))

    def _peak(self, k: int, whole: Array) -> Peak:
        low, top, high = np.log(np.maximum(whole[k - 1 : k + 2], 1e-300))
        bend = low - 2.0 * top + high
        shift = 0.5 * (low - high) / bend if bend < 0.0 else 0.0
        shares = self.density[:, k] / self.floor
        shown = [self.channels[i] for i in np.argsort(-shares) if shares[i] > 0.1 * shares.max()]
        frequency = float(self.frequency[k] + shift * self.resolution)
        return Peak(frequency, float(np.exp(top - 0.25 * (low - high) * shift)), tuple(shown))

    def _chance_level(self, false_alarms: float) -> float:
        """The mean of chi-square bins that noise exceeds in that share of recordings."""
        from scipy.stats import chi2

        n = 2.0 * self.n_averages * len(self.channels)
        return float(chi2.isf(false_alarms / len(self.frequency), n) / n)


def spectrum(
    telemetry: Telemetry, channels: str | Sequence[str] = "*", *, segment: float | None = None
) -> Spectrum:
    """The Welch spectra of channels (names or globs): Hann windows, half overlapping, detrended.

    Channels are cut to the band that all of them have.

    Args:
        telemetry: The recording.
        channels: Names or globs.
        segment: Length of a window [s]; two fifths of the recording unless given, which makes
            four windows. Longer ones resolve more, shorter ones scatter less.

    Returns:
        Power spectral densities [unit^2/Hz] over frequency [Hz], with their `peaks`.

    Raises:
        IdentificationError: A channel has too few samples, or the window does not fit.

    >>> import numpy as np
    >>> t = np.arange(0.0, 60.0, 0.02)
    >>> swing = np.sin(2 * np.pi * 0.2345 * t) + 0.1 * np.random.default_rng(0).normal(size=t.size)
    >>> found = spectrum(Telemetry.from_arrays(t, {"base.rate.x": swing})).peaks()
    >>> round(found[0].frequency, 3)
    0.234
    """
    wanted = [telemetry[name] for name in match(channels, telemetry.names)]
    short = [c.name for c in wanted if len(c.usable()[0]) < FEWEST_SAMPLES]
    if short:
        raise IdentificationError(
            f"{', '.join(short[:4])}: fewer than {FEWEST_SAMPLES} valid samples, too few for a"
            " spectrum; choose other channels or a longer stretch",
            code="samples.few",
        )
    span = min(float(np.ptp(c.usable()[0])) for c in wanted)
    length = 0.4 * span if segment is None else segment
    if not 0.0 < length <= span * (1.0 + 1e-9):
        raise IdentificationError(
            f"a segment of {length:g} s does not fit a recording of {span:g} s; shorten it",
            code="option.range",
        )
    made = [_welch(channel, length) for channel in wanted]
    frequency = min((f for f, _, _ in made), key=lambda f: f[-1])
    density = [np.interp(frequency, f, p) for f, p, _ in made]
    floor = [f for _, _, f in made]
    # Half overlapping Hann windows: 1.89 segments a length of data count as independent ones.
    n_averages = max(1.0, 0.945 * (2.0 * span / length - 1.0))
    names, units = tuple(c.name for c in wanted), tuple(c.unit for c in wanted)
    return Spectrum(
        names,
        units,
        read_only_copy(frequency),
        read_only_copy(density),
        read_only_copy(floor),
        n_averages,
    )


def _welch(channel: Channel, length: float) -> tuple[Array, Array, float]:
    """Frequencies, densities, and the density of the channel's noise."""
    from scipy.signal import welch

    time, values = resample_evenly(channel)
    rate = 1.0 / float(time[1] - time[0])
    n = min(len(values), max(FEWEST_SAMPLES // 2, round(length * rate)))
    frequency, density = welch(values, rate, "hann", n, detrend="linear")
    sigma = max(noise_level(channel), noise_floor(channel))
    return frequency, density, 2.0 * sigma**2 / rate


def noise_level(channel: Channel) -> float:
    """The noise of a channel: as stated, or as its samples show."""
    return channel.noise if channel.noise else estimate_noise(channel)


def resample_evenly(channel: Channel) -> tuple[Array, Array]:
    """Times and values on an even grid at the channel's own rate; gaps are bridged by lines."""
    time, values = channel.usable()
    step = float(np.median(np.diff(time)))
    grid = np.arange(time[0], time[-1] + 0.5 * step, step)
    if len(grid) == len(time) and np.allclose(grid, time, atol=1e-3 * step):
        return grid, values
    return grid, np.interp(grid, time, values)
