"""What inputs, geometry and surroundings do to the forces when they change, at fixed motion.

A joint that sits or points elsewhere is a joint that has moved a little along a motion of its own,
and so is one whose prescribed motion is another: both change forces as `linearise` says of free
joints. Everything else is a force on a link, or on a coordinate.
"""

from __future__ import annotations

from math import tanh
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.forward import is_on_the_way
from freefloat.dynamics.kernels.integrate import commanded_effort
from freefloat.dynamics.kernels.linearise import (
    add_motion,
    carried_along,
    force_swing,
    world_axis,
)
from freefloat.dynamics.kernels.newton_euler import DDQ, DQ, PUSH, RATE, root_axes
from freefloat.dynamics.kernels.spatial import A, C, P, S, V, cross, power, rotate, six, three
from freefloat.numba_.compilation import inline


class SetupDirections(NamedTuple):
    """What the parameters of a setup do: each entry names a parameter and what it changes."""

    move: np.ndarray  # (entries, 3) parameter, link, 1 where it moves beyond its joint, else 0
    move_change: np.ndarray  # (entries, 6) turn and shift in the axes of what carries it
    thrust: np.ndarray  # (entries, 2) parameter, thruster
    thrust_change: np.ndarray  # (entries, 6) torque, force in the link frame for 1 N
    axis: np.ndarray  # (entries, 2) parameter, rotor
    axis_change: np.ndarray  # (entries, 3) of its axis in the carrier link
    field: np.ndarray  # (entries,) parameter
    field_change: np.ndarray  # (entries, 5) gravity in world axes, linear and angular drag
    given: np.ndarray  # (entries, 2) parameter, place among the prescribed coordinates
    effort: np.ndarray  # (entries, 2) parameter, coordinate
    push: np.ndarray  # (entries, 2) parameter, column of the table of forces


class InputChanges(NamedTuple):
    """By how much inputs change for the entries of `SetupDirections`, tabulated as `Inputs` are."""

    given: np.ndarray  # (rows, 3, entries, 3)
    effort: np.ndarray  # (rows, 3, entries)
    push: np.ndarray  # (rows, 3, entries)


@inline
def add_wrench(tree, L, rows, n_rows, i, f, b, p):
    """b[m, p] += what a torque and force f on link i, in root axes, is to force row m."""
    for m in range(n_rows):
        g = rows[m]
        if g < 6:
            b[m, p] += f[g]
        elif g - 5 < L.shape[0] and is_on_the_way(tree, i, g - 5):
            b[m, p] += power(L, g - 5, f[0], f[1], f[2], f[3], f[4], f[5])


@inline
def setup_forces(tree, par, w, inputs, changes, step, stage, slopes, n_rows, setup, x, b):
    """b[m, p] += change of force row m per unit of parameter p of the setup, at the state x."""
    moving_forces(tree, par, w, changes, step, stage, slopes, n_rows, setup, b)
    pushing_forces(tree, w, changes, step, stage, slopes, n_rows, setup, b)
    axis_forces(tree, par, w, slopes, n_rows, setup, b)
    field_forces(w, slopes, n_rows, setup, x, b)
    for e in range(setup.effort.shape[0]):
        p, c = setup.effort[e, 0], setup.effort[e, 1]
        if abs(commanded_effort(w, inputs, step, stage, c)) < inputs.gains[c, 2]:
            for m in range(tree.free.shape[0]):
                if slopes.rows[m] == 6 + c:
                    b[m, p] -= changes.effort[step, stage, e]


