"""Trajectories together with their derivative with respect to any named parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.linearise import LinearisedTree
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.kernels.spatial import A, P, S, V
from freefloat.dynamics.kernels.tangent import Directions, Tangent
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.setup_change import Move, SetupChanges, no_directions
from freefloat.dynamics.state import D_ATTITUDE, D_POSITION, D_RATE, D_ROOT
from freefloat.dynamics.tree import System, with_friction


@dataclass(frozen=True)
class Sensitivity:
    """A trajectory and how it changes per unit of each parameter.

    states (N, 13 + 2 c); tangents (N, 12 + 2 f, parameters): position, attitude (small rotation in
    root axes), velocity, rate, then q and dq of the free coordinates; efforts (N, 6 + 2 c,
    parameters): root acceleration, ddq, generalised forces.

    What parameters of the setup do besides: driven (N, 3, parameters): q, dq, ddq of prescribed
    coordinates, by name; pushes (N, parameters): thrust and wrench, by column of the inputs;
    gravity (3, parameters): in world axes; moves: parts that sit elsewhere, by parameter.
    """

    names: tuple[str, ...]
    states: Array
    tangents: Array
    efforts: Array
    free: tuple[str, ...]
    driven: Mapping[str, Array] = field(default_factory=dict)
    pushes: Mapping[int, Array] = field(default_factory=dict)
    gravity: Array | None = None
    moves: Sequence[tuple[int, Move]] = ()

    def of_position(self, coordinate: str) -> Array:
        """Change of a coordinate (N, parameters)."""
        return self._row(coordinate, 0)

    def of_rate(self, coordinate: str) -> Array:
        """Change of a coordinate's rate (N, parameters)."""
        return self._row(coordinate, 1)

    def _row(self, coordinate: str, order: int) -> Array:
        if coordinate in self.free:
            place = D_ROOT + order * len(self.free) + self.free.index(coordinate)
            return self.tangents[:, place]
        if coordinate in self.driven:
            return self.driven[coordinate][:, order]
        return np.zeros((len(self.states), len(self.names)))

    def is_moving(self, coordinate: str) -> bool:
        """Whether parameters change the motion of a coordinate."""
        return coordinate in self.free or coordinate in self.driven

    def thin(self, some: slice) -> Sensitivity:
        """At some of the instants."""
        return replace(
            self, states=self.states[some], tangents=self.tangents[some],
            efforts=self.efforts[some], driven={n: t[some] for n, t in self.driven.items()},
            pushes={k: t[some] for k, t in self.pushes.items()},
        )  # fmt: skip


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
    setup: SetupChanges | None = None,
) -> Sensitivity:
    """Integrate the state and its derivative by parameters with RK4; analytic, no differences.

    Args:
        system: The mechanism, from `flatten`.
        start: Initial state (13 + 2 c).
        names: Of the parameters.
        inputs: Prescribed motion, torques and thrust, three stages a step.
        step, n_steps, every: Length [s] and number of steps; every so many-th is kept.
        time: At the start [s].
        with_efforts: Whether accelerations and forces are differentiated, too.
        known: `parameter_directions` of the names, to be reused over many simulations.
        setup: What those names change that belong to inputs, geometry and surroundings.

    Returns:
        States, and their derivatives per unit of each parameter, at the steps kept.
    """
    from freefloat.dynamics.kernels.integrate import rk4
    from freefloat.dynamics.kernels.tangent import rk4_tangent

    if any(name.endswith(".friction") for name in names):
        system = with_friction(system)
    tree, c, n_parameters = system.tree, system.n_coordinates, len(names)
    entries, first = known or _directions(system, names, setup)
    free = tree.free[tree.free >= 6] - 6
    slopes = linearised_tree(system, len(first))
    tangent = tangent_table(first, len(slopes.rows))
    x = np.array(start, dtype=float)
    n_rows = 1 + n_steps // every
    states = np.zeros((n_rows, len(x)))
    tangents = np.zeros((n_rows, *first.shape))
    efforts = np.zeros((n_rows if with_efforts else 0, 6 + 2 * c, n_parameters))
    stages = Stages(*(np.zeros_like(x) for _ in range(3)))
    found = Sensitivity(
        tuple(names), states, tangents, efforts, tuple(system.coordinates[i] for i in free)
    )
    if not names:  # the same steps, two to four times faster without their derivatives
        states[0] = x
        rk4(
            tree, system.parameters, new_work(tree), inputs, float(time), float(step), n_steps,
            every, x, stages, states[1:],
        )  # fmt: skip
        return found
    forcing, changes = no_directions()
    looks, look_changes = inputs, changes
    if setup is not None:
        forcing, changes = setup.directions(names), setup.tables(names, n_steps, is_record=False)
        looks = setup.records
        if with_efforts:
            look_changes = setup.tables(names, n_rows, is_record=True)
    rk4_tangent(
        tree, system.parameters, new_work(tree), inputs, changes, slopes, entries, forcing, looks,
        look_changes, float(time), float(step), n_steps, every, x, stages, tangent, states,
        tangents, efforts,
    )  # fmt: skip
    return found if setup is None else _with_setup(found, system, setup)


