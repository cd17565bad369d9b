"""What the filter needs to know of one sample, and of a probe of its noise.

The probe is the sample with every reading moved by its standard deviation, up or down by chance:
what it does to the columns is what noise does, in the mean.
"""

from __future__ import annotations

import numpy as np

from freefloat.dynamics.kernels.newton_euler import root_axes
from freefloat.dynamics.kernels.spatial import F, six
from freefloat.numba_.compilation import inlined
from freefloat.online.kernels.memory import N_GATED, N_TAKEN
from freefloat.online.kernels.momentum_columns import columns, first_columns, slopes


@inlined
def signs_of(count):
    """64 fair bits from a counter (the finaliser of splitmix64)."""
    z = np.uint64(count) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def move_sample(problem, k, side, bits, more):
    """k.sample = k.original with every source moved by its deviation, up or down as bits say.

    side: 1; 0 leaves it as it is.
    """
    s, o, turn = k.sample, k.original, k.turn
    n = k.w.U.shape[0]
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


@inlined
def measure(problem, m, k, s):
    """Columns, slopes and probe of a sample, seen from the segment's frame."""
    for i in range(k.original.shape[0]):
        k.original[i] = s[i]
    for axis in range(3):
        k.original[7 + axis] = s[7 + axis] - m.shift[axis]
    count = m.counts[N_TAKEN] + m.counts[N_GATED]
    bits, more = signs_of(2 * count), signs_of(2 * count + 1)
    x = y = z = 0.0
    for turn in range(2):  # moved, and at last as it is: then the links stand as they do
        move_sample(problem, k, 1.0 - turn, bits, more)
        x, y, z = columns(problem, k.w, k.Y, k.energy, k.sample, k.tables[turn])
    for a in range(6):
        for p in range(k.columns.shape[1]):
            k.probe[a, p] = k.tables[0, a, p] - k.tables[1, a, p]
            k.columns[a, p] = k.tables[1, a, p]
    first_columns(problem, k.w, k.firsts)
    a, b, c, d, e, f, g, h, i_ = root_axes(k.w.root)
    k.axes[3, 0], k.axes[3, 1], k.axes[3, 2] = a, b, c
    k.axes[3, 3], k.axes[3, 4], k.axes[3, 5] = d, e, f
    k.axes[3, 6], k.axes[3, 7], k.axes[3, 8] = g, h, i_
    slopes(problem.tree, k.weights, k.w, problem.sigma, x, y, z, k.slopes)
    _, _, _, x, y, z = six(k.w.L, 0, F)
    k.gain[9] = a * x + b * y + c * z
    k.gain[10] = d * x + e * y + f * z
    k.gain[11] = g * x + h * y + i_ * z
