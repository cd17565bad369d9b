"""Momentum of one sample: its columns for the unknowns, and how every sensor's error moves it.

A sample is a vector: rate (3, root axes), attitude (4; x, y, z, w), velocity (3, world axes), q,
dq. Momenta come out in world axes: linear first, then angular about the root's origin. Sources of
error are numbered rate (3), attitude (3, small turns about root axes), velocity (3), q, dq.

The probe is the sample with every reading moved by its standard deviation, up or down by chance:
what it does to the columns is what noise does, in the mean.
"""

from __future__ import annotations

import numpy as np

from freefloat.dynamics.kernels.newton_euler import (
    ATTITUDE,
    DDQ,
    DQ,
    RATE,
    Q,
    move_links,
    place_links,
    root_axes,
)
from freefloat.dynamics.kernels.observe import link_momenta
from freefloat.dynamics.kernels.regressor import momentum_columns
from freefloat.dynamics.kernels.spatial import (
    C,
    F,
    P,
    S,
    V,
    cross,
    momentum_of,
    place_inertia,
    rotate,
    six,
    three,
)
from freefloat.numba_.compilation import inline
from freefloat.online.kernels.codes import N_GATED, N_TAKEN


@inline
def set_sample(tree, w, s):
    """Place and move the links as a sample says; the root's velocity in root axes."""
    n = w.U.shape[0]
    for k in range(3):
        w.root[RATE + k] = s[k]
    for k in range(4):
        w.root[ATTITUDE + k] = s[3 + k]
    for c in range(n):
        w.U[c, Q], w.U[c, DQ], w.U[c, DDQ] = s[10 + c], s[10 + n + c], 0.0
    place_links(tree, w)
    move_links(tree, w)
    a, b, c, d, e, f, g, h, i = root_axes(w.root)
    x, y, z = s[7], s[8], s[9]
    return a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z


@inline
def to_world(root, out, p, lx, ly, lz, px, py, pz):
    """Column p of out: a momentum given in root axes, linear rows first."""
    a, b, c, d, e, f, g, h, i = root_axes(root)
    out[0, p], out[1, p] = a * px + b * py + c * pz, d * px + e * py + f * pz
    out[2, p], out[3, p] = g * px + h * py + i * pz, a * lx + b * ly + c * lz
    out[4, p], out[5, p] = d * lx + e * ly + f * lz, g * lx + h * ly + i * lz


@inline
def sample_columns(problem, w, Y, energy, s, out):
    """out (6, unknowns + 1): momentum for each unknown being one; last, what the model has.

    Returns the root's velocity in root axes, links placed and moving. Scratch: Y (6, 10 links),
    energy (10 links).
    """
    tree, par, n = problem.tree, problem.par, problem.n_unknowns
    ux, uy, uz = set_sample(tree, w, s)
    L, U = w.L, w.U
    for a in range(problem.links.shape[0]):
        momentum_columns(L, problem.links[a], ux, uy, uz, Y, energy)
    n_joints, entry = L.shape[0] - 1, 0
    for p in range(n):
        lx = ly = lz = px = py = pz = 0.0
        while entry < problem.entries.shape[0] and problem.entries[entry, 1] == p:
            place, size = problem.entries[entry, 0], problem.entry_sizes[entry]
            lx, ly, lz = (
                lx + size * Y[0, place],
                ly + size * Y[1, place],
                lz + size * Y[2, place],
            )
            px, py, pz = (
                px + size * Y[3, place],
                py + size * Y[4, place],
                pz + size * Y[5, place],
            )
            entry += 1
        for r in range(tree.rotor_link.shape[0]):
            if problem.rotor_blocks[r, p] == 0.0:
                continue
            size = problem.rotor_blocks[r, p] * tree.rotors[r, 3] * U[n_joints + r, DQ]
            x, y, z = rotate(
                L, tree.rotor_link[r], tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2]
            )
            lx, ly, lz = lx + size * x, ly + size * y, lz + size * z
        to_world(w.root, out, p, lx, ly, lz, px, py, pz)
    m = mx = my = mz = 0.0
    for i in range(L.shape[0]):
        place_inertia(L, i, par.phi)
        m += L[i, C]
        mx, my, mz = mx + L[i, C + 1], my + L[i, C + 2], mz + L[i, C + 3]
    lx, ly, lz, px, py, pz, _ = link_momenta(tree, par, L, U)
    ax, ay, az = cross(mx, my, mz, ux, uy, uz)
    px, py, pz = px + m * ux, py + m * uy, pz + m * uz
    to_world(w.root, out, n, lx + ax, ly + ay, lz + az, px, py, pz)
    return ux, uy, uz


