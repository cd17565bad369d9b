"""Tests of residuals against noise: too large, too small, too slow, and stretches that disagree.

All of them are F tests. A sum of n squares of the residuals, over its mean in K draws of the noise
put through the same fit, follows F(n, K n) where the model is right, whatever the colour of the
noise and however it entered, because both were made alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.ndimage import uniform_filter1d
from scipy.special import chdtrc, fdtr, fdtrc

from freefloat.arrays import Array
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import WhiteRows

# theory: the mean of 5 squares of normal numbers scatters by sqrt(2 / 5), less than it is large
NEIGHBOURS = 5
SCATTERED = 0.01  # theory: the chance that draws of independent components scatter as much


@dataclass(frozen=True)
class BandTest:
    """The power of one channel in one band of frequencies, over that of noise.

    ratio: one where the model is right. too_large, too_small: the chance that noise alone has so
    large a ratio, or so small a one; too_pure: that one component of noise alone stands out as
    much as the largest does, which is how a vibration shows itself.
    """

    channel: str
    low: float  # [Hz]
    high: float  # [Hz]
    n: int
    ratio: float
    too_large: float
    too_small: float
    too_pure: float

    @property
    def chance(self) -> float:
        """That noise alone shows so much, by either test."""
        return min(1.0, 2.0 * min(self.too_large, self.too_pure))


def band_tests(rows: WhiteRows, options: TrustOptions) -> list[BandTest]:
    """Every channel in every band, from the slowest components on."""
    found = []
    for channel in rows.channels:
        left, drawn = rows.samples_of(channel)
        own, power = _components(left), _components(drawn) ** 2
        each, k = np.mean(power, axis=1), power.shape[1]
        near = uniform_filter1d(each, NEIGHBOURS)
        seconds = float(channel.times[-1] - channel.times[0])
        for first, last in _bands(len(own), options.band):
            n, band = last - first, slice(first, last)
            noise = float(np.mean(each[band]))
            ratio = float(np.mean(own[band] ** 2)) / max(noise, 1e-300)
            low, high = (at / (2.0 * max(seconds, 1e-12)) for at in (first, last))
            freedom = _band_freedom(power[band])
            largest = float(np.max(own[band] ** 2 / np.maximum(near[band], 1e-300)))
            found.append(
                BandTest(
                    channel.name, low, high, n, ratio,
                    float(fdtrc(freedom, k * freedom, ratio)),
                    float(fdtr(freedom, k * freedom, ratio)),
                    min(1.0, n * float(fdtrc(1, k * min(NEIGHBOURS, n), largest))),
                )
            )  # fmt: skip
    return found


def _band_freedom(power: Array) -> float:
    """Degrees of freedom of a sum of squares whose components have the power (n, k) of k draws.

    theory: (sum p)^2 / sum p^2 (Satterthwaite, Biometrics 2, 1946), where a mean of k squares has
    E p^2 = (1 + 2 / k) (E p)^2, if components are independent. What comes and goes, as noise of
    thrust does, makes them dependent: then the sums of the draws scatter more, with the variance
    2 mean^2 / freedom.
    """
    (n, k), each = power.shape, np.mean(power, axis=1)
    squares = float(np.sum(each**2)) / (1.0 + 2.0 / k)
    freedom = float(np.clip(np.sum(each) ** 2 / max(squares, 1e-300), 1.0, n))
    sums = np.sum(power, axis=0)
    if k < 2 or not np.all(sums > 0.0):
        return freedom
    ratio = float(np.var(sums, ddof=1)) / (2.0 * float(np.mean(sums)) ** 2 / freedom)
    is_more = chdtrc(k - 1, (k - 1) * ratio) < SCATTERED
    return max(1.0, freedom / ratio) if is_more else freedom


def _components(rows: Array) -> Array:
    """Amplitudes of cosines from the slowest on, of unit size where the rows are white."""
    return np.asarray(dct(rows, norm="ortho", axis=0), dtype=float)


def _bands(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Bands of components: the slowest, then each as wide as all before it."""
    first, last = 0, min(width, n)
    while first < n:
        yield first, last
        first, last = last, n if 2 * last > n // 2 else 2 * last


@dataclass(frozen=True)
class Excess:
    """What the residuals hold beyond noise.

    energy: of all rows, in units of the noise's variance. modes: over how many independent
    components it is spread. A like amount per component that happened to lie along a parameter
    would move it by `shift` statistical standard deviations.
    """

    energy: float
    modes: float

    @property
    def shift(self) -> float:
        """Of a parameter [statistical standard deviations]."""
        return float(np.sqrt(self.energy / self.modes)) if self.energy > 0.0 else 0.0


