"""Tasks for the worker before a flight: open a model, check, design; and what comes of them.

Every task calls what the command of the same name calls. A task is a frozen record, so that it can
be sent to the worker; whatever is heavy is imported in `run`, in the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freefloat.studio.worker import GRACE, Watch

if TYPE_CHECKING:
    from freefloat.design.excitation import Design
    from freefloat.dynamics.model_check import ModelCheck
    from freefloat.excitation.plan import Plan
    from freefloat.model.model import Model
    from freefloat.observability.visibility import Visibility
    from freefloat.parameters.parameters import Parameters
    from freefloat.studio.craft import Craft
    from freefloat.studio.flight_motion import FlightMotion

# format: [s] that a design may take, once stopped, to make its best motion fit its limits
GRACE_OF_DESIGN = 120.0


@dataclass(frozen=True)
class Wanted:
    """Which parameters are looked for: what is free and known, by names or globs.

    priors: relative standard deviations by glob.
    """

    free: tuple[str, ...]
    fix: tuple[str, ...] = ()
    priors: Mapping[str, float] = field(default_factory=dict)

    def parameters(self, model: Model) -> Parameters:
        """Those of a model; raises FreefloatError for a glob that fits none."""
        from freefloat.parameters.parameters import Parameters

        chosen = Parameters(model).free(*self.free)
        if self.fix:
            chosen = chosen.fix(*self.fix)
        for glob, share in self.priors.items():
            chosen = chosen.prior(glob, relative=share)
        return chosen


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """A model as it was read, what was found out about it, and what it looks like."""

    source: str
    checked: ModelCheck
    craft: Craft
    globs: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def model(self) -> Model:
        """The model."""
        return self.checked.model


@dataclass(frozen=True)
class OpenModel:
    """Read a model: `freefloat check`."""

    source: str
    title = "opening the model"
    grace = GRACE

    def run(self, watch: Watch) -> OpenedModel:
        """The model, its modes and notes, and its shapes."""
        watch.progress("reading the model", 0.1)
        from freefloat.dynamics.model_check import check_model
        from freefloat.model.loading import load_model
        from freefloat.parameters.default_choice import default_globs
        from freefloat.parameters.parameters import Parameters
        from freefloat.studio.craft import craft_of

        model = load_model(self.source)
        watch.progress("its shapes", 0.3)
        craft = craft_of(model, self.source)
        watch.progress("mass, modes, notes", 0.6)
        checked = check_model(model)
        names = tuple(parameter.name for parameter in Parameters(model))
        return OpenedModel(self.source, checked, craft, default_globs(model), names)


@dataclass(frozen=True, eq=False)
class SeenParameters:
    """What a flight would show, of which choice that was asked, and of which motion."""

    wanted: Wanted
    sensors: str
    visibility: Visibility
    motion: str = ""


@dataclass(frozen=True, eq=False)
class CheckParameters:
    """What a flight would show: `freefloat check --free ... --sensors ...`."""

    model: Model
    wanted: Wanted
    sensors: str = ""
    plan: Plan | None = None
    title = "checking what a flight would show"
    grace = GRACE

    def run(self, watch: Watch) -> SeenParameters:
        """The parameters: seen, weak, only in combination, invisible."""
        from freefloat.observability.identifiability import identifiability

        watch.progress("simulating the motion and its slopes")
        found = identifiability(
            self.model, self.wanted.parameters(self.model), plan=self.plan,
            sensors=self.sensors or None,
        )  # fmt: skip
        motion = "the default motion" if self.plan is None else f"the plan {self.plan.name!r}"
        return SeenParameters(self.wanted, self.sensors, found, motion)


@dataclass(frozen=True, eq=False)
class DesignedPlan:
    """A plan, how it was found, how it moves the robot, and what it takes of the limits."""

    plan: Plan
    motion: FlightMotion
    design: Design | None = None


@dataclass(frozen=True, eq=False)
class DesignPlan:
    """Find the motion that shows the parameters best: `freefloat design`."""

    model: Model
    wanted: Wanted
    sensors: str = ""
    duration: float = 60.0
    criterion: str = "a_optimal"
    limits: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    seed: int = 0
    title = "designing a motion"
    grace = GRACE_OF_DESIGN

    def run(self, watch: Watch) -> DesignedPlan:
        """The plan; stopped, the best one so far, made to fit its limits."""
        from freefloat.design.excitation import design
        from freefloat.design.motion_search import Effort
        from freefloat.progress import CancelledError

        def follow(stage: str, fraction: float | None = None) -> None:
            try:
                watch.progress(stage, fraction, value=_number_in(stage))
            except CancelledError:
                # the search keeps its best motion then, as it does on Ctrl-C
                raise KeyboardInterrupt from None

        try:
            found = design(
                self.model, self.wanted.parameters(self.model), duration=self.duration,
                criterion=self.criterion, sensors=self.sensors or None, limits=dict(self.limits),
                seed=self.seed, effort=Effort(seconds=self.seconds), progress=follow,
                on_interrupt=lambda: watch.progress("stopped: making the best motion fit", 0.95),
            )  # fmt: skip
        except KeyboardInterrupt:
            raise CancelledError from None  # there was no motion yet
        watch.progress("flying it once", 0.98)
        return DesignedPlan(found.plan, motion_of_plan(self.model, found.plan), found)


@dataclass(frozen=True, eq=False)
class OpenPlan:
    """A plan from a file, or the usual gentle motion where none is named."""

    model: Model
    path: str = ""
    duration: float = 60.0
    seed: int = 0
    title = "opening a plan"
    grace = GRACE

    def run(self, watch: Watch) -> DesignedPlan:
        """The plan and its motion."""
        from freefloat.excitation.default import default_plan
        from freefloat.excitation.plan_file import load_plan

        watch.progress("flying it once")
        if self.path:
            plan = load_plan(self.path, self.model)
        else:
            plan = default_plan(self.model, duration=self.duration, seed=self.seed)
        return DesignedPlan(plan, motion_of_plan(self.model, plan, watch))


def motion_of_plan(model: Model, plan: Plan, watch: Watch | None = None) -> FlightMotion:
    """How a plan moves a model."""
    from freefloat.prediction.simulate import simulate
    from freefloat.progress import silent
    from freefloat.studio.flight_motion import motion_of_flight

    progress = silent if watch is None else watch
    return motion_of_flight(model, simulate(model, plan, seed=0, progress=progress))


def _number_in(stage: str) -> float | None:
    """The value of the criterion that a design says with its progress, if it does."""
    try:
        return float(stage.rpartition(", ")[2])
    except ValueError:
        return None
