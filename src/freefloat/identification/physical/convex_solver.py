"""The convex problem behind physical estimates, and the Newton methods that solve it.

Minimise 1/2 |R u - y|^2 + w D(u) with D = sum_b tr Y_b - log det Y_b - n, Y_b = 1 + sum u_k B_bk:
data against the log-det divergence from the prior u = 0. D is a self-concordant barrier, so damped
Newton steps stay among the realisable bodies. Where the data pull far out of these, Newton on Y
alone creeps along the boundary; there its steps take Y and S = w Y^-1 as unknowns of equal rights
(primal-dual, scaled as by Nesterov and Todd) while w is brought down from where the prior rules.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import get_lapack_funcs

from freefloat.arrays import Array
from freefloat.errors import Fault, IdentificationError
from freefloat.identification.physical.realisable import Conditions

# theory: Newton converges quadratically, so that one step from this decrement (over w) on, what is
# left is rounding
DONE = 1e-9
# cho_factor and cho_solve take twice the time of so small a matrix.
factorise, substitute = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)
# theory: the part of its size by which a block is inside, at the least: rounding of its factors
BRINK = 1e-12
# theory: far below the prior weight (1e-8), or the divergence drowns in it
CLARABEL_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ConvexProblem:
    """Whitened rows R u = y on scaled parameters, the conditions on these and the weight w."""

    conditions: Conditions
    R: Array
    y: Array
    weight: float

    @cached_property
    def axes(self) -> tuple[Array, Array, Array]:
        """T, a, b with u = T z, |R u - y|^2 = |a z - b|^2 + const: nothing stiff is left in z."""
        U, s, Vt = np.linalg.svd(self.R, full_matrices=True)
        p = Vt.shape[0]
        s = np.where(s > p * np.finfo(float).eps * s.max(initial=0.0), s, 0.0)
        a, b = np.zeros(p), np.zeros(p)
        a[: len(s)], b[: len(s)] = s, (U.T @ self.y)[: len(s)]
        length = np.sqrt(a**2 + self.weight)
        return Vt.T / length, a / length, np.where(a > 0.0, b, 0.0)

    def value(self, u: Array) -> float:
        """The objective at u; infinite when u is not realisable."""
        misfit = float(np.sum((self.R @ u - self.y) ** 2))
        return 0.5 * misfit + self.weight * divergence(self.conditions, u)


@dataclass(frozen=True)
class Barrier:
    """The divergence's gradient and Hessian at u, and the factors L^-1 of its blocks Y = L L^T."""

    gradient: Array
    hessian: Array
    inverse: Array
    inside: float


def blocks(c: Conditions, u: Array) -> Array:
    """Y_b - 1 for all blocks (blocks, n, n); linear in u."""
    return np.einsum("bk,bkij->bij", u[c.places], c.slopes)


def divergence(c: Conditions, u: Array) -> float:
    """The sum of the log-det divergences from the prior; infinite when u is not realisable."""
    change = np.linalg.eigvalsh(blocks(c, u))
    if np.any(change <= -1.0):
        return np.inf
    return float(np.sum(change - np.log1p(change)) + 0.5 * c.looseness @ u**2)


def barrier(c: Conditions, u: Array) -> Barrier | None:
    """What a Newton step needs to know of the divergence at u, or None outside."""
    Y = blocks(c, u) + np.eye(c.slopes.shape[2])
    try:
        L = np.linalg.cholesky(Y)
    except np.linalg.LinAlgError:
        return None
    inverse = np.linalg.inv(L)
    W = inverse[:, None] @ c.slopes @ _transpose(inverse)[:, None]
    gradient = c.looseness * u + _scatter(c, np.trace(c.slopes - W, axis1=2, axis2=3))
    hessian = np.diag(c.looseness) + _gram(c, W)
    return Barrier(gradient, hessian, inverse, _inside(c, Y, L))


def minimise(
    problem: ConvexProblem, *, start: Array | None = None, most_steps: int = 100
) -> tuple[Array, bool]:
    """The minimiser u, and whether it was reached (else the steps ran out, at a realisable u).

    `start` is where unseen directions begin; the search sets out from the data's own optimum when
    that is realisable, else from the prior. most_steps: of each of the two Newton methods.
    """
    T, a, b = problem.axes
    z = np.zeros(len(a)) if start is None else np.linalg.solve(T, start)
    z = np.where(a > 0.0, b / np.where(a > 0.0, a, 1.0), z)
    here = barrier(problem.conditions, T @ z)
    if here is None or here.inside < 1e-6:
        z = _follow(problem, most_steps)
    u, is_reached = _polish(problem, z, most_steps)
    return _realisable(problem.conditions, u), is_reached


def _realisable(c: Conditions, u: Array) -> Array:
    """u, moved towards the prior by as little as it takes when rounding has put it outside."""
    for part in (0.0, *np.logspace(-15, -1, 15)):
        if barrier(c, (1.0 - part) * u) is not None:
            return (1.0 - part) * u
    return np.zeros_like(u)


