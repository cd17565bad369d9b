"""Gravity, its gradient along the orbit and drag on the root as numbers, and the field at a point.

Sensors read the field here; the forces on bodies are in `kernels/newton_euler.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.spatial import (
    ANGULAR_DRAG,
    ENVIRONMENT_SIZE,
    GRADIENT,
    GRAVITY,
    HAS_GRAVITY,
    LINEAR_DRAG,
    ORBITAL_RATE,
    RADIAL,
    TANGENTIAL,
)
from freefloat.model.model import Model


@dataclass(frozen=True)
class Environment:
    """Gravity and drag, by name; kernels read the same numbers from `Tree.field`.

    gravity (3,) [m/s^2]: uniform, in world axes. orbital_rate n [rad/s] and gradient n^2 [1/s^2]
    of a circular orbit; radial and tangential (3,): its unit vectors at t = 0. linear_drag
    [N s/m] and angular_drag [N m s/rad] act on the root.
    """

    gravity: Array
    orbital_rate: float
    gradient: float
    radial: Array
    tangential: Array
    linear_drag: float
    angular_drag: float

    @property
    def has_gravity(self) -> bool:
        """Whether there is gravity or its gradient."""
        return bool(self.gravity.any()) or self.gradient != 0.0

    @property
    def has_drag(self) -> bool:
        """Whether anything drags on the root."""
        return self.linear_drag != 0.0 or self.angular_drag != 0.0

    def radial_at(self, times: Array) -> Array:
        """The unit vector away from the planet at times [s] (N, 3), in world axes."""
        angle = (self.orbital_rate * times)[:, None]
        return np.cos(angle) * self.radial + np.sin(angle) * self.tangential

    def gravity_at(self, position: Array, times: Array) -> Array:
        """Gravity and its gradient (N, 3) [m/s^2] at world positions and times, in world axes.

        The gradient of a circular orbit in axes that do not turn: n^2 (3 r r^T - 1) x.
        """
        r = self.radial_at(times)
        along = 3.0 * np.sum(r * position, axis=1, keepdims=True)
        return self.gravity + self.gradient * (along * r - position)

    def gravity_change(self, moved: Array, times: Array) -> Array:
        """How gravity changes where a point is moved by (N, 3, any) [m]."""
        r = self.radial_at(times)
        along = 3.0 * np.einsum("ni,nip->np", r, moved)
        return self.gradient * (r[:, :, None] * along[:, None] - moved)


def environment_array(model: Model) -> Array:
    """The surroundings of a model as the kernels want them."""
    field = np.zeros(ENVIRONMENT_SIZE)
    field[GRAVITY : GRAVITY + 3] = model.gravity
    if model.orbit is not None:
        radial = np.array(model.orbit.radial) / np.linalg.norm(model.orbit.radial)
        normal = np.array(model.orbit.normal) / np.linalg.norm(model.orbit.normal)
        field[GRADIENT] = model.orbit.rate**2
        field[RADIAL : RADIAL + 3] = radial
        field[TANGENTIAL : TANGENTIAL + 3] = np.cross(normal, radial)
        field[ORBITAL_RATE] = model.orbit.rate
    field[HAS_GRAVITY] = float(np.any(field[: GRADIENT + 1] != 0.0))
    field[LINEAR_DRAG], field[ANGULAR_DRAG] = model.root.linear_drag, model.root.angular_drag
    return field


def environment_of(field: Array) -> Environment:
    """The numbers of `Tree.field` by name."""
    return Environment(
        field[GRAVITY : GRAVITY + 3],
        float(field[ORBITAL_RATE]),
        float(field[GRADIENT]),
        field[RADIAL : RADIAL + 3],
        field[TANGENTIAL : TANGENTIAL + 3],
        float(field[LINEAR_DRAG]),
        float(field[ANGULAR_DRAG]),
    )
