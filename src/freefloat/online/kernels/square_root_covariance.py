"""The square root S of a covariance P = S S^T, kept lower triangular; P is never formed.

Tables here hold S^T, whose rows are turned among each other: by rotations, which keep what is
triangular so (Bierman, Factorization Methods for Discrete Sequential Estimation, 1977), or by
reflections where a table is full. LAPACK would do the same work on as many threads as there are
cores, which for a table of a hundred rows wait for each other longer than they compute.
"""

from __future__ import annotations

from math import sqrt

from freefloat.numba_.compilation import inline, kernel
from freefloat.numba_.lanes import lanes_at, put_lanes_at


@kernel
def take_rows(T, B, innovation, head, white, step):
    """Readings with unit noise into a square root; their whitened innovation and the correction.

    T (n, n): S^T, upper triangular, before and after; B (m, n): C S of the slopes C, spoilt;
    head (m, m + n): scratch, at the end the factor of the innovation and the gain in its units;
    white (m,), step (n,): results.
    """
    m, n = B.shape
    for j in range(m):
        for k in range(m + n):
            head[j, k] = 0.0
        head[j, j] = 1.0
    for j in range(m):
        first = head[j]
        own = first[m:]
        for i in range(n - 1, -1, -1):
            y = B[j, i]
            if y == 0.0:
                continue
            x = first[j]
            size = sqrt(x * x + y * y)
            c, s = x / size, y / size
            first[j] = size
            for k in range(j + 1, m):
                a, b = first[k], B[k, i]
                first[k] = c * a + s * b
                B[k, i] = c * b - s * a
            rotate_rows(own, T[i], i, n, c, s)
    for k in range(n):
        step[k] = 0.0
    for j in range(m):
        total = innovation[j]
        for k in range(j):
            total -= head[k, j] * white[k]
        white[j] = total / head[j, j]
        for k in range(n):
            step[k] += head[j, m + k] * white[j]


@inline
def rotate_rows(a, b, first, end, c, s):
    """Turn two rows by an angle from place `first` on."""
    k = first
    while k + 4 <= end:
        x, y = lanes_at(a, k), lanes_at(b, k)
        put_lanes_at(a, k, c * x + s * y)
        put_lanes_at(b, k, c * y - s * x)
        k += 4
    while k < end:
        x1, y1 = a[k], b[k]
        a[k] = c * x1 + s * y1
        b[k] = c * y1 - s * x1
        k += 1


@kernel
def triangularise(T, sums):
    """Turn the rows of T (rows, n) so that its first n are upper triangular, by reflections.

    The diagonal comes out positive or zero; what is below is to be forgotten. sums (n,): scratch.
    """
    rows, n = T.shape
    for j in range(n):
        rest = 0.0
        for i in range(j + 1, rows):
            rest += T[i, j] * T[i, j]
        top = T[j, j]
        if rest == 0.0:
            if top < 0.0:
                for k in range(j, n):
                    T[j, k] = -T[j, k]
            continue
        size = sqrt(top * top + rest)
        # of the two reflections the one that loses no digits, then the sign
        v = top + size if top > 0.0 else top - size
        scale = 2.0 / (v * v + rest)
        for k in range(j + 1, n):
            sums[k] = v * T[j, k]
        for i in range(j + 1, rows):
            add_multiple(sums, T[i], T[i, j], j + 1, n)
        for k in range(j + 1, n):
            sums[k] *= scale
        sign = -1.0 if top > 0.0 else 1.0
        for k in range(j + 1, n):
            T[j, k] = sign * (T[j, k] - v * sums[k])
        T[j, j] = size
        for i in range(j + 1, rows):
            add_multiple(T[i], sums, -T[i, j], j + 1, n)
            T[i, j] = 0.0


@inline
def add_multiple(a, b, factor, first, end):
    """a += factor b from place `first` on."""
    k = first
    while k + 4 <= end:
        put_lanes_at(a, k, lanes_at(a, k) + factor * lanes_at(b, k))
        k += 4
    while k < end:
        a[k] += factor * b[k]
        k += 1
