"""An estimate: what is known after a sample, worked out when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from freefloat.arrays import Array, frozen
from freefloat.identification.physical.consistent_fit import Physical, closest_physical
from freefloat.identification.solve import LinearSolution
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.health import Event, Health, SampleOutcome
from freefloat.online.information_matrix import solution
from freefloat.online.status_text import KNOWN, sight
from freefloat.parameters.parameters import Parameters

WEAK = 0.3  # natural sizes: a deviation above says little of the parameter
NO_BAND = "no band"  # the status of all that an estimator without deviations finds
FROM_PRIOR = 0.01  # of the prior's deviation: above, the data did not say it


@dataclass(frozen=True, eq=False)
class LiveEstimate:
    """Parameters after a sample; `time` [s] is that of the last sample used, None before.

    verdict: what became of this sample; nis and dof: how surprising it was; events: what happened
    with it; counted: what became of all so far. Values, deviations, health, sight (what is seen, in
    words) and the physical projection are worked out on first use, from a snapshot.
    """

    time: float | None
    verdict: SampleOutcome
    nis: float
    dof: int
    events: tuple[Event, ...]
    counted: Health
    parameters: Parameters
    unknowns: FilterUnknowns
    triangle: Array
    bias: Array
    n_rows: int

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """An estimate of all fields, made as fast as can be: one is made for every sample.

        A frozen dataclass sets each field by a call; all at once takes a quarter of the time.
        """
        made = object.__new__(cls)
        made.__dict__.update(fields)
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the free parameters."""
        return tuple(p.name for p in self.unknowns.free)

    @cached_property
    def solution(self) -> LinearSolution:
        """What the rows say of all unknowns, nuisance first, in natural sizes."""
        return solution(self.triangle, self.bias, self.n_rows, self.counted.chi2)

    @cached_property
    def values(self) -> Array:
        """The estimates, in the parameters' units; what is not seen stays at the model's value."""
        n = len(self.unknowns.nuisance)
        start = np.array([p.value for p in self.unknowns.free])
        return frozen(start + self.unknowns.sizes[n:] * self.solution.values[n:])

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the estimates; NaN for what the data do not say."""
        n, sizes = len(self.unknowns.nuisance), self.unknowns.sizes
        found = self.solution.covariance.copy()
        from_prior = np.sqrt(np.diag(found)) > FROM_PRIOR * 1e6  # only diffuse priors are so wide
        found[from_prior] = found[:, from_prior] = np.nan
        return frozen((found * np.outer(sizes, sizes))[n:, n:] * self.counted.widening)

    @cached_property
    def std(self) -> Array:
        """Standard deviations; NaN for what is not seen on its own."""
        return frozen(np.sqrt(np.diag(self.covariance)))

    @property
    def interval95(self) -> Array:
        """(n, 2) bounds that hold the truth in 95 of 100 cases."""
        return np.column_stack([self.values - 1.96 * self.std, self.values + 1.96 * self.std])

    @property
    def statuses(self) -> tuple[str, ...]:
        """seen, weak or not seen, for every parameter."""
        n = len(self.unknowns.nuisance)
        relative = self.std / self.unknowns.sizes[n:]
        return tuple(
            "not seen" if np.isnan(r) else "weak" if r > WEAK else "seen" for r in relative
        )

    @cached_property
    def lost(self) -> Array | None:
        """(parameters, k) unit directions, in natural sizes, that the data do not tell."""
        n, found = len(self.unknowns.nuisance), self.solution
        both = np.column_stack([found.unseen, found.buried])[n:]
        return np.linalg.qr(both)[0][:, : both.shape[1]]

    @cached_property
    def sight(self) -> str:
        """What is seen, in words; where nothing is, why and what would show it."""
        return sight(self)

    @cached_property
    def health(self) -> Health:
        """What became of the samples so far, and whether anything is seen."""
        is_blind = self.counted.counts.get("taken") and not set(self.statuses) & {*KNOWN, NO_BAND}
        if not is_blind:
            return self.counted
        return replace(self.counted, concerns=(*self.counted.concerns, self.sight))

    @cached_property
    def physical(self) -> Physical:
        """The closest parameters that bodies can have; where the data say nothing, the model's."""
        n, sizes = len(self.unknowns.nuisance), self.unknowns.sizes
        root = self.solution.root
        if n:  # the nuisance may be anything
            turned = np.asarray(np.linalg.qr(root, mode="r"))
            root = turned[n:, n:] if len(turned) > n else turned[:0, n:]
        root = root / sizes[n:]
        return closest_physical(self.parameters, self.names, self.values, root.T @ root)

    def __getitem__(self, name: str) -> tuple[float, float]:
        """Value and standard deviation of a parameter."""
        k = self.names.index(name)
        return float(self.values[k]), float(self.std[k])

    def as_dict(self) -> dict[str, object]:
        """The estimate as plain numbers, for JSON."""
        fields = ("value", "std", "status")
        columns = (self.values.tolist(), self.std.tolist(), self.statuses)
        return {
            "time": self.time,
            "verdict": self.verdict,
            "nis": self.nis,
            "parameters": {
                name: dict(zip(fields, row, strict=True))
                for name, row in zip(self.names, zip(*columns, strict=True), strict=True)
            },
            "events": [vars(event) for event in self.events],
            "health": self.health.sentence,
            "sight": self.sight,
        }
