"""From accelerations to forces: recursive Newton-Euler for a tree with rotors and fields.

One pass outwards places the links and moves them, one pass inwards adds the forces up. Forward
dynamics calls it with the unknown accelerations set to zero (what remains is the bias), inverse
dynamics with the true ones.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.cos_sin import cos_sin
from freefloat.dynamics.kernels.spatial import (
    GRADIENT,
    GRAVITY,
    HAS_GRAVITY,
    LINK_COLUMNS,
    ORBITAL_RATE,
    RADIAL,
    TANGENTIAL,
    A,
    C,
    F,
    P,
    S,
    V,
    cross,
    momentum_of,
    place_inertia,
    power,
    rotate,
    six,
    three,
    turn_inertia,
)
from freefloat.numba_.compilation import inline

# Columns of the coordinate table U: position, rate, acceleration, applied effort, rotor torque, the
# position for which the link was placed last, and whether that moved it (1) or not (0).
Q, DQ, DDQ, EFFORT, SPIN, PLACED, IS_MOVED = 0, 1, 2, 3, 4, 5, 6
# Places in the root vector: rate (3), acceleration (6), wrench (6), field u (3), field r (3),
# quaternion (4), thruster forces.
RATE, ACCELERATION, WRENCH, FIELD_U, FIELD_R, ATTITUDE, PUSH = 0, 3, 9, 15, 18, 21, 25


class Work(NamedTuple):
    """Scratch space of one simulation; every kernel writes here and allocates nothing."""

    L: np.ndarray  # (links, 46) see spatial.py
    U: np.ndarray  # (coordinates, 7) see above
    root: np.ndarray  # (25 + thrusters,) see above
    H: np.ndarray  # (free, free) mass matrix, then its Cholesky factor
    rhs: np.ndarray  # (free,) right side, then accelerations


def new_work(tree) -> Work:
    """Scratch space for a tree."""
    n, n_free = len(tree.links), len(tree.free)
    work = Work(
        L=np.zeros((n, LINK_COLUMNS)),
        U=np.zeros((n - 1 + len(tree.rotor_link), 7)),
        root=np.zeros(PUSH + len(tree.thruster_link)),
        H=np.zeros((n_free, n_free)),
        rhs=np.zeros(n_free),
    )
    work.L[0, [0, 4, 8]] = 1.0  # the root frame in itself; never written again
    work.U[:, PLACED] = np.nan
    return work


@inline
def place_links(tree, w):
    """Axes, origin and joint motion of every link, from the coordinates.

    Links that have not moved since the last time are left alone: a prescribed joint is in the same
    place in the two middle stages of a step, and at its end and the start of the next.
    """
    L, U, T = w.L, w.U, tree.place
    for i in range(1, tree.links.shape[0]):
        j = tree.links[i, 0]
        q = U[i - 1, Q]
        if q == U[i - 1, PLACED] and (j == 0 or U[j - 1, IS_MOVED] == 0.0):
            U[i - 1, IS_MOVED] = 0.0 * q
            continue
        U[i - 1, PLACED] = q
        U[i - 1, IS_MOVED] = 0.0 * q + 1.0
        x, y, z = rotate(L, j, T[i, 9], T[i, 10], T[i, 11])
        px, py, pz = x + L[j, P], y + L[j, P + 1], z + L[j, P + 2]
        xx, xy, xz = rotate(L, j, T[i, 0], T[i, 3], T[i, 6])
        yx, yy, yz = rotate(L, j, T[i, 1], T[i, 4], T[i, 7])
        zx, zy, zz = rotate(L, j, T[i, 2], T[i, 5], T[i, 8])
        if tree.links[i, 1] == 1:
            c, s = cos_sin(q)
            L[i, 0], L[i, 3], L[i, 6] = c * xx + s * yx, c * xy + s * yy, c * xz + s * yz
            L[i, 1], L[i, 4], L[i, 7] = c * yx - s * xx, c * yy - s * xy, c * yz - s * xz
            L[i, S], L[i, S + 1], L[i, S + 2] = zx, zy, zz
            L[i, S + 3], L[i, S + 4], L[i, S + 5] = cross(px, py, pz, zx, zy, zz)
        else:
            L[i, 0], L[i, 3], L[i, 6] = xx, xy, xz
            L[i, 1], L[i, 4], L[i, 7] = yx, yy, yz
            px, py, pz = px + q * zx, py + q * zy, pz + q * zz
            L[i, S + 3], L[i, S + 4], L[i, S + 5] = zx, zy, zz
        L[i, 2], L[i, 5], L[i, 8] = zx, zy, zz
        L[i, P], L[i, P + 1], L[i, P + 2] = px, py, pz


@inline
def move_links(tree, w):
    """Motion and acceleration of every link, from the root's and the coordinates' rates."""
    L = w.L
    L[0, V], L[0, V + 1], L[0, V + 2] = w.root[RATE], w.root[RATE + 1], w.root[RATE + 2]
    for k in range(6):
        L[0, A + k] = w.root[ACCELERATION + k]
    for i in range(1, tree.links.shape[0]):
        j = tree.links[i, 0]
        u, b = w.U[i - 1, DQ], w.U[i - 1, DDQ]
        sx, sy, sz, tx, ty, tz = six(L, i, S)
        wx, wy, wz, vx, vy, vz = six(L, j, V)
        ax, ay, az = cross(wx, wy, wz, sx, sy, sz)
        bx, by, bz = cross(wx, wy, wz, tx, ty, tz)
        cx, cy, cz = cross(vx, vy, vz, sx, sy, sz)
        L[i, V], L[i, V + 1], L[i, V + 2] = wx + u * sx, wy + u * sy, wz + u * sz
        L[i, V + 3], L[i, V + 4], L[i, V + 5] = vx + u * tx, vy + u * ty, vz + u * tz
        L[i, A] = L[j, A] + u * ax + b * sx
        L[i, A + 1] = L[j, A + 1] + u * ay + b * sy
        L[i, A + 2] = L[j, A + 2] + u * az + b * sz
        L[i, A + 3] = L[j, A + 3] + u * (bx + cx) + b * tx
        L[i, A + 4] = L[j, A + 4] + u * (by + cy) + b * ty
        L[i, A + 5] = L[j, A + 5] + u * (bz + cz) + b * tz


@inline
def link_force(L, i):
    """I a + v x* (I v) of link i into its row: what it takes to move it."""
    wx, wy, wz, vx, vy, vz = six(L, i, V)
    ax, ay, az, bx, by, bz = six(L, i, A)
    hx, hy, hz, lx, ly, lz = momentum_of(L, i, wx, wy, wz, vx, vy, vz)
    fx, fy, fz, gx, gy, gz = momentum_of(L, i, ax, ay, az, bx, by, bz)
    ax, ay, az = cross(wx, wy, wz, hx, hy, hz)
    bx, by, bz = cross(vx, vy, vz, lx, ly, lz)
    cx, cy, cz = cross(wx, wy, wz, lx, ly, lz)
    L[i, F], L[i, F + 1], L[i, F + 2] = fx + ax + bx, fy + ay + by, fz + az + bz
    L[i, F + 3], L[i, F + 4], L[i, F + 5] = gx + cx, gy + cy, gz + cz


@inline
def subtract_force(L, i, x, y, z, fx, fy, fz):
    """Relieve the joint of link i of an external torque and force."""
    L[i, F] -= x
    L[i, F + 1] -= y
    L[i, F + 2] -= z
    L[i, F + 3] -= fx
    L[i, F + 4] -= fy
    L[i, F + 5] -= fz


@inline
def field_force(L, i, root, n2):
    """Torque and force of gravity and its gradient on the inertia of row i.

    With u = g + G p (p: root origin from the orbit point) and G = n^2 (3 r r^T - 1): force
    m u + G (m c), torque m c x u + 3 n^2 r x I r; linear in the ten parameters.
    """
    ux, uy, uz = root[FIELD_U], root[FIELD_U + 1], root[FIELD_U + 2]
    rx, ry, rz = root[FIELD_R], root[FIELD_R + 1], root[FIELD_R + 2]
    m = L[i, C]
    cx, cy, cz = three(L, i, C + 1)
    along = 3.0 * (rx * cx + ry * cy + rz * cz)
    ix, iy, iz = turn_inertia(L, i, C + 4, rx, ry, rz)
    ax, ay, az = cross(cx, cy, cz, ux, uy, uz)
    bx, by, bz = cross(rx, ry, rz, ix, iy, iz)
    return (
        ax + 3.0 * n2 * bx,
        ay + 3.0 * n2 * by,
        az + 3.0 * n2 * bz,
        m * ux + n2 * (along * rx - cx),
        m * uy + n2 * (along * ry - cy),
        m * uz + n2 * (along * rz - cz),
    )


@inline
def add_rotors(tree, par, w):
    """Reaction of every rotor on its carrier, and the torque that drives the rotor."""
    L, U = w.L, w.U
    n_joints = tree.links.shape[0] - 1
    for r in range(tree.rotor_link.shape[0]):
        i, c, N = tree.rotor_link[r], n_joints + r, tree.rotors[r, 3]
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        NJ = N * par.rotor[r]
        u, b = NJ * U[c, DQ], NJ * U[c, DDQ]
        gx, gy, gz = cross(L[i, V], L[i, V + 1], L[i, V + 2], x, y, z)
        L[i, F] += b * x + u * gx
        L[i, F + 1] += b * y + u * gy
        L[i, F + 2] += b * z + u * gz
        U[c, SPIN] = NJ * (L[i, A] * x + L[i, A + 1] * y + L[i, A + 2] * z) + N * b


@inline
def subtract_thrust(tree, w):
    """Relieve the joints of the thrusters' push and of the wrench on the root."""
    L, root, T = w.L, w.root, tree.thrusters
    for k in range(6):
        L[0, F + k] -= root[WRENCH + k]
    for t in range(tree.thruster_link.shape[0]):
        i, u = tree.thruster_link[t], root[PUSH + t]
        x, y, z = rotate(L, i, T[t, 0], T[t, 1], T[t, 2])
        fx, fy, fz = rotate(L, i, T[t, 3], T[t, 4], T[t, 5])
        gx, gy, gz = cross(L[i, P], L[i, P + 1], L[i, P + 2], fx, fy, fz)
        subtract_force(L, i, u * (x + gx), u * (y + gy), u * (z + gz), u * fx, u * fy, u * fz)