@inline
def first_moment_columns(problem, w, out):
    """out (4, unknowns): first moment about the root, in world axes, and mass, for each being one.

    After `sample_columns` of the same sample.
    """
    L, entry = w.L, 0
    a, b, c, d, e, f, g, h, i = root_axes(w.root)
    for p in range(out.shape[1]):
        m = x = y = z = 0.0
        while entry < problem.entries.shape[0] and problem.entries[entry, 1] == p:
            link, place = divmod(problem.entries[entry, 0], 10)
            size = problem.entry_sizes[entry]
            entry += 1
            if place == 0:
                px, py, pz = three(L, link, P)
                m, x, y, z = m + size, x + size * px, y + size * py, z + size * pz
            elif place <= 3:
                sx, sy, sz = rotate(
                    L, link, size * (place == 1), size * (place == 2), size * (place == 3)
                )
                x, y, z = x + sx, y + sy, z + sz
        out[0, p], out[1, p] = a * x + b * y + c * z, d * x + e * y + f * z
        out[2, p], out[3, p] = g * x + h * y + i * z, m


@inline
def sum_outboard(tree, par, L, U, ux, uy, uz):
    """Inertia (C) and momentum (F) of everything outboard of each joint, the link included.

    Links move with the root's velocity (ux, uy, uz) added; rotors add their spin.
    """
    n = L.shape[0]
    for i in range(n):
        place_inertia(L, i, par.phi)
        wx, wy, wz = three(L, i, V)
        x, y, z, fx, fy, fz = momentum_of(
            L, i, wx, wy, wz, L[i, V + 3] + ux, L[i, V + 4] + uy, L[i, V + 5] + uz
        )
        L[i, F], L[i, F + 1], L[i, F + 2] = x, y, z
        L[i, F + 3], L[i, F + 4], L[i, F + 5] = fx, fy, fz
    for r in range(tree.rotor_link.shape[0]):
        i = tree.rotor_link[r]
        spin = par.rotor[r] * tree.rotors[r, 3] * U[n - 1 + r, DQ]
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        L[i, F], L[i, F + 1], L[i, F + 2] = (
            L[i, F] + spin * x,
            L[i, F + 1] + spin * y,
            L[i, F + 2] + spin * z,
        )
    for back in range(n - 1):
        i = n - 1 - back
        j = tree.links[i, 0]
        for k in range(10):
            L[j, C + k] += L[i, C + k]
        for k in range(6):
            L[j, F + k] += L[i, F + k]


@inline
def joint_slope(L, i, ux, uy, uz, j):
    """How the momentum changes when joint i moves by one: its outboard part turns along.

    The velocities that the outboard part has from inboard (link j) do not turn with it.
    """
    ax, ay, az, bx, by, bz = six(L, i, S)
    x, y, z, fx, fy, fz = six(L, i, F)
    wx, wy, wz = three(L, j, V)
    vx, vy, vz = L[j, V + 3] + ux, L[j, V + 4] + uy, L[j, V + 5] + uz
    tx, ty, tz = cross(ax, ay, az, x, y, z)
    sx, sy, sz = cross(bx, by, bz, fx, fy, fz)
    gx, gy, gz = cross(ax, ay, az, fx, fy, fz)
    ex, ey, ez = cross(ax, ay, az, wx, wy, wz)
    hx, hy, hz = cross(ax, ay, az, vx, vy, vz)
    kx, ky, kz = cross(bx, by, bz, wx, wy, wz)
    x, y, z, fx, fy, fz = momentum_of(L, i, ex, ey, ez, hx + kx, hy + ky, hz + kz)
    return tx + sx - x, ty + sy - y, tz + sz - z, gx - fx, gy - fy, gz - fz


@inline
def put_slope(root, out, k, sigma, lx, ly, lz, px, py, pz):
    """Row k of out (sources, 6): a change of momentum in root axes, times sigma, in world axes."""
    a, b, c, d, e, f, g, h, i = root_axes(root)
    out[k, 0] = sigma * (a * px + b * py + c * pz)
    out[k, 1] = sigma * (d * px + e * py + f * pz)
    out[k, 2] = sigma * (g * px + h * py + i * pz)
    out[k, 3] = sigma * (a * lx + b * ly + c * lz)
    out[k, 4] = sigma * (d * lx + e * ly + f * lz)
    out[k, 5] = sigma * (g * lx + h * ly + i * lz)


@inline
def base_slopes(w, sigma, ux, uy, uz, out):
    """Slopes along errors of rate, attitude and velocity, after `sum_outboard`."""
    L, root = w.L, w.root
    x, y, z, fx, fy, fz = six(L, 0, F)
    a, b, c, d, e, f, g, h, i = root_axes(root)
    for k in range(3):
        ex, ey, ez = 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)
        lx, ly, lz, px, py, pz = momentum_of(L, 0, ex, ey, ez, 0.0, 0.0, 0.0)
        put_slope(root, out, k, sigma[k], lx, ly, lz, px, py, pz)
        # a turned root carries its momentum along, but the velocity is known in world axes
        tx, ty, tz = cross(ex, ey, ez, ux, uy, uz)
        lx, ly, lz, px, py, pz = momentum_of(L, 0, 0.0, 0.0, 0.0, -tx, -ty, -tz)
        tx, ty, tz = cross(ex, ey, ez, x, y, z)
        lx, ly, lz = lx + tx, ly + ty, lz + tz
        tx, ty, tz = cross(ex, ey, ez, fx, fy, fz)
        put_slope(root, out, 3 + k, sigma[3 + k], lx, ly, lz, px + tx, py + ty, pz + tz)
    for k in range(3):
        tx, ty, tz = (a, b, c) if k == 0 else ((d, e, f) if k == 1 else (g, h, i))
        lx, ly, lz, px, py, pz = momentum_of(L, 0, 0.0, 0.0, 0.0, tx, ty, tz)
        put_slope(root, out, 6 + k, sigma[6 + k], lx, ly, lz, px, py, pz)


