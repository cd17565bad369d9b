# pyright: reportCallIssue=false
# (Numba hands an intrinsic its typing context itself)
"""How the trajectory changes with parameters and initial state, integrated beside it.

The tangent T has one column a parameter and the rows: position (3), attitude (3; small rotation
in root axes), velocity (3), rate (3), q and dq of the free coordinates. Its equation is
linear: H da = -(G dx + Y dphi - springs), with the factor of H the simulation has anyway.
Columns are worked on LANES at a time (see `lanes`); the last ones may belong to no parameter.
"""

from __future__ import annotations

from math import tanh
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.forward import free_force, is_on_the_way
from freefloat.dynamics.kernels.integrate import commanded_effort, settle, state_rate
from freefloat.dynamics.kernels.linearise import add_spring_slope, slopes_of_motion
from freefloat.dynamics.kernels.newton_euler import ACCELERATION, DDQ, DQ, RATE, Q, root_axes
from freefloat.dynamics.kernels.regressor import unit_forces
from freefloat.dynamics.kernels.setup_forces import add_wrench, setup_forces
from freefloat.dynamics.kernels.spatial import GRADIENT, A, V, cross, power, rotate
from freefloat.numba_.compilation import inline, kernel
from freefloat.numba_.lanes import as_lanes


class Directions(NamedTuple):
    """What the parameters do: each entry says which number changes by how much per parameter."""

    body: np.ndarray  # (entries, 2) parameter, link
    body_change: np.ndarray  # (entries, 10) change of the link's phi
    spring: np.ndarray  # (entries, 2) parameter, spring
    spring_change: np.ndarray  # (entries, 5) change of stiffness, damping, rest, friction, armature
    rotor: np.ndarray  # (entries, 2) parameter, rotor
    rotor_change: np.ndarray  # (entries,) change of the spin inertia


class Tangent(NamedTuple):
    """The tangent and scratch space of its equation; columns in groups of LANES, filled up."""

    T: np.ndarray  # (states, groups, LANES)
    b: np.ndarray  # (rows, groups, LANES) force residual per parameter, then accelerations
    y: np.ndarray  # (states, groups, LANES) tangent at the stage
    k: np.ndarray  # its rate; zeros at first
    total: np.ndarray
    T_flat: np.ndarray  # (states, columns), the memory of T
    b_flat: np.ndarray  # (rows, columns)


@inline
def parameter_forces(tree, w, slopes, n_rows, directions, b):
    """b[m, p]: change of force row m per unit of parameter p, at fixed motion."""
    L = w.L
    for m in range(n_rows):
        for p in range(b.shape[1]):
            b[m, p] = 0.0
    last = -1
    for e in range(directions.body.shape[0]):
        p, i = directions.body[e, 0], directions.body[e, 1]
        if i != last:
            unit_forces(L, i, w.root, tree.field[GRADIENT], slopes.Y)
            last = i
        f = slopes.f
        product(slopes.Y, directions.body_change, e, f)
        add_wrench(tree, L, slopes.rows, n_rows, i, f, b, p)
    rotor_forces(tree, w, slopes, n_rows, directions, b)
    spring_forces(tree, w, slopes, directions, b)


@inline
def product(Y, change, e, f):
    """f = Y times row e of `change`, six numbers."""
    x = y = z = fx = fy = fz = 0.0
    for k in range(10):
        d = change[e, k]
        if d != 0.0:
            x, y, z = x + Y[0, k] * d, y + Y[1, k] * d, z + Y[2, k] * d
            fx, fy, fz = fx + Y[3, k] * d, fy + Y[4, k] * d, fz + Y[5, k] * d
    f[0], f[1], f[2], f[3], f[4], f[5] = x, y, z, fx, fy, fz


