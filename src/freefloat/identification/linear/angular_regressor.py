"""The regressor of angular momentum about the centre of mass, for any tree of revolute joints.

Needs only how the links are turned and how fast they turn: no torque, no acceleration, no base
velocity (paper 003, here without case-by-case algebra). A mass element's position from the centre
of mass is a sum of vectors fixed in the links, r = sum_k R_k s_k, so with
J_k = integral (s_k.s_k 1 - s_k s_k^T) dm and B_kl = integral s_k s_l^T dm

    h = sum_k R_k J_k R_k^T w_k
        + sum_{k<l} [tr(X) w_l - X^T w_l + tr(X) w_k - X w_k],   X = R_k B_kl R_l^T,

linear in six numbers a link and nine a pair of links. Rotors add their own J a (N dq).

Joint torques and base acceleration follow from the same numbers (paper 003's closing claim): with
an acceleration A_k R_k s_k a link (A = [alpha] + [omega]^2 as matrices) and Z the matrix of a
joint's axis, d'Alembert's principle gives the torque of a joint that moves the links l behind it

    tau = sum_l sum_k tr(Z^T A_k X_kl),   X_kl = integral R_k s_k s_l^T R_l^T dm,

which is what Lagrange's equations give from T = 1/2 sum_kl tr([w_k] X_kl [w_l]^T). Turning
everything about an axis gives the rate of change of the angular momentum: zero when no external
torque acts, which is where the base acceleration comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.frames import link_table, rotations
from freefloat.dynamics.kernels.spatial import V
from freefloat.dynamics.state import rates
from freefloat.dynamics.tree import PRISMATIC, System
from freefloat.errors import IdentificationError
from freefloat.model import inertia as inertial

SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
AXES = "xyz"
Index = NDArray[np.intp]


@dataclass(frozen=True)
class PairForm:
    """Which columns the pair form has, and the link names behind them."""

    links: tuple[str, ...]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of links, first before second."""
        n = len(self.links)
        return [(k, m) for k in range(n) for m in range(k + 1, n)]

    @property
    def names(self) -> list[str]:
        """Column names: J[link].xx ... and B[link,link].xy ..."""
        own = [f"J[{link}].{AXES[i]}{AXES[j]}" for link in self.links for i, j in SIX]
        return own + [
            f"B[{self.links[k]},{self.links[m]}].{a}{b}"
            for k, m in self.pairs
            for a in AXES
            for b in AXES
        ]


def pair_form(system: System) -> PairForm:
    """The pair form of a system; moving prismatic joints have no constant vectors, so none."""
    if np.any(system.tree.links[:, 1] == PRISMATIC):
        raise IdentificationError(
            f"{system.model.name!r} has prismatic joints: the angular-momentum family needs"
            " constant link vectors; use the momentum family",
            code="method.prismatic",
        )
    names = [""] * system.n_links
    for body in reversed(system.model.assembly.bodies):  # the first body of a link names it
        names[system.body_link[body.name]] = body.name
    return PairForm(tuple(names))


def link_attitudes(system: System, states: Array) -> tuple[Array, Array]:
    """Rotation (N, links, 3, 3) link to world and rate (N, links, 3) in world axes."""
    table = link_table(system, states)
    R_WB = rotations(states)
    R = R_WB[:, None] @ table[:, :, :9].reshape(*table.shape[:2], 3, 3)
    return R, np.einsum("nij,nlj->nli", R_WB, table[:, :, V : V + 3])


def angular_rows(system: System, states: Array) -> Array:
    """Y (N, 3, columns): Y @ pi = angular momentum about the CoM, world axes, rotors apart."""
    form = pair_form(system)
    R, w = link_attitudes(system, states)
    columns = []
    for k in range(len(form.links)):
        u = np.einsum("nij,ni->nj", R[:, k], w[:, k])  # rate in link axes
        for i, j in SIX:
            Iu = np.zeros_like(u)
            Iu[:, i] += u[:, j]
            if i != j:
                Iu[:, j] += u[:, i]
            columns.append(np.einsum("nij,nj->ni", R[:, k], Iu))
    for k, m in form.pairs:
        for a in range(3):
            for b in range(3):
                columns.append(_pair_column(R[:, k, :, a], R[:, m, :, b], w[:, k], w[:, m]))
    return np.stack(columns, axis=2)


