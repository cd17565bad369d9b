"""Joint torques and base acceleration from the pair form alone (paper 003's closing claim).

With r = sum_k R_k s_k from the centre of mass, an acceleration A_k R_k s_k a link (A = [alpha] +
[omega]^2 as matrices) and Z the matrix of a joint's axis, d'Alembert's principle gives the torque
of a joint that moves the links l behind it

    tau = sum_l sum_k tr(Z^T A_k X_kl),   X_kl = integral R_k s_k s_l^T R_l^T dm,

linear in the same J_k and B_kl as the angular momentum, and what Lagrange's equations give from
T = 1/2 sum_kl tr([w_k] X_kl [w_l]^T). Turning everything about an axis gives the rate of change of
the angular momentum: zero when nothing pushes, which is where the base acceleration comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.identification.linear.body_pairs import SIX, link_attitudes, pair_form

Index = NDArray[np.intp]


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
    >>> from freefloat.identification.linear.body_pairs import pair_parameters
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
    dq = states[:, 13 + system.n_coordinates :]
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
    dq = states[:, 13 + system.n_coordinates :]
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
