"""The dynamics written as a matrix times the inertial parameters.

Row blocks: root torque and force (root axes, about the root's origin), then one row a coordinate.
Columns: ten for every link (in its own frame), then one for every rotor's spin inertia.
"""

from __future__ import annotations

from freefloat.dynamics.kernels.newton_euler import (
    ACCELERATION,
    DDQ,
    DQ,
    FIELD_R,
    FIELD_U,
    move_links,
    place_links,
)
from freefloat.dynamics.kernels.spatial import (
    GRADIENT,
    A,
    P,
    S,
    V,
    cross,
    rotate,
    rotate_back,
    six,
    three,
)
from freefloat.numba_.compilation import inline, kernel


@inline
def link_motion(L, i, root, n2):
    """Rate, angular acceleration, felt acceleration, velocity and field direction in link axes.

    The felt acceleration is that of the link's origin minus gravity there.
    """
    px, py, pz = three(L, i, P)
    wx, wy, wz = three(L, i, V)
    bx, by, bz = three(L, i, A)
    ax, ay, az = cross(wx, wy, wz, px, py, pz)
    vx, vy, vz = L[i, V + 3] + ax, L[i, V + 4] + ay, L[i, V + 5] + az
    ax, ay, az = cross(bx, by, bz, px, py, pz)
    cx, cy, cz = cross(wx, wy, wz, vx, vy, vz)
    rx, ry, rz = root[FIELD_R], root[FIELD_R + 1], root[FIELD_R + 2]
    along = 3.0 * (rx * px + ry * py + rz * pz)
    gx = L[i, A + 3] + ax + cx - root[FIELD_U] - n2 * (along * rx - px)
    gy = L[i, A + 4] + ay + cy - root[FIELD_U + 1] - n2 * (along * ry - py)
    gz = L[i, A + 5] + az + cz - root[FIELD_U + 2] - n2 * (along * rz - pz)
    return (
        rotate_back(L, i, wx, wy, wz),
        rotate_back(L, i, bx, by, bz),
        rotate_back(L, i, gx, gy, gz),
        rotate_back(L, i, vx, vy, vz),
        rotate_back(L, i, rx, ry, rz),
    )


@inline
def put_force(L, i, Y, k, x, y, z, fx, fy, fz):
    """Column k of Y = a torque and force at link i, given in link axes, moved to the root frame."""
    fx, fy, fz = rotate(L, i, fx, fy, fz)
    x, y, z = rotate(L, i, x, y, z)
    px, py, pz = three(L, i, P)
    ax, ay, az = cross(px, py, pz, fx, fy, fz)
    Y[0, k], Y[1, k], Y[2, k] = x + ax, y + ay, z + az
    Y[3, k], Y[4, k], Y[5, k] = fx, fy, fz


@inline
def put_torque(L, i, Y, k, x, y, z):
    """Like `put_force` for a torque alone."""
    Y[0, k], Y[1, k], Y[2, k] = rotate(L, i, x, y, z)
    Y[3, k] = Y[4, k] = Y[5, k] = 0.0


@inline
def put_push(L, i, Y, k, fx, fy, fz):
    """Like `put_force` for a force alone."""
    fx, fy, fz = rotate(L, i, fx, fy, fz)
    px, py, pz = three(L, i, P)
    Y[0, k], Y[1, k], Y[2, k] = cross(px, py, pz, fx, fy, fz)
    Y[3, k], Y[4, k], Y[5, k] = fx, fy, fz