def _polish(problem: ConvexProblem, z: Array, most_steps: int) -> tuple[Array, bool]:
    """Damped Newton on Y alone, which converges quadratically near the minimum."""
    (T, a, b), w = problem.axes, problem.weight
    before = np.inf
    for _ in range(most_steps):
        here = barrier(problem.conditions, T @ z)
        if here is None or here.inside < BRINK:
            return T @ z, True  # numbers cannot come closer to the boundary
        g = a * (a * z - b) + w * (T.T @ here.gradient)
        step = _solver(problem, w * here.hessian)(-g)
        if not np.all(np.isfinite(step)):
            return T @ z, False
        length = _length(problem, z, step, here)
        z = z + length * step
        decrement = float(-g @ step)
        # So near the minimum it falls with the square of itself, unless it is rounding.
        is_rounding = 0.5 * before < decrement < 0.1 * w
        if decrement <= DONE * w or length == 0.0 or is_rounding:
            return T @ z, True
        before = decrement
    return T @ z, False


def _length(problem: ConvexProblem, z: Array, step: Array, here: Barrier) -> float:
    """How far to go along a step: at most all of it, inside, and low enough (Armijo)."""
    T, a, b = problem.axes
    w, du = problem.weight, T @ step
    change = here.inverse @ blocks(problem.conditions, du) @ _transpose(here.inverse)
    growth = np.linalg.eigvalsh(change).ravel()
    slope = step @ (a * (a * z - b)) + w * (here.gradient @ du)
    curve = np.sum((a * step) ** 2) + w * (problem.conditions.looseness @ du**2)
    length = min(1.0, 0.9 * _reach(growth))
    for _ in range(40):
        x = length * growth
        rise = length * slope + 0.5 * length**2 * curve - w * np.sum(np.log1p(x) - x)
        if rise <= 1e-4 * length * slope:
            return length
        length *= 0.5
    return 0.0


def _follow(problem: ConvexProblem, most_steps: int) -> Array:
    """A point near the minimum, in z: primal-dual steps from the prior down to the weight."""
    c, (T, a, b) = problem.conditions, problem.axes
    identity = np.eye(c.slopes.shape[2])
    pull = np.linalg.norm(np.linalg.solve(T.T, a * b))  # of the data at the prior, in u
    z = np.zeros(len(a))
    S = np.broadcast_to(max(problem.weight, float(pull)) * identity, c.slopes[:, 0].shape)
    sound = z
    for _ in range(most_steps):
        Y = blocks(c, T @ z) + identity
        is_there = np.sum(Y * S) < 1.5 * problem.weight * Y[:, 0].size
        try:
            L, M = np.linalg.cholesky(Y), np.linalg.cholesky(S)
            if _inside(c, Y, L) < BRINK:
                return z
            sound = z
            step, dS, length = _primal_dual_step(problem, z, S, *_scaling(L, M))
        except np.linalg.LinAlgError:  # rounding: no closer to the boundary
            return sound
        z, S = z + length * step, S + length * dS
        S = 0.5 * (S + _transpose(S))
        if is_there and length > 0.9:
            return z
    return sound


def _scaling(L: Array, M: Array) -> tuple[Array, Array]:
    """G^-1 and d with G^-1 Y G^-T = diag(d) = G^T S G, for Y = L L^T and S = M M^T."""
    U, d, _ = np.linalg.svd(_transpose(M) @ L)
    return _transpose(U) @ _transpose(M) / np.sqrt(d)[:, :, None], d


def _primal_dual_step(
    problem: ConvexProblem, z: Array, S: Array, inverse: Array, d: Array
) -> tuple[Array, Array, float]:
    """The step in z and S towards a lower weight (Mehrotra's choice of it), and its length."""
    c, (T, a, b), w = problem.conditions, problem.axes, problem.weight
    W = inverse[:, None] @ c.slopes @ _transpose(inverse)[:, None]
    solve = _solver(problem, _gram(c, W) + w * np.diag(c.looseness))
    force = w * np.trace(c.slopes, axis1=2, axis2=3) - np.einsum("bkij,bij->bk", c.slopes, S)
    off = a * (a * z - b) + T.T @ (w * c.looseness * (T @ z) + _scatter(c, force))
    diagonal = np.eye(d.shape[1])
    root = 1.0 / np.sqrt(d[:, :, None] * d[:, None, :])

    def solve_for(aim: Array) -> tuple[Array, Array, Array, float]:
        """The step for which the scaled changes of Y and S add up to `aim`."""
        step = solve(T.T @ _scatter(c, np.einsum("bkij,bij->bk", W, aim)) - off)
        dY = np.einsum("bk,bkij->bij", (T @ step)[c.places], W)
        growth = np.linalg.eigvalsh(np.concatenate([dY * root, (aim - dY) * root]))
        return step, dY, aim - dY, min(1.0, 0.95 * _reach(growth))

    straight = (w / d - d)[:, :, None] * diagonal
    _, dY, dS, length = solve_for(straight)
    at = d[:, :, None] * diagonal
    now, ahead = np.mean(d**2), np.sum((at + length * dY) * (at + length * dS)) / d.size
    lower = max(w, now * min(1.0, max(0.0, ahead / now)) ** 3)
    bend = (dY @ dS + dS @ dY) / (d[:, :, None] + d[:, None, :])
    step, _, dS, length = solve_for((lower / d - d)[:, :, None] * diagonal - bend)
    return step, _transpose(inverse) @ dS @ inverse, length


