"""The information triangle: R x = z with unit noise, kept by reflections.

`T` (N, N + 1) holds R and z; `bias` (N, N + 1) holds B and c, what noise in the columns adds to
R^T R and R^T z (see `identification.solve`). Nothing here forms R^T R.
"""

from __future__ import annotations

from math import sqrt

from freefloat.compilation import inlined

DOUBT = 5.0  # deviations
WIDE = 8  # columns of tables that are solved at once: at least the six rows of a sample
MISLED = 3.0  # natural sizes by which the truth may be away from the model


@inlined
def turn_in(T, rows):
    """Add whitened rows (m, N + 1) to the triangle, three at a time; the chi-square that is left.

    One Householder reflection for three rows takes half the work of three Givens rotations, and
    one root instead of three. The rows are used up; their last column keeps what is left of them.
    """
    chi2 = 0.0
    for first in range(0, rows.shape[0], 3):
        reflect(T, rows[first], rows[first + 1], rows[first + 2])
    for r in range(rows.shape[0]):
        left = rows[r, T.shape[0]]
        chi2 += left * left
    return chi2


@inlined
def reflect(T, x, y, z):
    """Turn three rows (N + 1) into the triangle; its diagonal stays positive."""
    N = T.shape[0]
    for i in range(N):
        a, bx, by, bz = T[i, i], x[i], y[i], z[i]
        rest = bx * bx + by * by + bz * bz
        if rest == 0.0:
            continue
        size = sqrt(a * a + rest)
        v = -rest / (a + size)  # a - size without its cancellation
        f = 2.0 / (v * v + rest)
        fa, fx, fy, fz = f * v, f * bx, f * by, f * bz
        T[i, i] = size
        t = T[i]
        for k in range(i + 1, N + 1):
            w = v * t[k] + bx * x[k] + by * y[k] + bz * z[k]
            t[k] -= fa * w
            x[k] -= fx * w
            y[k] -= fy * w
            z[k] -= fz * w


@inlined
def forget(T, bias, factor):
    """Everything counts `factor` times what it did."""
    N = T.shape[0]
    root = sqrt(factor)
    for i in range(N):
        for k in range(N + 1):
            T[i, k] *= root
            bias[i, k] *= factor


@inlined
def let_wander(T, bias, x, d, last, variance, row, g, pushed):
    """The unknowns take a random step of this variance along d, which ends at place `last`.

    The step w is eliminated from [1/sqrt(variance), 0; -R d, R] from that row upwards, which keeps
    the triangle. B and c follow so that the corrected solution stays where it is; see docs/live.md.
    """
    N = T.shape[0]
    for j in range(last + 1):  # R d
        total = 0.0
        for k in range(j, last + 1):
            total += T[j, k] * d[k]
        pushed[j] = total
    size = 0.0
    for k in range(N):  # g = R^T R d
        total = 0.0
        for j in range(min(last, k) + 1):
            total += T[j, k] * pushed[j]
        g[k] = total
        size += total * d[k]
    wander_bias(bias, x, d, variance / (1.0 + variance * size), g, row)
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


@inlined
def wander_bias(bias, x, d, shrink, g, column):
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


@inlined
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


@inlined
def solve_transposed(T, v):
    """v = R^-T v, row by row of the upper triangle in T."""
    N = T.shape[0]
    for i in range(N):
        t = T[i]
        f = v[i] / t[i]
        v[i] = f
        for k in range(i + 1, N):
            v[k] -= f * t[k]


@inlined
def solve_triangle(T, right, x):
    """x = R^-1 right."""
    N = T.shape[0]
    for back in range(N):
        i = N - 1 - back
        x[i] = (right[i] - dot(T[i], x, i + 1, N)) / T[i, i]


@inlined
def solve_table_transposed(T, table):
    """table (N, WIDE) = R^-T table: WIDE columns at once, which fill the processor's registers."""
    N = T.shape[0]
    for i in range(N):
        d = 1.0 / T[i, i]
        own = table[i]
        for c in range(WIDE):
            own[c] *= d
        for k in range(i + 1, N):
            f, other = T[i, k], table[k]
            for c in range(WIDE):
                other[c] -= f * own[c]


@inlined
def solve_table(T, table):
    """table (N, WIDE) = R^-1 table."""
    N = T.shape[0]
    for back in range(N):
        i = N - 1 - back
        own = table[i]
        for k in range(i + 1, N):
            f, other = T[i, k], table[k]
            for c in range(WIDE):
                own[c] -= f * other[c]
        d = 1.0 / T[i, i]
        for c in range(WIDE):
            own[c] *= d


@inlined
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


@inlined
def noise_part(T, bias, A, W):
    """A = R^-T B R^-1, its upper half: which part of the information is noise in the columns."""
    N = T.shape[0]
    for i in range(N):
        for k in range(N):
            W[i, k] = bias[i, k]
    for i in range(N):
        d, own = 1.0 / T[i, i], W[i]
        for c in range(N):
            own[c] *= d
        for k in range(i + 1, N):
            f, other = T[i, k], W[k]
            for c in range(N):
                other[c] -= f * own[c]
    for i in range(N):
        for k in range(i, N):
            A[i, k] = W[k, i]
    for i in range(N):
        d, own = 1.0 / T[i, i], A[i]
        for c in range(i, N):
            own[c] *= d
        for k in range(i + 1, N):
            f, other = T[i, k], A[k]
            for c in range(k, N):
                other[c] -= f * own[c]


@inlined
def doubt_of(n_rows):
    """How far chance may carry the noise part of a direction: five deviations."""
    return min(1.0, DOUBT * sqrt(2.0 / max(n_rows, 1.0)))


@inlined
def least_part(K, e):
    """The smallest eigenvalue of K^T K, by inverse iteration from where e was left."""
    N = K.shape[0]
    size = 1.0
    for _ in range(2):
        solve_transposed(K, e)
        solve_triangle(K, e, e)
        size = sqrt(dot(e, e, 0, N) + 1e-300)
        for i in range(N):
            e[i] /= size
    return 1.0 / size


@inlined
def solve_corrected(T, bias, n_rows, m, K, W, g):
    """The estimate m.x of (R^T R - share B) x = R^T z - c; K: the upper factor of 1 - share A.

    share is one unless a direction may be nothing but noise: 1 - A is then not clearly positive,
    and as much of B is left in as chance could account for, which draws the estimate to the model.
    Returned: the share, and how many natural sizes times B / (R^T R) the estimate may be off.
    Readers of estimates get directions judged one by one (`information.solution`); this one must be
    quick and safe, for the gate.
    """
    N = T.shape[0]
    doubt = doubt_of(n_rows)
    noise_part(T, bias, W, K)
    share = 1.0
    for _ in range(2):
        for i in range(N):
            for k in range(i, N):
                K[i, k] = -share * W[i, k]
            K[i, i] += 1.0
        least = least_part(K, m.worst) if cholesky(K) > 0.0 else 0.0
        if least > (doubt if share == 1.0 else 0.0):
            break
        share = share - doubt if share == 1.0 else 0.0
    if share == 0.0:
        for i in range(N):
            for k in range(i, N):
                K[i, k] = 1.0 if i == k else 0.0
    for i in range(N):
        g[i] = bias[i, N]
    solve_transposed(T, g)
    for i in range(N):
        g[i] = T[i, N] - g[i]
    solve_transposed(K, g)
    solve_triangle(K, g, g)
    solve_triangle(T, g, m.x)
    return share, (doubt / DOUBT if share == 1.0 else MISLED * (1.0 - share))