@inline
def rotor_forces(tree, w, slopes, n_rows, directions, b):
    """Entries of parameters that are a rotor's spin inertia."""
    L, U, rows = w.L, w.U, slopes.rows
    n = L.shape[0]
    for e in range(directions.rotor.shape[0]):
        p, r = directions.rotor[e, 0], directions.rotor[e, 1]
        i, N, c = tree.rotor_link[r], tree.rotors[r, 3], n - 1 + r
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        gx, gy, gz = cross(L[i, V], L[i, V + 1], L[i, V + 2], x, y, z)
        J = N * directions.rotor_change[e]
        u, a = J * U[c, DQ], J * U[c, DDQ]
        tx, ty, tz = a * x + u * gx, a * y + u * gy, a * z + u * gz
        for m in range(n_rows):
            g = rows[m]
            if g < 3:
                b[m, p] += (tx, ty, tz)[g]
            elif g == 6 + c:
                spin = L[i, A] * x + L[i, A + 1] * y + L[i, A + 2] * z
                b[m, p] += J * spin + N * a
            elif 6 <= g < 5 + n and is_on_the_way(tree, i, g - 5):
                b[m, p] += power(L, g - 5, tx, ty, tz, 0.0, 0.0, 0.0)


@inline
def spring_forces(tree, w, slopes, directions, b):
    """Entries of parameters that are stiffness, damping, rest, friction or armature."""
    U, rows = w.U, slopes.rows
    for e in range(directions.spring.shape[0]):
        p, s = directions.spring[e, 0], directions.spring[e, 1]
        a, o = tree.spring_ends[s, 0], tree.spring_ends[s, 1]
        x, u = U[a, Q], U[a, DQ]
        if o >= 0:
            x, u = x - U[o, Q], u - U[o, DQ]
        change = directions.spring_change
        # change[e, 2] comes multiplied with the stiffness already
        force = change[e, 0] * x + change[e, 1] * u - change[e, 2] + change[e, 4] * U[a, DDQ]
        if tree.friction_speed[s] > 0.0:
            force += change[e, 3] * tanh(u / tree.friction_speed[s])
        for m in range(tree.free.shape[0]):
            if rows[m] == 6 + a:
                b[m, p] += force
            elif o >= 0 and rows[m] == 6 + o:
                b[m, p] -= force


@inline
def spring_slopes(tree, par, w, inputs, step, stage, slopes):
    """Springs, dampers, friction and feedback gains into the slopes."""
    U, n_free = w.U, tree.free.shape[0]
    for s in range(tree.spring_ends.shape[0]):
        a, o = tree.spring_ends[s, 0], tree.spring_ends[s, 1]
        damping = par.spring[s, 1]
        if tree.friction_speed[s] > 0.0 and par.spring[s, 3] != 0.0:
            u = U[a, DQ] - (U[o, DQ] if o >= 0 else 0.0)
            t = tanh(u / tree.friction_speed[s])
            damping += par.spring[s, 3] * (1.0 - t * t) / tree.friction_speed[s]
        add_spring_slope(slopes, n_free, a, o, par.spring[s, 0], damping)
    for c in range(U.shape[0]):
        kp, kd, limit = inputs.gains[c, 0], inputs.gains[c, 1], inputs.gains[c, 2]
        if (kp != 0.0 or kd != 0.0) and abs(commanded_effort(w, inputs, step, stage, c)) < limit:
            add_spring_slope(slopes, n_free, c, -1, kp, kd)


@inline
def add_state_forces(G, T, b, n_rows):
    """b += G T: what the change of state does to the forces."""
    for m in range(n_rows):
        for k in range(G.shape[1]):
            g = G[m, k]
            if g != 0.0:
                for p in range(b.shape[1]):
                    b[m, p] += g * T[k, p]


@inline
def solve_columns(H, above, b):
    """b := -H^-1 b for the first H.shape[0] rows, all columns at once; see `factorise`."""
    n, columns = H.shape[0], b.shape[1]
    for k in range(n - 1, -1, -1):
        i = above[k]
        while i >= 0:
            h = H[k, i] * H[k, k]
            for p in range(columns):
                b[i, p] -= h * b[k, p]
            i = above[i]
    for k in range(n):
        for p in range(columns):
            total = b[k, p]
            i = above[k]
            while i >= 0:
                total += H[k, i] * b[i, p]
                i = above[i]
            b[k, p] = total * -H[k, k]


