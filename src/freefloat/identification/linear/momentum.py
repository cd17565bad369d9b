"""Linear and angular momentum of the whole system and the impulse of known forces (paper 001).

With phi about the sensor point one plain least squares does what the paper's modified RLS does.
Four rules decide the accuracy: work in the frame that moves with the first velocity sample
(Galilean shift); take angular rows about the sensor, not about a fixed origin; let the initial
momentum be unknown instead of trusting one noisy sample; integrate velocity rather than measure
position. Then

    P(t) - P0 = int F,     dL + dr x P = int M + (r' - r) x F

with L about the root's origin, dL and dr the changes from one sample to the next: so the noise of
the velocity enters each angular row once, instead of walking along with its integral. All in world
axes. Neighbouring angular rows share a sample; the whitening knows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance, momentum_regressor
from freefloat.dynamics.tree import System
from freefloat.identification.linear.rows import Rows, parameter_columns, whitened
from freefloat.identification.samples import Samples
from freefloat.model.rotations import (
    quaternion_from_rotation_vector,
    quaternion_product,
    skew,
)

NUISANCE = tuple(f"momentum0.{axis}" for axis in "xyz")
LABELS = tuple(f"{kind}.{axis}" for kind in ("linear", "angular") for axis in "xyz")


def momentum_rows(system: System, samples: Samples, values: dict[str, float]) -> Rows:
    """The rows of the momentum family for the parameters in `values` (their prior values)."""
    samples.need("momentum", "attitude", "rate", "velocity")
    assert samples.velocity is not None
    names = tuple(values)
    velocity = samples.velocity - samples.velocity[0]
    R = samples.rotation
    local = _regressor(system, samples, velocity, R)
    P, L = R @ local[:, 3:], R @ local[:, :3]
    push, turn, step = _impulses(system, samples, velocity)
    # rows of interval i: P at its end, and the change of L over it
    angular = np.diff(L, axis=0)
    world = np.concatenate([P[1:], angular], axis=1)
    columns, whole = parameter_columns(system, names, world)
    known = whole - columns @ np.array([values[name] for name in names])
    nuisance = np.zeros((len(step), 6, 3))
    nuisance[:, :3] = -np.eye(3)
    nuisance[:, 3:] = np.stack([skew(row) for row in step])
    Y = np.concatenate([columns, nuisance], axis=2)
    y = np.hstack([push[1:], turn]) - known
    blocks, neighbours, is_known = _noise(system, samples, velocity)
    rows, kept = _root_rows(system), _root_nuisance(system)
    chosen = [*range(len(names)), *(len(names) + k for k in kept)]
    pick = np.ix_(range(len(y)), rows, rows)
    flat, right = whitened(
        Y[:, rows][:, :, chosen], y[:, rows], blocks[pick], neighbours[:, rows][:, :, rows]
    )
    return Rows(
        "momentum",
        (*names, *(NUISANCE[k] for k in kept)),
        len(names),
        flat,
        right,
        tuple(LABELS[k] for k in rows),
        is_known,
    )


def _root_rows(system: System) -> list[int]:
    """Rows that a planar root can have: x and y of P, z of L."""
    return [0, 1, 5] if system.model.root.type == "planar" else [0, 1, 2, 3, 4, 5]


def _root_nuisance(system: System) -> list[int]:
    return [0, 1] if system.model.root.type == "planar" else [0, 1, 2]


def _regressor(system: System, samples: Samples, velocity: Array, R: Array) -> Array:
    coordinates = np.stack([samples.q, samples.dq, np.zeros_like(samples.q)], axis=-1)
    body_velocity = np.einsum("nji,nj->ni", R, velocity)
    assert samples.rate is not None
    return momentum_regressor(system, samples.rate, body_velocity, coordinates)[0]


def _integral(time: Array, values: Array) -> Array:
    """Running integral from the first instant: the cubic spline through the samples, integrated."""
    from scipy.interpolate import CubicSpline

    whole = CubicSpline(time, values, axis=0).antiderivative()
    return whole(time) - whole(time[0])


def _impulses(system: System, samples: Samples, velocity: Array) -> tuple[Array, Array, Array]:
    """Impulse int F (N, 3), angular right side of every interval (N - 1, 3), and its dr.

    Over an interval, dL + dr x P0 = int (M + (r - r_end) x F) - dr x (impulse so far).
    """
    time, wrench = samples.time, samples.wrench
    r = _integral(time, velocity)
    step = np.diff(r, axis=0)
    push = _integral(time, wrench[:, 3:])
    turn = np.diff(_integral(time, wrench[:, :3] + np.cross(r, wrench[:, 3:])), axis=0)
    for k in np.flatnonzero(samples.thrust.any(axis=0)):
        # the level is held from sample to sample while its direction turns smoothly with the root
        along = samples.rotation @ system.tree.thrusters[k, 3:]
        about = samples.rotation @ system.tree.thrusters[k, :3] + np.cross(r, along)
        level = samples.thrust[:-1, k, None]
        gained = level * np.diff(_integral(time, along), axis=0)
        push += np.vstack([np.zeros((1, 3)), np.cumsum(gained, axis=0)])
        turn += level * np.diff(_integral(time, about), axis=0)
    # int r x F - (r_end x J_end - r_start x J_start) is the torque about the moving origin
    swept = np.diff(np.cross(r, push), axis=0)
    return push, turn - swept, step


def _states(samples: Samples, velocity: Array) -> Array:
    zero = np.zeros((len(samples.time), 3))
    parts = (zero, samples.attitude, velocity, samples.rate, samples.q, samples.dq)
    return np.hstack([part for part in parts if part is not None])


def _noise(system: System, samples: Samples, velocity: Array) -> tuple[Array, Array, bool]:
    """Covariance of each interval's rows and with the next one's, from the sensors' noise.

    A sample's disturbance d (P and L parts) enters the rows of the interval it ends as (P, +L) and
    of the interval it starts as (0, -L); the velocity also through dr x P, half to each side.
    """
    states = _states(samples, velocity)
    n = len(states) - 1
    ends, starts = np.zeros((n + 1, 6, 6)), np.zeros((n + 1, 6, 6))
    shared = np.zeros((n + 1, 6, 6))
    momentum = _momenta(system, states)[:, :3]
    half = 0.5 * np.gradient(samples.time)[:, None]
    is_known = False
    for up, down in _disturbed(system, samples, states):
        is_known = True
        slope = 0.5 * (_momenta(system, up) - _momenta(system, down))
        moved = np.cross(half * 0.5 * (up - down)[:, 7:10], momentum)
        end = np.hstack([slope[:, :3], slope[:, 3:] + moved])
        start = np.hstack([np.zeros_like(moved), -slope[:, 3:] + moved])
        ends += end[:, :, None] * end[:, None, :]
        starts += start[:, :, None] * start[:, None, :]
        shared += end[:, :, None] * start[:, None, :]
    if not is_known:
        return np.broadcast_to(np.eye(6), (n, 6, 6)), np.zeros((n - 1, 6, 6)), False
    blocks = ends[1:] + starts[:-1]
    # A row that no sensor disturbs would have infinite weight; give it a ten-thousandth.
    floor = 1e-8 * np.max(np.einsum("nii->ni", blocks), axis=0)
    return blocks + np.diag(np.maximum(floor, 1e-30)), shared[1:-1], True


def _momenta(system: System, states: Array) -> Array:
    found = balance(system, states)
    return np.hstack([found.linear_momentum, found.angular_momentum])


def _disturbed(system: System, samples: Samples, states: Array) -> Sequence[tuple[Array, Array]]:
    """Pairs of states one standard deviation up and down, for every measured number."""
    c, noise = system.n_coordinates, samples.noise
    pairs = []
    columns = {"velocity": range(7, 10), "rate": range(10, 13), "q": range(13, 13 + c),
               "dq": range(13 + c, 13 + 2 * c)}  # fmt: skip
    for field, places in columns.items():
        if noise.get(field):
            for place in places:
                step = np.zeros(states.shape[1])
                step[place] = noise[field]
                pairs.append((states + step, states - step))
    if noise.get("attitude"):
        for axis in np.eye(3):
            pair = []
            for sign in (1.0, -1.0):
                turn = quaternion_from_rotation_vector(sign * noise["attitude"] * axis)
                turned = states.copy()
                turned[:, 3:7] = quaternion_product(states[:, 3:7], turn)
                pair.append(turned)
            pairs.append((pair[0], pair[1]))
    return pairs
