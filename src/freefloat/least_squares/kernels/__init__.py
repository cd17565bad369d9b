"""Hot loops of least squares, compiled by Numba."""
