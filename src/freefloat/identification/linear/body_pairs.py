"""Angular momentum about the system's centre of mass, for any tree of revolute joints.

Needs only how the links are turned and how fast they turn: no torque, no acceleration, no base
velocity (paper 003, here without case-by-case algebra). A mass element's position from the centre
of mass is a sum of vectors fixed in the links, r = sum_k R_k s_k, so with
J_k = integral (s_k.s_k 1 - s_k s_k^T) dm and B_kl = integral s_k s_l^T dm

    h = sum_k R_k J_k R_k^T w_k
        + sum_{k<l} [tr(X) w_l - X^T w_l + tr(X) w_k - X w_k],   X = R_k B_kl R_l^T,

linear in six numbers a link and nine a pair of links. Rotors add their own J a (N dq).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.frames import link_table, rotations
from freefloat.dynamics.kernels.spatial import V
from freefloat.dynamics.tree import PRISMATIC, System
from freefloat.errors import IdentificationError
from freefloat.model import inertia as inertial

SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
AXES = "xyz"


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
            " constant link vectors; use the momentum family"
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
    first = 13 + system.n_coordinates + n_joints
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
