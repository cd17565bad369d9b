"""Penalised B-splines: the smooth curve that noisy samples support, and how far to believe it.

The curve f(t) = sum_j a_j B_j(t), in B-splines on uniform knots, minimises

    sum_i (y_i - f(t_i))^2 + lambda * sum_j (difference of order m of a)_j^2

(Eilers and Marx, Statistical Science 11, 1996). The weight lambda is the one that best predicts a
sample left out: generalised cross-validation (Craven and Wahba, Numerische Mathematik 31, 1979)
or, where the noise is known, Mallows' C_p. All matrices are banded, so the cost is linear in the
number of samples, and channels sampled together share it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from freefloat.telemetry.channel import Array
from freefloat.telemetry.rate_samples import RateSamples
from freefloat.telemetry.spline_basis import (
    BasisRows,
    Indices,
    SplineBasis,
    gram,
    product,
    transposed_product,
)

# theory: parameters count 1.4 times, against the undersmoothing to which plain cross-validation is
# prone now and then (Kim and Gu, JRSS B 66, 2004)
_CAUTION = 1.4
# theory: with a smaller share of the samples left to judge by, the judgement is rounding error
_LEAST_FREEDOM = 1e-3
# theory: away from the ends the deviation of a curve hardly varies, so that a few instants tell it
_N_PROBES = 16

# theory: cut-offs in rad per knot. Beyond pi the penalty only breaks ties, and 16 amounts to
# interpolation. Below 0.15 the matrices lose too many digits, and knots further apart say the
# same.
_INTERPOLATING, _WIDEST, _NARROWEST = 16.0, 4.0, 0.15
# theory: of neighbouring cut-offs, so near that a parabola through three scores has their minimum
_RATIO = 1.3
# theory: of the knots, so that the narrowest cut-off lies inside the search on wider ones
_WIDENING = 4


@dataclass(frozen=True)
class SplineProblem:
    """Samples, one column per channel, and the splines and the order of penalty to fit them with.

    `noise`, one number per channel, is the standard deviation of the samples, or zero where it is
    not known. Channels that are `is_joint` are smoothed alike, as the parts of one vector. `rates`
    are samples of the derivative, with weights by their noise.
    """

    basis: SplineBasis
    time: Array
    values: Array
    order: int
    noise: Array
    is_joint: bool = False
    rates: RateSamples | None = None

    @property
    def n_samples(self) -> int:
        """Of the values and of the rates."""
        return self.time.size + (0 if self.rates is None else self.rates.time.size)

    @cached_property
    def rows(self) -> BasisRows:
        """The rows of the design matrix B."""
        return self.basis.rows(self.time)

    @cached_property
    def splines(self) -> Array:
        """The numbers in those rows."""
        return self.rows.splines()

    @cached_property
    def gram(self) -> Array:
        """B'B, banded."""
        shape = (self.basis.degree + 1, self.basis.size)
        own = gram(self.splines, self.rows.first, shape=shape)
        if self.rates is None:
            return own
        slopes, first, _ = self.slopes
        return own + gram(slopes, first, shape=shape)

    @cached_property
    def slopes(self) -> tuple[Array, Indices, Array]:
        """Rows of the rates, their first columns and the rates, over their noise."""
        assert self.rates is not None
        rows = self.basis.rows(self.rates.time)
        return rows.splines(1) / self.rates.noise, rows.first, self.rates.values / self.rates.noise

    @cached_property
    def penalty(self) -> Array:
        """P = D'D, banded."""
        return self.basis.penalty(self.order)

    @cached_property
    def spread(self) -> Array:
        """The variance of the samples of each channel."""
        return np.var(self.values, axis=0)

    def weight(self, cutoff: float) -> float:
        """Return the lambda that stands for a cut-off [rad per knot]: components below it pass."""
        return self.n_samples / self.basis.size * cutoff ** (-2 * self.order)

    def factor(self, weight: float) -> Array:
        """Return the Cholesky factor of B'B + lambda P; raise LinAlgError if it has none."""
        return cholesky_banded(self.gram + weight * self.penalty, lower=True, check_finite=False)

    def n_parameters(self, weight: float, factor: Array) -> float:
        """Return the trace of the matrix that takes samples to fitted values.

        It is the number of splines less d log det(B'B + lambda P) / d log lambda, and the
        determinant is the squared product of the diagonal of the Cholesky factor.
        """
        step = 0.02  # in log lambda, of which the log-determinant is a slow function
        further = self.factor(weight * math.exp(step))
        change = 2.0 * (np.log(further[0]).sum() - np.log(factor[0]).sum())
        return float(self.basis.size - change / step)

    def coefficients(self, weight: float, factor: Array, *, n_passes: int) -> Array:
        """Return the coefficients that minimise the sum above.

        The second of two passes recovers the digits that a large lambda costs the first.
        """
        first = self.rows.first
        solution = np.zeros((self.basis.size, self.values.shape[1]))
        for _ in range(n_passes):
            residual = self.values - product(self.splines, first, solution)
            gradient = transposed_product(self.splines, first, residual, size=self.basis.size)
            if self.rates is not None:
                slopes, at, rates = self.slopes
                left = rates - product(slopes, at, solution)
                gradient += transposed_product(slopes, at, left, size=self.basis.size)
            gradient -= weight * self.basis.penalty_product(solution, self.order)
            solution += cho_solve_banded((factor, True), gradient, check_finite=False)
        return solution

    def squares(self, coefficients: Array) -> Array:
        """Return the sum of squared residuals of each channel."""
        residual = self.values - product(self.splines, self.rows.first, coefficients)
        squares = np.sum(residual**2, axis=0)
        if self.rates is not None:
            slopes, at, rates = self.slopes
            squares += np.sum((rates - product(slopes, at, coefficients)) ** 2, axis=0)
        return squares

    def scores(self, cutoff: float) -> Array:
        """Return how well a cut-off predicts, one number per channel or one for all; least is best.

        Infinite where the arithmetic does not carry.
        """
        nothing = np.full(1 if self.is_joint else self.values.shape[1], np.inf)
        weight, n = self.weight(cutoff), self.n_samples
        try:
            factor = self.factor(weight)
            freedom = 1.0 - self.n_parameters(weight, factor) / n
        except LinAlgError:
            return nothing
        if freedom < _LEAST_FREEDOM:
            return nothing
        squares = self.squares(self.coefficients(weight, factor, n_passes=1))
        if self.is_joint:
            known = np.mean(self.noise**2, keepdims=True)
            spread = np.mean(self.spread, keepdims=True)
            return _scores(np.mean(squares, keepdims=True), freedom, n, known, spread)
        return _scores(squares, freedom, n, self.noise**2, self.spread)


