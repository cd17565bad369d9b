"""What the triangle says: solutions, and leaving unknowns out of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.solve import Bias, LinearSolution, solve_triangle
from freefloat.online.kernels.memory import FilterMemory


def solution(triangle: Array, bias: Array, n_rows: int, chi2: float) -> LinearSolution:
    """Values (in sizes) with covariance: the batch solver's last step, on the same triangle."""
    return solve_triangle(
        triangle[:, :-1], triangle[:, -1], bias=Bias(bias[:, :-1], bias[:, -1]),
        n_rows=max(n_rows, 1), chi2=chi2,
    )  # fmt: skip


def leave_out(memory: FilterMemory, dropped: Sequence[int]) -> None:
    """Forget all that is known of some unknowns, keeping what the others have without them.

    The triangle is turned so that the dropped ones come first and their rows go. What noise does
    goes with it: with x_d = q - G x_k eliminated, B becomes that of the columns Y_k - Y_d G.
    """
    T, bias = memory.triangle, memory.bias
    N, n = len(T), len(dropped)
    d = np.array(dropped, dtype=int)
    k = np.setdiff1d(np.arange(N), d)
    turned = np.asarray(np.linalg.qr(T[:, [*d, *k, N]], mode="r"))[:N]
    turned *= np.where(np.diag(turned) < 0.0, -1.0, 1.0)[:, None]
    gone = np.linalg.solve(turned[:n, :n], turned[:n, n:])
    mix = np.zeros((N, len(k)))
    mix[k] = np.eye(len(k))
    mix[d] = -gone[:, :-1]
    right = bias[:, N] - bias[:, d] @ gone[:, -1]
    B, c = mix.T @ bias[:, :N] @ mix, mix.T @ right
    T[:], bias[:] = 0.0, 0.0
    T[np.ix_(k, np.append(k, N))] = turned[n:, n:]
    bias[np.ix_(k, k)], bias[k, N] = B, c
    memory.x[d] = 0.0
