"""Many samples of something slow, as a few numbers a block: amplitudes of orthonormal polynomials.

What is smooth over a block of m samples is a polynomial of low degree there, to far below noise.
Its amplitudes hold all that the samples say of it; white noise of unit size has amplitudes that are
white and of unit size as well, because the polynomials are orthonormal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from freefloat.arrays import Array

# theory: a cosine that turns by the angle a over a block is a cubic but for (a / 2)^8 / 2e7 of its
# energy: 1e-5 where a is a whole turn
PER_BLOCK = 4


@dataclass(frozen=True)
class BlockMoments:
    """n samples in blocks of `length`, with `PER_BLOCK` amplitudes each; the last may be shorter.

    A block of one sample is that sample.

    >>> blocks = BlockMoments(100, 16)
    >>> slow = np.linspace(0.0, 1.0, 100)
    >>> blocks.size, bool(np.allclose(blocks.series(blocks.amplitudes(slow)), slow))
    (28, True)
    """

    n: int
    length: int

    @property
    def each(self) -> int:
        """How many amplitudes a whole block has."""
        return min(PER_BLOCK, self.length)

    @property
    def n_whole(self) -> int:
        """How many blocks are whole."""
        return self.n // self.length

    @property
    def n_last(self) -> int:
        """How many samples are behind them."""
        return self.n - self.n_whole * self.length

    @property
    def size(self) -> int:
        """How many amplitudes there are."""
        return self.n_whole * self.each + min(PER_BLOCK, self.n_last)

    def amplitudes(self, rows: Array) -> Array:
        """Of samples (n, ...), or columns of them: (size, ...)."""
        if self.length == 1:
            return rows
        table = rows.reshape(self.n, -1)
        cut = self.n_whole * self.length
        whole = table[:cut].reshape(self.n_whole, self.length, table.shape[1])
        parts = [np.matmul(polynomials(self.length), whole).reshape(-1, table.shape[1])]
        if self.n_last:
            parts.append(polynomials(self.n_last) @ table[cut:])
        return np.concatenate(parts).reshape(self.size, *rows.shape[1:])

    def series(self, amplitudes: Array) -> Array:
        """The samples (n, ...) that amplitudes (size, ...) stand for."""
        if self.length == 1:
            return amplitudes
        table = amplitudes.reshape(self.size, -1)
        cut = self.n_whole * self.each
        whole = table[:cut].reshape(self.n_whole, self.each, table.shape[1])
        parts = [np.matmul(polynomials(self.length).T, whole).reshape(-1, table.shape[1])]
        if self.n_last:
            parts.append(polynomials(self.n_last).T @ table[cut:])
        return np.concatenate(parts).reshape(self.n, *amplitudes.shape[1:])

    def times(self, samples: Array) -> Array:
        """The middle (size,) [s] of the block of every amplitude, by the samples' times (n,)."""
        cut = self.n_whole * self.length
        middles = samples[:cut].reshape(self.n_whole, self.length).mean(axis=1)
        last = np.full(min(PER_BLOCK, self.n_last), np.mean(samples[cut:]) if self.n_last else 0.0)
        return np.concatenate([np.repeat(middles, self.each), last])


@cache
def polynomials(n: int) -> Array:
    """Orthonormal polynomials over n samples, one a row, from the constant on."""
    at = np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1)
    powers = np.polynomial.legendre.legvander(at, min(PER_BLOCK, n) - 1)
    found = np.linalg.qr(powers)[0].T
    found.setflags(write=False)
    return found
