"""Rotations: matrices, roll-pitch-yaw, quaternions and rotation vectors, converted in one place.

Quaternions are x, y, z, w (scalar last). `R_AB` takes components in frame B to frame A.
Roll-pitch-yaw follows URDF: fixed axes x, then y, then z, so R = Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array


def skew(v: ArrayLike) -> Array:
    """The matrix [v]x with [v]x u = v x u."""
    x, y, z = np.asarray(v, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def matrix_from_rpy(rpy: ArrayLike) -> Array:
    """The rotation matrix of fixed-axis roll, pitch, yaw [rad].

    >>> matrix_from_rpy([0.0, 0.0, 0.0]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [0.0 - sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_matrix(R: ArrayLike) -> Array:
    """Roll, pitch, yaw [rad] of a rotation matrix; at pitch = +-90 deg the yaw is set to zero."""
    R = np.asarray(R, dtype=float)
    level = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], level)
    # In gimbal lock roll and yaw turn about the same axis. Near it yaw is vague, but a roll taken
    # with that very yaw undone makes up for it, so that the three together are exact.
    yaw = 0.0 if level < 1e-12 else np.arctan2(R[1, 0], R[0, 0])
    across = np.cos(yaw) * R[1] - np.sin(yaw) * R[0]
    return np.array([np.arctan2(-across[2], across[1]), pitch, yaw])


def matrix_from_quaternion(quaternion: ArrayLike) -> Array:
    """The rotation matrix of a quaternion x, y, z, w (any norm but zero; rows allowed)."""
    q = np.asarray(quaternion, dtype=float)
    unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    x, y, z, w = (unit[..., k] for k in range(4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    R = np.empty((*q.shape[:-1], 3, 3))
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            R[..., i, j] = entry
    return R


def quaternion_from_matrix(R: ArrayLike) -> Array:
    """The unit quaternion x, y, z, w (w >= 0) of a rotation matrix."""
    R = np.asarray(R, dtype=float)
    # The largest eigenvector of this symmetric matrix is the quaternion; no case distinctions.
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    q = np.linalg.eigh(K)[1][:, 3]
    return q if q[3] >= 0 else -q


def quaternions_from_matrices(R: Array) -> Array:
    """Unit quaternions (N, 4) of rotation matrices (N, 3, 3), continuous from row to row."""
    trace = np.trace(R, axis1=1, axis2=2)
    # 4 q q^T from the matrix entries; its row with the largest diagonal is the safest one.
    diagonal = np.column_stack([1.0 - trace[:, None] + 2.0 * np.einsum("nii->ni", R), 1.0 + trace])
    x, y, z = R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]
    xy, xz, yz = R[:, 0, 1] + R[:, 1, 0], R[:, 0, 2] + R[:, 2, 0], R[:, 1, 2] + R[:, 2, 1]
    dx, dy, dz, dw = diagonal.T
    products = np.stack([[dx, xy, xz, x], [xy, dy, yz, y], [xz, yz, dz, z], [x, y, z, dw]])
    best = products[np.argmax(diagonal, axis=1), :, np.arange(len(R))]
    q = best / np.linalg.norm(best, axis=1, keepdims=True)
    if len(q) and q[0, 3] < 0.0:
        q[0] = -q[0]
    signs = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0.0, -1.0, 1.0)
    q[1:] *= np.cumprod(signs)[:, None]
    return q


def quaternion_product(a: ArrayLike, b: ArrayLike) -> Array:
    """a * b (x, y, z, w; rows allowed): first rotate by b, then by a."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av
    # for a few rows several times faster than np.cross, to the same bit
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        vector[..., i] += av[..., j] * bv[..., k] - av[..., k] * bv[..., j]
    scalar = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([vector, scalar], axis=-1)


def quaternion_from_rotation_vector(theta: ArrayLike) -> Array:
    """The unit quaternion of a rotation by |theta| [rad] about theta (rows allowed)."""
    theta = np.asarray(theta, dtype=float)
    half = 0.5 * np.linalg.norm(theta, axis=-1, keepdims=True)
    return np.concatenate([0.5 * theta * np.sinc(half / np.pi), np.cos(half)], axis=-1)


def matrix_from_rotation_vector(turn: ArrayLike) -> Array:
    """The rotation matrix of a rotation by |turn| [rad] about turn.

    >>> matrix_from_rotation_vector([0.0, 0.0, np.pi / 2]).round(9)[0].tolist()
    [0.0, -1.0, 0.0]
    """
    return matrix_from_quaternion(quaternion_from_rotation_vector(turn))


def right_jacobian(turn: Array) -> Array:
    """How a small change of a rotation vector turns its end: the right Jacobian of SO(3), 3x3.

    Sola, Deray, Atchuthan, "A micro Lie theory", eq. 143.
    """
    angle = float(np.linalg.norm(turn))
    K = skew(turn)
    if angle < 1e-6:
        return np.eye(3) - 0.5 * K
    return (
        np.eye(3)
        - (1.0 - np.cos(angle)) / angle**2 * K
        + (angle - np.sin(angle)) / angle**3 * K @ K
    )


def rotation_vector_from_quaternion(q: ArrayLike) -> Array:
    """The rotation vector [rad], at most pi long, of unit quaternions x, y, z, w (rows allowed)."""
    q = np.asarray(q, dtype=float)
    q = np.where(q[..., 3:] < 0, -q, q)  # q and -q are the same attitude; take the short way round
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., 3:])
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(sine > 1e-12, angle / sine, 2.0)
    return scale * q[..., :3]


def conjugate(q: ArrayLike) -> Array:
    """The inverse of unit quaternions x, y, z, w (rows allowed)."""
    return np.asarray(q, dtype=float) * np.array([-1.0, -1.0, -1.0, 1.0])


def frame_with_z(axis: ArrayLike) -> Array:
    """A rotation whose third column is the unit vector along `axis`; the identity for +z."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    if z[2] > 0.0 and z[0] == z[1] == 0.0:
        return np.eye(3)
    helper = np.eye(3)[np.argmin(np.abs(z))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
