"""How surprising a sample is, given the estimate and all that is uncertain about it."""

from __future__ import annotations

import numpy as np

from freefloat.compilation import inlined
from freefloat.identification.online.kernels.memory import WRONG
from freefloat.identification.online.kernels.triangle import (
    cholesky,
    solve_factored,
    solve_transposed,
    solve_triangle,
)


@inlined
def foresee(m, k):
    """k.U (N, rows): how rows move with what is uncertain; k.V: with what noise may have misled."""
    n, N = k.rows.shape[0], m.x.shape[0]
    solve_transposed(m.triangle, k.U, n)
    for r in range(n):
        for i in range(N):
            k.g[i] = k.U[i, r]
        solve_factored(m.spread, k.g)
        solve_triangle(m.triangle, k.g, k.row)
        for i in range(N):
            k.U[i, r] = k.g[i]
            total = 0.0
            for j in range(N):
                total += m.bias[i, j] * k.row[j]
            k.V[i, r] = m.numbers[WRONG] * total


@inlined
def surprise(m, k):
    """NIS of the whitened rows: the square of what the estimate does not foresee."""
    n, N = k.rows.shape[0], m.x.shape[0]
    for r in range(n):
        left = k.rows[r, N]
        for i in range(N):
            left -= k.rows[r, i] * m.x[i]
            k.U[i, r] = k.rows[r, i]
        k.left[r] = left
    foresee(m, k)
    for a in range(n):
        for b in range(n):
            total = 1.0 if a == b else 0.0
            for i in range(N):
                total += k.U[i, a] * k.U[i, b] + k.V[i, a] * k.V[i, b]
            k.S[a, b] = total * (1.0 + 1e-12) if a == b else total  # not lost in rounding
    if not cholesky(k.S) > 0.0:
        return np.nan
    nis = 0.0
    for a in range(n):
        total = k.left[a]
        for j in range(a):
            total -= k.S[a, j] * k.left[j]
        k.left[a] = total / k.S[a, a]
        nis += k.left[a] * k.left[a]
    return nis
