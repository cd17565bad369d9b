"""Penalised B-splines: the smooth curve that noisy samples support, and how far to believe it.

The curve f(t) = sum_j a_j B_j(t), in B-splines on uniform knots, minimises

    sum_i (y_i - f(t_i))^2 + lambda * sum_j (difference of order m of a)_j^2

(Eilers and Marx, Statistical Science 11, 1996). The weight lambda is the one that best predicts a
sample left out: generalised cross-validation (Craven and Wahba, Numerische Mathematik 31, 1979)
or, where the noise is known, Mallows' C_p. All matrices are banded, so the cost is linear in the
number of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from freefloat.telemetry.channel import Array
from freefloat.telemetry.spline_basis import Basis, Rows, gram, product, transposed_product

# The cut-off c [rad per knot] stands for lambda = c**(-2 m) per sample: components below it pass.
# Beyond pi the penalty only breaks ties, and 16 amounts to interpolation. Below 0.15 the matrices
# lose too many digits, and knots further apart say the same.
_INTERPOLATING, _WIDEST, _NARROWEST = 16.0, 4.0, 0.15
_WIDENING = 4
_GRID_RATIO = 1.3
# Parameters count 1.4 times, against the undersmoothing to which plain cross-validation is prone
# now and then (Kim and Gu, JRSS B 66, 2004).
_CAUTION = 1.4
# With less than this share of the samples left to judge by, the judgement is rounding error.
_LEAST_FREEDOM = 1e-3
_N_PROBES = 16  # instants at which the uncertainty of the curve is looked at


@dataclass(frozen=True)
class Curve:
    """A fitted curve: coefficients of its basis, one column per channel, and what is known of it.

    `noise` is the standard deviation of the samples about the curve of each channel;
    `deviations` holds, in its rows, that of the curve, its first and its second derivative.
    """

    basis: Basis
    coefficients: Array
    noise: Array
    deviations: Array
    cutoff: float  # [rad/s]
    n_parameters: float
    score: float  # the less the better, among curves for the same samples


@dataclass(frozen=True)
class _Trial:
    """One choice of the cut-off [rad per knot], and what comes of it; the least score is best."""

    cutoff: float
    coefficients: Array
    variance: Array
    n_parameters: float
    score: float


@dataclass(frozen=True)
class Problem:
    """Samples, one column per channel, and the splines and the order of penalty to fit them with.

    `noise`, one number per channel, is the standard deviation of the samples, or None.
    """

    basis: Basis
    time: Array
    values: Array
    order: int
    noise: Array | None

    @cached_property
    def rows(self) -> Rows:
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
        return gram(self.splines, self.rows.first, shape=shape)

    @cached_property
    def penalty(self) -> Array:
        """P = D'D, banded."""
        return self.basis.penalty(self.order)

    def weight(self, cutoff: float) -> float:
        """Return the lambda that stands for a cut-off [rad per knot]."""
        return self.time.size / self.basis.size * cutoff ** (-2 * self.order)

    def factor(self, weight: float) -> Array:
        """Return the Cholesky factor of B'B + lambda P."""
        return cholesky_banded(self.gram + weight * self.penalty, lower=True, check_finite=False)

    def n_parameters(self, weight: float) -> float:
        """Return the trace of the matrix that takes samples to fitted values.

        It is the number of splines less d log det(B'B + lambda P) / d log lambda, and the
        determinant is the squared product of the diagonal of the Cholesky factor.
        """
        step = 0.05  # in log lambda, in which the log-determinant changes slowly
        above, below = (
            2.0 * np.log(self.factor(weight * math.exp(s))[0]).sum() for s in (step, -step)
        )
        return float(self.basis.size - (above - below) / (2.0 * step))

    def coefficients(self, weight: float) -> Array:
        """Return the coefficients that minimise the sum above."""
        factor, first = (self.factor(weight), True), self.rows.first
        solution = np.zeros((self.basis.size, self.values.shape[1]))
        for _ in range(2):  # the second pass recovers the digits a large lambda has cost
            residual = self.values - product(self.splines, first, solution)
            gradient = transposed_product(self.splines, first, residual, size=self.basis.size)
            gradient -= weight * self.basis.penalty_product(solution, self.order)
            solution += cho_solve_banded(factor, gradient, check_finite=False)
        return solution

    def trial(self, cutoff: float) -> _Trial | None:
        """Return what a cut-off gives, or None where the arithmetic does not carry."""
        weight, n = self.weight(cutoff), self.time.size
        try:
            n_parameters = self.n_parameters(weight)
            coefficients = self.coefficients(weight)
        except LinAlgError:
            return None
        freedom = 1.0 - n_parameters / n
        if freedom < _LEAST_FREEDOM:
            return None
        residual = self.values - product(self.splines, self.rows.first, coefficients)
        squares = np.sum(residual**2, axis=0)
        score = self._score(squares, freedom)
        return _Trial(cutoff, coefficients, squares / (n * freedom), n_parameters, score)

    def _score(self, squares: Array, freedom: float) -> float:
        n, share = self.time.size, 1.0 - freedom
        if self.noise is not None:
            predicted = np.sum(squares / self.noise**2) / self.values.shape[1]
            return float(predicted + 2.0 * _CAUTION * share * n)
        total = max(float(np.sum(squares)), np.finfo(float).tiny)
        left = 1.0 - self._caution(total / (n * freedom)) * share
        return n * (math.log(total) - 2.0 * math.log(left)) if left > 0.0 else math.inf

    def _caution(self, variance: float) -> float:
        """How many times a parameter counts: once only where there is hardly any noise."""
        spread = float(np.sum(np.var(self.values, axis=0)))
        decades = 0.5 * math.log10(max(variance, 1e-300) / max(spread, 1e-300))
        return 1.0 + (_CAUTION - 1.0) * min(max((decades + 6.0) / 3.0, 0.0), 1.0)


