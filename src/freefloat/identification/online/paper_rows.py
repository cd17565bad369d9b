"""The equations of paper 001 for any tree: base and target, momentum- or force-based.

mu: mass and first moment of base and target; theta: their inertias about the centres of mass. A
planar system keeps x and y of what is linear and z of what turns. Momentum rows are changes since
the first sample, about a fixed origin (eqs 11, 16 with H(t) - H(t0), which eq. 16 lacks); force
rows are taken about the sensor (eqs 28, 31).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import force_regressor, momentum_regressor, system_vector
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.tree import System
from freefloat.identification.linear.columns import change_matrix
from freefloat.model import inertia as inertial

PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class PaperForm:
    """Which columns are mu and theta, for the two bodies that are looked for."""

    system: System
    bodies: tuple[str, str]

    @property
    def is_planar(self) -> bool:
        """Whether the root moves in a plane."""
        return self.system.model.root.type == "planar"

    @property
    def names(self) -> tuple[str, ...]:
        """The ten parameters of both bodies."""
        return tuple(f"{body}.{name}" for body in self.bodies for name in inertial.NAMES)

    @property
    def mu_places(self) -> list[int]:
        """Where mu is among the twenty."""
        own = [0, 1, 2] if self.is_planar else [0, 1, 2, 3]
        return [10 * b + k for b in (0, 1) for k in own]

    @property
    def theta_places(self) -> list[int]:
        """Where theta is among the twenty."""
        own = [9] if self.is_planar else range(4, 10)
        return [10 * b + k for b in (0, 1) for k in own]

    def quadratic(self, mu: Array) -> Array:
        """D(mu): mu, and m b b of both bodies (six products each)."""
        half = len(mu) // 2
        parts = []
        for body in (mu[:half], mu[half:]):
            s = np.zeros(3)
            s[: half - 1] = body[1:]
            products = np.array([s[i] * s[j] for i, j in PAIRS])
            parts += [body, products / body[0]]
        return np.concatenate(parts)

    def theta(self, phi: Array) -> Array:
        """theta of the twenty parameters: inertias about the centres of mass."""
        found = []
        for own in (phi[:10], phi[10:]):
            b = own[1:4] / own[0]
            far = own[0] * (b @ b * np.eye(3) - np.outer(b, b))
            found += [six - far[i, j] for six, (i, j) in zip(own[4:], PAIRS, strict=True)]
        kept = [10 * (k // 10) + k % 10 - 4 for k in self.theta_places]
        return np.array([found[6 * (k // 10) + k % 10] for k in kept])

    def split(self, Y: Array) -> tuple[Array, Array]:
        """phi and -psi of angular rows Y (rows, 20): columns of theta, and of D(mu).

        An inertia about the frame's origin is the one about the CoM plus m (b.b 1 - b b^T).
        """
        half = len(self.mu_places) // 2
        steiner = np.zeros((6, 6))  # from m b b to the six inertias
        for row, (i, j) in enumerate(PAIRS):
            steiner[row, row] -= 1.0
            if i == j:
                steiner[row, [0, 3, 5]] += 1.0
        psi = []
        for b in (0, 1):
            own = Y[:, 10 * b : 10 * b + 10]
            psi += [own[:, [k - 10 * b for k in self.mu_places[b * half : (b + 1) * half]]],
                    own[:, 4:] @ steiner]  # fmt: skip
        return Y[:, self.theta_places], np.hstack(psi)


def momentum_columns(form: PaperForm, states: Array) -> tuple[Array, Array]:
    """P and L about the world's origin (N, 6, 21): of the twenty, then of all the rest."""
    system = form.system
    c = system.n_coordinates
    R = rotations(states[:, :7])
    u = np.einsum("nji,nj->ni", R, states[:, 7:10])
    q = _coordinates(states, np.zeros((len(states), c)))
    local, _ = momentum_regressor(system, states[:, 10:13], u, q)
    P, L = R @ local[:, 3:], R @ local[:, :3]
    L = L + np.cross(states[:, None, :3], P.swapaxes(1, 2)).swapaxes(1, 2)
    return _with_rest(form, np.concatenate([P, L], axis=1)), R


def force_columns(form: PaperForm, states: Array, accelerations: Array, ddq: Array) -> Array:
    """Force and torque about the sensor (N, 6, 21), world axes.

    accelerations (N, 6): angular (root axes) and linear (world axes) of the root.
    """
    R = rotations(states[:, :7])
    felt = np.einsum("nji,nj->ni", R, accelerations[:, 3:])
    both = np.ascontiguousarray(np.hstack([accelerations[:, :3], felt]))
    local = force_regressor(
        form.system, np.ascontiguousarray(states[:, 10:13]), both, _coordinates(states, ddq)
    )
    return _with_rest(form, np.concatenate([R @ local[:, 3:6], R @ local[:, :3]], axis=1))


def _coordinates(states: Array, ddq: Array) -> Array:
    c = ddq.shape[1]
    return np.ascontiguousarray(
        np.stack([states[:, 13 : 13 + c], states[:, 13 + c :], ddq], axis=-1)
    )


def _with_rest(form: PaperForm, regressor: Array) -> Array:
    """Columns of the twenty, and what all others contribute."""
    change = change_matrix(form.system, form.names)
    values = np.concatenate([form.system.model.body(b).phi for b in form.bodies])
    rest = system_vector(form.system) - change @ values
    return np.concatenate([regressor @ change, (regressor @ rest)[..., None]], axis=-1)
