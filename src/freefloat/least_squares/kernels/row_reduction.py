"""The triangular factor of a table of many rows, a few rows at a time.

Householder reflections take a block of rows into the factor (Golub, Van Loan, Matrix
Computations, 2013, section 5.2). Block and factor stay in the processor's cache, so that a row is
read from memory once; LAPACK reads a tall and narrow table once for every column.
"""

from __future__ import annotations

import numpy as np

from freefloat.numba_.compilation import kernel

# theory: twice its inverse still is a number; of columns of 1e-100 and more it is below rounding
NOTHING = 1e-290


@kernel
def absorb(rows, block, row, triangle):
    """Take rows (N, n) into an upper triangle (n, n), in place: R'R becomes R'R + rows'rows.

    block (m, n), m a multiple of four, and row (n,): scratch space for m rows at once.
    """
    n, m = triangle.shape[0], block.shape[0]
    for first in range(0, rows.shape[0], m):
        used = min(m, rows.shape[0] - first)
        for i in range(m):
            for k in range(n):
                block[i, k] = rows[first + i, k] if i < used else 0.0
        for j in range(n):
            square = 0.0
            for i in range(used):
                square += block[i, j] * block[i, j]
            if square < NOTHING:
                continue
            # the reflection I - beta v v' with v = (head, column) leaves (diagonal, 0)
            top = triangle[j, j]
            length = np.sqrt(top * top + square)
            diagonal = -length if top > 0.0 else length
            head = top - diagonal
            beta = 2.0 / (head * head + square)
            triangle[j, j] = diagonal
            for k in range(j + 1, n):
                row[k] = head * triangle[j, k]
            for i in range(
                0, m, 4
            ):  # four rows at once: row is read and written a quarter as often
                a, b, c, d = block[i, j], block[i + 1, j], block[i + 2, j], block[i + 3, j]
                for k in range(j + 1, n):
                    row[k] += (
                        a * block[i, k] + b * block[i + 1, k] + c * block[i + 2, k]
                        + d * block[i + 3, k]
                    )  # fmt: skip
            for k in range(j + 1, n):
                row[k] *= beta
                triangle[j, k] -= head * row[k]
            for i in range(used):
                a = block[i, j]
                for k in range(j + 1, n):
                    block[i, k] -= a * row[k]
