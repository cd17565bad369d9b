"""What a live filter must do to be driven by OnlineEstimator, and what it is made from.

A new filter is one class in one file: subclass LiveFilter, write `take`, `values`, `estimate`,
`arrays`, `restore` and `settings`, and hand the class over: OnlineEstimator(..., filter=MyFilter).
Clock, order, counts, unknown channels and state files are the estimator's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from freefloat.arrays import Array
from freefloat.model.model import Model
from freefloat.online.filter_options import FilterOptions
from freefloat.online.health import EventKind, SampleOutcome
from freefloat.online.innovations import InnovationSums
from freefloat.online.intake import Intake
from freefloat.online.judgement import Judgement
from freefloat.online.live_estimate import LiveEstimate, SampleReport
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry


@dataclass(frozen=True)
class FilterRequest:
    """What OnlineEstimator was asked, for the filter to be made from; fields as there."""

    model: Model
    parameters: Parameters
    like: Telemetry | None = None
    noise: Mapping[str, float] = field(default_factory=dict)
    random_walk: Mapping[str, float] = field(default_factory=dict)
    forgetting: float = 1.0
    gate: float = 1e-6
    reset: tuple[str, ...] | None = None
    correct: bool = True
    options: FilterOptions = field(default_factory=FilterOptions)


class LiveFilter(Protocol):
    """Samples in, estimates out; everything it knows can be saved.

    method: its name, also in state files; channels: what samples should have. The estimator calls
    `read`, checks the time of a sample that can be used, then `take`, `skip`, or `restart` and
    `take`. Both report events and missing channels to the intake, and set its time to that of a
    sample that was used.
    """

    method: str
    channels: tuple[str, ...]
    is_ordered: bool = True  # False: samples may come late, and their order is the filter's concern

    @abstractmethod
    def take(self, sample: Sample, intake: Intake) -> SampleOutcome:
        """Use a sample whose time is right; its outcome."""

    @property
    @abstractmethod
    def values(self) -> Array:
        """The free parameters as they are known now, in their units."""

    @abstractmethod
    def estimate(self, report: SampleReport) -> LiveEstimate:
        """The estimate after a sample, from a snapshot: it must not change afterwards."""

    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """Everything that changes from sample to sample, as arrays by name, for a state file."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`; KeyError, TypeError or ValueError where they do not fit."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What a saved state must have been made with, for JSON: unknowns, noise, options."""

    # -- what a simple filter can leave as it is ---------------------------------------------------

    def read(self, sample: Sample, intake: Intake) -> SampleOutcome | None:
        """Look at a sample before its time is checked; an outcome if it cannot be used."""
        return None

    def skip(self) -> None:
        """The sample that was read is not taken: its time is wrong."""

    def restart(self, time: float, kind: EventKind, why: str, intake: Intake) -> None:
        """Time goes on from elsewhere: begin a new segment, and report it.

        Args:
            time: Where it goes on [s].
            kind: Of the event to report.
            why: The sentence of the event.
            intake: Whose health takes the event.
        """

    def finish(self, intake: Intake) -> bool:
        """No more samples come: use what is held back; whether there was anything."""
        return False

    def warm_up(self) -> None:
        """Load or compile the kernels, so that the first sample takes no longer than others."""

    def misfit(self) -> tuple[float, int]:
        """Chi-square of the residuals, and their number."""
        return 0.0, 0

    def innovations(self) -> InnovationSums | None:
        """The sums of the innovations so far; None if nobody keeps them or they are not white."""
        return None

    def judge(self, estimate: LiveEstimate) -> Judgement | None:
        """Total deviations and what the flight kept says of an estimate; None: not known."""
        return None

    def renew_trust(self) -> None:
        """The next judgement is one of all samples so far, whatever it takes."""

    def notes(self) -> tuple[str, ...]:
        """What was assumed."""
        return ()

    def concerns(self) -> tuple[str, ...]:
        """What is wrong with the channels or the use of the filter."""
        return ()

    def samples_of(self, recording: Telemetry) -> Iterable[Sample]:
        """A recording's samples as the filter wants them."""
        return recording


FilterFactory = Callable[[FilterRequest], LiveFilter]


def restore_in_place(arrays: Mapping[str, Any], prefix: str, memory: Mapping[str, Array]) -> None:
    """Put saved arrays called prefix.name into those of a memory; ValueError if they do not fit."""
    for name, array in memory.items():
        found = arrays[f"{prefix}.{name}"]
        if found.shape != array.shape or found.dtype != array.dtype:
            raise ValueError(f"{prefix}.{name} is {found.shape}, expected {array.shape}")
        array[...] = found