@inline
def tangent_rate(tree, w, T, b, k):
    """k = rate of the tangent T, from the acceleration changes b of the free accelerations.

    Rows of rates that are not free stay the zeros they were at first.
    """
    root = w.root
    free = tree.free
    n_free = (T.shape[0] - 12) // 2
    a, c, d, e, f, g, h, i, j = root_axes(root)
    wx, wy, wz = root[RATE], root[RATE + 1], root[RATE + 2]
    ax, ay, az = root[ACCELERATION + 3], root[ACCELERATION + 4], root[ACCELERATION + 5]
    for p in range(T.shape[1]):
        k[0, p], k[1, p], k[2, p] = T[6, p], T[7, p], T[8, p]
        tx, ty, tz = T[3, p], T[4, p], T[5, p]
        k[3, p] = T[9, p] - (wy * tz - wz * ty)
        k[4, p] = T[10, p] - (wz * tx - wx * tz)
        k[5, p] = T[11, p] - (wx * ty - wy * tx)
        # the acceleration turns with the root: d(R a) = R (da + dtheta x a)
        x, y, z = ty * az - tz * ay, tz * ax - tx * az, tx * ay - ty * ax
        k[6, p] = a * x + c * y + d * z
        k[7, p] = e * x + f * y + g * z
        k[8, p] = h * x + i * y + j * z
    for m in range(free.shape[0]):
        if free[m] < 3:
            for p in range(T.shape[1]):
                k[9 + free[m], p] = b[m, p]
        elif free[m] < 6:
            col = free[m] - 3
            ux, uy, uz = (a, c, d)[col], (e, f, g)[col], (h, i, j)[col]
            for p in range(T.shape[1]):
                k[6, p] += ux * b[m, p]
                k[7, p] += uy * b[m, p]
                k[8, p] += uz * b[m, p]
    first = free.shape[0] - n_free
    for m in range(n_free):
        for p in range(T.shape[1]):
            k[12 + m, p] = T[12 + n_free + m, p]
            k[12 + n_free + m, p] = b[first + m, p]


@inline
def tangent_stage(
    tree, par, w, inputs, changes, step, stage, slopes, n_rows, directions, setup, x, T, b, b_flat,
    k,
):  # fmt: skip
    """Accelerations b per parameter at the state x in w, and the rate k of the tangent T."""
    slopes_of_motion(tree, par, w, slopes, n_rows)
    spring_slopes(tree, par, w, inputs, step, stage, slopes)
    parameter_forces(tree, w, slopes, n_rows, directions, b_flat)
    setup_forces(tree, par, w, inputs, changes, step, stage, slopes, n_rows, setup, x, b_flat)
    add_state_forces(slopes.G, T, b, n_rows)
    solve_columns(w.H, tree.above, b)
    tangent_rate(tree, w, T, b, k)


@inline
def record(tree, par, w, x, T, b, states, tangents, efforts, row):
    """State, tangent and the change of accelerations and forces, after `tangent_stage`."""
    free, n, columns = tree.free, w.U.shape[0], tangents.shape[2]
    for i in range(x.shape[0]):
        states[row, i] = x[i]
    for i in range(T.shape[0]):
        for p in range(columns):
            tangents[row, i, p] = T[i, p]
    if efforts.shape[0] == 0:
        return
    for m in range(free.shape[0]):
        for p in range(columns):
            efforts[row, free[m], p] = b[m, p]
    for c in range(n):
        for p in range(columns):
            efforts[row, 6 + n + c, p] = b[free.shape[0] + c, p]
        for m in range(free.shape[0]):
            h = coupling(tree, par, w.L, 6 + c, free[m])
            for p in range(columns):
                efforts[row, 6 + n + c, p] += h * b[m, p]


