"""From one sample to the next: the six momentum equations, their noise, and their whitening.

    P(t) x - P0 = J(t)                      linear momentum
    dL x + dr x P0 = T - dr x J(t)          change of angular momentum about the sensor point

with J the impulse so far, T the angular impulse of the interval about where the root was at its
start, dr how far the root went (all in the frame that moves with the segment's first velocity).
A sample's error enters the rows of the interval it ends and those of the one it starts, so
neighbouring rows are correlated; the whitening takes that out exactly, as it goes.
"""

from __future__ import annotations

from freefloat.compilation import inlined
from freefloat.dynamics.kernels.spatial import C, cross
from freefloat.identification.online.kernels.inputs import lagrange
from freefloat.identification.online.kernels.memory import SETTLED
from freefloat.identification.online.kernels.triangle import cholesky

# theory: of two rules of fourth order with errors of 1/720 and -19/720 of the same derivative (a
# cubic with the slopes of both ends, one through the last four samples), the first is off by so
# much of their difference (Milne's device)
MILNE = 1.0 / 20.0
FLOOR = 1e-8  # of the largest variance of its kind: nothing has infinite weight
FAR_OFF = 1.0  # how wrong the way may be by the parameters of a model that may be far off
LOST = 1e12  # variance, times its own, of an angular row over a gap


@inlined
def integrate_interval(problem, m, k, t, s):
    """dr (3), impulse (3) and angular impulse (3) of the interval that ends now, into k.gain (9).

    The newest sample is put last in copies of the histories (k.times ...), with k.first the first
    usable row.
    """
    tree = problem.tree
    for j in range(3):
        k.times[j] = m.times[j + 1]
        for axis in range(3):
            k.velocities[j, axis] = m.velocities[j + 1, axis]
            k.positions[j, axis] = m.positions[j + 1, axis] - m.positions[3, axis] + m.detour[axis]
        for axis in range(9):
            k.axes[j, axis] = m.axes[j + 1, axis]
    k.times[3] = t
    for axis in range(3):
        k.velocities[3, axis] = s[7 + axis]
    n_known = min(m.counts[0], 3)
    first = 3 - n_known
    origin = m.times[3]
    lagrange(k.times, first, origin, k.coefficients)
    h = t - origin
    for axis in range(9):
        k.gain[axis] = 0.0
    for axis in range(3):
        k.lag[axis] = 0.0
    for j in range(first, 4):
        c = k.coefficients[j]
        part = h * (c[0] + h * (c[1] / 2.0 + h * (c[2] / 3.0 + h * c[3] / 4.0)))
        for axis in range(3):
            k.gain[axis] += part * k.velocities[j, axis]
    for axis in range(3):
        k.gain[axis] += m.detour[axis]
    for axis in range(6):
        k.other[axis], slip = 0.0, m.slip[(axis + 3) % 6]
        k.unsure[axis] = m.unsure[axis] + slip * slip
    for n in range(tree.thruster_link.shape[0]):
        if m.level_moments[n, 0] != 0.0:
            add_push(tree.thrusters[n], m.level_moments[n], m, k, first, h)
    for axis in range(3):
        extrapolate(k, axis)
    add_command(m.wrench_moments, k)
    refine_way(problem, m, k, 0.5 * h)
    for axis in range(3):
        k.positions[3, axis] = k.gain[axis]
    for n in range(tree.thruster_link.shape[0]):
        if m.level_moments[n, 0] != 0.0:
            add_turn(tree.thrusters[n], m.level_moments[n], m, k, first, h)
    for axis in range(3, 6):
        extrapolate(k, axis)
    for axis in range(3):
        k.gain[6 + axis] += m.wrench_moments[axis, 0]
    add_lever(m.wrench_moments, k, h)
    return first


