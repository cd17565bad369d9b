"""How surprising a sample is, given the estimate and all that is uncertain about it."""

from __future__ import annotations

import numpy as np

from freefloat.numba_.compilation import inlined
from freefloat.numba_.lanes import lanes_at, put_lanes_at
from freefloat.online.kernels.memory import WRONG
from freefloat.online.kernels.square_root_information import (
    cholesky,
    dot,
    solve_table,
    solve_table_transposed,
)


@inlined
def foresee(m, k):
    """k.U (N, 8): how rows move with what is uncertain; k.V: with what noise may have misled."""
    N = m.x.shape[0]
    solve_table_transposed(m.triangle, k.U)
    solve_table_transposed(m.spread, k.U)
    solve_table(m.spread, k.U)
    for i in range(N):
        for r in range(0, 8, 4):
            put_lanes_at(k.Z[i], r, lanes_at(k.U[i], r))
    solve_table(m.triangle, k.Z)
    for i in range(N):
        row = m.bias[i]
        p, q = row[0] * lanes_at(k.Z[0], 0), row[0] * lanes_at(k.Z[0], 4)
        for j in range(1, N):
            p += row[j] * lanes_at(k.Z[j], 0)
            q += row[j] * lanes_at(k.Z[j], 4)
        put_lanes_at(k.V[i], 0, m.numbers[WRONG] * p)
        put_lanes_at(k.V[i], 4, m.numbers[WRONG] * q)


@inlined
def spread_of_rows(U, V, row, S):
    """S = 1 + U^T U + V^T V, of as many columns as S has. Scratch: row (8)."""
    n = S.shape[0]
    for a in range(n):
        p, q = U[0, a] * lanes_at(U[0], 0), U[0, a] * lanes_at(U[0], 4)
        s, t = V[0, a] * lanes_at(V[0], 0), V[0, a] * lanes_at(V[0], 4)
        for i in range(1, U.shape[0]):
            p += U[i, a] * lanes_at(U[i], 0)
            q += U[i, a] * lanes_at(U[i], 4)
            s += V[i, a] * lanes_at(V[i], 0)
            t += V[i, a] * lanes_at(V[i], 4)
        put_lanes_at(row, 0, p + s)
        put_lanes_at(row, 4, q + t)
        for c in range(n):
            S[a, c] = row[c]
        S[a, a] += 1.0


@inlined
def surprise(m, k):
    """NIS of the whitened rows: the square of what the estimate does not foresee."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        row = k.rows[r]
        k.left[r] = row[N] - dot(row, m.x, 0, N)
        for i in range(N):
            k.U[i, r] = row[i]
    foresee(m, k)
    spread_of_rows(k.U, k.V, k.eight, k.S)
    for a in range(n):
        k.S[a, a] *= 1.0 + 1e-12  # not lost in rounding
    if not cholesky(k.S) > 0.0:
        return np.nan
    nis = 0.0
    for a in range(n):
        total = k.left[a]
        for j in range(a):
            total -= k.S[j, a] * k.left[j]
        k.left[a] = total / k.S[a, a]
        nis += k.left[a] * k.left[a]
    return nis
