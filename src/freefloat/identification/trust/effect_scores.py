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
from scipy.special import chdtri

from freefloat.arrays import Array
from freefloat.identification.assessment import Cause
from freefloat.identification.trust.assumption_scores import noise_level
from freefloat.identification.trust.causes import (
    Explanation,
    Reported,
    in_doubt,
    is_noise,
    vector_of,
)
from freefloat.identification.trust.effect_flights import base_flights
from freefloat.identification.trust.flexible_joints import joint_swing
from freefloat.identification.trust.joint_point import JointPoint
from freefloat.identification.trust.missing_effects import missing_effects
from freefloat.identification.trust.sensor_effects import Effect
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import RANK, WhiteRows

TUNINGS = 4  # theory: each squares what is off, from a tenth
TURN = 0.1  # theory: of a frequency, as far as its column reaches
CLEARLY = 0.5  # theory: a convention; half of the excess that all freed assumptions leave


@dataclass(frozen=True)
class EffectScore:
    """What an effect takes off the sum of squares, by which amounts of its columns.

    usual: what one of all those tried would take off at the most if none were there.
    """

    effect: Effect
    gain: float
    amounts: Array
    std: Array
    usual: float = 0.0


class HeldPoint:
    """The rows of a joint point with unknowns projected out and assumptions held by doubts.

    excess: the sum of squares beyond that of noise.
    """

    def __init__(self, point: JointPoint) -> None:
        held = replace(point, freed=(), loose={})
        self.rows, self.considered = held.exact_rows, held.consideration
        self.left = self._weigh(self.rows.remainder[:, None])[:, 0]
        self.noise = noise_level(self.rows, self.considered)
        drawn = np.mean(np.sum(self._weigh(self.rows.draws) * self.rows.draws, axis=0))
        self.excess = float(self.left @ self.rows.remainder - drawn) / self.noise**2

    def _weigh(self, columns: Array) -> Array:
        """W times columns that the unknowns cannot explain."""
        G, M = self.considered.columns, self.considered.posterior
        return columns - G @ (M @ (G.T @ columns))

    def score(self, effect: Effect) -> EffectScore:
        """The effect's gain and best amounts."""
        if effect.spread is not None:
            return self._score_walk(effect, effect.spread)
        C, size, inverse = self._inverse(effect)
        slope = C.T @ self.left
        gain = float(slope @ inverse @ slope) / self.noise**2
        scale = np.where(size > 0.0, size, np.inf)
        std = np.sqrt(np.maximum(np.diag(inverse), 0.0)) * self.noise / scale
        return EffectScore(effect, gain, inverse @ slope / scale, std)

    def _score_walk(self, effect: Effect, spread: Array) -> EffectScore:
        """Of amounts with the covariance q times the spread, at the most likely q.

        theory: with F = L'C'WCL and s = L'C'Wr, L the root of the spread, twice the logarithm of
        the likelihood grows by the sum of q s^2 / (1 + q f) - log(1 + q f) over the eigenvalues f
        of F: what many columns explain by chance costs as much as it gains.
        """
        root = np.linalg.cholesky(spread)
        C = self.rows.project_out(effect.columns @ root) / self.noise
        f, V = np.linalg.eigh(C.T @ self._weigh(C))
        f, s = np.maximum(f, 0.0), V.T @ (C.T @ self.left) / self.noise
        q = np.geomspace(1e-6, 1e8, 141)[:, None] / max(float(f[-1]), 1e-300)
        grown = np.sum(q * s**2 / (1.0 + q * f) - np.log1p(q * f), axis=1)
        best = float(q[int(np.argmax(grown)), 0])
        amounts = root @ (V @ (best * s / (1.0 + best * f)))
        std = np.sqrt(np.sum((root @ V) ** 2 * best / (1.0 + best * f), axis=1))
        return EffectScore(effect, float(np.max(grown)), amounts, std)

    def likeness(self, effect: Effect, column: Array) -> float:
        """The cosine between a column and what the effect can make."""
        C, _, inverse = self._inverse(effect)
        column = self._weigh(self.rows.project_out(column)[:, None])[:, 0]
        along = C.T @ column
        length = float(column @ column)
        return float(np.sqrt(max(along @ inverse @ along, 0.0) / length)) if length else 0.0

    def _inverse(self, effect: Effect) -> tuple[Array, Array, Array]:
        """Columns of unit length, their lengths, and the inverse of C'WC."""
        C, Q, G = effect.columns, self.rows.basis, self.considered.columns
        size = np.linalg.norm(C, axis=0)
        C = C / np.where(size > 0.0, size, 1.0)
        along, seen = Q.T @ C, G.T @ C
        # G is free of what the unknowns explain, and so is what is left
        F = C.T @ C - along.T @ along - seen.T @ self.considered.posterior @ seen
        return C, size, np.linalg.pinv(F, rcond=RANK, hermitian=True)

    def without(self, effect: Effect) -> WhiteRows:
        """Residuals and draws without what assumptions and the effect explain."""
        both = np.column_stack([self.rows.remainder, self.rows.draws])
        left, C = self._weigh(both), self._weigh(self.rows.project_out(effect.columns))
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
        d = self.considered.posterior[own] @ self.considered.slopes(self.rows.remainder)
        seen = np.linalg.pinv(np.eye(len(own)) - M, rcond=RANK, hermitian=True)
        return float(d @ seen @ d) / self.noise**2


