"""How far the root went: its velocity integrated, without blurring the kinks of thrust.

A spline through a velocity that thrust has bent at an instant overshoots on both sides. How much it
bends is known from the system as it is thought to be: the part of the velocity that thrust makes is
integrated by itself, piece by piece, and only the rest, which is smooth, by a spline.
"""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance
from freefloat.dynamics.tree import System
from freefloat.identification.linear.samples import Samples
from freefloat.telemetry.thrust_levels import insert_switches


def running_integral(time: Array, values: Array) -> Array:
    """Running integral from the first instant: the cubic spline through the samples, integrated."""
    from scipy.interpolate import CubicSpline

    whole = CubicSpline(time, values, axis=0).antiderivative()
    return whole(time) - whole(time[0])


def held_integral(time: Array, values: Array, level: Array) -> Array:
    """Running integral of values times a level that is held, and switches when its means say."""
    from scipy.interpolate import CubicSpline

    at, held = insert_switches(time, level)
    whole = CubicSpline(time, values, axis=0).antiderivative()(at)
    gained = np.cumsum(held[:-1, None] * np.diff(whole, axis=0), axis=0)
    return np.vstack([np.zeros((1, values.shape[1])), gained])[np.searchsorted(at, time)]


def way_of_root(system: System, samples: Samples) -> Array:
    """The way (N, 3) of the root's origin since the first sample, world axes."""
    from scipy.interpolate import CubicSpline

    time, velocity, thrust = samples.time, samples.velocity, samples.thrust
    assert velocity is not None
    switching = np.flatnonzero(np.any(np.diff(thrust, axis=0) != 0.0, axis=0))
    if not len(switching):
        return running_integral(time, velocity)
    inertia = _inertia(system, samples)
    pushed, way = np.zeros_like(velocity), np.zeros_like(velocity)
    for k in switching:
        wrench = system.tree.thrusters[k]
        unit = np.hstack([samples.rotation @ wrench[3:], samples.rotation @ wrench[:3]])
        bent = CubicSpline(time, _accelerated(system, inertia, unit), axis=0)
        at, held = insert_switches(time, thrust[:, k])
        once, twice = bent.antiderivative(1)(at), bent.antiderivative(2)(at)
        level, h = held[:-1, None], np.diff(at)[:, None]
        gained = np.vstack([np.zeros(3), np.cumsum(level * np.diff(once, axis=0), axis=0)])
        steps = gained[:-1] * h + level * (np.diff(twice, axis=0) - once[:-1] * h)
        sampled = np.searchsorted(at, time)
        pushed += gained[sampled]
        way += np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])[sampled]
    return way + running_integral(time, velocity - pushed)


def _inertia(system: System, samples: Samples) -> Array:
    """Of everything with joints held (N, 6, 6): momenta of unit velocities, then unit rates."""
    found = np.zeros((len(samples.time), 6, 6))
    still = samples.states.copy()
    still[:, :3] = still[:, 7:13] = 0.0
    still[:, 13 + system.n_coordinates :] = 0.0
    for axis in range(3):
        for first, direction in ((7, np.eye(3)[axis]), (10, samples.rotation[:, axis, :])):
            moving = still.copy()
            moving[:, first : first + 3] = direction
            told = balance(system, moving)
            column = axis if first == 7 else 3 + axis
            found[:, :, column] = np.hstack([told.linear_momentum, told.angular_momentum])
    return found


def _accelerated(system: System, inertia: Array, wrench: Array) -> Array:
    """The root's linear acceleration (N, 3) under force and torque (N, 6), world axes."""
    kept = [0, 1, 5] if system.model.root.type == "planar" else list(range(6))
    found = np.zeros((len(wrench), 6))
    found[:, kept] = np.linalg.solve(inertia[:, kept][:, :, kept], wrench[:, kept, None])[..., 0]
    return found[:, :3]
