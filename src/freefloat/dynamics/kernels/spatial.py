"""Three-vectors, motions, forces and inertias as scalars, so that kernels never allocate.

Everything is expressed in the axes of the root body with the root's origin as reference point
(the "root frame"), at an instant at which that point is taken to be at rest: the dynamics do not
depend on the linear velocity of the root, so it never enters (Galilean invariance, exactly).
A motion is (angular, linear), a force (torque, force).
"""

from __future__ import annotations

from freefloat.numba_.compilation import inline

# Columns of the link table L (one row per link): axes, origin, joint motion, motion, acceleration,
# force carried by the joint, inertia (first of the link, then of everything outboard).
R, P, S, V, A, F, C = 0, 9, 12, 18, 24, 30, 36
LINK_COLUMNS = 46  # format: the sum of the above
# Entries of Tree.field; vectors take three. See dynamics.environment for what they mean.
GRAVITY, GRADIENT, RADIAL, TANGENTIAL, ORBITAL_RATE, HAS_GRAVITY = 0, 3, 4, 7, 10, 11
LINEAR_DRAG, ANGULAR_DRAG, ENVIRONMENT_SIZE = 12, 13, 14


@inline
def three(T, i, k):
    """Three neighbours of a table's row."""
    return T[i, k], T[i, k + 1], T[i, k + 2]


@inline
def six(T, i, k):
    """Six neighbours of a table's row."""
    return T[i, k], T[i, k + 1], T[i, k + 2], T[i, k + 3], T[i, k + 4], T[i, k + 5]


@inline
def cross(ax, ay, az, bx, by, bz):
    """a x b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inline
def rotate(L, i, x, y, z):
    """The axes of link i times (x, y, z): from link to root components."""
    return (
        L[i, 0] * x + L[i, 1] * y + L[i, 2] * z,
        L[i, 3] * x + L[i, 4] * y + L[i, 5] * z,
        L[i, 6] * x + L[i, 7] * y + L[i, 8] * z,
    )


@inline
def rotate_back(L, i, x, y, z):
    """From root to link components."""
    return (
        L[i, 0] * x + L[i, 3] * y + L[i, 6] * z,
        L[i, 1] * x + L[i, 4] * y + L[i, 7] * z,
        L[i, 2] * x + L[i, 5] * y + L[i, 8] * z,
    )


@inline
def turn_inertia(T, i, k, x, y, z):
    """The symmetric matrix xx, xy, xz, yy, yz, zz from column k of a row on, times a vector."""
    xx, xy, xz, yy, yz, zz = six(T, i, k)
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@inline
def momentum_of(L, i, wx, wy, wz, vx, vy, vz):
    """Angular and linear momentum of the inertia [m, m c, I] of row i moving with (w, v)."""
    m = L[i, C]
    cx, cy, cz = three(L, i, C + 1)
    xx, xy, xz, yy, yz, zz = six(L, i, C + 4)
    return (
        xx * wx + xy * wy + xz * wz + cy * vz - cz * vy,
        xy * wx + yy * wy + yz * wz + cz * vx - cx * vz,
        xz * wx + yz * wy + zz * wz + cx * vy - cy * vx,
        m * vx + wy * cz - wz * cy,
        m * vy + wz * cx - wx * cz,
        m * vz + wx * cy - wy * cx,
    )


@inline
def place_inertia(L, i, phi):
    """The inertia phi[i] of link i, turned and shifted into the root frame, into its row."""
    m = phi[i, 0]
    sx, sy, sz = rotate(L, i, phi[i, 1], phi[i, 2], phi[i, 3])
    xx, xy, xz, yy, yz, zz = six(phi, i, 4)
    # rows of R I, then (R I) R^T
    ax, ay, az = rotate(L, i, xx, xy, xz)
    bx, by, bz = rotate(L, i, xy, yy, yz)
    cx, cy, cz = rotate(L, i, xz, yz, zz)
    px, py, pz = three(L, i, P)
    hx, hy, hz = sx + 0.5 * m * px, sy + 0.5 * m * py, sz + 0.5 * m * pz
    dx, dy, dz = 2.0 * px * hx, 2.0 * py * hy, 2.0 * pz * hz
    L[i, C] = m
    L[i, C + 1] = sx + m * px
    L[i, C + 2] = sy + m * py
    L[i, C + 3] = sz + m * pz
    L[i, C + 4] = ax * L[i, 0] + bx * L[i, 1] + cx * L[i, 2] + dy + dz
    L[i, C + 5] = ax * L[i, 3] + bx * L[i, 4] + cx * L[i, 5] - px * hy - py * hx
    L[i, C + 6] = ax * L[i, 6] + bx * L[i, 7] + cx * L[i, 8] - px * hz - pz * hx
    L[i, C + 7] = ay * L[i, 3] + by * L[i, 4] + cy * L[i, 5] + dx + dz
    L[i, C + 8] = ay * L[i, 6] + by * L[i, 7] + cy * L[i, 8] - py * hz - pz * hy
    L[i, C + 9] = az * L[i, 6] + bz * L[i, 7] + cz * L[i, 8] + dx + dy


@inline
def power(L, i, x, y, z, fx, fy, fz):
    """What a force (torque, force) does per unit rate of the joint of link i."""
    ax, ay, az, bx, by, bz = six(L, i, S)
    return ax * x + ay * y + az * z + bx * fx + by * fy + bz * fz
