"""Impulse and angular impulse of thrust and commanded wrench over an interval between samples.

They come from the moments of `input_moments` and from how the root moved, with a bound of their
error. Thrusters act in the axes of the root, which turn, and at a point that moves. Both run as
cubics with the slopes of both ends, which gyro and velocity give; polynomials through the last four
samples say the same with another error, and the difference of the two tells how large that is.
"""

from __future__ import annotations

from freefloat.dynamics.kernels.spatial import cross
from freefloat.numba_.compilation import inline

# theory: of two rules of fourth order with errors of 1/720 and -19/720 of the same derivative (a
# cubic with the slopes of both ends, one through the last four samples), the first is off by so
# much of their difference (Milne's device)
MILNE = 1.0 / 20.0


@inline
def to_world_axes(R, x, y, z):
    """A vector in root axes, in world axes; R (9): the axes, row by row."""
    return (
        R[0] * x + R[1] * y + R[2] * z,
        R[3] * x + R[4] * y + R[5] * z,
        R[6] * x + R[7] * y + R[8] * z,
    )


@inline
def cubic_moment(moments, power, h, a, da, b, db):
    """The integral of a level times s^power times a cubic from a to b in h, with slopes da and db.

    moments: integrals of the level times s^0, s^1, ...
    """
    mean = (b - a) / h
    second, third = (3.0 * mean - 2.0 * da - db) / h, (da + db - 2.0 * mean) / (h * h)
    total = a * moments[power] + da * moments[power + 1]
    return total + second * moments[power + 2] + third * moments[power + 3]


@inline
def add_impulse(thruster, moments, m, k, first, h):
    """The impulse of a thruster whose level has these moments, and its lag.

    Its direction turns with the root: a cubic with the rates of both ends; k.other_impulse (6) has
    what polynomials through the last samples say.
    """
    fx, fy, fz = thruster[3], thruster[4], thruster[5]
    w0, w1, R0, R1 = m.rate, k.sample, k.axes[2], k.axes[3]
    ax, ay, az = to_world_axes(R0, fx, fy, fz)
    bx, by, bz = to_world_axes(R1, fx, fy, fz)
    x, y, z = cross(w0[0], w0[1], w0[2], fx, fy, fz)
    px, py, pz = to_world_axes(R0, x, y, z)
    x, y, z = cross(w1[0], w1[1], w1[2], fx, fy, fz)
    qx, qy, qz = to_world_axes(R1, x, y, z)
    k.gain[3] += cubic_moment(moments, 0, h, ax, px, bx, qx)
    k.gain[4] += cubic_moment(moments, 0, h, ay, py, by, qy)
    k.gain[5] += cubic_moment(moments, 0, h, az, pz, bz, qz)
    k.lag[0] += cubic_moment(moments, 1, h, ax, px, bx, qx)
    k.lag[1] += cubic_moment(moments, 1, h, ay, py, by, qy)
    k.lag[2] += cubic_moment(moments, 1, h, az, pz, bz, qz)
    for j in range(first, 4):
        c = k.coefficients[j]
        part = c[0] * moments[0] + c[1] * moments[1] + c[2] * moments[2] + c[3] * moments[3]
        x, y, z = to_world_axes(k.axes[j], fx, fy, fz)
        k.other_impulse[0], k.other_impulse[1] = (
            k.other_impulse[0] + part * x,
            k.other_impulse[1] + part * y,
        )
        k.other_impulse[2] += part * z


