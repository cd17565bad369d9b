"""From one sample to the next: the state, and how its error and those of all else carry over.

The error state holds the free states (attitude as a small rotation in root axes), the parameters in
their natural sizes, then position, rate, acceleration and jerk of every driven joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.sensitivity import integrate_with_sensitivity
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
from freefloat.online.sensing import joint_response, thrust_accelerations

ORDERS = 4  # format: position, rate, acceleration, jerk
NOW = np.zeros((1, 3))  # format: [s] after the joints' instant, as `inputs_at` wants it
NOW.setflags(write=False)
# theory: 1 / factorials: how far one order of a joint's motion carries into those below
CARRY = np.array([1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0])


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


def carry(ahead: float) -> Array:
    """How position, rate, acceleration and jerk go on with constant jerk: (4, 4)."""
    a, b, c = ahead, ahead**2 / 2.0, ahead**3 / 6.0
    return np.array([[1.0, a, b, c], [0.0, 1.0, a, b], [0.0, 0.0, 1.0, a], [0.0, 0.0, 0.0, 1.0]])


def inputs_at(system: System, joints: Array, push: Array, times: Array) -> Inputs:
    """Inputs at times (rows, 3) after the joints' instant."""
    given = np.empty((*times.shape, joints.shape[1], 3))
    for place in np.ndindex(times.shape):
        given[place] = (carry(float(times[place])) @ joints)[:3].T
    gains = np.zeros((system.n_coordinates, 3))
    gains[:, 2] = np.inf
    efforts = np.zeros((1, 3, system.n_coordinates, 3))
    return Inputs(given, efforts, np.broadcast_to(push, (1, 3, len(push))).copy(), gains)


def propagate(
    system: System, layout: Layout, time: float, ahead: float, *, x: Array, joints: Array,
    push: Array, longest: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """State and joint motion `ahead` seconds on, and the transition F of the error state.

    longest: simulation step [s].
    """
    n = max(ceil(ahead / longest - 1e-9), 1)
    h = ahead / n
    times = (np.arange(n)[:, None] + np.array([0.0, 0.5, 1.0])) * h
    path = integrate_with_sensitivity(
        system, x, layout.names, inputs=inputs_at(system, joints, push, times), step=h,
        n_steps=n, every=n, time=time, with_efforts=False,
    )  # fmt: skip
    F = np.eye(layout.n_all)
    own = slice(0, layout.n_states)
    n_both = layout.n_states + layout.n_parameters
    F[own, :n_both] = path.tangents[-1][layout.rows] @ layout.mix
    end, after = path.states[-1], carry(ahead) @ joints
    ends = [
        (x, joint_response(system, time, x, inputs=inputs_at(system, joints, push, NOW))),
        (
            end,
            joint_response(system, time + ahead, end, inputs=inputs_at(system, after, push, NOW)),
        ),
    ]
    F[own, layout.joints] = reaction(system, ends, ahead)[layout.rows]
    F[layout.joints, layout.joints] = np.kron(carry(ahead), np.eye(layout.n_joints))
    return end, after, F


def reaction(system: System, ends: Sequence[tuple[Array, Array]], ahead: float) -> Array:
    """How errors of the joints' motion move the free states: (tangent rows, 4 joints).

    ends: at both ends of the step the state and (6 + c, 3, joints) accelerations per position, rate
    and acceleration of the joints; straight in between. What an acceleration does must match what
    the rate it leads to does, or errors that cancel in truth pile up.
    """
    layout = system.layout
    first, last = (state_rates(x, pull, system.tree.free) for x, pull in ends)
    moved = np.zeros((layout.tangent_width, ORDERS, len(system.tree.given)))
    velocity, place = layout.motions, layout.placements
    for order in range(ORDERS):
        for k in range(min(order, 2) + 1):  # order j is felt through all below it
            n = order - k
            size = CARRY[n] * ahead ** (n + 1)
            a, change = first[:, k], last[:, k] - first[:, k]
            moved[velocity, order] += size * (a / (n + 1) + change / (n + 2))
            late = change * (1.0 / (n + 2) - 1.0 / (n + 3))
            moved[place, order] += size * ahead * (a / ((n + 1) * (n + 2)) + late)
    return moved.reshape(layout.tangent_width, -1)


def thrust_response(
    system: System, time: float, ahead: float, *, x: Array, inputs: Inputs, which: NDArray[np.intp]
) -> Array:
    """How a newton more of thrusters, held, moves the free states: (tangent rows, thrusters)."""
    pull = thrust_accelerations(system, time, x, inputs=inputs, which=which)
    moved, layout = state_rates(x, pull, system.tree.free)[:, 0], system.layout
    out = np.zeros((layout.tangent_width, len(which)))
    out[layout.motions] = moved * ahead
    out[layout.placements] = moved * (0.5 * ahead**2)
    return out


def state_rates(x: Array, pull: Array, free: NDArray[np.int64]) -> Array:
    """Rates of velocity (world axes), rate and free coordinates per joint motion or thrust."""
    free = free[free >= 6] - 6
    turn = rotations(x[None])[0]
    rows = [turn @ pull[3:6].reshape(3, -1), pull[:3].reshape(3, -1)]
    rows.append(pull[6 + free].reshape(len(free), rows[0].shape[1]))
    return np.concatenate(rows).reshape(-1, *pull.shape[1:])


def apply_step(system: System, layout: Layout, x: Array, step: Array) -> Array:
    """State x after a correction of the free states."""
    out, state = x.copy(), system.layout
    free = system.tree.free[system.tree.free >= 6] - 6
    whole = np.zeros(state.tangent_width)
    whole[layout.rows] = step
    out[POSITION] += whole[D_POSITION]
    out[VELOCITY] += whole[D_VELOCITY]
    out[RATE] += whole[D_RATE]
    turn = quaternion_from_rotation_vector(whole[D_ATTITUDE])
    out[ATTITUDE] = quaternion_product(x[ATTITUDE], turn)
    out[ATTITUDE] /= np.linalg.norm(out[ATTITUDE])
    out[state.position_of(free)] += whole[state.d_q]
    out[state.rate_of(free)] += whole[state.d_dq]
    return out