def _pair_column(x: Array, y: Array, wk: Array, wl: Array) -> Array:
    """The column of X = x y^T: tr(X) (w_k + w_l) - X^T w_l - X w_k."""
    trace = np.sum(x * y, axis=1, keepdims=True)
    along_l = np.sum(x * wl, axis=1, keepdims=True)
    along_k = np.sum(y * wk, axis=1, keepdims=True)
    return trace * (wk + wl) - along_l * y - along_k * x


def rotor_momentum(system: System, states: Array) -> Array:
    """Momentum of the rotors relative to their carriers (N, 3) in world axes [N m s]."""
    R, _ = link_attitudes(system, states)
    n_joints = system.n_links - 1
    first = system.layout.dq.start + n_joints
    total = np.zeros((len(states), 3))
    for r, link in enumerate(system.tree.rotor_link):
        axis, ratio = system.tree.rotors[r, :3], system.tree.rotors[r, 3]
        spin = ratio * system.parameters.rotor[r] * states[:, first + r]
        total += spin[:, None] * (R[:, link] @ axis)
    return total


def pair_parameters(system: System) -> Array:
    """The true values of the pair form's columns, from the system's masses and geometry.

    For a body b and a link k on the way to it, a_k is the vector in link k from its origin to the
    next joint (to the body's own mass for k = b); B_kl = sum_b m_b a_k a_l^T - M abar_k abar_l^T.
    """
    n = system.n_links
    phi = system.parameters.phi
    total = phi[:, 0].sum()
    reach = np.zeros((n, n, 3))  # reach[b, k]: a_k for body b
    for b in range(n):
        if phi[b, 0] > 0.0:
            reach[b, b] = phi[b, 1:4] / phi[b, 0]
        child = b
        while child > 0:
            parent = int(system.tree.links[child, 0])
            reach[b, parent] = _origin_in_parent(system, child)
            child = parent
    mean = np.einsum("b,bki->ki", phi[:, 0], reach) / total
    second = np.einsum("b,bki,blj->klij", phi[:, 0], reach, reach)
    for b in range(n):  # a body's own spread is its second moment, not its centre's
        J = inertial.pseudo_inertia(phi[b])[:3, :3]
        centre = np.outer(reach[b, b], reach[b, b]) * phi[b, 0]
        second[b, b] += J - centre
    second -= total * np.einsum("ki,lj->klij", mean, mean)
    form = pair_form(system)
    own = [inertial.six(np.trace(second[k, k]) * np.eye(3) - second[k, k]) for k in range(n)]
    return np.concatenate([*own, *(second[k, m].ravel() for k, m in form.pairs)])


def _origin_in_parent(system: System, link: int) -> Array:
    return system.tree.place[link, 9:12]


@dataclass(frozen=True)
class PairMotion:
    """Free motion that the pair form predicts.

    alpha (N, 3): angular acceleration of the root in world axes [rad/s^2]; torque (N, joints)
    [N m].
    """

    alpha: Array
    torque: Array


def pair_motion(
    system: System,
    states: Array,
    ddq: Array,
    parameters: Array,
    kept: Sequence[int] | Index | None = None,
) -> PairMotion:
    """What the root and the joint torques do when joints and wheels accelerate by ddq (N, c).

    parameters: the values of the columns `kept` of the pair form (all when not given): those of a
    minimal set will do. Only geometry and rotors are taken from the system, no mass of a link.

    >>> from freefloat.dynamics import flatten
    >>> from freefloat.observability.minimal_set import generic_states
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("cepheus"))
    >>> found = pair_motion(system, generic_states(system, 5), np.ones((5, 3)),
    ...                     pair_parameters(system))
    >>> found.torque.shape
    (5, 2)
    """
    columns = range(len(pair_form(system).names)) if kept is None else [int(k) for k in kept]
    B = dict(zip(columns, parameters, strict=True))
    X = _second_moments(system, states, B)
    axes, carried = _axes(system, states)
    still = np.zeros((len(states), 3))
    rest = _forces(system, states, ddq, still, X)
    turns = [np.eye(3)[k] for k in _free_axes(system)]
    # Forces are affine in alpha: unit accelerations give the matrix that alpha follows from.
    units = [_forces(system, states, ddq, np.broadcast_to(e, still.shape), X) - rest for e in turns]
    M = np.stack([_along(unit, turns) for unit in units], axis=2)
    a = np.linalg.solve(M, -_along(rest, turns)[:, :, None])[:, :, 0]
    total = rest + np.einsum("na,anli->nli", a, np.stack(units))
    torque = np.einsum("nji,nli,jl->nj", axes, total, carried)
    return PairMotion(a @ np.array(turns), torque)


