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
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.search import SearchResult


def profile_interval(found: SearchResult, k: int, std: float) -> tuple[float, float]:
    """The 95 % interval of unknown k; an end is infinite where nothing stops it."""
    low = _end(found, k, std, -1.0)
    return low, _end(found, k, std, 1.0)


def _end(found: SearchResult, k: int, std: float, sign: float) -> float:
    problem, theta = found.problem, found.theta
    unknowns, options = problem.unknowns, problem.options
    bound = float(unknowns.upper[k] if sign > 0.0 else unknowns.lower[k])
    size = (
        std
        if np.isfinite(std) and std > 0.0
        else options.profile_first_step * float(unknowns.sizes[k])
    )
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
        step = _next(near, near_z, far, far_z, options)
    return float(theta[k] + sign * (near if not np.isfinite(far) else 0.5 * (near + far)))


def _next(near: float, near_z: float, far: float, far_z: float, options: SearchOptions) -> float:
    """The step at which z, which is nearly straight, should be 1.96."""
    if not np.isfinite(far):
        return near * (SIGMAS / max(near_z, SIGMAS / options.profile_growth))
    if not np.isfinite(far_z):
        return 0.5 * (near + far)
    share, edge = (SIGMAS - near_z) / (far_z - near_z), options.profile_bracket
    return near + (far - near) * float(np.clip(share, edge, 1.0 - edge))


def _rise(
    problem: OutputErrorProblem, lowest: float, theta: Array, k: int, value: float
) -> tuple[float, Array]:
    """Square root of the growth of the sum of squares with unknown k held, and theta there."""
    lower, upper = problem.unknowns.lower.copy(), problem.unknowns.upper.copy()
    lower[k] = upper[k] = value
    held = replace(problem, unknowns=replace(problem.unknowns, lower=lower, upper=upper))
    start = theta.copy()
    start[k] = value
    options = problem.options
    found = descend(held, start, most=options.profile_simulations, enough=options.profile_decrease)
    return float(np.sqrt(max(2.0 * (found.at.cost - lowest), 0.0))), found.at.theta
