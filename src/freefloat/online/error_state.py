"""The error state of the Kalman filter.

It holds the free states (attitude as a small rotation in root axes), the parameters in their
natural sizes, then position, rate, acceleration and jerk of every driven joint. The kernels carry
it on (`kernels/kalman_motion.py`) and correct it (`kernels/kalman_update.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.state import (
    ATTITUDE,
    D_ATTITUDE,
    D_POSITION,
    D_RATE,
    D_VELOCITY,
    POSITION,
    RATE,
    VELOCITY,
)
from freefloat.dynamics.tree import System
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.online.kernels.kalman_tables import ORDERS


@dataclass(frozen=True)
class Layout:
    """Where things are in the error state.

    names: states then parameters as the engine calls them; rows: the states' rows of its tangent;
    mix (names, states + parameters): parameters in natural sizes, ties followed.
    """

    names: tuple[str, ...]
    rows: NDArray[np.intp]
    mix: Array
    n_states: int
    n_parameters: int
    n_joints: int

    @property
    def n_all(self) -> int:
        """The length of the error state."""
        return self.n_states + self.n_parameters + ORDERS * self.n_joints

    @property
    def joints(self) -> slice:
        """The joints' part, order by order."""
        return slice(self.n_states + self.n_parameters, self.n_all)

    @property
    def parameters(self) -> slice:
        """The parameters' part."""
        return slice(self.n_states, self.n_states + self.n_parameters)


def layout_of(
    system: System, states: Sequence[str], parameters: Sequence[str], mix: Array, n_free: int
) -> Layout:
    """The layout for engine names of states and parameters; mix (parameters, free ones)."""
    _, start = parameter_directions(system, states)
    whole = np.zeros((len(states) + len(parameters), len(states) + n_free))
    whole[: len(states), : len(states)] = np.eye(len(states))
    whole[len(states) :, len(states) :] = mix
    return Layout(
        (*states, *parameters), np.argmax(start, axis=0), whole, len(states), n_free,
        len(system.tree.given),
    )  # fmt: skip


def inputs_now(joints: Array, push: Array, n_coordinates: int) -> Inputs:
    """Inputs at the joints' instant."""
    given = np.empty((1, 3, joints.shape[1], 3))
    given[:] = joints[:3].T
    efforts, gains = _no_control(n_coordinates)
    return Inputs(given, efforts, np.broadcast_to(push, (1, 3, len(push))).copy(), gains)


@lru_cache(maxsize=16)  # one a mechanism; kernels only read them
def _no_control(n_coordinates: int) -> tuple[Array, Array]:
    """Efforts and gains of coordinates that nobody controls."""
    gains = np.zeros((n_coordinates, 3))
    gains[:, 2] = np.inf
    return np.zeros((1, 3, n_coordinates, 3)), gains


def state_rates(x: Array, pull: Array, free: NDArray[np.int64]) -> Array:
    """Rates of velocity (world axes), rate and free coordinates per joint motion or thrust."""
    free = free[free >= 6] - 6
    turn = rotations(x[None])[0]
    rows = [turn @ pull[3:6].reshape(3, -1), pull[:3].reshape(3, -1)]
    rows.append(pull[6 + free].reshape(len(free), rows[0].shape[1]))
    return np.concatenate(rows).reshape(-1, *pull.shape[1:])


def apply_steps(system: System, layout: Layout, x: Array, steps: Array) -> Array:
    """States (rows, width) after corrections (rows, free states) of the state x."""
    state = system.layout
    free = system.tree.free[system.tree.free >= 6] - 6
    whole = np.zeros((len(steps), state.tangent_width))
    whole[:, layout.rows] = steps
    out = np.repeat(x[None], len(steps), axis=0)
    out[:, POSITION] += whole[:, D_POSITION]
    out[:, VELOCITY] += whole[:, D_VELOCITY]
    out[:, RATE] += whole[:, D_RATE]
    turn = quaternion_from_rotation_vector(whole[:, D_ATTITUDE])
    attitude = quaternion_product(x[ATTITUDE], turn)
    out[:, ATTITUDE] = attitude / np.linalg.norm(attitude, axis=1, keepdims=True)
    out[:, state.position_of(free)] += whole[:, state.d_q]
    out[:, state.rate_of(free)] += whole[:, state.d_dq]
    return out