@inline
def coupling(tree, par, L, g, f):
    """Entry (g, f) of the whole mass matrix, g >= 6, from the outboard inertias."""
    n = L.shape[0]
    if f > g:
        g, f = f, g
    x = free_force(tree, par, L, g)
    link = g - 5 if g - 5 < n else tree.rotor_link[g - 5 - n]
    if f < 6:
        return x[f]
    if f - 5 < n:
        if g == f or is_on_the_way(tree, link, f - 5):
            return power(L, f - 5, x[0], x[1], x[2], x[3], x[4], x[5])
        return 0.0
    if g == f:
        return tree.rotors[g - 5 - n, 3] * tree.rotors[g - 5 - n, 3] * par.rotor[g - 5 - n]
    return 0.0


@kernel
def rk4_tangent(
    tree, par, w, inputs, changes, slopes, directions, setup, looks, look_changes, time, h,
    n_steps, every, x, stages, tangent, states, tangents, efforts,
):  # fmt: skip
    """Integrate state and tangent together, recording both at the start and every `every` steps.

    states (1 + n_steps // every, ...) and tangents likewise; efforts the same or empty: per
    parameter the change of root acceleration (6), ddq (c) and generalised forces (c), zeros where
    an acceleration is prescribed. looks: inputs at every record, for the efforts; where there are
    none (`look_changes` without rows), efforts are those at the start of the step that follows.
    """
    y, k, total = stages.x, stages.k, stages.total
    T, Ty, Tk = as_lanes(tangent.T), as_lanes(tangent.y), as_lanes(tangent.k)
    Tt, b = as_lanes(tangent.total), as_lanes(tangent.b)
    n_free, n_all = tree.free.shape[0], slopes.rows.shape[0]
    has_looks = look_changes.push.shape[0] > 0
    for step in range(n_steps + 1):
        is_last = step == n_steps  # only looked at, not taken
        is_seen = step % every == 0
        begin(y, x)
        begin_table(Ty, T)
        first = -1 if is_seen and has_looks else 0
        for stage in range(first, first + 1 if is_last else 4):
            is_look = stage < 0
            at = 0 if is_look else (2 if is_last else (stage + 1) // 2)
            row = step // every if is_look else (step - 1 if is_last else step)
            moment = time + (step + (0.0 if is_last else 0.5 * at)) * h
            table = looks if is_look else inputs
            change = look_changes if is_look else changes
            # nobody asks for the accelerations after the last step
            if not is_last or efforts.shape[0] > 0:
                state_rate(tree, par, w, table, row, at, moment, y, k)
                n_rows = n_all if is_seen and stage == first and efforts.shape[0] > 0 else n_free
                tangent_stage(
                    tree, par, w, table, change, row, at, slopes, n_rows, directions, setup, y, Ty,
                    b, tangent.b_flat, Tk,
                )  # fmt: skip
            if is_seen and stage == first:
                record(
                    tree, par, w, x, tangent.T_flat, tangent.b_flat, states, tangents, efforts,
                    step // every,
                )  # fmt: skip
            if is_look or is_last:
                continue
            add_stage(total, y, x, k, stage, h)
            add_table_stage(Tt, Ty, T, Tk, stage, h)
        if not is_last:
            settle(tree, inputs, step, x)


@inline
def begin(y, x):
    """y = x."""
    for i in range(x.shape[0]):
        y[i] = x[i]


@inline
def begin_table(y, x):
    """y = x, for tables."""
    for i in range(x.shape[0]):
        begin(y[i], x[i])


@inline
def add_stage(total, y, x, k, stage, h):
    """What the rate k of a stage of RK4 does: y is where the next begins, x the step's end."""
    ahead = h if stage == 2 else 0.5 * h
    for i in range(x.shape[0]):
        if stage == 0:
            total[i] = k[i]
        elif stage < 3:
            total[i] += 2.0 * k[i]
        if stage < 3:
            y[i] = x[i] + ahead * k[i]
        else:
            x[i] += h / 6.0 * (total[i] + k[i])


@inline
def add_table_stage(total, y, x, k, stage, h):
    """The same for tables."""
    for i in range(x.shape[0]):
        add_stage(total[i], y[i], x[i], k[i], stage, h)
