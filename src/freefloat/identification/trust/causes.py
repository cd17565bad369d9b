"""Score tests: which assumption, were it wrong, would explain the residuals; without a refit.

Every assumption is allowed to be off by its stated deviation (a prior row each); one at a time is
then freed altogether. With prior-scaled columns G, what the unknowns explain projected out, and
M = (1 + G'G)^-1, the jointly most probable deviations are d = M G'r, and freeing assumption c
rather than taking it as exact takes d_c^2 / (M_cc (1 - M_cc)) off the sum of squares. How
improbable the deviation is under its own prior, the *surprise*, is d_c / sqrt(1 - M_cc).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from freefloat.arrays import Array
from freefloat.identification.assessment import Cause
from freefloat.identification.trust.consider import Consideration
from freefloat.identification.trust.misfit import band_tests
from freefloat.identification.trust.trust_options import TrustOptions
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


def score(considered: Consideration, slopes: Array, *, noise: float = 1.0) -> Scores:
    """The scores for slopes G'r; noise: standard deviation of whitened noise, by the draws."""
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


def noise_level(rows: WhiteRows, considered: Consideration) -> float:
    """Root mean square surprise of draws of the noise, at least one.

    Whitening channel by channel leaves what input noise makes common to several channels.
    """
    slopes = considered.columns.T @ rows.draws
    each = [score(considered, slopes[:, k]).surprise for k in range(slopes.shape[1])]
    # theory: d = M G'w of noise w alone, without prior deviations, has the covariance M - M^2
    M = considered.posterior
    spread = np.sqrt(np.maximum(np.diag(M - M @ M), 0.0) / np.maximum(1.0 - np.diag(M), 1e-12))
    known = spread > 1e-6
    values = np.concatenate([s[known] / spread[known] for s in each]) if each else np.ones(0)
    return max(1.0, float(np.sqrt(np.mean(values**2)))) if len(values) else 1.0


@dataclass(frozen=True)
class Explanation:
    """What the assumptions, within their doubt, make of the residuals.

    rows: residuals and draws without it: what noise alone must explain. healed: the same with the
    first cause freed, where that explains everything. joint_shift: of the unknowns, in natural
    sizes, by the jointly most probable deviations. noise: standard deviation of a whitened row.
    """

    rows: WhiteRows
    causes: tuple[Cause, ...]
    healed: WhiteRows | None
    joint_shift: Array


def explain(
    rows: WhiteRows,
    considered: Consideration,
    *,
    places: Sequence[int],
    names: Sequence[str],
    total: Array,
    sizes: Array,
    options: TrustOptions,
) -> Explanation:
    """The assumptions the data contradict, by what freeing each explains; none where none is."""
    if not considered.assumptions:
        return Explanation(rows, (), None, np.zeros(rows.jacobian.shape[1]))
    slopes = considered.columns.T @ rows.remainder
    found = score(considered, slopes, noise=noise_level(rows, considered))
    limit = surprise_limit(len(found.surprise), options.significance)
    order = [int(c) for c in np.argsort(-found.chi_square) if abs(found.surprise[c]) > limit]
    causes, done, healed = [], set[int](), None
    for c in order:
        if c in done or len(causes) >= options.causes_named:
            continue
        group = _alike(considered, c, options.alike)
        done |= set(group)
        freed = _without(rows, considered, c, float(found.amplitude[c]))
        heals = is_noise(freed, options)
        healed = freed if heals and healed is None else healed
        causes.append(_cause(considered, found, c, group, heals, places, names, total, sizes))
    joint = considered.posterior @ slopes
    return Explanation(_without(rows, considered), tuple(causes), healed, considered.moves @ joint)


def is_noise(rows: WhiteRows, options: TrustOptions) -> bool:
    """Whether nothing but noise is left in the rows."""
    tests = band_tests(rows, options)
    return min(test.chance for test in tests) * len(tests) > options.significance


def _without(
    rows: WhiteRows, considered: Consideration, c: int | None = None, amplitude: float = 0.0
) -> WhiteRows:
    """Residuals and draws without what the assumptions explain; c freed, or none."""
    G = considered.columns
    left = rows.remainder if c is None else rows.remainder - G[:, c] * amplitude
    share = considered.posterior @ (G.T @ np.column_stack([left, rows.draws]))
    explained = G @ share
    return replace(rows, residual=left - explained[:, 0], draws=rows.draws - explained[:, 1:])


def _alike(considered: Consideration, c: int, alike: float) -> list[int]:
    """Assumptions whose columns the data can hardly tell from that of c, c first."""
    F = considered.information
    length = np.sqrt(np.maximum(np.diag(F), 1e-300))
    cosine = np.abs(F[c]) / (length[c] * length)
    return [c, *(int(k) for k in np.argsort(-cosine) if k != c and cosine[k] > alike)]


def _cause(
    considered: Consideration, found: Scores, c: int, group: Sequence[int], heals: bool,
    places: Sequence[int], names: Sequence[str], total: Array, sizes: Array,
) -> Cause:  # fmt: skip
    """The cause with what it would do to the estimates."""
    assumption = considered.assumptions[c]
    moves = considered.moves[list(places), c] * sizes * float(found.amplitude[c])
    shift, name = largest_shift(moves, total, names)
    return Cause(
        tuple(considered.assumptions[k].name for k in group), assumption.unit,
        # residuals are predicted minus measured: what explains them is to be taken back
        -float(found.amplitude[c]) * assumption.std, float(found.std[c]) * assumption.std,
        float(found.chi_square[c]), shift, name, heals,
    )  # fmt: skip


def largest_shift(moves: Array, total: Array, names: Sequence[str]) -> tuple[float, str]:
    """The largest move of an estimate [total standard deviations], and which; NaN of none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shifts = np.where(total > 0.0, np.abs(moves) / total, np.nan)
    if not np.any(np.isfinite(shifts)):
        return float("nan"), ""
    worst = int(np.nanargmax(shifts))
    return float(shifts[worst]), names[worst]
