"""Trajectories together with their derivative with respect to any named parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.linearise import LinearisedTree
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.kernels.spatial import A, S, V
from freefloat.dynamics.kernels.tangent import Directions, Tangent
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.state import D_ATTITUDE, D_POSITION, D_RATE, D_ROOT
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

    def of_position(self, coordinate: str) -> Array:
        """Change of a coordinate (N, parameters); zero where its motion is prescribed."""
        return self._row(coordinate, D_ROOT)

    def of_rate(self, coordinate: str) -> Array:
        """Change of a coordinate's rate (N, parameters); zero where it is prescribed."""
        return self._row(coordinate, D_ROOT + len(self.free))

    def _row(self, coordinate: str, first: int) -> Array:
        if coordinate not in self.free:
            return np.zeros((len(self.states), len(self.names)))
        return self.tangents[:, first + self.free.index(coordinate)]


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
    known: `parameter_directions` of the names, for whoever flies many times.
    """
    from freefloat.dynamics.kernels.integrate import rk4
    from freefloat.dynamics.kernels.tangent import rk4_tangent

    if any(name.endswith(".friction") for name in names):
        system = with_friction(system)
    tree, c, n_parameters = system.tree, system.n_coordinates, len(names)
    entries, first = known or parameter_directions(system, names)
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
    if not names:  # the same steps, two to four times faster without their derivatives
        states[0] = x
        rk4(
            tree, system.parameters, new_work(tree), inputs, float(time), float(step), n_steps,
            every, x, stages, states[1:],
        )  # fmt: skip
    else:
        rk4_tangent(
            tree, system.parameters, new_work(tree), inputs, slopes, entries, float(time),
            float(step), n_steps, every, x, stages, tangent, states, tangents, efforts,
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


@dataclass(frozen=True)
class LinkChange:
    """Change of a link's placement and motion per parameter, in axes moving with it.

    turn (N, 3, p): rotation; shift (N, 3, p): displacement of the point now at the root's origin
    and fixed to the link; motion and acceleration (N, 6, p), the latter empty where the flight was
    followed without forces. All in root axes.
    """

    turn: Array
    shift: Array
    motion: Array
    acceleration: Array


def link_change(
    system: System,
    link: int,
    links: Array,
    slopes: Sensitivity,
    *,
    with_acceleration: bool = True,
) -> LinkChange:
    """How a link's placement and motion change with the parameters.

    links: of `observe`. For a frame on a link, changes are followed in axes that move with it: its
    motion v changes by s1 dq + S d(dq) summed over the free joints on the way (s1 = v_parent x S),
    its acceleration by (s2 - v x s1) dq + (2 s1 - v x S) d(dq) + S d(ddq), with
    s2 = a_parent x S + v_parent x s1.
    """
    T, E = slopes.tangents, slopes.efforts
    v = links[:, link, V : V + 6]
    w_root = links[:, 0, V : V + 3]
    dw = T[:, D_RATE]
    turn, shift = T[:, D_ATTITUDE].copy(), np.zeros_like(T[:, D_POSITION])
    motion = np.concatenate([dw, np.zeros_like(dw)], axis=1)
    # a flight may have been followed without; most sensors do not ask for it
    has_acceleration = with_acceleration and len(E) > 0
    acceleration = E[:, :6].copy() if has_acceleration else np.zeros((0, 6, T.shape[2]))
    if has_acceleration:
        # the root's rate carries everything along: (w x dw, 0) - v x (dw, 0)
        acceleration[:, :3] += -cross(dw, w_root)
        acceleration -= _motion_cross(v, motion)
    while link > 0:
        name = system.coordinates[link - 1]
        parent = int(system.tree.links[link, 0])
        if name in slopes.free:
            s = links[:, link, S : S + 6]
            s1 = _cross6(links[:, parent, V : V + 6], s)
            dq = slopes.of_position(name)[:, None]
            du = slopes.of_rate(name)[:, None]
            turn += s[:, :3, None] * dq
            shift += s[:, 3:, None] * dq
            motion += s1[:, :, None] * dq + s[:, :, None] * du
            if has_acceleration:
                inboard = links[:, parent]
                s2 = _cross6(inboard[:, A : A + 6], s) + _cross6(inboard[:, V : V + 6], s1)
                da = E[:, 6 + link - 1][:, None]
                acceleration += (s2 - _cross6(v, s1))[:, :, None] * dq
                acceleration += (2.0 * s1 - _cross6(v, s))[:, :, None] * du + s[:, :, None] * da
        link = parent
    return LinkChange(turn, shift, motion, acceleration)


def cross(a: Array, b: Array) -> Array:
    """a (N, 3, p) x b (N, 3), column by column: several times faster than numpy's."""
    out = np.empty_like(a)
    b = b[:, :, None]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[:, j], b[:, k], out=out[:, i])
        out[:, i] -= a[:, k] * b[:, j]
    return out


def _cross6(a: Array, b: Array) -> Array:
    """Motion a x motion b, rows of six."""
    angular = np.cross(a[:, :3], b[:, :3])
    return np.hstack([angular, np.cross(a[:, :3], b[:, 3:]) + np.cross(a[:, 3:], b[:, :3])])


def _motion_cross(a: Array, b: Array) -> Array:
    """Motion a (N, 6) x motions b (N, 6, p)."""
    angular = -cross(b[:, :3], a[:, :3])
    linear = -cross(b[:, 3:], a[:, :3]) - cross(b[:, :3], a[:, 3:])
    return np.concatenate([angular, linear], axis=1)
