"""The smallest set of parameters a family of equations can see, for any tree, found by rank.

Columns that never act are dropped; a column that is always a combination of earlier ones is folded
into them, Y pi = Y_kept (pi_kept + beta pi_folded), and the combination is put into words. The
regressor must come from generic motion (random states and accelerations): rank then belongs to the
mechanism, not to the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.equations import (
    coordinates_of,
    force_regressor,
    inverse_dynamics,
    momentum_regressor,
    system_vector,
)
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.state import RATE, VELOCITY
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import Fault, IdentificationError
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.model.model import Model
from freefloat.text import did_you_mean

EquationFamily = Literal[
    "force", "joint", "momentum", "sensor point", "angular", "linear", "reduced"
]


@dataclass(frozen=True)
class MinimalSet:
    """Which columns stay and what they stand for.

    kept: indices of the independent columns; regroup (kept, all): minimal = regroup @ full;
    invisible: names of columns that never act; words: each minimal parameter as a sum.
    """

    names: tuple[str, ...]
    kept: NDArray[np.intp]
    regroup: Array
    invisible: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many independent parameters there are."""
        return len(self.kept)

    @property
    def words(self) -> tuple[str, ...]:
        """Every minimal parameter as a sum of named ones."""
        return tuple(_sum_in_words(row, self.names) for row in self.regroup)


def minimal_set(
    rows: Array, names: Sequence[str], *, tolerance: float = 1e-9, digits: int = 9
) -> MinimalSet:
    """The minimal set of a regressor (rows, columns) taken over generic motion.

    Earlier columns are preferred. `tolerance` is relative to the size of a column.

    >>> Y = np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 0.0]])
    >>> minimal_set(Y, ["a", "b", "c"]).words
    ('a + 2 b',)
    """
    size = np.linalg.norm(rows, axis=0)
    acts = size > 1e-12 * size.max(initial=0.0)
    scaled = rows[:, acts] / size[acts]
    # The triangle of a QR has the same column relations as the rows, and is far shorter.
    triangle = triangle_of(scaled)
    order = np.flatnonzero(acts)
    kept: list[int] = []
    basis: Array = np.zeros((len(triangle), 0))
    for k in range(triangle.shape[1]):
        rest = triangle[:, k] - basis @ (basis.T @ triangle[:, k])
        rest -= basis @ (basis.T @ rest)  # twice is enough
        length = np.linalg.norm(rest)
        if length > tolerance:
            kept.append(k)
            basis = np.column_stack([basis, rest / length])
    coefficients = np.linalg.lstsq(triangle[:, kept], triangle, rcond=None)[0]
    regroup = np.zeros((len(kept), rows.shape[1]))
    regroup[:, order] = coefficients * size[order] / size[order[kept]][:, None]
    regroup[np.abs(regroup) < 10.0**-digits] = 0.0
    invisible = tuple(name for name, is_seen in zip(names, acts, strict=True) if not is_seen)
    return MinimalSet(tuple(names), order[kept], regroup, invisible)


def _sum_in_words(row: Array, names: tuple[str, ...]) -> str:
    text = ""
    for value, name in zip(row, names, strict=True):
        if value == 0.0:
            continue
        factor = "" if abs(abs(value) - 1.0) < 1e-9 else f"{abs(value):.4g} "
        sign = ("- " if value < 0 else "+ ") if text else ("-" if value < 0 else "")
        text += f"{' ' if text else ''}{sign}{factor}{name}"
    return text


def minimal_count(model: Model, family: EquationFamily, *, seed: int = 0) -> int:
    """How many combinations of ten parameters a link (and the rotors') the family can see.

    On a fixed root gravity counts as the model has it.

    "force": the root's rows and the joints'; "joint": the joints' alone; "momentum": linear and
    angular; "linear"; "sensor point": angular momentum about the root's origin; "angular": about
    the centre of mass; "reduced": joint rows with the root's acceleration eliminated. Momenta
    count as known; of a momentum that is only conserved one fewer is seen, the scale. The last two
    are not linear: they count around the model's values.

    Args:
        model: Whose parameters are counted.
        family: One of the names above.
        seed: Of the random motions by which the rank is found.

    Returns:
        The size of the minimal set: the rank of the regressor.

    Raises:
        IdentificationError: There is no such family.

    >>> from freefloat.model import load_model
    >>> [minimal_count(load_model("ets7"), family) for family in ("force", "joint", "linear")]
    [53, 43, 16]
    """
    system = flatten(model)
    n = max(20, 4 * system.n_links) * 6
    states = generic_states(system, n, seed=seed)
    accelerations = generic_accelerations(system, n, seed=seed + 1)
    _hold(system, states, accelerations)
    coordinates = coordinates_of(states, accelerations)
    rows = _rows(system, family, states, accelerations, coordinates)
    names = [str(k) for k in range(rows.shape[-1])]
    return minimal_set(rows.reshape(-1, len(names)), names).count


def _hold(system: System, states: Array, accelerations: Array) -> None:
    """Keep locked coordinates at home."""
    layout = system.layout
    for i, coordinate in enumerate(system.model.assembly.coordinates):
        if coordinate.role == "locked":
            states[:, layout.position_of(i)] = coordinate.home
            states[:, layout.rate_of(i)] = 0.0
            accelerations[:, 6 + i] = 0.0