@inline
def inertia_columns(L, i, Y, w, b, r, n2):
    """Columns 4-9: the torque K b + w x K w - 3 n^2 r x K r of unit inertias K."""
    wx, wy, wz = w
    bx, by, bz = b
    rx, ry, rz = r
    n3 = 3.0 * n2
    xx, yy, zz = wx * wx - n3 * rx * rx, wy * wy - n3 * ry * ry, wz * wz - n3 * rz * rz
    xy, xz, yz = wx * wy - n3 * rx * ry, wx * wz - n3 * rx * rz, wy * wz - n3 * ry * rz
    put_torque(L, i, Y, 4, bx, xz, -xy)
    put_torque(L, i, Y, 5, by - xz, bx + yz, xx - yy)
    put_torque(L, i, Y, 6, bz + xy, zz - xx, bx - yz)
    put_torque(L, i, Y, 7, -yz, by, xy)
    put_torque(L, i, Y, 8, yy - zz, bz - xy, by + xz)
    put_torque(L, i, Y, 9, yz, -xz, bz)


@inline
def unit_forces(L, i, root, n2, Y):
    """Y (6, 10): force on link i for each of its parameters being one, in the root frame."""
    w, b, g, _, r = link_motion(L, i, root, n2)
    wx, wy, wz = w
    bx, by, bz = b
    gx, gy, gz = g
    rx, ry, rz = r
    put_push(L, i, Y, 0, gx, gy, gz)
    # first moment along an axis e: force b x e + w x (w x e) - G e, torque e x g
    ww = wx * wx + wy * wy + wz * wz - n2
    n3 = 3.0 * n2
    xy, xz, yz = wx * wy - n3 * rx * ry, wx * wz - n3 * rx * rz, wy * wz - n3 * ry * rz
    put_force(L, i, Y, 1, 0.0, -gz, gy, wx * wx - ww - n3 * rx * rx, bz + xy, xz - by)
    put_force(L, i, Y, 2, gz, 0.0, -gx, xy - bz, wy * wy - ww - n3 * ry * ry, bx + yz)
    put_force(L, i, Y, 3, -gy, gx, 0.0, by + xz, yz - bx, wz * wz - ww - n3 * rz * rz)
    inertia_columns(L, i, Y, w, b, r, n2)


@inline
def spread(tree, L, i, Y, n_columns, out, first):
    """Copy root rows of Y and add the rows of every joint between link i and the root."""
    for k in range(n_columns):
        for m in range(6):
            out[m, first + k] = Y[m, k]
    j = i
    while j > 0:
        ax, ay, az, bx, by, bz = six(L, j, S)  # in registers, so that the columns vectorise
        for k in range(n_columns):
            turn = ax * Y[0, k] + ay * Y[1, k] + az * Y[2, k]
            out[5 + j, first + k] = turn + bx * Y[3, k] + by * Y[4, k] + bz * Y[5, k]
        j = tree.links[j, 0]


@inline
def rotor_columns(tree, w, Y, out):
    """One column a rotor: the reaction on its carrier and its own driving torque."""
    L, U = w.L, w.U
    n_joints = L.shape[0] - 1
    for r in range(tree.rotor_link.shape[0]):
        i, N, c = tree.rotor_link[r], tree.rotors[r, 3], n_joints + r
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        gx, gy, gz = cross(L[i, V], L[i, V + 1], L[i, V + 2], x, y, z)
        u, b = N * U[c, DQ], N * U[c, DDQ]
        Y[0, 0], Y[1, 0], Y[2, 0] = b * x + u * gx, b * y + u * gy, b * z + u * gz
        Y[3, 0] = Y[4, 0] = Y[5, 0] = 0.0
        column = 10 * L.shape[0] + r
        spread(tree, L, i, Y, 1, out, column)
        out[6 + c, column] = N * (L[i, A] * x + L[i, A + 1] * y + L[i, A + 2] * z + b)


