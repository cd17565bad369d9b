"""Numba kernels: the hot loops, over flat arrays, without allocation."""