def _along(forces: Array, turns: list[Array]) -> Array:
    """The torque on everything together about the axes in which the root is free."""
    return forces.sum(axis=1) @ np.array(turns).T


def _free_axes(system: System) -> list[int]:
    return [2] if system.model.root.type == "planar" else [0, 1, 2]


def _axes(system: System, states: Array) -> tuple[Array, Array]:
    """Joint axes (N, joints, 3) in world axes, and which links each carries (joints, links)."""
    R, _ = link_attitudes(system, states)
    n = system.n_links
    carried = np.eye(n)
    for link in range(n - 1, 0, -1):
        carried[system.tree.links[link, 0]] += carried[link]
    return R[:, 1:, :, 2], carried[1:]


def _second_moments(system: System, states: Array, values: dict[int, float]) -> Array:
    """X (N, links, links, 3, 3) from pair-form columns: integral x_k x_l^T dm, world axes."""
    R, _ = link_attitudes(system, states)
    n = system.n_links
    S = np.zeros((n, n, 3, 3))
    for column, value in values.items():
        if column < 6 * n:
            (k, six), J = divmod(column, 6), np.zeros((3, 3))
            i, j = SIX[six]
            J[i, j] = J[j, i] = value
            S[k, k] += 0.5 * np.trace(J) * np.eye(3) - J
            continue
        pair, nine = divmod(column - 6 * n, 9)
        k, m = pair_form(system).pairs[pair]
        S[k, m, nine // 3, nine % 3] += value
        S[m, k, nine % 3, nine // 3] += value
    return np.einsum("nkij,klja,nlba->nklib", R, S, R)


def _forces(system: System, states: Array, ddq: Array, alpha: Array, X: Array) -> Array:
    """Torque (N, links, 3) that every link's part x_l of the positions takes, world axes."""
    R, w = link_attitudes(system, states)
    a = _accelerations(system, states, ddq, alpha)
    A = _cross(a) + _cross(w) @ _cross(w)
    # x_l times the acceleration of the element: the antisymmetric part of sum_k A_k X_kl
    F = np.einsum("nkij,nkljb->nlib", A, X)
    out = np.stack(
        [F[:, :, 2, 1] - F[:, :, 1, 2], F[:, :, 0, 2] - F[:, :, 2, 0],
         F[:, :, 1, 0] - F[:, :, 0, 1]], axis=2,
    )  # fmt: skip
    return out + _rotor_torques(system, states, ddq, R, w)


def _accelerations(system: System, states: Array, ddq: Array, alpha: Array) -> Array:
    """Angular acceleration of every link (N, links, 3), world axes."""
    R, w = link_attitudes(system, states)
    dq = rates(states)
    a = np.zeros_like(w)
    a[:, 0] = alpha
    for link in range(1, system.n_links):
        parent, z = int(system.tree.links[link, 0]), R[:, link, :, 2]
        spin = np.cross(w[:, parent], z) * dq[:, link - 1, None]
        a[:, link] = a[:, parent] + spin + z * ddq[:, link - 1, None]
    return a


def _rotor_torques(system: System, states: Array, ddq: Array, R: Array, w: Array) -> Array:
    """What changing the rotors' momentum takes from the links that carry them (N, links, 3)."""
    out = np.zeros_like(w)
    first = system.n_links - 1
    dq = rates(states)
    for r, link in enumerate(system.tree.rotor_link):
        axis = R[:, link] @ system.tree.rotors[r, :3]
        size = system.tree.rotors[r, 3] * system.parameters.rotor[r]
        turning = np.cross(w[:, link], axis) * dq[:, first + r, None]
        out[:, link] += size * (turning + axis * ddq[:, first + r, None])
    return out


def _cross(v: Array) -> Array:
    """The matrices [v] with [v] x = v cross x, for v (..., 3)."""
    out = np.zeros((*v.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i, j], out[..., j, i] = -v[..., k], v[..., k]
    return out
