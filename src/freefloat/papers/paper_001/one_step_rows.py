"""The equations of paper 001 for any tree: base and target, momentum- or force-based.

mu: mass and first moment of base and target; theta: their inertias about the centres of mass. A
planar system keeps x and y of what is linear and z of what turns. Momentum rows are changes since
the first sample, about a fixed origin (eqs 11, 16 with H(t) - H(t0), which eq. 16 lacks); force
rows are taken about the sensor (eqs 28, 31).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import force_regressor, momentum_regressor, system_vector
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.tree import System
from freefloat.identification.linear.parameter_columns import change_matrix
from freefloat.model import inertia as inertial

PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class PaperMotion(NamedTuple):
    """One sample as a state (position, attitude, velocity, rate, q, dq), and what pushes."""

    state: Array
    levels: Array
    wrench: Array  # torque, force [world axes], the force acting where the root is

    @classmethod
    def of(cls, vector: Array, levels: Array, wrench: Array) -> PaperMotion:
        """That of a live sample's vector, at the origin."""
        v = vector
        state = np.concatenate([np.zeros(3), v[3:7], v[7:10], v[:3], v[10:]])
        return cls(state, levels.copy(), wrench.copy())

    def wrench_at(
        self, thrusters: Array, levels: Array, wrench: Array, *, about_sensor: bool = False
    ) -> Array:
        """Force, then torque about the origin (or the sensor), with thrusters at these levels."""
        R = rotations(self.state[None, :7])[0]
        thrust = thrusters.T @ levels
        force, torque = R @ thrust[3:] + wrench[3:], R @ thrust[:3] + wrench[:3]
        lever = 0.0 if about_sensor else np.cross(self.state[:3], force)
        return np.concatenate([force, torque + lever])


class _Form:
    """What both forms know of their system."""

    system: System

    @property
    def is_planar(self) -> bool:
        """Whether the root moves in a plane."""
        return self.system.model.root.type == "planar"

    @property
    def linear(self) -> list[int]:
        """Rows that count of a force or of linear momentum; a plane has no z."""
        return [0, 1] if self.is_planar else [0, 1, 2]

    @property
    def angular(self) -> list[int]:
        """Rows that count of a torque or of angular momentum; a plane has z alone."""
        return [5] if self.is_planar else [3, 4, 5]


@dataclass(frozen=True)
class JointForm(_Form):
    """The jointly linear form: columns of any linear parameters, as changes from the model.

    change (system vector, parameters): how the system's vector moves with each.
    """

    system: System
    change: Array
    start: Array

    @cached_property
    def mix(self) -> Array:
        """From the system's vector to the columns: of the parameters, then of all as it is."""
        return np.column_stack([self.change, system_vector(self.system)])

    def values(self, x: Array) -> Array:
        """The parameters that are x away from the model's."""
        return self.start + x


@dataclass(frozen=True)
class PaperForm(_Form):
    """Which columns are mu and theta, for the two bodies that are looked for."""

    system: System
    bodies: tuple[str, str]
    order: tuple[str, ...] = ()

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

    @property
    def sought_names(self) -> tuple[str, ...]:
        """The names of mu, then theta."""
        return tuple(self.names[k] for k in (*self.mu_places, *self.theta_places))

    @cached_property
    def mix(self) -> Array:
        """From the system's vector to the columns: of the twenty, then of all the rest."""
        change = change_matrix(self.system, self.names)
        values = np.concatenate([self.system.model.body(b).phi for b in self.bodies])
        return np.column_stack([change, system_vector(self.system) - change @ values])

    def values(self, x: Array) -> Array:
        """The parameters in `order` (those of `wanted` by default), inertias about the frames."""
        phi = np.zeros(20)
        phi[[*self.mu_places, *self.theta_places]] = x
        for own in (phi[:10], phi[10:]):
            b = own[1:4] / own[0]
            far = own[0] * (b @ b * np.eye(3) - np.outer(b, b))
            own[4:] += [far[i, j] for i, j in PAIRS]
        found = dict(zip(self.names, phi, strict=True))
        return np.array([found[name] for name in self.order or self.sought_names])

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


def momentum_columns(form: JointForm | PaperForm, states: Array) -> tuple[Array, Array]:
    """P and L about the world's origin (N, 6, columns of the form)."""
    system = form.system
    c = system.n_coordinates
    R = rotations(states[:, :7])
    u = np.einsum("nji,nj->ni", R, states[:, 7:10])
    q = _coordinates(states, np.zeros((len(states), c)))
    local, _ = momentum_regressor(system, states[:, 10:13], u, q)
    P, L = R @ local[:, 3:], R @ local[:, :3]
    L = L + np.cross(states[:, None, :3], P.swapaxes(1, 2)).swapaxes(1, 2)
    return np.concatenate([P, L], axis=1) @ form.mix, R


def force_columns(
    form: JointForm | PaperForm, states: Array, accelerations: Array, ddq: Array
) -> Array:
    """Force and torque about the sensor (N, 6, columns of the form), world axes.

    accelerations (N, 6): angular (root axes) and linear (world axes) of the root.
    """
    R = rotations(states[:, :7])
    felt = np.einsum("nji,nj->ni", R, accelerations[:, 3:])
    both = np.ascontiguousarray(np.hstack([accelerations[:, :3], felt]))
    local = force_regressor(
        form.system, np.ascontiguousarray(states[:, 10:13]), both, _coordinates(states, ddq)
    )
    return np.concatenate([R @ local[:, 3:6], R @ local[:, :3]], axis=1) @ form.mix


def one_step_rows(
    form: PaperForm, columns: Array, right: Array
) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """A, b, phi, y and psi (see `rls`) of columns (N, 6, 21) that add up to `right` (N, 6)."""
    for Y, y in zip(columns[..., :20], right - columns[..., 20], strict=True):
        phi, psi = form.split(Y[form.angular])
        yield Y[form.linear][:, form.mu_places], y[form.linear], phi, y[form.angular], -psi


def _coordinates(states: Array, ddq: Array) -> Array:
    c = ddq.shape[1]
    return np.ascontiguousarray(
        np.stack([states[:, 13 : 13 + c], states[:, 13 + c :], ddq], axis=-1)
    )
