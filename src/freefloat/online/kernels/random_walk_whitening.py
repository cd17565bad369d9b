"""What a wandering unknown leaves in the whitening's memory.

Whitened rows remember the ones before them, and with them unknowns as they were then. With
e = z - r x + eta the noise of the last whitened rows, eta is what wandering since has made of them;
it is kept as the estimate  A [x, 1]  for given unknowns (Memory.echo) and its covariance V
(Memory.unheard). Nothing wanders: eta is zero, and nothing here is done.
"""

from __future__ import annotations

from freefloat.numba_.compilation import inlined
from freefloat.numba_.lanes import lanes_at, put_lanes_at
from freefloat.online.kernels.square_root_information import cholesky, push_along


@inlined
def is_echoing(m):
    """Whether anything has wandered since the segment began."""
    total = 0.0
    for a in range(m.unheard.shape[0]):
        total += m.unheard[a, a]
    return total > 0.0


@inlined
def silence(m):
    """The memory of the whitening is empty."""
    for a in range(m.echo.shape[0]):
        for i in range(m.echo.shape[1]):
            m.echo[a, i] = 0.0
        for b in range(m.unheard.shape[1]):
            m.unheard[a, b] = 0.0


@inlined
def copy(table, out):
    """out = table."""
    for a in range(table.shape[0]):
        for i in range(table.shape[1]):
            out[a, i] = table[a, i]


@inlined
def wander_echo(m, k, last, variance):
    """The unknowns will take a random step of this variance along k.d, which ends at `last`.

    The step w, given where it leads, is shrink (g x - h) and has the variance `shrink`.
    """
    T, N = m.triangle, m.x.shape[0]
    size = push_along(T, k.d, last, k.pushed, k.g)
    shrink = variance / (1.0 + variance * size)
    h = 0.0
    for j in range(last + 1):
        h += k.pushed[j] * T[j, N]
    n = m.echo.shape[0]
    for a in range(n):
        total = 0.0
        for i in range(last + 1):
            total += (m.rows[a, i] - m.echo[a, i]) * k.d[i]
        k.left[a] = total
    for a in range(n):
        f = shrink * k.left[a]
        for i in range(N):
            m.echo[a, i] += f * k.g[i]
        m.echo[a, N] -= f * h
        for b in range(n):
            m.unheard[a, b] += f * k.left[b]


@inlined
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


@inlined
def hear(m, k):
    """k.rows without the echo, and white again; whether that can be done.

    The rows say  r x + F eta + e = z  with F = D^-T G^T. The factor of what whitens them stays in
    k.E, for `hear_probe`.
    """
    n, N = k.rows.shape[0], m.x.shape[0]
    for a in range(n):
        for b in range(n):
            total = k.G[b, a]
            for j in range(a):
                total -= k.D[j, a] * k.F[j, b]
            k.F[a, b] = total / k.D[a, a]
    for a in range(n):
        for b in range(n):
            total = 0.0
            for j in range(n):
                total += k.F[a, j] * m.unheard[j, b]
            k.H[a, b] = total  # F V
    for a in range(n):
        for b in range(n):
            total = 1.0 if a == b else 0.0
            for j in range(n):
                total += k.H[a, j] * k.F[b, j]
            k.E[a, b] = total
            k.rows[a, N] -= k.F[a, b] * m.echo[b, N]
    add_product(k.rows, 1.0, k.F, m.echo, N)
    if not cholesky(k.E) > 0.0:
        return False
    whiten_by(k.E, k.rows)
    whiten_by(k.E, k.H)
    return True


@inlined
def hear_probe(k):
    """k.probe_rows as they are after `hear`: white with the rows."""
    whiten_by(k.E, k.probe_rows)


@inlined
def whiten_by(U, rows):
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


@inlined
def pass_on(m, k):
    """What the rows say of eta, and eta of the rows that are the last ones from now on: -F eta."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for a in range(n):
        for b in range(n):
            k.S[a, b] = k.H[b, a]
            m.echo[a, N] += k.H[b, a] * k.rows[b, N]
            for c in range(n):
                m.unheard[a, c] -= k.H[b, a] * k.H[b, c]
    add_product(m.echo, -1.0, k.S, k.rows, N)
    copy(m.echo, k.past)
    for a in range(n):
        for i in range(N + 1):
            m.echo[a, i] = 0.0
    add_product(m.echo, -1.0, k.F, k.past, N + 1)
    for a in range(n):
        for b in range(n):
            total = 0.0
            for j in range(n):
                total += k.F[a, j] * m.unheard[j, b]
            k.H[a, b] = total
    for a in range(n):
        for b in range(n):
            total = 0.0
            for j in range(n):
                total += k.H[a, j] * k.F[b, j]
            m.unheard[a, b] = total
