"""From forces to accelerations, with any mix of prescribed and free coordinates.

H_ff a_f = (applied - bias)_f: the bias is Newton-Euler with the free accelerations at zero, so
prescribed accelerations are in it already; the mass matrix is needed for the free ones only.
"""

from __future__ import annotations

from math import tanh

from freefloat.dynamics.kernels.newton_euler import (
    ACCELERATION,
    DDQ,
    DQ,
    EFFORT,
    RATE,
    WRENCH,
    Q,
    joint_force,
    newton_euler,
    root_axes,
)
from freefloat.dynamics.kernels.spatial import (
    ANGULAR_DRAG,
    LINEAR_DRAG,
    C,
    F,
    S,
    momentum_of,
    power,
    rotate,
    six,
)
from freefloat.numba_.compilation import inline


@inline
def add_springs(tree, par, U):
    """Stiffness, damping and friction, added to the efforts."""
    for s in range(tree.spring_ends.shape[0]):
        a, b = tree.spring_ends[s, 0], tree.spring_ends[s, 1]
        x, u = U[a, Q], U[a, DQ]
        if b >= 0:
            x, u = x - U[b, Q], u - U[b, DQ]
        force = -par.spring[s, 0] * (x - par.spring[s, 2]) - par.spring[s, 1] * u
        if tree.friction_speed[s] > 0.0:
            force -= par.spring[s, 3] * tanh(u / tree.friction_speed[s])
        U[a, EFFORT] += force
        if b >= 0:
            U[b, EFFORT] -= force


