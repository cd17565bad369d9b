"""`identify`: from recorded flights to a Fit, by the method the measurements allow."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.finding import Finding
from freefloat.identification.fit import Fit
from freefloat.identification.linear.columns import require_linear, updated
from freefloat.identification.linear.estimate import Loss, Solver, estimate
from freefloat.identification.linear.families import choose, family_named, fields_of
from freefloat.identification.linear.rows import Equations
from freefloat.identification.outcome import at_bounds, fit_of
from freefloat.identification.output_error.flights import (
    identified_by_output_error,
    why_output_error,
)
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.parameters import Parameter, Parameters, parameter_values
from freefloat.identification.reading import samples_of
from freefloat.identification.samples import Samples
from freefloat.identification.spikes import without_spikes
from freefloat.identification.write_back import with_parameters
from freefloat.model.model import Model
from freefloat.provenance import provenance
from freefloat.telemetry.channels import Telemetry

Method = Literal[
    "auto", "momentum", "angular", "force", "torque", "weak", "energy", "reduced", "output_error"
]  # fmt: skip


@dataclass(frozen=True)
class Request:
    """Everything an identification was asked for."""

    system: System
    parameters: Parameters
    recordings: tuple[Samples, ...]
    solver: Solver
    robust: Loss | None
    momentum: tuple[float, float, float] | None
    has_drag: bool
    seed: int

    @property
    def unknowns(self) -> list[Parameter]:
        """The free parameters, then the tied ones."""
        tied = [p for p in self.parameters if p.status == "tied"]
        return [*self.parameters.free_ones, *tied]


def identify(
    model: Model,
    parameters: Parameters,
    flights: Telemetry | Sequence[Telemetry],
    *,
    method: Method = "auto",
    solver: Solver = "corrected",
    robust: Loss | None = None,
    physical: bool = True,
    momentum: Sequence[float] | None = None,
    drag: bool = False,
    plan: Plan | Sequence[Plan] | None = None,
    known_start: bool = False,
    search: SearchOptions = USUAL,
    seed: int = 0,
) -> Fit:
    """Find the free parameters from one or several recordings of the same system.

    method: a family of equations, or "auto": the one the measurements allow. solver: "corrected"
    least squares (free of the bias that noise in the columns causes), plain "ls", or "iv"
    (instrumental variables). robust: "huber" or "tukey" against outliers. physical: bodies that
    could be real. momentum: the known angular momentum [N m s] about the centre of mass (zeros for
    a start at rest), for the angular family; drag: whether an air bearing brakes the root.

    "output_error" flies the model again and compares what its sensors would read; it is chosen
    where only it can find what is free (see docs/output_error.md). plan: what was flown, if known
    exactly, for all recordings or one each; else the recorded joint motion drives the model.
    known_start: the initial state is the plan's, not to be found; search: how it is looked for.

    >>> from dataclasses import replace
    >>> import freefloat as ff
    >>> from freefloat.excitation import Pulses
    >>> model = ff.load_model("planar-capture")
    >>> plan = replace(ff.default_plan(model), thrusts={"thr_1": Pulses(((1.0, 5.0, 5.0),))})
    >>> wanted = ff.Parameters(model).free("bus.mass", "target.mass")
    >>> fit = ff.identify(model, wanted, ff.simulate(model, plan, seed=1))
    >>> fit.method, fit["target.mass"].status
    ('momentum', 'seen')
    """
    recorded = (flights,) if isinstance(flights, Telemetry) else tuple(flights)
    _require(model, parameters, recorded)
    _require_options(solver, robust, seed)
    parameters = _written(parameters)
    system = flatten(parameters.model)
    at = None if momentum is None else _three(momentum)
    chosen, reason = method, "asked for"
    if method == "auto":
        chosen, reason = _choose(system, parameters, recorded)
    if chosen == "output_error":
        record = provenance(seed=seed, data=_digest(recorded), method=chosen)
        return identified_by_output_error(
            parameters, recorded, prior_model=model, reason=reason, provenance=record, plan=plan,
            robust=robust, known_start=known_start, options=search, seed=seed,
        )  # fmt: skip
    _require_linear_use(parameters, plan, known_start)
    given = Given(model, chosen, reason, method, solver, robust, physical, at, drag, seed)
    return _by_equations(parameters, recorded, given)


@dataclass(frozen=True)
class Given:
    """The options of an identification by equations, and the method they led to."""

    model: Model
    chosen: str
    reason: str
    method: Method
    solver: Solver
    robust: Loss | None
    physical: bool
    momentum: tuple[float, float, float] | None
    drag: bool
    seed: int


def _by_equations(parameters: Parameters, recorded: tuple[Telemetry, ...], given: Given) -> Fit:
    """The Fit by a linear family."""
    system = flatten(parameters.model)
    samples = tuple(
        _read(system, flight, given.chosen, f"recording {k}: " if len(recorded) > 1 else "")
        for k, flight in enumerate(recorded, start=1)
    )
    if given.chosen != "angular" and (given.drag or given.momentum is not None):
        raise IdentificationError(
            f"a known momentum and drag are for the angular method, not for {given.chosen}"
        )
    if given.robust is not None:
        samples = tuple(without_spikes(part) for part in samples)
    request = Request(
        system, parameters, samples, given.solver, given.robust, given.momentum, given.drag,
        given.seed,
    )  # fmt: skip
    finding = _METHODS.get(given.chosen, _standard)(request, given.chosen)
    notes = [note for part in finding.prepared for note in part.notes]
    data = _digest(recorded)
    record = provenance(seed=given.seed, data=data, method=given.chosen, solver=given.solver)
    fit = fit_of(
        parameters, finding, method=given.chosen, reason=given.reason,
        is_physical=given.physical, notes=tuple(dict.fromkeys(notes)), provenance=record,
    )  # fmt: skip
    fit = replace(fit, prior_model=given.model)
    beyond = [p for p in parameters.free_ones if not p.lower <= fit[p.name].value <= p.upper]
    if not beyond:
        return fit
    held = parameters
    for p in beyond:
        held = held.fix(p.name, value=float(np.clip(fit[p.name].value, p.lower, p.upper)))
    if not held.free_ones:
        return at_bounds(fit, beyond, None)
    again = identify(
        held.model, held, recorded, method=given.method, solver=given.solver, robust=given.robust,
        physical=given.physical, momentum=given.momentum, drag=given.drag, seed=given.seed,
    )  # fmt: skip
    return at_bounds(fit, beyond, again)


def _require(model: Model, parameters: Parameters, recorded: Sequence[Telemetry]) -> None:
    if not recorded:
        raise IdentificationError("identify needs at least one recording")
    if parameters.model != model:
        raise IdentificationError(
            "the parameters belong to another model; make them with Parameters(model)"
        )
    if not parameters.free_ones:
        raise IdentificationError(
            "no parameter is free; say which to find, e.g. Parameters(model).free('bus.*')"
        )


def _require_linear_use(
    parameters: Parameters, plan: Plan | Sequence[Plan] | None, known_start: bool
) -> None:
    own = [p.name for p in parameters.free_ones if not p.is_shared]
    if own:
        raise IdentificationError(
            f"{own[0]} is to be found per recording, which the linear methods cannot; use"
            " method='output_error'"
        )
    if plan is not None or known_start:
        raise IdentificationError("plan and known_start are for the method output_error only")


def _choose(
    system: System, parameters: Parameters, recorded: Sequence[Telemetry]
) -> tuple[str, str]:
    """The method the measurements allow, and why this one."""
    why = why_output_error(system, parameters, recorded)
    if why is not None:
        return "output_error", why
    try:
        return choose(system, samples_of(system, recorded[0]), parameters.names)
    except IdentificationError as error:
        if "no linear method" not in str(error):
            raise
        return "output_error", "no linear method can use these channels"


def _read(system: System, flight: Telemetry, method: str, place: str) -> Samples:
    """The samples a method can use; errors name the recording where there are several."""
    try:
        return samples_of(system, flight, fields_of(method, "base.acceleration.x" in flight))
    except IdentificationError as error:
        raise IdentificationError(f"{place}{error}") from None


def _require_options(solver: str, robust: str | None, seed: int) -> None:
    for name, value, known in (
        ("solver", solver, get_args(Solver)), ("robust", robust, (None, *get_args(Loss))),
    ):  # fmt: skip
        if value not in known:
            words = ", ".join(map(repr, known))
            raise IdentificationError(f"{name}={value!r} is not known; choose one of {words}")
    if seed < 0:
        raise IdentificationError(f"seed={seed} is negative; give 0 or more")


def _written(parameters: Parameters) -> Parameters:
    """The parameters of a model that has their values: fixed, tied or changed ones written in."""
    ties = {p.name: p.tied_to[0] for p in parameters if p.tied_to is not None}
    chained = [name for name, leader in ties.items() if leader in ties]
    if chained:
        raise IdentificationError(f"{chained[0]} is tied to {ties[chained[0]]}, itself tied")
    own = parameter_values(flatten(parameters.model))
    wanted = {p.name: p.value for p in parameters if p.value != own.get(p.name, p.value)}
    for name, leader in ties.items():
        p = parameters[name]
        assert p.tied_to is not None
        wanted[name] = p.tied_to[1] * parameters[leader].value
    started = {name for name in wanted if name.startswith("start.")}
    if not wanted or started == set(wanted):
        return parameters
    kept = {name: value for name, value in wanted.items() if name not in started}
    model = with_parameters(parameters.model, kept)
    entries = [replace(p, value=wanted.get(p.name, p.value)) for p in parameters]
    return replace(parameters, model=model, entries=tuple(entries))


def _three(momentum: Sequence[float]) -> tuple[float, float, float]:
    try:
        numbers = [float(x) for x in momentum]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 3 or not np.all(np.isfinite(numbers)):
        raise IdentificationError(
            f"momentum must be three finite numbers [N m s], got {list(momentum)!r}"
        )
    return numbers[0], numbers[1], numbers[2]


def _standard(request: Request, name: str) -> Finding:
    """Families that are linear in the standard parameters."""
    family = family_named(name)
    ready = [family.prepared(samples, request.system) for samples in request.recordings]
    names = [p.name for p in request.unknowns]
    before = np.array([p.value for p in request.unknowns])
    renew = partial(_renewed, request.system, names, before)
    found = estimate(
        family.equations, request.system, ready, request.unknowns, renew=renew,
        solver=request.solver, robust=request.robust, seed=request.seed,
    )  # fmt: skip
    return Finding(found, tuple(ready), request.system, sources_of(request, name))


def _renewed(system: System, names: list[str], before: Array, after: Array) -> System:
    """The system with new values; not where they would make nonsense of the weights."""
    new = updated(system, names, before, after)
    return new if np.all(np.isfinite(after)) and new.parameters.phi[:, 0].sum() > 0.0 else system


def _angular(request: Request, name: str) -> Finding:
    from freefloat.identification.linear.angular import AngularForm, prepared_for_angular

    require_linear(request.system, request.parameters.names)
    rotors = [p.name for p in request.unknowns if p.name.endswith(".inertia")]
    if rotors:
        raise IdentificationError(
            f"{rotors[0]}: the angular method takes rotors as known; use momentum or weak"
        )
    if any(p.status == "tied" for p in request.unknowns):
        raise IdentificationError("the angular method follows no ties; fix or free them")
    has_drag = request.has_drag or bool(request.system.tree.field[13])
    form = AngularForm.of(request.system, momentum=request.momentum, has_drag=has_drag)
    ready = [prepared_for_angular(samples, request.system) for samples in request.recordings]
    values = form.parameters(request.system)
    unknowns = [
        Parameter(words, float(value), "kg m^2", status="free")
        for words, value in zip(form.minimal.words, values, strict=True)
    ]
    found = estimate(
        form.equations, request.system, ready, unknowns, solver=request.solver,
        robust=request.robust, seed=request.seed,
    )  # fmt: skip
    sources = sources_of(request, name)
    return Finding(found, tuple(ready), request.system, sources, form.parameters)


def _reduced(request: Request, name: str) -> Finding:
    from freefloat.identification.linear.reduced import (
        NAMES,
        parameter_places,
        reduced_equations,
        reduced_from_standard,
    )
    from freefloat.identification.windows import windowed

    for samples in request.recordings:
        samples.need("reduced", "rate", "torque")
    ready = [windowed(samples, request.system) for samples in request.recordings]
    places = parameter_places(request.system)
    values = reduced_from_standard(request.system)
    unknowns = [
        Parameter(NAMES[k], float(value), "", status="free")
        for k, value in zip(places, values, strict=True)
    ]
    free = {name: 0.0 for name in request.parameters.names}

    def equations(
        system: System, samples: Samples, values: object, noise: bool = True
    ) -> Equations:
        return reduced_equations(system, samples, free, noise=noise)

    found = estimate(
        equations, request.system, ready, unknowns, solver=request.solver,
        robust=request.robust, seed=request.seed,
    )  # fmt: skip
    sources = sources_of(request, name)
    return Finding(
        found, tuple(ready), request.system, sources, reduced_from_standard, is_start_only=True
    )


_METHODS = {"angular": _angular, "reduced": _reduced}


def sources_of(request: Request, method: str) -> tuple[str, ...]:
    """What in the recordings or the model has known newtons or kilograms."""
    found = []
    recordings = request.recordings
    if method in ("momentum", "force", "torque", "weak", "energy"):
        if any(s.thrust.any() for s in recordings):
            found.append("thrust")
        if any(s.wrench.any() for s in recordings):
            found.append("the commanded wrench")
    if method in ("torque", "weak", "energy", "reduced"):
        found += ["joint torques"] * any(s.torque is not None for s in recordings)
    if method == "angular" and request.momentum is not None and any(request.momentum):
        found.append("the known angular momentum")
    unknown = {p.name for p in request.unknowns}
    wheels = [w.name for w in request.system.model.wheels if f"{w.name}.inertia" not in unknown]
    found += ["wheels of known inertia"] * bool(wheels)
    bodies = [b.name for b in request.system.model.assembly.bodies]
    is_known = [
        p.value != 0.0 and p.name.rpartition(".")[0] in bodies and p.name not in unknown
        for p in request.parameters
    ]
    found += ["what is known of the bodies"] * any(is_known)
    found += ["priors"] * any(p.prior is not None for p in request.parameters.free_ones)
    return tuple(found)


def _digest(recorded: Sequence[Telemetry]) -> str:
    """The sha256 of every channel's name, times and values."""
    total = hashlib.sha256()
    for telemetry in recorded:
        for name, channel in telemetry.channels.items():
            for part in (name.encode(), channel.time.tobytes(), channel.values.tobytes()):
                total.update(part)
    return total.hexdigest()
