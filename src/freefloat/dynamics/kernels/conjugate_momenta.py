"""Conjugate momenta dT/d(dq) and the slopes dT/dq, written as matrices times the parameters.

With h the momentum of everything beyond joint j, S its joint motion and V the motion of the link
before it, dT/d(dq) = S . h and dT/dq = (V x S) . h: to turn the joint is to turn everything beyond
it, while what comes before stays.
"""

from __future__ import annotations

from freefloat.dynamics.kernels.newton_euler import DQ, move_links, place_links
from freefloat.dynamics.kernels.regressor import momentum_columns
from freefloat.dynamics.kernels.spatial import (
    F,
    S,
    V,
    cross,
    momentum_of,
    place_inertia,
    power,
    rotate,
    six,
)
from freefloat.numba_.compilation import inline, kernel


@inline
def turned_motion(tree, L, j, ux, uy, uz):
    """V x S of joint j: how its motion turns with the link before it; (ux, uy, uz): the root's."""
    ax, ay, az, bx, by, bz = six(L, j, S)
    wx, wy, wz, vx, vy, vz = six(L, tree.links[j, 0], V)
    dx, dy, dz = cross(wx, wy, wz, ax, ay, az)
    ex, ey, ez = cross(wx, wy, wz, bx, by, bz)
    gx, gy, gz = cross(vx + ux, vy + uy, vz + uz, ax, ay, az)
    return dx, dy, dz, ex + gx, ey + gy, ez + gz


@inline
def spread_momentum(tree, L, i, ux, uy, uz, momenta, slopes, first, n_columns):
    """Joint rows of columns whose root rows are filled: all joints from link i to the root."""
    j = i
    while j > 0:
        ax, ay, az, bx, by, bz = six(L, j, S)
        dx, dy, dz, ex, ey, ez = turned_motion(tree, L, j, ux, uy, uz)
        for k in range(first, first + n_columns):
            lx, ly, lz = momenta[0, k], momenta[1, k], momenta[2, k]
            px, py, pz = momenta[3, k], momenta[4, k], momenta[5, k]
            turn = ax * lx + ay * ly + az * lz
            momenta[5 + j, k] = turn + bx * px + by * py + bz * pz
            turn = dx * lx + dy * ly + dz * lz
            slopes[j - 1, k] = turn + ex * px + ey * py + ez * pz
        j = tree.links[j, 0]


@inline
def spin_columns(tree, w, ux, uy, uz, momenta, slopes):
    """One column a rotor: its spin's share of every momentum, and its own."""
    L = w.L
    n = L.shape[0]
    for r in range(tree.rotor_link.shape[0]):
        i, N, k = tree.rotor_link[r], tree.rotors[r, 3], 10 * n + r
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        spin = N * w.U[n - 1 + r, DQ]
        momenta[0, k], momenta[1, k], momenta[2, k] = spin * x, spin * y, spin * z
        spread_momentum(tree, L, i, ux, uy, uz, momenta, slopes, k, 1)
        along = x * L[i, V] + y * L[i, V + 1] + z * L[i, V + 2]
        momenta[5 + n + r, k] = N * (spin + along)


@inline
def set_motion(tree, w, rates, coordinates, s):
    """Place and move the links as sample s says."""
    for k in range(3):
        w.root[k] = rates[s, k]
    for c in range(w.U.shape[0]):
        for k in range(3):
            w.U[c, k] = coordinates[s, c, k]
    place_links(tree, w)
    move_links(tree, w)


@kernel
def conjugate_regressor(tree, w, rates, velocities, coordinates, momenta, slopes, energies):
    """momenta (N, 6 + c, columns) of the root (angular, linear; root axes) and every coordinate.

    slopes (N, c, columns): dT/dq; energies (N, columns): T; velocities (N, 3) of the root in root
    axes. All must come in filled with zeros.
    """
    for s in range(rates.shape[0]):
        set_motion(tree, w, rates, coordinates, s)
        ux, uy, uz = velocities[s, 0], velocities[s, 1], velocities[s, 2]
        for i in range(w.L.shape[0]):
            momentum_columns(w.L, i, ux, uy, uz, momenta[s], energies[s])
            spread_momentum(tree, w.L, i, ux, uy, uz, momenta[s], slopes[s], 10 * i, 10)
        spin_columns(tree, w, ux, uy, uz, momenta[s], slopes[s])


@inline
def outboard_momenta(tree, par, w, ux, uy, uz, momenta):
    """Momentum of everything beyond each joint into w.L, and of the rotors into their own rows."""
    L = w.L
    n = L.shape[0]
    for i in range(n):
        place_inertia(L, i, par.phi)
        wx, wy, wz, vx, vy, vz = six(L, i, V)
        lx, ly, lz, px, py, pz = momentum_of(L, i, wx, wy, wz, vx + ux, vy + uy, vz + uz)
        L[i, F], L[i, F + 1], L[i, F + 2] = lx, ly, lz
        L[i, F + 3], L[i, F + 4], L[i, F + 5] = px, py, pz
    for r in range(tree.rotor_link.shape[0]):
        i, N, J = tree.rotor_link[r], tree.rotors[r, 3], par.rotor[r]
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        spin = N * w.U[n - 1 + r, DQ]
        L[i, F] += J * spin * x
        L[i, F + 1] += J * spin * y
        L[i, F + 2] += J * spin * z
        along = x * L[i, V] + y * L[i, V + 1] + z * L[i, V + 2]
        momenta[5 + n + r] = N * J * (spin + along)
    for i in range(n - 1, 0, -1):
        for k in range(F, F + 6):
            L[tree.links[i, 0], k] += L[i, k]


@kernel
def conjugate_momenta(tree, par, w, rates, velocities, coordinates, momenta, slopes):
    """momenta (N, 6 + c) and slopes dT/dq (N, c) of a system; see `conjugate_regressor`."""
    L = w.L
    for s in range(rates.shape[0]):
        set_motion(tree, w, rates, coordinates, s)
        ux, uy, uz = velocities[s, 0], velocities[s, 1], velocities[s, 2]
        outboard_momenta(tree, par, w, ux, uy, uz, momenta[s])
        for k in range(6):
            momenta[s, k] = L[0, F + k]
        for j in range(1, L.shape[0]):
            lx, ly, lz, px, py, pz = six(L, j, F)
            momenta[s, 5 + j] = power(L, j, lx, ly, lz, px, py, pz)
            dx, dy, dz, ex, ey, ez = turned_motion(tree, L, j, ux, uy, uz)
            turn = dx * lx + dy * ly + dz * lz
            slopes[s, j - 1] = turn + ex * px + ey * py + ez * pz
