"""Products of vectors with many columns at once, each column a parameter's."""

from __future__ import annotations

from freefloat.numba_.compilation import kernel


@kernel
def cross_columns(a, b, out):
    """Columns of a (N, 3, p) x b (N, 3) into out (N, 3, p)."""
    for n in range(a.shape[0]):
        x, y, z = b[n, 0], b[n, 1], b[n, 2]
        for p in range(a.shape[2]):
            out[n, 0, p] = a[n, 1, p] * z - a[n, 2, p] * y
            out[n, 1, p] = a[n, 2, p] * x - a[n, 0, p] * z
            out[n, 2, p] = a[n, 0, p] * y - a[n, 1, p] * x