def _scores(squares: Array, freedom: float, n: int, known: Array, spread: Array) -> Array:
    """Mallows' C_p where the variance is known, generalised cross-validation elsewhere."""
    share, tiny = 1.0 - freedom, np.finfo(float).tiny
    squares = np.maximum(squares, tiny)
    with np.errstate(divide="ignore"):
        mallows = squares / known + 2.0 * _CAUTION * share * n
    # Where there is hardly any noise, less than one part in a million, caution is out of place.
    decades = 0.5 * (np.log10(squares / (n * freedom)) - np.log10(np.maximum(spread, tiny)))
    caution = 1.0 + (_CAUTION - 1.0) * np.clip((decades + 6.0) / 3.0, 0.0, 1.0)
    left = 1.0 - caution * share
    validated = n * (np.log(squares) - 2.0 * np.log(np.maximum(left, tiny)))
    return np.where(known > 0.0, mallows, np.where(left > 0.0, validated, np.inf))


@dataclass(frozen=True)
class Curve:
    """A fitted curve: coefficients of its basis, one column per channel, and what is known of it.

    `noise` is the standard deviation of the samples about the curve of each channel;
    `deviations` holds, in its rows, that of the curve, its first and its second derivative.
    """

    basis: SplineBasis
    coefficients: Array
    noise: Array
    deviations: Array
    cutoff: float  # [rad/s]
    n_parameters: float
    score: float  # the less the better, among curves for the same samples
    order: int  # of the penalty


def curve_at(problem: SplineProblem, cutoff: float, *, judged_at: float, score: float) -> Curve:
    """Return the curve with a cut-off [rad per knot], its noise judged at another one.

    An interpolating curve leaves no residual to tell the noise from; a slightly stiffer one does.
    """
    weight, judge = problem.weight(cutoff), problem.weight(judged_at)
    factor, judging = problem.factor(weight), problem.factor(judge)
    n_parameters = problem.n_parameters(judge, judging)
    squares = problem.squares(problem.coefficients(judge, judging, n_passes=2))
    freedom = max(problem.n_samples - n_parameters, _LEAST_FREEDOM)
    spreads = _spreads(problem, factor)
    return Curve(
        basis=problem.basis,
        coefficients=problem.coefficients(weight, factor, n_passes=2),
        noise=np.sqrt(squares / freedom),
        deviations=np.sqrt(np.outer(spreads, squares / freedom)),
        cutoff=cutoff / problem.basis.spacing,
        n_parameters=n_parameters,
        score=score,
        order=problem.order,
    )


def smooth_alike(
    curve: Curve, time: Array, values: Array, rates: RateSamples | None = None
) -> Array:
    """Coefficients (splines, columns) of other samples, smoothed as much as a curve was."""
    none = np.zeros(values.shape[1])
    problem = SplineProblem(curve.basis, time, values, curve.order, none, rates=rates)
    weight = problem.weight(curve.cutoff * curve.basis.spacing)
    return problem.coefficients(weight, problem.factor(weight), n_passes=2)


def _spreads(problem: SplineProblem, factor: Array) -> Array:
    """The variance of the curve, its rate and acceleration over that of a sample, well inside.

    The penalty is read as a prior (Wahba, JRSS B 45, 1983), which covers the bias on average.
    """
    basis = problem.basis
    rows = basis.rows(np.quantile(problem.time, np.linspace(0.05, 0.95, _N_PROBES)))
    spreads = np.empty(3)
    for derivative in range(3):
        splines = rows.splines(derivative)
        target = np.zeros((basis.size, _N_PROBES))
        for p in range(basis.degree + 1):
            target[rows.first + p, np.arange(_N_PROBES)] = splines[:, p]
        solution = cho_solve_banded((factor, True), target, check_finite=False)
        spreads[derivative] = np.mean(np.sum(target * solution, axis=0))
    return spreads


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
