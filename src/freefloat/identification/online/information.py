"""What the triangle says: solutions, and leaving unknowns out of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.online.kernels.memory import Memory
from freefloat.identification.solve import Bias, Solution, solved_triangle


def solution(triangle: Array, bias: Array, n_rows: int, chi2: float) -> Solution:
    """Values (in sizes) with covariance: the batch solver's last step, on the same triangle."""
    return solved_triangle(
        triangle[:, :-1], triangle[:, -1], bias=Bias(bias[:, :-1], bias[:, -1]),
        n_rows=max(n_rows, 1), chi2=chi2,
    )  # fmt: skip


def leave_out(memory: Memory, dropped: Sequence[int]) -> None:
    """Forget all that is known of some unknowns, keeping what the others have without them.

    The triangle is turned so that the dropped ones come first and their rows go. B and c are those
    of the corrected equations with the same unknowns eliminated.
    """
    T, bias = memory.triangle, memory.bias
    N = len(T)
    d = np.array(dropped, dtype=int)
    k = np.setdiff1d(np.arange(N), d)
    turned = np.asarray(np.linalg.qr(T[:, [*d, *k, N]], mode="r"))[len(d) : N, len(d) :]
    turned *= np.where(np.diag(turned) < 0.0, -1.0, 1.0)[:, None]
    information = T.T @ T  # (N + 1, N + 1) with the right sides
    before = _eliminated(information[:N], d, k)
    after = _eliminated(information[:N] - bias, d, k)
    T[:], bias[:] = 0.0, 0.0
    T[np.ix_(k, [*k, N])] = turned
    bias[np.ix_(k, [*k, N])] = before - after
    memory.x[d] = 0.0


def _eliminated(both: Array, d: Array, k: Array) -> Array:
    """[N | b] of the unknowns k, with d eliminated."""
    N = len(both)
    rest = both[np.ix_(k, [*k, N])]
    inner = both[np.ix_(d, d)]
    return rest - both[np.ix_(k, d)] @ np.linalg.solve(inner, both[np.ix_(d, [*k, N])])
