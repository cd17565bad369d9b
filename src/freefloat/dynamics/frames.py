"""Where named frames are, how they move, and how coordinates move them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.kernels.spatial import A, P, S, V
from freefloat.dynamics.state import ATTITUDE, POSITION, VELOCITY, as_states
from freefloat.dynamics.tree import System
from freefloat.model.rotations import matrix_from_quaternion


@dataclass(frozen=True)
class FrameMotion:
    """Pose and motion of a frame at N states.

    position (N, 3) [m] and velocity (N, 3) [m/s] in world axes, rotation (N, 3, 3) frame to world,
    rate (N, 3) [rad/s] and acceleration (N, 3) [m/s^2] of its origin in frame axes.
    """

    position: Array
    rotation: Array
    velocity: Array
    rate: Array
    acceleration: Array | None


def link_table(system: System, states: ArrayLike) -> Array:
    """Placement and motion of every link (N, links, 46) in root axes, the root's origin at rest."""
    from freefloat.dynamics.kernels.observe import survey

    table = as_states(states, system)
    work = new_work(system.tree)
    links = np.empty((len(table), *work.L.shape))
    survey(system.tree, work, table, links)
    return links


def frame_motion(
    system: System, name: str, states: ArrayLike, *, motion: SystemMotion | None = None
) -> FrameMotion:
    """How a frame or body moves.

    Args:
        system: The mechanism, from `flatten`.
        name: Of the frame or body.
        states: Rows (N, 13 + 2 c), as `observe` takes them.
        motion: From `observe` at the same states; without it there are no accelerations.

    Returns:
        Position, rotation, velocity, rate and acceleration, with their axes and units.
    """
    table = as_states(states, system)
    links = link_table(system, table) if motion is None else motion.links
    link, R_LF, p_LF = system.frame_pose(name)
    rows = links[:, link]
    R_WB = rotations(table)
    R_BL = rows[:, :9].reshape(-1, 3, 3)
    p = rows[:, P : P + 3] + R_BL @ p_LF
    rate, velocity = rows[:, V : V + 3], rows[:, V + 3 : V + 6] + _cross(rows[:, V : V + 3], p)
    R_WF = R_WB @ R_BL @ R_LF
    to_frame = np.swapaxes(R_BL @ R_LF, 1, 2)
    acceleration = None
    if motion is not None:
        # spatial to classical acceleration of the point p
        linear = rows[:, A + 3 : A + 6] + _cross(rows[:, A : A + 3], p) + _cross(rate, velocity)
        acceleration = _apply(to_frame, linear)
    return FrameMotion(
        table[:, POSITION] + _apply(R_WB, p),
        R_WF,
        table[:, VELOCITY] + _apply(R_WB, velocity),
        _apply(to_frame, rate),
        acceleration,
    )


def frame_jacobian(system: System, name: str, states: ArrayLike) -> Array:
    """Rate and velocity of a frame per rate and velocity of the root and of the coordinates.

    Args:
        system: The mechanism, from `flatten`.
        name: Of the frame or body.
        states: Rows (N, 13 + 2 c), as `observe` takes them.

    Returns:
        J (N, 6, 6 + c) in root axes: rows angular (3), then linear (3); columns the root's rate
        and velocity, then every coordinate (zeros for rotors).
    """
    table = as_states(states, system)
    links = link_table(system, table)
    link, _, p_LF = system.frame_pose(name)
    p = links[:, link, P : P + 3] + links[:, link, :9].reshape(-1, 3, 3) @ p_LF
    J = np.zeros((len(table), 6, 6 + system.n_coordinates))
    J[:, :3, :3] = J[:, 3:, 3:6] = np.eye(3)
    for k in range(3):
        J[:, 3:, k] = np.cross(np.eye(3)[k], p)
    while link > 0:
        motion = links[:, link, S : S + 6]
        J[:, :3, 5 + link] = motion[:, :3]
        J[:, 3:, 5 + link] = motion[:, 3:] + np.cross(motion[:, :3], p)
        link = int(system.tree.links[link, 0])
    return J


def rotations(states: Array) -> Array:
    """The root's rotation matrices (N, 3, 3), root to world."""
    return matrix_from_quaternion(states[:, ATTITUDE])


def _cross(a: Array, b: Array) -> Array:
    """a x b, row by row: for a few rows many times faster than numpy's, to the same bit."""
    x, y, z = a.T
    u, v, w = b.T
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u]).T


def _apply(R: Array, v: Array) -> Array:
    return np.einsum("nij,nj->ni", R, v)