def with_effects(found: Explanation, reported: Reported, options: TrustOptions) -> Explanation:
    """The explanation with effects that explain as much as what was freed, or more.

    Where one assumption heals, effects that the data cannot tell from it are named beside it. Where
    several do, an effect comes first that heals and explains more than any of them; where none
    does, one that heals, or leaves clearly less than all of them.
    """
    first, freed = found.first, _freed_vectors(found)
    if first is None or (found.is_noise and not freed):
        return found
    if found.is_noise and len(freed) == 1:
        return _with_alike(found, freed[0], options)
    held = HeldPoint(first)
    scores = _scores(held, first, options)
    if not scores:
        return found
    best = scores[0]
    # what takes any shape explains too much to heal
    heals = best.effect.spread is None and is_noise(held.without(best.effect), options)
    rival = _rival_gain(held, found, freed)
    left, left_by_rival = (max(held.excess - gain, 0.0) for gain in (best.gain, rival))
    is_clear = not found.is_noise and left < CLEARLY * left_by_rival
    if best.gain < rival or not (heals or is_clear):
        return found
    others = [replace(c, heals=c.heals and not heals) for c in found.causes]
    # where something else is left, explaining a little more decides nothing
    least = best.gain - best.usual if heals else options.alike**2 * best.gain
    alike = [score.effect.name for score in scores if score.gain > least]
    cause = _cause(best, held, reported, _total(found, reported), heals, alike)
    causes = (cause, *others)[: options.causes_named]
    return in_doubt(replace(found, causes=causes), reported)


def _rival_gain(held: HeldPoint, found: Explanation, freed: Sequence[Sequence[int]]) -> float:
    """What an effect has to explain: more than one assumption that heals with others, or than all.

    Of all together as far as the search came, or along the slopes where that is farther.
    """
    if found.is_noise:
        return max((held.gain_of(own) for own in freed), default=0.0)
    together = [c for own in freed for c in own]
    before, after = float(held.left @ held.rows.remainder), found.rows.residual
    reached = (before - float(after @ after)) / held.noise**2
    return max(reached, held.gain_of(together)) if together else 0.0


