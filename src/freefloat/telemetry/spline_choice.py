"""How much smoothing: the cut-off and the knots to go with it, chosen by the samples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from freefloat.telemetry.penalised_spline import Curve, SplineProblem, curve_at

# Cut-offs in rad per knot. Beyond pi the penalty only breaks ties, and 16 amounts to
# interpolation. Below 0.15 the matrices lose too many digits, and knots further apart say the
# same.
_INTERPOLATING, _WIDEST, _NARROWEST = 16.0, 4.0, 0.15
_RATIO = 1.3  # of neighbouring cut-offs
_WIDENING = 4  # of the knots


@dataclass(frozen=True)
class _Choice:
    """A cut-off [rad per knot] for one channel, or several jointly, and the score it reached."""

    problem: SplineProblem
    cutoff: float
    score: float
    is_interpolating: bool = False


def fit_curves(problem: SplineProblem) -> list[Curve]:
    """Return the best curve of every channel, or the one curve of channels that are joint."""
    return [_curve(choice) for choice in _choices(problem, widest=_WIDEST)]


def _choices(problem: SplineProblem, *, widest: float) -> list[_Choice]:
    n_cutoffs = math.ceil(math.log(widest / _NARROWEST) / math.log(_RATIO)) + 1
    cutoffs = widest * _RATIO ** -np.arange(n_cutoffs, dtype=np.float64)
    scores = np.array([problem.scores(cutoff) for cutoff in cutoffs])
    choices = [_choice(problem, n, cutoffs, column) for n, column in enumerate(scores.T)]
    narrow = [n for n, column in enumerate(scores.T) if np.argmin(column) == n_cutoffs - 1]
    if narrow and problem.basis.size > 8 * _WIDENING * problem.order:
        for n, wider in zip(narrow, _wider_choices(problem, narrow), strict=True):
            # The knots were wide enough already if wider ones predict no better.
            choices[n] = wider if wider.score < choices[n].score else choices[n]
    return choices


def _choice(
    problem: SplineProblem, channel: int, cutoffs: np.ndarray, scores: np.ndarray
) -> _Choice:
    own = problem if problem.is_joint else _part(problem, [channel])
    best = int(np.argmin(scores))
    is_interpolating = best == 0 or not np.isfinite(scores[best - 1])
    if is_interpolating or best == scores.size - 1 or not np.isfinite(scores[best + 1]):
        return _Choice(own, float(cutoffs[best]), float(scores[best]), is_interpolating)
    # The vertex of the parabola through the best score and its neighbours.
    before, least, after = scores[best - 1 : best + 2]
    shift = 0.5 * (before - after) / max(before - 2.0 * least + after, np.finfo(float).tiny)
    cutoff = cutoffs[best] * _RATIO ** -np.clip(shift, -0.5, 0.5)
    return _Choice(own, float(cutoff), float(least))


def _wider_choices(problem: SplineProblem, channels: list[int]) -> list[_Choice]:
    basis = replace(problem.basis, spacing=_WIDENING * problem.basis.spacing)
    wider = replace(problem if problem.is_joint else _part(problem, channels), basis=basis)
    choices = _choices(wider, widest=2.0 * _WIDENING * _NARROWEST)
    # On wider knots the widest cut-off is an edge of the search, not a sign of no noise.
    return [replace(choice, is_interpolating=False) for choice in choices]


def _part(problem: SplineProblem, channels: list[int]) -> SplineProblem:
    values, noise = problem.values[:, channels], problem.noise[channels]
    return replace(problem, values=values, noise=noise)


def _curve(choice: _Choice) -> Curve:
    cutoff = _INTERPOLATING if choice.is_interpolating else choice.cutoff
    while True:
        try:
            return curve_at(
                choice.problem, cutoff, judged_at=min(choice.cutoff, cutoff), score=choice.score
            )
        except LinAlgError:  # a gap in the samples asks for a little more penalty
            cutoff /= _RATIO