@inline
def moving_forces(tree, par, w, changes, step, stage, slopes, n_rows, setup, b):
    """Joints that sit elsewhere, and coordinates whose prescribed motion is another."""
    L, n_moves = w.L, setup.move.shape[0]
    n_joints = L.shape[0] - 1
    for e in range(n_moves + setup.given.shape[0]):
        dq, du, da = 1.0, 0.0, 0.0
        if e < n_moves:
            p, j, is_beyond = setup.move[e, 0], setup.move[e, 1], setup.move[e, 2] == 1
            carrier = j if is_beyond else tree.links[j, 0]
            S6 = placed_motion(L, carrier, setup.move_change, e)
        else:
            k = e - n_moves
            p, c, is_beyond = setup.given[k, 0], tree.given[setup.given[k, 1]], False
            dq, du, da = three(changes.given[step, stage], k, 0)
            add_spring_forces(tree, par, w, slopes, c, dq, du, b, p)
            if c >= n_joints:
                add_rotor_motion(tree, par, w, slopes, n_rows, c - n_joints, du, da, b, p)
                continue
            j = c + 1
            carrier, S6 = tree.links[j, 0], six(L, j, S)
        carried, swung = carried_along(L, carrier, S6), force_swing(tree, w, j, S6)
        add_motion(tree, par, w, slopes, n_rows, b, p, j, is_beyond, S6, carried, swung, dq, du, da)


@inline
def placed_motion(L, i, change, e):
    """Row e of `change`, a turn and shift in the axes of link i, as a motion in root axes."""
    x, y, z = rotate(L, i, change[e, 0], change[e, 1], change[e, 2])
    vx, vy, vz = rotate(L, i, change[e, 3], change[e, 4], change[e, 5])
    px, py, pz = cross(L[i, P], L[i, P + 1], L[i, P + 2], x, y, z)
    return x, y, z, vx + px, vy + py, vz + pz


@inline
def add_rotor_motion(tree, par, w, slopes, n_rows, r, du, da, b, p):
    """A rotor turns faster by du, its acceleration is larger by da."""
    L, i, N = w.L, tree.rotor_link[r], tree.rotors[r, 3]
    x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
    gx, gy, gz = cross(L[i, V], L[i, V + 1], L[i, V + 2], x, y, z)
    NJ = N * par.rotor[r]
    f = slopes.f
    f[0], f[1], f[2] = NJ * (da * x + du * gx), NJ * (da * y + du * gy), NJ * (da * z + du * gz)
    f[3] = f[4] = f[5] = 0.0
    add_wrench(tree, L, slopes.rows, n_rows, i, f, b, p)
    for m in range(n_rows):
        if slopes.rows[m] == 5 + L.shape[0] + r:
            b[m, p] += N * NJ * da


@inline
def add_spring_forces(tree, par, w, slopes, c, dq, du, b, p):
    """What springs do on the free coordinates at their other ends when coordinate c moves."""
    for s in range(tree.spring_ends.shape[0]):
        first, other = tree.spring_ends[s, 0], tree.spring_ends[s, 1]
        if other < 0 or (first != c and other != c):
            continue
        damping = par.spring[s, 1]
        if tree.friction_speed[s] > 0.0:
            t = tanh((w.U[first, DQ] - w.U[other, DQ]) / tree.friction_speed[s])
            damping += par.spring[s, 3] * (1.0 - t * t) / tree.friction_speed[s]
        end = other if first == c else first
        for m in range(tree.free.shape[0]):
            if slopes.rows[m] == 6 + end:
                b[m, p] -= par.spring[s, 0] * dq + damping * du


