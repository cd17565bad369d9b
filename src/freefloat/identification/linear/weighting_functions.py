"""Test functions: smooth, narrow ones that a recording is multiplied by and integrated over.

Each is one in its middle, zero with its first slopes at both ends, and adds up to one with its
neighbours, which start and end in its middle: so hardly anything slow that a recording says is
lost, and only neighbours share errors. Derivatives by time are moved onto the test functions by
summation by parts: sum_i b_i (dm/dt)_i = sum_j (sum_i b_i G_ij) m_j with G a difference of eighth
order, so that nothing is approximated but G, whatever the width, and noise is weighted by the
smooth slope of the test function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb

import numpy as np
from scipy.sparse import csr_array

from freefloat.arrays import Array
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import floor_of
from freefloat.identification.linear.linear_options import DEFAULTS

# theory: derivatives that vanish at both ends and in the middle; two make noise fall as 1/f^3
SMOOTHNESS = 2
REACH = 4  # theory: instants on either side of a difference of eighth order
# theory: narrower, and a function shares errors with its second neighbours through the differences
LEAST_HALF = REACH + 1

# How an error at instant i + d moves momenta and forces (N, k) at instant i, for every distance d.
Errors = Mapping[int, tuple[Array, Array]]


def smooth_hat(s: Array) -> Array:
    """The test function at s, from -1 to 1; zero beyond.

    >>> smooth_hat(np.array([-1.0, -0.5, 0.0, 1.5])).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """
    n = SMOOTHNESS
    x = np.clip(1.0 - np.abs(s), 0.0, 1.0)
    return x ** (n + 1) * sum(
        comb(n + k, k) * comb(2 * n + 1, n - k) * (-x) ** k for k in range(n + 1)
    )


@dataclass(frozen=True, eq=False)  # compared and cached by identity
class Grid:
    """The instants of a recording in pieces without gaps or jumps, and differences on them.

    pieces: first and last instant of each, the last one being the first of the next where
    something jumps; differences (N, 2 REACH + 1): d/dt at an instant from its neighbours, zero
    where a piece has not enough of them.
    """

    time: Array
    pieces: tuple[tuple[int, int], ...]
    differences: Array

    def rate(self, values: Array, otherwise: Array) -> Array:
        """The derivative by time of values (N,), and `otherwise` near the ends of a piece."""
        n = len(self.time)
        at = np.clip(np.arange(n)[:, None] + np.arange(-REACH, REACH + 1), 0, n - 1)
        found = np.einsum("nd,nd->n", self.differences, values[at])
        return np.where(self.differences.any(axis=1), found, otherwise)


def cut_grid(time: Array, jumps: np.ndarray) -> Grid:
    """The pieces of a recording: cut at gaps, and at the instants from which something differs."""
    return _grid(np.ascontiguousarray(time).tobytes(), np.asarray(jumps, dtype=np.int64).tobytes())


@lru_cache(maxsize=8)  # a solver asks for the same recording again and again
def _grid(times: bytes, switches: bytes) -> Grid:
    time, jumps = np.frombuffer(times), np.frombuffer(switches, dtype=np.int64)
    gaps = np.flatnonzero(np.diff(time) > 1.5 * np.median(np.diff(time))) + 1
    cuts = sorted({0, len(time), *gaps.tolist(), *np.asarray(jumps, dtype=int).tolist()})
    ends = [stop - 1 if stop in {*gaps.tolist(), len(time)} else stop for stop in cuts[1:]]
    pieces = tuple(zip(cuts[:-1], ends, strict=True))
    differences = np.zeros((len(time), 2 * REACH + 1))
    for a, b in pieces:
        if b - a >= 2 * REACH:
            differences[a + REACH : b - REACH + 1] = _differences(time[a : b + 1])
    return Grid(time, pieces, differences)


def _differences(time: Array) -> Array:
    """Weights (n - 2 REACH, 2 REACH + 1) of d/dt: exact for polynomials of degree 2 REACH."""
    n_points = 2 * REACH + 1
    t = np.lib.stride_tricks.sliding_window_view(time, n_points) - time[REACH:-REACH, None]
    step = t[:, -1:] / REACH
    powers = (t / step)[:, None, :] ** np.arange(n_points)[:, None]
    slope_of_powers = np.zeros((len(t), n_points, 1))
    slope_of_powers[:, 1] = 1.0
    return np.linalg.solve(powers, slope_of_powers)[:, :, 0] / step


@dataclass(frozen=True)
class BumpFunctions:
    """R test functions on a recording of N instants; each one's values add up to one.

    rows (R, W): the instants each one looks at; values and slopes (R, W): their weights in the
    integral of what they are multiplied by, and of what is differentiated by time [1/s].
    """

    n_instants: int
    rows: np.ndarray
    values: Array
    slopes: Array

    @cached_property
    def matrices(self) -> tuple[csr_array, csr_array]:
        """(R, N) of slopes and of values, so that integrals over the recording are products."""
        functions = np.repeat(np.arange(len(self.rows)), self.rows.shape[1])
        shape = len(self.rows), self.n_instants
        slopes, values = (
            csr_array((table.ravel(), (functions, self.rows.ravel())), shape=shape)
            for table in (self.slopes, self.values)
        )
        return slopes, values

    def integral(self, momenta: Array, forces: Array) -> Array:
        """Of test function * (d momenta / dt + forces), by parts: (N, ...) -> (R, ...)."""
        slopes, values = self.matrices
        n = self.n_instants
        flat = values @ forces.reshape(n, -1) + slopes @ momenta.reshape(n, -1)
        return flat.reshape(len(self.rows), *momenta.shape[1:])

    def covariance(self, errors: Iterable[Errors], k: int) -> tuple[Array, Array]:
        """Covariance of every function's integrals (R, k, k), and with its neighbour's."""
        width = self.rows.shape[1]
        place = np.arange(width) + np.diff(self.rows[:, 0])[:, None]  # of the next one's instants
        is_shared = place < width
        place = np.where(is_shared, place, 0)[:, :, None]
        blocks, neighbours = np.zeros((len(self.rows), k, k)), np.zeros((len(place), k, k))
        for error in errors:
            moved = self._integral_errors(error)
            here = np.take_along_axis(moved[:-1], place, axis=1) * is_shared[:, :, None]
            blocks += np.swapaxes(moved, 1, 2) @ moved
            neighbours += np.swapaxes(here, 1, 2) @ moved[1:]
        return blocks + np.diag(floor_of(blocks)), neighbours

    def _integral_errors(self, error: Errors) -> Array:
        """How every function's integrals move with the error of each of its instants (R, W, k)."""
        moved = np.zeros(())
        for distance, (momenta, forces) in error.items():
            by_force = self.values[:, :, None] * forces[self.rows]
            part = by_force + self.slopes[:, :, None] * momenta[self.rows]
            # the margin is zero, so nothing comes round
            moved = moved + np.roll(part, distance, axis=1)
        return np.asarray(moved)


