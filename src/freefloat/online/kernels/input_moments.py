"""Thrust and commanded wrench since the last sample, as moments over time.

The moment of order i is the integral of level times s^i, i = 0 ... 3 (4 for thrusters), with s
counted from the last sample that was used. Products of a level with anything that moves smoothly
(the direction of a thruster, the lever arm of a force) then integrate exactly to third order, at
whatever rate inputs are told: `external_impulses` makes impulses of the moments once the next
sample has shown how the robot moved. A thruster's level is held until it is told anew; a commanded
wrench runs smoothly between its samples (a cubic through the last four).
"""

from __future__ import annotations

from freefloat.dynamics.kernels.spatial import cross
from freefloat.numba_.compilation import inline
from freefloat.online.kernels.codes import HISTORY, INPUT_TIME, N_WRENCH, STEP

# theory: nodes and weights of Gauss-Legendre on [0, 1]; four points integrate a cubic times s^3
NODES = (0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263)
# theory: see NODES
WEIGHTS = (0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692)


@inline
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


@inline
def add_level(moments, level, a, b):
    """A level held from s = a to b."""
    if level != 0.0:
        pa, pb = a, b
        for i in range(5):
            moments[i] += level * (pb - pa) / (i + 1.0)
            pa, pb = pa * a, pb * b


@inline
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


@inline
def root_acceleration(inertia, is_planar, x, y, z, fx, fy, fz):
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


@inline
def add_impulse_variance(w, m, variance):
    """The integral of a thruster's level has this variance [N2 s2]."""
    R = m.axes[3]
    for axis in range(3):
        a = 3 * axis
        push = R[a] * w[3] + R[a + 1] * w[4] + R[a + 2] * w[5]
        turn = R[a] * w[0] + R[a + 1] * w[1] + R[a + 2] * w[2]
        m.impulse_variance[axis] += variance * push * push
        m.impulse_variance[3 + axis] += variance * turn * turn


@inline
def integrate_inputs(problem, m, t, levels, wrench, has_wrench):
    """Integrate the inputs up to t; the wrench runs smoothly to what it is then.

    A thruster switches when it is said to; after a gap it may have done so at any time in between.
    That, and the noise of the level that an open one is said to have, goes into the variance of
    impulse and angular impulse, m.impulse_variance (6,).
    """
    origin, before = m.times[3], m.numbers[INPUT_TIME]
    is_begun = m.counts[HISTORY] > 0
    if is_begun and t > before:
        gap = t - before
        is_gap = m.numbers[STEP] > 0.0 and gap > 1.5 * m.numbers[STEP]
        for n in range(m.levels.shape[0]):
            more = levels[n] - m.levels[n]
            if problem.thrust_noise[n] > 0.0 and m.levels[n] != 0.0:
                off = problem.thrust_noise[n] * gap
                add_impulse_variance(problem.tree.thrusters[n], m, off * off)
            if not (is_gap and more != 0.0):
                add_level(m.level_moments[n], m.levels[n], before - origin, t - origin)
                continue
            middle = 0.5 * (before + t) - origin
            add_level(m.level_moments[n], m.levels[n], before - origin, middle)
            add_level(m.level_moments[n], levels[n], middle, t - origin)
            variance = more * more * gap * gap / 12.0
            add_impulse_variance(problem.tree.thrusters[n], m, variance)
    if has_wrench and (m.counts[N_WRENCH] == 0 or t > m.wrench[3, 0]):
        for j in range(3):
            for k in range(7):
                m.wrench[j, k] = m.wrench[j + 1, k]
        m.wrench[3, 0] = t
        for k in range(6):
            m.wrench[3, 1 + k] = wrench[k]
        m.counts[N_WRENCH] = min(m.counts[N_WRENCH] + 1, 4)
        if is_begun and m.counts[N_WRENCH] > 1:
            first = 4 - m.counts[N_WRENCH]
            start = m.wrench[2, 0] - origin
            a, b = max(start, 0.0), t - origin
            add_wrench(m.wrench, first, m.wrench_moments, m.wrench_error, origin, a, b)
    m.numbers[INPUT_TIME] = t


@inline
def switch_thrusters(problem, m, t, levels):
    """Thrusters have new levels from t on, and the velocity a kink, of known size.

    Polynomials through samples before and after a kink are wrong. So the samples before it are
    moved to where the root would have come from with the new thrust on (m.switch_displacement: what
    that adds to the displacement since the last sample).
    """
    x = y = z = fx = fy = fz = 0.0
    for n in range(m.levels.shape[0]):
        more = levels[n] - m.levels[n]
        m.levels[n] = levels[n]
        if more != 0.0:
            w = problem.tree.thrusters[n]
            x, y, z = x + more * w[0], y + more * w[1], z + more * w[2]
            fx, fy, fz = fx + more * w[3], fy + more * w[4], fz + more * w[5]
    if m.counts[HISTORY] == 0 or (fx == 0.0 and fy == 0.0 and fz == 0.0 and x == y == z == 0.0):
        return
    ax, ay, az = root_acceleration(m.inertia, problem.n_nuisance == 2, x, y, z, fx, fy, fz)
    R = m.axes[3]
    kink = m.switch_acceleration
    kink[0] = R[0] * ax + R[1] * ay + R[2] * az
    kink[1] = R[3] * ax + R[4] * ay + R[5] * az
    kink[2] = R[6] * ax + R[7] * ay + R[8] * az
    since = t - m.times[3]
    for axis in range(3):
        m.switch_displacement[axis] += 0.5 * kink[axis] * since * since
        for j in range(4):
            ago = m.times[j] - t
            m.velocities[j, axis] += kink[axis] * ago
            m.positions[j, axis] += 0.5 * kink[axis] * (ago * ago - since * since)
