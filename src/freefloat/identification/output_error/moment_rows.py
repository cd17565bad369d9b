"""Long recordings block by block: as many rows as the motion needs, not as many as samples.

Readings follow the motion, which is far slower than the samples come: over a block of them they are
a polynomial of low degree (`least_squares.block_moments`). Its amplitudes take the place of the
samples in least squares and in every score, where that loses next to nothing of what these say of
the unknowns: the information of both is compared, and the longest blocks are taken that keep it.
What is faster than a block says nothing of the unknowns. It is tested for being noise, sample by
sample, by `trust.misfit`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.least_squares.block_moments import PER_BLOCK, BlockMoments
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.observability.visibility import ROUNDING

# theory: from 2 samples an amplitude on there is something to be saved; doubled as long as it pays
SHORTEST, LONGEST = 4 * PER_BLOCK, 32 * PER_BLOCK  # [samples] of a block of the fastest channel


def with_moments(problem: OutputErrorProblem, theta: Array) -> OutputErrorProblem:
    """The problem with blocks as long as the motion at theta allows, where recordings are long.

    The same problem where none is long, where outliers are weighed sample by sample, or where the
    simulation is not finite.
    """
    options = problem.options
    whole = replace(problem, moments=())
    if problem.robust is not None or not np.all(np.isfinite(theta)):
        return whole
    found = []
    for r, recording in enumerate(problem.recordings):
        n_rows = sum(len(m.times) * len(m.rows) for m in recording.measurements)
        is_long = n_rows > options.whole_rows
        blocks = _longest_blocks(whole, r, theta) if is_long else None
        found.append(blocks or tuple(BlockMoments(len(m.times), 1) for m in recording.measurements))
    is_any = any(block.length > 1 for blocks in found for block in blocks)
    return replace(problem, moments=tuple(found)) if is_any else whole


def _longest_blocks(
    problem: OutputErrorProblem, r: int, theta: Array
) -> tuple[BlockMoments, ...] | None:
    """The longest blocks of recording r that keep what it says of its unknowns; None: none do."""
    flown = problem.slopes_at(r, theta)
    if flown is None:
        return None
    rows, places = flown
    rows = rows * problem.unknowns.sizes[places]
    measurements = problem.recordings[r].measurements
    lengths = [len(m.times) for m in measurements for _ in m.rows]
    apart = np.split(rows, np.cumsum(lengths)[:-1])
    all_of_it = triangle_of(rows)
    interval = min(float(np.median(np.diff(m.times))) for m in measurements if len(m.times) > 1)
    best, length = None, SHORTEST
    while length <= LONGEST:
        blocks = _blocks(problem, r, length * interval)
        each = [block for block, m in zip(blocks, measurements, strict=True) for _ in m.rows]
        parts = [block.amplitudes(part) for block, part in zip(each, apart, strict=True)]
        if (
            _information_loss(all_of_it, triangle_of(np.vstack(parts)))
            > problem.options.information_loss
        ):
            break
        best, length = blocks, 2 * length
    return best


def _blocks(problem: OutputErrorProblem, r: int, seconds: float) -> tuple[BlockMoments, ...]:
    """Blocks of that length; single samples of a channel too slow to gain by it."""
    found = []
    for m in problem.recordings[r].measurements:
        interval = float(np.median(np.diff(m.times))) if len(m.times) > 1 else seconds
        length = round(seconds / interval)
        found.append(BlockMoments(len(m.times), length if length >= 2 * PER_BLOCK else 1))
    return tuple(found)


def _information_loss(whole: Array, kept: Array) -> float:
    """The largest share of the information (roots: whole, kept) that is lost along any direction.

    Directions of which the whole tells nothing but rounding are no loss.
    """
    size = np.linalg.norm(whole, axis=0)
    scale = 1.0 / np.where(size > 0.0, size, 1.0)
    _, s, Vt = np.linalg.svd(whole * scale)
    seen = s > np.sqrt(ROUNDING) * s[0] if len(s) else s > 0.0
    ratio = (kept * scale) @ (Vt[seen].T / s[seen])
    least = np.linalg.svd(ratio, compute_uv=False)
    return 1.0 - float(least[-1]) ** 2 if len(least) else 0.0