def _scores(held: HeldPoint, point: JointPoint, options: TrustOptions) -> list[EffectScore]:
    """Effects that are not there by chance, the best first, its instant to a part of the grid."""

    def judge(effects: Iterable[Effect]) -> list[EffectScore]:
        some = [held.score(effect) for effect in effects]
        some = [replace(s, usual=_usual_gain(s, len(some), options)) for s in some]
        return sorted((s for s in some if s.gain > s.usual), key=lambda s: s.usual - s.gain)

    scores = judge(missing_effects(point.rows, point.taken))
    if scores and np.isfinite(scores[0].effect.time):
        near = judge(missing_effects(point.rows, point.taken, near=scores[0].effect.time))
        scores = sorted([*scores, *near], key=lambda s: s.usual - s.gain)
    swinging = next((s for s in scores if np.isfinite(s.effect.frequency)), None)
    if swinging is not None:
        scores = sorted(
            [_at_best_frequency(held, point, swinging), *scores], key=lambda s: s.usual - s.gain
        )
    return scores


def _at_best_frequency(held: HeldPoint, point: JointPoint, begun: EffectScore) -> EffectScore:
    """The swing of a joint with its frequency where it explains most: Gauss-Newton steps of it."""
    flown = base_flights(point.rows)
    for _ in range(TUNINGS):
        step = begun.amounts[1] / begun.amounts[0] if begun.amounts[0] else 0.0
        frequency = begun.effect.frequency * float(np.exp(np.clip(step, -TURN, TURN)))
        joint = begun.effect.name.rpartition(".")[0]
        effect = joint_swing(point.rows, flown, joint, frequency)
        found = None if effect is None else held.score(effect)
        if found is None or found.gain <= begun.gain:
            return begun
        begun = replace(found, usual=begun.usual)
    return begun


def _with_alike(found: Explanation, own: Sequence[int], options: TrustOptions) -> Explanation:
    """The explanation whose only cause the data cannot tell from some effects."""
    point = found.joint
    assert point is not None  # something was freed
    held = HeldPoint(point)
    away = point.taken.columns[:, list(own)] @ point.deviations[list(own)]
    alike = [
        effect.name
        for effect in missing_effects(point.rows, point.taken, is_brief=True)
        if held.likeness(effect, away) > options.alike
    ]
    first = found.causes[0]
    named = tuple(dict.fromkeys((*first.names, *alike)))
    return replace(found, causes=(replace(first, names=named), *found.causes[1:]))


def _total(found: Explanation, reported: Reported) -> Array:
    """Total deviations as they are reported."""
    point = found.joint
    if point is None or not point.is_reached:
        return reported.total(found.considered)
    return reported.total(replace(point.consideration, is_adjusted=True))


def _usual_gain(score: EffectScore, n: int, options: TrustOptions) -> float:
    """What one of n such effects that are not there would take off at the most."""
    walks = score.effect.spread is not None  # its size alone is fitted
    free = 1 if walks else score.effect.columns.shape[1]
    return float(chdtri(free, options.significance / n))


def _freed_vectors(found: Explanation) -> list[list[int]]:
    """The assumptions that were freed, axes of one vector together."""
    groups: dict[str, list[int]] = {}
    if found.joint is not None:
        for c in found.joint.freed:
            name = found.joint.taken.assumptions[c].name
            groups.setdefault(vector_of(name), []).append(c)
    return list(groups.values())


def _cause(
    best: EffectScore, held: HeldPoint, reported: Reported, total: Array, heals: bool,
    alike: Sequence[str],
) -> Cause:  # fmt: skip
    effect = best.effect
    sure = np.abs(best.amounts) / np.where(best.std > 0.0, best.std, np.inf)
    k = int(np.argmax(sure))
    # residuals are predicted minus measured: what explains them is to be taken back
    moves = held.rows.inverse @ (effect.columns @ best.amounts)
    shift, moved = reported.largest_shift(moves, total)
    name, unit = effect.parts[k]
    return Cause(
        tuple(dict.fromkeys((effect.name, name, *alike))), unit, -float(best.amounts[k]),
        float(best.std[k]), best.gain, shift, moved, heals, effect.time, effect.remedy,
    )  # fmt: skip
