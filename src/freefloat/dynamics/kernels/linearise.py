"""Derivatives of the equations of motion at fixed acceleration, in closed form.

For a joint motion S with parent motion v and acceleration a, let s1 = v x S and s2 = a x S
+ v x s1. Moving joint j by a little changes the force carried by anything outboard of it by
I s2 + B s1 (I, B: inertia and twice the Coriolis operator of what is outboard), and swings the
force itself round for everything inboard; a change of its rate gives 2 I s1 + B S (Carpentier &
Mansard 2018; Singh, Russo & Wensing 2022). About a common origin the operator needs only twelve
numbers, all of which add up over bodies: B (n, l) = (dI n + n x L, 2 n x P) with dI the time
derivative of the inertia and L, P the momentum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.forward import is_on_the_way
from freefloat.dynamics.kernels.newton_euler import (
    DQ,
    FIELD_R,
    FIELD_U,
    RATE,
    WRENCH,
    add_rotors,
    field_force,
    link_force,
    move_links,
    root_axes,
    subtract_force,
    subtract_thrust,
)
from freefloat.dynamics.kernels.spatial import (
    ANGULAR_DRAG,
    GRADIENT,
    HAS_GRAVITY,
    LINEAR_DRAG,
    A,
    C,
    F,
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

# Columns of G: change of root position, attitude, velocity, rate; then q and dq of free coordinates
POSITION, ATTITUDE, VELOCITY, TURN, COORDINATES = 0, 3, 6, 9, 12


class LinearisedTree(NamedTuple):
    """Scratch space of a linearisation."""

    D: np.ndarray  # (links, 12) inertia rate (6), angular (3) and linear momentum (3), outboard
    G: np.ndarray  # (rows, 12 + 2 free coordinates) force change per state change
    rows: np.ndarray  # (rows,) which generalised forces (0-5 root, 6 + c coordinate): first the
    #                   free ones, which get the springs, then every coordinate without springs
    free_at: np.ndarray  # (coordinates,) place among the free coordinates or -1
    Y: np.ndarray  # (6, 10)
    f: np.ndarray  # (6,) a torque and force: indexing a tuple by a variable is slow in Numba


@inline
def coriolis(tree, par, w, D):
    """The twelve numbers of the Coriolis operator of every link alone, from its own inertia."""
    L = w.L
    for i in range(L.shape[0]):
        wx, wy, wz, vx, vy, vz = six(L, i, V)
        cx, cy, cz = three(L, i, C + 1)
        xx, xy, xz, yy, yz, zz = six(L, i, C + 4)
        cv = 2.0 * (cx * vx + cy * vy + cz * vz)
        # dI = [w] I - I [w] + 2 (c.v) 1 - c v^T - v c^T
        D[i, 0] = 2.0 * (wy * xz - wz * xy) + cv - 2.0 * cx * vx
        D[i, 1] = wy * yz - wz * yy + wz * xx - wx * xz - cx * vy - cy * vx
        D[i, 2] = wy * zz - wz * yz + wx * xy - wy * xx - cx * vz - cz * vx
        D[i, 3] = 2.0 * (wz * xy - wx * yz) + cv - 2.0 * cy * vy
        D[i, 4] = wz * xz - wx * zz + wx * yy - wy * xy - cy * vz - cz * vy
        D[i, 5] = 2.0 * (wx * yz - wy * xz) + cv - 2.0 * cz * vz
        x, y, z, fx, fy, fz = momentum_of(L, i, wx, wy, wz, vx, vy, vz)
        D[i, 6], D[i, 7], D[i, 8], D[i, 9], D[i, 10], D[i, 11] = x, y, z, fx, fy, fz
    n_joints = L.shape[0] - 1
    for r in range(tree.rotor_link.shape[0]):
        i, h = tree.rotor_link[r], tree.rotors[r, 3] * par.rotor[r] * w.U[n_joints + r, DQ]
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        D[i, 6], D[i, 7], D[i, 8] = D[i, 6] + h * x, D[i, 7] + h * y, D[i, 8] + h * z


@inline
def forces_and_slopes(tree, par, w, D):
    """`newton_euler` at the accelerations now in w, with the Coriolis operators in D beside it.

    The links are already placed.
    """
    L = w.L
    move_links(tree, w)
    for i in range(L.shape[0]):
        place_inertia(L, i, par.phi)
        link_force(L, i)
        if tree.field[HAS_GRAVITY] != 0.0:
            x, y, z, fx, fy, fz = field_force(L, i, w.root, tree.field[GRADIENT])
            subtract_force(L, i, x, y, z, fx, fy, fz)
    add_rotors(tree, par, w)
    subtract_thrust(tree, w)
    coriolis(tree, par, w, D)
    for i in range(L.shape[0] - 1, 0, -1):
        j = tree.links[i, 0]
        for k in range(F, L.shape[1]):
            L[j, k] += L[i, k]
        for k in range(12):
            D[j, k] += D[i, k]


@inline
def force_change(tree, w, D, i, s, b, u, r):
    """B (s, .) + I b - (change of the field's pull) of everything outboard of joint i.

    s: angular motion (3), b: acceleration (6), u and r: change of the field's two vectors.
    """
    L = w.L
    sx, sy, sz = s
    x, y, z, fx, fy, fz = momentum_of(L, i, b[0], b[1], b[2], b[3], b[4], b[5])
    dx, dy, dz = turn_inertia(D, i, 0, sx, sy, sz)
    ax, ay, az = cross(sx, sy, sz, D[i, 6], D[i, 7], D[i, 8])
    bx, by, bz = cross(sx, sy, sz, D[i, 9], D[i, 10], D[i, 11])
    x, y, z = x + dx + ax, y + dy + ay, z + dz + az
    fx, fy, fz = fx + 2.0 * bx, fy + 2.0 * by, fz + 2.0 * bz
    if tree.field[HAS_GRAVITY] != 0.0:
        tx, ty, tz, gx, gy, gz = field_change(L, i, w.root, tree.field[GRADIENT], u, r)
        x, y, z, fx, fy, fz = x - tx, y - ty, z - tz, fx - gx, fy - gy, fz - gz
    return x, y, z, fx, fy, fz


@inline
def field_change(L, i, root, n2, u, r):
    """How `field_force` changes when its vectors u and r change by the given amounts."""
    rx, ry, rz = root[FIELD_R], root[FIELD_R + 1], root[FIELD_R + 2]
    dx, dy, dz = r
    cx, cy, cz = three(L, i, C + 1)
    n3 = 3.0 * n2
    old, new = n3 * (rx * cx + ry * cy + rz * cz), n3 * (dx * cx + dy * cy + dz * cz)
    ix, iy, iz = turn_inertia(L, i, C + 4, rx, ry, rz)
    jx, jy, jz = turn_inertia(L, i, C + 4, dx, dy, dz)
    ax, ay, az = cross(cx, cy, cz, u[0], u[1], u[2])
    bx, by, bz = cross(dx, dy, dz, ix, iy, iz)
    ex, ey, ez = cross(rx, ry, rz, jx, jy, jz)
    m = L[i, C]
    return (
        ax + n3 * (bx + ex),
        ay + n3 * (by + ey),
        az + n3 * (bz + ez),
        m * u[0] + old * dx + new * rx,
        m * u[1] + old * dy + new * ry,
        m * u[2] + old * dz + new * rz,
    )


@inline
def add_column(tree, par, w, slopes, n_rows, G, column, j, is_beyond, s, b, u, r, swing):
    """Force changes when the joint of link j (0: the root) moves; `swing` turns the force itself.

    Joints outboard of j see what hangs on them change, joints inboard what hangs on j. is_beyond:
    the joint itself stays, all that it carries moves. G: where the changes go, into `column`.
    """
    L, D = w.L, slopes.D
    n = L.shape[0]
    x, y, z, fx, fy, fz = force_change(tree, w, D, j, s, b, u, r)
    x, y, z = x + swing[0], y + swing[1], z + swing[2]
    fx, fy, fz = fx + swing[3], fy + swing[4], fz + swing[5]
    f = slopes.f
    f[0], f[1], f[2], f[3], f[4], f[5] = x, y, z, fx, fy, fz
    for m in range(n_rows):
        g = slopes.rows[m]
        if g < 6:
            G[m, column] += f[g]
        elif g - 5 >= n:
            rotor = g - 5 - n
            p = tree.rotor_link[rotor]
            if is_on_the_way(tree, p, j):
                ax, ay, az = rotate(
                    L, p, tree.rotors[rotor, 0], tree.rotors[rotor, 1], tree.rotors[rotor, 2]
                )
                cx, cy, cz = cross(L[p, V], L[p, V + 1], L[p, V + 2], s[0], s[1], s[2])
                spin = ax * (b[0] - cx) + ay * (b[1] - cy) + az * (b[2] - cz)
                G[m, column] += tree.rotors[rotor, 3] * par.rotor[rotor] * spin
        elif is_on_the_way(tree, g - 5, j) and not (is_beyond and g - 5 == j):
            ax, ay, az, bx, by, bz = force_change(tree, w, D, g - 5, s, b, u, r)
            G[m, column] += power(L, g - 5, ax, ay, az, bx, by, bz)
        elif is_on_the_way(tree, j, g - 5):
            G[m, column] += power(L, g - 5, x, y, z, fx, fy, fz)


@inline
def root_columns(tree, par, w, slopes, n_rows):
    """Columns for the root's position, attitude, velocity and rate."""
    root, G = w.root, slopes.G
    wx, wy, wz = root[RATE], root[RATE + 1], root[RATE + 2]
    zero = (0.0, 0.0, 0.0)
    zeros = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    n_kinds = 3 if tree.field[HAS_GRAVITY] != 0.0 else 1
    for n in range(3 * n_kinds):  # one loop, so that `add_column` is compiled in once
        k, kind = n % 3, n // 3
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        turn, still, u, r, column = zero, zeros, zero, zero, POSITION + k
        if kind == 0:
            x, y, z = cross(wx, wy, wz, e[0], e[1], e[2])
            turn, still, column = e, (x, y, z, 0.0, 0.0, 0.0), TURN + k
        elif kind == 1:
            u = cross(root[FIELD_U], root[FIELD_U + 1], root[FIELD_U + 2], e[0], e[1], e[2])
            r = cross(root[FIELD_R], root[FIELD_R + 1], root[FIELD_R + 2], e[0], e[1], e[2])
            column = ATTITUDE + k
        else:
            u = gradient(tree, root, world_axis(root, k))
        add_column(tree, par, w, slopes, n_rows, G, column, 0, False, turn, still, u, r, zeros)
    pushes = 0.0
    for k in range(6):
        pushes += abs(root[WRENCH + k])
    if pushes + tree.field[LINEAR_DRAG] + tree.field[ANGULAR_DRAG] > 0.0:
        wrench_columns(tree, root, slopes, n_rows)


@inline
def world_axis(root, k):
    """World axis k in root axes."""
    a, b, c, d, e, f, g, h, i = root_axes(root)
    return (a, b, c) if k == 0 else ((d, e, f) if k == 1 else (g, h, i))


@inline
def gradient(tree, root, x):
    """G x: how gravity changes over a displacement x in root axes."""
    n2 = tree.field[GRADIENT]
    rx, ry, rz = root[FIELD_R], root[FIELD_R + 1], root[FIELD_R + 2]
    along = 3.0 * (rx * x[0] + ry * x[1] + rz * x[2])
    return n2 * (along * rx - x[0]), n2 * (along * ry - x[1]), n2 * (along * rz - x[2])


@inline
def wrench_columns(tree, root, slopes, n_rows):
    """What a wrench fixed in the world and the drag do when the root turns or speeds up."""
    G = slopes.G
    drag, turn = tree.field[LINEAR_DRAG], tree.field[ANGULAR_DRAG]
    tx, ty, tz = root[WRENCH], root[WRENCH + 1], root[WRENCH + 2]
    fx, fy, fz = root[WRENCH + 3], root[WRENCH + 4], root[WRENCH + 5]
    tx, ty, tz = tx + turn * root[RATE], ty + turn * root[RATE + 1], tz + turn * root[RATE + 2]
    for m in range(n_rows):
        g = slopes.rows[m]
        for k in range(3):
            if g >= 6:
                continue
            e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
            if g < 3:
                G[m, ATTITUDE + k] -= cross(tx, ty, tz, e[0], e[1], e[2])[g]
                G[m, TURN + k] += turn * e[g]
            else:
                G[m, ATTITUDE + k] -= cross(fx, fy, fz, e[0], e[1], e[2])[g - 3]
                G[m, VELOCITY + k] += drag * world_axis(root, k)[g - 3]


@inline
def joint_columns(tree, par, w, slopes, n_rows, position, j):
    """Columns for position and rate of the free joint of link j."""
    n_free = (slopes.G.shape[1] - COORDINATES) // 2
    S6 = six(w.L, j, S)
    carried, swung = carried_along(w.L, tree.links[j, 0], S6), force_swing(tree, w, j, S6)
    for order in range(2):
        column, dq, du = COORDINATES + position + order * n_free, 1.0 - order, 1.0 * order
        add_motion(
            tree, par, w, slopes, n_rows, slopes.G, column, j, False, S6, carried, swung, dq, du,
            0.0,
        )  # fmt: skip


@inline
def add_motion(
    tree, par, w, slopes, n_rows, G, column, j, is_beyond, S6, carried, swung, dq, du, da
):  # fmt: skip
    """`add_column` of link j moving by dq along S, its rate by du, its acceleration by da.

    carried, swung: of `carried_along` and `force_swing`.
    """
    s1, s2 = carried
    swing, u, r = swung
    s = (s1[0] * dq + S6[0] * du, s1[1] * dq + S6[1] * du, s1[2] * dq + S6[2] * du)
    twice = 2.0 * du
    a = (
        s2[0] * dq + s1[0] * twice + S6[0] * da,
        s2[1] * dq + s1[1] * twice + S6[1] * da,
        s2[2] * dq + s1[2] * twice + S6[2] * da,
        s2[3] * dq + s1[3] * twice + S6[3] * da,
        s2[4] * dq + s1[4] * twice + S6[4] * da,
        s2[5] * dq + s1[5] * twice + S6[5] * da,
    )
    u, r = (u[0] * dq, u[1] * dq, u[2] * dq), (r[0] * dq, r[1] * dq, r[2] * dq)
    swing = (
        swing[0] * dq, swing[1] * dq, swing[2] * dq, swing[3] * dq, swing[4] * dq, swing[5] * dq,
    )  # fmt: skip
    add_column(tree, par, w, slopes, n_rows, G, column, j, is_beyond, s, a, u, r, swing)


@inline
def carried_along(L, p, S6):
    """s1 = v x S and s2 = a x S + v x s1 of a joint motion S on link p."""
    ax, ay, az, bx, by, bz = S6
    wx, wy, wz, vx, vy, vz = six(L, p, V)
    s = motion_cross(wx, wy, wz, vx, vy, vz, ax, ay, az, bx, by, bz)
    c = motion_cross(wx, wy, wz, vx, vy, vz, s[0], s[1], s[2], s[3], s[4], s[5])
    wx, wy, wz, vx, vy, vz = six(L, p, A)
    d = motion_cross(wx, wy, wz, vx, vy, vz, ax, ay, az, bx, by, bz)
    return s, (c[0] + d[0], c[1] + d[1], c[2] + d[2], c[3] + d[3], c[4] + d[4], c[5] + d[5])


@inline
def force_swing(tree, w, j, S6):
    """How the force on link j swings round with a motion S, and how the field turns against it."""
    ax, ay, az, bx, by, bz = S6
    x, y, z, fx, fy, fz = six(w.L, j, F)
    ux, uy, uz = cross(ax, ay, az, x, y, z)
    gx, gy, gz = cross(bx, by, bz, fx, fy, fz)
    hx, hy, hz = cross(ax, ay, az, fx, fy, fz)
    swing = (ux + gx, uy + gy, uz + gz, hx, hy, hz)
    root = w.root
    u = r = (0.0, 0.0, 0.0)
    if tree.field[HAS_GRAVITY] != 0.0:
        ux, uy, uz = cross(root[FIELD_U], root[FIELD_U + 1], root[FIELD_U + 2], ax, ay, az)
        gx, gy, gz = gradient(tree, root, (bx, by, bz))
        u = (ux + gx, uy + gy, uz + gz)
        r = cross(root[FIELD_R], root[FIELD_R + 1], root[FIELD_R + 2], ax, ay, az)
    return swing, u, r


@inline
def motion_cross(wx, wy, wz, vx, vy, vz, ax, ay, az, bx, by, bz):
    """(w, v) x (a, b): how a motion carried along by another changes."""
    x, y, z = cross(wx, wy, wz, ax, ay, az)
    px, py, pz = cross(wx, wy, wz, bx, by, bz)
    qx, qy, qz = cross(vx, vy, vz, ax, ay, az)
    return x, y, z, px + qx, py + qy, pz + qz


@inline
def rotor_column(tree, par, w, slopes, n_rows, position, r):
    """Column for the rate of a free rotor: its gyroscopic couple on carrier and inboard joints."""
    L, G = w.L, slopes.G
    n_free = (G.shape[1] - COORDINATES) // 2
    p = tree.rotor_link[r]
    x, y, z = rotate(L, p, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
    gx, gy, gz = cross(L[p, V], L[p, V + 1], L[p, V + 2], x, y, z)
    NJ = tree.rotors[r, 3] * par.rotor[r]
    column = COORDINATES + n_free + position
    for m in range(n_rows):
        g = slopes.rows[m]
        if g < 3:
            G[m, column] += NJ * (gx, gy, gz)[g]
        elif 6 <= g < 5 + L.shape[0] and is_on_the_way(tree, p, g - 5):
            G[m, column] += NJ * power(L, g - 5, gx, gy, gz, 0.0, 0.0, 0.0)


@inline
def add_spring_slope(slopes, n_rows, a, b, stiffness, damping):
    """A restoring force stiffness (q_a - q_b) + damping (dq_a - dq_b) into the slopes."""
    n_free = (slopes.G.shape[1] - COORDINATES) // 2
    for m in range(n_rows):
        c = slopes.rows[m] - 6
        if c != a and (c != b or b < 0):
            continue
        sign = 1.0 if c == a else -1.0
        for end in range(2):
            k = slopes.free_at[a] if end == 0 else (slopes.free_at[b] if b >= 0 else -1)
            if k >= 0:
                both = sign if end == 0 else -sign
                slopes.G[m, COORDINATES + k] += both * stiffness
                slopes.G[m, COORDINATES + n_free + k] += both * damping


@inline
def slopes_of_motion(tree, par, w, slopes, n_rows):
    """G: change of the force residual (inverse dynamics minus applied) per change of state.

    Row m belongs to generalised force slopes.rows[m]; springs are not in it yet. Needs the true
    accelerations in w (`forward_dynamics` leaves them there).
    """
    forces_and_slopes(tree, par, w, slopes.D)
    for m in range(n_rows):
        for k in range(slopes.G.shape[1]):
            slopes.G[m, k] = 0.0
    root_columns(tree, par, w, slopes, n_rows)
    n_joints = tree.links.shape[0] - 1
    for c in range(slopes.free_at.shape[0]):
        if slopes.free_at[c] >= 0:
            if c < n_joints:
                joint_columns(tree, par, w, slopes, n_rows, slopes.free_at[c], c + 1)
            else:
                rotor_column(tree, par, w, slopes, n_rows, slopes.free_at[c], c - n_joints)