@inline
def free_force(tree, par, L, g):
    """Force on the carrier of free acceleration g >= 6 when it is one and all others zero."""
    n_joints = tree.links.shape[0] - 1
    if g - 6 < n_joints:
        ax, ay, az, bx, by, bz = six(L, g - 5, S)
        return momentum_of(L, g - 5, ax, ay, az, bx, by, bz)
    r = g - 6 - n_joints
    NJ = tree.rotors[r, 3] * par.rotor[r]
    x, y, z = rotate(L, tree.rotor_link[r], tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
    return NJ * x, NJ * y, NJ * z, 0.0 * NJ, 0.0 * NJ, 0.0 * NJ


@inline
def carrier(tree, g):
    """The first link that carries the force of free acceleration g >= 6."""
    n_joints = tree.links.shape[0] - 1
    return g - 5 if g - 6 < n_joints else tree.rotor_link[g - 6 - n_joints]


@inline
def is_on_the_way(tree, link, joint):
    """Whether the joint of link `joint` lies between `link` and the root."""
    while link > joint:
        link = tree.links[link, 0]
    return link == joint


@inline
def root_entry(L, row, column):
    """Entry (row >= column) of the 6x6 inertia of the whole system about the root's origin."""
    if row < 3:
        if row == 2:
            return L[0, C + 6] if column == 0 else (L[0, C + 8] if column == 1 else L[0, C + 9])
        return L[0, C + 4 + row] if column == 0 else L[0, C + 7]
    if column >= 3:
        return L[0, C] if row == column else 0.0 * L[0, C]
    # linear row, angular column: the momentum w x (m c) for w along `column`
    if row - 3 == column:
        return 0.0 * L[0, C]
    other = 3 - (row - 3) - column
    sign = 1.0 if (row - 3 - column) % 3 == 2 else -1.0
    return sign * L[0, C + 1 + other]


@inline
def mass_matrix(tree, par, w):
    """The lower triangle of H_ff into w.H, from the outboard inertias `newton_euler` leaves."""
    L, H, free = w.L, w.H, tree.free
    n_joints = tree.links.shape[0] - 1
    for m in range(free.shape[0]):
        g = free[m]
        if g < 6:
            for k in range(m + 1):
                H[m, k] = root_entry(L, g, free[k])
            continue
        x, y, z, fx, fy, fz = free_force(tree, par, L, g)
        link = carrier(tree, g)
        for k in range(m):
            c = free[k]
            if c < 6:
                if c < 3:
                    H[m, k] = x if c == 0 else (y if c == 1 else z)
                else:
                    H[m, k] = fx if c == 3 else (fy if c == 4 else fz)
            elif c - 6 < n_joints and is_on_the_way(tree, link, c - 5):
                H[m, k] = power(L, c - 5, x, y, z, fx, fy, fz)
            else:
                H[m, k] = 0.0 * x
        if g - 6 < n_joints:
            # the rotor behind a stiff gear; the springs of joints come first
            H[m, m] = power(L, link, x, y, z, fx, fy, fz) + par.spring[g - 6, 4]
        else:
            r = g - 6 - n_joints
            H[m, m] = tree.rotors[r, 3] * tree.rotors[r, 3] * par.rotor[r]


@inline
def factorise(H, above):
    """H = L^T D L in place (lower triangle), from the tips inwards, so that branches stay apart.

    Row k keeps D L and, on the diagonal, 1 / D; above[k] is the next row inboard (Featherstone
    2005, "Efficient factorization of the joint-space inertia matrix for branched trees").
    """
    for k in range(H.shape[0] - 1, -1, -1):
        H[k, k] = 1.0 / H[k, k]
        i = above[k]
        while i >= 0:
            h = H[k, i] * H[k, k]
            for j in range(i + 1):
                H[i, j] -= h * H[k, j]
            i = above[i]


@inline
def solve(H, above, x):
    """Solve in place with the factor of `factorise`."""
    n = H.shape[0]
    for k in range(n - 1, -1, -1):
        scaled = x[k] * H[k, k]
        i = above[k]
        while i >= 0:
            x[i] -= H[k, i] * scaled
            i = above[i]
    for k in range(n):
        total = x[k]
        for i in range(k):
            total -= H[k, i] * x[i]
        x[k] = total * H[k, k]


@inline
def forward_dynamics(tree, par, w):
    """The free accelerations into w.rhs, and into w.U and w.root where they belong.

    Reads positions, rates, prescribed accelerations, efforts (springs included), thrust, wrench
    and field.
    """
    free, U, root = tree.free, w.U, w.root
    for m in range(free.shape[0]):
        if free[m] >= 6:
            U[free[m] - 6, DDQ] = 0.0 * w.rhs[m]
    for k in range(6):
        root[ACCELERATION + k] = 0.0 * root[k]
    newton_euler(tree, par, w)
    for m in range(free.shape[0]):
        g = free[m]
        if g < 6:
            w.rhs[m] = -w.L[0, F + g]
        else:
            w.rhs[m] = U[g - 6, EFFORT] - joint_force(tree, w, g - 6)
    mass_matrix(tree, par, w)
    factorise(w.H, tree.above)
    solve(w.H, tree.above, w.rhs)
    for m in range(free.shape[0]):
        if free[m] < 6:
            root[ACCELERATION + free[m]] = w.rhs[m]
        else:
            U[free[m] - 6, DDQ] = w.rhs[m]


@inline
def set_wrench(tree, root, x, y, z, fx, fy, fz, vx, vy, vz):
    """World torque, force and the drag at velocity v, as a wrench in root axes."""
    a, b, c, d, e, f, g, h, i = root_axes(root)
    drag, turn = tree.field[LINEAR_DRAG], tree.field[ANGULAR_DRAG]
    fx, fy, fz = fx - drag * vx, fy - drag * vy, fz - drag * vz
    root[WRENCH] = a * x + d * y + g * z - turn * root[RATE]
    root[WRENCH + 1] = b * x + e * y + h * z - turn * root[RATE + 1]
    root[WRENCH + 2] = c * x + f * y + i * z - turn * root[RATE + 2]
    root[WRENCH + 3] = a * fx + d * fy + g * fz
    root[WRENCH + 4] = b * fx + e * fy + h * fz
    root[WRENCH + 5] = c * fx + f * fy + i * fz