@inline
def newton_euler(tree, par, w):
    """Forces for the motion in w: joint forces and outboard inertias in w.L, rotor torques in w.U.

    Reads the coordinate table and the root vector (rate, acceleration, wrench, field, thrust).
    """
    L = w.L
    n = tree.links.shape[0]
    place_links(tree, w)
    move_links(tree, w)
    for i in range(n):
        place_inertia(L, i, par.phi)
        link_force(L, i)
        if tree.field[HAS_GRAVITY] != 0.0:
            x, y, z, fx, fy, fz = field_force(L, i, w.root, tree.field[GRADIENT])
            subtract_force(L, i, x, y, z, fx, fy, fz)
    add_rotors(tree, par, w)
    subtract_thrust(tree, w)
    for i in range(n - 1, 0, -1):
        j = tree.links[i, 0]
        for k in range(F, LINK_COLUMNS):  # forces and inertias lie side by side
            L[j, k] += L[i, k]


@inline
def joint_force(tree, w, c):
    """The generalised force on coordinate c after `newton_euler`."""
    if c < tree.links.shape[0] - 1:
        x, y, z, fx, fy, fz = six(w.L, c + 1, F)
        return power(w.L, c + 1, x, y, z, fx, fy, fz)
    return w.U[c, SPIN]