def excess(rows: WhiteRows) -> Excess:
    """The energy beyond noise, and its effective number of components.

    theory: a spectrum p_i has the participation ratio (sum p)^2 / sum p^2; squares of single
    components scatter by as much as they are large, so their mean over neighbours counts.
    """
    spectra = []
    for channel in rows.channels:
        left, drawn = rows.samples_of(channel)
        own, noise = _components(left) ** 2, np.mean(_components(drawn) ** 2)
        spectra.append(np.maximum(uniform_filter1d(own, NEIGHBOURS) - noise, 0.0))
    power = np.concatenate(spectra)
    total = float(rows.remainder @ rows.remainder - np.mean(np.sum(rows.draws**2, axis=0)))
    total += rows.fast_excess
    spread = float(np.sum(power**2))
    modes = float(np.sum(power)) ** 2 / spread if spread > 0.0 else float(len(power))
    return Excess(max(total, 0.0), max(modes, 1.0))


@dataclass(frozen=True)
class BlockTest:
    """How far stretches of the flight disagree about one parameter.

    inflation: variance of the estimate by what the stretches say, over that by the noise.
    deviation: of the estimate, by what they say [natural sizes].
    """

    inflation: float
    chance: float
    deviation: float


def block_tests(rows: WhiteRows, places: list[int], options: TrustOptions) -> list[BlockTest]:
    """Of the unknowns at `places`: the pull of every stretch on them, against the draws' pulls.

    theory: the influence of a row on parameter k is its entry in the k-th row of the
    pseudo-inverse times its residual. Sums over stretches have the covariance C of the draws' where
    the model is right, so the sum of their squares over that of draws is F distributed with about
    (tr C)^2 / tr C^2 degrees of freedom (Satterthwaite, Biometrics 2, 1946): fewer than stretches
    where noise outlasts them. Such sums give the variance of an estimate whatever it is that
    disturbs the stretches, one not like another (Liang, Zeger, Biometrika 73, 1986). Where there
    are as many recordings as that takes, each is a stretch as well: what nobody modelled may last
    as long.
    """
    cuts = [rows.blocks(options.blocks)]
    if 1 + max(row.recording for row in rows.channels) >= options.blocks:
        cuts.append(rows.blocks(1))
    found = []
    for influence in rows.inverse[places]:
        tests = [_block_test(rows, influence, block) for block in cuts]
        first = min(tests, key=lambda test: test.chance)
        widest = max(test.deviation for test in tests)
        chance = min(1.0, len(tests) * first.chance)
        found.append(BlockTest(first.inflation, chance, widest))
    return found


def _block_test(rows: WhiteRows, influence: Array, block: NDArray[np.int64]) -> BlockTest:
    """Of one unknown, by one way to cut the recordings."""
    own = _sums(influence * rows.remainder, block)
    drawn = np.array([_sums(influence * draw, block) for draw in rows.draws.T])
    noise = float(np.sum(drawn**2)) / len(drawn)
    ratio = float(np.sum(own**2)) / max(noise, 1e-300)
    spread = float(np.sqrt(np.sum(own**2) * len(own) / max(len(own) - 1, 1)))
    return BlockTest(ratio, chance_of_squares(own, drawn), spread)


def chance_of_squares(own: Array, drawn: Array) -> float:
    """The chance of a sum of squares of own (sums,) as large, against draws (n, sums) of noise.

    By the same F distribution as that of stretches.
    """
    noise = float(np.sum(drawn**2)) / max(len(drawn), 1)
    freedom, ratio = _freedom(drawn), float(np.sum(own**2)) / max(noise, 1e-300)
    return float(fdtrc(freedom, freedom * len(drawn), ratio))


def _freedom(drawn: Array) -> float:
    """(tr S)^2 / tr S^2 of the covariance S that draws (n, sums) have; one where one draw is all.

    theory: C = drawn' drawn / n has E tr C^2 = (1 + 1/n) tr S^2 + (tr S)^2 / n and
    E (tr C)^2 = (tr S)^2 + 2 tr S^2 / n where draws are normal.
    """
    n, width = drawn.shape
    if n < 2:
        return 1.0
    gram = drawn @ drawn.T / n  # has the traces of C, and is small
    A, B = float(np.trace(gram)) ** 2, float(np.sum(gram**2))
    # both equations solved for tr S^2 and (tr S)^2
    squares = (B - A / n) / (1.0 + 1.0 / n - 2.0 / n**2)
    whole = A - 2.0 * squares / n
    return float(np.clip(whole / max(squares, 1e-300), 1.0, width))


def _sums(values: Array, block: NDArray[np.int64]) -> Array:
    return np.bincount(block, weights=values).astype(float)
