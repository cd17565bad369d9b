"""Trajectories together with their derivative with respect to any named parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.directions import directions as directions_of
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.linearise import LinearisedTree
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.kernels.tangent import Directions, Tangent
from freefloat.dynamics.tree import System, with_friction


@dataclass(frozen=True)
class Sensitivity:
    """A trajectory and how it changes per unit of each parameter.

    states (N, 13 + 2 c); tangents (N, 12 + 2 f, parameters): position, attitude (small rotation in
    root axes), velocity, rate, then q and dq of the free coordinates; efforts (N, 6 + 2 c,
    parameters): root acceleration, ddq, generalised forces.
    """

    names: tuple[str, ...]
    states: Array
    tangents: Array
    efforts: Array
    free: tuple[str, ...]


def integrate_with_sensitivity(
    system: System,
    start: Array,
    names: Sequence[str],
    *,
    inputs: Inputs,
    step: float,
    n_steps: int,
    every: int = 1,
    time: float = 0.0,
    with_efforts: bool = True,
    known: tuple[Directions, Array] | None = None,
) -> Sensitivity:
    """Integrate the state and its derivative by RK4 over n_steps of length `step` [s].

    Rows are the start and every `every`-th step. The derivative is analytic: no differences.
    known: `directions` of the names, for whoever flies many times.
    """
    from freefloat.dynamics.kernels.tangent import rk4_tangent

    if any(name.endswith(".friction") for name in names):
        system = with_friction(system)
    tree, c, n_parameters = system.tree, system.n_coordinates, len(names)
    entries, first = known or directions_of(system, names)
    rows = np.concatenate([tree.free, 6 + np.arange(c)])
    free_at = np.full(c, -1, dtype=np.int64)
    free = tree.free[tree.free >= 6] - 6
    free_at[free] = np.arange(len(free))
    slopes = LinearisedTree(
        np.zeros((system.n_links, 12)),
        np.zeros((len(rows), len(first))),
        rows,
        free_at,
        np.zeros((6, 10)),
        np.zeros(6),
    )
    tangent = _tangent(first, len(rows))
    x = np.array(start, dtype=float)
    n_rows = 1 + n_steps // every
    states = np.zeros((n_rows, len(x)))
    tangents = np.zeros((n_rows, *first.shape))
    efforts = np.zeros((n_rows if with_efforts else 0, 6 + 2 * c, n_parameters))
    stages = Stages(*(np.zeros_like(x) for _ in range(3)))
    rk4_tangent(
        tree, system.parameters, new_work(tree), inputs, slopes, entries, float(time), float(step),
        n_steps, every, x, stages, tangent, states, tangents, efforts,
    )  # fmt: skip
    return Sensitivity(
        tuple(names), states, tangents, efforts, tuple(system.coordinates[i] for i in free)
    )


def _tangent(first: Array, n_rows: int) -> Tangent:
    """The tangent `first`, its columns filled up to whole registers, with its scratch space."""
    from freefloat.numba_.lanes import LANES

    n, columns = first.shape
    groups = -(-columns // LANES)
    T, y, k, total = (np.zeros((n, groups, LANES)) for _ in range(4))
    b = np.zeros((n_rows, groups, LANES))
    flat = T.reshape(n, -1)
    flat[:, :columns] = first
    return Tangent(T, b, y, k, total, flat, b.reshape(n_rows, -1))
