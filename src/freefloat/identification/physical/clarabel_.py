"""The same convex problem by cvxpy and Clarabel: slower, and independent of our own Newton."""

from __future__ import annotations

import warnings

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, IdentificationError
from freefloat.identification.physical.convex_solver import ConvexProblem

TOLERANCE = 1e-12  # theory: far below the prior weight (1e-8), or the divergence drowns in it


def minimise_with_clarabel(problem: ConvexProblem) -> Array:
    """The minimiser u, as an interior-point solver for general cones finds it."""
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
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), TOLERANCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate" against these tolerances
            task.solve(solver=cp.CLARABEL, **tight)
    except cp.SolverError as error:
        raise IdentificationError(f"Clarabel gave up: {error}", code="solver.failed") from error
    if z.value is None:
        raise IdentificationError(f"Clarabel gave up: {task.status}", code="solver.failed")
    return T @ z.value
