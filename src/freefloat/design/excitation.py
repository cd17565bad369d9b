"""Excitation design: `design_excitation` gives the plan, `design` tells all about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.design.candidate_flights import Criterion, Flier
from freefloat.design.criteria import flights_and_criterion
from freefloat.design.limit_check import LimitUsage, blocking_limits, fit_to_limits
from freefloat.design.linear_limits import linear_limits_of
from freefloat.design.motion_criteria import Bands, outside_bands
from freefloat.design.motion_search import Effort, Search
from freefloat.design.variables import Variables, variables_of
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import flatten
from freefloat.errors import ExcitationError, IdentificationError, require_type
from freefloat.excitation.basis import Basis, Harmonics, Shape
from freefloat.excitation.default import default_plan
from freefloat.excitation.limits import Limit, limits_of
from freefloat.excitation.motions import Duration
from freefloat.excitation.plan import Plan
from freefloat.model.loading import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.notes import Note
from freefloat.observability.identifiability import identifiability
from freefloat.observability.information import choose_sensors, sensor_notes
from freefloat.observability.visibility import Visibility
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.limit_monitors import limit_monitors
from freefloat.progress import Progress, silent
from freefloat.records.option_record import require_value

# theory: 40 points a cycle show a peak to (pi / 40)^2 / 2 = 0.3 %; the last scaling takes it off
A_PEAK = 40  # points of the linear limits in a cycle of the fastest motion


@dataclass(frozen=True)
class Design:
    """A designed motion.

    criterion: what was asked for; measure and value: what the value is, in words, and the value;
    before and after: what the default motion and the designed one tell of the parameters (None
    where the criterion is not about parameters); usage: every limit, most used first, replayed at
    a tenth of the step; history: the values of the five best motions found; n_flights: simulations.
    """

    plan: Plan
    criterion: str
    measure: str
    value: float
    before: Visibility | None
    after: Visibility | None
    usage: tuple[LimitUsage, ...]
    history: tuple[float, ...]
    n_flights: int
    seed: int
    is_interrupted: bool = False
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """What it is worth, and the parameters before and after."""
        lines = [f"{self.plan.name}: {self.plan.duration:g} s, {self.measure}: {self.value:.4g}"]
        compared = self.comparison()
        if compared:
            lines.append("expected standard deviations, default motion -> designed:")
        units = {one.name: one.unit for one in self.after.parameters} if self.after else {}
        for name, old, new in compared:
            lines.append(f"  {name}: {old:.3g} -> {new:.3g} {units[name]}".rstrip())
        most = self.usage[0] if self.usage else None
        if most is not None:
            lines.append(f"most used limit: {most.limit.name}, {100.0 * most.share:.1f} %")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def comparison(self) -> list[tuple[str, float, float]]:
        """Name, standard deviation before and after, in the parameter's unit; NaN: none."""
        if self.before is None or self.after is None:
            return []
        old = {one.name: one.std for one in self.before.parameters}
        return [(one.name, old.get(one.name, np.nan), one.std) for one in self.after.parameters]


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

    Args:
        model: what flies, or the name of a built-in model.
        parameters: of that model; the free ones shall be seen.
        duration: of the motion [s].
        criterion: see `freefloat.design.design`.
        seed: of the random motions that the search starts from.
        **options: all others of `freefloat.design.design`, whose result also tells what the plan
            is worth.

    Returns:
        the plan, within the limits when replayed at a tenth of the search's step.

    Raises:
        ExcitationError: no motion is within the limits, or there is no such criterion.

    >>> import freefloat as ff
    >>> from freefloat.design import Effort
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
    progress: Progress = silent,
    on_interrupt: Callable[[], None] | None = None,
) -> Design:
    """A motion within the limits that shows the free parameters best, and what it is worth.

    Args:
        model, parameters: what flies, or a built-in model's name; the free ones shall be seen.
        duration: of the motion [s].
        criterion: "a_optimal" (mean variance, in natural sizes), "d_optimal" (volume), "e_optimal"
            (worst direction), "condition", "worst_parameter", names of parameters (globs), or of
            the motion alone: "modal_energy" (left behind), "base_motion".
        sensors: words such as "gyro encoders", or a list; the model's suite unless given.
        shape, harmonics: of the joint motions, see `freefloat.excitation.basis`.
        limits: "part.quantity" (globs) -> value, in place of the model's.
        joints, wheels, thrusters: globs of what is moved.
        start: the initial state; at rest at home unless given.
        scenarios: other models that might be true (`scenarios_of`); the worst counts.
        avoid, avoid_share: bands [Hz] in which no more than that share of the joints' acceleration
            energy may lie (`motion_criteria.bands_of` gives those of the modes).
        seed: of the search; the same seed gives the same plan unless `effort` is limited in time.
        effort: how hard to look.
        progress, on_interrupt: called with every round of the search; on Ctrl-C.

    Returns:
        the plan, its criterion, and the parameters before and after.

    Raises:
        ExcitationError: no motion is within the limits, or there is no such criterion.
    """
    if isinstance(model, str):
        model = load_model(model)
    _require_sense(model, parameters, duration=duration, harmonics=harmonics)
    allowed = limits_of(model, limits)
    basis = Basis(shape, duration, harmonics)
    moved = {"joints": joints, "wheels": wheels, "thrusters": thrusters, "start": start or Start()}
    variables = variables_of(flatten(model), allowed, basis=basis, **moved)
    if avoid:
        variables = outside_bands(variables, avoid, avoid_share)
    suite = tuple(s for s in choose_sensors(model, sensors) if s.kind != "thruster")
    flights, criteria = [], []
    for system in map(flatten, (model, *scenarios)):
        limited = (variables, limit_monitors(system, allowed), suite)
        own, judge = flights_and_criterion(system, parameters, *limited, criterion)
        flights, criteria = [*flights, own], [*criteria, judge]
    search = start_search(model, variables, allowed, flights, criteria, seed=seed, effort=effort)
    search.progress, search.on_interrupt = progress, on_interrupt
    found = finish_design(search, variables, allowed, criterion)
    plans = default_plan(model, duration=duration, seed=seed), found.plan
    before, after = (identifiability(model, parameters, plan=p, sensors=suite) for p in plans)
    notes = (*found.notes, *sensor_notes(model, sensors), *_limit_notes(allowed, variables))
    return replace(found, before=before, after=after, notes=notes)


