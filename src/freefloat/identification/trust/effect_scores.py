"""Which effect that the model lacks would explain what no assumption within its doubt does.

Looked for only where something is left: residuals that are not noise, or several assumptions that
had to be freed at once. With what the unknowns explain projected out, G the columns of the
assumptions, M = (1 + G'G)^-1 and W = 1 - G M G', an effect with columns C takes
r'WC (C'WC)^-1 C'Wr off the sum of squares. Freed assumptions are held against it by the same
measure: whatever explains more is named first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, chdtri

from freefloat.arrays import Array
from freefloat.identification.assessment import Cause
from freefloat.identification.trust.causes import (
    Explanation,
    Reported,
    is_noise,
    noise_level,
    vector_of,
)
from freefloat.identification.trust.joint_point import JointPoint
from freefloat.identification.trust.missing_effects import Effect, missing_effects
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import RANK, WhiteRows


@dataclass(frozen=True)
class EffectScore:
    """What an effect takes off the sum of squares, by which amounts of its columns."""

    effect: Effect
    gain: float
    amounts: Array
    std: Array


class _Held:
    """The rows of a joint point with unknowns projected out and assumptions held by doubts."""

    def __init__(self, point: JointPoint) -> None:
        held = replace(point, freed=(), loose={})
        self.rows, self.considered = held.exact_rows, held.consideration
        self.left = self._explained(self.rows.remainder[:, None])[:, 0]
        self.noise = noise_level(self.rows, self.considered)

    def _explained(self, columns: Array) -> Array:
        """W times columns that the unknowns cannot explain."""
        G, M = self.considered.columns, self.considered.posterior
        return columns - G @ (M @ (G.T @ columns))

    def score(self, effect: Effect) -> EffectScore:
        """The effect's gain and best amounts."""
        C, Q, G = effect.columns, self.rows.basis, self.considered.columns
        size = np.linalg.norm(C, axis=0)
        C = C / np.where(size > 0.0, size, 1.0)
        along, seen = Q.T @ C, G.T @ C
        # G is free of what the unknowns explain, and so is what is left
        F = C.T @ C - along.T @ along - seen.T @ self.considered.posterior @ seen
        inverse = np.linalg.pinv(F, rcond=RANK, hermitian=True)
        slope = C.T @ self.left
        gain = float(slope @ inverse @ slope) / self.noise**2
        scale = np.where(size > 0.0, size, np.inf)
        std = np.sqrt(np.maximum(np.diag(inverse), 0.0)) * self.noise / scale
        return EffectScore(effect, gain, inverse @ slope / scale, std)

    def without(self, effect: Effect) -> WhiteRows:
        """Residuals and draws without what assumptions and the effect explain."""
        both = np.column_stack([self.rows.remainder, self.rows.draws])
        left, C = self._explained(both), self._explained(self.rows.project_out(effect.columns))
        length = np.linalg.norm(C, axis=0)
        C = C / np.where(length > 0.0, length, 1.0)
        left = left - C @ np.linalg.lstsq(C, left, rcond=RANK)[0]
        return replace(self.rows, residual=left[:, 0], draws=left[:, 1:])

    def gain_of(self, own: Sequence[int]) -> float:
        """What freeing these assumptions takes off, beyond what their doubt allows.

        theory: held by unit priors they are at d with the covariance M; without those at
        a = (1 - M)^-1 d, and the priors cost a' (1 - M) a.
        """
        M = self.considered.posterior[np.ix_(own, own)]
        d = self.considered.posterior[own] @ (self.considered.columns.T @ self.rows.remainder)
        seen = np.linalg.pinv(np.eye(len(own)) - M, rcond=RANK, hermitian=True)
        return float(d @ seen @ d) / self.noise**2


def with_effects(
    found: Explanation,
    reported: Reported,
    options: TrustOptions,
    effects: Iterable[Effect] | None = None,
) -> Explanation:
    """The explanation, with the effect first that explains more than any freed assumption.

    effects: in place of all that there are.
    """
    first = found.first
    if first is None or (found.is_noise and len(_freed(found)) < 2):
        return found
    held = _Held(first)
    if effects is None:
        effects = missing_effects(first.rows, first.taken)
    scores = [held.score(effect) for effect in effects]
    if not scores:
        return found
    # theory: the best of many blocks of different width, by the chance of each
    best = max(scores, key=lambda s: s.gain - _usual_gain(s, len(scores), options))
    chance = float(chdtrc(best.effect.columns.shape[1], best.gain)) * len(scores)
    rivals = [held.gain_of(own) for own in _freed(found)]
    if chance > options.significance or best.gain < max(rivals, default=0.0):
        return found
    heals = is_noise(held.without(best.effect), options)
    if found.is_noise and not heals:
        return found
    total = reported.total(found.considered)
    cause = _cause(best, held, reported, total, heals)
    others = [replace(c, heals=c.heals and not heals) for c in found.causes]
    return replace(found, causes=(cause, *others)[: options.causes_named])


def _usual_gain(score: EffectScore, n: int, options: TrustOptions) -> float:
    """What one of n such effects that are not there would take off at the most."""
    return float(chdtri(score.effect.columns.shape[1], options.significance / n))


def _freed(found: Explanation) -> list[list[int]]:
    """The assumptions that were freed, axes of one vector together."""
    groups: dict[str, list[int]] = {}
    if found.joint is not None:
        for c in found.joint.freed:
            name = found.joint.taken.assumptions[c].name
            groups.setdefault(vector_of(name), []).append(c)
    return list(groups.values())


def _cause(
    best: EffectScore, held: _Held, reported: Reported, total: Array, heals: bool
) -> Cause:  # fmt: skip
    effect = best.effect
    sure = np.abs(best.amounts) / np.where(best.std > 0.0, best.std, np.inf)
    k = int(np.argmax(sure))
    # residuals are predicted minus measured: what explains them is to be taken back
    moves = held.rows.inverse @ (effect.columns @ best.amounts)
    shift, moved = reported.largest_shift(moves, total)
    name, unit = effect.parts[k]
    return Cause(
        tuple(dict.fromkeys((effect.name, name))), unit, -float(best.amounts[k]),
        float(best.std[k]), best.gain, shift, moved, heals, effect.time, effect.remedy,
    )  # fmt: skip
