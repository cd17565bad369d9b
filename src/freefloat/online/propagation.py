"""From one sample to the next: the state, and how its error and those of all else carry over.

The error state holds the free states (attitude as a small rotation in root axes), the parameters in
their natural sizes, then position, rate, acceleration and jerk of every driven joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.equations import observe
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
from freefloat.dynamics.tangent_steps import TangentSteps
from freefloat.dynamics.tree import System
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.online.sensing import by_joint, perturbed_joints, thrust_accelerations

ORDERS = 4  # format: position, rate, acceleration, jerk
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
    place, rate, gain, jerk = joints
    t = times[..., None]
    given = np.empty((*times.shape, joints.shape[1], 3))
    given[..., 0] = place + t * (rate + t * (gain / 2.0 + t * (jerk / 6.0)))
    given[..., 1] = rate + t * (gain + t * (jerk / 2.0))
    given[..., 2] = gain + t * jerk
    efforts, gains = _no_control(system.n_coordinates)
    return Inputs(given, efforts, np.broadcast_to(push, (1, 3, len(push))).copy(), gains)


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


def propagate(
    system: System, layout: Layout, time: float, ahead: float, *, x: Array, joints: Array,
    push: Array, longest: float, steps: TangentSteps | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """State and joint motion `ahead` seconds on, and the rows of the transition of the error state.

    The rows (states, error state) are those of the free states: parameters stay, joints go on by
    `carry`. longest: simulation step [s]. steps: of the layout's names, for whoever goes on often.
    """
    n = max(ceil(ahead / longest - 1e-9), 1)
    h = ahead / n
    times = (np.arange(n)[:, None] + np.array([0.0, 0.5, 1.0])) * h
    steps = steps or TangentSteps(system, layout.names)
    path = steps.fly(
        system, x, inputs=inputs_at(system, joints, push, times), step=h, n_steps=n, time=time,
        with_efforts=False,
    )  # fmt: skip
    end, after = path.states[-1].copy(), carry(ahead) @ joints
    n_both = layout.n_states + layout.n_parameters
    rows = np.empty((layout.n_states, layout.n_all))
    rows[:, :n_both] = path.tangents[-1][layout.rows] @ layout.mix
    ends = joint_responses(
        system, np.array([time, time + ahead]), np.array([x, end]), np.array([joints, after]), push
    )
    rows[:, layout.joints] = reaction(system, ends, ahead)[layout.rows]
    return end, after, rows


def carry_on(S: Array, rows: Array, layout: Layout, ahead: float, *, growth: float) -> Array:
    """F S: the factor of a covariance after `propagate`, not triangular.

    growth: by how much forgetting widens the parameters.
    """
    out = S.copy()
    out[: layout.n_states] = rows @ S
    if growth != 1.0:
        out[layout.parameters] *= growth
    joints = S[layout.joints].reshape(ORDERS, -1)
    out[layout.joints] = (carry(ahead) @ joints).reshape(ORDERS * layout.n_joints, -1)
    return out


def joint_responses(
    system: System, times: Array, states: Array, joints: Array, push: Array
) -> list[tuple[Array, Array]]:
    """At instants (n,) the state and accelerations (6 + c, 3, joints) per motion of each joint."""
    parts = [perturbed_joints(system, x, own[:3].T) for x, own in zip(states, joints, strict=True)]
    n = len(parts[0][0])
    rows = inputs_now(joints[0], push, system.n_coordinates)
    rows = rows._replace(given=np.concatenate([given for _, given in parts]))
    found = observe(
        system, np.concatenate([x for x, _ in parts]), inputs=rows, times=np.repeat(times, n)
    ).accelerations.reshape(len(parts), n, -1)
    g = joints.shape[2]
    return [(x, by_joint(own[1:] - own[0], g)) for x, own in zip(states, found, strict=True)]


def reaction(system: System, ends: Sequence[tuple[Array, Array]], ahead: float) -> Array:
    """How errors of the joints' motion move the free states: (tangent rows, 4 joints).

    ends: at both ends of the step the state and (6 + c, 3, joints) accelerations per position, rate
    and acceleration of the joints; straight in between. What an acceleration does must match what
    the rate it leads to does, or errors that cancel in truth pile up.
    """
    layout = system.layout
    first, last = (state_rates(x, pull, system.tree.free) for x, pull in ends)
    moved = np.zeros((layout.tangent_width, ORDERS, len(system.tree.given)))
    by_first, by_last = _shares(ahead)
    moved[layout.motions] = by_first[0] @ first + by_last[0] @ last
    moved[layout.placements] = by_first[1] @ first + by_last[1] @ last
    return moved.reshape(layout.tangent_width, -1)


@lru_cache(maxsize=64)  # sensors have few different intervals
def _shares(ahead: float) -> tuple[Array, Array]:
    """What the accelerations at both ends do to rates and places: (2, orders, 3) each."""
    by_first, by_last = np.zeros((2, ORDERS, 3)), np.zeros((2, ORDERS, 3))
    for order in range(ORDERS):
        for k in range(min(order, 2) + 1):  # order j is felt through all below it
            n = order - k
            size = CARRY[n] * ahead ** (n + 1)
            late = size / (n + 2)
            by_first[0, order, k], by_last[0, order, k] = size / (n + 1) - late, late
            far = size * ahead * (1.0 / (n + 2) - 1.0 / (n + 3))
            by_first[1, order, k] = size * ahead / ((n + 1) * (n + 2)) - far
            by_last[1, order, k] = far
    return by_first, by_last


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