def start_search(
    model: Model,
    variables: Variables,
    allowed: dict[str, Limit],
    flights: Sequence[Flier],
    criteria: Sequence[Criterion],
    *,
    seed: int = 0,
    effort: Effort = Effort(),  # noqa: B008
) -> Search:
    """A search for any criterion, one flier and criterion a scenario.

    Raises:
        ExcitationError: even staying at home is beyond a limit.
    """
    n_times = int(A_PEAK * max(4.0, variables.fastest * variables.duration)) + 1
    linear = linear_limits_of(model, variables, allowed, n_times=n_times)
    faults = blocking_limits(variables, allowed, flights, linear)
    if faults:
        raise ExcitationError("no motion is within the limits; these block:", faults)
    return Search(flights, criteria, linear, seed=seed, effort=effort)


def finish_design(
    search: Search, variables: Variables, allowed: dict[str, Limit], criterion: str
) -> Design:
    """Run a search and make its best motion fit the limits when replayed at a tenth of the step."""
    found = search.run()
    x, usage = fit_to_limits(search, variables, allowed, found)
    value = search.evaluate(x).value
    measure, shown = search.criteria[0].describe(value)
    plan = variables.plan(x, name=f"{criterion} for {search.flights[0].system.model.name}")
    interrupted = Note("search.interrupted", "interrupted: the best motion so far")
    notes = (interrupted,) if search.is_interrupted else ()
    history = tuple(search.criteria[0].describe(one.value)[1] for one in found)
    return Design(
        plan, criterion, measure, shown, None, None, usage, history, search.n_flights,
        search.seed, search.is_interrupted, notes,
    )  # fmt: skip


def _require_sense(
    model: Model, parameters: Parameters, *, duration: float, harmonics: int
) -> None:
    require_type(model, Model, "model", error=ExcitationError)
    require_type(parameters, Parameters, "parameters", error=ExcitationError)
    require_value(duration, Duration, "duration", ExcitationError)
    require_value(harmonics, Harmonics, "harmonics", ExcitationError)


def _limit_notes(allowed: dict[str, Limit], variables: Variables) -> list[Note]:
    moved = {mover.name.removesuffix(".motor") for mover in variables.movers}
    assumed = sorted({o.part for o in allowed.values() if o.is_assumed and o.part in moved})
    if not assumed:
        return []
    text = f"no limits are given for {', '.join(assumed)}: 0.5 rad and 0.2 rad/s were assumed"
    return [Note("limits.assumed", text)]


def scenarios_of(model: Model, parameters: Parameters, *, n: int, seed: int = 0) -> list[Model]:
    """Models that might be true: free parameters that have a prior are drawn from it.

    A draw that no real body could have is taken closer to the model's values, half way at a time.

    Args:
        model: What is believed.
        parameters: Of that model; those free with a prior are drawn, the others stay.
        n: How many models.
        seed: Of the draws.

    Returns:
        n models, for `scenarios` of `design`.

    Raises:
        ExcitationError: No free parameter has a prior.

    >>> from freefloat.model import load_model
    >>> model = load_model("ets7")
    >>> unsure = Parameters.of(model).free("bus.mass").prior("bus.mass", std=100.0)
    >>> [round(one.body("bus").mass) for one in scenarios_of(model, unsure, n=2)]
    [2658, 2633]
    """
    if n == 0:
        return []
    known = [(p, p.prior[1]) for p in parameters.free_ones if p.prior is not None]
    if not known:
        raise ExcitationError(
            "there are no priors to draw models from; give some", code="priors.none"
        )
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        drawn = rng.normal(size=len(known))
        for shrink in 0.5 ** np.arange(12):
            pairs = zip(known, shrink * drawn, strict=True)
            values = {p.name: p.value + float(z) * std for (p, std), z in pairs}
            try:
                found.append(with_parameters(model, values))
                break
            except IdentificationError:
                continue
    return found