@inlined
def extrapolate(k, axis):
    """Take the difference of two rules off an impulse, and count it as its error as well.

    What is left after that is smaller by a power of the step: so errors of neighbouring intervals,
    which are alike, do not add up beyond what is counted.
    """
    more = MILNE * (k.other[axis] - k.gain[3 + axis])
    k.gain[3 + axis] += more
    k.unsure[axis] += more * more


@inlined
def refine_way(problem, m, k, half):
    """dr by the trapezoidal rule, plus what that lacks, from readings with less noise.

    A velocity's error in dr then is that of the trapezoidal rule, which the linear rows of the same
    two samples explain. What the rule lacks follows from where the centre of mass is: with S the
    first moment about the root and M the mass, M dr = int(P) dt - [S(t) - S(t')], whatever happens
    in between, long gaps included. It has the small noise of attitude and encoders, but depends on
    the parameters. So it is linear about those of the weights (k.ways, see `let_way_depend`), and
    as long as those are not an estimate mixed with what the polynomial through the last velocities
    says, as if it were FAR_OFF wrong.
    """
    n = m.wx.shape[0]
    M = k.w.L[0, C]
    S, S0, R, R0 = k.w.L[0], m.inertia, k.axes[3], m.axes[3]
    off = 0.0 if m.numbers[SETTLED] == 1.0 else FAR_OFF
    for axis in range(3):
        a = 3 * axis
        moment = R[a] * S[C + 1] + R[a + 1] * S[C + 2] + R[a + 2] * S[C + 3]
        moment -= R0[a] * S0[1] + R0[a + 1] * S0[2] + R0[a + 2] * S0[3]
        drift = k.columns[axis, n] + m.columns[axis, n]  # of S, by the rates of both ends
        for p in range(n):
            drift += (k.columns[axis, p] + m.columns[axis, p]) * m.wx[p]
        ends = m.velocity[axis] + k.velocities[3, axis]
        drift -= M * ends
        pushed = half * k.gain[3 + axis] - k.lag[axis]
        lacking = (pushed - moment + half * drift) / M
        noise, error = half * problem.sigma[6 + axis], off * lacking
        share = error * error / (error * error + noise * noise + 1e-300)
        k.gain[axis] = share * k.gain[axis] + (1.0 - share) * (half * ends + lacking)
        for p in range(n):
            mass = k.firsts[3, p]
            more = half * (k.columns[axis, p] + m.columns[axis, p] - mass * ends)
            more -= k.firsts[axis, p] - m.firsts[axis, p] + mass * lacking
            k.ways[axis, p] = (1.0 - share) * more / M


@inlined
def let_way_depend(problem, m, k):
    """dr depends on the unknowns: what that makes of dr x P, about the weights' parameters."""
    nn, n = problem.n_nuisance, problem.n_unknowns
    px, py, pz = k.gain[9], k.gain[10], k.gain[11]
    for p in range(n):
        x, y, z = cross(k.ways[0, p], k.ways[1, p], k.ways[2, p], px, py, pz)
        for r in range(problem.rows.shape[0]):
            row = problem.rows[r]
            if row >= 3:
                part = x if row == 3 else (y if row == 4 else z)
                k.rows[r, nn + p] += part
                k.rows[r, nn + n] += part * m.wx[p]


@inlined
def turned_by(R, x, y, z):
    """A vector in root axes, in world axes; R (9): the axes, row by row."""
    return (
        R[0] * x + R[1] * y + R[2] * z,
        R[3] * x + R[4] * y + R[5] * z,
        R[6] * x + R[7] * y + R[8] * z,
    )


@inlined
def cubic_moment(moments, h, a, da, b, db):
    """The integral of a level times what runs from a to b in h, with slopes da and db there."""
    mean = (b - a) / h
    second, third = (3.0 * mean - 2.0 * da - db) / h, (da + db - 2.0 * mean) / (h * h)
    return a * moments[0] + da * moments[1] + second * moments[2] + third * moments[3]


