"""The state of a system: where the root is, how it moves, and every coordinate.

As a vector: position (3) [m], attitude quaternion (4; x, y, z, w), velocity (3) [m/s] in world
axes, rate (3) [rad/s] in root axes, q, dq.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from freefloat.arrays import Array
from freefloat.errors import ModelError

if TYPE_CHECKING:
    from freefloat.dynamics.tree import System

# format: where the root's states are in a state vector ...
POSITION, ATTITUDE, VELOCITY, RATE = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)
N_ROOT = 13  # format: root states before the coordinates
# format: ... and in a tangent, a small change of it, where an attitude has three numbers
D_POSITION, D_ATTITUDE, D_VELOCITY, D_RATE = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)
D_ROOT = 12  # format: rows of the root in a tangent

Place = TypeVar("Place", int, NDArray[np.int64], NDArray[np.intp])


@dataclass(frozen=True)
class StateLayout:
    """Where the coordinates of a system are in its state vectors and tangents.

    A tangent has rows for the root and for the free coordinates only: prescribed motion does not
    change.

    >>> layout = StateLayout(n_coordinates=3, n_free=1)
    >>> layout.width, layout.q, layout.rate_of(2)
    (19, slice(13, 16, None), 18)
    """

    n_coordinates: int
    n_free: int

    @property
    def width(self) -> int:
        """Numbers in a state vector."""
        return N_ROOT + 2 * self.n_coordinates

    @property
    def q(self) -> slice:
        """Positions of all coordinates in a state vector."""
        return slice(N_ROOT, N_ROOT + self.n_coordinates)

    @property
    def dq(self) -> slice:
        """Rates of all coordinates in a state vector."""
        return slice(N_ROOT + self.n_coordinates, self.width)

    def position_of(self, coordinate: Place) -> Place:
        """The place of a coordinate's position in a state vector."""
        return N_ROOT + coordinate

    def rate_of(self, coordinate: Place) -> Place:
        """The place of a coordinate's rate in a state vector."""
        return N_ROOT + self.n_coordinates + coordinate

    @property
    def tangent_width(self) -> int:
        """Rows of a tangent."""
        return D_ROOT + 2 * self.n_free

    @property
    def d_q(self) -> slice:
        """Positions of the free coordinates in a tangent."""
        return slice(D_ROOT, D_ROOT + self.n_free)

    @property
    def d_dq(self) -> slice:
        """Rates of the free coordinates in a tangent."""
        return slice(D_ROOT + self.n_free, self.tangent_width)

    @property
    def placements(self) -> list[int]:
        """Rows of a tangent that say where things are: root and free coordinates."""
        rows = range(self.tangent_width)
        return [*rows[D_POSITION], *rows[D_ATTITUDE], *rows[self.d_q]]

    @property
    def motions(self) -> list[int]:
        """Rows of a tangent that say how fast they move, in the order of `placements`."""
        rows = range(self.tangent_width)
        return [*rows[D_VELOCITY], *rows[D_RATE], *rows[self.d_dq]]


def positions(states: Array) -> Array:
    """The q columns of state vectors."""
    n = (states.shape[-1] - N_ROOT) // 2
    return states[..., N_ROOT : N_ROOT + n]


def rates(states: Array) -> Array:
    """The dq columns of state vectors."""
    n = (states.shape[-1] - N_ROOT) // 2
    return states[..., N_ROOT + n :]


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
                    f" not have; known: {', '.join(q)}",
                    code="name.unknown",
                )
        q.update(self.coordinates)
        dq.update(self.speeds)
        attitude = np.asarray(self.attitude, dtype=float)
        norm = np.linalg.norm(attitude)
        if attitude.shape != (4,) or not 0.999 < norm < 1.001:
            raise ModelError(
                f"the start's attitude {self.attitude} is not a unit quaternion", code="value.norm"
            )
        parts = [self.position, attitude / norm, self.velocity, self.rate]
        return np.concatenate([*parts, list(q.values()), list(dq.values())]).astype(float)


def as_states(states: ArrayLike, system: System) -> Array:
    """State vectors as a C-contiguous (N, 13 + 2 c) array."""
    table = np.ascontiguousarray(np.atleast_2d(np.asarray(states, dtype=float)))
    width = system.layout.width
    if table.ndim != 2 or table.shape[1] != width:
        raise ModelError(
            f"state vectors of {system.model.name!r} have {width} numbers each", code="value.count"
        )
    return table