@inline
def pushing_forces(tree, w, changes, step, stage, slopes, n_rows, setup, b):
    """Thrusters that sit or point elsewhere, and thrust or wrench of another size."""
    L, T, f, n_moved = w.L, tree.thrusters, slopes.f, setup.thrust.shape[0]
    for e in range(n_moved + setup.push.shape[0]):
        if e < n_moved:
            p, t = setup.thrust[e, 0], setup.thrust[e, 1]
            i, u = tree.thruster_link[t], -w.root[PUSH + t]
            x, y, z, fx, fy, fz = six(setup.thrust_change, e, 0)
        else:
            k = e - n_moved
            p, t = setup.push[k, 0], setup.push[k, 1]
            u = -changes.push[step, stage, k]
            is_wrench = t >= T.shape[0]
            i = 0 if is_wrench else tree.thruster_link[t]
            x, y, z, fx, fy, fz = wrench_axis(w.root, t - T.shape[0])
            if not is_wrench:
                x, y, z, fx, fy, fz = six(T, t, 0)
        if u == 0.0:
            continue
        x, y, z = rotate(L, i, x, y, z)
        fx, fy, fz = rotate(L, i, fx, fy, fz)
        gx, gy, gz = cross(L[i, P], L[i, P + 1], L[i, P + 2], fx, fy, fz)
        f[0], f[1], f[2] = u * (x + gx), u * (y + gy), u * (z + gz)
        f[3], f[4], f[5] = u * fx, u * fy, u * fz
        add_wrench(tree, L, slopes.rows, n_rows, i, f, b, p)


@inline
def in_root_axes(root, x, y, z):
    """A vector in world axes, seen from the root."""
    a, b, c, d, e, f, g, h, i = root_axes(root)
    return a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z


@inline
def wrench_axis(root, k):
    """Torque (k < 3) or force (k < 6) of one along a world axis, in root axes."""
    x, y, z = world_axis(root, k % 3)
    return (x, y, z, 0.0, 0.0, 0.0) if k < 3 else (0.0, 0.0, 0.0, x, y, z)


@inline
def axis_forces(tree, par, w, slopes, n_rows, setup, b):
    """Rotors whose axes point elsewhere."""
    L, U, f = w.L, w.U, slopes.f
    for e in range(setup.axis.shape[0]):
        p, r = setup.axis[e, 0], setup.axis[e, 1]
        i, c, change = tree.rotor_link[r], L.shape[0] - 1 + r, setup.axis_change
        x, y, z = rotate(L, i, change[e, 0], change[e, 1], change[e, 2])
        gx, gy, gz = cross(L[i, V], L[i, V + 1], L[i, V + 2], x, y, z)
        NJ = tree.rotors[r, 3] * par.rotor[r]
        u, a = NJ * U[c, DQ], NJ * U[c, DDQ]
        f[0], f[1], f[2] = a * x + u * gx, a * y + u * gy, a * z + u * gz
        f[3] = f[4] = f[5] = 0.0
        add_wrench(tree, L, slopes.rows, n_rows, i, f, b, p)
        for m in range(n_rows):
            if slopes.rows[m] == 6 + c:
                b[m, p] += NJ * (L[i, A] * x + L[i, A + 1] * y + L[i, A + 2] * z)


@inline
def field_forces(w, slopes, n_rows, setup, x, b):
    """Uniform gravity on everything, and drag on the root, of other sizes."""
    L, root, f, change = w.L, w.root, slopes.f, setup.field_change
    for e in range(setup.field.shape[0]):
        p, drag, turn = setup.field[e], change[e, 3], change[e, 4]
        ux, uy, uz = in_root_axes(root, change[e, 0], change[e, 1], change[e, 2])
        f[0], f[1], f[2] = turn * root[RATE], turn * root[RATE + 1], turn * root[RATE + 2]
        f[3], f[4], f[5] = in_root_axes(root, drag * x[7], drag * x[8], drag * x[9])
        for row in range(n_rows):
            g = slopes.rows[row]
            at = 0 if g < 6 else g - 5
            if at >= L.shape[0]:
                continue
            mass = L[at, C]
            tx, ty, tz = cross(L[at, C + 1], L[at, C + 2], L[at, C + 3], ux, uy, uz)
            if g >= 6:
                b[row, p] -= power(L, at, tx, ty, tz, mass * ux, mass * uy, mass * uz)
            elif g < 3:
                b[row, p] += f[g] - (tx if g == 0 else (ty if g == 1 else tz))
            else:
                b[row, p] += f[g] - mass * (ux if g == 3 else (uy if g == 4 else uz))
