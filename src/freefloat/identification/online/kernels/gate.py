"""How surprising a sample is, given the estimate and all that is uncertain about it."""

from __future__ import annotations

import numpy as np

from freefloat.compilation import inlined
from freefloat.identification.online.kernels.memory import WRONG
from freefloat.identification.online.kernels.triangle import (
    cholesky,
    dot,
    put_six,
    six_less,
    solve_table,
    solve_table_transposed,
)


@inlined
def foresee(m, k):
    """k.U (N, 6): how rows move with what is uncertain; k.V: with what noise may have misled."""
    N = m.x.shape[0]
    solve_table_transposed(m.triangle, k.U)
    solve_table_transposed(m.spread, k.U)
    solve_table(m.spread, k.U)
    for i in range(N):
        for r in range(6):
            k.Z[i, r] = k.U[i, r]
    solve_table(m.triangle, k.Z)
    for i in range(N):
        a = b = c = d = e = f = 0.0
        for j in range(N):
            a, b, c, d, e, f = six_less(m.bias[i, j], k.Z, j, a, b, c, d, e, f)
        put_six(m.numbers[WRONG], k.V, i, a, b, c, d, e, f)


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
    for a in range(n):
        for c in range(n):
            k.S[a, c] = 1.0 if a == c else 0.0
    for i in range(N):
        u, v = k.U[i], k.V[i]
        for a in range(n):
            for c in range(a, n):
                k.S[a, c] += u[a] * u[c] + v[a] * v[c]
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
