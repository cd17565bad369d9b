"""Recordings to a Fit by equations that are linear in the unknowns, one family at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Fit
from freefloat.identification.fit_assembly import at_bounds, fit_of
from freefloat.identification.linear.delay_columns import (
    require_clock,
    settled,
    with_delay,
    with_slopes,
)
from freefloat.identification.linear.families import family_named, fields_of
from freefloat.identification.linear.least_squares import Loss, Solver, estimate
from freefloat.identification.linear.parameter_columns import require_linear, updated
from freefloat.identification.linear.rows import Equations
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.spike_rows import without_spikes
from freefloat.identification.solution import Solved
from freefloat.parameters.parameters import Parameter, Parameters
from freefloat.parameters.write_back import write_values
from freefloat.telemetry.telemetry import Telemetry


@dataclass(frozen=True)
class LinearOptions:
    """How equations are to be solved; see `identify`."""

    solver: Solver = "corrected"
    robust: Loss | None = None
    physical: bool = True
    momentum: tuple[float, float, float] | None = None
    drag: bool = False
    clock: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class LinearRequest:
    """A method's task: what to find, from what, and how."""

    system: System
    parameters: Parameters
    recordings: tuple[Samples, ...]
    how: LinearOptions

    @property
    def unknowns(self) -> list[Parameter]:
        """The free parameters, then the tied ones."""
        tied = [p for p in self.parameters if p.status == "tied"]
        return [*self.parameters.free_ones, *tied]


class Equated(NamedTuple):
    """A fit by equations, and how many combinations noise hides in them, that it need not."""

    fit: Fit
    n_buried: int


def identified_by_equations(
    parameters: Parameters,
    recorded: Sequence[Telemetry],
    method: str,
    *,
    reason: str,
    notes: Sequence[str],
    provenance: dict[str, str],
    how: LinearOptions,
) -> Equated:
    """The Fit by a linear family; parameters beyond their bounds are held there."""
    _require_use(parameters, method, how)
    request = LinearRequest(flatten(parameters.model), parameters, (), how)
    find = partial(_found, request, method)
    clock = how.clock
    finding, told = (find(recorded), ()) if clock is None else settled(find, recorded, clock)
    own = [note for part in finding.prepared for note in part.notes]
    fit = fit_of(
        parameters, finding, method=method, reason=reason, is_physical=how.physical,
        notes=tuple(dict.fromkeys([*told, *notes, *own])), provenance=provenance,
    )  # fmt: skip
    # without anything in newtons or kilograms there is no scale for noise to hide
    n_buried = finding.estimate.solution.buried.shape[1] if finding.sources else 0
    beyond = [p for p in parameters.free_ones if not p.lower <= fit[p.name].value <= p.upper]
    if not beyond:
        return Equated(fit, n_buried)
    held = parameters
    for p in beyond:
        held = held.fix(p.name, value=float(np.clip(fit[p.name].value, p.lower, p.upper)))
    if not held.free_ones:
        return Equated(at_bounds(fit, beyond, None), n_buried)
    again = identified_by_equations(
        write_values(held),
        recorded,
        method,
        reason=reason,
        notes=notes,
        provenance=provenance,
        how=how,
    )
    return Equated(at_bounds(fit, beyond, again.fit), again.n_buried)


def _require_use(parameters: Parameters, method: str, how: LinearOptions) -> None:
    """Raise IdentificationError for what linear methods, or this one, cannot do."""
    own = [p.name for p in parameters.free_ones if not p.is_shared]
    if own:
        raise IdentificationError(
            f"{own[0]} is to be found per recording, which the linear methods cannot; use"
            " method='output_error'"
        )
    if method != "angular" and (how.drag or how.momentum is not None):
        raise IdentificationError(
            f"a known momentum and drag are for the angular method, not for {method}"
        )
    require_clock(how.clock, method)


