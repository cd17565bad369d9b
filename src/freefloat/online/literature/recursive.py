"""The recursions of the literature behind `OnlineEstimator(model, parameters, method=...)`.

They are here to be compared with the estimator of record: rows are not weighed by noise, nothing
is gated, and there are no deviations. Momentum is taken about the fixed point where the first
sample was, reached by integrating the velocity; thrusters hold what they were last told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from freefloat.arrays import Array, frozen
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.identification.physical.consistent_fit import Physical, closest_physical
from freefloat.model.model import Model
from freefloat.online.estimator import OnlineEstimator
from freefloat.online.filter_problem import FilterUnknowns, unknowns_of, with_fixed_values
from freefloat.online.health import Event, SampleOutcome
from freefloat.online.literature.one_step_rows import PaperMotion
from freefloat.online.literature.recursions import recursion_of
from freefloat.online.live_channels import Channels, known_channels
from freefloat.online.live_estimate import NO_BAND, LiveEstimate
from freefloat.online.sample import Taken
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry


@dataclass(frozen=True, eq=False)
class RecursiveEstimate(LiveEstimate):
    """An Estimate without deviations: `triangle` is one column, the values."""

    @cached_property
    def values(self) -> Array:
        """The estimates, in the parameters' units."""
        return frozen(self.triangle[:, 0])

    @cached_property
    def covariance(self) -> Array:
        """NaN: these recursions do not know how sure they are."""
        return frozen(np.full((len(self.values), len(self.values)), np.nan))

    @property
    def statuses(self) -> tuple[str, ...]:
        """That there are no bands."""
        return (NO_BAND,) * len(self.values)

    @property
    def sight(self) -> str:
        """That nobody knows."""
        return "this method does not know how sure it is; square-root does"

    @cached_property
    def physical(self) -> Physical:
        """The closest parameters that bodies can have, in natural sizes."""
        weights = np.diag(1.0 / np.square(self.unknowns.sizes))
        return closest_physical(self.parameters, self.names, self.values, weights)


class NoMemory(NamedTuple):
    """Recursions keep theirs in `early`: its size is not known beforehand."""


@dataclass(frozen=True)
class Options:
    """What a saved state must have been made with."""

    sigma: Array
    walk: Array
    gates: Array
    forgetting: float = 1.0
    probing: float = 0.0


class RecursiveEstimator(OnlineEstimator):
    """Linear parameters by recursive least squares; `prior`: the variance P starts from, SI.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> params = ff.Parameters(model).free("bus.mass", "target.mass")
    >>> ff.OnlineEstimator(model, params, method="rls").update({"time": 0.0}).verdict
    'incomplete'
    """

    def __init__(
        self,
        model: Model,
        parameters: Parameters,
        *,
        method: str = "modified-rls",
        like: Telemetry | None = None,
        noise: Mapping[str, float] | None = None,
        reorder: int = 0,
        prior: float = 1e6,
        **others: Any,
    ) -> None:
        for name, usual in (("random_walk", {}), ("forgetting", 1.0)):
            if others.get(name, usual) not in (usual, None):
                raise IdentificationError(f"method={method!r} has no {name}; another method has")
        self.model, self.parameters = model, parameters
        self.system = flatten(with_fixed_values(model, parameters))
        found = unknowns_of(self.system, parameters)
        n = len(found.nuisance)
        self.unknowns = FilterUnknowns(found.free, (), found.sizes[n:], found.prior[n:])
        names, sizes = known_channels(model, like, noise)
        self.channels = Channels.of(self.system, names, sizes)
        self.taken = Taken(self.channels)
        self.recursion = recursion_of(method, self.system, parameters, prior=prior)
        self.early: Any = self.recursion
        self.memory: Any = NoMemory()
        nothing = np.zeros(0)
        self.problem: Any = Options(self.channels.sigma, nothing, nothing)
        self._keep_books(reorder, like, noise or {})

    def warm_up(self) -> None:
        """Load or compile the regressor."""
        home = self.channels.home
        self.recursion.warm_up(PaperMotion.of(home, self.taken.levels, self.taken.wrench))

    @property
    def values(self) -> Array:
        """The estimates."""
        return self.recursion.values

    def samples_of(self, recording: Telemetry) -> Telemetry:
        """A recording as it is: what thrusters do between samples counts by its mean."""
        return recording

    # -- inside ------------------------------------------------------------------------------------

    def _misfit(self) -> tuple[float, int]:
        return 0.0, 0

    def _concerns(self) -> tuple[str, ...]:
        return self.strangers.concerns

    def _estimate(self, verdict: SampleOutcome, events: tuple[Event, ...]) -> RecursiveEstimate:
        values = np.array(self.recursion.values)[:, None]
        return RecursiveEstimate(
            self.time, verdict, np.nan, 0, events, self._counted(), self.parameters, self.unknowns,
            values, np.zeros_like(values), 0,
        )  # fmt: skip

    def _process(self, sample: Sample) -> SampleOutcome:
        taken = self.taken
        self._greet(sample.values)
        if not taken.read(sample.values):
            self._miss(sample.values)
            return "incomplete"
        if not np.all(np.isfinite(taken.vector)):
            return "unusable"
        judged = self.clock.judge(sample.time)
        if judged == "jumped":
            self._restart(sample.time, "clock jump", "the clock jumped")
        elif judged != "next":
            return "clock jump" if judged == "suspect" else judged
        motion = PaperMotion.of(taken.vector, taken.levels, taken.wrench)
        has_rows = self.recursion.take(sample.time, motion)
        self.time = sample.time
        return "taken" if has_rows else "begun"

    def _restart(self, time: float, kind: Any, why: str) -> None:
        self.recursion.restart()
        self._note(Event(time, kind, f"{why}: momentum counts from here"))
