"""Scores of assumptions: what freeing each explains, and how improbable it is under its doubt.

With prior-scaled columns G, what the unknowns explain projected out, and M = (1 + G'G)^-1, the
jointly most probable deviations are d = M G'r, and freeing assumption c rather than taking it as
exact takes d_c^2 / (M_cc (1 - M_cc)) off the sum of squares. How improbable the deviation is under
its own prior, the *surprise*, is d_c / sqrt(1 - M_cc).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from freefloat.arrays import Array
from freefloat.identification.trust.consider import Consideration
from freefloat.identification.trust.white_rows import WhiteRows


@dataclass(frozen=True)
class Scores:
    """One entry an assumption.

    amplitude and std: its deviation if freed, in units of its doubt; chi_square: what that takes
    off; surprise [standard deviations]: how improbable it is under its doubt.
    """

    amplitude: Array
    std: Array
    chi_square: Array
    surprise: Array


def score(considered: Consideration, slopes: Array, *, noise: Array | float = 1.0) -> Scores:
    """The scores for slopes G'r; noise: standard deviation of surprises by noise, by the draws."""
    M = considered.posterior
    left = np.diag(M)
    seen = np.maximum(1.0 - left, 1e-12)  # an assumption the data cannot see scores nothing
    d = M @ slopes
    surprise = d / np.sqrt(seen) / noise
    surprise = np.where(1.0 - left > 1e-9, surprise, 0.0)
    return Scores(
        d / seen, np.sqrt(left / seen) * noise, surprise**2 / np.maximum(left, 1e-300), surprise
    )


def surprise_limit(n: int, significance: float) -> float:
    """The surprise that n right assumptions exceed with that chance (Bonferroni, two-sided)."""
    return float(-ndtri(0.5 * significance / max(n, 1)))


def noise_of_each(rows: WhiteRows, considered: Consideration) -> Array:
    """Standard deviation (assumptions,) of every surprise by noise, that of its column included.

    theory: products of noise of inputs with itself are uncorrelated with the noise, so that
    variances add.
    """
    common, apart = noise_level(rows, considered), considered.apart_by_inputs
    if not apart.size:
        return np.full(len(considered.assumptions), common)
    M = considered.posterior
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ki->i", M, considered.information, M), 1e-300))
    return np.sqrt(common**2 + np.mean((M @ apart) ** 2, axis=1) / spread**2)


def noise_level(rows: WhiteRows, considered: Consideration) -> float:
    """Root mean square surprise of draws of the noise, at least one.

    Whitening channel by channel leaves what input noise makes common to several channels.
    """
    slopes = considered.columns.T @ rows.draws
    each = [score(considered, slopes[:, k]).surprise for k in range(slopes.shape[1])]
    # theory: d = M G'w of noise w alone, without prior deviations, has the covariance M G'G M
    M = considered.posterior
    variance = np.einsum("ij,jk,ki->i", M, considered.information, M)
    spread = np.sqrt(np.maximum(variance, 0.0) / np.maximum(1.0 - np.diag(M), 1e-12))
    known = (spread > 1e-6) & (np.diag(M) < 1.0)
    values = np.concatenate([s[known] / spread[known] for s in each]) if each else np.ones(0)
    return max(1.0, float(np.sqrt(np.mean(values**2)))) if len(values) else 1.0