@lru_cache(maxsize=8)
def bump_functions(grid: Grid, half: int = DEFAULTS.half_width) -> BumpFunctions:
    """Test functions about 2 `half` samples wide on every piece of a recording.

    They are stretched a little so that they fill their piece, and narrower on short ones.
    """
    if half < LEAST_HALF:
        raise IdentificationError(
            f"test functions are too narrow; give them a half width of {LEAST_HALF} samples",
            code="option.range",
        )
    made = [function for a, b in grid.pieces for function in _on_piece(grid.time, a, b, half)]
    if not made:
        raise IdentificationError(
            f"no stretch of the recording has {2 * (LEAST_HALF + REACH) - 1} samples in a row"
            " without a gap, or a thruster or wrench that switches: too few for test functions;"
            " record faster, or use method='momentum'",
            code="samples.gaps",
        )
    n, margin = len(grid.time), 2 * REACH  # of a difference, and of rates that are differences too
    width = min(max(len(values) for _, values in made) + 2 * margin, n)
    values, slopes = np.zeros((2, len(made), width))
    first = np.clip([start - margin for start, _ in made], 0, n - width)
    for r, (start, value) in enumerate(made):
        values[r, start - first[r] : start - first[r] + len(value)] = value
    rows = first[:, None] + np.arange(width)
    for d in range(-REACH, REACH + 1):
        slopes += np.roll(values * grid.differences[rows, d + REACH], d, axis=1)
    return BumpFunctions(n, rows, values, slopes)


def _on_piece(time: Array, a: int, b: int, half: int) -> list[tuple[int, Array]]:
    """First instant and values of every function on the piece from instant a to b."""
    a, b = a + REACH - 1, b - REACH + 1  # where functions are zero; inside, differences exist
    n = (b - a) // max(LEAST_HALF, min(half, (b - a) // 2))
    if n < 2:
        return []
    t = (time[a : b + 1] - time[a]) * n / (time[b] - time[a])
    made = []
    for centre in range(1, n):
        inside = np.flatnonzero(np.abs(t - centre) < 1.0)
        value = smooth_hat(t[inside] - centre)
        made.append((a + int(inside[0]), value / value.sum()))
    return made
