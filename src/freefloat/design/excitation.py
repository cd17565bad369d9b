"""Excitation design: `design_excitation` gives the plan, `design` tells all about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.design.candidate_flights import Flier, Flights
from freefloat.design.criteria import Criterion
from freefloat.design.information_criterion import MOTION_ONLY, informed
from freefloat.design.limit_check import blocking, fitted
from freefloat.design.linear_limits import rails_of
from freefloat.design.modal_energy import Bands, quieted
from freefloat.design.result import Design
from freefloat.design.search import Progress, Search
from freefloat.design.variables import Variables, variables_of
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import flatten
from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.basis import Basis, Shape
from freefloat.excitation.default import default_plan
from freefloat.excitation.limits import Limit, limits_of
from freefloat.excitation.plan import Plan
from freefloat.model.loading import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.observability.identifiability import identifiability
from freefloat.observability.sensor_choice import chosen_sensors
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.limit_monitors import watches_of

A_PEAK = 40  # points of the linear limits in a cycle of the fastest motion


@dataclass(frozen=True)
class Effort:
    """How hard to look: random motions, how many of them to improve, rounds for each, seconds."""

    random: int = 24
    starts: int = 2
    rounds: int = 12
    seconds: float | None = None


def design_excitation(
    model: Model | str,
    parameters: Parameters,
    *,
    duration: float = 60.0,
    criterion: str = "a_optimal",
    seed: int = 0,
    **options: object,
) -> Plan:
    """The plan that shows the free parameters best, within every limit of the model.

    All options of `freefloat.design.design`, whose result also tells what the plan is worth.

    >>> import freefloat as ff
    >>> from freefloat.design.excitation import Effort
    >>> model = ff.load_model("cepheus")
    >>> wanted = ff.Parameters.of(model).free("link_2.mx", "link_2.izz")
    >>> quick = Effort(random=4, starts=1, rounds=2)
    >>> ff.design_excitation(model, wanted, duration=5.0, effort=quick).duration
    5.0
    """
    return design(
        model, parameters, duration=duration, criterion=criterion, seed=seed, **options  # type: ignore[arg-type]
    ).plan  # fmt: skip


def design(
    model: Model | str,
    parameters: Parameters,
    *,
    duration: float = 60.0,
    criterion: str = "a_optimal",
    sensors: str | Sequence[Sensor] | None = None,
    shape: Shape = "fourier",
    harmonics: int = 5,
    limits: Mapping[str, float] | None = None,
    joints: Sequence[str] = ("*",),
    wheels: Sequence[str] = (),
    thrusters: Sequence[str] = (),
    start: Start | None = None,
    scenarios: Sequence[Model] = (),
    avoid: Bands = (),
    avoid_share: float = 0.01,
    seed: int = 0,
    effort: Effort = Effort(),  # noqa: B008
    progress: Progress | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Design:
    """A motion within the limits that shows the free parameters best, and what it is worth.

    criterion: "a_optimal" (mean variance), "d_optimal" (volume), "e_optimal" (worst direction),
    "condition", "worst_parameter", the names of parameters (globs), or one that asks for no
    information: "modal_energy" (left behind), "base_motion" (paper 002). Variances are in natural
    sizes. limits: "part.quantity" (globs) -> value, in place of the model's. joints, wheels,
    thrusters: globs of what is moved. scenarios: other models that might be true; the motion is
    good for, and within the limits of, the worst of all. avoid: bands [Hz] in which no more than
    avoid_share of the joints' acceleration energy may lie (`swinging.bands_of` gives those of the
    modes). The same seed gives the same plan unless
    the effort is limited in seconds.
    """
    if isinstance(model, str):
        model = load_model(model)
    _require_sense(duration, harmonics)
    allowed = limits_of(model, limits)
    system = flatten(model)
    variables = variables_of(
        system, allowed, basis=Basis(shape, duration, harmonics), joints=joints, wheels=wheels,
        thrusters=thrusters, start=start or Start(),
    )  # fmt: skip
    if avoid:
        variables = quieted(variables, avoid, avoid_share)
    suite = tuple(s for s in chosen_sensors(model, sensors) if s.kind != "thruster")
    flights, criteria = [], []
    for one in (model, *scenarios):
        own = flatten(one)
        watches = watches_of(own, allowed)
        if criterion in MOTION_ONLY:
            fly = Flights(own, variables, watches)
            judge = MOTION_ONLY[criterion](own)
        else:
            fly, judge = informed(own, parameters, variables, watches, suite, criterion)
        flights.append(fly)
        criteria.append(judge)
    search = searching(model, variables, allowed, flights, criteria, seed=seed, effort=effort)
    search.progress, search.on_interrupt = progress, on_interrupt
    found = finished(search, variables, allowed, criterion)
    before = identifiability(
        model, parameters, plan=default_plan(model, duration=duration, seed=seed), sensors=suite
    )
    after = identifiability(model, parameters, plan=found.plan, sensors=suite)
    notes = (*found.notes, *_assumed(allowed, variables))
    return replace(found, before=before, after=after, notes=notes)


def searching(
    model: Model,
    variables: Variables,
    allowed: dict[str, Limit],
    flights: Sequence[Flier],
    criteria: Sequence[Criterion],
    *,
    seed: int = 0,
    effort: Effort = Effort(),  # noqa: B008
) -> Search:
    """A search for any criterion; raises ExcitationError where even staying at home is too much."""
    n_times = int(A_PEAK * max(4.0, variables.fastest * variables.duration)) + 1
    rails = rails_of(model, variables, allowed, n_times=n_times)
    faults = blocking(variables, allowed, flights, rails)
    if faults:
        raise ExcitationError("no motion is within the limits; these block:", faults)
    return Search(
        flights, criteria, rails, seed=seed, n_random=effort.random, starts=effort.starts,
        rounds=effort.rounds, seconds=effort.seconds,
    )  # fmt: skip


def finished(
    search: Search, variables: Variables, allowed: dict[str, Limit], criterion: str
) -> Design:
    """Run a search and make its best motion fit the limits when replayed at a tenth of the step."""
    found = search.run()
    x, usage = fitted(search, variables, allowed, found)
    value = search.evaluate(x).value
    measure, shown = search.criteria[0].told(value)
    plan = variables.plan(x, name=f"{criterion} for {search.flights[0].system.model.name}")
    notes = ("interrupted: the best motion so far",) if search.is_interrupted else ()
    history = tuple(search.criteria[0].told(one.value)[1] for one in found)
    return Design(
        plan, criterion, measure, shown, None, None, usage, history, search.n_flights,
        search.seed, search.is_interrupted, notes,
    )  # fmt: skip


def _require_sense(duration: float, harmonics: int) -> None:
    faults = []
    if not 0.0 < duration < np.inf:
        faults.append(Fault("duration", f"{duration:g}", "> 0 s", "give a duration"))
    if not 1 <= harmonics <= 30:
        faults.append(Fault("harmonics", f"{harmonics}", "1 to 30", "choose fewer or more"))
    if faults:
        raise ExcitationError("there is no such motion", faults)


def _assumed(allowed: dict[str, Limit], variables: Variables) -> list[str]:
    moved = {mover.name.removesuffix(".motor") for mover in variables.movers}
    assumed = sorted({o.part for o in allowed.values() if o.is_assumed and o.part in moved})
    if not assumed:
        return []
    return [f"no limits are given for {', '.join(assumed)}: 0.5 rad and 0.2 rad/s were assumed"]
