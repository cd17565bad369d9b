"""From one sample to the next: the six momentum equations, their noise, and their whitening.

    P(t) x - P0 = J(t)                      linear momentum
    dL x + dr x P0 = T - dr x J(t)          change of angular momentum about the sensor point

with J the impulse so far, T the angular impulse of the interval about where the root was at its
start, dr how far the root went (all in the frame that moves with the segment's first velocity).
A sample's error enters the rows of the interval it ends and those of the one it starts, so
neighbouring rows are correlated; the whitening takes that out exactly, as it goes.
"""

from __future__ import annotations

from freefloat.dynamics.kernels.spatial import C, cross
from freefloat.numba_.compilation import inline
from freefloat.online.kernels.codes import HISTORY, ROWS_HERE, SETTLED
from freefloat.online.kernels.external_impulses import (
    add_angular_impulse,
    add_impulse,
    add_wrench_impulse,
    add_wrench_lever,
    correct_impulse,
)
from freefloat.online.kernels.input_moments import lagrange
from freefloat.online.kernels.square_root_information import cholesky

# theory: share of the largest variance of its kind; half the digits of a double, so that a row
# without noise of its own has no infinite weight and its covariance still has a Cholesky factor
FLOOR = 1e-8
# theory: factor on the variance of an angular row over a gap: 1e12 of them say as much as one
LOST = 1e12


@inline
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
            k.positions[j, axis] = (
                m.positions[j + 1, axis] - m.positions[3, axis] + m.switch_displacement[axis]
            )
        for axis in range(9):
            k.axes[j, axis] = m.axes[j + 1, axis]
    k.times[3] = t
    for axis in range(3):
        k.velocities[3, axis] = s[7 + axis]
    n_known = min(m.counts[HISTORY], 3)
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
        k.gain[axis] += m.switch_displacement[axis]
    for axis in range(6):
        k.other_impulse[axis], slip = 0.0, m.wrench_error[(axis + 3) % 6]
        k.impulse_variance[axis] = m.impulse_variance[axis] + slip * slip
    for n in range(tree.thruster_link.shape[0]):
        if m.level_moments[n, 0] != 0.0:
            add_impulse(tree.thrusters[n], m.level_moments[n], m, k, first, h)
    for axis in range(3):
        correct_impulse(k, axis)
    add_wrench_impulse(m.wrench_moments, k)
    refine_displacement(problem, m, k, 0.5 * h)
    for axis in range(3):
        k.positions[3, axis] = k.gain[axis]
    for n in range(tree.thruster_link.shape[0]):
        if m.level_moments[n, 0] != 0.0:
            add_angular_impulse(tree.thrusters[n], m.level_moments[n], m, k, first, h)
    for axis in range(3, 6):
        correct_impulse(k, axis)
    for axis in range(3):
        k.gain[6 + axis] += m.wrench_moments[axis, 0]
    add_wrench_lever(m.wrench_moments, k, h)
    return first


@inline
def refine_displacement(problem, m, k, half):
    """dr by the trapezoidal rule, plus what that lacks, from readings with less noise.

    A velocity's error in dr then is that of the trapezoidal rule, which the linear rows of the same
    two samples explain. What the rule lacks follows from where the centre of mass is: with S the
    first moment about the root and M the mass, M dr = int(P) dt - [S(t) - S(t')], whatever happens
    in between, long gaps included. It has the small noise of attitude and encoders, but depends on
    the parameters. So it is linear about those of the weights (k.displacement_slopes, see
    `linearise_displacement`), and as long as those are not an estimate mixed with what the
    polynomial through the last velocities says, as if it were `model_error` wrong.
    """
    n = m.weight_x.shape[0]
    M = k.work.L[0, C]
    S, S0, R, R0 = k.work.L[0], m.inertia, k.axes[3], m.axes[3]
    off = 0.0 if m.numbers[SETTLED] == 1.0 else problem.limits.model_error
    for axis in range(3):
        a = 3 * axis
        moment = R[a] * S[C + 1] + R[a + 1] * S[C + 2] + R[a + 2] * S[C + 3]
        moment -= R0[a] * S0[1] + R0[a + 1] * S0[2] + R0[a + 2] * S0[3]
        drift = k.columns[axis, n] + m.columns[axis, n]  # of S, by the rates of both ends
        for p in range(n):
            drift += (k.columns[axis, p] + m.columns[axis, p]) * m.weight_x[p]
        ends = m.velocity[axis] + k.velocities[3, axis]
        drift -= M * ends
        pushed = half * k.gain[3 + axis] - k.lag[axis]
        lacking = (pushed - moment + half * drift) / M
        noise, error = half * problem.sigma[6 + axis], off * lacking
        share = error * error / (error * error + noise * noise + 1e-300)
        k.gain[axis] = share * k.gain[axis] + (1.0 - share) * (half * ends + lacking)
        for p in range(n):
            mass = k.first_moments[3, p]
            more = half * (k.columns[axis, p] + m.columns[axis, p] - mass * ends)
            more -= k.first_moments[axis, p] - m.first_moments[axis, p] + mass * lacking
            k.displacement_slopes[axis, p] = (1.0 - share) * more / M


