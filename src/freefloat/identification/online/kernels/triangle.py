"""The information triangle: R x = z with unit noise, kept by Givens rotations.

`T` (N, N + 1) holds R and z; `bias` (N, N + 1) holds B and c, what noise in the columns adds to
R^T R and R^T z (see `identification.solve`). Nothing here forms R^T R.
"""

from __future__ import annotations

from math import sqrt

from freefloat.compilation import inlined

DOUBT = 5.0  # deviations
MISLED = 3.0  # natural sizes by which the truth may be away from the model


@inlined
def rotate_in(T, row):
    """Add one whitened row (N + 1) to the triangle; what is left of its right side."""
    N = T.shape[0]
    for i in range(N):
        b = row[i]
        if b == 0.0:
            continue
        a = T[i, i]
        r = sqrt(a * a + b * b)
        c, s = a / r, b / r
        T[i, i] = r
        for k in range(i + 1, N + 1):
            t = T[i, k]
            T[i, k] = c * t + s * row[k]
            row[k] = c * row[k] - s * t
    return row[N]


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
def push_along(T, d, last, pushed, g):
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


@inlined
def let_wander(T, bias, x, d, last, variance, row, g, pushed):
    """The unknowns take a random step of this variance along d, which ends at place `last`.

    The step w is eliminated from [1/sqrt(variance), 0; -R d, R] from that row upwards, which keeps
    the triangle. B and c follow so that the corrected solution stays where it is; see docs/live.md.
    """
    N = T.shape[0]
    size = push_along(T, d, last, pushed, g)
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
def solve_transposed(T, table, n_columns):
    """table (N, columns) = R^-T table, all columns at once."""
    N = T.shape[0]
    for i in range(N):
        for j in range(i):
            f = T[j, i]
            if f != 0.0:
                for k in range(n_columns):
                    table[i, k] -= f * table[j, k]
        d = 1.0 / T[i, i]
        for k in range(n_columns):
            table[i, k] *= d


@inlined
def cholesky(K):
    """The lower factor of a symmetric matrix in place; the smallest pivot, and where it failed."""
    N = K.shape[0]
    least = 1e300
    for i in range(N):
        for j in range(i + 1):
            total = K[i, j]
            for k in range(j):
                total -= K[i, k] * K[j, k]
            if i == j:
                least = min(least, total)
                if not total > 0.0:
                    return least
                K[i, i] = sqrt(total)
            else:
                K[i, j] = total / K[j, j]
    return least


@inlined
def solve_factored(K, v):
    """v = (K K^T)^-1 v."""
    N = K.shape[0]
    for i in range(N):
        total = v[i]
        for k in range(i):
            total -= K[i, k] * v[k]
        v[i] = total / K[i, i]
    for back in range(N):
        i = N - 1 - back
        total = v[i]
        for k in range(i + 1, N):
            total -= K[k, i] * v[k]
        v[i] = total / K[i, i]


@inlined
def noise_part(T, bias, A, W):
    """A = R^-T B R^-1: which part of the information is noise in the columns."""
    N = T.shape[0]
    for i in range(N):
        for k in range(N):
            W[i, k] = bias[i, k]
    solve_transposed(T, W, N)
    for i in range(N):
        for k in range(N):
            A[i, k] = W[k, i]
    solve_transposed(T, A, N)


@inlined
def doubt_of(n_rows):
    """How far chance may carry the noise part of a direction: five deviations."""
    return min(1.0, DOUBT * sqrt(2.0 / max(n_rows, 1.0)))


@inlined
def least_part(K, e):
    """The smallest eigenvalue of K K^T, by inverse iteration from where e was left."""
    N = K.shape[0]
    size = 1.0
    for _ in range(2):
        solve_factored(K, e)
        total = 1e-300
        for i in range(N):
            total += e[i] * e[i]
        size = sqrt(total)
        for i in range(N):
            e[i] /= size
    return 1.0 / size


@inlined
def solve_corrected(T, bias, n_rows, m, K, W, g):
    """The estimate m.x of (R^T R - share B) x = R^T z - c; K: the factor of 1 - share A.

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
            for k in range(N):
                K[i, k] = (1.0 if i == k else 0.0) - share * W[i, k]
        least = least_part(K, m.worst) if cholesky(K) > 0.0 else 0.0
        if least > (doubt if share == 1.0 else 0.0):
            break
        share = share - doubt if share == 1.0 else 0.0
    if share == 0.0:
        for i in range(N):
            for k in range(N):
                K[i, k] = 1.0 if i == k else 0.0
    for i in range(N):  # g = R^-T c
        total = bias[i, N]
        for j in range(i):
            total -= T[j, i] * g[j]
        g[i] = total / T[i, i]
    for i in range(N):
        g[i] = T[i, N] - g[i]
    solve_factored(K, g)
    solve_triangle(T, g, m.x)
    return share, (doubt / DOUBT if share == 1.0 else MISLED * (1.0 - share))


@inlined
def solve_triangle(T, right, x):
    """x = R^-1 right."""
    N = T.shape[0]
    for back in range(N):
        i = N - 1 - back
        total = right[i]
        for k in range(i + 1, N):
            total -= T[i, k] * x[k]
        x[i] = total / T[i, i]
