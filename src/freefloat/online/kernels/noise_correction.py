"""Which part of the information is noise in the columns, and the estimate without it."""

from __future__ import annotations

from math import sqrt

from freefloat.numba_.compilation import inline
from freefloat.numba_.lanes import lanes_at, put_lanes_at
from freefloat.online.kernels.square_root_information import dot, solve_transposed, solve_upper


@inline
def reduced_row(F, table, i, k):
    """Four numbers of a table's row i from place k on, less those of the rows before times F."""
    total = lanes_at(table[i], k)
    for j in range(i):
        total -= F[j, i] * lanes_at(table[j], k)
    return total


@inline
def wide_cholesky(K):
    """`cholesky` where rows are filled up to fours: each is done once, from all rows before."""
    N, width = K.shape
    least = 1e300
    for i in range(N):
        own, first = K[i], i // 4 * 4
        put_lanes_at(own, first, reduced_row(K, K, i, first))
        least = min(least, own[i])
        if not own[i] > 0.0:
            return own[i]
        d = 1.0 / sqrt(own[i])
        put_lanes_at(own, first, d * lanes_at(own, first))
        for k in range(first + 4, width, 4):
            put_lanes_at(own, k, d * reduced_row(K, K, i, k))
    return least


@inline
def solve_wide(T, table, is_half):
    """table = R^-T table, rows filled up to fours; is_half: only from the diagonal on."""
    N, width = table.shape
    for i in range(N):
        own, d = table[i], 1.0 / T[i, i]
        for k in range(i // 4 * 4 if is_half else 0, width, 4):
            put_lanes_at(own, k, d * reduced_row(T, table, i, k))


@inline
def set_noise_part(T, bias, A, W):
    """A = R^-T B R^-1, its upper half: which part of the information is noise in the columns."""
    N = T.shape[0]
    for i in range(N):
        for k in range(N):
            W[i, k] = bias[i, k]
    solve_wide(T, W, False)
    for i in range(N):
        for k in range(N):
            A[i, k] = W[k, i]
    solve_wide(T, A, True)


@inline
def doubt_for(limits, n_rows):
    """How far chance may carry the noise part of a direction, whose deviation is sqrt(2/n)."""
    return min(1.0, limits.doubt * sqrt(2.0 / max(n_rows, 1.0)))


@inline
def least_eigenvalue(K, e):
    """The smallest eigenvalue of K^T K, by inverse iteration from where e was left."""
    N = K.shape[0]
    size = 1.0
    for _ in range(2):
        solve_transposed(K, e)
        solve_upper(K, e, e)
        size = sqrt(dot(e, e, 0, N) + 1e-300)
        for i in range(N):
            e[i] /= size
    return 1.0 / size


@inline
def factor_clear_part(limits, T, bias, n_rows, m, A, W):
    """m.clear_factor: the upper factor of 1 - share A, A the part of the information that is noise.

    share is one unless a direction may be nothing but noise: 1 - A is then not clearly positive,
    and as much of B is left in as chance could account for, which draws the estimate to the model.
    Returned: the share, and how many natural sizes times B / (R^T R) the estimate may be off.
    Scratch: A and W, rows filled up to fours.
    """
    N = T.shape[0]
    doubt = doubt_for(limits, n_rows)
    set_noise_part(T, bias, A, W)
    share = 1.0
    for _ in range(2):
        for i in range(N):
            for k in range(N):
                W[i, k] = -share * A[i, k]
            W[i, i] += 1.0
        least = least_eigenvalue(W, m.worst) if wide_cholesky(W) > 0.0 else 0.0
        if least > (doubt if share == 1.0 else 0.0):
            break
        share = share - doubt if share == 1.0 else 0.0
    for i in range(N):
        for k in range(i, N):
            m.clear_factor[i, k] = W[i, k] if share > 0.0 else (1.0 if i == k else 0.0)
    return share, (doubt / limits.doubt if share == 1.0 else limits.misled * (1.0 - share))


@inline
def solve_corrected(T, bias, K, x, g):
    """The estimate x of (R^T R - share B) x = R^T z - c, with the factor K of 1 - share A.

    Readers of estimates get directions judged one by one (`InformationEstimate.solution`); this one
    must be quick and safe, for the gate.
    """
    N = T.shape[0]
    for i in range(N):
        g[i] = bias[i, N]
    solve_transposed(T, g)
    for i in range(N):
        g[i] = T[i, N] - g[i]
    solve_transposed(K, g)
    solve_upper(K, g, g)
    solve_upper(T, g, x)