def _directions(
    system: System, names: Sequence[str], setup: SetupChanges | None
) -> tuple[Directions, Array]:
    """`parameter_directions` of names some of which belong to a setup."""
    if setup is None:
        return parameter_directions(system, names)
    places = [p for p, name in enumerate(names) if name not in setup.by_name]
    entries, first = parameter_directions(system, [names[p] for p in places])
    own = np.array(places, dtype=np.int64)
    for table in (entries.body, entries.spring, entries.rotor):
        table[:, 0] = own[table[:, 0]]
    whole = np.zeros((len(first), len(names)))
    whole[:, own] = first
    return setup.with_masses(entries, names), whole


def _with_setup(found: Sensitivity, system: System, setup: SetupChanges) -> Sensitivity:
    """The sensitivity with what parameters of the setup change besides the motion."""
    n = len(found.states)
    driven = {
        system.coordinates[system.tree.given[m]]: table
        for m, table in setup.motion_changes(found.names, n).items()
    }
    for coordinate, table in driven.items():
        if len(found.efforts):
            found.efforts[:, 6 + system.coordinates.index(coordinate)] = table[:, 2]
    gravity = setup.gravity(found.names)
    return replace(
        found, driven=driven, pushes=setup.push_changes(found.names, n),
        gravity=gravity if gravity.any() else None, moves=setup.moves_of(found.names),
    )  # fmt: skip


def linearised_tree(system: System, width: int) -> LinearisedTree:
    """Scratch space of a linearisation whose tangent has so many rows."""
    tree, c = system.tree, system.n_coordinates
    rows = np.concatenate([tree.free, 6 + np.arange(c)])
    free_at = np.full(c, -1, dtype=np.int64)
    free = tree.free[tree.free >= 6] - 6
    free_at[free] = np.arange(len(free))
    return LinearisedTree(
        np.zeros((system.n_links, 12)), np.zeros((len(rows), width)), rows, free_at,
        np.zeros((6, 10)), np.zeros(6),
    )  # fmt: skip


def tangent_table(first: Array, n_rows: int) -> Tangent:
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
    body: str = "",
    with_acceleration: bool = True,
) -> LinkChange:
    """How the placement and motion of a link, or of a body on it, change with the parameters.

    links: of `observe`. For a frame on a link, changes are followed in axes that move with it: its
    motion v changes by s1 dq + S d(dq) summed over the joints on the way (s1 = v_parent x S),
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
    change = LinkChange(turn, shift, motion, acceleration)
    _add_moves(change, [m for m in slopes.moves if body and m[1].body == body], link, links, v)
    while link > 0:
        name = system.coordinates[link - 1]
        parent = int(system.tree.links[link, 0])
        own = [move for move in slopes.moves if move[1].link == link and not move[1].body]
        _add_moves(change, [move for move in own if move[1].is_beyond], link, links, v)
        _add_moves(change, [move for move in own if not move[1].is_beyond], parent, links, v)
        if slopes.is_moving(name):
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
    return change


def _add_moves(
    change: LinkChange, moves: Sequence[tuple[int, Move]], carrier: int, links: Array, v: Array
) -> None:
    """What parts that sit elsewhere on a link do to the changes of what they carry.

    They are joints that have moved by one and stay there.
    """
    for p, move in moves:
        rows = links[:, carrier]
        R = rows[:, :9].reshape(-1, 3, 3)
        turned = R @ move.change[:3]
        s = np.hstack([turned, R @ move.change[3:] + np.cross(rows[:, P : P + 3], turned)])
        s1 = _cross6(rows[:, V : V + 6], s)
        change.turn[:, :, p] += s[:, :3]
        change.shift[:, :, p] += s[:, 3:]
        change.motion[:, :, p] += s1
        if len(change.acceleration):
            s2 = _cross6(rows[:, A : A + 6], s) + _cross6(rows[:, V : V + 6], s1)
            change.acceleration[:, :, p] += s2 - _cross6(v, s1)


def cross(a: Array, b: Array) -> Array:
    """a (N, 3, p) x b (N, 3), column by column: many times faster than numpy's."""
    from freefloat.dynamics.kernels.columns import cross_columns

    out = np.empty(a.shape)
    cross_columns(a, np.ascontiguousarray(b), out)
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
