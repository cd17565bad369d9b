"""What a random walk of the unknowns leaves in the memory of the whitening.

Whitened rows remember the ones before them, and with them unknowns as they were then. With
e = z - r x + eta the noise of the last whitened rows, eta is what walks since have made of them; it
is kept as the estimate  A [x, 1]  for given unknowns (Memory.walk_rows) and its covariance V
(Memory.walk_covariance). Nothing walks: eta is zero, and nothing here is done.
"""

from __future__ import annotations

from freefloat.numba_.compilation import inline
from freefloat.numba_.lanes import lanes_at, put_lanes_at
from freefloat.online.kernels.square_root_information import cholesky, information_along


@inline
def has_walked(m):
    """Whether any unknown has walked since the segment began."""
    total = 0.0
    for a in range(m.walk_covariance.shape[0]):
        total += m.walk_covariance[a, a]
    return total > 0.0


@inline
def clear_walk(m):
    """The memory of the whitening is empty."""
    for a in range(m.walk_rows.shape[0]):
        for i in range(m.walk_rows.shape[1]):
            m.walk_rows[a, i] = 0.0
        for b in range(m.walk_covariance.shape[1]):
            m.walk_covariance[a, b] = 0.0


@inline
def copy_table(table, out):
    """out = table."""
    for a in range(table.shape[0]):
        for i in range(table.shape[1]):
            out[a, i] = table[a, i]


@inline
def add_walk(m, k, last, variance):
    """The unknowns will take a random step of this variance along k.direction, up to place `last`.

    The step w, given where it leads, is shrink (g x - h) and has the variance `shrink`.
    """
    T, N = m.information_root, m.x.shape[0]
    size = information_along(T, k.direction, last, k.along, k.gradient)
    shrink = variance / (1.0 + variance * size)
    h = 0.0
    for j in range(last + 1):
        h += k.along[j] * T[j, N]
    n = m.walk_rows.shape[0]
    for a in range(n):
        total = 0.0
        for i in range(last + 1):
            total += (m.rows[a, i] - m.walk_rows[a, i]) * k.direction[i]
        k.walk_moves[a] = total
    for a in range(n):
        f = shrink * k.walk_moves[a]
        for i in range(N):
            m.walk_rows[a, i] += f * k.gradient[i]
        m.walk_rows[a, N] -= f * h
        for b in range(n):
            m.walk_covariance[a, b] += f * k.walk_moves[b]


@inline
def add_product(out, sign, F, table, end):
    """out += sign F table, columns before `end`: four at a time, each sum in one register."""
    n = F.shape[0]
    for a in range(n):
        for k in range(0, end - 3, 4):
            total = lanes_at(out[a], k)
            for j in range(n):
                total += (sign * F[a, j]) * lanes_at(table[j], k)
            put_lanes_at(out[a], k, total)
        for k in range(end // 4 * 4, end):
            for j in range(n):
                out[a, k] += sign * F[a, j] * table[j, k]


@inline
def remove_walk(m, k):
    """k.rows without what walks made of them, and white again; whether that can be done.

    The rows say  r x + F eta + e = z  with F = D^-T G^T. The factor of what whitens them stays in
    k.walk_factor, for `whiten_probe`.
    """
    n, N = k.rows.shape[0], m.x.shape[0]
    for a in range(n):
        for b in range(n):
            total = k.carried[b, a]
            for j in range(a):
                total -= k.noise_factor[j, a] * k.walk_gain[j, b]
            k.walk_gain[a, b] = total / k.noise_factor[a, a]
    for a in range(n):
        for b in range(n):
            total = 0.0
            for j in range(n):
                total += k.walk_gain[a, j] * m.walk_covariance[j, b]
            k.walk_cross[a, b] = total  # F V
    for a in range(n):
        for b in range(n):
            total = 1.0 if a == b else 0.0
            for j in range(n):
                total += k.walk_cross[a, j] * k.walk_gain[b, j]
            k.walk_factor[a, b] = total
            k.rows[a, N] -= k.walk_gain[a, b] * m.walk_rows[b, N]
    add_product(k.rows, 1.0, k.walk_gain, m.walk_rows, N)
    if not cholesky(k.walk_factor) > 0.0:
        return False
    solve_upper_rows(k.walk_factor, k.rows)
    solve_upper_rows(k.walk_factor, k.walk_cross)
    return True


@inline
def whiten_probe(k):
    """k.probe_rows as they are after `remove_walk`: white with the rows."""
    solve_upper_rows(k.walk_factor, k.probe_rows)


@inline
def solve_upper_rows(U, rows):
    """rows = U^-T rows, for an upper factor."""
    n, width = rows.shape
    for a in range(n):
        own, d = rows[a], 1.0 / U[a, a]
        for k in range(0, width - 3, 4):
            total = lanes_at(own, k)
            for j in range(a):
                total -= U[j, a] * lanes_at(rows[j], k)
            put_lanes_at(own, k, d * total)
        for k in range(width // 4 * 4, width):
            for j in range(a):
                own[k] -= U[j, a] * rows[j, k]
            own[k] *= d


@inline
def carry_walk(m, k):
    """What the rows say of eta, and eta of the rows that are the last ones from now on: -F eta."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for a in range(n):
        for b in range(n):
            k.innovation_covariance[a, b] = k.walk_cross[b, a]
            m.walk_rows[a, N] += k.walk_cross[b, a] * k.rows[b, N]
            for c in range(n):
                m.walk_covariance[a, c] -= k.walk_cross[b, a] * k.walk_cross[b, c]
    add_product(m.walk_rows, -1.0, k.innovation_covariance, k.rows, N)
    copy_table(m.walk_rows, k.walk_before)
    for a in range(n):
        for i in range(N + 1):
            m.walk_rows[a, i] = 0.0
    add_product(m.walk_rows, -1.0, k.walk_gain, k.walk_before, N + 1)
    for a in range(n):
        for b in range(n):
            total = 0.0
            for j in range(n):
                total += k.walk_gain[a, j] * m.walk_covariance[j, b]
            k.walk_cross[a, b] = total
    for a in range(n):
        for b in range(n):
            total = 0.0
            for j in range(n):
                total += k.walk_cross[a, j] * k.walk_gain[b, j]
            m.walk_covariance[a, b] = total
