"""Known forces between samples: moments over time, whatever the rate at which they are told.

A thruster's level is held until it is told anew; a commanded wrench runs smoothly between its
samples (a cubic through the last four). Moments are integrals of level times s^0 ... s^3, with s
counted from the last sample that was used, so that products with anything that moves smoothly
(the direction of a thruster, the lever arm of a force) integrate exactly to third order.
"""

from __future__ import annotations

from freefloat.compilation import inlined

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
        for i in range(4):
            moments[i] += level * (pb - pa) / (i + 1.0)
            pa, pb = pa * a, pb * b


@inlined
def add_wrench(history, first, moments, origin, a, b):
    """The wrench between its last two samples, at s = a and b: a cubic through the last ones.

    history (4, 7): time, torque, force; the newest last, from row `first` on.
    """
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
            size = part
            for k in range(4):
                for axis in range(6):
                    moments[axis, k] += size * history[j, 1 + axis]
                size *= s