@inline
def add_angular_impulse(thruster, moments, m, k, first, h):
    """The angular impulse of a thruster about where the root was, by both rules (`add_impulse`)."""
    tx, ty, tz = thruster[0], thruster[1], thruster[2]
    fx, fy, fz = thruster[3], thruster[4], thruster[5]
    w0, w1, R0, R1 = m.rate, k.sample, k.axes[2], k.axes[3]
    v0, v1, d = m.velocity, k.velocities[3], k.gain
    ax, ay, az = to_world_axes(R0, tx, ty, tz)
    x, y, z = cross(w0[0], w0[1], w0[2], tx, ty, tz)
    px, py, pz = to_world_axes(R0, x, y, z)
    gx, gy, gz = to_world_axes(R0, fx, fy, fz)
    x, y, z = cross(v0[0], v0[1], v0[2], gx, gy, gz)
    px, py, pz = px + x, py + y, pz + z
    bx, by, bz = to_world_axes(R1, tx, ty, tz)
    gx, gy, gz = to_world_axes(R1, fx, fy, fz)
    x, y, z = cross(d[0], d[1], d[2], gx, gy, gz)
    bx, by, bz = bx + x, by + y, bz + z
    qx, qy, qz = cross(v1[0], v1[1], v1[2], gx, gy, gz)
    x, y, z = cross(w1[0], w1[1], w1[2], tx, ty, tz)
    x, y, z = to_world_axes(R1, x, y, z)
    qx, qy, qz = qx + x, qy + y, qz + z
    x, y, z = cross(w1[0], w1[1], w1[2], fx, fy, fz)
    gx, gy, gz = to_world_axes(R1, x, y, z)
    x, y, z = cross(d[0], d[1], d[2], gx, gy, gz)
    qx, qy, qz = qx + x, qy + y, qz + z
    k.gain[6] += cubic_moment(moments, 0, h, ax, px, bx, qx)
    k.gain[7] += cubic_moment(moments, 0, h, ay, py, by, qy)
    k.gain[8] += cubic_moment(moments, 0, h, az, pz, bz, qz)
    for j in range(first, 4):
        c, p = k.coefficients[j], k.positions[j]
        part = c[0] * moments[0] + c[1] * moments[1] + c[2] * moments[2] + c[3] * moments[3]
        gx, gy, gz = to_world_axes(k.axes[j], fx, fy, fz)
        x, y, z = to_world_axes(k.axes[j], tx, ty, tz)
        gx, gy, gz = cross(p[0], p[1], p[2], gx, gy, gz)
        k.other_impulse[3], k.other_impulse[4] = (
            k.other_impulse[3] + part * (x + gx),
            k.other_impulse[4] + part * (y + gy),
        )
        k.other_impulse[5] += part * (z + gz)


@inline
def correct_impulse(k, axis):
    """Take the difference of two rules off an impulse, and count it as its error as well.

    What is left after that is smaller by a power of the step: so errors of neighbouring intervals,
    which are alike, do not add up beyond what is counted.
    """
    more = MILNE * (k.other_impulse[axis] - k.gain[3 + axis])
    k.gain[3 + axis] += more
    k.impulse_variance[axis] += more * more


@inline
def add_wrench_impulse(moments, k):
    """The impulse of the commanded wrench, and its lag."""
    for axis in range(3):
        k.gain[3 + axis] += moments[3 + axis, 0]
        k.lag[axis] += moments[3 + axis, 1]


@inline
def add_wrench_lever(moments, k, h):
    """The angular impulse of the commanded force, which acts where the root is.

    On its way the root has the velocities of both ends: a cubic, 19 times closer than the one
    through the last four positions.
    """
    a, b, v, w = 1.0 / h, 1.0 / (h * h), k.velocities[2], k.velocities[3]
    for i in range(1, 4):
        fx, fy, fz = moments[3, i], moments[4, i], moments[5, i]
        if fx == 0.0 and fy == 0.0 and fz == 0.0:
            continue
        for axis in range(3):
            way = 3.0 * b * k.gain[axis] - a * (2.0 * v[axis] + w[axis])
            if i == 3:
                way = b * (v[axis] + w[axis]) - 2.0 * a * b * k.gain[axis]
            k.small_turn[axis] = v[axis] if i == 1 else way
        ax, ay, az = cross(k.small_turn[0], k.small_turn[1], k.small_turn[2], fx, fy, fz)
        k.gain[6], k.gain[7], k.gain[8] = k.gain[6] + ax, k.gain[7] + ay, k.gain[8] + az
