"""The square-root information matrix: R x = z with unit noise, R kept upper triangular.

Rows are added by Householder reflections (Bierman, Factorization Methods for Discrete Sequential
Estimation, 1977). `T` (N, N + 1) holds R and z; `bias` (N, N + 1) holds B and c, what noise in the
columns adds to R^T R and R^T z (see `identification.corrected_least_squares`). Nothing here forms
R^T R.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from freefloat.numba_.compilation import inline
from freefloat.numba_.lanes import lanes_at, put_lanes_at

# format: numbers between rows that are turned in; no multiple of a cache's size
APART = 264
ROOM = 6 * APART
MOST = APART - 1  # unknowns
# format: a mask of lanes: of four numbers from 3 - n on, n are spared
SPARED = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])


@inline
def add_rows(T, rows, w):
    """Add whitened rows (at most 6, N + 1) to R and z; the chi-square left. Scratch: w (ROOM).

    One Householder reflection for six rows takes less work than six Givens rotations, and one root
    instead of six.
    """
    N, n, chi2 = T.shape[0], rows.shape[0], 0.0
    for r in range(6):
        for k in range(N + 1):
            w[APART * r + k] = 0.0
    for r in range(n):
        row = rows[r]
        for k in range(N + 1):
            w[APART * r + k] = row[k]
    for i in range(N):
        reflect(T[i], w, i, N + 1)
    for r in range(6):
        chi2 += w[APART * r + N] * w[APART * r + N]
    return chi2


@inline
def reflect(t, w, i, end):
    """Turn the six rows in w so that their column i goes into row t of R and z.

    Columns go four at a time, counted from the end, so that none is left over there. Where the
    first four reach back to column i, SPARED keeps what is done already as it is.
    """
    a, b, c = w[i], w[APART + i], w[2 * APART + i]
    d, e, f = w[3 * APART + i], w[4 * APART + i], w[5 * APART + i]
    rest = (a * a + b * b) + (c * c + d * d) + (e * e + f * f)
    if rest == 0.0:
        return
    size = sqrt(t[i] * t[i] + rest)
    both = t[i] + size  # the diagonal is positive
    v = -rest / both  # t - size without its cancellation
    scale = both / (size * rest)  # 2 / (v v + rest)
    t[i] = size
    k = end - (end - i + 2) // 4 * 4
    if k < 0:
        k += 4
        for j in range(i + 1, k):
            reflect_one(t, w, j, v, scale, a, b, c, d, e, f)
    elif k <= i:
        reflect_four(t, w, k, v, scale * lanes_at(SPARED, 2 - i + k), a, b, c, d, e, f)
        k += 4
    while k < end:
        reflect_four(t, w, k, v, scale, a, b, c, d, e, f)
        k += 4


@inline
def reflect_four(t, w, k, v, scale, a, b, c, d, e, f):
    """The reflection 1 - scale u u^T, u = (v, a to f), of four columns from k on."""
    s, x = lanes_at(t, k), lanes_at(w, k)
    y, z = lanes_at(w, APART + k), lanes_at(w, 2 * APART + k)
    p, q = lanes_at(w, 3 * APART + k), lanes_at(w, 4 * APART + k)
    r = lanes_at(w, 5 * APART + k)
    along = scale * (v * s + ((a * x + b * y) + (c * z + d * p) + (e * q + f * r)))
    put_lanes_at(t, k, s - v * along)
    put_lanes_at(w, k, x - a * along)
    put_lanes_at(w, APART + k, y - b * along)
    put_lanes_at(w, 2 * APART + k, z - c * along)
    put_lanes_at(w, 3 * APART + k, p - d * along)
    put_lanes_at(w, 4 * APART + k, q - e * along)
    put_lanes_at(w, 5 * APART + k, r - f * along)


@inline
def reflect_one(t, w, k, v, scale, a, b, c, d, e, f):
    """The same of one column."""
    along = (a * w[k] + b * w[APART + k]) + (c * w[2 * APART + k] + d * w[3 * APART + k])
    along = scale * (v * t[k] + (along + (e * w[4 * APART + k] + f * w[5 * APART + k])))
    t[k] -= v * along
    w[k] -= a * along
    w[APART + k] -= b * along
    w[2 * APART + k] -= c * along
    w[3 * APART + k] -= d * along
    w[4 * APART + k] -= e * along
    w[5 * APART + k] -= f * along


@inline
def fade(T, bias, factor):
    """Everything counts `factor` times what it did."""
    N = T.shape[0]
    root = sqrt(factor)
    for i in range(N):
        for k in range(N + 1):
            T[i, k] *= root
            bias[i, k] *= factor


@inline
def information_along(T, d, last, pushed, g):
    """pushed = R d and g = R^T R d, for d that ends at place `last`; and d g."""
    N = T.shape[0]
    for j in range(last + 1):
        total = 0.0
        for k in range(j, last + 1):
            total += T[j, k] * d[k]
        pushed[j] = total
    size = 0.0
    for k in range(N):
        total = 0.0
        for j in range(min(last, k) + 1):
            total += T[j, k] * pushed[j]
        g[k] = total
        size += total * d[k]
    return size


@inline
def add_process_noise(T, bias, x, d, last, variance, row, g, pushed):
    """The unknowns take a random step of this variance along d, which ends at place `last`.

    The step w is eliminated from [1/sqrt(variance), 0; -R d, R] from that row upwards, which keeps
    R upper triangular. B and c follow so that the corrected solution stays where it is; see
    docs/live.md.
    """
    N = T.shape[0]
    size = information_along(T, d, last, pushed, g)
    move_bias(bias, x, d, variance / (1.0 + variance * size), g, row)
    head = 1.0 / sqrt(variance)
    for k in range(N + 1):
        row[k] = 0.0
    for back in range(last + 1):
        j = last - back
        a, b = head, -pushed[j]
        r = sqrt(a * a + b * b)
        c, s = a / r, b / r
        head = r
        for k in range(j, N + 1):
            t = T[j, k]
            T[j, k] = c * t - s * row[k]
            row[k] = c * row[k] + s * t


@inline
def move_bias(bias, x, d, shrink, g, column):
    """B -> M^T B M and its c, with M = 1 - shrink d g^T."""
    N = bias.shape[0]
    along = own = 0.0
    for k in range(N):
        along += g[k] * x[k]
        total = 0.0
        for m in range(N):
            total += bias[k, m] * d[m]
        column[k] = total  # B d
    for k in range(N):
        own += d[k] * column[k]
        bias[k, N] -= shrink * column[k] * along
    ahead = 0.0
    for k in range(N):
        ahead += d[k] * bias[k, N]
    for k in range(N):
        bias[k, N] -= shrink * g[k] * ahead
        for m in range(N):
            change = shrink * own * g[k] * g[m] - g[k] * column[m] - column[k] * g[m]
            bias[k, m] += shrink * change


@inline
def add_squares(table, rows):
    """table += rows^T rows, for as many rows of the table as there are."""
    n, width = rows.shape
    for i in range(table.shape[0]):
        row, k = table[i], width - 4
        while k >= 0:
            total = lanes_at(row, k)
            for r in range(n):
                total += rows[r, i] * lanes_at(rows[r], k)
            put_lanes_at(row, k, total)
            k -= 4
        for j in range(k + 4):
            for r in range(n):
                row[j] += rows[r, i] * rows[r, j]


@inline
def dot(a, b, first, last):
    """The sum of products from first to last; four sums at once, since one waits for itself."""
    p = q = r = s = 0.0
    k = first
    while k + 4 <= last:
        p += a[k] * b[k]
        q += a[k + 1] * b[k + 1]
        r += a[k + 2] * b[k + 2]
        s += a[k + 3] * b[k + 3]
        k += 4
    while k < last:
        p += a[k] * b[k]
        k += 1
    return (p + q) + (r + s)


@inline
def solve_transposed(T, v):
    """v = R^-T v. Two sums at once; what was found last, and all wait for, comes last."""
    for i in range(T.shape[0]):
        p, q, scale = v[i], 0.0, 1.0 / T[i, i]
        for half in range(i // 2):
            k = 2 * half
            p -= T[k, i] * v[k]
            q -= T[k + 1, i] * v[k + 1]
        if i % 2 == 1:
            p -= T[i - 1, i] * v[i - 1]
        v[i] = (p + q) * scale


@inline
def solve_upper(T, right, x):
    """x = R^-1 right, in the same way from the end."""
    N = T.shape[0]
    for back in range(N):
        i = N - 1 - back
        t = T[i]
        p, q, scale = right[i], 0.0, 1.0 / t[i]
        for half in range(back // 2):
            k = N - 1 - 2 * half
            p -= t[k] * x[k]
            q -= t[k - 1] * x[k - 1]
        if back % 2 == 1:
            p -= t[i + 1] * x[i + 1]
        x[i] = (p + q) * scale


@inline
def solve_table_transposed(T, table):
    """table (N, 8) = R^-T table: eight columns at once, in two registers."""
    N = T.shape[0]
    for i in range(N):
        own, t = table[i], T[i]
        p, q = lanes_at(own, 0) / t[i], lanes_at(own, 4) / t[i]
        put_lanes_at(own, 0, p)
        put_lanes_at(own, 4, q)
        for k in range(i + 1, N):
            subtract_eight(table[k], t[k], p, q)


@inline
def solve_table(T, table):
    """table (N, 8) = R^-1 table."""
    N = T.shape[0]
    for back in range(N):
        i = N - 1 - back
        own = table[i]
        p, q = lanes_at(own, 0) / T[i, i], lanes_at(own, 4) / T[i, i]
        put_lanes_at(own, 0, p)
        put_lanes_at(own, 4, q)
        for k in range(i):
            subtract_eight(table[k], T[k, i], p, q)


@inline
def subtract_eight(row, f, p, q):
    """A row of eight numbers less f times those in p and q."""
    put_lanes_at(row, 0, lanes_at(row, 0) - f * p)
    put_lanes_at(row, 4, lanes_at(row, 4) - f * q)


@inline
def cholesky(K):
    """The upper factor, K = F^T F, of the upper half in place; the smallest pivot."""
    N = K.shape[0]
    least = 1e300
    for i in range(N):
        own = K[i]
        least = min(least, own[i])
        if not own[i] > 0.0:
            return own[i]
        d = 1.0 / sqrt(own[i])
        for k in range(i, N):
            own[k] *= d
        for j in range(i + 1, N):
            f, other = own[j], K[j]
            for k in range(j, N):
                other[k] -= f * own[k]
    return least
