"""The state of a system: where the root is, how it moves, and every coordinate.

As a vector: position (3) [m], attitude quaternion (4; x, y, z, w), velocity (3) [m/s] in world
axes, rate (3) [rad/s] in root axes, q, dq.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import ModelError

POSITION, ATTITUDE, VELOCITY, RATE = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)


def positions(states: Array) -> Array:
    """The q columns of state vectors."""
    n = (states.shape[-1] - 13) // 2
    return states[..., 13 : 13 + n]


def rates(states: Array) -> Array:
    """The dq columns of state vectors."""
    n = (states.shape[-1] - 13) // 2
    return states[..., 13 + n :]


@dataclass(frozen=True)
class Start:
    """Where a motion begins; coordinates not named start at home and at rest.

    position [m], attitude (x, y, z, w), velocity [m/s] in world axes, rate [rad/s] in root axes;
    `coordinates` and `speeds` map coordinate names to [rad] and [rad/s].
    """

    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    attitude: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0)
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    rate: tuple[float, ...] = (0.0, 0.0, 0.0)
    coordinates: dict[str, float] = field(default_factory=dict)
    speeds: dict[str, float] = field(default_factory=dict)

    def vector(self, system: System) -> Array:
        """The state vector of a system that starts here."""
        known = system.model.assembly.coordinates
        q = {c.name: c.home for c in known}
        dq = {c.name: c.speed for c in known}
        for name in (*self.coordinates, *self.speeds):
            if name not in q:
                raise ModelError(
                    f"the start names the coordinate {name!r}, which {system.model.name!r} does"
                    f" not have; known: {', '.join(q)}"
                )
        q.update(self.coordinates)
        dq.update(self.speeds)
        attitude = np.asarray(self.attitude, dtype=float)
        norm = np.linalg.norm(attitude)
        if attitude.shape != (4,) or not 0.999 < norm < 1.001:
            raise ModelError(f"the start's attitude {self.attitude} is not a unit quaternion")
        parts = [self.position, attitude / norm, self.velocity, self.rate]
        return np.concatenate([*parts, list(q.values()), list(dq.values())]).astype(float)


def as_states(states: ArrayLike, system: System) -> Array:
    """State vectors as a C-contiguous (N, 13 + 2 c) array."""
    table = np.ascontiguousarray(np.atleast_2d(np.asarray(states, dtype=float)))
    width = 13 + 2 * system.n_coordinates
    if table.ndim != 2 or table.shape[1] != width:
        raise ModelError(f"state vectors of {system.model.name!r} have {width} numbers each")
    return table
