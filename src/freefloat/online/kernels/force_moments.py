"""Known forces between samples: moments over time, whatever the rate at which they are told.

A thruster's level is held until it is told anew; a commanded wrench runs smoothly between its
samples (a cubic through the last four). Moments are integrals of level times s^0 ... s^3 (s^4 for
thrusters), with s counted from the last sample that was used, so that products with anything that
moves smoothly (the direction of a thruster, the lever arm of a force) integrate exactly to third
order.
"""

from __future__ import annotations

from freefloat.dynamics.kernels.spatial import cross
from freefloat.numba_.compilation import inlined

# nodes and weights of Gauss-Legendre on [0, 1]: four points integrate a cubic times s^3 exactly
NODES = (0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263)
WEIGHTS = (0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692)


@inlined
def lagrange(times, first, origin, c):
    """c (4, 4): coefficients in s = t - origin of the polynomials through times[first:]."""
    for j in range(first, 4):
        c[j, 0], c[j, 1], c[j, 2], c[j, 3] = 1.0, 0.0, 0.0, 0.0
        sj = times[j] - origin
        for i in range(first, 4):
            if i == j:
                continue
            si = times[i] - origin
            d = 1.0 / (sj - si)
            c[j, 3] = d * (c[j, 2] - si * c[j, 3])
            c[j, 2] = d * (c[j, 1] - si * c[j, 2])
            c[j, 1] = d * (c[j, 0] - si * c[j, 1])
            c[j, 0] = -d * si * c[j, 0]


@inlined
def add_level(moments, level, a, b):
    """A level held from s = a to b."""
    if level != 0.0:
        pa, pb = a, b
        for i in range(5):
            moments[i] += level * (pb - pa) / (i + 1.0)
            pa, pb = pa * a, pb * b


@inlined
def add_wrench(history, first, moments, slip, origin, a, b):
    """The wrench between its last two samples, at s = a and b: a cubic through the last ones.

    history (4, 7): time, torque, force; the newest last, from row `first` on. slip (6): added to by
    what leaving out the oldest of them would change, which bounds the error of the integral.
    """
    oldest = 0.0
    for n in range(4):
        node, weight = NODES[n], WEIGHTS[n]
        s = a + (b - a) * node
        power = weight * (b - a)
        t = origin + s
        for j in range(first, 4):
            part = power
            for i in range(first, 4):
                if i != j:
                    part *= (t - history[i, 0]) / (history[j, 0] - history[i, 0])
            if j == first:
                oldest += part
            size = part
            for k in range(4):
                for axis in range(6):
                    moments[axis, k] += size * history[j, 1 + axis]
                size *= s
    for axis in range(1, 7):
        foretold = 0.0  # the oldest, by the polynomial through the others
        for j in range(first + 1, 4):
            part = history[j, axis]
            for i in range(first + 1, 4):
                if i != j:
                    part *= (history[first, 0] - history[i, 0]) / (history[j, 0] - history[i, 0])
            foretold += part
        slip[axis - 1] += abs(oldest * (history[first, axis] - foretold))


@inlined
def push_whole(inertia, is_planar, x, y, z, fx, fy, fz):
    """The acceleration of the root's origin under a torque and force on it, joints held.

    inertia (10): of everything, about the root's origin, all in root axes.
    """
    m = inertia[0]
    sx, sy, sz = inertia[1], inertia[2], inertia[3]
    ax, ay, az = cross(sx, sy, sz, fx, fy, fz)
    x, y, z = x - ax / m, y - ay / m, z - az / m
    xx = inertia[4] - (sy * sy + sz * sz) / m
    yy = inertia[7] - (sx * sx + sz * sz) / m
    zz = inertia[9] - (sx * sx + sy * sy) / m
    if is_planar:
        x, y, z = 0.0, 0.0, z / zz
    else:
        xy, xz, yz = inertia[5] + sx * sy / m, inertia[6] + sx * sz / m, inertia[8] + sy * sz / m
        a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        d = 1.0 / (xx * a + xy * b + xz * c)
        x, y, z = (
            d * (a * x + b * y + c * z),
            d * (b * x + (xx * zz - xz * xz) * y + (xy * xz - xx * yz) * z),
            d * (c * x + (xy * xz - xx * yz) * y + (xx * yy - xy * xy) * z),
        )
    ax, ay, az = cross(x, y, z, sx, sy, sz)
    return (fx - ax) / m, (fy - ay) / m, (fz - az) / m
