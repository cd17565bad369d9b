"""What a method found in its own unknowns, and how well its rows are explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.identification.linear.least_squares import NOISY as NOISY
from freefloat.identification.linear.least_squares import LinearEstimate
from freefloat.identification.linear.samples import Samples
from freefloat.linear_algebra import eliminate

VAGUE = 10.0  # natural sizes: how far what noise buries may be off


@dataclass(frozen=True)
class Solved:
    """What a method found in its own unknowns, and how those follow from the parameters.

    sources: what could fix the scale; unknowns_of: the unknowns of a system, for methods whose
    unknowns are not the parameters themselves.
    """

    estimate: LinearEstimate
    prepared: tuple[Samples, ...]
    system: System
    sources: tuple[str, ...]
    unknowns_of: Callable[[System], Array] | None = None
    is_start_only: bool = False

    def root(self, sizes: Array) -> Array:
        """A square root of the information on the unknowns, nuisance eliminated.

        Directions buried in noise are not unseen for sure: they count as known to `VAGUE` natural
        sizes, so that a parameter that hardly takes part in them is still known.
        """
        n, found = self.estimate.n_parameters, self.estimate.solution
        rows = eliminate(found.root, n)
        if not found.buried.shape[1]:
            return rows
        directions = np.linalg.qr(found.buried[:n] / sizes[:, None])[0]
        return np.vstack([rows, directions.T / sizes / VAGUE])

    @property
    def is_noise_known(self) -> bool:
        """Whether the noise of every channel was stated."""
        return all(samples.is_noise_known for samples in self.prepared)

    @property
    def misfit(self) -> float:
        """Mean square residual in units of the noise, of the worst kind of row."""
        scale = self.estimate.robust_scale
        return self.estimate.misfit if scale is None else scale**2

    @property
    def memory(self) -> float:
        """(1 + r) / (1 - r) for the correlation r of residuals with the next, of the worst kind."""
        found = [1.0]
        for left in self.estimate.residuals.values():
            r = float(left[1:] @ left[:-1] / max(float(left @ left), 1e-300))
            if r > max(0.15, 4.0 / np.sqrt(len(left))):
                found.append((1.0 + r) / max(1.0 - r, 1e-3))
        return max(found)

    @property
    def widening(self) -> float:
        """How much wider intervals are than white noise as stated makes them."""
        misfit = self.misfit if self.misfit > NOISY or not self.is_noise_known else 1.0
        return float(np.sqrt(misfit * self.memory))

    @property
    def timing(self) -> float:
        """How far the impulse of thrust may be off, relative, if it switches between samples.

        Only where impulses are integrated (momentum).
        """
        if "linear.x" not in self.estimate.residuals:
            return 0.0
        total = 0.0
        for samples in self.prepared:
            step = float(np.median(np.diff(samples.time)))
            total += step * float(np.sum(np.abs(samples.thrust)))
        doubt = np.linalg.norm([samples.switching for samples in self.prepared])
        return float(doubt) / total if total > 0.0 else 0.0