@kernel
def force_regressor(tree, w, Y, rates, accelerations, coordinates, fields, out):
    """out (N, 6 + c, 10 links + rotors): inverse dynamics = out @ parameters.

    rates (N, 3), accelerations (N, 6) of the root (root axes); coordinates (N, c, 3): q, dq, ddq;
    fields (N, 6): gravity u and orbit direction r at the root in root axes, zeros for none.
    `out` must come in filled with zeros.
    """
    for s in range(rates.shape[0]):
        for k in range(3):
            w.root[k] = rates[s, k]
        for k in range(6):
            w.root[ACCELERATION + k] = accelerations[s, k]
            w.root[FIELD_U + k] = fields[s, k]
        for c in range(w.U.shape[0]):
            for k in range(3):
                w.U[c, k] = coordinates[s, c, k]
        place_links(tree, w)
        move_links(tree, w)
        for i in range(w.L.shape[0]):
            unit_forces(w.L, i, w.root, tree.field[GRADIENT], Y)
            spread(tree, w.L, i, Y, 10, out[s], 10 * i)
        rotor_columns(tree, w, Y, out[s])


@kernel
def momentum_regressor(tree, w, rates, velocities, coordinates, momenta, energies):
    """momenta (N, 6, columns): angular momentum about the root's origin, linear momentum.

    In root axes; velocities (N, 3) of the root in root axes; energies (N, columns): kinetic
    energy. Rotor columns give the part linear in their spin inertia J.
    """
    L, U = w.L, w.U
    n = L.shape[0]
    for s in range(rates.shape[0]):
        for k in range(3):
            w.root[k] = rates[s, k]
        for c in range(U.shape[0]):
            for k in range(3):
                U[c, k] = coordinates[s, c, k]
        place_links(tree, w)
        move_links(tree, w)
        ux, uy, uz = velocities[s, 0], velocities[s, 1], velocities[s, 2]
        for i in range(n):
            momentum_columns(L, i, ux, uy, uz, momenta[s], energies[s])
        for r in range(tree.rotor_link.shape[0]):
            i, N, k = tree.rotor_link[r], tree.rotors[r, 3], 10 * n + r
            x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
            spin = N * U[n - 1 + r, DQ]
            along = x * L[i, V] + y * L[i, V + 1] + z * L[i, V + 2]
            momenta[s, 0, k], momenta[s, 1, k], momenta[s, 2, k] = spin * x, spin * y, spin * z
            energies[s, k] = spin * (0.5 * spin + along)


@inline
def momentum_columns(L, i, ux, uy, uz, Y, energy):
    """The ten columns of link i: momentum for unit parameters, and kinetic energy."""
    px, py, pz = three(L, i, P)
    wx, wy, wz = three(L, i, V)
    ax, ay, az = cross(wx, wy, wz, px, py, pz)
    vx, vy, vz = L[i, V + 3] + ax + ux, L[i, V + 4] + ay + uy, L[i, V + 5] + az + uz
    vx, vy, vz = rotate_back(L, i, vx, vy, vz)
    wx, wy, wz = rotate_back(L, i, wx, wy, wz)
    k = 10 * i
    put_push(L, i, Y, k, vx, vy, vz)
    put_force(L, i, Y, k + 1, 0.0, -vz, vy, 0.0, wz, -wy)
    put_force(L, i, Y, k + 2, vz, 0.0, -vx, -wz, 0.0, wx)
    put_force(L, i, Y, k + 3, -vy, vx, 0.0, wy, -wx, 0.0)
    put_torque(L, i, Y, k + 4, wx, 0.0, 0.0)
    put_torque(L, i, Y, k + 5, wy, wx, 0.0)
    put_torque(L, i, Y, k + 6, wz, 0.0, wx)
    put_torque(L, i, Y, k + 7, 0.0, wy, 0.0)
    put_torque(L, i, Y, k + 8, 0.0, wz, wy)
    put_torque(L, i, Y, k + 9, 0.0, 0.0, wz)
    cx, cy, cz = cross(vx, vy, vz, wx, wy, wz)
    energy[k] = 0.5 * (vx * vx + vy * vy + vz * vz)
    energy[k + 1], energy[k + 2], energy[k + 3] = cx, cy, cz
    energy[k + 4], energy[k + 7], energy[k + 9] = 0.5 * wx * wx, 0.5 * wy * wy, 0.5 * wz * wz
    energy[k + 5], energy[k + 6], energy[k + 8] = wx * wy, wx * wz, wy * wz
