"""The information triangle: R x = z with unit noise, kept by reflections.

`T` (N, N + 1) holds R and z; `bias` (N, N + 1) holds B and c, what noise in the columns adds to
R^T R and R^T z (see `identification.solve`). Nothing here forms R^T R.
"""

from __future__ import annotations

from math import sqrt

from freefloat.compilation import inlined
from freefloat.dynamics.kernels.spatial import six

DOUBT = 5.0  # deviations
APART = 264  # numbers between rows that are turned in; no multiple of a cache's size
ROOM = 6 * APART
MOST = APART - 1  # unknowns
MISLED = 3.0  # natural sizes by which the truth may be away from the model


@inlined
def turn_in(T, rows, w):
    """Add whitened rows (at most 6, N + 1) to the triangle; the chi-square left. Scratch: w.

    One Householder reflection for six rows takes less work than six Givens rotations, and one root
    instead of six. In w (ROOM) the rows lie a constant distance apart, so that LLVM knows
    that they do not overlap and works on four columns at once.
    """
    N, chi2 = T.shape[0], 0.0
    for r in range(6):
        for k in range(N + 1):
            w[APART * r + k] = rows[r, k] if r < rows.shape[0] else 0.0
    for i in range(N):
        reflect(T[i], w, i, N + 1)
    for r in range(6):
        chi2 += w[APART * r + N] * w[APART * r + N]
    return chi2


@inlined
def reflect(t, w, i, end):
    """Turn the six rows in w so that their column i goes into row t of the triangle."""
    a, b, c = w[i], w[APART + i], w[2 * APART + i]
    d, e, f = w[3 * APART + i], w[4 * APART + i], w[5 * APART + i]
    rest = (a * a + b * b + c * c) + (d * d + e * e + f * f)
    if rest == 0.0:
        return
    size = sqrt(t[i] * t[i] + rest)
    v = -rest / (t[i] + size)  # t - size without its cancellation: the diagonal is positive
    scale = 2.0 / (v * v + rest)
    t[i] = size
    for k in range(i + 1, end):
        along = v * t[k] + (a * w[k] + b * w[APART + k] + c * w[2 * APART + k])
        along += d * w[3 * APART + k] + e * w[4 * APART + k] + f * w[5 * APART + k]
        along *= scale
        t[k] -= v * along
        w[k] -= a * along
        w[APART + k] -= b * along
        w[2 * APART + k] -= c * along
        w[3 * APART + k] -= d * along
        w[4 * APART + k] -= e * along
        w[5 * APART + k] -= f * along


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
def six_less(size, table, k, a, b, c, d, e, f):
    """Six numbers less `size` times those of a table's row."""
    return (
        a - size * table[k, 0],
        b - size * table[k, 1],
        c - size * table[k, 2],
        d - size * table[k, 3],
        e - size * table[k, 4],
        f - size * table[k, 5],
    )


@inlined
def put_six(size, table, i, a, b, c, d, e, f):
    """A table's row of six is `size` times these numbers."""
    table[i, 0], table[i, 1], table[i, 2] = size * a, size * b, size * c
    table[i, 3], table[i, 4], table[i, 5] = size * d, size * e, size * f


@inlined
def solve_table_transposed(T, table):
    """table (N, 6) = R^-T table: six columns at once, summed in registers."""
    for i in range(T.shape[0]):
        a, b, c, d, e, f = six(table, i, 0)
        for k in range(i):
            a, b, c, d, e, f = six_less(T[k, i], table, k, a, b, c, d, e, f)
        put_six(1.0 / T[i, i], table, i, a, b, c, d, e, f)


@inlined
def solve_table(T, table):
    """table (N, 6) = R^-1 table."""
    N = T.shape[0]
    for back in range(N):
        i = N - 1 - back
        a, b, c, d, e, f = six(table, i, 0)
        for k in range(i + 1, N):
            a, b, c, d, e, f = six_less(T[i, k], table, k, a, b, c, d, e, f)
        put_six(1.0 / T[i, i], table, i, a, b, c, d, e, f)


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
def factor_clear_part(T, bias, n_rows, m, K, W):
    """K, the upper factor of 1 - share A, with A the part of the information that is noise.

    share is one unless a direction may be nothing but noise: 1 - A is then not clearly positive,
    and as much of B is left in as chance could account for, which draws the estimate to the model.
    Returned: the share, and how many natural sizes times B / (R^T R) the estimate may be off.
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
    return share, (doubt / DOUBT if share == 1.0 else MISLED * (1.0 - share))


@inlined
def solve_corrected(T, bias, K, x, g):
    """The estimate x of (R^T R - share B) x = R^T z - c, with the factor K of 1 - share A.

    Readers of estimates get directions judged one by one (`information.solution`); this one must be
    quick and safe, for the gate.
    """
    N = T.shape[0]
    for i in range(N):
        g[i] = bias[i, N]
    solve_transposed(T, g)
    for i in range(N):
        g[i] = T[i, N] - g[i]
    solve_transposed(K, g)
    solve_triangle(K, g, g)
    solve_triangle(T, g, x)