def _found(request: LinearRequest, method: str, recorded: Sequence[Telemetry]) -> Solved:
    """What a method finds in recordings, whose clocks are right."""
    samples = [
        _read(request.system, flight, method, f"recording {k}: " if len(recorded) > 1 else "")
        for k, flight in enumerate(recorded, start=1)
    ]
    if request.how.robust is not None:
        samples = [without_spikes(part) for part in samples]
    return _METHODS.get(method, _standard)(replace(request, recordings=tuple(samples)), method)


def _read(system: System, flight: Telemetry, method: str, place: str) -> Samples:
    """The samples a method can use; errors name the recording where there are several."""
    try:
        return samples_of(system, flight, fields_of(method, "base.acceleration.x" in flight))
    except IdentificationError as error:
        raise IdentificationError(f"{place}{error}") from None


def _standard(request: LinearRequest, name: str) -> Solved:
    """Families that are linear in the standard parameters."""
    family = family_named(name)
    ready = [family.prepared(samples, request.system) for samples in request.recordings]
    ready = [with_slopes(samples, request.how.clock) for samples in ready]
    names = [p.name for p in request.unknowns]
    before = np.array([p.value for p in request.unknowns])
    renew = partial(_renewed, request.system, names, before)
    found = estimate(
        with_delay(family.equations, request.how.clock), request.system, ready, request.unknowns,
        renew=renew,
        solver=request.how.solver, robust=request.how.robust, seed=request.how.seed,
    )  # fmt: skip
    return Solved(found, tuple(ready), request.system, sources_of(request, name))


def _renewed(system: System, names: list[str], before: Array, after: Array) -> System:
    """The system with new values; not where they would make nonsense of the weights."""
    new = updated(system, names, before, after)
    return new if np.all(np.isfinite(after)) and new.parameters.phi[:, 0].sum() > 0.0 else system


def _angular(request: LinearRequest, name: str) -> Solved:
    from freefloat.identification.linear.angular import AngularForm, prepared_for_angular

    require_linear(request.system, request.parameters.names)
    rotors = [p.name for p in request.unknowns if p.name.endswith(".inertia")]
    if rotors:
        raise IdentificationError(
            f"{rotors[0]}: the angular method takes rotors as known; use momentum or weak"
        )
    if any(p.status == "tied" for p in request.unknowns):
        raise IdentificationError("the angular method follows no ties; fix or free them")
    has_drag = request.how.drag or bool(request.system.tree.field[13])
    form = AngularForm.of(request.system, momentum=request.how.momentum, has_drag=has_drag)
    ready = [prepared_for_angular(samples, request.system) for samples in request.recordings]
    ready = [with_slopes(samples, request.how.clock) for samples in ready]
    values = form.parameters(request.system)
    unknowns = [
        Parameter(words, float(value), "kg m^2", status="free")
        for words, value in zip(form.minimal.words, values, strict=True)
    ]
    found = estimate(
        with_delay(form.equations, request.how.clock), request.system, ready, unknowns,
        solver=request.how.solver, robust=request.how.robust, seed=request.how.seed,
    )  # fmt: skip
    sources = sources_of(request, name)
    return Solved(found, tuple(ready), request.system, sources, form.parameters)


def _reduced(request: LinearRequest, name: str) -> Solved:
    from freefloat.identification.linear.reduced import (
        NAMES,
        parameter_places,
        reduced_equations,
        reduced_from_standard,
    )
    from freefloat.identification.linear.windows import windowed

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
        equations, request.system, ready, unknowns, solver=request.how.solver,
        robust=request.how.robust, seed=request.how.seed,
    )  # fmt: skip
    sources = sources_of(request, name)
    return Solved(
        found, tuple(ready), request.system, sources, reduced_from_standard, is_start_only=True
    )


_METHODS = {"angular": _angular, "reduced": _reduced}


def sources_of(request: LinearRequest, method: str) -> tuple[str, ...]:
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
    if method == "angular" and request.how.momentum is not None and any(request.how.momentum):
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
