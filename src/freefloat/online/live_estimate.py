"""An estimate: what is known after a sample, worked out when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from freefloat.arrays import Array, read_only_copy
from freefloat.identification.assessment import Assessment, Grade
from freefloat.identification.corrected_least_squares import (
    Bias,
    LeastSquaresSolution,
    solve_triangle,
)
from freefloat.identification.physical.consistent_fit import Physical, closest_physical
from freefloat.notes import Note
from freefloat.observability.visibility import known_status
from freefloat.online.filter_problem import DIFFUSE, FilterUnknowns
from freefloat.online.health import Event, Health, SampleOutcome
from freefloat.online.judgement import Judgement, assess_estimate
from freefloat.online.status_note import KNOWN, NO_BAND, status_note
from freefloat.parameters.parameters import Parameters

# theory: natural sizes, a hundredth of the diffuse prior: to the data a change by a whole natural
# size is less than 1e-4 standard deviations, so what is known is the prior
UNKNOWN = 1e-2 * DIFFUSE


class SampleReport(NamedTuple):
    """What the intake knows after a sample: the time [s] of the last one used, None before any.

    judge: the filter's judgement of an estimate, made when it is asked for.
    """

    time: float | None
    outcome: SampleOutcome
    events: tuple[Event, ...]
    health: Health
    judge: Callable[[LiveEstimate], Judgement | None] | None = None


@dataclass(frozen=True, eq=False)
class LiveEstimate:
    """Parameters after a sample.

    report: what became of this sample and of all so far; nis and dof: its normalised innovation
    squared and the degrees of freedom. Values, deviations, health, status and the physical
    projection are worked out on first use, from a snapshot of the filter; total deviations and
    grade from the flight kept until they are asked for, which takes a second now and then.
    """

    report: SampleReport
    nis: float
    dof: int
    parameters: Parameters
    unknowns: FilterUnknowns

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """An estimate of all fields, made as fast as can be: one is made for every sample.

        A frozen dataclass sets each field by a call; all at once takes a quarter of the time.
        """
        made = object.__new__(cls)
        made.__dict__.update(fields)
        return made

    @property
    def time(self) -> float | None:
        """Time [s] of the last sample used; None before."""
        return self.report.time

    @property
    def outcome(self) -> SampleOutcome:
        """What became of this sample: see `Health`."""
        return self.report.outcome

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened with it."""
        return self.report.events

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the free parameters."""
        return tuple(p.name for p in self.unknowns.free)

    @property
    def sizes(self) -> Array:
        """Natural sizes of the free parameters, in their units."""
        return self.unknowns.sizes[len(self.unknowns.nuisance) :]

    @property
    @abstractmethod
    def values(self) -> Array:
        """The estimates, in the parameters' units."""

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """Covariance of the estimates; NaN for what the data do not say."""

    @property
    @abstractmethod
    def physical(self) -> Physical:
        """The closest parameters that bodies can have."""

    @property
    def lost_directions(self) -> Array | None:
        """(parameters, k) unit directions, in natural sizes, that the data do not tell."""
        return None

    @cached_property
    def std(self) -> Array:
        """Standard deviations; NaN for what is not observable on its own."""
        return read_only_copy(np.sqrt(np.diag(self.covariance)))

    @property
    def interval95(self) -> Array:
        """(n, 2) bounds that hold the truth in 95 of 100 cases if what is known is exact."""
        return np.column_stack([self.values - 1.96 * self.std, self.values + 1.96 * self.std])

    @cached_property
    def judgement(self) -> Judgement | None:
        """Total deviations and evidence; None where the filter knows none."""
        judge = self.report.judge
        return None if judge is None or not np.isfinite(self.std).any() else judge(self)

    @property
    def n_tested(self) -> int:
        """Samples whose innovations were compared with noise."""
        sums = self.report.health.innovations
        return 0 if sums is None else int(np.max(sums.counts, initial=0))

    @property
    def total_std(self) -> Array:
        """Standard deviations with what is taken as exact; NaN where not known.

        `std` has the noise alone, as if thrust, known bodies, wheels and sensors were exact.
        """
        judged = self.judgement
        return np.full(len(self.names), np.nan) if judged is None else judged.total_std

    @property
    def total_interval95(self) -> Array:
        """(n, 2) bounds that hold the truth in 95 of 100 cases, whatever is off by its doubt."""
        half = 1.96 * self.total_std
        return np.column_stack([self.values - half, self.values + half])

    @cached_property
    def assessment(self) -> Assessment:
        """The grade with its evidence, as a Fit has it."""
        return assess_estimate(self)

    @property
    def grade(self) -> Grade:
        """trusted, with reservations, or not trusted."""
        return self.assessment.grade

    @property
    def statuses(self) -> tuple[str, ...]:
        """seen, weak or not seen, for every parameter: as in batch, by std over natural size."""
        relative = self.std / self.sizes
        return tuple("not seen" if np.isnan(r) else known_status(r) for r in relative)

    @cached_property
    def status(self) -> Note:
        """How many parameters are observable; where none is, why and what would help."""
        return status_note(self)

    @cached_property
    def health(self) -> Health:
        """What became of the samples so far, and whether any parameter is observable."""
        found = self.report.health
        is_blind = found.counts.get("taken") and not set(self.statuses) & {*KNOWN, NO_BAND}
        return replace(found, concerns=(*found.concerns, self.status)) if is_blind else found

    def __getitem__(self, name: str) -> tuple[float, float]:
        """Value and standard deviation of a parameter."""
        k = self.names.index(name)
        return float(self.values[k]), float(self.std[k])

    def as_dict(self) -> dict[str, object]:
        """The estimate as plain numbers, for JSON."""
        fields = ("value", "std", "total_std", "status")
        columns = (
            self.values.tolist(), self.std.tolist(), self.total_std.tolist(), self.statuses
        )  # fmt: skip
        return {
            "time": self.time,
            "outcome": self.outcome,
            "nis": self.nis,
            "parameters": {
                name: dict(zip(fields, row, strict=True))
                for name, row in zip(self.names, zip(*columns, strict=True), strict=True)
            },
            "grade": self.grade,
            "reasons": [
                {"code": e.code, "text": e.text, "grade": e.grade, "remedy": e.remedy}
                for e in self.assessment.reasons
            ],
            "events": [vars(event) for event in self.events],
            "health": self.health.sentence,
            "health_codes": list(self.health.codes),
            "status": str(self.status),
            "status_code": self.status.code,
        }