def _solver(problem: ConvexProblem, curvature: Array) -> Callable[[Array], Array]:
    """What solves (diag(a^2) + T^T curvature T) x = y for y, rows and columns scaled."""
    T, a, _ = problem.axes
    H = T.T @ curvature @ T
    H.flat[:: len(a) + 1] += a**2
    size = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    H *= size[:, None] * size
    factor, fault = factorise(H)
    if fault:
        inverse = np.linalg.pinv(H, rcond=1e-14, hermitian=True)
        return lambda y: size * (inverse @ (size * y))
    return lambda y: size * substitute(factor, size * y)[0]


def _reach(growth: Array) -> float:
    """How many steps it is to where the first eigenvalue becomes zero."""
    return 1.0 / max(-float(growth.min(initial=0.0)), 1e-300)


def _inside(c: Conditions, Y: Array, L: Array) -> float:
    """How far the worst block Y = L L^T is from singular, relative to its size (1x1: the prior)."""
    depth = np.where(c.is_padding, np.inf, np.diagonal(L, axis1=1, axis2=2) ** 2).min(axis=1)
    size = np.where(c.is_padding, 0.0, np.diagonal(Y, axis1=1, axis2=2)).max(axis=1)
    size[np.sum(~c.is_padding, axis=1) == 1] = 1.0
    return float(np.min(depth / size, initial=1.0))


def _transpose(stack: Array) -> Array:
    return stack.transpose(0, 2, 1)


def _scatter(c: Conditions, parts: Array) -> Array:
    """Parts (blocks, k) added up where they belong (p,)."""
    total = np.zeros(len(c.prior))
    np.add.at(total, c.places, parts)
    return total


def _gram(c: Conditions, W: Array) -> Array:
    """The inner products of scaled slopes (blocks, k, n, n), added up where they belong (p, p)."""
    flat = W.reshape(*W.shape[:2], -1)
    total = np.zeros((len(c.prior), len(c.prior)))
    pairs = (c.places[:, :, None], c.places[:, None, :])
    np.add.at(total, pairs, flat @ flat.transpose(0, 2, 1))
    return total


def minimise_with_clarabel(problem: ConvexProblem) -> Array:
    """The minimiser u by cvxpy and Clarabel: slower, and independent of the Newton methods here."""
    try:
        import clarabel  # noqa: F401
        import cvxpy as cp
    except ImportError as error:
        remedy = "pip install 'freefloat[sdp]', or take solver=\"newton\""
        expected = "cvxpy and clarabel"
        fault = Fault("cvxpy", "not installed", expected, remedy, "package.missing")
        raise IdentificationError('solver="clarabel" needs cvxpy and clarabel', [fault]) from error
    c, (T, a, b) = problem.conditions, problem.axes
    z = cp.Variable(len(a))
    terms = []
    for slopes, places, is_padding in zip(c.slopes, c.places, c.is_padding, strict=True):
        n = int(np.sum(~is_padding))
        flat = slopes[:, :n, :n].reshape(len(places), -1)
        Y = np.eye(n) + cp.reshape((flat.T @ T[places]) @ z, (n, n), order="C")
        Y = 0.5 * (Y + Y.T)
        terms.append(cp.trace(Y) - (cp.log_det(Y) if n > 1 else cp.log(Y[0, 0])))
    loose = cp.sum_squares(cp.multiply(np.sqrt(c.looseness), T @ z))
    misfit = cp.sum_squares(cp.multiply(a, z) - b)
    objective = 0.5 * misfit + problem.weight * (cp.sum(terms) + 0.5 * loose)
    task = cp.Problem(cp.Minimize(objective))
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), CLARABEL_TOLERANCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate" against these tolerances
            task.solve(solver=cp.CLARABEL, **tight)
    except cp.SolverError as error:
        raise IdentificationError(
            f"Clarabel gave up ({error}); free fewer parameters or give priors",
            code="solver.failed",
        ) from error
    if z.value is None:
        raise IdentificationError(
            f"Clarabel gave up ({task.status}); free fewer parameters or give priors",
            code="solver.failed",
        )
    return T @ z.value