def fit_curve(problem: Problem) -> Curve:
    """Return the curve with the best cut-off, on knots as wide as it allows."""
    trials, problem = _search(problem)
    best = min(trials, key=lambda trial: trial.score, default=None)
    if best is None or best is trials[0]:  # the less smoothing the better: there is no noise
        return _interpolation(problem, best)
    ratio = math.sqrt(_GRID_RATIO)
    for _ in range(3):
        nearby = (problem.trial(best.cutoff * ratio), problem.trial(best.cutoff / ratio))
        best = min((best, *filter(None, nearby)), key=lambda trial: trial.score)
        ratio = math.sqrt(ratio)
    return _curve(problem, best)


def _search(problem: Problem) -> tuple[list[_Trial], Problem]:
    """The trials on the finest knots that are fine enough, from the widest cut-off down."""
    trials = _trials(problem, widest=_WIDEST)
    while trials and min(trials, key=lambda trial: trial.score) is trials[-1]:
        if problem.basis.size < 8 * _WIDENING * problem.order:
            break
        basis = replace(problem.basis, spacing=_WIDENING * problem.basis.spacing)
        wider = replace(problem, basis=basis)
        # One that is worse on the wider knots ends the search; hence the overlap.
        further = _trials(wider, widest=2.0 * _WIDENING * _NARROWEST)
        if not further or min(trial.score for trial in further) >= trials[-1].score:
            break
        # The best of the finer knots goes first, so that "first" never means "interpolate" here.
        trials, problem = [replace(trials[-1], score=math.inf), *further], wider
    return trials, problem


def _trials(problem: Problem, *, widest: float) -> list[_Trial]:
    n_cutoffs = math.ceil(math.log(widest / _NARROWEST) / math.log(_GRID_RATIO)) + 1
    cutoffs = (widest * _GRID_RATIO**-n for n in range(n_cutoffs))
    return [trial for cutoff in cutoffs if (trial := problem.trial(cutoff)) is not None]


def _interpolation(problem: Problem, nearest: _Trial | None) -> Curve:
    cutoff = _INTERPOLATING
    while True:
        try:
            coefficients = problem.coefficients(problem.weight(cutoff))
            break
        except LinAlgError:  # a gap in the samples asks for a little more penalty
            cutoff /= _GRID_RATIO
    if nearest is None:
        unknown = np.full(problem.values.shape[1], np.nan)
        nearest = _Trial(cutoff, coefficients, unknown, float(problem.time.size), 0.0)
    return _curve(problem, replace(nearest, cutoff=cutoff, coefficients=coefficients))


def _curve(problem: Problem, trial: _Trial) -> Curve:
    basis = problem.basis
    return Curve(
        basis=basis,
        coefficients=trial.coefficients,
        noise=np.sqrt(trial.variance),
        deviations=np.sqrt(np.outer(_spreads(problem, trial.cutoff), trial.variance)),
        cutoff=trial.cutoff / basis.spacing,
        n_parameters=trial.n_parameters,
        score=trial.score,
    )


def _spreads(problem: Problem, cutoff: float) -> Array:
    """The variance of the curve, its rate and acceleration over that of a sample, well inside.

    The penalty is read as a prior (Wahba, JRSS B 45, 1983), which covers the bias on average.
    """
    basis, factor = problem.basis, (problem.factor(problem.weight(cutoff)), True)
    shares = np.linspace(0.05, 0.95, _N_PROBES)
    rows = basis.rows(np.quantile(problem.time, shares))
    spreads = np.empty(3)
    for derivative in range(3):
        splines = rows.splines(derivative)
        target = np.zeros((basis.size, _N_PROBES))
        for p in range(basis.degree + 1):
            target[rows.first + p, np.arange(_N_PROBES)] = splines[:, p]
        solution = cho_solve_banded(factor, target, check_finite=False)
        spreads[derivative] = np.mean(np.sum(target * solution, axis=0))
    return spreads