@inline
def linearise_displacement(problem, m, k):
    """dr depends on the unknowns: what that makes of dr x P, about the weights' parameters."""
    nn, n = problem.n_nuisance, problem.n_unknowns
    px, py, pz = k.gain[9], k.gain[10], k.gain[11]
    for p in range(n):
        x, y, z = cross(
            k.displacement_slopes[0, p],
            k.displacement_slopes[1, p],
            k.displacement_slopes[2, p],
            px,
            py,
            pz,
        )
        for r in range(problem.rows.shape[0]):
            row = problem.rows[r]
            if row >= 3:
                part = x if row == 3 else (y if row == 4 else z)
                k.rows[r, nn + p] += part
                k.rows[r, nn + n] += part * m.weight_x[p]


@inline
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


@inline
def set_moment_errors(sigma, slopes, out):
    """out (sources, 3): the change of the first moment by one deviation of every position.

    The first moment moves with a position as the linear momentum does with its rate.
    """
    n = (slopes.shape[0] - 9) // 2
    for k in range(3 + n):
        place, rate = (3 + k, k) if k < 3 else (6 + k, 6 + n + k)
        size = sigma[place] / sigma[rate] if sigma[rate] > 0.0 else 0.0
        for axis in range(3):
            out[place, axis] = size * slopes[rate, axis]


@inline
def set_end_errors(k, velocity_noise, half, side, px, py, pz, slopes, moments, ends):
    """ends (sources, 6): a sample's errors as they enter the interval it ends (side 1).

    Errors also make dr wrong, and with it dr x P: velocities by the trapezoidal rule, positions
    and rates by what the rule lacks (`refine_displacement`); side -1: the interval it starts. All
    as that very sample had them, velocity_noise (3) too: frames of readings are not all as noisy as
    the next one.
    """
    inverse = 1.0 / k.work.L[0, C]
    for n in range(slopes.shape[0]):
        for r in range(6):
            ends[n, r] = slopes[n, r]
        if 6 <= n < 9:
            x, y, z = (
                half * velocity_noise[0] * (n == 6),
                half * velocity_noise[1] * (n == 7),
                half * velocity_noise[2] * (n == 8),
            )
        else:
            x = inverse * (half * slopes[n, 0] - side * moments[n, 0])
            y = inverse * (half * slopes[n, 1] - side * moments[n, 1])
            z = inverse * (half * slopes[n, 2] - side * moments[n, 2])
        ax, ay, az = cross(x, y, z, px, py, pz)
        ends[n, 3] += ax
        ends[n, 4] += ay
        ends[n, 5] += az


@inline
def set_covariances(problem, m, k, half, is_lost):
    """k.covariance of the rows, k.cross_covariance of the rows before (first index) with them."""
    n_rows = problem.rows.shape[0]
    px, py, pz = m.momentum[0], m.momentum[1], m.momentum[2]
    set_end_errors(
        k,
        m.velocity_noise,
        half,
        -1.0,
        px,
        py,
        pz,
        m.momentum_errors,
        m.moment_errors,
        k.start_errors,
    )
    own, shared = k.row_covariance, k.row_cross_covariance
    for i in range(6):
        for j in range(6):
            own[i, j] = shared[i, j] = 0.0
    for n in range(k.end_errors.shape[0]):
        end, before, start = k.end_errors[n], m.end_errors[n], k.start_errors[n]
        for j in range(3, 6):  # linear rows know nothing of where the interval starts
            # twice the slope is taken off: the start counts -slope, dr x P on both sides +
            start[j] -= 2.0 * m.momentum_errors[n, j]
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
            k.covariance[a, b], k.cross_covariance[a, b] = own[max(i, j), min(i, j)], shared[i, j]
    for a in range(n_rows):  # linear ones too, for this sample alone: so the gate knows of it
        k.covariance[a, a] += k.impulse_variance[problem.rows[a]]
    for kind in range(2):
        most = 1e-300
        for a in range(n_rows):
            if (problem.rows[a] >= 3) == (kind == 1):
                most = max(most, k.covariance[a, a])
        for a in range(n_rows):
            if (problem.rows[a] >= 3) == (kind == 1):
                k.covariance[a, a] += FLOOR * most
                if kind == 1 and is_lost:
                    k.covariance[a, a] += LOST * most


@inline
def set_factors(m, k):
    """k.carried = factor^-T X, and k.noise_factor of C - G^T G; whether there is one."""
    n = k.covariance.shape[0]
    for a in range(n):
        for b in range(n):
            k.carried[a, b] = k.cross_covariance[a, b] if m.counts[ROWS_HERE] > 0 else 0.0
    if m.counts[ROWS_HERE] > 0:
        for a in range(n):
            for b in range(n):
                total = k.carried[a, b]
                for j in range(a):
                    total -= m.noise_factor[j, a] * k.carried[j, b]
                k.carried[a, b] = total / m.noise_factor[a, a]
    for a in range(n):
        for b in range(n):
            total = k.covariance[a, b]
            for j in range(n):
                total -= k.carried[j, a] * k.carried[j, b]
            k.noise_factor[a, b] = total
    return cholesky(k.noise_factor) > 0.0


@inline
def decorrelate(k, before, rows):
    """rows (m, N + 1) = D^-T (rows - G^T before), in place."""
    n, width = rows.shape
    for a in range(n):
        for j in range(n):
            g = k.carried[j, a]
            if g != 0.0:
                for c in range(width):
                    rows[a, c] -= g * before[j, c]
    for a in range(n):
        for j in range(a):
            d = k.noise_factor[j, a]
            for c in range(width):
                rows[a, c] -= d * rows[j, c]
        d = 1.0 / k.noise_factor[a, a]
        for c in range(width):
            rows[a, c] *= d