@inline
def root_axes(root):
    """The root's rotation matrix, row by row, from its quaternion (any norm)."""
    x, y, z = root[ATTITUDE], root[ATTITUDE + 1], root[ATTITUDE + 2]
    s = root[ATTITUDE + 3]
    n = 2.0 / (x * x + y * y + z * z + s * s)
    return (
        1.0 - n * (y * y + z * z),
        n * (x * y - s * z),
        n * (x * z + s * y),
        n * (x * y + s * z),
        1.0 - n * (x * x + z * z),
        n * (y * z - s * x),
        n * (x * z - s * y),
        n * (y * z + s * x),
        1.0 - n * (x * x + y * y),
    )


@inline
def set_field(tree, root, time, px, py, pz):
    """The gravity field around the root at a time [s], in root axes, into the root vector."""
    T = tree.field
    a, b, c, d, e, f, g, h, i = root_axes(root)
    co, si = cos(T[ORBITAL_RATE] * time), sin(T[ORBITAL_RATE] * time)
    x = co * T[RADIAL] + si * T[TANGENTIAL]
    y = co * T[RADIAL + 1] + si * T[TANGENTIAL + 1]
    z = co * T[RADIAL + 2] + si * T[TANGENTIAL + 2]
    along = 3.0 * (x * px + y * py + z * pz)
    ux = T[GRAVITY] + T[GRADIENT] * (along * x - px)
    uy = T[GRAVITY + 1] + T[GRADIENT] * (along * y - py)
    uz = T[GRAVITY + 2] + T[GRADIENT] * (along * z - pz)
    root[FIELD_U] = a * ux + d * uy + g * uz
    root[FIELD_U + 1] = b * ux + e * uy + h * uz
    root[FIELD_U + 2] = c * ux + f * uy + i * uz
    root[FIELD_R] = a * x + d * y + g * z
    root[FIELD_R + 1] = b * x + e * y + h * z
    root[FIELD_R + 2] = c * x + f * y + i * z