@inlined
def cubic_lag(moments, h, a, da, b, db):
    """The same times the time since the interval began."""
    mean = (b - a) / h
    second, third = (3.0 * mean - 2.0 * da - db) / h, (da + db - 2.0 * mean) / (h * h)
    return a * moments[1] + da * moments[2] + second * moments[3] + third * moments[4]


@inlined
def add_push(thruster, moments, m, k, first, h):
    """The impulse of a thruster whose level has these moments, and its lag.

    Its direction turns with the root: a cubic with the rates of both ends; k.other (6) has what
    polynomials through the last samples say.
    """
    fx, fy, fz = thruster[3], thruster[4], thruster[5]
    w0, w1, R0, R1 = m.rate, k.sample, k.axes[2], k.axes[3]
    ax, ay, az = turned_by(R0, fx, fy, fz)
    bx, by, bz = turned_by(R1, fx, fy, fz)
    x, y, z = cross(w0[0], w0[1], w0[2], fx, fy, fz)
    px, py, pz = turned_by(R0, x, y, z)
    x, y, z = cross(w1[0], w1[1], w1[2], fx, fy, fz)
    qx, qy, qz = turned_by(R1, x, y, z)
    k.gain[3] += cubic_moment(moments, h, ax, px, bx, qx)
    k.gain[4] += cubic_moment(moments, h, ay, py, by, qy)
    k.gain[5] += cubic_moment(moments, h, az, pz, bz, qz)
    k.lag[0] += cubic_lag(moments, h, ax, px, bx, qx)
    k.lag[1] += cubic_lag(moments, h, ay, py, by, qy)
    k.lag[2] += cubic_lag(moments, h, az, pz, bz, qz)
    for j in range(first, 4):
        c = k.coefficients[j]
        part = c[0] * moments[0] + c[1] * moments[1] + c[2] * moments[2] + c[3] * moments[3]
        x, y, z = turned_by(k.axes[j], fx, fy, fz)
        k.other[0], k.other[1] = k.other[0] + part * x, k.other[1] + part * y
        k.other[2] += part * z


@inlined
def add_turn(thruster, moments, m, k, first, h):
    """The angular impulse of a thruster about where the root was, by both rules (`add_push`)."""
    tx, ty, tz = thruster[0], thruster[1], thruster[2]
    fx, fy, fz = thruster[3], thruster[4], thruster[5]
    w0, w1, R0, R1 = m.rate, k.sample, k.axes[2], k.axes[3]
    v0, v1, d = m.velocity, k.velocities[3], k.gain
    ax, ay, az = turned_by(R0, tx, ty, tz)
    x, y, z = cross(w0[0], w0[1], w0[2], tx, ty, tz)
    px, py, pz = turned_by(R0, x, y, z)
    gx, gy, gz = turned_by(R0, fx, fy, fz)
    x, y, z = cross(v0[0], v0[1], v0[2], gx, gy, gz)
    px, py, pz = px + x, py + y, pz + z
    bx, by, bz = turned_by(R1, tx, ty, tz)
    gx, gy, gz = turned_by(R1, fx, fy, fz)
    x, y, z = cross(d[0], d[1], d[2], gx, gy, gz)
    bx, by, bz = bx + x, by + y, bz + z
    qx, qy, qz = cross(v1[0], v1[1], v1[2], gx, gy, gz)
    x, y, z = cross(w1[0], w1[1], w1[2], tx, ty, tz)
    x, y, z = turned_by(R1, x, y, z)
    qx, qy, qz = qx + x, qy + y, qz + z
    x, y, z = cross(w1[0], w1[1], w1[2], fx, fy, fz)
    gx, gy, gz = turned_by(R1, x, y, z)
    x, y, z = cross(d[0], d[1], d[2], gx, gy, gz)
    qx, qy, qz = qx + x, qy + y, qz + z
    k.gain[6] += cubic_moment(moments, h, ax, px, bx, qx)
    k.gain[7] += cubic_moment(moments, h, ay, py, by, qy)
    k.gain[8] += cubic_moment(moments, h, az, pz, bz, qz)
    for j in range(first, 4):
        c, p = k.coefficients[j], k.positions[j]
        part = c[0] * moments[0] + c[1] * moments[1] + c[2] * moments[2] + c[3] * moments[3]
        gx, gy, gz = turned_by(k.axes[j], fx, fy, fz)
        x, y, z = turned_by(k.axes[j], tx, ty, tz)
        gx, gy, gz = cross(p[0], p[1], p[2], gx, gy, gz)
        k.other[3], k.other[4] = k.other[3] + part * (x + gx), k.other[4] + part * (y + gy)
        k.other[5] += part * (z + gz)


