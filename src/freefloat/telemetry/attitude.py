"""Attitude histories: quaternions x, y, z, w in rows, their signs, their rates, and between them.

q and -q are the same attitude, so a history is first made continuous: no row is far from the one
before. A quaternion takes body axes to world axes.
"""

from __future__ import annotations

import numpy as np

from freefloat.model.rotations import conjugate, quaternion_product
from freefloat.telemetry.channel import Array


def unit(q: Array) -> Array:
    """Return the rows scaled to norm one; a row of norm zero becomes NaN.

    >>> unit(np.array([[0.0, 0.0, 0.0, 2.0]])).tolist()
    [[0.0, 0.0, 0.0, 1.0]]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return q / np.linalg.norm(q, axis=-1, keepdims=True)


def continuous(q: Array) -> Array:
    """Return the same attitudes with signs such that neighbouring rows are close.

    >>> continuous(np.array([[0.0, 0, 0, 1], [0.0, 0, 0, -1]]))[1].tolist()
    [-0.0, -0.0, -0.0, 1.0]
    """
    flips = np.sum(q[1:] * q[:-1], axis=1) < 0.0
    signs = np.where(np.cumsum(flips) % 2, -1.0, 1.0)
    return np.concatenate([q[:1], q[1:] * signs[:, None]])


def slerp(start: Array, end: Array, fraction: Array) -> Array:
    """Return the attitudes at a `fraction` of the shortest turn from `start` to `end`, row by row.

    >>> half = slerp(np.eye(4)[3:], np.eye(4)[2:3], np.array([0.5]))
    >>> half.round(4).tolist()
    [[0.0, 0.0, 0.7071, 0.7071]]
    """
    cosine = np.sum(start * end, axis=1)
    end = np.where(cosine[:, None] < 0.0, -end, end)
    angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        first = np.sin((1.0 - fraction) * angle) / np.sin(angle)
        second = np.sin(fraction * angle) / np.sin(angle)
    is_close = angle < 1e-6  # where the sines vanish the chord is as good as the arc
    first, second = np.where(is_close, 1.0 - fraction, first), np.where(is_close, fraction, second)
    return unit(first[:, None] * start + second[:, None] * end)


def rate_and_acceleration(s: Array, ds: Array, dds: Array) -> tuple[Array, Array]:
    """Return body rates [rad/s] and angular accelerations [rad/s^2] from s and its derivatives.

    s need not be of norm one: with q = s / |s|, the rate 2 q* dq/dt is the vector part of
    2 p, p = s^-1 ds/dt, and the acceleration that of 2 (s^-1 d2s/dt2 - p p). What |s| does only
    enters the scalar parts.
    """
    inverse = conjugate(s) / np.sum(s * s, axis=-1, keepdims=True)
    p = quaternion_product(inverse, ds)
    change = quaternion_product(inverse, dds) - quaternion_product(p, p)
    return 2.0 * p[..., :3], 2.0 * change[..., :3]