@inline
def momentum_slopes(tree, par, w, sigma, ux, uy, uz, out):
    """out (sources, 6): the change of momentum by one standard deviation of every source.

    After `sample_columns` of the same sample, which gives the root's velocity in root axes. The
    whole momentum stays in the root's row of the link table (F), in root axes.
    """
    L, U = w.L, w.U
    sum_outboard(tree, par, L, U, ux, uy, uz)
    base_slopes(w, sigma, ux, uy, uz, out)
    n, c = L.shape[0], U.shape[0]
    for i in range(1, n):
        x, y, z, fx, fy, fz = joint_slope(L, i, ux, uy, uz, tree.links[i, 0])
        put_slope(w.root, out, 8 + i, sigma[8 + i], x, y, z, fx, fy, fz)
        ax, ay, az, bx, by, bz = six(L, i, S)
        x, y, z, fx, fy, fz = momentum_of(L, i, ax, ay, az, bx, by, bz)
        put_slope(w.root, out, 8 + c + i, sigma[8 + c + i], x, y, z, fx, fy, fz)
    for r in range(tree.rotor_link.shape[0]):
        size = par.rotor[r] * tree.rotors[r, 3]
        x, y, z = rotate(
            L, tree.rotor_link[r], tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2]
        )
        k = 9 + c + n - 1 + r
        put_slope(w.root, out, k, sigma[k], size * x, size * y, size * z, 0.0, 0.0, 0.0)
        for m in range(6):
            out[9 + n - 1 + r, m] = 0.0  # the angle of a rotor does not matter


@inline
def signs_of(count):
    """64 fair bits from a counter (the finaliser of splitmix64)."""
    z = np.uint64(count) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def perturb_sample(problem, k, side, bits, more):
    """k.sample = k.original with every source moved by its deviation, up or down as bits say.

    side: 1; 0 leaves it as it is.
    """
    s, o, turn = k.sample, k.original, k.small_turn
    n = k.work.U.shape[0]
    for i in range(9 + 2 * n):
        word = bits if i < 64 else more
        is_up = (word >> np.uint64(i % 64)) & np.uint64(1) == np.uint64(1)
        step = side * problem.probing * (problem.sigma[i] if is_up else -problem.sigma[i])
        if i < 3:
            s[i] = o[i] + step
        elif i < 6:
            turn[i - 3] = 0.5 * step
        else:
            s[i + 1] = o[i + 1] + step
        if 6 <= i < 9 and side > 0.0:
            k.probe_velocity[i - 6] = step
    x, y, z, w = o[3], o[4], o[5], o[6]
    s[3] = x + w * turn[0] + y * turn[2] - z * turn[1]
    s[4] = y + w * turn[1] + z * turn[0] - x * turn[2]
    s[5] = z + w * turn[2] + x * turn[1] - y * turn[0]
    s[6] = w - x * turn[0] - y * turn[1] - z * turn[2]


@inline
def measure_sample(problem, m, k, s):
    """Columns, slopes and probe of a sample, seen from the segment's frame."""
    for i in range(k.original.shape[0]):
        k.original[i] = s[i]
    for axis in range(3):
        k.original[7 + axis] = s[7 + axis] - m.frame_velocity[axis]
    count = m.counts[N_TAKEN] + m.counts[N_GATED]
    bits, more = signs_of(2 * count), signs_of(2 * count + 1)
    x = y = z = 0.0
    for turn in range(2):  # moved, and at last as it is: then the links stand as they do
        perturb_sample(problem, k, 1.0 - turn, bits, more)
        x, y, z = sample_columns(
            problem, k.work, k.regressor, k.energy_row, k.sample, k.column_pair[turn]
        )
    for a in range(6):
        for p in range(k.columns.shape[1]):
            k.probe_columns[a, p] = k.column_pair[0, a, p] - k.column_pair[1, a, p]
            k.columns[a, p] = k.column_pair[1, a, p]
    first_moment_columns(problem, k.work, k.first_moments)
    a, b, c, d, e, f, g, h, i_ = root_axes(k.work.root)
    k.axes[3, 0], k.axes[3, 1], k.axes[3, 2] = a, b, c
    k.axes[3, 3], k.axes[3, 4], k.axes[3, 5] = d, e, f
    k.axes[3, 6], k.axes[3, 7], k.axes[3, 8] = g, h, i_
    momentum_slopes(problem.tree, k.weights, k.work, problem.sigma, x, y, z, k.momentum_errors)
    _, _, _, x, y, z = six(k.work.L, 0, F)
    k.gain[9] = a * x + b * y + c * z
    k.gain[10] = d * x + e * y + f * z
    k.gain[11] = g * x + h * y + i_ * z