@inlined
def add_command(moments, k):
    """The impulse of the commanded wrench, and its lag."""
    for axis in range(3):
        k.gain[3 + axis] += moments[3 + axis, 0]
        k.lag[axis] += moments[3 + axis, 1]


@inlined
def add_lever(moments, k, h):
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
            k.turn[axis] = v[axis] if i == 1 else way
        ax, ay, az = cross(k.turn[0], k.turn[1], k.turn[2], fx, fy, fz)
        k.gain[6], k.gain[7], k.gain[8] = k.gain[6] + ax, k.gain[7] + ay, k.gain[8] + az


@inlined
def set_rows(problem, now, before, dx, dy, dz, J, gain, is_probe, out):
    """out (rows, N + 1): nuisance, unknowns, right side; from columns now and before.

    is_probe: the change of the rows with a change of the columns and of dr, instead of the rows.
    """
    nn, n = problem.n_nuisance, problem.n_unknowns
    size = problem.momentum_size
    ax, ay, az = cross(dx, dy, dz, J[0], J[1], J[2])
    for r in range(problem.rows.shape[0]):
        row = problem.rows[r]
        for b in range(nn):
            if row < 3:
                out[r, b] = -size if row == b and not is_probe else 0.0
            elif b == row - 3:
                out[r, b] = 0.0
            elif (b - (row - 3)) % 3 == 1:  # the entry after the diagonal of [d]x is -d_third
                out[r, b] = -size * (dz if row == 3 else (dx if row == 4 else dy))
            else:
                out[r, b] = size * (dy if row == 3 else (dz if row == 4 else dx))
        if row < 3:
            for p in range(n):
                out[r, nn + p] = now[row, p]
            out[r, nn + n] = -now[row, n] + (0.0 if is_probe else J[row])
        else:
            for p in range(n):
                out[r, nn + p] = now[row, p] - before[row, p]
            swept = ax if row == 3 else (ay if row == 4 else az)
            right = before[row, n] - now[row, n] - swept
            out[r, nn + n] = right + (0.0 if is_probe else gain[3 + row])


@inlined
def set_moments(sigma, slopes, out):
    """out (sources, 3): the change of the first moment by one deviation of every position.

    The first moment moves with a position as the linear momentum does with its rate.
    """
    n = (slopes.shape[0] - 9) // 2
    for k in range(3 + n):
        place, rate = (3 + k, k) if k < 3 else (6 + k, 6 + n + k)
        size = sigma[place] / sigma[rate] if sigma[rate] > 0.0 else 0.0
        for axis in range(3):
            out[place, axis] = size * slopes[rate, axis]