@dataclass(frozen=True, eq=False)
class InformationEstimate(LiveEstimate):
    """That of a square-root information filter: R x = z, and what noise in the columns adds."""

    information_root: Array
    bias: Array
    n_rows: int

    @cached_property
    def solution(self) -> LeastSquaresSolution:
        """What the rows say of all unknowns, nuisance first, in natural sizes."""
        T, bias = self.information_root, self.bias
        return solve_triangle(
            T[:, :-1], T[:, -1], bias=Bias(bias[:, :-1], bias[:, -1]),
            n_rows=max(self.n_rows, 1), chi2=self.report.health.chi2,
        )  # fmt: skip

    @cached_property
    def values(self) -> Array:
        """The estimates; what is not observable stays at the model's value."""
        n = len(self.unknowns.nuisance)
        start = np.array([p.value for p in self.unknowns.free])
        return read_only_copy(start + self.unknowns.sizes[n:] * self.solution.values[n:])

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the estimates; NaN for what the data do not say."""
        n, sizes = len(self.unknowns.nuisance), self.unknowns.sizes
        found = self.solution.covariance.copy()
        from_prior = np.sqrt(np.diag(found)) > UNKNOWN
        found[from_prior] = found[:, from_prior] = np.nan
        return read_only_copy(
            (found * np.outer(sizes, sizes))[n:, n:] * self.report.health.widening
        )

    @cached_property
    def lost_directions(self) -> Array | None:
        """(parameters, k) unit directions, in natural sizes, that the data do not tell."""
        n, found = len(self.unknowns.nuisance), self.solution
        both = np.column_stack([found.unseen, found.buried])[n:]
        return np.linalg.qr(both)[0][:, : both.shape[1]]

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


@dataclass(frozen=True, eq=False)
class CovarianceEstimate(LiveEstimate):
    """That of a Kalman filter: values, and a root of their covariance in natural sizes.

    still_prior: a deviation above this share of the prior's is the prior's.
    """

    found: Array
    root: Array
    still_prior: float

    @property
    def values(self) -> Array:
        """The estimates, in the parameters' units."""
        return read_only_copy(self.found)

    @cached_property
    def spread(self) -> Array:
        """Covariance of the estimates, what only the prior says included."""
        S = self.root * self.unknowns.sizes[:, None]
        return read_only_copy(S @ S.T)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the estimates; NaN for what the data do not say."""
        found = self.spread.copy()
        prior = self.unknowns.prior[:, 1] * self.unknowns.sizes
        unsaid = np.sqrt(np.diag(found)) > self.still_prior * prior
        found[unsaid] = found[:, unsaid] = np.nan
        return read_only_copy(found * self.report.health.widening)

    @cached_property
    def lost_directions(self) -> Array | None:
        """(parameters, k) unit directions of which the data say no more than the prior."""
        if not self.report.health.n_rows:
            return None
        prior = self.unknowns.prior[:, 1] * self.unknowns.sizes
        shares, ways = np.linalg.eigh(self.spread / np.outer(prior, prior))
        both = ways[:, shares > self.still_prior**2] * self.unknowns.prior[:, 1:]
        return np.linalg.qr(both)[0][:, : both.shape[1]]

    @cached_property
    def physical(self) -> Physical:
        """The closest parameters that bodies can have."""
        L = np.asarray(np.linalg.qr(self.root.T, mode="r")).T
        root = np.linalg.inv(L) / self.unknowns.sizes
        return closest_physical(self.parameters, self.names, self.values, root.T @ root)


@dataclass(frozen=True, eq=False)
class ValueEstimate(LiveEstimate):
    """Values, and their covariance where the filter knows one."""

    found: Array
    found_covariance: Array | None = None

    @property
    def values(self) -> Array:
        """The estimates, in the parameters' units."""
        return read_only_copy(self.found)

    @property
    def covariance(self) -> Array:
        """Covariance of the estimates; NaN where the filter knows none."""
        n = len(self.found)
        known = self.found_covariance
        return read_only_copy(np.full((n, n), np.nan) if known is None else known)

    @property
    def statuses(self) -> tuple[str, ...]:
        """As usual; without a covariance, that there are no bands."""
        return (NO_BAND,) * len(self.found) if self.found_covariance is None else super().statuses

    @cached_property
    def physical(self) -> Physical:
        """The closest parameters that bodies can have, in natural sizes."""
        weights = np.diag(1.0 / np.square(self.sizes))
        return closest_physical(self.parameters, self.names, self.values, weights)