def _rows(
    system: System, family: EquationFamily, states: Array, accelerations: Array, coordinates: Array
) -> Array:
    rate = states[:, RATE]
    if family in ("force", "joint"):
        Y = force_regressor(system, rate, accelerations[:, :6], coordinates)
        free = [int(g) for g in system.tree.free if g < 6]
        joints = _moving(system)
        return Y[:, joints] if family == "joint" else Y[:, [*free, *joints]]
    if family == "reduced":
        return _joint_rows_without_base(system, rate, coordinates)
    velocity = np.einsum("nji,nj->ni", rotations(states), states[:, VELOCITY])
    Y = momentum_regressor(system, rate, velocity, coordinates)[0]
    free = [int(g) for g in system.tree.free if g < 6]
    if family == "momentum":
        return Y[:, free]
    if family == "linear":
        return Y[:, [g for g in free if g >= 3]]
    if family == "sensor point":
        return Y[:, [g for g in free if g < 3]]
    if family == "angular":
        return _about_com(system, Y, coordinates)[:, [g for g in free if g < 3]]
    known = get_args(EquationFamily)
    remedy = did_you_mean(family, known, otherwise="choose one")
    raise IdentificationError(
        "there is no such family of equations",
        [Fault("family", family, ", ".join(known), remedy, "value.choice")],
    )


def _moving(system: System) -> list[int]:
    roles = [coordinate.role for coordinate in system.model.assembly.coordinates]
    return [6 + i for i, role in enumerate(roles) if role != "locked"]


def _about_com(system: System, Y: Array, coordinates: Array) -> Array:
    """d (L - S/M x P) / d parameters, with L, P, S (first moment) and M linear in them."""
    L, P, S, M = Y[:, :3], Y[:, 3:], *_moments(system, coordinates)
    theta = system_vector(system)
    mass = float(M[0] @ theta)
    com, momentum = S @ theta / mass, P @ theta
    turned = S / mass - com[:, :, None] * M[:, None] / mass
    return L - _cross(turned, momentum) + _cross(P, com)


def _moments(system: System, coordinates: Array) -> tuple[Array, Array]:
    """First moment (N, 3, columns) and mass (N, columns) per unit parameter, in root axes."""
    still = coordinates.copy()
    still[:, :, 1:] = 0.0
    zero = np.zeros((len(still), 3))
    S = []
    for axis in range(3):  # e_k x S has S's component k + 1 in its component k + 2
        turn = zero + np.eye(3)[(axis + 2) % 3]
        S.append(momentum_regressor(system, turn, zero, still)[0][:, 3 + (axis + 1) % 3])
    mass = momentum_regressor(system, zero, zero + np.eye(3)[0], still)[0][:, 3]
    return np.stack(S, axis=1), mass


def _joint_rows_without_base(system: System, rate: Array, coordinates: Array) -> Array:
    """d torque / d parameters while the root's own acceleration adapts."""
    free = [int(g) for g in system.tree.free if g < 6]
    still = coordinates.copy()
    still[:, :, 1:] = 0.0
    n, joints = len(rate), _moving(system)
    columns = []
    for g in free:
        unit = np.zeros((n, 6)) + np.eye(6)[g]
        columns.append(inverse_dynamics(system, np.zeros((n, 3)), unit, still))
    H = np.stack(columns, axis=2) if columns else np.zeros((n, 6 + system.n_coordinates, 0))
    bias = inverse_dynamics(system, rate, np.zeros((n, 6)), coordinates)
    acceleration = np.zeros((n, 6))
    if free:
        acceleration[:, free] = -np.linalg.solve(H[:, free], bias[:, free, None])[..., 0]
    Y = force_regressor(system, rate, acceleration, coordinates)
    if not free:
        return Y[:, joints]
    return Y[:, joints] - H[:, joints] @ np.linalg.solve(H[:, free], Y[:, free])


def _cross(a: Array, b: Array) -> Array:
    """a (N, 3, columns) x b (N, 3), column by column."""
    return np.cross(a, b[:, :, None], axis=1)


def generic_states(system: System, n: int, *, seed: int = 0) -> Array:
    """n random state vectors within what the root allows; for ranks, not for simulation."""
    rng = np.random.default_rng(seed)
    c = system.n_coordinates
    position, velocity, rate = rng.normal(size=(3, n, 3))
    attitude = rng.normal(size=(n, 4))
    kind = system.model.root.type
    if kind != "floating":
        position[:, 2] = velocity[:, 2] = 0.0
        rate[:, :2] = attitude[:, :2] = 0.0
    if kind == "fixed":
        position[:], velocity[:], rate[:], attitude[:, 2] = 0.0, 0.0, 0.0, 0.0
    attitude /= np.linalg.norm(attitude, axis=1, keepdims=True)
    q, dq = rng.uniform(-3.0, 3.0, (n, c)), rng.normal(size=(n, c))
    return np.hstack([position, attitude, velocity, rate, q, dq])


def generic_accelerations(system: System, n: int, *, seed: int = 1) -> Array:
    """n random accelerations (n, 6 + c) within what the root allows; of a fixed one, gravity's."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, 6 + system.n_coordinates))
    if system.model.root.type != "floating":
        a[:, [0, 1, 5]] = 0.0
    if system.model.root.type == "fixed":
        a[:, :3], a[:, 3:6] = 0.0, -system.environment.gravity
    return a