@inlined
def set_ends(k, sigma, half, side, px, py, pz, slopes, moments, ends):
    """ends (sources, 6): a sample's errors as they enter the interval it ends (side 1).

    Errors also make dr wrong, and with it dr x P: velocities by the trapezoidal rule, positions
    and rates by what the rule lacks (`refine_way`); side -1: the interval it starts.
    """
    inverse = 1.0 / k.w.L[0, C]
    for n in range(slopes.shape[0]):
        for r in range(6):
            ends[n, r] = slopes[n, r]
        if 6 <= n < 9:
            x, y, z = (
                half * sigma[n] * (n == 6),
                half * sigma[n] * (n == 7),
                half * sigma[n] * (n == 8),
            )
        else:
            x = inverse * (half * slopes[n, 0] - side * moments[n, 0])
            y = inverse * (half * slopes[n, 1] - side * moments[n, 1])
            z = inverse * (half * slopes[n, 2] - side * moments[n, 2])
        ax, ay, az = cross(x, y, z, px, py, pz)
        ends[n, 3] += ax
        ends[n, 4] += ay
        ends[n, 5] += az


@inlined
def covariances(problem, m, k, half, is_lost):
    """k.C: covariance of the rows, and k.X: of the previous rows (first index) with them."""
    n_rows = problem.rows.shape[0]
    px, py, pz = m.momentum[0], m.momentum[1], m.momentum[2]
    set_ends(k, problem.sigma, half, -1.0, px, py, pz, m.slopes, m.moments, k.starts)
    own, shared = k.own, k.shared
    for i in range(6):
        for j in range(6):
            own[i, j] = shared[i, j] = 0.0
    for n in range(k.ends.shape[0]):
        end, before, start = k.ends[n], m.ends[n], k.starts[n]
        for j in range(3, 6):  # linear rows know nothing of where the interval starts
            # twice the slope is taken off: the start counts -slope, dr x P on both sides +
            start[j] -= 2.0 * m.slopes[n, j]
        for i in range(6):
            for j in range(i + 1):
                own[i, j] += end[i] * end[j]
            for j in range(3, 6):
                shared[i, j] += before[i] * start[j]
        for i in range(3, 6):
            for j in range(3, i + 1):
                own[i, j] += start[i] * start[j]
    for a in range(n_rows):
        for b in range(n_rows):
            i, j = problem.rows[a], problem.rows[b]
            k.C[a, b], k.X[a, b] = own[max(i, j), min(i, j)], shared[i, j]
    for a in range(n_rows):  # linear ones too, for this sample alone: so the gate knows of it
        k.C[a, a] += k.unsure[problem.rows[a]]
    for kind in range(2):
        most = 1e-300
        for a in range(n_rows):
            if (problem.rows[a] >= 3) == (kind == 1):
                most = max(most, k.C[a, a])
        for a in range(n_rows):
            if (problem.rows[a] >= 3) == (kind == 1):
                k.C[a, a] += FLOOR * most
                if kind == 1 and is_lost:
                    k.C[a, a] += LOST * most


@inlined
def set_factors(m, k):
    """k.G = factor^-T X and k.D, the upper factor of C - G^T G; whether there is one."""
    n = k.C.shape[0]
    for a in range(n):
        for b in range(n):
            k.G[a, b] = k.X[a, b] if m.counts[1] > 0 else 0.0
    if m.counts[1] > 0:
        for a in range(n):
            for b in range(n):
                total = k.G[a, b]
                for j in range(a):
                    total -= m.factor[j, a] * k.G[j, b]
                k.G[a, b] = total / m.factor[a, a]
    for a in range(n):
        for b in range(n):
            total = k.C[a, b]
            for j in range(n):
                total -= k.G[j, a] * k.G[j, b]
            k.D[a, b] = total
    return cholesky(k.D) > 0.0


@inlined
def whiten(k, before, rows):
    """rows (m, N + 1) = D^-T (rows - G^T before), in place."""
    n, width = rows.shape
    for a in range(n):
        for j in range(n):
            g = k.G[j, a]
            if g != 0.0:
                for c in range(width):
                    rows[a, c] -= g * before[j, c]
    for a in range(n):
        for j in range(a):
            d = k.D[j, a]
            for c in range(width):
                rows[a, c] -= d * rows[j, c]
        d = 1.0 / k.D[a, a]
        for c in range(width):
            rows[a, c] *= d
