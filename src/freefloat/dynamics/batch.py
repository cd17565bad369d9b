"""Many simulations of one mechanism with different numbers: spread over registers and cores.

Every simulation has its own parameters and start; the inputs are common. Each gives the same bits
as when it is run alone.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.kernels.newton_euler import Work, new_work
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError


def stack_parameters(sets: list[ParameterArrays]) -> ParameterArrays:
    """Parameter sets as one Parameters whose arrays have the simulation as first axis."""
    return ParameterArrays(*(np.stack(arrays) for arrays in zip(*sets, strict=True)))


def integrate_batch(
    system: System,
    starts: ArrayLike,
    parameters: ParameterArrays,
    inputs: Inputs,
    *,
    step: float,
    n_steps: int,
    every: int = 1,
    n_threads: int | None = None,
) -> Array:
    """Many simulations of one mechanism by RK4, with one set of parameters each.

    Args:
        system: The mechanism, from `flatten`; it has c coordinates.
        starts: Initial states (simulations, 13 + 2 c), or one row for all.
        parameters: Arrays with the simulation as first axis (see `stack_parameters`).
        inputs: Prescribed motion, torques and thrust, common to all.
        step: Of the integration [s], fixed.
        n_steps: Number of steps.
        every: Keep every so many-th state.
        n_threads: All cores unless given.

    Returns:
        States (simulations, 1 + n_steps // every, 13 + 2 c), the initial ones first.

    Raises:
        FreefloatError: A simulation is not finite.
    """
    from freefloat.numba_.lanes import LANES

    n = len(parameters.phi)
    x = np.array(np.broadcast_to(np.asarray(starts, dtype=float), (n, system.layout.width)))
    states = np.empty((n, 1 + n_steps // every, x.shape[1]))
    states[:, 0] = x
    groups = [np.arange(first, min(first + LANES, n)) for first in range(0, n, LANES)]

    def run(rows: NDArray[np.intp]) -> None:
        filled = np.resize(rows, LANES)  # a short last group repeats its members
        states[rows, 1:] = _run_group(system, x[filled], parameters, filled, inputs,
                                      step, n_steps, every)[: len(rows)]  # fmt: skip

    with ThreadPoolExecutor(n_threads or os.cpu_count()) as pool:
        list(pool.map(run, groups))
    if not np.all(np.isfinite(states)):
        bad = np.unique(np.nonzero(~np.isfinite(states))[0])
        raise FreefloatError(
            f"{len(bad)} of {n} simulations of {system.model.name!r} are not finite, the first is"
            f" number {bad[0]}; its parameters are not physical or the step {step:g} s is too long",
            code="motion.not_finite",
        )
    return states


def _run_group(
    system: System,
    x: Array,
    parameters: ParameterArrays,
    rows: NDArray[np.intp],
    inputs: Inputs,
    step: float,
    n_steps: int,
    every: int,
) -> Array:
    from freefloat.dynamics.kernels.batch import rk4_lanes

    lanes = len(rows)
    own = ParameterArrays(*(_last_axis(array[rows]) for array in parameters))
    work = Work(*(np.repeat(array[..., None], lanes, axis=-1) for array in new_work(system.tree)))
    state = _last_axis(x)
    stages = Stages(*(np.zeros_like(state) for _ in range(3)))
    out = np.empty((n_steps // every, *state.shape))
    rk4_lanes(system.tree, own, work, inputs, 0.0, float(step), n_steps, every, state, stages, out)
    return np.moveaxis(out, -1, 0)


def _last_axis(array: Array) -> Array:
    """The first axis moved to the end, contiguous: one simulation per lane."""
    return np.ascontiguousarray(np.moveaxis(array, 0, -1), dtype=np.float64)
