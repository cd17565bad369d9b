"""Intervals by profile likelihood: how far a parameter can go before the data object.

The parameter is held, everything else is fitted anew, and the 95 % interval ends where the sum of
squares has grown by 1.96^2. Where an interval is no ellipse, or ends at a bound, this is right and
the standard deviation is not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.fit_assembly import SIGMAS
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.levenberg import descend
from freefloat.identification.output_error.search import SearchResult


def profile_interval(found: SearchResult, k: int, std: float) -> tuple[float, float]:
    """The 95 % interval of unknown k; an end is infinite where nothing stops it."""
    low = _end(found, k, std, -1.0)
    return low, _end(found, k, std, 1.0)


def _end(found: SearchResult, k: int, std: float, sign: float) -> float:
    problem, theta = found.problem, found.theta
    unknowns, options = problem.unknowns, problem.options
    bound = float(unknowns.upper[k] if sign > 0.0 else unknowns.lower[k])
    size = std if np.isfinite(std) and std > 0.0 else 0.1 * float(unknowns.sizes[k])
    near, near_z, far, far_z = 0.0, 0.0, np.inf, np.inf
    step, at = SIGMAS * size, theta
    for _ in range(options.profile_fits):
        value = theta[k] + sign * step
        is_outside = sign * (value - bound) > 0.0
        value = bound if is_outside else value
        z, at = _rise(problem, found.descent.at.cost, at, k, value)
        if abs(z / SIGMAS - 1.0) < options.profile_tolerance:
            return value
        if is_outside and z < SIGMAS:
            return bound
        step = abs(value - theta[k])
        if z < SIGMAS:
            near, near_z = step, z
        else:
            far, far_z = step, z
        if step > options.profile_reach * size:
            return sign * np.inf
        step = _next(near, near_z, far, far_z)
    return float(theta[k] + sign * (near if not np.isfinite(far) else 0.5 * (near + far)))


def _next(near: float, near_z: float, far: float, far_z: float) -> float:
    """Where z, which is nearly straight, should be 1.96."""
    if not np.isfinite(far):
        return near * min(4.0, SIGMAS / max(near_z, 1e-3))
    if not np.isfinite(far_z):
        return 0.5 * (near + far)
    share = (SIGMAS - near_z) / (far_z - near_z)
    return near + (far - near) * float(np.clip(share, 0.1, 0.9))


def _rise(
    problem: OutputErrorProblem, lowest: float, theta: Array, k: int, value: float
) -> tuple[float, Array]:
    """Square root of the growth of the sum of squares with unknown k held, and theta there."""
    lower, upper = problem.unknowns.lower.copy(), problem.unknowns.upper.copy()
    lower[k] = upper[k] = value
    held = replace(problem, unknowns=replace(problem.unknowns, lower=lower, upper=upper))
    start = theta.copy()
    start[k] = value
    found = descend(held, start, most=problem.options.profile_simulations, enough=1e-6)
    return float(np.sqrt(max(2.0 * (found.at.cost - lowest), 0.0))), found.at.theta
